/** The introspected schema of a role in a comparable form: types as strings, by name. */
import type { TestApi } from "./api.ts";

interface TypeRef {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType: TypeRef | null;
}

export interface SchemaInput {
  readonly name: string;
  readonly description: string | null;
  readonly type: TypeRef;
  readonly defaultValue: string | null;
}

export interface SchemaField {
  readonly name: string;
  readonly description: string | null;
  readonly type: TypeRef;
  readonly args: readonly SchemaInput[];
}

export interface SchemaType {
  readonly kind: string;
  readonly name: string;
  readonly description: string | null;
  readonly fields: readonly SchemaField[] | null;
  readonly inputFields: readonly SchemaInput[] | null;
  readonly interfaces: readonly unknown[] | null;
  readonly possibleTypes: readonly unknown[] | null;
  readonly enumValues: readonly { readonly name: string; readonly description: string | null }[] | null;
}

export interface Schema {
  readonly names: readonly string[];
  has(type: string): boolean;
  type(name: string): SchemaType;
  description(type: string, member?: string, argument?: string): string | null;
  /** The fields or input fields of a type: `{ id: "Int!" }`. */
  members(type: string): Record<string, string>;
  /** The arguments of a field: `{ where: "album_bool_exp" }`. */
  args(type: string, field: string): Record<string, string>;
  values(type: string): readonly string[];
  /** The root types by operation, undefined for operations that do not exist. */
  readonly roots: {
    readonly query: string;
    readonly mutation: string | undefined;
    readonly subscription: string | undefined;
  };
}

const REF =
  "kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }";
const INPUT = `name description defaultValue type { ${REF} }`;

export const INTROSPECTION = `{ __schema {
  queryType { name kind } mutationType { name kind } subscriptionType { name kind }
  types { kind name description interfaces { name } possibleTypes { name } enumValues { name description }
    inputFields { ${INPUT} } fields { name description type { ${REF} } args { ${INPUT} } } }
} }`;

export const typeText = (type: TypeRef | null): string => {
  if (type === null) return "?";
  if (type.kind === "NON_NULL") return `${typeText(type.ofType)}!`;
  return type.kind === "LIST" ? `[${typeText(type.ofType)}]` : String(type.name);
};

const typesByName = (inputs: readonly { readonly name: string; readonly type: TypeRef }[]): Record<string, string> =>
  Object.fromEntries(inputs.map(({ name, type }) => [name, typeText(type)]));

/** Introspects the schema as administrator, or as a role. */
export const fetchSchema = async (api: TestApi, role?: string): Promise<Schema> => {
  const { data, errors } = await api.gql(INTROSPECTION, {}, role === undefined ? {} : { "x-session-role": role });
  if (data === undefined) throw new Error(`no schema: ${JSON.stringify(errors)}`);
  const schema = data.__schema;
  const types = new Map<string, SchemaType>(schema.types.map((type: SchemaType) => [type.name, type]));
  const type = (name: string): SchemaType => {
    const schemaType = types.get(name);
    if (schemaType === undefined) throw new Error(`no type ${name}`);
    return schemaType;
  };
  const getMembers = (name: string): readonly (SchemaField | SchemaInput)[] =>
    type(name).fields ?? type(name).inputFields ?? [];
  const member = (typeName: string, name: string): SchemaField | SchemaInput => {
    const field = getMembers(typeName).find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`no field ${name} in ${typeName}`);
    return field;
  };
  const getArguments = (typeName: string, name: string): readonly SchemaInput[] => {
    const field = member(typeName, name);
    return "args" in field ? field.args : [];
  };
  return {
    names: [...types.keys()],
    has: (name) => types.has(name),
    type,
    description: (name, field, argument) => {
      if (field === undefined) return type(name).description;
      if (argument !== undefined)
        return getArguments(name, field).find((input) => input.name === argument)?.description ?? null;
      const value = type(name).enumValues?.find((enumValue) => enumValue.name === field);
      return value === undefined ? member(name, field).description : value.description;
    },
    members: (name) => typesByName(getMembers(name)),
    args: (name, field) => typesByName(getArguments(name, field)),
    values: (name) => (type(name).enumValues ?? []).map((value) => value.name),
    roots: {
      query: schema.queryType.name,
      mutation: schema.mutationType?.name,
      subscription: schema.subscriptionType?.name,
    },
  };
};
