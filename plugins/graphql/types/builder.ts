/** Builds the types of one role. A type is built by name on first use, and its fields by `buildGqlField` taps on first
 *  access. @rule G-GEN-1 G-GEN-4 G-GEN-5 G-GEN-6 G-GEN-15 G-NAM-3 */
import {
  GraphQLEnumType,
  GraphQLNonNull,
  GraphQLString,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
} from "graphql";
import {
  buildNameKey,
  type Model,
  type Slices,
  type PlanTap,
  type Registry,
  type RelApiHooks,
  type ResolvedOptions,
} from "../../../core/index.ts";
import { buildComparisonSpec } from "./comparisons.ts";
import { createFieldBuilder } from "./plugin-fields.ts";
import { isRootScope, LazyInputType, LazyObjectType, buildOutputField } from "./lazy-types.ts";
import { isLegalName, buildNamespaceRootName } from "./names.ts";
import { buildAggregateFieldsType, buildAggregateFunctions } from "./aggregate-fields.ts";
import {
  buildBoolExpType,
  listArguments,
  buildMutationResponseType,
  buildTargetTypes,
  buildOrderDirectionEnum,
  buildRowType,
} from "./type-names.ts";
import { getRoleTable } from "./role-table.ts";
import { buildDelegatedField, buildJoinedField, buildRowsField } from "./rows-field.ts";
import type { Catalog } from "./catalog.ts";
import { isEmpty } from "./field-taps.ts";
import type { ValueTypes } from "./values.ts";
import { wrapList } from "./non-null-list.ts";
import { buildOperatorFields, buildRelatedInsertType, buildUpdatesInputType } from "./write-inputs.ts";
import { GQL_EXTENSION, withPart } from "../plan-parts.ts";
import type {
  GqlBuild,
  GqlEnumSpec,
  GqlFieldContext,
  GqlFields,
  GqlRootName,
  GqlTypeSpec,
  GqlVariant,
} from "../field-types.ts";
import type { IntrospectionService } from "../introspection/introspection.ts";
import type { RoleSchema } from "./role-schema.ts";
import type { GqlValueType } from "../value-types.ts";
import type { GqlRoleAccess } from "../catalog-types.ts";

interface SchemaParts {
  readonly model: Model;
  readonly catalog: Catalog;
  readonly values: ValueTypes;
  readonly access: GqlRoleAccess;
  readonly hooks: RelApiHooks;
  readonly registry: Registry;
  /** True if the server supports live queries. */
  readonly hasSubscriptions: boolean;
  readonly options: ResolvedOptions;
  readonly introspection: IntrospectionService;
  readonly directives: RoleSchema["directives"];
  /** The changes that another surface makes to the types. */
  readonly variant: GqlVariant | undefined;
}

const NO_QUERIES =
  "There are no queries available to the current role. Either there are no sources or remote schemas configured, or the current role doesn't have the required permissions.";

const noQueries: GqlFields = {
  no_queries_available: {
    config: { type: new GraphQLNonNull(GraphQLString), description: NO_QUERIES },
    toPlan: { kind: "constant", text: JSON.stringify(NO_QUERIES) },
  },
};

const isSameSpec = (a: GqlTypeSpec, b: GqlTypeSpec): boolean =>
  a.scope === b.scope &&
  a.relation === b.relation &&
  a.routine === b.routine &&
  a.computedField === b.computedField &&
  a.fn === b.fn;

type BuiltGraphqlType = GraphQLObjectType | GraphQLInputObjectType | GraphQLEnumType;

interface BuiltType {
  readonly spec: GqlTypeSpec;
  readonly type: BuiltGraphqlType | undefined;
}

/** A schema whose types can be built before the first request. */
export interface PreparableSchema extends RoleSchema {
  /** True if the roots are built with all their fields. */
  readonly isWhole: boolean;
  /** Returns the roots that documents have used. */
  usedRoots(): readonly GqlRootName[];
  /** Builds the parts of the roots that depend on every table, a few tables per time slice. */
  prepare(roots: readonly GqlRootName[]): Slices<void>;
  /** Returns the keys of the tables whose rows documents have used. */
  usedTables(): ReadonlySet<string>;
  /** Builds the fields of the tables' rows in time slices, because a table to which many others refer has many
   *  fields. */
  openTables(keys: Iterable<string>): Slices<void>;
}

const ROOTS = {
  query: { name: "query_root", scope: "query_root", description: null },
  mutation: { name: "mutation_root", scope: "mutation_root", description: "mutation root" },
  subscription: { name: "subscription_root", scope: "subscription_root", description: null },
} as const satisfies Readonly<Record<GqlRootName, GqlTypeSpec>>;

const listRootNames = ({ hasSubscriptions }: SchemaParts): readonly GqlRootName[] =>
  hasSubscriptions ? ["query", "mutation", "subscription"] : ["query", "mutation"];

const TABLES_AT_ONCE = 10;

/** Builds the GraphQL schema of a role. */
export const buildRoleSchema = (parts: SchemaParts): PreparableSchema => {
  const { model, catalog: source, values, access, hooks, registry, options } = parts;
  const { names, typeOwners } = source;
  const types = new Map<string, BuiltType>();

  const builder = createFieldBuilder(hooks);
  const createContext = (spec: GqlTypeSpec): GqlFieldContext => ({
    scope: spec.scope,
    typeName: spec.name,
    relation: spec.relation,
    routine: spec.routine,
    computedField: spec.computedField,
    value: spec.value,
    fn: spec.fn,
    model,
    role: access.role,
    build,
  });
  const { variant } = parts;
  const usedTables = new Set<string>();
  const buildFields = (spec: GqlTypeSpec): GqlFields => {
    if (spec.scope === "row" && spec.relation !== undefined) usedTables.add(buildNameKey(spec.relation));
    const context = createContext(spec);
    const fields = builder.buildFields(context);
    return variant === undefined ? fields : variant.fields(fields, context);
  };
  /** The fields that were built before their types are first used. */
  const preparedFields = new Map<string, GqlFields>();
  const takeFields = (spec: GqlTypeSpec): GqlFields => {
    const fields = preparedFields.get(spec.name) ?? buildFields(spec);
    preparedFields.delete(spec.name);
    return fields;
  };

  /** True if roots are split, because documents use few of the fields that roots have for thousands of tables. */
  const isSplit = builder.isByTable && variant === undefined;
  const splitRoots = new Map<GraphQLObjectType, GqlTypeSpec>();

  const hasFields = (spec: GqlTypeSpec): boolean => {
    if (isSplit && isRootScope(spec.scope) && !preparedFields.has(spec.name)) return hasAnyField(spec);
    const fields = takeFields(spec);
    if (isEmpty(fields)) return false;
    preparedFields.set(spec.name, fields);
    return true;
  };

  /** Caches types by name. Returns undefined for an invalid name, or one that belongs to another type or table. */
  const registerType = <Type extends BuiltGraphqlType>(
    spec: GqlTypeSpec,
    make: (spec: GqlTypeSpec) => Type,
  ): Type | undefined => {
    const entry = types.get(spec.name);
    // The same spec has the same kind of type.
    if (entry !== undefined) return isSameSpec(entry.spec, spec) ? (entry.type as Type | undefined) : undefined;
    const owner = typeOwners.get(spec.name);
    if (
      !isLegalName(spec.name) ||
      (owner !== undefined && !(owner.scope === spec.scope && owner.table.relation === spec.relation))
    )
      return undefined;
    const type = make(spec);
    // Tables may refer to each other, so the type is registered before its fields are built.
    types.set(spec.name, { spec, type });
    if (spec.isOptional !== true || hasFields(spec)) return type;
    types.set(spec.name, { spec, type: undefined });
    return undefined;
  };

  const makeObject = (spec: GqlTypeSpec): LazyObjectType => {
    const interfaces = variant?.interfaces && (() => variant.interfaces?.(createContext(spec)) ?? []);
    const type = new LazyObjectType(spec, takeFields, interfaces);
    if (isSplit && isRootScope(spec.scope)) splitRoots.set(type, spec);
    return type;
  };
  const registerObject = (spec: GqlTypeSpec): LazyObjectType | undefined => registerType(spec, makeObject);

  const makeInputObject = (spec: GqlTypeSpec): LazyInputType => new LazyInputType(spec, takeFields);
  const registerInputObject = (spec: GqlTypeSpec): LazyInputType | undefined => registerType(spec, makeInputObject);

  const enumeration: GqlBuild["enumeration"] = (spec) =>
    registerType(
      { name: spec.name, scope: "enum", ...(spec.relation && { relation: spec.relation }) },
      () =>
        new GraphQLEnumType({
          name: spec.name,
          description: spec.description,
          extensions: { [GQL_EXTENSION]: { scope: "enum", ...(spec.relation && { relation: spec.relation }) } },
          values: () => listEnumValues(spec),
        }),
    );

  /** Returns undefined for a scalar with a table's name, because one schema cannot have both. Types whose values no
   *  plugin reads and writes are also undefined. */
  const filterUsable = (value: GqlValueType | undefined): GqlValueType | undefined => {
    if (value === undefined || typeOwners.get(value.scalar) !== undefined) return undefined;
    const writer = OUTPUT_FUNCTIONS.get((value.element ?? value).type.name);
    return writer !== undefined && !registry.functions.has(writer) ? undefined : value;
  };

  const buildNamedType = (value: GqlValueType) => {
    const { enumTable } = value;
    if (enumTable === undefined) return values.scalarType(value.scalar);
    const table = source.tablesByKey.get(buildNameKey(enumTable.relation));
    return enumeration({
      name: value.scalar,
      relation: enumTable.relation,
      description: table?.comment,
      values: () =>
        enumTable.values.map(({ name, key, comment }) => ({
          name,
          value: key,
          description: comment,
          part: { kind: "enum-key", key },
        })),
    });
  };

  const buildGraphqlType = (value: GqlValueType): GraphQLInputType & GraphQLOutputType => {
    // The name of the enum may belong to another type.
    if (value.element === undefined) return buildNamedType(value) ?? GraphQLString;
    // The type is a scalar, enum or list, each of which may be null.
    return wrapList(buildGraphqlType(value.element) as GraphQLScalarType);
  };

  // Other plugins that change plans may hide rows.
  const isRewritten = hooks.transformPlan.taps.some(
    ({ name, keepsRows }: { readonly name: string } & PlanTap) => name !== "metadata-permissions" && keepsRows !== true,
  );
  const isAboveRowSecurity =
    (options.dbPreRequest ?? "") === "" &&
    model.roles.get(access.databaseRole ?? model.loginRole)?.isSuperuser === true;

  /** The visible tables. While a root is prepared, only a few tables are visible. */
  let visible: GqlBuild["catalog"] = source;
  const build: GqlBuild = {
    get schema() {
      return schema;
    },
    get catalog() {
      return visible;
    },
    access,
    table: (relation) => source.tablesByKey.get(buildNameKey(relation)),
    rights: (table) => getRoleTable(build, table).rights,
    mayHideRows: (table) =>
      isRewritten ||
      build.rights(table).select?.isFiltered === true ||
      (table.relation.hasRowSecurity && !isAboveRowSecurity),
    typeName: names.typeName,
    rowType: (table) => buildRowType(build, table),
    mutationResponse: (table) => buildMutationResponseType(build, table),
    listArguments: (table) => listArguments(build, table),
    rowsField: (table, field) => buildRowsField(build, table, field),
    joinedField: (table, field) => buildJoinedField(build, table, field),
    delegatedField: buildDelegatedField,
    boolExp: (table) => buildBoolExpType(build, table),
    updates: (table) => buildUpdatesInputType(build, table),
    relatedInsert: (table, isToOne) => buildRelatedInsertType(build, table, isToOne),
    updateOperators: (table) => Object.fromEntries(buildOperatorFields(build, table)),
    aggregateFields: (table) =>
      build.rights(table).select?.mayAggregate === true ? buildAggregateFieldsType(build, table) : undefined,
    aggregateFunctions: () => buildAggregateFunctions(build),
    orderDirection: () => buildOrderDirectionEnum(build),
    rootName: names.rootName,
    sharedTypeName: names.sharedTypeName,
    bareTypeName: names.bareTypeName,
    predicateTypeName: names.predicateTypeName,
    fieldName: names.fieldName,
    enumValue: names.enumValue,
    object: registerObject,
    inputObject: registerInputObject,
    enumeration,
    valueOutput: buildGraphqlType,
    valueInput: buildGraphqlType,
    comparison: (value) => registerInputObject(buildComparisonSpec(names, values.canonical(value))),
    valueType: (type, isNullable) => filterUsable(values.find(type, isNullable)),
    argumentType: (type) => filterUsable(values.findArgument(type)),
    columnValue: ({ column, enumTable }) => {
      const plain = filterUsable(values.find(column.type, !column.notNull));
      if (plain === undefined || enumTable === undefined) return plain;
      const table = source.tablesByKey.get(buildNameKey(enumTable.relation));
      return table === undefined ? plain : { ...plain, scalar: names.typeName(table.namePart, "enum"), enumTable };
    },
  };

  const withVisible = <Result>(
    tables: GqlBuild["catalog"]["tables"],
    functions: GqlBuild["catalog"]["functions"],
    read: () => Result,
  ): Result => {
    const before = visible;
    visible = { ...source, tables, functions };
    try {
      return read();
    } finally {
      visible = before;
    }
  };

  /** Returns whether any table adds a field to the root. The search stops at the first one. */
  const hasAnyField = (spec: GqlTypeSpec): boolean =>
    source.tables.some((table) => withVisible([table], [], () => !isEmpty(buildFields(spec)))) ||
    withVisible([], source.functions, () => !isEmpty(buildFields(spec)));

  /** Yields the context for a few tables at a time, then for the functions. */
  const iterateParts = function* (context: GqlFieldContext): Generator<GqlFieldContext> {
    const { tables, functions } = source;
    try {
      for (let i = 0; i < tables.length; i += TABLES_AT_ONCE) {
        visible = { ...source, tables: tables.slice(i, i + TABLES_AT_ONCE), functions: [] };
        yield context;
      }
      visible = { ...source, tables: [], functions };
      yield context;
    } finally {
      visible = source;
    }
  };

  const { namespace } = source.customization;
  /** Returns the specification of the root's type. With a namespace, it describes the type of the root's only field.
   *  @rule G-NAM-6 */
  const buildRootSpec = (root: GqlRootName): GqlTypeSpec => ({
    ...ROOTS[root],
    isOptional: true,
    ...(namespace !== undefined && {
      name: names.namespaceTypeName(`${namespace}_${buildNamespaceRootName(root, access.isBackend === true)}`),
      description: undefined,
    }),
  });
  const buildRoot = (root: GqlRootName): GraphQLObjectType | undefined => {
    const type = registerObject(buildRootSpec(root));
    if (type === undefined || namespace === undefined) return type;
    return new LazyObjectType(ROOTS[root], () => ({
      [namespace]: { config: { type }, toPlan: { kind: "namespace" } },
    }));
  };

  let query: GraphQLObjectType | undefined;
  let mutation: GraphQLObjectType | undefined | null = null;
  let subscription: GraphQLObjectType | undefined | null = null;
  /** The roots with all fields, which are built separately for introspection. They take many megabytes in a large
   *  schema, and may be collected after it. */
  let completeSchema: WeakRef<RoleSchema> | undefined;

  const schema: PreparableSchema = {
    model,
    role: access.role,
    registry,
    options,
    metaFields: parts.introspection.metaFields,
    directives: parts.directives,
    isIntrospectionClosed: access.isIntrospectionClosed === true,
    get query() {
      query ??= buildRoot("query") ?? new LazyObjectType({ name: "query_root", scope: "query_root" }, () => noQueries);
      return query;
    },
    get mutation() {
      if (mutation === null) mutation = buildRoot("mutation");
      return mutation;
    },
    get subscription() {
      if (subscription === null) subscription = parts.hasSubscriptions ? buildRoot("subscription") : undefined;
      return subscription;
    },
    findField: (type, name) => {
      const spec = splitRoots.get(type);
      if (spec === undefined) return type.getFields()[name];
      const fields = withVisible(source.tablesByRoot.find(name), source.functionsByRoot.find(name), () =>
        buildFields(spec),
      );
      return Object.hasOwn(fields, name) ? buildOutputField(name, fields[name]!) : undefined; // the key exists
    },
    introspect: (...question) => parts.introspection.introspect(schema, ...question),
    buildCompleteSchema: function* () {
      const cachedSchema = completeSchema?.deref();
      if (cachedSchema !== undefined) return cachedSchema;
      const builtSchema = buildRoleSchema(parts);
      yield* builtSchema.prepare(listRootNames(parts));
      completeSchema = new WeakRef(builtSchema);
      return builtSchema;
    },
    isWhole: !isSplit,
    usedRoots: () => [
      ...(query === undefined ? [] : (["query"] as const)),
      ...(mutation === null ? [] : (["mutation"] as const)),
      ...(subscription === null ? [] : (["subscription"] as const)),
    ],
    prepare: function* (roots) {
      for (const name of roots) {
        const spec = buildRootSpec(name);
        const context = createContext(spec);
        const fields = yield* builder.buildRootFields(context, () => iterateParts(context));
        preparedFields.set(spec.name, variant === undefined ? fields : variant.fields(fields, context));
        yield;
        // This access marks the root as used.
        if (schema[name] !== undefined) registerObject(spec)?.getFields();
      }
    },
    usedTables: () => usedTables,
    openTables: function* (keys) {
      for (const key of keys) {
        const table = source.tablesByKey.get(key);
        if (table === undefined) continue; // the table was dropped
        yield* buildTargetTypes(build, table);
        buildRowType(build, table)?.getFields();
      }
    },
    columnName: (relation, column) =>
      source.tablesByKey.get(buildNameKey(relation))?.columns.find((tableColumn) => tableColumn.column.name === column)
        ?.name ?? column,
  };
  return schema;
};

const listEnumValues = (spec: GqlEnumSpec) => {
  const entries = new Map(
    spec
      .values()
      .map(({ name, value, description, part }) => [name, { value, description, extensions: withPart(part) }]),
  );
  return Object.fromEntries([...entries.keys()].sort().map((name) => [name, entries.get(name) ?? {}]));
};

/** The types whose values have a special format, with the function that produces it. @rule G-TYP-22 G-TYP-23 */
const OUTPUT_FUNCTIONS: ReadonlyMap<string, string> = new Map([
  ["geometry", "to-geojson"],
  ["geography", "to-geojson"],
  ["raster", "to-hexwkb"],
]);
