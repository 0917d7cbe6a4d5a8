/** `native_queries` and `logical_models` of the metadata, matched with the types of the database. @rule P-NAT-1 */
import { isRawNumber, type Json, type Model, type PgType } from "../../../core/index.ts";
import type { MetadataNative } from "../../metadata/api.ts";

type Entry = { readonly [key: string]: Json };

/** A column of a logical model, or an argument of a query. */
export interface NativeField {
  readonly name: string;
  readonly type: PgType;
  readonly isNullable: boolean;
  readonly description?: string;
}

/** Conditions on columns of the model, as the metadata writes them. */
export type RawFilter = Entry;

export interface LogicalModel {
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly NativeField[];
  /** By role. */
  readonly permissions: ReadonlyMap<string, { readonly columns: ReadonlySet<string>; readonly filter: RawFilter }>;
}

/** SQL in pieces: between two of them the value of an argument. */
export interface NativeCode {
  readonly texts: readonly string[];
  readonly arguments: readonly string[];
}

export interface NativeQuery {
  readonly name: string;
  readonly description?: string;
  readonly code: NativeCode;
  readonly arguments: readonly NativeField[];
  readonly returns: LogicalModel;
}

const GRAPHQL_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;

export const isEntry = (value: Json | undefined): value is Entry =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !isRawNumber(value);

const entryOf = (value: Json | undefined): Entry => (isEntry(value) ? value : {});
const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
const textOf = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);

const description = (value: Json | undefined): { readonly description?: string } =>
  typeof value === "string" && value !== "" ? { description: value } : {};

/** By the names that people write: `integer`, `int4`, `timestamp with time zone`. */
const typeFinder = (model: Model): ((name: string) => PgType | undefined) => {
  const found = new Map<string, PgType>();
  for (const type of model.types.values()) {
    for (const name of [type.sqlName, `${type.schema}.${type.name}`]) if (!found.has(name)) found.set(name, type);
    if (type.schema === "pg_catalog") found.set(type.name, type);
  }
  for (const type of model.types.values()) if (!found.has(type.name)) found.set(type.name, type);
  const aliases: Readonly<Record<string, string>> = {
    int: "int4",
    decimal: "numeric",
    float: "float8",
    serial: "int4",
  };
  return (name) => {
    const wanted = name.trim().toLowerCase();
    return found.get(name.trim()) ?? found.get(wanted) ?? found.get(aliases[wanted] ?? "");
  };
};

/** Thrown while one object is read, and noted: the object is left out. */
const leftOut = (reason: string): Error => new Error(reason);

const readField = (name: string, raw: Entry, typeOf: (name: string) => PgType | undefined): NativeField => {
  if (!GRAPHQL_NAME.test(name)) throw leftOut(`"${name}" is not a valid GraphQL name`);
  const type = isEntry(raw["type"]) ? raw["type"] : { scalar: raw["type"] ?? null, nullable: raw["nullable"] ?? null };
  const typeName = textOf(type["scalar"]);
  if (typeName === undefined) throw leftOut(`${name}: only scalar types are served`);
  const found = typeOf(typeName);
  if (found === undefined) throw leftOut(`${name}: type "${typeName}" does not exist`);
  return {
    name,
    type: found,
    isNullable: (type["nullable"] ?? raw["nullable"]) === true,
    ...description(raw["description"]),
  };
};

const readModel = (raw: Entry, name: string, typeOf: (name: string) => PgType | undefined): LogicalModel => {
  const fields = listOf(raw["fields"]).map((field) =>
    readField(textOf(entryOf(field)["name"]) ?? "", entryOf(field), typeOf),
  );
  if (fields.length === 0) throw leftOut("it has no fields");
  const permissions = listOf(raw["select_permissions"]).map((entry) => {
    const role = textOf(entryOf(entry)["role"]) ?? "";
    const { columns, filter } = entryOf(entryOf(entry)["permission"]);
    const known = new Set(fields.map((field) => field.name));
    const named = columns === "*" ? [...known] : listOf(columns).map((column) => textOf(column) ?? "");
    const unknown = named.find((column) => !known.has(column));
    if (unknown !== undefined) throw leftOut(`select permission of ${role}: column "${unknown}" does not exist`);
    // an omission must not grant anything
    if (!isEntry(filter)) throw leftOut(`select permission of ${role}: it has no filter`);
    return [role, { columns: new Set(named), filter }] as const;
  });
  return { name, ...description(raw["description"]), fields, permissions: new Map(permissions) };
};

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/;

/** `select * from album where id = {{id}};` */
const readCode = (text: string): NativeCode => {
  const parts = text.trim().replace(/;\s*$/, "").split(PLACEHOLDER);
  return {
    texts: parts.filter((_, i) => i % 2 === 0),
    arguments: parts.filter((_, i) => i % 2 === 1),
  };
};

const readQuery = (
  raw: Entry,
  name: string,
  models: ReadonlyMap<string, LogicalModel>,
  typeOf: (name: string) => PgType | undefined,
): NativeQuery => {
  const returns = models.get(textOf(raw["returns"]) ?? "");
  if (returns === undefined) throw leftOut(`there is no logical model "${textOf(raw["returns"]) ?? ""}"`);
  const text = textOf(raw["code"]);
  if (text === undefined || text.trim() === "") throw leftOut("it has no code");
  const args = Object.entries(entryOf(raw["arguments"])).map(([argument, one]) =>
    readField(argument, entryOf(one), typeOf),
  );
  const code = readCode(text);
  const unknown = code.arguments.find((argument) => args.every((one) => one.name !== argument));
  if (unknown !== undefined) throw leftOut(`its code names an argument "${unknown}" that it does not have`);
  return { name, ...description(raw["description"] ?? raw["comment"]), code, arguments: args, returns };
};

/** What fits is served, the rest is noted with its place. */
export const readNative = (
  { queries, models }: MetadataNative,
  model: Model,
  note: (message: string) => void,
): readonly NativeQuery[] => {
  const typeOf = typeFinder({ ...model, types: new Map([...model.types].filter(([, { kind }]) => kind !== "pseudo")) });
  const read = <Value>(raws: readonly Json[], what: string, key: string, make: (raw: Entry, name: string) => Value) => {
    const found = new Map<string, Value>();
    for (const raw of raws) {
      const name = textOf(entryOf(raw)[key]) ?? "";
      try {
        if (!GRAPHQL_NAME.test(name)) throw leftOut("its name is not a valid GraphQL name");
        if (found.has(name)) throw leftOut("the name is taken");
        found.set(name, make(entryOf(raw), name));
      } catch (error) {
        note(`metadata: ${what} ${name}: ${(error as Error).message}; ignored`); // thrown above
      }
    }
    return found;
  };
  const known = read(models, "logical model", "name", (raw, name) => readModel(raw, name, typeOf));
  return [
    ...read(queries, "native query", "root_field_name", (raw, name) => readQuery(raw, name, known, typeOf)).values(),
  ];
};
