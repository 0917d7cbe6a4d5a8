/** The settings of the GraphQL surface. */
import { defineLimit, defineOption, settingKinds, type ValuesOf } from "../../core/index.ts";

const { flag, oneOf, text, wholeNumber } = settingKinds;

export const graphqlSettings = [
  defineOption({
    name: "errorHints",
    environment: ["ERROR_HINTS"],
    kind: flag,
    default: false,
    description:
      "`true`: GraphQL errors carry near names and the place where a text breaks off in `extensions` (G-HNT-1, G-HNT-3). The demo has them",
  }),
  defineOption({
    name: "graphqlOverHttp",
    environment: ["GRAPHQL_OVER_HTTP"],
    kind: flag,
    default: false,
    description:
      "`true`: statuses and media types of `/v1/graphql` are those of the specification GraphQL over HTTP (G-OVH), in place of 200 for every error",
  }),
  defineOption({
    name: "stringifyNumericTypes",
    environment: ["STRINGIFY_NUMERIC_TYPES", "HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES"],
    kind: flag,
    default: false,
    description: "G-TYP-30",
  }),
  defineOption({
    name: "v1BooleanNullCollapse",
    environment: ["V1_BOOLEAN_NULL_COLLAPSE", "HASURA_GRAPHQL_V1_BOOLEAN_NULL_COLLAPSE"],
    kind: flag,
    default: false,
    description: "`where: {col: {_eq: null}}` counts as true instead of being refused",
  }),
  defineOption({
    name: "disablePostgresArrays",
    environment: ["DISABLE_POSTGRES_ARRAYS"],
    kind: flag,
    default: false,
    description: "G-TYP-38",
  }),
  defineOption({
    name: "noNullUnboundVariableDefault",
    environment: ["NO_NULL_UNBOUND_VARIABLE_DEFAULT"],
    kind: flag,
    default: false,
    description:
      "a nullable variable without a value or default is omitted where it is used, instead of counting as null: G-VAR-11",
  }),
  defineOption({
    name: "defaultNamingConvention",
    environment: ["DEFAULT_NAMING_CONVENTION", "HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION"],
    kind: oneOf(["hasura-default", "graphql-default"]),
    default: "hasura-default",
    description: "`graphql-default`: G-NAM-7, where the metadata names none",
  }),
] as const;

/** The settings of the plugin `graphql-relationships`. */
export const relationshipSettings = [
  defineOption({
    name: "nullableRelationships",
    environment: ["NULLABLE_RELATIONSHIPS"],
    kind: flag,
    default: false,
    description: "object relationships are nullable wherever the related row may be hidden from the role: G-REL-11",
  }),
] as const;

/** The settings of the plugin `persisted-queries`. */
export const persistedSettings = [
  defineOption({
    name: "persistedQueryBytes",
    environment: ["PERSISTED_QUERY_BYTES"],
    kind: wholeNumber(0),
    default: 8 * 1024 * 1024,
    description: "bytes of GraphQL documents that are kept by their hash (G-APQ); those unused for longest go",
  }),
] as const;

/** The settings of the plugin `trusted-documents`. */
export const trustedSettings = [
  defineOption({
    name: "enableAllowlist",
    environment: ["ENABLE_ALLOWLIST", "HASURA_GRAPHQL_ENABLE_ALLOWLIST"],
    kind: flag,
    default: false,
    description: "GraphQL answers only trusted documents, except to administrators (G-ALW)",
    isFixed: true,
  }),
  defineOption({
    name: "trustedDocuments",
    environment: ["TRUSTED_DOCUMENTS"],
    kind: text,
    description:
      "folder of `.graphql` files and of `.json` manifests (Apollo's, Relay's, GraphQL Code Generator's) whose documents are trusted",
    isFixed: true,
  }),
] as const;

export const graphqlLimits = [
  defineLimit("maxDocumentBytes", 512 * 1024, "size of a GraphQL document; reading one of this size takes about 0.2 s"),
  defineLimit(
    "maxDocumentDepth",
    50,
    "selection sets inside each other, fragments put in place; the usual introspection query has 15",
  ),
  defineLimit(
    "maxDocumentFields",
    20_000,
    "fields of an operation, fragments put in place and before equal ones are merged",
  ),
  defineLimit(
    "maxAliases",
    1600,
    "fields of an operation that have an alias, counted the same way; PostgreSQL answers 1664 columns of a row at most",
  ),
  defineLimit("maxRootFields", 1000, "root fields of an operation; a thousand take about half a second"),
  defineLimit("maxRelatedConditions", 200, "relationships in the conditions of an operation"),
  defineLimit(
    "maxIntrospectionDepth",
    2,
    "lists of fields inside each other in introspection (`fields { type { fields … } }`), each of which multiplies the answer by the size of the schema; tools ask for one",
  ),
  defineLimit(
    "maxIntrospectionLists",
    20,
    "`__type`, `types` and the lists of fields in the introspection of an operation, each of which takes as long as the schema is large; tools ask for five",
  ),
  defineLimit("maxVariablesBytes", 16 * 1024 * 1024, "bytes of a GraphQL request beside its documents"),
  defineLimit("maxListItems", 100_000, "items of one list of values (`_in`) in GraphQL"),
  defineLimit(
    "maxInsertValues",
    200_000,
    "objects and their fields in the inserts of one GraphQL operation; a hundred thousand take about a second",
  ),
  defineLimit(
    "maxWriteStatements",
    10_000,
    "statements in which one GraphQL operation inserts, updates and deletes; nested inserts have one for each object with nested data and for each list without; a thousand take about half a second",
  ),
  defineLimit("maxBatchEntries", 100, "requests of one GraphQL batch"),
  defineLimit(
    "maxBatchBytes",
    64 * 1024 * 1024,
    "bytes of the answers of one batch; entries that come after are answered with an error and not run",
  ),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof graphqlSettings>,
      ValuesOf<typeof relationshipSettings>,
      ValuesOf<typeof persistedSettings>,
      ValuesOf<typeof trustedSettings> {}
  interface Limits extends ValuesOf<typeof graphqlLimits> {}
}
