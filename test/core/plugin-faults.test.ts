/** What the log says of mistakes in plugins that only show once a database or a request is there. */
import { expect, test } from "vitest";
import { definePlugin, sql, type OperatorSpec, type RelApiOptions } from "../../core/index.ts";
import { startApi } from "../support/api.ts";

interface Line {
  readonly level: string;
  readonly message: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

const keepLog = (): { readonly lines: Line[]; readonly logger: NonNullable<RelApiOptions["logger"]> } => {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (message: string, facts: Readonly<Record<string, unknown>> = {}): void =>
      void lines.push({ level, message, facts });
  return {
    lines,
    logger: { error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug"), access: () => undefined },
  };
};

const operator = (name: string, types: readonly string[]): OperatorSpec => ({
  name,
  types,
  operand: "scalar",
  compile: (column, operand) => sql`${column} = ${operand}`,
});

test("X-START-6 a type that the database does not have is told once, those of missing extensions are not", async () => {
  const { lines, logger } = keepLog();
  const near = definePlugin({ name: "near", operators: [operator("near", ["texxt", "int4", "array"])] });
  const far = definePlugin({
    name: "far",
    operators: [operator("far", ["halfvec", "no_such_type_at_all"])],
    extensionTypes: ["halfvec"],
  });
  const api = await startApi({ parts: [near, far], logger });
  await api.reload();
  const told = lines.filter(({ message }) => message === "an operator is for a type that the database does not have");
  expect(told.map(({ level, facts }) => ({ level, ...facts }))).toEqual([
    { level: "warn", plugin: "near", operator: "near", type: "texxt", near: ["text"] },
    { level: "warn", plugin: "far", operator: "far", type: "no_such_type_at_all" },
  ]);
});
