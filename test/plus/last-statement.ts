/** The last statement of an API with its values inserted, so that it can be explained. */
import { getBoundValue, type Plugin, type ProgramStatement, type BoundValue } from "../../core/index.ts";
import { watchExecutions } from "../support/context.ts";

const literal = (value: BoundValue): string =>
  value === null ? "null" : `'${(typeof value === "string" ? value : "?").replaceAll("'", "''")}'`;

const writeValues = ({ text, slots }: ProgramStatement, values: readonly BoundValue[]): string =>
  text.replace(/\$(\d+)/g, (_, number: string) => {
    const slot = slots[Number(number) - 1];
    if (slot !== undefined && "param" in slot) return literal(values[slot.param] ?? null);
    return slot !== undefined && "fixed" in slot ? literal(slot.fixed) : "null";
  });

export const lastStatement = (): { readonly plugin: Plugin; readonly text: () => string } => {
  let text = "";
  const plugin = watchExecutions(({ programs }) => {
    const { program, values } = programs.at(-1) ?? {};
    const statement = program?.statements[program.main];
    if (statement !== undefined) text = writeValues(statement, (values ?? []).map(getBoundValue));
  });
  return { plugin, text: () => text };
};
