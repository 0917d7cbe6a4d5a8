/** `relapi types`: writes the database as the TypeScript type that typed clients of the REST surface use. */
import {
  baseTypeOf,
  relationOf,
  sql,
  writableColumns,
  type Column,
  type Model,
  type Relation,
  type Relationship,
  type Routine,
} from "../../core/index.ts";
import type { EnvironmentSettings } from "../server/environment.ts";
import { computedFieldsOf, fieldsBesideColumns, isField, type Writer } from "./computed-types.ts";
import { withApi } from "./open-api.ts";
import {
  attributesOf,
  columnType,
  key,
  listOf,
  object,
  orNull,
  rowOf,
  isTable,
  typeOf,
  union,
  type Field,
} from "./value-types.ts";

const needsValue = (relation: Relation, { notNull, default: own, baseDefault, identity }: Column): boolean =>
  isTable(relation) && notNull && own === undefined && baseDefault === undefined && identity === undefined;

const writtenFields = (writer: Writer, relation: Relation, isInsert: boolean): readonly Field[] => {
  const takes = new Set(writableColumns(relation));
  return relation.columns.flatMap((column): readonly Field[] => {
    const isTaken = takes.has(column);
    if (!isTaken && !isTable(relation)) return [];
    const mark = isInsert && isTaken && needsValue(relation, column) ? "" : "?";
    const type = isTaken ? orNull(columnType(writer, relation, column), !column.notNull) : "never";
    return [[`${key(column.name)}${mark}`, type]];
  });
};

const keyOf = (relationship: Relationship, indent: string): string => {
  const list = (at: 0 | 1): string => `[${relationship.columns.map((pair) => JSON.stringify(pair[at])).join(", ")}]`;
  return `${indent}{
${indent}  foreignKeyName: ${JSON.stringify(relationship.constraint)};
${indent}  columns: ${list(0)};
${indent}  isOneToOne: ${relationship.cardinality === "one-to-one"};
${indent}  referencedRelation: ${JSON.stringify(relationship.target.name)};
${indent}  referencedColumns: ${list(1)};
${indent}}`;
};

/**
 * The foreign keys of the relation, or of the tables that it shows. Clients derive inverse relationships and junctions
 * from them.
 */
const keysOf = (relation: Relation, indent: string): string => {
  const keys = relation.relationships
    .filter(
      ({ isOwnKey, junction, routine, constraint, target }) =>
        isOwnKey &&
        junction === undefined &&
        routine === undefined &&
        constraint !== "" &&
        target.schema === relation.schema,
    )
    .map((relationship) => keyOf(relationship, `${indent}  `));
  return keys.length === 0 ? "[]" : `[\n${keys.join(",\n")},\n${indent}]`;
};

const relationType = (writer: Writer, relation: Relation, indent: string): string => {
  const inner = `${indent}  `;
  const row: Field[] = [
    ...relation.columns.map((column): Field => [
      key(column.name),
      orNull(columnType(writer, relation, column), !column.notNull),
    ]),
    ...fieldsBesideColumns(writer, relation).map((routine): Field => [
      key(routine.name),
      orNull(typeOf(writer, routine.returns.type), true),
    ]),
  ];
  const parts = [`${inner}Row: ${object(row, inner)};\n`];
  const { insert, update } = relation.writable;
  if (insert || isTable(relation))
    parts.push(`${inner}Insert: ${object(writtenFields(writer, relation, true), inner)};\n`);
  if (update || isTable(relation))
    parts.push(`${inner}Update: ${object(writtenFields(writer, relation, false), inner)};\n`);
  parts.push(`${inner}Relationships: ${keysOf(relation, inner)};\n`);
  return `{\n${parts.join("")}${indent}}`;
};

/**
 * Types of a single unnamed parameter, which takes the whole body. Other calls name their arguments, or pass a row to a
 * computed field. @rule R-RPC-7
 */
const BODIES = new Set(["json", "jsonb", "text", "xml", "bytea"]);

const argsOf = (writer: Writer, { parameters }: Routine): string | undefined => {
  const [first] = parameters;
  if (first === undefined) return "never";
  const row = parameters.length === 1 ? rowTypeOf(writer, first.type) : undefined;
  if (row !== undefined) return `{ "": ${rowOf(row)} }`;
  if (parameters.every(({ name }) => name !== ""))
    return `{ ${[...parameters]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, type, hasDefault }) => `${key(name)}${hasDefault ? "?" : ""}: ${typeOf(writer, type)}`)
      .join("; ")} }`;
  const body = baseTypeOf(writer.model, first.type)?.name ?? "";
  return parameters.length === 1 && BODIES.has(body) ? `{ "": ${typeOf(writer, first.type)} }` : undefined;
};

const rowTypeOf = ({ model }: Writer, oid: number): Relation | undefined => {
  const type = model.types.get(oid);
  return type?.relation && model.schemas.includes(type.relation.schema) ? relationOf(model, type.relation) : undefined;
};

/** The relation whose row the function takes, if it is a computed field or relationship. */
const rowParameter = (writer: Writer, { parameters }: Routine): Relation | undefined => {
  const [first] = parameters;
  return parameters.length === 1 && first !== undefined ? rowTypeOf(writer, first.type) : undefined;
};

const returnsOf = (writer: Writer, { returns }: Routine, indent: string): string => {
  const of = (): string => {
    const { kind, hasOutParameters, columns, type, relation } = returns;
    if (kind === "record") return "Record<string, unknown>";
    if (kind === "composite" && relation === undefined && hasOutParameters)
      return object(
        columns.map((column) => [key(column.name), typeOf(writer, column.type)]),
        indent,
      );
    return typeOf(writer, type);
  };
  return of();
};

const setOf = (writer: Writer, routine: Routine, indent: string): string => {
  const { relation: name, isSet } = routine.returns;
  const target = name && relationOf(writer.model, name);
  if (target === undefined || target.schema !== routine.schema) return "";
  const from = rowParameter(writer, routine);
  return `${indent}  SetofOptions: {
${indent}    from: ${JSON.stringify(from?.name ?? "*")};
${indent}    to: ${JSON.stringify(target.name)};
${indent}    isOneToOne: ${isOne(routine)};
${indent}    isSetofReturn: ${isSet};
${indent}  };
`;
};

/** Whether a computed relationship returns at most one row. @rule R-REL-9 */
const isOne = ({ returns, rows }: Routine): boolean => !returns.isSet || rows === 1;

const routineType = (writer: Writer, routine: Routine, indent: string): string | undefined => {
  const args = argsOf(writer, routine);
  if (args === undefined) return undefined;
  const one = returnsOf(writer, routine, `${indent}  `);
  const { isSet, relation } = routine.returns;
  // for a set of at most one row, the client itself makes a list
  const returns = isSet && !(relation !== undefined && isOne(routine)) ? listOf(one) : one;
  return `{\n${indent}  Args: ${args};\n${indent}  Returns: ${returns};\n${setOf(writer, routine, indent)}${indent}}`;
};

const functionsOf = (writer: Writer, schema: string, relations: readonly Relation[]): readonly Field[] => {
  const byName = new Map<string, Set<Routine>>();
  const add = (routine: Routine): void => {
    byName.set(routine.name, (byName.get(routine.name) ?? new Set()).add(routine));
  };
  for (const routine of [...writer.model.routines.values()].flat())
    if (routine.schema === schema && !writer.ofExtensions.has(routine.oid)) add(routine);
  // computed fields of the extra search path, which clients need to know what `*` leaves out
  for (const relation of relations) computedFieldsOf(writer, relation).forEach(add);
  return [...byName].flatMap(([name, routines]): readonly Field[] => {
    const fields = [...routines].filter((routine) => isField(routine) && rowParameter(writer, routine) !== undefined);
    const others = fields.length < 2 ? [...routines] : [...routines].filter((routine) => !fields.includes(routine));
    const types = [
      ...(fields.length < 2 ? [] : [fieldOfSeveral(writer, fields, "      ")]),
      ...others.flatMap((routine) => routineType(writer, routine, "      ") ?? []),
    ];
    return types.length === 0 ? [] : [[key(name), types.join(" | ")]];
  });
};

/**
 * Merges computed fields of one name into a function that takes the rows of all their relations. Clients leave a field
 * out of `*` only if a single function of its name takes the row.
 */
const fieldOfSeveral = (writer: Writer, fields: readonly Routine[], indent: string): string => {
  const rows = fields.flatMap((routine) => rowParameter(writer, routine) ?? []).map(rowOf);
  const returns = new Set(fields.map((routine) => typeOf(writer, routine.returns.type)));
  return `{\n${indent}  Args: { "": ${rows.join(" & ")} };\n${indent}  Returns: ${[...returns].join(" | ")};\n${indent}}`;
};

const schemaType = (writer: Writer, schema: string): string => {
  const { model } = writer;
  const relations = [...model.relations.values()].filter((relation) => relation.schema === schema);
  const types = [...model.types.values()].filter((type) => type.schema === schema);
  const group = (name: string, fields: readonly Field[]): string => `    ${name}: ${object(fields, "    ")};\n`;
  const relationsOf = (isWanted: (relation: Relation) => boolean): readonly Field[] =>
    relations.filter(isWanted).map((relation) => [key(relation.name), relationType(writer, relation, "      ")]);
  return `{\n${[
    group("Tables", relationsOf(isTable)),
    group(
      "Views",
      relationsOf((relation) => !isTable(relation)),
    ),
    group("Functions", functionsOf(writer, schema, relations)),
    group(
      "Enums",
      types.filter(({ kind }) => kind === "enum").map(({ name, labels }) => [key(name), union(labels ?? [])]),
    ),
    group(
      "CompositeTypes",
      types
        .filter(({ kind, relation }) => kind === "composite" && relation === undefined)
        .map(({ name, attributes }) => [key(name), attributesOf(writer, attributes ?? [], "      ")]),
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

/** @rule C-TYP-1 */
const databaseTypes = (
  model: Model,
  extraSearchPath: readonly string[],
  catalog: Pick<Writer, "ofExtensions" | "dimensions">,
): string => {
  const writer: Writer = { model, extraSearchPath, ...catalog };
  const schemas = model.schemas.map((schema) => `  ${key(schema)}: ${schemaType(writer, schema)};\n`).join("");
  return `// Made by \`relapi types\`. Do not edit: run it again when the schema has changed.

export type Json = string | number | boolean | null | { [key: string]: Json | undefined } | Json[];

export type Database = {
  __InternalSupabase: { PostgrestVersion: "${CLIENT_VERSION}" };
${schemas}};
`;
};

export const printTypes = (settings: EnvironmentSettings): Promise<string> =>
  withApi(settings, async ({ model, context }) => {
    const functions = await context.query<{ readonly oid: number }>(EXTENSION_FUNCTIONS);
    const columns = await context.query<{ readonly oid: number; readonly name: string; readonly count: number }>(
      DIMENSIONS,
    );
    return databaseTypes(model, context.options.dbExtraSearchPath, {
      ofExtensions: new Set(functions.map(({ oid }) => oid)),
      dimensions: new Map(columns.map(({ oid, name, count }) => [`${oid}.${name}`, count])),
    });
  });
