/** Reads actions and custom types in the form of the metadata, and checks that they fit each other. @rule X-ACT-1 */
import { parseType, specifiedScalarTypes, type TypeNode } from "graphql";
import {
  memoize,
  getNumberText,
  type Json,
  type JsonObject,
  type Model,
  type PgType,
  type Relation,
} from "../../../core/index.ts";
import type { GqlRoleAccess } from "../../graphql/api.ts";
import { readObjectOrEmpty, readListOrEmpty, readText } from "../../shared/json-values.ts";

/** An argument of an action, or a field of a custom type. */
export interface TypedName {
  readonly name: string;
  readonly type: TypeNode;
  readonly description: string | undefined;
}

/** A name with its description. */
interface DescribedName {
  readonly name: string;
  readonly description: string | undefined;
}

/** Rows of a table that belong to an object of a custom type. */
export interface TypeRelationship extends DescribedName {
  readonly isToOne: boolean;
  readonly relation: Relation;
  /** Pairs of a field of the type and a column of the table, whose values are equal. */
  readonly columns: readonly (readonly [field: string, column: string])[];
}

/** A custom type. */
export type CustomType = DescribedName &
  (
    | {
        readonly kind: "object";
        readonly fields: readonly TypedName[];
        readonly relationships: readonly TypeRelationship[];
      }
    | { readonly kind: "input"; readonly fields: readonly TypedName[] }
    | { readonly kind: "enum"; readonly values: readonly DescribedName[] }
    | { readonly kind: "scalar" }
  );

export type CustomTypes = ReadonlyMap<string, CustomType>;

/** The part of an action that its field in the schema depends on. */
export interface ActionField extends DescribedName {
  readonly root: "query" | "mutation";
  readonly arguments: readonly TypedName[];
  readonly output: TypeNode;
  /** The roles that may call the action, in addition to administrators. */
  readonly roles: ReadonlySet<string>;
}

/** Returns whether the caller of a role schema may call the action. @rule X-ACT-3 */
export const mayCall = ({ roles }: ActionField, { isAdmin = false, role }: GqlRoleAccess): boolean =>
  isAdmin || roles.has(role);

/** The names and types of the model with which actions must not conflict. */
export interface ActionSurroundings {
  readonly takenRoots: ReadonlySet<string>;
  readonly takenTypes: ReadonlySet<string>;
  isDatabaseType(name: string): boolean;
  /** True if the preset has the queue that asynchronous actions need. */
  readonly hasQueue: boolean;
}

/** Reports an action, a type or a relationship that is ignored. */
export type ReportProblem = (type: "action" | "custom_types" | "relationship", name: string, reason: string) => void;

/** Returns the types of the database by their names, such as `int8` and `bigint`. */
export const getDatabaseTypes = memoize(
  (model: Model): ReadonlyMap<string, PgType> =>
    new Map(
      [...model.types.values()]
        .filter(({ kind }) => kind !== "pseudo")
        .flatMap((type) => [[type.sqlName, type] as const, [type.name, type] as const]),
    ),
);

/** Returns the name of the type without lists and `!`. */
export const getTypeName = (type: TypeNode): string =>
  type.kind === "NamedType" ? type.name.value : getTypeName(type.type);

const GRAPHQL_NAME = /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/;
const BUILT_IN: ReadonlySet<string> = new Set(specifiedScalarTypes.map(({ name }) => name));
export const ROOTS: ReadonlySet<string> = new Set(["query_root", "mutation_root", "subscription_root"]);

/** Creates the error that excludes one object. The reader catches the error and reports it. */
export const actionObjectExcluded = (reason: string): Error => new Error(reason);

const readName = (rawObject: JsonObject, key = "name"): string => {
  const name = readText(rawObject[key]) ?? "";
  if (!GRAPHQL_NAME.test(name)) throw actionObjectExcluded(`"${name}" is not a valid GraphQL name`);
  return name;
};

/** Returns the name and the description of a definition. @throws Error if the name is not valid */
export const readDescribed = (rawObject: JsonObject, key = "name"): DescribedName => ({
  name: readName(rawObject, key),
  description: readText(rawObject["description"]),
});

const readType = (value: Json | undefined, owner: string): TypeNode => {
  try {
    return parseType(readText(value) ?? "", { noLocation: true });
  } catch {
    throw actionObjectExcluded(`${owner}: ${JSON.stringify(value ?? null)} is not a GraphQL type`);
  }
};

const rejectDuplicates = (items: readonly DescribedName[]): void => {
  const names = new Set<string>();
  for (const { name } of items) {
    if (names.has(name)) throw actionObjectExcluded(`${name}: the name is taken`);
    names.add(name);
  }
};

export const isListOrAbsent = (rawValue: Json | undefined): boolean =>
  (rawValue ?? null) === null || Array.isArray(rawValue);

const readTypedNames = (rawValue: Json | undefined, list: "arguments" | "fields"): readonly TypedName[] => {
  if (!isListOrAbsent(rawValue)) throw actionObjectExcluded(`${list} is not a list`);
  const read = readListOrEmpty(rawValue).map((item) => {
    const entry = readObjectOrEmpty(item);
    const describedName = readDescribed(entry);
    return { ...describedName, type: readType(entry["type"], describedName.name) };
  });
  rejectDuplicates(read);
  return read;
};

const TYPE_LISTS = [
  ["objects", "object"],
  ["input_objects", "input"],
  ["enums", "enum"],
  ["scalars", "scalar"],
] as const;

const readCustomType = (kind: CustomType["kind"], rawObject: JsonObject): CustomType => {
  const describedName = readDescribed(rawObject);
  if (kind === "scalar") return { ...describedName, kind };
  if (kind === "enum") {
    const values = readListOrEmpty(rawObject["values"]).map((value) =>
      readDescribed(readObjectOrEmpty(value), "value"),
    );
    if (values.length === 0) throw actionObjectExcluded("it has no values");
    rejectDuplicates(values);
    return { ...describedName, kind, values };
  }
  const fields = readTypedNames(rawObject["fields"], "fields");
  if (fields.length === 0) throw actionObjectExcluded("it has no fields");
  if (!isListOrAbsent(rawObject["relationships"])) throw actionObjectExcluded("relationships is not a list");
  return kind === "object" ? { ...describedName, kind, fields, relationships: [] } : { ...describedName, kind, fields };
};

type Position = "input" | "output";

/** Returns the reason why the type cannot be in this position. Undefined if the type fits. */
const findTypeProblem = (
  { name, type }: TypedName,
  position: Position,
  types: CustomTypes,
  { isDatabaseType }: ActionSurroundings,
): string | undefined => {
  const typeName = getTypeName(type);
  const custom = types.get(typeName);
  if (custom === undefined)
    return BUILT_IN.has(typeName) || isDatabaseType(typeName) ? undefined : `${name}: there is no type "${typeName}"`;
  if (custom.kind === (position === "input" ? "object" : "input"))
    return `${name}: "${typeName}" is ${position === "input" ? "no input type" : "an input type"}`;
  return undefined;
};

/** Reads the types that fit, and reports the others. @rule X-ACT-2 X-ACT-8 */
export const readCustomTypes = (
  rawObject: Readonly<Record<string, Json>>,
  surroundings: ActionSurroundings,
  report: ReportProblem,
): CustomTypes => {
  const types = new Map<string, CustomType>();
  for (const [list, kind] of TYPE_LISTS) {
    if (!isListOrAbsent(rawObject[list])) report("custom_types", list, "it is not a list");
    for (const item of readListOrEmpty(rawObject[list])) {
      const entry = readObjectOrEmpty(item);
      const name = readText(entry["name"]) ?? "";
      try {
        const type = readCustomType(kind, entry);
        if (types.has(name) || BUILT_IN.has(name) || ROOTS.has(name)) throw actionObjectExcluded("the name is taken");
        if (surroundings.takenTypes.has(name))
          throw actionObjectExcluded("a table or function has that name in GraphQL");
        types.set(name, type);
      } catch (error) {
        report("custom_types", name, (error as Error).message); // only `actionObjectExcluded` is thrown here
        continue;
      }
    }
  }
  removeFaulty(types, surroundings, report);
  return types;
};

/** Removes each type with a field of an unknown type, and then the types that refer to it. */
const removeFaulty = (
  types: Map<string, CustomType>,
  surroundings: ActionSurroundings,
  report: ReportProblem,
): void => {
  for (let isSettled = false; !isSettled;) {
    isSettled = true;
    for (const [name, type] of types) {
      if (type.kind !== "object" && type.kind !== "input") continue;
      const position = type.kind === "object" ? "output" : "input";
      const reasons = type.fields.flatMap((field) => findTypeProblem(field, position, types, surroundings) ?? []);
      if (reasons[0] === undefined) continue;
      report("custom_types", name, reasons[0]);
      types.delete(name);
      isSettled = false;
    }
  }
};

/** Reads the field of an action. @throws Error with the reason for leaving the action out */
export const readActionField = (
  rawObject: JsonObject,
  types: CustomTypes,
  surroundings: ActionSurroundings,
): ActionField => {
  const definition = readObjectOrEmpty(rawObject["definition"]);
  const { name } = readDescribed(rawObject);
  if (surroundings.takenRoots.has(name)) throw actionObjectExcluded("a table or function has that name in GraphQL");
  const root = readText(definition["type"]) ?? "mutation";
  if (root !== "query" && root !== "mutation")
    throw actionObjectExcluded(`its type is "${root}", not query or mutation`);
  const args = readTypedNames(definition["arguments"], "arguments");
  if (definition["output_type"] === undefined) throw actionObjectExcluded("it has no output type");
  const output = readType(definition["output_type"], "output type");
  const problem =
    args
      .map((argument) => findTypeProblem(argument, "input", types, surroundings))
      .find((message) => message !== undefined) ??
    findTypeProblem({ name: "output type", type: output, description: undefined }, "output", types, surroundings);
  if (problem !== undefined) throw actionObjectExcluded(problem);
  if (!isListOrAbsent(rawObject["permissions"])) throw actionObjectExcluded("permissions is not a list");
  const roles = readListOrEmpty(rawObject["permissions"]).flatMap(
    (entry) => readText(readObjectOrEmpty(entry)["role"]) ?? [],
  );
  return { name, description: readText(rawObject["comment"]), root, arguments: args, output, roles: new Set(roles) };
};

/** The maximum length of the name of an asynchronous action. An identifier of the queue has at most 128 characters,
 *  including a prefix. */
const MAX_ASYNCHRONOUS_LENGTH = 100;

/** Checks that an action can be asynchronous. @throws Error with the reason for leaving an asynchronous action out
 *  @rule X-ACT-12 */
export const checkAsynchronous = (
  { name, root }: ActionField,
  types: CustomTypes,
  { hasQueue, takenTypes }: ActionSurroundings,
): void => {
  if (root !== "mutation") throw actionObjectExcluded("only mutations can be asynchronous");
  if (!hasQueue) throw actionObjectExcluded("asynchronous actions need the plugin events");
  // The result has a type of this name.
  if (types.has(name) || takenTypes.has(name)) throw actionObjectExcluded("a type has that name in GraphQL");
  if (name.length > MAX_ASYNCHRONOUS_LENGTH)
    throw actionObjectExcluded(`its name has more than ${MAX_ASYNCHRONOUS_LENGTH} characters`);
};

/** Reads a number of seconds. @throws Error with the reason for leaving the action out */
export const readSeconds = (value: Json | undefined, otherwise: number): number => {
  if (value === undefined || value === null) return otherwise;
  const seconds = Number(getNumberText(value) ?? Number.NaN);
  if (!(seconds > 0 && seconds <= 3600))
    throw actionObjectExcluded("its timeout is not a number of seconds up to 3600");
  return seconds;
};
