/** Gives the types and fields of a remote schema other names. @rule X-RMT-5 */
import { isSpecifiedScalarType, type GraphQLSchema } from "graphql";
import type { RemoteCustomization } from "./definition.ts";
import { RemoteSchemaProblem } from "./errors.ts";
import type { Subschema, WrapTools } from "./tools.ts";

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

/** Checks that all types keep names of their own. @throws RemoteSchemaProblem */
const checkNames = (schema: GraphQLSchema, rename: SurfaceNames["renameType"]): void => {
  const taken = new Map<string, string>();
  for (const name of Object.keys(schema.getTypeMap())) {
    const renamed = rename(name);
    const other = taken.get(renamed);
    if (other !== undefined)
      throw new RemoteSchemaProblem(`the types "${other}" and "${name}" would both have the name "${renamed}"`);
    taken.set(renamed, name);
  }
};

/** @throws RemoteSchemaProblem if two types or fields would have the same name */
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
  const isRenamed = Object.keys(schema.getTypeMap()).some((name) => renameType(name) !== name);
  return [
    ...(fieldNames.size === 0 ? [] : [new RenameObjectFields(renameField), new RenameInterfaceFields(renameField)]),
    ...(isRenamed ? [new RenameTypes(renameType), new RenameRootTypes(renameType)] : []),
  ];
};
