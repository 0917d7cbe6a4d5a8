/** What the plugins of a preset add to the grammar of the query string: operators, aggregate functions and embedding
 *  modes by the names REST calls them. */
import { restNameOf, surfaceName, type Limits, type OperatorSpec, type Registry } from "../../core/index.ts";
import type { Grammar } from "./request.ts";

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
  const aggregates = new Map<string, string>();
  for (const { name, rest } of registry.aggregates.values()) {
    const shown = surfaceName(rest, name);
    if (shown !== undefined) aggregates.set(shown, name);
  }
  return { limits, operators, aggregates, embeds: embeds.sort((a, b) => b.prefix.length - a.prefix.length) };
};
