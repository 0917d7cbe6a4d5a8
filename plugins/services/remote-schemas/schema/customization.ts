/** Gives the types and fields of a remote schema other names. @rule X-RMT-5 */
import { isSpecifiedScalarType, specifiedScalarTypes, type GraphQLSchema } from "graphql";
import type { RemoteCustomization } from "./definition.ts";
import { RemoteSchemaProblem } from "../errors.ts";
import type { Subschema, WrapTools } from "./wrap-tools.ts";

/** The names on the surface of the types and fields of a remote schema. */
export interface SurfaceNames {
  renameType(name: string): string;
  /** `type` is the remote's own name of the field's type. */
  renameField(type: string, field: string): string;
}

/** Root types keep their names, unless they are types of a namespace. */
export const createSurfaceNames = (
  schema: GraphQLSchema,
  { namespace, typePrefix, typeSuffix, typeNames, fieldNames }: RemoteCustomization,
): SurfaceNames => {
  const roots = new Set(
    [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].map((type) => type?.name),
  );
  return {
    renameType: (name) => {
      const type = schema.getType(name);
      if (name.startsWith("__") || (type && isSpecifiedScalarType(type))) return name;
      if (namespace === undefined && roots.has(name)) return name;
      return typeNames.get(name) ?? `${typePrefix}${name}${typeSuffix}`;
    },
    renameField: (type, field) => fieldNames.get(type)?.(field) ?? field,
  };
};

const RESERVED_NAMES: ReadonlySet<string> = new Set(specifiedScalarTypes.map(({ name }) => name));

/** Checks that all types have different names. @throws RemoteSchemaProblem */
const checkNames = (schema: GraphQLSchema, rename: SurfaceNames["renameType"]): void => {
  const takenNames = new Map<string, string>();
  for (const name of Object.keys(schema.getTypeMap())) {
    const newName = rename(name);
    if (newName !== name && (RESERVED_NAMES.has(newName) || newName.startsWith("__")))
      throw new RemoteSchemaProblem(`the type "${name}" would have the name "${newName}", which GraphQL reserves`);
    const otherName = takenNames.get(newName);
    if (otherName !== undefined)
      throw new RemoteSchemaProblem(`the types "${otherName}" and "${name}" would both have the name "${newName}"`);
    takenNames.set(newName, name);
  }
};

/** Returns the functions that rename types one after another. The package keeps the old name of a type, and writes to
 *  the console, if another type still has the new name. Such types have a temporary name between two functions. */
const planTypeNames = (
  schema: GraphQLSchema,
  rename: SurfaceNames["renameType"],
): readonly SurfaceNames["renameType"][] => {
  const names = Object.keys(schema.getTypeMap());
  if (names.every((name) => rename(name) === name)) return [];
  const takenNames = new Set(names);
  const isTaken = (name: string): boolean => rename(name) !== name && takenNames.has(rename(name));
  if (!names.some(isTaken)) return [rename];
  let prefix = "renamed_";
  while (names.some((name) => name.startsWith(prefix) || rename(name).startsWith(prefix))) prefix += "_";
  return [
    (name) => (isTaken(name) ? `${prefix}${name}` : rename(name)),
    (name) => (name.startsWith(prefix) ? rename(name.slice(prefix.length)) : name),
  ];
};

/** Returns the transforms that rename the types and fields of a remote schema.
 *  @throws RemoteSchemaProblem if two types or fields would have the same name */
export const buildTransforms = (
  { RenameTypes, RenameRootTypes, RenameObjectFields, RenameInterfaceFields }: WrapTools,
  schema: GraphQLSchema,
  { fieldNames }: RemoteCustomization,
  { renameType, renameField }: SurfaceNames,
): NonNullable<Subschema["transforms"]> => {
  checkNames(schema, renameType);
  for (const [parent, rename] of fieldNames) {
    const type = schema.getType(parent);
    const names = type && "getFields" in type ? Object.keys(type.getFields()) : [];
    if (new Set(names.map(rename)).size < names.length)
      throw new RemoteSchemaProblem(`two fields of the type "${parent}" would have the same name`);
  }
  return [
    ...(fieldNames.size === 0 ? [] : [new RenameObjectFields(renameField), new RenameInterfaceFields(renameField)]),
    ...planTypeNames(schema, renameType).flatMap((rename) => [new RenameTypes(rename), new RenameRootTypes(rename)]),
  ];
};
