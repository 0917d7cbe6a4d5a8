/** What the plugins of a preset add to what a request may say: operators, aggregate functions, orderings and embedding
 *  modes by the names REST calls them, and preferences. */
import { restNameOf, surfaceName, type Limits, type OperatorSpec, type Registry } from "../../../core/index.ts";
import type { Grammar } from "../request.ts";

/** Its operand is the value as it is written. */
const isPlain = (spec: OperatorSpec): boolean => spec.operand === "scalar" && spec.restOperand === undefined;

const byRestName = <Spec>(
  all: readonly Spec[],
  nameOf: (spec: Spec) => string | undefined,
): ReadonlyMap<string, readonly Spec[]> => {
  const named = new Map<string, Spec[]>();
  for (const spec of all) {
    const name = nameOf(spec);
    if (name === undefined) continue;
    const specs = named.get(name);
    if (specs === undefined) named.set(name, [spec]);
    else specs.push(spec);
  }
  return named;
};

export const buildGrammar = (registry: Registry, limits: Limits): Grammar => {
  // operands with several fields have no text form
  const operators = byRestName(registry.operators, (spec) =>
    spec.operand === "fields" ? undefined : restNameOf(spec),
  );
  const orderings = byRestName(registry.orderings, ({ rest, name }) => surfaceName(rest, name));
  const embeds = registry.embeds.flatMap(({ mode, rest }) =>
    rest === undefined ? [] : [{ mode, prefix: rest.prefix, takesAlias: rest.takesAlias === true }],
  );
  const aggregates = new Map<string, string>();
  for (const { name, rest } of registry.aggregates.values()) {
    const shown = surfaceName(rest, name);
    if (shown !== undefined) aggregates.set(shown, name);
  }
  return {
    limits,
    operators,
    plainOperators: new Set([...operators].filter(([, specs]) => specs.every(isPlain)).map(([name]) => name)),
    aggregates,
    orderings,
    preferences: registry.preferences,
    embeds: embeds.sort((a, b) => b.prefix.length - a.prefix.length),
  };
};
