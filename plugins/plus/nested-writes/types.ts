/** The input types: `_related` of updates, and what is in it. @rule P-NST-1 P-NST-2 P-NST-5 */
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
import { keysOf, operationsOf, writableRelationshipOf } from "./writable-relationships.ts";
import { planRelated } from "./writes.ts";

const NAME = "_related";
const ABOUT = "writes to related rows, in the same transaction";

/** Which of the plugin's types it is: `fn` of the type; those along a relationship have its name behind it. */
const RELATED = "related";
const ALONG = "along:";
const ONE = "one";
const KEY = "key";

const list = (type: GraphQLInputType): GraphQLInputType => new GraphQLList(new GraphQLNonNull(type));

const inputOf = ({ build, table, fn }: { build: GqlBuild; table: GqlTable; fn: string }, name: string) =>
  build.inputObject({ name, scope: "input", relation: table.relation, fn });

/** The relationships along which the role may write. */
const writableRelationshipsOf = (build: GqlBuild, table: GqlTable): readonly GqlRelationshipField[] =>
  table.relationships.filter((field) => {
    const target = build.table(field.target);
    const way = writableRelationshipOf(table.relation, field);
    return (
      target !== undefined && way !== undefined && Object.values(operationsOf(build, table, target, way)).includes(true)
    );
  });

const relatedInput = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  writableRelationshipsOf(build, table).length === 0
    ? undefined
    : inputOf({ build, table, fn: RELATED }, build.typeName(table.word, "related_input"));

const alongInput = (build: GqlBuild, table: GqlTable, { name }: GqlRelationshipField) =>
  inputOf(
    { build, table, fn: ALONG + name },
    build.typeName(table.word, "rel", { text: name, isCustom: true }, "update_input"),
  );

/** The input for the one row of a relationship, which is like an item of `updates` without a condition. */
const oneInput = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  Object.keys(build.updateOperators(table)).length === 0 && writableRelationshipsOf(build, table).length === 0
    ? undefined
    : inputOf({ build, table, fn: ONE }, build.typeName(table.word, "obj_rel_update_input"));

const keyInput = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  inputOf({ build, table, fn: KEY }, build.typeName(table.word, "key_columns_input"));

const relatedWritesPart = (build: GqlBuild, table: GqlTable): GqlPart => ({
  kind: "further",
  writes: (input, writing) => planRelated(build, table, input, writing),
});

type Entry = readonly [
  name: string,
  type: GraphQLInputType | undefined | false,
  toPlan: GqlPart,
  description?: string | null,
];

const named = (entries: readonly Entry[]): GqlFields =>
  Object.fromEntries(
    entries.flatMap(([name, type, toPlan, description = null]) =>
      type === undefined || type === false ? [] : [[name, { config: { type, description }, toPlan }] as const],
    ),
  );

const relatedFields = (build: GqlBuild, table: GqlTable): GqlFields =>
  named(
    writableRelationshipsOf(build, table).map((field) => {
      const { relationship, target } = field;
      return [field.name, alongInput(build, table, field), { kind: "relationship", relationship, target }] as const;
    }),
  );

const ABOUT_MANY = {
  insert: "rows to be inserted, or upserted with on_conflict",
  update: "updates of related rows, in order",
  delete: "deletes the related rows that the condition holds for",
  connect: "rows that belong here from then on, each by a primary or unique key",
  disconnect: "sets the key of the related rows to null that the condition holds for",
} as const;

const ABOUT_ONE = {
  insert: "the row to be inserted, or upserted with on_conflict",
  update: "an update of the related row",
  delete: "deletes the related row",
  connect: "the row that belongs here from then on, by a primary or unique key",
  disconnect: "sets the key that joins the rows to null",
} as const;

/** @rule P-NST-2 */
const alongFields = (build: GqlBuild, table: GqlTable, name: string): GqlFields => {
  const field = table.relationships.find((each) => each.name === name);
  const target = field && build.table(field.target);
  const way = field && writableRelationshipOf(table.relation, field);
  if (target === undefined || way === undefined) return {};
  const may = operationsOf(build, table, target, way);
  const { isToOne } = way.field.relationship;
  const key = may.connect ? keyInput(build, target) : undefined;
  const where = isToOne ? GraphQLBoolean : build.boolExp(target);
  const updated = may.update ? (isToOne ? oneInput(build, target) : build.updates(target)) : undefined;
  const operation = (verb: keyof typeof ABOUT_ONE, type: Entry[1]): Entry => [
    verb,
    type,
    { kind: "own", name: verb },
    (isToOne ? ABOUT_ONE : ABOUT_MANY)[verb],
  ];
  return named([
    operation("insert", may.insert && build.relatedInsert(target, isToOne)),
    operation("update", isToOne ? updated : updated && list(updated)),
    operation("delete", may.delete && where),
    operation("connect", isToOne ? key : key && list(key)),
    operation("disconnect", may.disconnect && where),
  ]);
};

const keyFields = (build: GqlBuild, table: GqlTable): GqlFields => {
  const names = new Set(keysOf(build, table).flat());
  return named(
    table.columns.flatMap((each): readonly Entry[] => {
      const { column, name, comment } = each;
      const value = names.has(column.name) ? build.columnValue(each) : undefined;
      if (value === undefined) return [];
      return [[name, build.valueInput(value), { kind: "column", column, relation: table.relation, value }, comment]];
    }),
  );
};

/** A field `_related` beside the operators. */
const withField = (build: GqlBuild, table: GqlTable, fields: GqlFields): GqlFields => {
  const type = relatedInput(build, table);
  return type === undefined
    ? fields
    : { [NAME]: { config: { type, description: ABOUT }, toPlan: relatedWritesPart(build, table) }, ...fields };
};

/** The same as an argument, made when it is first needed. */
const withArgument = (build: GqlBuild, table: GqlTable, { config, toPlan }: GqlField): GqlField => {
  let args: GraphQLFieldConfigArgumentMap | undefined;
  return {
    toPlan,
    config: {
      type: config.type,
      description: config.description,
      get args() {
        if (args === undefined) {
          const type = relatedInput(build, table);
          const given = "args" in config ? config.args : undefined;
          const extensions = { relapi: relatedWritesPart(build, table) };
          args = { ...given, ...(type && { [NAME]: { type, description: ABOUT, extensions } }) };
        }
        return args;
      },
    } as GqlField["config"], // a field of an object stays one
  };
};

export const withRelated = (fields: GqlFields, { scope, relation, fn, build }: GqlFieldContext): GqlFields => {
  if (scope === "mutation_root")
    return Object.fromEntries(
      Object.entries(fields).map(([name, field]) => {
        const { toPlan } = field;
        const table =
          toPlan.kind === "update" || toPlan.kind === "update-by-pk" ? build.table(toPlan.relation) : undefined;
        return [name, table === undefined ? field : withArgument(build, table, field)];
      }),
    );
  const table = relation && build.table(relation);
  if (table === undefined) return fields;
  // a role that may not update has no such fields
  if (scope === "updates") return Object.keys(fields).length === 0 ? fields : withField(build, table, fields);
  if (scope !== "input" || fn === undefined) return fields;
  if (fn === RELATED) return { ...fields, ...relatedFields(build, table) };
  if (fn === ONE) return { ...fields, ...withField(build, table, build.updateOperators(table)) };
  if (fn === KEY) return { ...fields, ...keyFields(build, table) };
  return fn.startsWith(ALONG) ? { ...fields, ...alongFields(build, table, fn.slice(ALONG.length)) } : fields;
};
