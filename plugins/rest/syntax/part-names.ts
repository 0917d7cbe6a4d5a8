/** What REST calls the parts that plugins declare, and the names that it cannot read or tell apart. */
import {
  presetError,
  refuseDoubles,
  refuseOddNames,
  refuseOverlaps,
  type OperatorSpec,
  type Registry,
} from "../../../core/index.ts";

/** Of an operator, an aggregate function or an ordering; `undefined`: it is not in REST. */
export const restName = ({
  rest,
  name,
}: {
  readonly rest?: string | false;
  readonly name: string;
}): string | undefined => (rest === false ? undefined : (rest ?? name));

/** What stands in a filter before the value: `.`, `(` and `,` end a name there, `&`, `;` and `=` in the query string. */
const OPERATOR_NAME = /^[^\s.,()"&;=]+$/;

const refuseOperator = (plugin: string, spec: OperatorSpec): void => {
  const name = restName(spec);
  // `not.` negates
  if (name !== undefined && (!OPERATOR_NAME.test(name) || name === "not"))
    throw presetError(
      `plugin "${plugin}": operator "${spec.name}" cannot be called "${name}" in REST: use neither "not", blanks nor . , ( ) " & ; =`,
    );
};

/** @throws RelApiError `preset` @rule X-START-3 X-START-4 X-AGG-1 X-ORD-1 */
export const refuseNames = (registry: Registry): void => {
  const { operators, embeds, aggregates, orderings } = registry;
  for (const spec of operators) refuseOperator(registry.pluginOf(spec), spec);
  refuseOverlaps(registry, operators, restName, "REST operator");
  refuseDoubles(registry, embeds, ({ rest }) => rest?.prefix, "REST embed prefix");
  refuseDoubles(registry, aggregates.values(), restName, "REST aggregate function");
  refuseOddNames(registry, aggregates.values(), (spec) => [restName(spec)], "aggregate function");
  refuseOverlaps(registry, orderings, restName, "REST ordering");
  refuseOddNames(registry, orderings, (spec) => [restName(spec)], "ordering");
};
