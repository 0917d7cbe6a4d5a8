/**
 * Collects the syntax that plugins add to requests: operators, aggregate functions, orderings and embedding modes by
 * REST name, and preferences. Rejects names that REST cannot parse or distinguish.
 */
import {
  presetError,
  rejectDuplicates,
  rejectInvalidNames,
  rejectOverlaps,
  type RequestLimits,
  type OperatorSpec,
  type Registry,
} from "../../../core/index.ts";
import type { Grammar } from "../request.ts";

/** Returns the REST name of an operator, an aggregate function or an ordering. Returns undefined if REST does not offer
 *  the part. */
export const getRestName = ({
  rest,
  name,
}: {
  readonly rest?: string | false;
  readonly name: string;
}): string | undefined => (rest === false ? undefined : (rest ?? name));

/** Valid operator names. `.`, `(` and `,` would end the name in a filter; `&`, `;` and `=` in the query string. */
const OPERATOR_NAME = /^[^\s.,()"&;=]+$/;

const checkOperatorName = (plugin: string, spec: OperatorSpec): void => {
  const name = getRestName(spec);
  // The prefix `not.` negates, so the name is reserved.
  if (name !== undefined && (!OPERATOR_NAME.test(name) || name === "not"))
    throw presetError(
      `plugin "${plugin}": operator "${spec.name}" cannot be called "${name}" in REST: use neither "not", blanks nor . , ( ) " & ; =`,
    );
};

/** Rejects names that REST cannot parse or distinguish. @throws RelApiError `preset` @rule X-START-3 X-START-4 X-AGG-1
 *  X-ORD-1 */
const checkPartNames = (registry: Registry): void => {
  const { operators, embeds, aggregates, orderings } = registry;
  for (const spec of operators) checkOperatorName(registry.getPluginName(spec), spec);
  rejectOverlaps(registry, operators, getRestName, "REST operator");
  rejectDuplicates(registry, embeds, ({ rest }) => rest?.prefix, "REST embed prefix");
  rejectDuplicates(registry, aggregates.values(), getRestName, "REST aggregate function");
  rejectInvalidNames(registry, aggregates.values(), (spec) => [getRestName(spec)], "aggregate function");
  rejectOverlaps(registry, orderings, getRestName, "REST ordering");
  rejectInvalidNames(registry, orderings, (spec) => [getRestName(spec)], "ordering");
};

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
  context: { readonly options: RequestLimits },
  isPluginParameter: Grammar["isPluginParameter"],
): Grammar => {
  checkPartNames(registry);
  // Operands with several fields have no text form.
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
