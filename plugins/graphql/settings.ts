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
      "`true`: GraphQL errors carry near names and the place where a text breaks off in `extensions` (G-HNT-1, G-HNT-3). The demo has them",
  }),
  defineSetting({
    name: "graphqlOverHttp",
    environment: ["GRAPHQL_OVER_HTTP"],
    kind: flag,
    default: false,
    description:
      "`true`: statuses and media types of `/v1/graphql` are those of the specification GraphQL over HTTP (G-OVH), in place of 200 for every error",
  }),
  defineSetting({
    name: "stringifyNumericTypes",
    environment: ["STRINGIFY_NUMERIC_TYPES", "HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES"],
    kind: flag,
    default: false,
    description: "G-TYP-30",
  }),
  defineSetting({
    name: "v1BooleanNullCollapse",
    environment: ["V1_BOOLEAN_NULL_COLLAPSE", "HASURA_GRAPHQL_V1_BOOLEAN_NULL_COLLAPSE"],
    kind: flag,
    default: false,
    description: "`where: {col: {_eq: null}}` counts as true instead of being refused",
  }),
  defineSetting({
    name: "disablePostgresArrays",
    environment: ["DISABLE_POSTGRES_ARRAYS"],
    kind: flag,
    default: false,
    description: "G-TYP-38",
  }),
  defineSetting({
    name: "noNullUnboundVariableDefault",
    environment: ["NO_NULL_UNBOUND_VARIABLE_DEFAULT"],
    kind: flag,
    default: false,
    description:
      "a nullable variable without a value or default is omitted where it is used, instead of counting as null: G-VAR-11",
  }),
  defineSetting({
    name: "defaultNamingConvention",
    environment: ["DEFAULT_NAMING_CONVENTION", "HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION"],
    kind: oneOf(["hasura-default", "graphql-default"]),
    default: "hasura-default",
    description: "`graphql-default`: G-NAM-7, where the metadata names none",
  }),
] as const;

/** The settings of the plugin `graphql-relationships`. */
export const relationshipSettings = [
  defineSetting({
    name: "nullableRelationships",
    environment: ["NULLABLE_RELATIONSHIPS"],
    kind: flag,
    default: false,
    description: "object relationships are nullable wherever the related row may be hidden from the role: G-REL-11",
  }),
] as const;

/** The settings of the plugin `persisted-queries`. */
export const persistedSettings = [
  defineSetting({
    name: "persistedQueryBytes",
    environment: ["PERSISTED_QUERY_BYTES"],
    kind: wholeNumber(0),
    default: 8 * 1024 * 1024,
    description: "bytes of GraphQL documents that are kept by their hash (G-APQ); those unused for longest go",
  }),
] as const;

/** The settings of the plugin `trusted-documents`. */
export const trustedSettings = [
  defineSetting({
    name: "enableAllowlist",
    environment: ["ENABLE_ALLOWLIST", "HASURA_GRAPHQL_ENABLE_ALLOWLIST"],
    kind: flag,
    default: false,
    description: "GraphQL answers only trusted documents, except to administrators (G-ALW)",
    isFixed: true,
  }),
  defineSetting({
    name: "trustedDocuments",
    environment: ["TRUSTED_DOCUMENTS"],
    kind: text,
    description:
      "folder of `.graphql` files and of `.json` manifests (Apollo's, Relay's, GraphQL Code Generator's) whose documents are trusted",
    isFixed: true,
  }),
] as const;

export const graphqlLimits = [
  defineSetting({
    name: "maxDocumentBytes",
    environment: ["MAX_DOCUMENT_BYTES"],
    kind: wholeNumber(1),
    default: 512 * 1024,
    description: "size of a GraphQL document; reading one of this size takes about 0.2 s",
    isLimit: true,
  }),
  defineSetting({
    name: "maxDocumentDepth",
    environment: ["MAX_DOCUMENT_DEPTH"],
    kind: wholeNumber(1),
    default: 50,
    description: "selection sets inside each other, fragments put in place; the usual introspection query has 15",
    isLimit: true,
  }),
  defineSetting({
    name: "maxDocumentFields",
    environment: ["MAX_DOCUMENT_FIELDS"],
    kind: wholeNumber(1),
    default: 20_000,
    description: "fields of an operation, fragments put in place and before equal ones are merged",
    isLimit: true,
  }),
  defineSetting({
    name: "maxAliases",
    environment: ["MAX_ALIASES"],
    kind: wholeNumber(1),
    default: 1600,
    description:
      "fields of an operation that have an alias, counted the same way; PostgreSQL answers 1664 columns of a row at most",
    isLimit: true,
  }),
  defineSetting({
    name: "maxRootFields",
    environment: ["MAX_ROOT_FIELDS"],
    kind: wholeNumber(1),
    default: 1000,
    description: "root fields of an operation; a thousand take about half a second",
    isLimit: true,
  }),
  defineSetting({
    name: "maxRelatedConditions",
    environment: ["MAX_RELATED_CONDITIONS"],
    kind: wholeNumber(1),
    default: 200,
    description: "relationships in the conditions of an operation",
    isLimit: true,
  }),
  defineSetting({
    name: "maxIntrospectionDepth",
    environment: ["MAX_INTROSPECTION_DEPTH"],
    kind: wholeNumber(1),
    default: 2,
    description:
      "lists of fields inside each other in introspection (`fields { type { fields … } }`), each of which multiplies the answer by the size of the schema; tools ask for one",
    isLimit: true,
  }),
  defineSetting({
    name: "maxIntrospectionLists",
    environment: ["MAX_INTROSPECTION_LISTS"],
    kind: wholeNumber(1),
    default: 20,
    description:
      "`__type`, `types` and the lists of fields in the introspection of an operation, each of which takes as long as the schema is large; tools ask for five",
    isLimit: true,
  }),
  defineSetting({
    name: "maxVariablesBytes",
    environment: ["MAX_VARIABLES_BYTES"],
    kind: wholeNumber(1),
    default: 16 * 1024 * 1024,
    description: "bytes of a GraphQL request beside its documents",
    isLimit: true,
  }),
  defineSetting({
    name: "maxListItems",
    environment: ["MAX_LIST_ITEMS"],
    kind: wholeNumber(1),
    default: 100_000,
    description: "items of one list of values (`_in`) in GraphQL",
    isLimit: true,
  }),
  defineSetting({
    name: "maxInsertValues",
    environment: ["MAX_INSERT_VALUES"],
    kind: wholeNumber(1),
    default: 200_000,
    description:
      "objects and their fields in the inserts of one GraphQL operation; a hundred thousand take about a second",
    isLimit: true,
  }),
  defineSetting({
    name: "maxWriteStatements",
    environment: ["MAX_WRITE_STATEMENTS"],
    kind: wholeNumber(1),
    default: 10_000,
    description:
      "statements in which one GraphQL operation inserts, updates and deletes; nested inserts have one for each object with nested data and for each list without; a thousand take about half a second",
    isLimit: true,
  }),
  defineSetting({
    name: "maxBatchEntries",
    environment: ["MAX_BATCH_ENTRIES"],
    kind: wholeNumber(1),
    default: 100,
    description: "requests of one GraphQL batch",
    isLimit: true,
  }),
  defineSetting({
    name: "maxBatchBytes",
    environment: ["MAX_BATCH_BYTES"],
    kind: wholeNumber(1),
    default: 64 * 1024 * 1024,
    description: "bytes of the answers of one batch; entries that come after are answered with an error and not run",
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
  interface Limits extends ValuesOf<typeof graphqlLimits> {}
}
