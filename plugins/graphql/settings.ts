/** The settings of the GraphQL surface. */
import { defineSetting, settingKinds, type ValuesOf } from "../../core/index.ts";

const { flag, oneOf, text, wholeNumber } = settingKinds;

export const graphqlSettings = [
  defineSetting({
    name: "errorHints",
    environment: ["ERROR_HINTS"],
    kind: flag,
    default: false,
    description:
      "`true`: GraphQL errors have similar names, and the position of a syntax error, in `extensions` (G-HNT-1, G-HNT-3). The demo sets it",
  }),
  defineSetting({
    name: "graphqlOverHttp",
    environment: ["GRAPHQL_OVER_HTTP"],
    kind: flag,
    default: false,
    description:
      "`true`: responses of `/v1/graphql` have the statuses and media types of the GraphQL over HTTP specification (G-OVH); `false`: errors have status 200",
  }),
  defineSetting({
    name: "stringifyNumericTypes",
    environment: ["STRINGIFY_NUMERIC_TYPES", "HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES"],
    kind: flag,
    default: false,
    description:
      "`true`: values of the types `bigint`, `numeric`, `float8` and `money` are strings in GraphQL responses (G-TYP-30)",
  }),
  defineSetting({
    name: "v1BooleanNullCollapse",
    environment: ["V1_BOOLEAN_NULL_COLLAPSE", "HASURA_GRAPHQL_V1_BOOLEAN_NULL_COLLAPSE"],
    kind: flag,
    default: false,
    description:
      "`true`: a null operand, as in `where: {col: {_eq: null}}`, makes the condition true; `false`: the request is rejected",
  }),
  defineSetting({
    name: "disablePostgresArrays",
    environment: ["DISABLE_POSTGRES_ARRAYS"],
    kind: flag,
    default: false,
    description:
      "`true`: array columns have opaque scalar types such as `_text` in GraphQL, in place of lists (G-TYP-38)",
  }),
  defineSetting({
    name: "noNullUnboundVariableDefault",
    environment: ["NO_NULL_UNBOUND_VARIABLE_DEFAULT"],
    kind: flag,
    default: false,
    description:
      "`true`: an argument or field whose variable has neither a value nor a default counts as omitted; `false`: it is null (G-VAR-11)",
  }),
  defineSetting({
    name: "defaultNamingConvention",
    environment: ["DEFAULT_NAMING_CONVENTION", "HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION"],
    kind: oneOf(["hasura-default", "graphql-default"]),
    default: "hasura-default",
    description:
      "the naming convention of GraphQL if the metadata has none: `hasura-default` keeps the names of the database, `graphql-default` changes them to camelCase and PascalCase (G-NAM-7)",
  }),
] as const;

/** The settings of the plugin `graphql-relationships`. */
export const relationshipSettings = [
  defineSetting({
    name: "nullableRelationships",
    environment: ["NULLABLE_RELATIONSHIPS"],
    kind: flag,
    default: false,
    description:
      "`true`: the type of an object relationship is nullable if the related row may be hidden from the role (G-REL-11)",
  }),
] as const;

/** The settings of the plugin `persisted-queries`. */
export const persistedSettings = [
  defineSetting({
    name: "persistedQueryBytes",
    environment: ["PERSISTED_QUERY_BYTES"],
    kind: wholeNumber(0),
    default: 8 * 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum total size of the GraphQL documents that are stored by their hash (G-APQ); above it, the least recently used one is removed",
  }),
] as const;

/** The settings of the plugin `trusted-documents`. */
export const trustedSettings = [
  defineSetting({
    name: "enableAllowlist",
    environment: ["ENABLE_ALLOWLIST", "HASURA_GRAPHQL_ENABLE_ALLOWLIST"],
    kind: flag,
    default: false,
    description: "`true`: callers other than administrators may send only trusted documents (G-ALW)",
    isFixed: true,
  }),
  defineSetting({
    name: "trustedDocuments",
    environment: ["TRUSTED_DOCUMENTS"],
    kind: text,
    description:
      "a folder of trusted documents: `.graphql` files, and `.json` manifests of Apollo, Relay or GraphQL Code Generator",
    whenUnset: "only the metadata lists trusted documents",
    isFixed: true,
  }),
] as const;

export const graphqlLimits = [
  defineSetting({
    name: "maxDocumentBytes",
    environment: ["MAX_DOCUMENT_BYTES"],
    kind: wholeNumber(1),
    default: 512 * 1024,
    unit: "bytes",
    description: "the maximum size of a GraphQL document; parsing one of the default size takes about 0.2 s",
    isLimit: true,
  }),
  defineSetting({
    name: "maxDocumentDepth",
    environment: ["MAX_DOCUMENT_DEPTH"],
    kind: wholeNumber(1),
    default: 50,
    description:
      "the maximum depth of nested selection sets, with fragments expanded; the usual introspection query has 15",
    isLimit: true,
  }),
  defineSetting({
    name: "maxDocumentFields",
    environment: ["MAX_DOCUMENT_FIELDS"],
    kind: wholeNumber(1),
    default: 20_000,
    description:
      "the maximum number of fields in an operation, with fragments expanded, and before equal fields are merged",
    isLimit: true,
  }),
  defineSetting({
    name: "maxAliases",
    environment: ["MAX_ALIASES"],
    kind: wholeNumber(1),
    default: 1600,
    description:
      "the maximum number of fields with an alias in an operation, counted as for `MAX_DOCUMENT_FIELDS`; PostgreSQL returns at most 1664 columns",
    isLimit: true,
  }),
  defineSetting({
    name: "maxRootFields",
    environment: ["MAX_ROOT_FIELDS"],
    kind: wholeNumber(1),
    default: 1000,
    description: "the maximum number of root fields in an operation; a thousand take about half a second",
    isLimit: true,
  }),
  defineSetting({
    name: "maxRelatedConditions",
    environment: ["MAX_RELATED_CONDITIONS"],
    kind: wholeNumber(1),
    default: 200,
    description: "the maximum number of relationships in the conditions of an operation",
    isLimit: true,
  }),
  defineSetting({
    name: "maxIntrospectionDepth",
    environment: ["MAX_INTROSPECTION_DEPTH"],
    kind: wholeNumber(1),
    default: 2,
    description:
      "the maximum depth of nested lists of fields in introspection (`fields { type { fields … } }`); each level multiplies the response by the size of the schema. Tools need one",
    isLimit: true,
  }),
  defineSetting({
    name: "maxIntrospectionLists",
    environment: ["MAX_INTROSPECTION_LISTS"],
    kind: wholeNumber(1),
    default: 20,
    description:
      "the maximum number of `__type`, `types` and lists of fields in the introspection of an operation; each takes time in proportion to the schema. Tools need five",
    isLimit: true,
  }),
  defineSetting({
    name: "maxVariablesBytes",
    environment: ["MAX_VARIABLES_BYTES"],
    kind: wholeNumber(1),
    default: 16 * 1024 * 1024,
    unit: "bytes",
    description: "the maximum size of a GraphQL request without its documents",
    isLimit: true,
  }),
  defineSetting({
    name: "maxListItems",
    environment: ["MAX_LIST_ITEMS"],
    kind: wholeNumber(1),
    default: 100_000,
    description: "the maximum number of values in a list of a GraphQL operation, such as the operand of `_in`",
    isLimit: true,
  }),
  defineSetting({
    name: "maxInsertValues",
    environment: ["MAX_INSERT_VALUES"],
    kind: wholeNumber(1),
    default: 200_000,
    description:
      "the maximum number of objects and fields in the inserts of a GraphQL operation; a hundred thousand take about a second",
    isLimit: true,
  }),
  defineSetting({
    name: "maxWriteStatements",
    environment: ["MAX_WRITE_STATEMENTS"],
    kind: wholeNumber(1),
    default: 10_000,
    description:
      "the maximum number of statements with which a GraphQL operation inserts, updates and deletes; a thousand take about half a second. A nested insert needs one for each object with nested data, and one for each list without",
    isLimit: true,
  }),
  defineSetting({
    name: "maxBatchEntries",
    environment: ["MAX_BATCH_ENTRIES"],
    kind: wholeNumber(1),
    default: 100,
    description: "the maximum number of operations in a GraphQL batch",
    isLimit: true,
  }),
  defineSetting({
    name: "maxBatchBytes",
    environment: ["MAX_BATCH_BYTES"],
    kind: wholeNumber(1),
    default: 64 * 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum size of all responses of a GraphQL batch; above it, the remaining operations do not run, and have an error as their response",
    isLimit: true,
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof graphqlSettings>,
      ValuesOf<typeof relationshipSettings>,
      ValuesOf<typeof persistedSettings>,
      ValuesOf<typeof trustedSettings> {}
  interface RequestLimits extends ValuesOf<typeof graphqlLimits> {}
}
