/** Options of a preset: the settings of docs/reference/settings.md in camelCase. */
import type { Duplex } from "node:stream";

/** From which level on messages are logged. */
export type LogLevel = "silent" | "error" | "warn" | "info" | "debug";

/** Where log lines go. The second argument holds structured fields. */
export interface Logger {
  error(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  debug(message: string, facts?: Readonly<Record<string, unknown>>): void;
  /** The request log (R-ADM-3): one line, as it is. */
  access(line: string, status: number): void;
}

/** A database that is reached through streams instead of a connection string (the embedded one). */
export interface DatabaseSource {
  readonly stream: () => Duplex;
  readonly ready?: Promise<void>;
  close?(): Promise<void>;
}

/** Key configuration of tokens: a plain secret, a JWK or JWKS (object or text), or the object of the settings page; a
 *  list of them. */
export type JwtSecret = string | Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];

/** Options of a preset. Described in docs/reference/settings.md under the names of their environment variables. */
export interface RelApiOptions {
  readonly databaseUrl?: string;
  readonly database?: DatabaseSource;
  readonly compatMode?: boolean;
  /** Path of the REST root, without a slash at its end. */
  readonly restPath?: string;
  readonly dbSchemas?: readonly string[];
  readonly dbExtraSearchPath?: readonly string[];
  readonly anonRole?: string;
  readonly jwtSecret?: JwtSecret;
  readonly jwtSecretIsBase64?: boolean;
  readonly jwtAud?: string;
  readonly jwtRoleClaimKey?: string;
  readonly jwtCacheMaxEntries?: number;
  /** Tokens without `exp` are refused */
  readonly jwtRequireExp?: boolean;
  readonly adminSecret?: string;
  readonly adminSecrets?: readonly string[];
  readonly adminRoleInTokens?: boolean;
  /** Metadata folder, file, or the metadata object itself. */
  readonly metadata?: string | Readonly<Record<string, unknown>>;
  /** REST follows the permissions of the metadata as well. */
  readonly metadataPermissionsForRest?: boolean;
  readonly dbPool?: number;
  /** seconds */
  readonly dbPoolAcquisitionTimeout?: number;
  /** seconds */
  readonly dbPoolMaxLifetime?: number;
  /** seconds */
  readonly dbPoolMaxIdletime?: number;
  readonly dbPreparedStatements?: boolean;
  /** Per connection; those unused for longest go. */
  readonly dbMaxPreparedStatements?: number;
  /** bytes of their SQL, per connection */
  readonly dbMaxPreparedBytes?: number;
  readonly dbMaxRows?: number;
  readonly dbPreRequest?: string;
  readonly dbTxEnd?: "commit" | "commit-allow-override" | "rollback" | "rollback-allow-override";
  readonly dbAggregatesEnabled?: boolean;
  readonly dbPlanEnabled?: boolean;
  readonly dbChannel?: string;
  readonly dbChannelEnabled?: boolean;
  readonly dbHoistedTxSettings?: readonly string[];
  readonly dbRootSpec?: string;
  readonly dbConfig?: boolean;
  readonly dbPreConfig?: string;
  readonly databaseReplicaUrls?: readonly string[];
  /** milliseconds */
  readonly liveQueryInterval?: number;
  readonly liveQueryBatchSize?: number;
  /** WebSockets open at a time; further ones are refused with 503 */
  readonly maxSockets?: number;
  /** Operations running at a time on one WebSocket */
  readonly maxSocketOperations?: number;
  /** bytes that live queries keep, all together and estimated; a further one is refused */
  readonly maxLiveQueryBytes?: number;
  /** bytes; a larger message ends its WebSocket with 1009 */
  readonly maxSocketMessageBytes?: number;
  readonly openapiMode?: "follow-privileges" | "ignore-privileges" | "disabled";
  readonly openapiSecurityActive?: boolean;
  readonly openapiServerProxyUri?: string;
  readonly corsAllowedOrigins?: readonly string[];
  readonly logLevel?: LogLevel;
  readonly logQuery?: boolean;
  readonly logger?: Logger;
  readonly appSettings?: Readonly<Record<string, string>>;
  /** Settings that plugins of the preset declare, by name. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly clientErrorVerbosity?: "verbose" | "minimal";
  readonly serverTimingEnabled?: boolean;
  readonly serverTraceHeader?: string;
  readonly urlUseLegacyTargetNames?: boolean;
  readonly stringifyNumericTypes?: boolean;
  readonly v1BooleanNullCollapse?: boolean;
  readonly disablePostgresArrays?: boolean;
  /** A nullable variable without a value or default is omitted where it is used, instead of counting as null. */
  readonly noNullUnboundVariableDefault?: boolean;
  /** Object relationships are nullable wherever the related row may be hidden from the role. */
  readonly nullableRelationships?: boolean;
  /** Where the metadata has none. */
  readonly defaultNamingConvention?: "hasura-default" | "graphql-default";
  readonly inferFunctionPermissions?: boolean;
  /** bytes; a larger request body is refused with 413, compressed ones by what they unpack to */
  readonly maxBodyBytes?: number;
  /** bytes of request bodies that are not answered yet, all together; a body beyond it is refused with 413 */
  readonly maxPendingBodyBytes?: number;
  /** Nesting of arrays and objects: in a body, the variables of an operation, the claims of a token */
  readonly maxJsonDepth?: number;
  /** Columns that one REST body or `columns` names */
  readonly maxColumns?: number;
  /** Parameters of one URL */
  readonly maxParameters?: number;
  /** Fields of one REST `select`, including those of its embeds */
  readonly maxSelectFields?: number;
  /** Embeds of one REST `select` */
  readonly maxEmbeds?: number;
  /** Nesting of relationships: embeds, conditions of a GraphQL `where` */
  readonly maxRelationDepth?: number;
  /** Conditions of one request: those of a URL, in logic trees too; comparisons and boolean expressions of a GraphQL
   *  operation */
  readonly maxFilters?: number;
  /** Nesting of logic trees */
  readonly maxLogicDepth?: number;
  /** Terms of one `order` or `order_by` */
  readonly maxOrderTerms?: number;
  /** bytes of a GraphQL document */
  readonly maxDocumentBytes?: number;
  /** Nesting of selection sets, with fragments expanded */
  readonly maxDocumentDepth?: number;
  /** Fields of an operation, fragments put in place */
  readonly maxDocumentFields?: number;
  /** Fields of an operation that have an alias, fragments put in place */
  readonly maxAliases?: number;
  readonly maxRootFields?: number;
  /** Relationships in the conditions of an operation */
  readonly maxRelatedConditions?: number;
  /** Nesting of lists of fields in introspection */
  readonly maxIntrospectionDepth?: number;
  /** bytes of a request beside its document */
  readonly maxVariablesBytes?: number;
  /** Items of one list of values (`_in`) */
  readonly maxListItems?: number;
  /** Objects and their fields in the inserts of one GraphQL operation */
  readonly maxInsertValues?: number;
  /** Requests of one batch */
  readonly maxBatchEntries?: number;
  /** bytes of the responses of one batch; further entries are refused */
  readonly maxBatchBytes?: number;
  /** bytes of cached plans, statements, documents and so on; 0 disables caching */
  readonly cacheBytes?: number;
  /** bytes; a larger database result is refused before it is read */
  readonly maxResultBytes?: number;
  /** bytes written to clients that have not read them; beyond it, the connections that have been stalled longest are
   *  closed */
  readonly maxUnreadBytes?: number;
  /** seconds after which a connection that reads nothing of its response is closed */
  readonly unreadTimeout?: number;
  /** seconds for headers, and for a body that comes in slower than 8 KiB a second */
  readonly requestTimeout?: number;
}

/** Defaults; they are not repeated anywhere else. */
export const DEFAULTS = {
  compatMode: false,
  restPath: "/api",
  dbSchemas: ["public"],
  dbExtraSearchPath: ["public"],
  jwtSecretIsBase64: false,
  jwtRoleClaimKey: ".role",
  jwtCacheMaxEntries: 1000,
  adminRoleInTokens: false,
  metadataPermissionsForRest: false,
  dbPool: 10,
  dbPoolAcquisitionTimeout: 10,
  dbPoolMaxLifetime: 1800,
  dbPoolMaxIdletime: 30,
  dbPreparedStatements: true,
  dbMaxPreparedStatements: 250,
  dbMaxPreparedBytes: 1024 * 1024,
  dbTxEnd: "commit",
  dbAggregatesEnabled: false,
  dbPlanEnabled: false,
  dbChannel: "pgrst",
  dbChannelEnabled: true,
  dbHoistedTxSettings: ["statement_timeout", "plan_filter.statement_cost_limit", "default_transaction_isolation"],
  dbConfig: true,
  databaseReplicaUrls: [],
  liveQueryInterval: 1000,
  liveQueryBatchSize: 100,
  maxSockets: 100_000,
  maxSocketOperations: 1000,
  maxLiveQueryBytes: 512 * 1024 * 1024,
  maxSocketMessageBytes: 4 * 1024 * 1024,
  openapiMode: "follow-privileges",
  openapiSecurityActive: false,
  corsAllowedOrigins: ["*"],
  logLevel: "info",
  logQuery: false,
  appSettings: {},
  clientErrorVerbosity: "verbose",
  serverTimingEnabled: false,
  urlUseLegacyTargetNames: true,
  stringifyNumericTypes: false,
  v1BooleanNullCollapse: false,
  disablePostgresArrays: false,
  noNullUnboundVariableDefault: false,
  nullableRelationships: false,
  defaultNamingConvention: "hasura-default",
  inferFunctionPermissions: true,
  jwtRequireExp: false,
  maxJsonDepth: 500,
  maxColumns: 1600,
  maxParameters: 2000,
  maxSelectFields: 1600,
  maxEmbeds: 50,
  maxRelationDepth: 20,
  maxFilters: 10_000,
  maxLogicDepth: 100,
  maxOrderTerms: 200,
  maxDocumentBytes: 512 * 1024,
  maxDocumentDepth: 50,
  maxDocumentFields: 20_000,
  maxAliases: 1600,
  maxRootFields: 1000,
  maxRelatedConditions: 200,
  maxIntrospectionDepth: 2,
  maxVariablesBytes: 16 * 1024 * 1024,
  maxListItems: 100_000,
  maxInsertValues: 200_000,
  maxBatchEntries: 100,
  maxBatchBytes: 64 * 1024 * 1024,
  cacheBytes: 64 * 1024 * 1024,
  maxBodyBytes: 32 * 1024 * 1024,
  maxPendingBodyBytes: 128 * 1024 * 1024,
  maxResultBytes: 128 * 1024 * 1024,
  maxUnreadBytes: 128 * 1024 * 1024,
  unreadTimeout: 30,
  requestTimeout: 30,
} as const satisfies RelApiOptions;

/** Options with every default filled in. */
export type ResolvedOptions = RelApiOptions & Required<Pick<RelApiOptions, keyof typeof DEFAULTS>>;

/** The options with all defaults filled in. */
export const resolveOptions = (options: RelApiOptions): ResolvedOptions => {
  const given = Object.fromEntries(Object.entries(options).filter(([, option]) => option !== undefined));
  return { ...DEFAULTS, ...given } as ResolvedOptions; // an absent key is the same as undefined, which a spread would keep
};
