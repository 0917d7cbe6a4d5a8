/** `mutation { insert_artist(objects: [{ name: "A", albums: { data: [{ title: "x" }] } }], on_conflict: { … }) {
 *  affected_rows } }`: adds inserts as root fields. @rule G-ROOT-8 G-ROOT-9 G-INP-11 … G-INP-14 G-ENU-3 G-ENU-4 G-PRE-5
 *  G-PRM-10 */
import { GraphQLString, type GraphQLInputObjectType } from "graphql";
import { definePlugin } from "../../../core/index.ts";
import { getRoleTable } from "./role-table.ts";
import { isEnumValueName } from "./names.ts";
import { buildRelationshipPart } from "./relationships.ts";
import {
  buildBoolExpType,
  listColumnValues,
  filterEnumerable,
  buildMutationResponseType,
  quoteTableName,
  forEachTable,
  buildRowType,
} from "./type-names.ts";
import { argument, buildEntry, collectFields, forTable, tapFields } from "./field-taps.ts";
import { wrapList, wrapNonNull, wrapNonNullList } from "./non-null-list.ts";
import { buildInsertInputType, buildRelatedInsertType } from "./write-inputs.ts";
import type { GqlBuild } from "../field-types.ts";
import type { GqlTable, GqlTableRights } from "../catalog-types.ts";

/** Returns the table's constraints with legal names. Views have no constraints. */
const listConstraints = (table: GqlTable) => table.relation.uniqueKeys.filter(({ name }) => isEnumValueName(name));

/** Returns the input type `T_on_conflict`. @rule G-INP-14 */
const buildOnConflictType = (build: GqlBuild, table: GqlTable): GraphQLInputObjectType | undefined =>
  listUsableConstraints(build, table).length === 0
    ? undefined
    : build.inputObject({
        name: build.typeName(table.namePart, "on_conflict"),
        scope: "on_conflict",
        relation: table.relation,
        description: `on_conflict condition type for table ${quoteTableName(table)}`,
      });

/** Returns the constraints that `on_conflict` may name. @rule G-ENU-4 */
const listUsableConstraints = (build: GqlBuild, table: GqlTable) => {
  const { insert, select } = build.rights(table);
  return insert?.readsConflicts === true
    ? listConstraints(table).filter(({ columns }) => columns.every((column) => select?.columns.has(column) === true))
    : listConstraints(table);
};

const onConflictPart = { kind: "argument", name: "on_conflict" } as const;

const buildRootFields = forEachTable((build, table) => {
  const { rights } = getRoleTable(build, table);
  const input = rights.insert === undefined ? undefined : buildInsertInputType(build, table);
  const type = input && buildMutationResponseType(build, table);
  if (input === undefined || type === undefined) return {};
  const conflict = buildOnConflictType(build, table);
  const conflictArgument = conflict && {
    [build.fieldName("on_conflict")]: argument(conflict, onConflictPart, "upsert condition"),
  };
  const row = rights.select === undefined ? undefined : buildRowType(build, table);
  return {
    insert: {
      kind: "insert",
      type,
      args: {
        objects: argument(
          wrapNonNull(wrapList(input)),
          { kind: "argument", name: "objects" },
          "the rows to be inserted",
        ),
        ...conflictArgument,
      },
      description: `insert data into the table: ${quoteTableName(table)}`,
    },
    insert_one: row && {
      kind: "insert-one",
      type: row,
      args: {
        object: argument(wrapNonNull(input), { kind: "argument", name: "object" }, "the row to be inserted"),
        ...conflictArgument,
      },
      description: `insert a single row into the table: ${quoteTableName(table)}`,
    },
  };
});

const buildInputFields = forTable((build, table) => {
  const { insertable } = getRoleTable(build, table);
  const fields = collectFields([
    ...insertable.map((column) =>
      buildEntry(column.name, build.valueInput(column.value), column.part, { description: column.comment }),
    ),
    ...table.relationships.map((relationshipField) => {
      const target = build.table(relationshipField.target);
      const type =
        target && build.rights(target).insert !== undefined
          ? buildRelatedInsertType(build, target, relationshipField.relationship.isToOne)
          : undefined;
      return buildEntry(relationshipField.name, type, buildRelationshipPart(relationshipField));
    }),
  ]);
  return Object.keys(fields).length > 0
    ? fields
    : { _PLACEHOLDER: { config: { type: GraphQLString }, toPlan: { kind: "placeholder" } } };
});

const buildRelationshipFields = forTable((build, table, { fn }) => {
  const input = buildInsertInputType(build, table);
  if (input === undefined) return {};
  const conflict = buildOnConflictType(build, table);
  return collectFields([
    buildEntry("data", wrapNonNull(fn === "object" ? input : wrapList(input)), { kind: "argument", name: "data" }),
    buildEntry(build.fieldName("on_conflict"), conflict, onConflictPart, { description: "upsert condition" }),
  ]);
});

const joinQuoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ");

const isVisibleColumn = ({ select, insert, update }: GqlTableRights, column: string): boolean =>
  [select, insert, update].some((right) => right?.columns.has(column) === true);

const buildConstraintEnum = (build: GqlBuild, table: GqlTable) =>
  build.enumeration({
    name: build.typeName(table.namePart, "constraint"),
    relation: table.relation,
    description: `unique or primary key constraints on table ${quoteTableName(table)}`,
    values: () =>
      listUsableConstraints(build, table).map(({ name, columns }) => ({
        name,
        value: name,
        // A description names only columns of the role's schema.
        description: columns.every((column) => isVisibleColumn(build.rights(table), column))
          ? `unique or primary key constraint on columns ${joinQuoted(columns)}`
          : "unique or primary key constraint",
        part: { kind: "constraint", name, columns },
      })),
  });

/** Returns the enum `T_update_column`. @rule G-ENU-3 */
const buildUpdateColumnEnum = (build: GqlBuild, table: GqlTable) => {
  const columns = filterEnumerable(getRoleTable(build, table).updatable);
  const isEmpty = columns.length === 0;
  return build.enumeration({
    name: build.typeName(table.namePart, "update_column"),
    relation: table.relation,
    description: `${isEmpty ? "placeholder for update columns" : "update columns"} of table ${quoteTableName(table)}${isEmpty ? " (current role has no relevant permissions)" : ""}`,
    values: () =>
      isEmpty
        ? [
            {
              name: "_PLACEHOLDER",
              value: "_PLACEHOLDER",
              description: "placeholder (do not use)",
              part: { kind: "placeholder" },
            },
          ]
        : listColumnValues(columns),
  });
};

const buildConflictFields = forTable((build, table) => {
  const constraint = buildConstraintEnum(build, table);
  const columns = buildUpdateColumnEnum(build, table);
  if (constraint === undefined || columns === undefined) return {};
  const where = buildBoolExpType(build, table);
  return collectFields([
    buildEntry("constraint", wrapNonNull(constraint), { kind: "argument", name: "constraint" }),
    buildEntry(
      build.fieldName("update_columns"),
      wrapNonNullList(columns),
      { kind: "argument", name: "update_columns" },
      { defaultValue: [] },
    ),
    buildEntry("where", where, { kind: "argument", name: "where" }),
  ]);
});

/** Adds the root fields that insert rows. */
export const graphqlInserts = definePlugin({
  name: "graphql-inserts",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-inserts", {
      mutation_root: buildRootFields,
      insert_input: buildInputFields,
      rel_insert_input: buildRelationshipFields,
      on_conflict: buildConflictFields,
    }),
});
