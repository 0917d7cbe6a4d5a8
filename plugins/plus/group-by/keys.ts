/**
 * `by: [live], by_related: { artist: { by: [name] } }`: groups are formed by columns of the row itself and of the rows
 * that its object relationships lead to.
 */
import { getNamedType, GraphQLList, GraphQLNonNull, type GraphQLInputType } from "graphql";
import type { Expression, Json, Output } from "../../../core/index.ts";
import type {
  GqlBuild,
  GqlColumn,
  GqlField,
  GqlFieldContext,
  GqlFields,
  GqlPart,
  GqlRelationshipField,
  GqlTable,
  GqlValueType,
} from "../../graphql/api.ts";

/** The `fn` of the types that this plugin adds for group keys. */
export const KEY = "group-key";
export const KEY_ORDER = "group-key-order";
const KEYS = "group-keys";
const RELATIONSHIPS = "group-relationships";

export const nonNull = <Type extends GraphQLInputType>(type: Type) => new GraphQLNonNull(type);

interface GroupKey {
  readonly name: string;
  readonly column: string;
  readonly value: GqlValueType;
  readonly part: GqlPart;
}

const buildGroupKey = (build: GqlBuild, table: GqlTable, groupColumn: GqlColumn): GroupKey | undefined => {
  const { name, column } = groupColumn;
  const { columns, masked: maskedColumns } = build.rights(table).select ?? {};
  if (columns?.has(column.name) !== true || maskedColumns?.has(column.name) === true) return undefined;
  const value = build.columnValue(groupColumn);
  return (
    value && { name, column: column.name, value, part: { kind: "column", column, relation: table.relation, value } }
  );
};

/** Returns the columns that the role may read in every row. */
export const listGroupKeys = (build: GqlBuild, table: GqlTable): readonly GroupKey[] =>
  table.columns.flatMap((column) => buildGroupKey(build, table, column) ?? []);

interface ToOneField extends GqlRelationshipField {
  readonly table: GqlTable;
}

/** Returns the object relationships to tables of which the role may read at least one column. */
const listToOneFields = (build: GqlBuild, table: GqlTable): readonly ToOneField[] =>
  table.relationships.flatMap((relationshipField) => {
    const relatedTable = relationshipField.relationship.isToOne ? build.table(relationshipField.target) : undefined;
    const isReadable =
      relatedTable?.columns.some((column) => buildGroupKey(build, relatedTable, column) !== undefined) === true;
    return isReadable ? [{ ...relationshipField, table: relatedTable }] : [];
  });

/** Converts an expression of the related row to an expression of the row that has the relationship. */
const liftToRelated = (value: Expression, relationship: string): Expression =>
  value.kind === "cast" || value.kind === "apply"
    ? { ...value, value: liftToRelated(value.value, relationship) }
    : { kind: "related", relationship, value };

const liftOutputToRelated = (output: Output, relationship: string): Output => {
  if (output.kind === "value") return { ...output, value: liftToRelated(output.value, relationship) };
  return output.kind === "object"
    ? { ...output, outputs: output.outputs.map((member) => liftOutputToRelated(member, relationship)) }
    : output;
};

/** Returns the key columns of a group, and an object for each object relationship. */
export const buildKeyFields = ({ build }: GqlFieldContext, table: GqlTable): GqlFields => {
  const fields: Record<string, GqlField> = {};
  for (const { name, relationship, table: relatedTable } of listToOneFields(build, table)) {
    const { relation } = relatedTable;
    const type = build.object({
      name: build.typeName(relatedTable.namePart, "group_key"),
      scope: "record",
      relation,
      fn: KEY,
      description: `what groups have in common of a row of the table "${relation.name}"`,
    });
    if (type !== undefined)
      fields[name] = {
        config: { type: new GraphQLNonNull(type), description: "An object relationship" },
        toPlan: {
          kind: "custom",
          output: ({ as }, { rows }) => ({
            kind: "object",
            as,
            outputs: rows().map((output) => liftOutputToRelated(output, relationship.id)),
          }),
        },
      };
  }
  for (const { name, value, part } of listGroupKeys(build, table))
    fields[name] = { config: { type: build.valueOutput(value) }, toPlan: part };
  return fields;
};

/** Returns the fields of `buildKeyFields` as inputs of an order of groups. */
export const buildKeyOrderFields = ({ build }: GqlFieldContext, table: GqlTable): GqlFields => {
  const fields: Record<string, GqlField> = {};
  const direction = build.orderDirection();
  if (direction === undefined) return fields;
  for (const { name, relationship, target, table: relatedTable } of listToOneFields(build, table)) {
    const type = build.inputObject({
      name: build.typeName(relatedTable.namePart, "group_key_order"),
      scope: "terms",
      relation: relatedTable.relation,
      fn: KEY_ORDER,
    });
    if (type !== undefined) fields[name] = { config: { type }, toPlan: { kind: "relationship", relationship, target } };
  }
  for (const { name, part } of listGroupKeys(build, table))
    fields[name] = { config: { type: direction }, toPlan: part };
  return fields;
};

const KEYS_ARGUMENT = "by";
const nameRelatedArgument = (build: GqlBuild): string => build.fieldName("by_related");

const buildColumnsType = (build: GqlBuild, table: GqlTable): GraphQLInputType | undefined => {
  const columns = build.listArguments(table)[build.fieldName("distinct_on")];
  // The type of `columns` is an enum.
  return columns && new GraphQLList(nonNull(getNamedType(columns.type) as GraphQLInputType));
};

/** Returns the type of `by_related`, or undefined if no object relationship leads to a readable column. */
const getRelatedType = (build: GqlBuild, table: GqlTable): GraphQLInputType | undefined =>
  listToOneFields(build, table).length === 0
    ? undefined
    : build.inputObject({
        name: build.typeName(table.namePart, "group_relationships"),
        scope: "input",
        relation: table.relation,
        fn: RELATIONSHIPS,
      });

/** Returns the arguments `by` and `by_related`. Returns undefined if there is no column to group by. */
export const buildKeyArguments = (build: GqlBuild, table: GqlTable) => {
  const columns = buildColumnsType(build, table);
  const relatedType = getRelatedType(build, table);
  if (columns === undefined) return undefined;
  return {
    [KEYS_ARGUMENT]: { type: relatedType === undefined ? nonNull(columns) : columns },
    ...(relatedType && { [nameRelatedArgument(build)]: { type: relatedType } }),
  };
};

/** Returns the fields of the input types of `by_related`. */
export const buildKeyInputFields = ({ build, fn }: GqlFieldContext, table: GqlTable): GqlFields => {
  const buildOwnField = (type: GraphQLInputType, name: string): GqlField => ({
    config: { type },
    toPlan: { kind: "own", name },
  });
  if (fn === RELATIONSHIPS)
    return Object.fromEntries(
      listToOneFields(build, table).flatMap(
        ({ name, table: relatedTable }): readonly (readonly [string, GqlField])[] => {
          const { relation, namePart } = relatedTable;
          const type = build.inputObject({
            name: build.typeName(namePart, "group_keys"),
            scope: "input",
            relation,
            fn: KEYS,
          });
          return type === undefined ? [] : [[name, buildOwnField(type, name)]];
        },
      ),
    );
  if (fn !== KEYS) return {};
  const entries = Object.entries({
    [KEYS_ARGUMENT]: buildColumnsType(build, table),
    [nameRelatedArgument(build)]: getRelatedType(build, table),
  });
  return Object.fromEntries(
    entries.flatMap(([name, type]) => (type === undefined ? [] : [[name, buildOwnField(type, name)]])),
  );
};

/** A column that groups are formed by. */
export interface ChosenKey extends GroupKey {
  readonly expression: Expression;
}

type GivenKeys = Readonly<Record<string, Json>>;

/** Returns the columns that the arguments name, in the order of the types' fields. */
export const findChosenKeys = (build: GqlBuild, table: GqlTable, keys: GivenKeys): readonly ChosenKey[] => {
  const chosenNames = new Set((keys[KEYS_ARGUMENT] ?? []) as readonly string[]);
  const relatedKeys = (keys[nameRelatedArgument(build)] ?? {}) as Readonly<Record<string, GivenKeys | null>>;
  return [
    ...listGroupKeys(build, table).flatMap((key): readonly ChosenKey[] =>
      chosenNames.has(key.name) ? [{ ...key, expression: { kind: "column", name: key.column } }] : [],
    ),
    ...listToOneFields(build, table)
      .filter(({ name }) => Object.hasOwn(relatedKeys, name))
      .flatMap(({ name, relationship, table: target }) =>
        findChosenKeys(build, target, relatedKeys[name] ?? {}).map((key) => ({
          ...key,
          expression: liftToRelated(key.expression, relationship.id),
        })),
      ),
  ];
};

/** Returns the relationships that lead to the column of the expression, followed by the column's name. The column may
 *  be cast to text. */
export const findColumnPath = (value: Expression): readonly string[] | undefined => {
  if (value.kind === "cast" || value.kind === "apply") return findColumnPath(value.value);
  if (value.kind === "column") return [value.name];
  const inner = value.kind === "related" ? findColumnPath(value.value) : undefined;
  return value.kind === "related" && inner !== undefined ? [value.relationship, ...inner] : undefined;
};

/** Returns the path of a column with the names that the GraphQL schema uses. */
export const nameColumnPath = (
  build: GqlBuild,
  table: GqlTable,
  [first = "", ...remainingPath]: readonly string[],
): string[] => {
  if (remainingPath.length === 0) return [build.schema.columnName(table.relation, first)];
  const step = listToOneFields(build, table).find(({ relationship }) => relationship.id === first);
  return step === undefined ? [first] : [step.name, ...nameColumnPath(build, step.table, remainingPath)];
};
