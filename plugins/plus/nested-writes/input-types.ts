/** The input types of `_related`, with which updates write related rows. @rule P-NST-1 P-NST-2 P-NST-5 */
import {
  GraphQLBoolean,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputObjectType,
  type GraphQLInputType,
} from "graphql";
import type {
  GqlBuild,
  GqlField,
  GqlFieldContext,
  GqlFields,
  GqlPart,
  GqlRelationshipField,
  GqlTable,
} from "../../graphql/api.ts";
import { listReadableKeys, findOperations, findWritableRelationship } from "./writable-relationships.ts";
import { planRelated } from "./writes.ts";

const FIELD_NAME = "_related";
const DESCRIPTION = "writes to related rows, in the same transaction";

/** The `fn` of the types of this plugin. For a relationship, its name follows the prefix. */
const RELATED_WRITES = "related";
const RELATIONSHIP_PREFIX = "along:";
const TO_ONE = "one";
const KEY = "key";

const buildListType = (type: GraphQLInputType): GraphQLInputType => new GraphQLList(new GraphQLNonNull(type));

const getInputType = ({ build, table, fn }: { build: GqlBuild; table: GqlTable; fn: string }, name: string) =>
  build.inputObject({ name, scope: "input", relation: table.relation, fn });

/** Returns the relationships along which the role may write. */
const listWritableRelationships = (build: GqlBuild, table: GqlTable): readonly GqlRelationshipField[] =>
  table.relationships.filter((field) => {
    const target = build.table(field.target);
    const relationship = findWritableRelationship(table.relation, field);
    return (
      target !== undefined &&
      relationship !== undefined &&
      Object.values(findOperations(build, table, target, relationship)).includes(true)
    );
  });

const getRelatedInput = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  listWritableRelationships(build, table).length === 0
    ? undefined
    : getInputType({ build, table, fn: RELATED_WRITES }, build.typeName(table.namePart, "related_input"));

const getRelationshipInput = (build: GqlBuild, table: GqlTable, { name }: GqlRelationshipField) =>
  getInputType(
    { build, table, fn: RELATIONSHIP_PREFIX + name },
    build.typeName(table.namePart, "rel", { text: name, isCustom: true }, "update_input"),
  );

/** Returns the input for the one row of a relationship, which is like an item of `updates` without a condition. */
const getToOneInput = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  Object.keys(build.updateOperators(table)).length === 0 && listWritableRelationships(build, table).length === 0
    ? undefined
    : getInputType({ build, table, fn: TO_ONE }, build.typeName(table.namePart, "obj_rel_update_input"));

const getKeyInput = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  getInputType({ build, table, fn: KEY }, build.typeName(table.namePart, "key_columns_input"));

const buildRelatedWritesPart = (build: GqlBuild, table: GqlTable): GqlPart => ({
  kind: "update-additions",
  writes: (input, writing) => planRelated(build, table, input, writing),
});

type FieldEntry = readonly [
  name: string,
  type: GraphQLInputType | undefined | false,
  toPlan: GqlPart,
  description?: string | null,
];

const buildFields = (entries: readonly FieldEntry[]): GqlFields =>
  Object.fromEntries(
    entries.flatMap(([name, type, toPlan, description = null]) =>
      type === undefined || type === false ? [] : [[name, { config: { type, description }, toPlan }] as const],
    ),
  );

const buildRelatedFields = (build: GqlBuild, table: GqlTable): GqlFields =>
  buildFields(
    listWritableRelationships(build, table).map((field) => {
      const { relationship, target } = field;
      return [
        field.name,
        getRelationshipInput(build, table, field),
        { kind: "relationship", relationship, target },
      ] as const;
    }),
  );

const TO_MANY_DESCRIPTIONS = {
  insert: "rows to be inserted, or upserted with on_conflict",
  update: "updates of related rows, in order",
  delete: "deletes the related rows that the condition holds for",
  connect: "rows that belong here from then on, each by a primary or unique key",
  disconnect: "sets the key of the related rows to null that the condition holds for",
} as const;

const TO_ONE_DESCRIPTIONS = {
  insert: "the row to be inserted, or upserted with on_conflict",
  update: "an update of the related row",
  delete: "deletes the related row",
  connect: "the row that belongs here from then on, by a primary or unique key",
  disconnect: "sets the key that joins the rows to null",
} as const;

/** Returns the input fields for the writes of one relationship. @rule P-NST-2 */
const buildRelationshipFields = (build: GqlBuild, table: GqlTable, name: string): GqlFields => {
  const field = table.relationships.find((relationshipField) => relationshipField.name === name);
  const target = field && build.table(field.target);
  const relationship = field && findWritableRelationship(table.relation, field);
  if (target === undefined || relationship === undefined) return {};
  const may = findOperations(build, table, target, relationship);
  const { isToOne } = relationship.field.relationship;
  const key = may.connect ? getKeyInput(build, target) : undefined;
  const where = isToOne ? GraphQLBoolean : build.boolExp(target);
  const updateInput = may.update ? (isToOne ? getToOneInput(build, target) : build.updates(target)) : undefined;
  const buildOperation = (operation: keyof typeof TO_ONE_DESCRIPTIONS, type: FieldEntry[1]): FieldEntry => [
    operation,
    type,
    { kind: "own", name: operation },
    (isToOne ? TO_ONE_DESCRIPTIONS : TO_MANY_DESCRIPTIONS)[operation],
  ];
  return buildFields([
    buildOperation("insert", may.insert && build.relatedInsert(target, isToOne)),
    buildOperation("update", isToOne ? updateInput : updateInput && buildListType(updateInput)),
    buildOperation("delete", may.delete && where),
    buildOperation("connect", isToOne ? key : key && buildListType(key)),
    buildOperation("disconnect", may.disconnect && where),
  ]);
};

const buildKeyFields = (build: GqlBuild, table: GqlTable): GqlFields => {
  const names = new Set(listReadableKeys(build, table).flat());
  return buildFields(
    table.columns.flatMap((tableColumn): readonly FieldEntry[] => {
      const { column, name, comment } = tableColumn;
      const value = names.has(column.name) ? build.columnValue(tableColumn) : undefined;
      if (value === undefined) return [];
      return [[name, build.valueInput(value), { kind: "column", column, relation: table.relation, value }, comment]];
    }),
  );
};

/** Adds the field `_related` beside the update operators. */
const addRelatedField = (build: GqlBuild, table: GqlTable, fields: GqlFields): GqlFields => {
  const type = getRelatedInput(build, table);
  return type === undefined
    ? fields
    : {
        [FIELD_NAME]: { config: { type, description: DESCRIPTION }, toPlan: buildRelatedWritesPart(build, table) },
        ...fields,
      };
};

/** Adds the argument `_related`, whose type is built when the arguments are first read. */
const addRelatedArgument = (build: GqlBuild, table: GqlTable, { config, toPlan }: GqlField): GqlField => {
  let args: GraphQLFieldConfigArgumentMap | undefined;
  return {
    toPlan,
    config: {
      type: config.type,
      description: config.description,
      get args() {
        if (args === undefined) {
          const type = getRelatedInput(build, table);
          const fieldArguments = "args" in config ? config.args : undefined;
          const extensions = { relapi: buildRelatedWritesPart(build, table) };
          args = { ...fieldArguments, ...(type && { [FIELD_NAME]: { type, description: DESCRIPTION, extensions } }) };
        }
        return args;
      },
    } as GqlField["config"], // the copy is a field of an object too
  };
};

export const addRelatedWrites = (fields: GqlFields, { scope, relation, fn, build }: GqlFieldContext): GqlFields => {
  if (scope === "mutation_root")
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => {
        const { toPlan } = field;
        const table =
          toPlan.kind === "update" || toPlan.kind === "update-by-pk" ? build.table(toPlan.relation) : undefined;
        return [name, table === undefined ? field : addRelatedArgument(build, table, field)];
      }),
    );
  const table = relation && build.table(relation);
  if (table === undefined) return fields;
  // A role that may not update has no such fields.
  if (scope === "updates") return Object.keys(fields).length === 0 ? fields : addRelatedField(build, table, fields);
  if (scope !== "input" || fn === undefined) return fields;
  if (fn === RELATED_WRITES) return { ...fields, ...buildRelatedFields(build, table) };
  if (fn === TO_ONE) return { ...fields, ...addRelatedField(build, table, build.updateOperators(table)) };
  if (fn === KEY) return { ...fields, ...buildKeyFields(build, table) };
  return fn.startsWith(RELATIONSHIP_PREFIX)
    ? { ...fields, ...buildRelationshipFields(build, table, fn.slice(RELATIONSHIP_PREFIX.length)) }
    : fields;
};
