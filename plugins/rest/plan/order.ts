/** Builds the terms of an order, on columns of a level's own rows and of rows embedded in it. */
import {
  findBaseType,
  findColumn,
  matchesType,
  type BoundValue,
  type Column,
  type Expression,
  type OrderBy,
  type Output,
  type Read,
} from "../../../core/index.ts";
import type { Grammar, OrderTerm, SelectItem } from "../request.ts";
import { bind, buildField, buildPath, type RowScope } from "./conditions.ts";
import { buildJoinedRowName, type QueryLevel } from "./query-levels.ts";

/** Builds the order of a level. @rule R-ORD-1 R-ORD-3 R-ORD-4 */
export const buildOrder = (
  row: RowScope,
  level: QueryLevel,
  term: OrderTerm,
  orderings: Grammar["orderings"],
): OrderBy => {
  const { embed, field, direction, nulls } = term;
  if (term.isCount === true)
    return { expression: { kind: "aggregate", fn: "count", expressions: [] }, direction, nulls };
  const expression: Expression =
    embed === undefined
      ? buildField(row, field)
      : {
          kind: "embedded",
          embed,
          name: field.name,
          path: field.path.length === 0 ? undefined : buildPath(row.values, field.path),
          row: buildJoinedRowName(level, embed),
        };
  return { expression: buildOrdering(row, expression, level, term, orderings), direction, nulls };
};

/**
 * Orders groups by selected outputs: by a field as `select` writes it, otherwise by an output name, otherwise by a key
 * of a to-one spread. PostgreSQL does not recognise a selected path or computed field in an order. @rule R-AGG-5
 * R-AGG-5a R-AGG-5c
 */
export const orderGroups = (
  read: Read,
  values: readonly BoundValue[],
  level: QueryLevel,
  flatModes: Grammar["flatModes"],
): Read => {
  const { output, orderBy } = read;
  const { relation } = level;
  if (orderBy === undefined) return read;
  const encodeExpression = (expression: Expression): string =>
    JSON.stringify(expression, (key, part: unknown) => (key === "param" ? { value: values[part as number] } : part));
  const findOutput = (expression: Expression): Expression => {
    if (expression.kind !== "column" && expression.kind !== "computed") return expression;
    const text = encodeExpression(expression);
    const isField = (item: Output): boolean =>
      item.kind === "value" && encodeExpression(withoutCasts(item.value)) === text;
    const name =
      expression.path !== undefined
        ? undefined
        : expression.kind === "column"
          ? expression.name
          : expression.routine.name;
    const isWhole = output.some(({ kind }) => kind === "all");
    if (isWhole && relation !== undefined && name !== undefined && findColumn(relation, name) !== undefined)
      return expression;
    if (name !== undefined && output.some((item) => item.kind === "value" && encodeExpression(item.value) === text))
      return expression;
    const matchingOutput =
      output.find(isField) ?? (name === undefined ? undefined : output.find((item) => hasOutputName(item, name)));
    if (matchingOutput === undefined && name !== undefined && hasSpreadKey(output, level, name, flatModes))
      return { kind: "output", as: name };
    if (matchingOutput === undefined || !("as" in matchingOutput)) return expression;
    const nth = output.filter((item) => "as" in item && item.as === matchingOutput.as).indexOf(matchingOutput);
    return { kind: "output", as: matchingOutput.as, ...(nth === 0 ? {} : { nth }) };
  };
  return { ...read, orderBy: orderBy.map((term) => ({ ...term, expression: findOutput(term.expression) })) };
};

const withoutCasts = (expression: Expression): Expression =>
  expression.kind === "cast" ? withoutCasts(expression.value) : expression;

const hasOutputName = (output: Output, name: string): boolean =>
  (output.kind === "value" || output.kind === "aggregate") && output.as === name;

/** Returns whether a to-one spread of the level, or one inside such a spread, adds the key to the rows of the level. */
const hasSpreadKey = (
  outputs: readonly Output[],
  level: QueryLevel,
  name: string,
  flatModes: Grammar["flatModes"],
): boolean =>
  level.embeds.some((inner) => {
    const embed = outputs.find((output) => output.kind === "embed" && output.id === inner.id);
    if (embed?.kind !== "embed" || embed.isHidden === true) return false;
    if (!flatModes.has(embed.mode) || !inner.relationship.isToOne) return false;
    const innerOutputs = embed.read.output;
    const hasKey = (output: Output): boolean =>
      output.kind === "all"
        ? inner.relation !== undefined && findColumn(inner.relation, name) !== undefined
        : hasOutputName(output, name);
    return innerOutputs.some(hasKey) || hasSpreadKey(innerOutputs, inner, name, flatModes);
  });

/**
 * Returns the ordering for the column's type. For other types it returns the first ordering, which the database
 * rejects. @rule X-ORD-2
 */
const buildOrdering = (
  { model, values }: RowScope,
  expression: Expression,
  level: QueryLevel,
  term: OrderTerm,
  orderings: Grammar["orderings"],
): Expression => {
  const { ordering } = term;
  const specs = (ordering && orderings.get(ordering.name)) ?? [];
  const column = ordering && findOrderedColumn(level, term);
  const type = column && findBaseType(model, column.type);
  const spec = specs.find((orderingSpec) => matchesType(orderingSpec, type)) ?? specs[0];
  if (ordering === undefined || spec === undefined) return expression;
  return {
    kind: "ordering",
    ordering: spec.name,
    value: expression,
    operands: ordering.operands.map((text) => bind(values, text)),
  };
};

/** Returns the column that a term sorts by. In a related order, the output key of that name determines the column. */
const findOrderedColumn = (level: QueryLevel, { embed, field }: OrderTerm): Column | undefined => {
  const { relation, node } =
    embed === undefined
      ? level
      : (level.embeds.find(({ id }) => id === embed) ?? { relation: undefined, node: undefined });
  if (relation === undefined || field.path.length > 0) return undefined;
  const isKeyed = (item: SelectItem): boolean =>
    item.kind === "field" && (item.alias ?? item.field.name) === field.name;
  const item = embed === undefined ? undefined : node?.items.find(isKeyed);
  if (item?.kind !== "field") return findColumn(relation, field.name);
  const isPlain = item.field.path.length === 0 && item.aggregate === undefined && item.cast === undefined;
  return isPlain ? findColumn(relation, item.field.name) : undefined;
};
