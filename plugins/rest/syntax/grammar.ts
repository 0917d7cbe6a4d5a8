/**
 * Collects the syntax that plugins add to requests: operators, aggregate functions, orderings and embedding modes by
 * REST name, and preferences.
 */
import type { Limits, OperatorSpec, Registry } from "../../../core/index.ts";
import type { Grammar } from "../request.ts";
import { checkPartNames, getRestName } from "./part-names.ts";

const isUsedVerbatim = (spec: OperatorSpec): boolean => spec.operand === "scalar" && spec.restOperand === undefined;

const groupByRestName = <Spec>(
  specs: readonly Spec[],
  getName: (spec: Spec) => string | undefined,
): ReadonlyMap<string, readonly Spec[]> => {
  const specsByName = new Map<string, Spec[]>();
  for (const spec of specs) {
    const name = getName(spec);
    if (name === undefined) continue;
    const knownSpecs = specsByName.get(name);
    if (knownSpecs === undefined) specsByName.set(name, [spec]);
    else knownSpecs.push(spec);
  }
  return specsByName;
};

/** Builds the grammar of a preset. `context` has the current limits, which may change with each load of the schema.
 *  @throws RelApiError `preset` for names that REST cannot parse or distinguish */
export const buildGrammar = (
  registry: Registry,
  context: { readonly options: Limits },
  isPluginParameter: Grammar["isPluginParameter"],
): Grammar => {
  checkPartNames(registry);
  // operands with several fields have no text form
  const operators = groupByRestName(registry.operators, (spec) =>
    spec.operand === "fields" ? undefined : getRestName(spec),
  );
  const orderings = groupByRestName(registry.orderings, getRestName);
  const embeds = registry.embeds.flatMap(({ mode, rest }) =>
    rest === undefined ? [] : [{ mode, prefix: rest.prefix, takesAlias: rest.takesAlias === true }],
  );
  const aggregates = new Map<string, string>();
  for (const spec of registry.aggregates.values()) {
    const restName = getRestName(spec);
    if (restName !== undefined) aggregates.set(restName, spec.name);
  }
  return {
    get limits() {
      return context.options;
    },
    operators,
    plainOperators: new Set([...operators].filter(([, specs]) => specs.every(isUsedVerbatim)).map(([name]) => name)),
    aggregates,
    orderings,
    preferences: registry.preferences,
    isPluginParameter,
    embeds: embeds.sort((a, b) => b.prefix.length - a.prefix.length),
    flatModes: new Set(registry.embeds.filter(({ isFlat }) => isFlat === true).map(({ mode }) => mode)),
  };
};
