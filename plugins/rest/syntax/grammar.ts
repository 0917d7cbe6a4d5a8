/** What the plugins of a preset add to what a request may say: operators and embedding modes by the names REST calls
 *  them, and preferences. */
import { restNameOf, type Limits, type OperatorSpec, type Registry } from "../../../core/index.ts";
import type { Grammar } from "../request.ts";

/** Its operand is the value as it is written. */
const isPlain = (spec: OperatorSpec): boolean => spec.operand === "scalar" && spec.restOperand === undefined;

export const buildGrammar = (registry: Registry, limits: Limits): Grammar => {
  const operators = new Map<string, OperatorSpec[]>();
  for (const spec of registry.operators) {
    const name = restNameOf(spec);
    // operands of several parts have no text form
    if (name === undefined || spec.operand === "fields") continue;
    const specs = operators.get(name);
    if (specs === undefined) operators.set(name, [spec]);
    else specs.push(spec);
  }
  const embeds = registry.embeds.flatMap(({ mode, rest }) =>
    rest === undefined ? [] : [{ mode, prefix: rest.prefix, takesAlias: rest.takesAlias === true }],
  );
  return {
    limits,
    operators,
    plainOperators: new Set([...operators].filter(([, specs]) => specs.every(isPlain)).map(([name]) => name)),
    preferences: registry.preferences,
    embeds: embeds.sort((a, b) => b.prefix.length - a.prefix.length),
  };
};
