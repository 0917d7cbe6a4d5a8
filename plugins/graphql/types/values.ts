/** Maps PostgreSQL types to GraphQL types. @rule G-TYP-1 … G-TYP-28 G-TYP-38 */
import { GraphQLBoolean, GraphQLFloat, GraphQLInt, GraphQLScalarType, GraphQLString } from "graphql";
import { findBaseType, type Model, type PgType } from "../../../core/index.ts";
import { isLegalName } from "./names.ts";
import type { GqlValueType } from "../value-types.ts";

const SCALARS: Readonly<Record<string, string>> = {
  int4: "Int",
  int2: "smallint",
  int8: "bigint",
  float4: "Float",
  bool: "Boolean",
  text: "String",
  varchar: "String",
  bpchar: "bpchar",
  char: "bpchar",
};

/** The representative type of a scalar, for comparisons, which depend only on the scalar. */
const CANONICAL: Readonly<Record<string, string>> = {
  varchar: "text",
  char: "bpchar",
  _varchar: "_text",
  _char: "_bpchar",
};

/** The PostgreSQL type of a GraphQL scalar in operand declarations. */
const TYPE_OF_SCALAR: Readonly<Record<string, string>> = {
  Int: "int4",
  Float: "float8",
  Boolean: "bool",
  String: "text",
};

const createPgType = (oid: number, name: string, sqlName: string, category: string, element?: number): PgType => ({
  oid,
  schema: "pg_catalog",
  name,
  sqlName,
  category,
  kind: element === undefined ? "base" : "array",
  ...(element === undefined ? {} : { element }),
});

/** The types that are known without a catalog. A model contains only the types that it uses, while operators and
 *  predicates use these types in every model. */
const BUILT_IN: readonly PgType[] = [
  createPgType(16, "bool", "boolean", "B"),
  createPgType(20, "int8", "bigint", "N"),
  createPgType(23, "int4", "integer", "N"),
  createPgType(25, "text", "text", "S"),
  createPgType(114, "json", "json", "U"),
  createPgType(701, "float8", "double precision", "N"),
  createPgType(1700, "numeric", "numeric", "N"),
  createPgType(3802, "jsonb", "jsonb", "U"),
  createPgType(1009, "_text", "text[]", "A", 25),
  createPgType(1014, "_bpchar", "character[]", "A", 1042),
  createPgType(1042, "bpchar", "character", "S"),
];

const BUILT_IN_NAMES = new Map(BUILT_IN.map((type) => [type.name, type]));

export interface ValueTypes {
  /** Finds a type by oid, by `typname`, or by the name of a GraphQL scalar. Returns undefined if the type is unknown or
   *  its name is illegal. */
  find(type: number | string, isNullable?: boolean): GqlValueType | undefined;
  /** Finds the type of a function's argument. Arrays and domains are scalars with their own names, which accept only
   *  strings. @rule G-FN-4 */
  findArgument(type: number): GqlValueType | undefined;
  /** Returns the value type that all types of the same scalar share. */
  canonical(value: GqlValueType): GqlValueType;
  scalarType(name: string): GraphQLScalarType;
}

const isComposite = (type: PgType): boolean => type.kind === "composite";

/** Creates the GraphQL types of PostgreSQL's types. */
export const createValueTypes = (model: Model, isArrayOpaque: boolean): ValueTypes => {
  const scalars = new Map<string, GraphQLScalarType>(
    [GraphQLInt, GraphQLFloat, GraphQLString, GraphQLBoolean].map((scalar) => [scalar.name, scalar]),
  );
  const valueTypes = new Map<number | string, GqlValueType | undefined>();
  let byName: Map<string, PgType> | undefined;

  const findTypeByName = (name: string): PgType | undefined => {
    // A built-in type has the same oid in every database.
    const builtIn = BUILT_IN_NAMES.get(name);
    if (builtIn !== undefined) return model.types.get(builtIn.oid) ?? builtIn;
    if (byName === undefined) {
      byName = new Map();
      for (const type of model.types.values()) {
        // A user-defined type with the same name must not replace the built-in type that operators use.
        if (!byName.has(type.name) || type.schema === "pg_catalog") byName.set(type.name, type);
      }
    }
    return byName.get(name);
  };
  const findType = (oid: number): PgType | undefined =>
    model.types.get(oid) ?? BUILT_IN.find((type) => type.oid === oid);

  const findScalarName = (type: PgType, isElement: boolean): string => {
    const scalarName = SCALARS[type.name];
    if (scalarName !== undefined && type.schema === "pg_catalog") return scalarName;
    return isComposite(type) && !isElement ? `${type.name}_scalar` : type.name;
  };

  const createValueType = (declaredType: PgType, isNullable: boolean, isElement: boolean): GqlValueType | undefined => {
    const type = declaredType.kind === "domain" ? findBaseType(model, declaredType.oid) : declaredType;
    if (type === undefined) return undefined;
    const cast = declaredType.sqlName;
    if (type.kind === "array" && type.element !== undefined && !isArrayOpaque) {
      const elementType = findType(type.element);
      const element = elementType && createValueType(elementType, true, true);
      return element && { scalar: element.scalar, type, cast, isNullable, element };
    }
    const scalar = findScalarName(type, isElement);
    return isLegalName(scalar) ? { scalar, type, cast, isNullable } : undefined;
  };

  const find = (oidOrName: number | string, isNullable = true): GqlValueType | undefined => {
    const key = typeof oidOrName === "number" ? oidOrName * 2 + Number(isNullable) : `${oidOrName} ${isNullable}`;
    if (valueTypes.has(key)) return valueTypes.get(key);
    const type =
      typeof oidOrName === "number" ? findType(oidOrName) : findTypeByName(TYPE_OF_SCALAR[oidOrName] ?? oidOrName);
    const value = type && createValueType(type, isNullable && type.notNull !== true, false);
    valueTypes.set(key, value);
    return value;
  };

  const findArgument = (oid: number): GqlValueType | undefined => {
    const type = findType(oid);
    if (type?.kind !== "array" && type?.kind !== "domain") return find(oid);
    const { name: scalar, sqlName: cast } = type;
    return isLegalName(scalar) ? { scalar, type, cast, isNullable: true } : undefined;
  };

  return {
    find,
    findArgument,
    canonical: (value) => {
      const name = CANONICAL[value.type.name];
      if (value.enumTable !== undefined || name === undefined || value.type.schema !== "pg_catalog") return value;
      return find(name) ?? value;
    },
    scalarType: (name) => {
      let scalar = scalars.get(name);
      if (scalar === undefined) {
        scalar = new GraphQLScalarType({ name });
        scalars.set(name, scalar);
      }
      return scalar;
    },
  };
};
