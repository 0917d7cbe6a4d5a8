/** `relapi types`: writes the database as the TypeScript type that typed clients of the REST surface use. */
import {
  findBaseType,
  findRelation,
  sql,
  listWritableColumns,
  type Column,
  type Model,
  type Relation,
  type Relationship,
  type Routine,
} from "../../core/index.ts";
import type { EnvironmentSettings } from "../server/environment.ts";
import { listComputedFields, listFieldsBesideColumns, returnsSingleValue, type TypeContext } from "./computed-types.ts";
import { withApi } from "./open-api.ts";
import {
  encodeAttributes,
  encodeColumnType,
  encodeKey,
  encodeList,
  encodeObject,
  addNull,
  encodeRowReference,
  isTable,
  encodeType,
  encodeUnion,
  type TypeField,
} from "./value-types.ts";

const needsValue = (relation: Relation, { notNull, default: columnDefault, baseDefault, identity }: Column): boolean =>
  isTable(relation) && notNull && columnDefault === undefined && baseDefault === undefined && identity === undefined;

const buildWrittenFields = (writer: TypeContext, relation: Relation, isInsert: boolean): readonly TypeField[] => {
  const writableColumns = new Set(listWritableColumns(relation));
  return relation.columns.flatMap((column): readonly TypeField[] => {
    const isTaken = writableColumns.has(column);
    if (!isTaken && !isTable(relation)) return [];
    const mark = isInsert && isTaken && needsValue(relation, column) ? "" : "?";
    const type = isTaken ? addNull(encodeColumnType(writer, relation, column), !column.notNull) : "never";
    return [[`${encodeKey(column.name)}${mark}`, type]];
  });
};

const encodeForeignKey = (relationship: Relationship, indent: string): string => {
  const encodeColumns = (at: 0 | 1): string =>
    `[${relationship.columns.map((pair) => JSON.stringify(pair[at])).join(", ")}]`;
  return `${indent}{
${indent}  foreignKeyName: ${JSON.stringify(relationship.constraint)};
${indent}  columns: ${encodeColumns(0)};
${indent}  isOneToOne: ${relationship.cardinality === "one-to-one"};
${indent}  referencedRelation: ${JSON.stringify(relationship.target.name)};
${indent}  referencedColumns: ${encodeColumns(1)};
${indent}}`;
};

/**
 * Returns the foreign keys of the relation, or of the tables that it shows. Clients derive inverse relationships and
 * junctions from them.
 */
const encodeForeignKeys = (relation: Relation, indent: string): string => {
  const keys = relation.relationships
    .filter(
      ({ isOwnKey, junction, routine, constraint, target }) =>
        isOwnKey &&
        junction === undefined &&
        routine === undefined &&
        constraint !== "" &&
        target.schema === relation.schema,
    )
    .map((relationship) => encodeForeignKey(relationship, `${indent}  `));
  return keys.length === 0 ? "[]" : `[\n${keys.join(",\n")},\n${indent}]`;
};

const encodeRelation = (writer: TypeContext, relation: Relation, indent: string): string => {
  const inner = `${indent}  `;
  const row: TypeField[] = [
    ...relation.columns.map((column): TypeField => [
      encodeKey(column.name),
      addNull(encodeColumnType(writer, relation, column), !column.notNull),
    ]),
    ...listFieldsBesideColumns(writer, relation).map((routine): TypeField => [
      encodeKey(routine.name),
      addNull(encodeType(writer, routine.returns.type), true),
    ]),
  ];
  const parts = [`${inner}Row: ${encodeObject(row, inner)};\n`];
  const { insert, update } = relation.writable;
  if (insert || isTable(relation))
    parts.push(`${inner}Insert: ${encodeObject(buildWrittenFields(writer, relation, true), inner)};\n`);
  if (update || isTable(relation))
    parts.push(`${inner}Update: ${encodeObject(buildWrittenFields(writer, relation, false), inner)};\n`);
  parts.push(`${inner}Relationships: ${encodeForeignKeys(relation, inner)};\n`);
  return `{\n${parts.join("")}${indent}}`;
};

/**
 * Types of a single unnamed parameter, which takes the whole body. Other calls name their arguments, or pass a row to a
 * computed field. @rule R-RPC-7
 */
const BODY_TYPES = new Set(["json", "jsonb", "text", "xml", "bytea"]);

const encodeArguments = (writer: TypeContext, { parameters }: Routine): string | undefined => {
  const [first] = parameters;
  if (first === undefined) return "never";
  const row = parameters.length === 1 ? findRowRelation(writer, first.type) : undefined;
  if (row !== undefined) return `{ "": ${encodeRowReference(row)} }`;
  if (parameters.every(({ name }) => name !== ""))
    return `{ ${[...parameters]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, type, hasDefault }) => `${encodeKey(name)}${hasDefault ? "?" : ""}: ${encodeType(writer, type)}`)
      .join("; ")} }`;
  const body = findBaseType(writer.model, first.type)?.name ?? "";
  return parameters.length === 1 && BODY_TYPES.has(body) ? `{ "": ${encodeType(writer, first.type)} }` : undefined;
};

const findRowRelation = ({ model }: TypeContext, oid: number): Relation | undefined => {
  const type = model.types.get(oid);
  return type?.relation && model.schemas.includes(type.relation.schema)
    ? findRelation(model, type.relation)
    : undefined;
};

/** Returns the relation whose row the function takes, if it is a computed field or relationship. */
const findRowParameter = (writer: TypeContext, { parameters }: Routine): Relation | undefined => {
  const [first] = parameters;
  return parameters.length === 1 && first !== undefined ? findRowRelation(writer, first.type) : undefined;
};

const encodeReturns = (writer: TypeContext, { returns }: Routine, indent: string): string => {
  const encodeReturnType = (): string => {
    const { kind, hasOutParameters, columns, type, relation } = returns;
    if (kind === "record") return "Record<string, unknown>";
    if (kind === "composite" && relation === undefined && hasOutParameters)
      return encodeObject(
        columns.map((column) => [encodeKey(column.name), encodeType(writer, column.type)]),
        indent,
      );
    return encodeType(writer, type);
  };
  return encodeReturnType();
};

const encodeSetOptions = (writer: TypeContext, routine: Routine, indent: string): string => {
  const { relation: name, isSet } = routine.returns;
  const target = name && findRelation(writer.model, name);
  if (target === undefined || target.schema !== routine.schema) return "";
  const from = findRowParameter(writer, routine);
  return `${indent}  SetofOptions: {
${indent}    from: ${JSON.stringify(from?.name ?? "*")};
${indent}    to: ${JSON.stringify(target.name)};
${indent}    isOneToOne: ${returnsOneRow(routine)};
${indent}    isSetofReturn: ${isSet};
${indent}  };
`;
};

/** Returns whether a computed relationship returns at most one row. @rule R-REL-9 */
const returnsOneRow = ({ returns, rows }: Routine): boolean => !returns.isSet || rows === 1;

const encodeRoutine = (writer: TypeContext, routine: Routine, indent: string): string | undefined => {
  const args = encodeArguments(writer, routine);
  if (args === undefined) return undefined;
  const returnType = encodeReturns(writer, routine, `${indent}  `);
  const { isSet, relation } = routine.returns;
  // For a set of at most one row, the client itself makes a list.
  const returns = isSet && !(relation !== undefined && returnsOneRow(routine)) ? encodeList(returnType) : returnType;
  return `{\n${indent}  Args: ${args};\n${indent}  Returns: ${returns};\n${encodeSetOptions(writer, routine, indent)}${indent}}`;
};

const encodeFunctions = (writer: TypeContext, schema: string, relations: readonly Relation[]): readonly TypeField[] => {
  const byName = new Map<string, Set<Routine>>();
  const add = (routine: Routine): void => {
    byName.set(routine.name, (byName.get(routine.name) ?? new Set()).add(routine));
  };
  for (const routine of [...writer.model.routines.values()].flat())
    if (routine.schema === schema && !writer.extensionFunctions.has(routine.oid)) add(routine);
  // These are computed fields of the extra search path, which clients need to know what `*` leaves out.
  for (const relation of relations) listComputedFields(writer, relation).forEach(add);
  return [...byName].flatMap(([name, routines]): readonly TypeField[] => {
    const fields = [...routines].filter(
      (routine) => returnsSingleValue(routine) && findRowParameter(writer, routine) !== undefined,
    );
    const separateRoutines =
      fields.length < 2 ? [...routines] : [...routines].filter((routine) => !fields.includes(routine));
    const types = [
      ...(fields.length < 2 ? [] : [encodeMergedFields(writer, fields, "      ")]),
      ...separateRoutines.flatMap((routine) => encodeRoutine(writer, routine, "      ") ?? []),
    ];
    return types.length === 0 ? [] : [[encodeKey(name), types.join(" | ")]];
  });
};

/**
 * Merges computed fields of one name into a function that takes the rows of all their relations. Clients leave a field
 * out of `*` only if a single function of its name takes the row.
 */
const encodeMergedFields = (writer: TypeContext, fields: readonly Routine[], indent: string): string => {
  const rows = fields.flatMap((routine) => findRowParameter(writer, routine) ?? []).map(encodeRowReference);
  const returns = new Set(fields.map((routine) => encodeType(writer, routine.returns.type)));
  return `{\n${indent}  Args: { "": ${rows.join(" & ")} };\n${indent}  Returns: ${[...returns].join(" | ")};\n${indent}}`;
};

const encodeSchema = (writer: TypeContext, schema: string): string => {
  const { model } = writer;
  const relations = [...model.relations.values()].filter((relation) => relation.schema === schema);
  const types = [...model.types.values()].filter((type) => type.schema === schema);
  const encodeGroup = (name: string, fields: readonly TypeField[]): string =>
    `    ${name}: ${encodeObject(fields, "    ")};\n`;
  const encodeRelations = (isWanted: (relation: Relation) => boolean): readonly TypeField[] =>
    relations
      .filter(isWanted)
      .map((relation) => [encodeKey(relation.name), encodeRelation(writer, relation, "      ")]);
  return `{\n${[
    encodeGroup("Tables", encodeRelations(isTable)),
    encodeGroup(
      "Views",
      encodeRelations((relation) => !isTable(relation)),
    ),
    encodeGroup("Functions", encodeFunctions(writer, schema, relations)),
    encodeGroup(
      "Enums",
      types
        .filter(({ kind }) => kind === "enum")
        .map(({ name, labels }) => [encodeKey(name), encodeUnion(labels ?? [])]),
    ),
    encodeGroup(
      "CompositeTypes",
      types
        .filter(({ kind, relation }) => kind === "composite" && relation === undefined)
        .map(({ name, attributes }) => [encodeKey(name), encodeAttributes(writer, attributes ?? [], "      ")]),
    ),
  ].join("")}  }`;
};

/** Functions of extensions, which are useless to clients and may be hundreds. */
const EXTENSION_FUNCTIONS = sql`
select objid::int8::float8 as oid from pg_catalog.pg_depend
where classid = 'pg_catalog.pg_proc'::pg_catalog.regclass and deptype = 'e'`;

/** Columns declared with more than one dimension, such as `int[][]`. PostgreSQL itself does not enforce the number. */
const DIMENSIONS = sql`
select attrelid::int8::float8 as oid, attname::text as name, attndims::int4 as count
from pg_catalog.pg_attribute where attndims > 1 and not attisdropped`;

/** The newest PostgREST version that the client distinguishes. */
const CLIENT_VERSION = "14";

/** Writes the file with the type of the database. @rule C-TYP-1 */
const encodeDatabase = (
  model: Model,
  extraSearchPath: readonly string[],
  catalog: Pick<TypeContext, "extensionFunctions" | "dimensions">,
): string => {
  const writer: TypeContext = { model, extraSearchPath, ...catalog };
  const schemas = model.schemas.map((schema) => `  ${encodeKey(schema)}: ${encodeSchema(writer, schema)};\n`).join("");
  return `// Made by \`relapi types\`. Do not edit: run it again when the schema has changed.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Database = {
  __InternalSupabase: { PostgrestVersion: "${CLIENT_VERSION}" };
${schemas}};
`;
};

/** Returns the TypeScript types of the exposed schemas. */
export const printTypes = (settings: EnvironmentSettings): Promise<string> =>
  withApi(settings, async ({ model, context }) => {
    const functions = await context.query<{ readonly oid: number }>(EXTENSION_FUNCTIONS);
    const columns = await context.query<{ readonly oid: number; readonly name: string; readonly count: number }>(
      DIMENSIONS,
    );
    return encodeDatabase(model, context.options.dbExtraSearchPath, {
      extensionFunctions: new Set(functions.map(({ oid }) => oid)),
      dimensions: new Map(columns.map(({ oid, name, count }) => [`${oid}.${name}`, count])),
    });
  });
