/** Reads the REST names of parts that plugins declare, and refuses names that REST cannot parse or distinguish. */
import {
  presetError,
  rejectDuplicates,
  rejectInvalidNames,
  rejectOverlaps,
  type OperatorSpec,
  type Registry,
} from "../../../core/index.ts";

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
  // the prefix `not.` negates, so the name is reserved
  if (name !== undefined && (!OPERATOR_NAME.test(name) || name === "not"))
    throw presetError(
      `plugin "${plugin}": operator "${spec.name}" cannot be called "${name}" in REST: use neither "not", blanks nor . , ( ) " & ; =`,
    );
};

/** Refuses names that REST cannot parse or distinguish. @throws RelApiError `preset` @rule X-START-3 X-START-4 X-AGG-1
 *  X-ORD-1 */
export const checkPartNames = (registry: Registry): void => {
  const { operators, embeds, aggregates, orderings } = registry;
  for (const spec of operators) checkOperatorName(registry.getPluginName(spec), spec);
  rejectOverlaps(registry, operators, getRestName, "REST operator");
  rejectDuplicates(registry, embeds, ({ rest }) => rest?.prefix, "REST embed prefix");
  rejectDuplicates(registry, aggregates.values(), getRestName, "REST aggregate function");
  rejectInvalidNames(registry, aggregates.values(), (spec) => [getRestName(spec)], "aggregate function");
  rejectOverlaps(registry, orderings, getRestName, "REST ordering");
  rejectInvalidNames(registry, orderings, (spec) => [getRestName(spec)], "ordering");
};
