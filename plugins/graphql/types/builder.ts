/** The types of one role: made by name when first asked for, their fields by the `buildGqlField` taps when first looked at.
 *  @rule G-GEN-1 G-GEN-4 G-GEN-5 G-GEN-6 G-GEN-15 G-NAM-3 */
import {
  GraphQLEnumType, GraphQLInputObjectType, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString,
  type GraphQLArgumentConfig, type GraphQLFieldConfig, type GraphQLInputFieldConfig, type GraphQLInputType, type GraphQLNamedType, type GraphQLOutputType,
} from "graphql";
import {
  GQL_EXTENSION, nameKey, withPart, type GqlBuild, type GqlEnumSpec, type GqlField, type GqlFieldContext, type GqlFields, type GqlRoleView, type GqlTable,
  type GqlTableRights, type GqlTypeSpec, type GqlValueType, type Model, type Registry, type RelApiHooks, type ResolvedOptions, type RoleSchema,
} from "../../../core/index.ts";
import { comparisonSpec } from "./comparisons.ts";
import { isLegalName } from "./names.ts";
import type { Source } from "./source.ts";
import type { Values } from "./values.ts";
import { collectTypes } from "./collect.ts";

export interface SchemaParts {
  readonly model: Model;
  readonly source: Source;
  readonly values: Values;
  readonly view: GqlRoleView;
  readonly hooks: RelApiHooks;
  readonly registry: Registry;
  readonly options: ResolvedOptions;
  readonly metaFields: RoleSchema["metaFields"];
  readonly introspect: (schema: RoleSchema) => RoleSchema["introspect"];
}

const NO_QUERIES =
  "There are no queries available to the current role. Either there are no sources or remote schemas configured, or the current role doesn't have the required permissions.";

const noQueries: GqlFields = {
  no_queries_available: {
    config: { type: new GraphQLNonNull(GraphQLString), description: NO_QUERIES },
    toPlan: { kind: "constant", text: JSON.stringify(NO_QUERIES) },
  },
};

const sortedEntries = <Value>(record: Readonly<Record<string, Value>>): [string, Value][] =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));

const isSame = (a: GqlTypeSpec, b: GqlTypeSpec): boolean =>
  a.scope === b.scope && a.relation === b.relation && a.routine === b.routine && a.computedField === b.computedField && a.fn === b.fn;

/** Arguments in name order, as introspection lists them. */
const sortArguments = (config: GraphQLFieldConfig<unknown, unknown>): GraphQLFieldConfig<unknown, unknown> => {
  if (config.args === undefined) return config;
  const args: Record<string, GraphQLArgumentConfig> = {};
  for (const [name, argument] of sortedEntries(config.args)) args[name] = argument;
  return { ...config, args };
};

type MadeType = GraphQLObjectType | GraphQLInputObjectType | GraphQLEnumType;

interface Made {
  readonly spec: GqlTypeSpec;
  readonly type: MadeType | undefined;
}

export const buildRoleSchema = (parts: SchemaParts): RoleSchema => {
  const { model, source, values, view, hooks, registry, options } = parts;
  const { names } = source;
  const made = new Map<string, Made>();
  const rightsOf = new Map<GqlTable, GqlTableRights>();
  const ownTypes = ownTypeNames(source);

  const fieldsOf = (spec: GqlTypeSpec): GqlFields => {
    const { name, description: _description, isOptional: _isOptional, ...facts } = spec;
    const context: GqlFieldContext = { ...facts, typeName: name, model, role: view.role, build };
    return hooks.buildGqlField.call({}, context);
  };

  const outputFields = (fields: GqlFields): Record<string, GraphQLFieldConfig<unknown, unknown>> => {
    const configs: Record<string, GraphQLFieldConfig<unknown, unknown>> = {};
    for (const [name, field] of sortedEntries(fields)) {
      configs[name] = { ...sortArguments(outputConfig(field)), extensions: withPart(field.toPlan) };
    }
    return configs;
  };

  const inputFields = (fields: GqlFields): Record<string, GraphQLInputFieldConfig> => {
    const configs: Record<string, GraphQLInputFieldConfig> = {};
    for (const [name, field] of sortedEntries(fields)) configs[name] = { ...inputConfig(field), extensions: withPart(field.toPlan) };
    return configs;
  };

  /** Kept by name. A name that is not legal, another type's, or a table's own gives no type. */
  const keep = <Type extends MadeType>(spec: GqlTypeSpec, make: (fields: (() => GqlFields)) => Type): Type | undefined => {
    const found = made.get(spec.name);
    if (found !== undefined) return isSame(found.spec, spec) ? (found.type as Type | undefined) : undefined; // same spec, same kind of type
    const owner = ownTypes.get(spec.name);
    if (!isLegalName(spec.name) || (owner !== undefined && !(spec.scope === "row" && spec.relation === owner.relation))) return undefined;
    let type: Type | undefined;
    if (spec.isOptional === true) {
      const fields = fieldsOf(spec);
      type = Object.keys(fields).length === 0 ? undefined : make(() => fields);
    } else {
      type = make(() => fieldsOf(spec));
    }
    made.set(spec.name, { spec, type });
    return type;
  };

  const facts = (spec: GqlTypeSpec) => ({
    [GQL_EXTENSION]: { scope: spec.scope, ...(spec.relation && { relation: spec.relation }), ...(spec.value && { value: spec.value }) },
  });

  const object: GqlBuild["object"] = (spec) =>
    keep(spec, (fields) => new GraphQLObjectType({ name: spec.name, description: spec.description, extensions: facts(spec), fields: () => outputFields(fields()) }));

  const inputObject: GqlBuild["inputObject"] = (spec) =>
    keep(spec, (fields) => new GraphQLInputObjectType({ name: spec.name, description: spec.description, extensions: facts(spec), fields: () => inputFields(fields()) }));

  const enumeration: GqlBuild["enumeration"] = (spec) =>
    keep(
      { name: spec.name, scope: "enum", ...(spec.relation && { relation: spec.relation }) },
      () => new GraphQLEnumType({ name: spec.name, description: spec.description, extensions: facts({ ...spec, scope: "enum" }), values: () => enumValues(spec) }),
    );

  /** A scalar that has a table's name cannot be in the same schema. */
  const usable = (value: GqlValueType | undefined): GqlValueType | undefined => (value !== undefined && ownTypes.has(value.scalar) ? undefined : value);

  const named = (value: GqlValueType) => {
    const { enumTable } = value;
    if (enumTable === undefined) return values.scalarType(value.scalar);
    const table = source.tableOf.get(nameKey(enumTable.relation));
    return enumeration({
      name: value.scalar,
      relation: enumTable.relation,
      description: table?.comment,
      values: () => enumTable.values.map(({ name, key, comment }) => ({ name, value: key, description: comment, part: { kind: "enum-key", key } })),
    });
  };

  const valueTypeOf = (value: GqlValueType): GraphQLInputType & GraphQLOutputType => {
    if (value.element === undefined) return named(value) ?? GraphQLString; // an enum whose name is another type's
    return new GraphQLList(new GraphQLNonNull(valueTypeOf(value.element)));
  };

  const build: GqlBuild = {
    get schema() {
      return schema;
    },
    source,
    view,
    table: (relation) => source.tableOf.get(nameKey(relation)),
    rights: (table) => {
      let rights = rightsOf.get(table);
      if (rights === undefined) {
        rights = view.rights(table);
        rightsOf.set(table, rights);
      }
      return rights;
    },
    typeName: names.typeName,
    rootName: names.rootName,
    sharedTypeName: names.sharedTypeName,
    customRootName: names.customRootName,
    fieldName: names.fieldName,
    enumValue: names.enumValue,
    object,
    inputObject,
    enumeration,
    valueOutput: valueTypeOf,
    valueInput: valueTypeOf,
    comparison: (value) => inputObject(comparisonSpec(names, values.canonical(value))),
    valueType: (type, isNullable) => usable(values.find(type, isNullable)),
    columnValue: ({ column, enumTable }) => {
      const plain = usable(values.find(column.type, !column.notNull));
      if (plain === undefined || enumTable === undefined) return plain;
      const table = source.tableOf.get(nameKey(enumTable.relation));
      return table === undefined ? plain : { ...plain, scalar: names.typeName(table.word, "enum"), enumTable };
    },
  };

  /** With a namespace all fields of the source stand under one field. @rule G-NAM-6 */
  const root = (name: string, scope: "query_root" | "mutation_root" | "subscription_root", description: string | null): GraphQLObjectType | undefined => {
    const { namespace } = source.customization;
    if (namespace === undefined) return object({ name, scope, description, isOptional: true });
    const inner = object({ name: `${namespace}_${scope.slice(0, -"_root".length)}`, scope, isOptional: true });
    return (
      inner &&
      new GraphQLObjectType({
        name,
        description,
        extensions: { [GQL_EXTENSION]: { scope } },
        fields: { [namespace]: { type: inner, extensions: withPart({ kind: "namespace" }) } },
      })
    );
  };

  let query: GraphQLObjectType | undefined;
  let mutation: GraphQLObjectType | undefined | null = null;
  let subscription: GraphQLObjectType | undefined | null = null;
  let types: ReadonlyMap<string, GraphQLNamedType> | undefined;

  const schema: RoleSchema = {
    model,
    role: view.role,
    registry,
    options,
    metaFields: parts.metaFields,
    isIntrospectionClosed: view.isIntrospectionClosed === true,
    get query() {
      query ??=
        root("query_root", "query_root", null) ??
        new GraphQLObjectType({ name: "query_root", extensions: { [GQL_EXTENSION]: { scope: "query_root" } }, fields: outputFields(noQueries) });
      return query;
    },
    get mutation() {
      if (mutation === null) mutation = root("mutation_root", "mutation_root", "mutation root");
      return mutation;
    },
    get subscription() {
      if (subscription === null) subscription = root("subscription_root", "subscription_root", null);
      return subscription;
    },
    introspect: (...question) => introspect(...question),
    types: () => (types ??= collectTypes(schema)),
    columnName: (relation, column) => source.tableOf.get(nameKey(relation))?.columns.find((each) => each.column.name === column)?.name ?? column,
  };
  const introspect = parts.introspect(schema);
  return schema;
};

const outputConfig = (field: GqlField): GraphQLFieldConfig<unknown, unknown> => field.config as GraphQLFieldConfig<unknown, unknown>; // the scope's type is an object
const inputConfig = (field: GqlField): GraphQLInputFieldConfig => field.config as GraphQLInputFieldConfig; // the scope's type is an input object

const enumValues = (spec: GqlEnumSpec) => {
  const entries = spec.values().map(({ name, value, description, part }) => [name, { value, description, extensions: withPart(part) }] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
};

const ownTypesOf = new WeakMap<Source, ReadonlyMap<string, GqlTable>>();

const ownTypeNames = (source: Source): ReadonlyMap<string, GqlTable> => {
  let own = ownTypesOf.get(source);
  if (own === undefined) {
    own = new Map(source.tables.map((table) => [source.names.typeName(table.word), table]));
    ownTypesOf.set(source, own);
  }
  return own;
};
