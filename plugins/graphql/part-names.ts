/** The GraphQL names of the operators, aggregates and orderings that plugins declare, with the checks that they are
 *  legal and unique. */
import {
  presetError,
  rejectDuplicates,
  rejectInvalidNames,
  rejectOverlaps,
  type AggregateSpec,
  type OperatorSpec,
  type OrderingSpec,
  type Registry,
} from "../../core/index.ts";
import { isLegalName } from "./types/names.ts";

const chooseName = (declaredName: string | false | undefined, usual: string): string | undefined =>
  declaredName === false ? undefined : (declaredName ?? usual);

/** Returns the GraphQL name, or undefined if the operator is not in GraphQL. */
export const getOperatorName = ({ graphql, name }: OperatorSpec): string | undefined =>
  chooseName(typeof graphql === "object" ? graphql.name : graphql, `_${name.replaceAll("-", "_")}`);

/** Returns the GraphQL name, or undefined if the aggregate is not in GraphQL. */
export const getAggregateName = ({ graphql, name }: AggregateSpec): string | undefined => chooseName(graphql, name);

/** Returns the suffix of the ordering's field, after the name of the column. Undefined if the ordering is not in
 *  GraphQL. */
export const getOrderingName = ({ graphql, name }: OrderingSpec): string | undefined => chooseName(graphql, name);

/** The key of the direction beside the operands of an ordering. No operand may have this name. */
export const DIRECTION = "order";

const rejectIllegalName = (plugin: string, part: string, name: string | undefined): void => {
  if (name !== undefined && !isLegalName(name))
    throw presetError(
      `plugin "${plugin}": ${part} cannot be called "${name}" in GraphQL: use letters, digits and _, with no digit and no __ at the start`,
    );
};

/** Rejects illegal and duplicate names, and an input object without fields.
 *  @throws RelApiError `preset` @rule X-START-3 X-START-4 X-START-5a X-AGG-1 X-ORD-1 */
export const rejectPartNames = (registry: Registry): void => {
  const { operators, updateOperators, embeds, aggregates, orderings, getPluginName } = registry;
  for (const spec of operators) {
    const name = getOperatorName(spec);
    rejectIllegalName(getPluginName(spec), `operator "${spec.name}"`, name);
    if (name !== undefined && spec.operand === "fields" && spec.input === undefined)
      throw presetError(
        `plugin "${getPluginName(spec)}": operator "${spec.name}" has the operand "fields" without input: give the name and the fields of its GraphQL input type`,
      );
  }
  for (const spec of updateOperators)
    rejectIllegalName(getPluginName(spec), `update operator "${spec.name}"`, spec.graphql);
  rejectOverlaps(registry, operators, getOperatorName, "GraphQL operator");
  rejectOverlaps(registry, updateOperators, ({ graphql }) => graphql, "GraphQL update operator");
  rejectDuplicates(registry, embeds, ({ graphql }) => graphql?.suffix, "GraphQL embed suffix");
  rejectDuplicates(registry, aggregates.values(), getAggregateName, "GraphQL aggregate function");
  rejectInvalidNames(registry, aggregates.values(), (spec) => [getAggregateName(spec)], "aggregate function");
  rejectOverlaps(registry, orderings, getOrderingName, "GraphQL ordering");
  rejectInvalidNames(registry, orderings, (spec) => [getOrderingName(spec)], "ordering");
  for (const spec of orderings)
    if (spec.operands.some(({ name }) => name === DIRECTION))
      throw presetError(
        `an operand of the ordering "${spec.name}" of "${getPluginName(spec)}" is named "${DIRECTION}", as its direction is`,
      );
};
