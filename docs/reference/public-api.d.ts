// relapi
export {
  /** @experimental */ AclItem,
  /** @experimental */ AddedStep,
  /** @experimental */ AddedSurface,
  AggregateSpec,
  Answer,
  AnyServer,
  ApiAnswer,
  ApiCall,
  ApiMethods,
  AppLogger,
  ApplyOperand,
  ArrayItem,
  /** @experimental */ ArrivingTransaction,
  Ask,
  Assignment,
  /** @experimental */ BoundValue,
  BuiltIn,
  /** @experimental */ Bundle,
  /** @experimental */ BundleField,
  Cache,
  /** @experimental */ CacheEntry,
  /** @experimental */ CacheLimits,
  CacheManager,
  CacheQuestion,
  CacheSpec,
  Call,
  CallError,
  CallOptions,
  Caller,
  /** @experimental */ CallerSettings,
  Cardinality,
  Cell,
  /** @experimental */ ClaimsReading,
  Column,
  ColumnPair,
  Comparison,
  ConflictTarget,
  /** @experimental */ Connection,
  /** @experimental */ Counters,
  /** @experimental */ CredentialRules,
  Credentials,
  DatabaseSource,
  Delete,
  Embed,
  EmbedColumn,
  EmbedContext,
  EmbedSource,
  EmbedSpec,
  EmbedSql,
  /** @experimental */ EndedTransaction,
  /** @experimental */ Envelope,
  Environment,
  /** @experimental */ EnvironmentValues,
  Exchange,
  /** @experimental */ ExchangeSlot,
  Execution,
  Expression,
  FieldContext,
  FieldHook,
  FieldMap,
  FieldsFirstLogger,
  FilterContext,
  ForeignKey,
  GraphqlCall,
  GraphqlResult,
  Headers,
  /** @experimental */ HealthProblems,
  Insert,
  IntrospectContext,
  Json,
  /** @experimental */ JsonList,
  JsonObject,
  Limit,
  LogLevel,
  Logger,
  /** @experimental */ LongRow,
  /** @experimental */ LongRows,
  MediaContext,
  /** @experimental */ MediaHandler,
  MediaPage,
  Model,
  OnConflict,
  OpenExchange,
  Operand,
  OperandKind,
  Operation,
  OperatorSpec,
  /** @experimental */ OptionSource,
  OrderBy,
  OrderingSpec,
  /** @experimental */ OriginPolicy,
  Output,
  PathKey,
  /** @experimental */ PayloadColumn,
  PgType,
  Plan,
  PlanContext,
  PlanFunction,
  /** @experimental */ PlanPath,
  /** @experimental */ PlanProof,
  /** @experimental */ PlanScope,
  /** @experimental */ PlanSource,
  PlanTap,
  /** @experimental */ PlanWithEnvelope,
  Plugin,
  PluginContext,
  Predicate,
  PreferenceSpec,
  Preset,
  PresetPart,
  /** @experimental */ Privilege,
  /** @experimental */ Program,
  /** @experimental */ ProgramStatement,
  QualifiedName,
  Read,
  ReadFrom,
  /** @experimental */ Registry,
  /** @experimental */ Rejection,
  RelApi,
  RelApiError,
  RelApiErrorFields,
  RelApiHooks,
  RelApiOptions,
  Relation,
  RelationKind,
  Relationship,
  /** @experimental */ ReplicationConnection,
  /** @experimental */ Representation,
  RequestLimits,
  RequestRecord,
  /** @experimental */ RequestSettings,
  RequestStep,
  ResolvedOptions,
  RestCall,
  /** @experimental */ ResultColumnSpec,
  ResultRow,
  Role,
  Route,
  RouteContext,
  RouteHandler,
  RouteTarget,
  Routine,
  RoutineArgument,
  RoutineCall,
  RoutineParameter,
  RowKeys,
  /** @experimental */ RowReader,
  RowRule,
  /** @experimental */ RowSource,
  /** @experimental */ RowSourceSpec,
  /** @experimental */ ScriptOptions,
  /** @experimental */ ScriptResult,
  /** @experimental */ SentValue,
  /** @experimental */ Sequence,
  /** @experimental */ SequenceStep,
  ServiceToken,
  Session,
  /** @experimental */ SessionSource,
  /** @experimental */ SessionSpec,
  Setting,
  SettingKind,
  /** @experimental */ SettingsSource,
  Signal,
  /** @experimental */ Slices,
  /** @experimental */ Slot,
  Sql,
  Stage,
  /** @experimental */ Statement,
  StatementSpec,
  /** @experimental */ StepRequirement,
  Surface,
  /** @experimental */ TableOperation,
  /** @experimental */ TextRow,
  Token,
  /** @experimental */ TokenFailure,
  /** @experimental */ TokenRoles,
  /** @experimental */ TokenRules,
  /** @experimental */ TransactionSender,
  TypeKind,
  UniqueKey,
  Update,
  UpdateOperatorSpec,
  VERSION,
  ValueOf,
  ValueRef,
  ValuesOf,
  /** @experimental */ VerifiedToken,
  /** @experimental */ Visibility,
  Volatility,
  /** @experimental */ WireResult,
  /** @experimental */ WireRow,
  /** @experimental */ WireStatement,
  /** @experimental */ WrapperSpec,
  WriteRows,
  adaptFieldsFirstLogger,
  bindValue,
  /** @experimental */ bodyTooLarge,
  buildColumnComparison,
  /** @experimental */ buildErrorFields,
  buildJsonAnswer,
  buildNameKey,
  buildSettingRows,
  /** @experimental */ buildSuggestion,
  /** @experimental */ compileSql,
  compose,
  /** @experimental */ createOriginPolicyGetter,
  decodeUtf8Header,
  defineCacheQuestion,
  defineHook,
  definePlugin,
  defineService,
  defineSetting,
  defineSignal,
  /** @experimental */ encodeArrayLiteral,
  /** @experimental */ exceedsJsonDepth,
  /** @experimental */ explainProgram,
  findBaseType,
  /** @experimental */ findClosestNames,
  findColumn,
  findRelation,
  findRoutines,
  /** @experimental */ getBoundValue,
  /** @experimental */ getNumberText,
  /** @experimental */ getQualifiedName,
  /** @experimental */ getVisibility,
  importPackage,
  inlineInteger,
  isJsonObject,
  joinSql,
  limitExceeded,
  mapPlan,
  /** @experimental */ matchesType,
  /** @experimental */ memoize,
  optionsFromEnvironment,
  parseJson,
  presetError,
  quoteIdentifier,
  quoteLiteral,
  relApi,
  requestEndedSignal,
  requireService,
  restrictRows,
  sessionVariableMissing,
  settingKinds,
  sql,
  tokenRejected,
  /** @experimental */ transactionEndedSignal,
  trustedSql,
  /** @experimental */ urlTooLong,
  visitPlan,
  without,
  writeJson,
};

// relapi/presets
export {
  GraphqlCall,
  GraphqlResult,
  JwtSecret,
  PresetOptions,
  RestCall,
  Upgrade,
  answerClientError,
  fullCompat,
  gqlCompat,
  knownOptions,
  knownPlugins,
  minimal,
  plus,
  restCompat,
};

// relapi/presets/full-compat
export {
  fullCompat,
};

// relapi/presets/gql-compat
export {
  gqlCompat,
};

// relapi/presets/minimal
export {
  minimal,
};

// relapi/presets/plus
export {
  plus,
};

// relapi/presets/rest-compat
export {
  restCompat,
};

// relapi/plugins/auth
export {
  adminSecret,
  anonymous,
  hasuraSession,
  jwtTokens,
  requestSettings,
  sessionSettings,
};

// relapi/plugins/auth/api
export {
  /** @experimental */ AcceptedCredentials,
  /** @experimental */ ClaimsReading,
  /** @experimental */ RoleSettings,
  /** @experimental */ SessionClaims,
  /** @experimental */ TokenFailure,
  /** @experimental */ TokenRoles,
  /** @experimental */ TokenRules,
  /** @experimental */ VerifiedToken,
  /** @experimental */ acceptedCredentialsService,
  credentialsChangedSignal,
};

// relapi/plugins/cluster
export {
  bus,
  natsBus,
  notifyBus,
  readYourWrites,
  redisBus,
  redisLimits,
};

// relapi/plugins/cluster/api
export {
  /** @experimental */ Bus,
  BusHandlers,
  BusTransport,
  /** @experimental */ busService,
  openBusHook,
};

// relapi/plugins/database
export {
  EmbeddedDatabase,
  EmbeddedOptions,
  catalogIntrospection,
  computedRelationships,
  connector,
  databaseSettings,
  embedded,
  relationships,
  reloadAll,
  reloadChannel,
  reloadPoll,
};

// relapi/plugins/database/api
export {
  /** @experimental */ ADDITIONAL_OBJECTS,
  /** @experimental */ reloadOthersService,
};

// relapi/plugins/graphql
export {
  aggregatePredicates,
  graphql,
  graphqlAggregates,
  graphqlCasts,
  graphqlComparisons,
  graphqlComputedFields,
  graphqlDeletes,
  graphqlFunctions,
  graphqlGet,
  graphqlHints,
  graphqlInserts,
  graphqlIntrospection,
  graphqlQueries,
  graphqlRelationships,
  graphqlUpdates,
  persistedQueries,
  restEndpoints,
  trustedDocuments,
};

// relapi/plugins/graphql/api
export {
  /** @experimental */ GQL_METADATA,
  /** @experimental */ GqlArgumentName,
  /** @experimental */ GqlBuild,
  /** @experimental */ GqlCall,
  /** @experimental */ GqlCallContext,
  /** @experimental */ GqlCatalog,
  /** @experimental */ GqlColumn,
  /** @experimental */ GqlComputedEntry,
  /** @experimental */ GqlComputedField,
  /** @experimental */ GqlCustomization,
  /** @experimental */ GqlDelegate,
  /** @experimental */ GqlDelegatedField,
  GqlDirective,
  GqlEngine,
  /** @experimental */ GqlEnumSpec,
  /** @experimental */ GqlEnumTable,
  /** @experimental */ GqlEvents,
  GqlField,
  GqlFieldContext,
  /** @experimental */ GqlFieldImplementation,
  GqlFields,
  /** @experimental */ GqlFollowUp,
  /** @experimental */ GqlForward,
  /** @experimental */ GqlForwardRequest,
  /** @experimental */ GqlFunction,
  /** @experimental */ GqlFunctionEntry,
  /** @experimental */ GqlFunctionRequest,
  /** @experimental */ GqlHints,
  /** @experimental */ GqlInput,
  /** @experimental */ GqlInputField,
  /** @experimental */ GqlJoin,
  /** @experimental */ GqlJoinedField,
  /** @experimental */ GqlJoinedRead,
  /** @experimental */ GqlLiveCall,
  /** @experimental */ GqlLiveExample,
  /** @experimental */ GqlLiveField,
  /** @experimental */ GqlLoad,
  /** @experimental */ GqlLoadTree,
  /** @experimental */ GqlLoadedRow,
  /** @experimental */ GqlLoads,
  /** @experimental */ GqlLongBody,
  /** @experimental */ GqlMetadata,
  /** @experimental */ GqlNameBuilder,
  /** @experimental */ GqlNamePart,
  /** @experimental */ GqlOperation,
  /** @experimental */ GqlOutput,
  /** @experimental */ GqlOwnSelected,
  GqlPart,
  /** @experimental */ GqlRelationshipField,
  /** @experimental */ GqlRequest,
  /** @experimental */ GqlRequestOptions,
  /** @experimental */ GqlRoleAccess,
  /** @experimental */ GqlRootFieldEntry,
  /** @experimental */ GqlRootFieldName,
  /** @experimental */ GqlRootKind,
  /** @experimental */ GqlRootName,
  /** @experimental */ GqlRowsField,
  /** @experimental */ GqlRunOptions,
  GqlScope,
  /** @experimental */ GqlSelected,
  /** @experimental */ GqlSelection,
  /** @experimental */ GqlSelectionContext,
  /** @experimental */ GqlSender,
  /** @experimental */ GqlStep,
  /** @experimental */ GqlTable,
  /** @experimental */ GqlTableEntry,
  /** @experimental */ GqlTableRights,
  /** @experimental */ GqlTypeExtension,
  /** @experimental */ GqlTypeSpec,
  /** @experimental */ GqlUpdateAdditions,
  /** @experimental */ GqlValueType,
  /** @experimental */ GqlVariant,
  /** @experimental */ GqlWriting,
  GraphqlCall,
  GraphqlResult,
  /** @experimental */ PackedBody,
  /** @experimental */ RoleSchema,
  /** @experimental */ TextParts,
  /** @experimental */ ValidatedDocument,
  checkGqlDocumentHook,
  findGqlDocumentHook,
  gqlDirectivesHook,
  /** @experimental */ graphqlHintsService,
  graphqlService,
};

// relapi/plugins/limits
export {
  anonymousTimeout,
  apiLimits,
  costLimits,
  rateLimits,
  rowLimits,
  safeWrites,
  workerLimits,
};

// relapi/plugins/limits/api
export {
  /** @experimental */ ApiLimits,
  /** @experimental */ CostLimits,
  /** @experimental */ SharedTokenBuckets,
  /** @experimental */ TokenBuckets,
  /** @experimental */ apiLimitsService,
  /** @experimental */ costLimitsService,
  /** @experimental */ redisBucketsService,
  /** @experimental */ workerBucketsService,
};

// relapi/plugins/live
export {
  legacyWebsocket,
  liveDirective,
  livePatches,
  liveQueries,
  liveTriggers,
  multipart,
  notifyChanges,
  pollChanges,
  replicationChanges,
  sse,
  upgrades,
  websocketTransport,
};

// relapi/plugins/live/api
export {
  /** @experimental */ ChangeFeed,
  /** @experimental */ ChangeFeedHandlers,
  /** @experimental */ ChangedKeys,
  ChangedRows,
  /** @experimental */ CohortCounts,
  Interest,
  /** @experimental */ LiveEvents,
  /** @experimental */ LiveMessage,
  /** @experimental */ LivePatcher,
  LiveQueries,
  /** @experimental */ LiveQuery,
  LiveResult,
  /** @experimental */ LiveRun,
  LiveSource,
  /** @experimental */ OpenChangeFeed,
  /** @experimental */ PlanFigures,
  ReportChange,
  ReportedCell,
  RowChange,
  Subscriber,
  TableChanges,
  Unwatch,
  Upgrade,
  UpgradeTap,
  changeFeedService,
  eventStreamsService,
  /** @experimental */ livePatchesService,
  liveQueriesService,
  /** @experimental */ liveRunEndedSignal,
  takeUpgradeHook,
  watchChangesHook,
};

// relapi/plugins/metadata
export {
  metadata,
  metadataLoader,
  metadataPermissions,
};

// relapi/plugins/metadata/api
export {
  /** @experimental */ METADATA_PROBLEMS,
  /** @experimental */ MetadataActions,
  /** @experimental */ MetadataCronTriggers,
  /** @experimental */ MetadataEndpoint,
  /** @experimental */ MetadataEventTrigger,
  /** @experimental */ MetadataFacts,
  /** @experimental */ MetadataLimits,
  /** @experimental */ MetadataNative,
  /** @experimental */ MetadataObject,
  /** @experimental */ MetadataProblem,
  /** @experimental */ MetadataProposal,
  /** @experimental */ MetadataQueries,
  /** @experimental */ MetadataRemoteRelationship,
  /** @experimental */ MetadataRemoteSchemas,
  /** @experimental */ MetadataSource,
  /** @experimental */ ReportMetadataProblem,
  /** @experimental */ copyProblems,
  /** @experimental */ createProblemReport,
  /** @experimental */ getMetadataFacts,
  /** @experimental */ metadataSourceService,
  /** @experimental */ readListOrEmpty,
  /** @experimental */ readObjectOrEmpty,
  /** @experimental */ readText,
};

// relapi/plugins/operations
export {
  AdminServerOptions,
  accessLog,
  adminServer,
  cors,
  metrics,
  requestIds,
  slowQueries,
  structuredLog,
  traceHeader,
  tracing,
};

// relapi/plugins/operations/api
export {
  Metrics,
  TraceIds,
  Tracing,
  metricsService,
  tracingService,
};

// relapi/plugins/operators
export {
  aggregateEmbeds,
  aggregateFunctions,
  arrayRangeOperators,
  comparisonOperators,
  documentOperators,
  fullTextOperators,
  geoOperators,
  incOperator,
  jsonOperators,
  ltreeOperators,
  nestEmbeds,
  setOperator,
  spreadEmbeds,
  textOperators,
};

// relapi/plugins/pages
export {
  frontPage,
  openapiPage,
  playground,
};

// relapi/plugins/pages/api
export {
  /** @experimental */ playgroundService,
};

// relapi/plugins/plus
export {
  configApi,
  cursorConnections,
  cursorPages,
  graphqlConnections,
  graphqlExplain,
  graphqlGroupBy,
  /** @experimental */ mcp,
  metadataApi,
  nativeQueries,
  ndjson,
  nearest,
  /** @experimental */ nestedWrites,
  relay,
  /** @experimental */ restBatch,
  restHaving,
  /** @experimental */ rowHistory,
  runSql,
  softDelete,
  /** @experimental */ whyEmpty,
};

// relapi/plugins/rest
export {
  csvBodies,
  csvMedia,
  customMedia,
  etag,
  explainMedia,
  geojsonMedia,
  jsonMedia,
  openapi,
  openapi3,
  raisedErrors,
  responseSettings,
  rest,
  restHints,
  restLive,
  restOptions,
  restRpc,
  restSuggestions,
  restWrites,
  singularMedia,
  strippedMedia,
};

// relapi/plugins/rest/api
export {
  BodyReader,
  BodyRows,
  ChosenMedia,
  JsonBody,
  MediaNegotiation,
  MediaType,
  /** @experimental */ NameSuggestion,
  /** @experimental */ NameSuggestions,
  OpenapiAdditions,
  Payload,
  RaisedError,
  ReadParameter,
  RestCall,
  /** @experimental */ RestExample,
  /** @experimental */ RestGuide,
  RestHandler,
  /** @experimental */ RestHints,
  /** @experimental */ RestLive,
  /** @experimental */ RestLiveExample,
  RestPreferences,
  /** @experimental */ RestRelation,
  RestRoute,
  RestRouteContext,
  RestTarget,
  chooseMediaHook,
  describeAdditionsHook,
  exposeRestHeadersHook,
  /** @experimental */ findRestItemEnd,
  finishAnswerHook,
  /** @experimental */ nameSuggestionsService,
  /** @experimental */ openapiPageService,
  /** @experimental */ openapiService,
  /** @experimental */ quoteRestValue,
  readBodyHook,
  readParametersHook,
  readRaisedHook,
  receiveBodyHook,
  /** @experimental */ restGuideService,
  /** @experimental */ restHintsService,
  /** @experimental */ restLiveService,
  restPreferencesService,
  /** @experimental */ unquoteRestValue,
};

// relapi/plugins/services
export {
  Action,
  ActionArguments,
  ActionRequest,
  AsynchronousAction,
  AsynchronousActionRequest,
  /** @experimental */ EventHandler,
  /** @experimental */ EventHandlerOptions,
  InputSchema,
  RemoteSchema,
  /** @experimental */ RowEvent,
  /** @experimental */ ScheduleHandler,
  /** @experimental */ ScheduleOptions,
  /** @experimental */ ScheduledRun,
  SynchronousAction,
  /** @experimental */ TableEventHandlers,
  actions,
  authHook,
  /** @experimental */ eventHandlers,
  events,
  jobQueue,
  metadataActions,
  remoteSchemaFields,
  remoteSchemas,
  scheduledEvents,
  /** @experimental */ schedules,
  webhooks,
};

// relapi/plugins/services/api
export {
  /** @experimental */ CountedList,
  /** @experimental */ EventCounts,
  /** @experimental */ EventInstallation,
  /** @experimental */ EventsService,
  /** @experimental */ ListWindow,
  /** @experimental */ LoggedAttempt,
  /** @experimental */ LoggedEvent,
  /** @experimental */ LoggedScheduledEvent,
  /** @experimental */ RemoteSchemaControl,
  /** @experimental */ ScheduledEventFilter,
  /** @experimental */ ScheduledEventStatus,
  /** @experimental */ ScheduledEventsService,
  /** @experimental */ TriggerStatus,
  /** @experimental */ WebhookCall,
  WebhookClient,
  WebhookFailure,
  WebhookPurpose,
  WebhookRequest,
  WebhookResponse,
  WebhookSocket,
  WebhookSocketRequest,
  /** @experimental */ eventsService,
  /** @experimental */ remoteSchemaControlService,
  /** @experimental */ scheduledEventsService,
  /** @experimental */ webhookCallEndedSignal,
  webhookService,
};

// relapi/plugins/speed
export {
  coalescedReads,
  columnArrays,
  planProof,
  streamedAnswers,
};

// relapi/plugins/speed/api
export {
  /** @experimental */ ArrivingBody,
  /** @experimental */ BodyFrame,
  /** @experimental */ LongBodyHandler,
  /** @experimental */ StreamedAnswers,
  /** @experimental */ StreamedBody,
  /** @experimental */ ValueReceiver,
  /** @experimental */ streamedAnswersService,
};

// relapi/live-client
export {
  LiveEvent,
  LivePatchError,
  PatchOperation,
  applyPatch,
  createGraphqlPatchApplier,
  createRestPatchApplier,
};

// --- core/database/cleaning.d.ts
export type CleaningKind = "sequences" | "all" | "plans";
export interface Cleaner {
    createFollowingBatch(kind: CleaningKind): FollowingBatch;
    readonly lastCleaning: Promise<boolean> | undefined;
}

// --- core/database/connection.d.ts
export interface Connection {
    readonly prepared: PreparedStatements;
    backend: Backend;
    planOwner: PlanOwner | undefined;
    run(plan: WirePlan, cleaning?: CleaningKind, long?: LongRows): Promise<WireResult>;
    readonly cleaner: Pick<Cleaner, "lastCleaning">;
    query<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
    script(text: string): Promise<readonly ScriptResult[]>;
    copyBoth(text: string, take: (bytes: Buffer) => void): Promise<void>;
    sendCopy(bytes: Buffer): void;
    cancel(): Promise<void>;
    onNotification(listener: (channel: string, payload: string) => void): void;
    onEnd(listener: () => void): void;
    readonly isEnded: boolean;
    isAwaitingResponse(): boolean;
    getReceivedBytes(): number;
    readonly processId: number | null;
    readonly hostAndPort: string;
    reopen(timeoutMs: number): Promise<Connection>;
    kill(error: Error): void;
    getServerState(): {
        readonly isStandby: boolean;
        readonly isReadOnly: boolean;
    } | undefined;
    end(): Promise<void>;
}
export interface ScriptResult {
    readonly command: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly (string | null)[])[];
}
export interface ConnectionOptions {
    readonly purpose?: string;
    readonly replicates?: boolean;
    readonly maxResultBytes?: number;
    readonly onRejected?: () => void;
}
export interface DatabaseServer {
    readonly maxCount: number | undefined;
    open(limits: Pick<ConnectionOptions, "maxResultBytes" | "onRejected">): Promise<Connection>;
    isPooled(connection: Connection): Promise<boolean>;
    watch(pool: WatchedPool): () => void;
}
export interface WatchedPool {
    readonly connections: () => Iterable<Connection>;
    readonly onLost: (isUnreachable: boolean) => void;
}

// --- core/database/connector.d.ts
export interface ConnectorParts {
    readonly options: ResolvedOptions;
    readonly logger: Logger;
    readonly isLoaded: () => boolean;
}
export interface Connector {
    readonly primary: DatabaseServer;
    openReplicas(openPool: (replica: DatabaseServer) => Pool): Replicas | undefined;
    listen(channel: string, onMessage: (payload: string) => void, onMissed?: (reason: MissedReason) => void, onFailure?: () => void): () => void;
    waitForListening(): Promise<void>;
    openReplication(isPooled: boolean): Promise<ReplicationConnection>;
    findDatabaseUrl(): Promise<string | undefined>;
    close(): Promise<void>;
}
export interface Replicas {
    readonly firstCheck: Promise<void>;
    choose(position?: string): Pool | undefined;
    start(): void;
}
export type MissedReason = "late" | "lost";
export interface ReplicationConnection {
    command<Row = unknown>(command: Sql): Promise<readonly Row[]>;
    copy(command: Sql, onBytes: (bytes: Buffer) => void): Promise<void>;
    send(bytes: Buffer): void;
    onEnd(listener: () => void): void;
    end(): Promise<void>;
}

// --- core/database/long-row.d.ts
export interface LongRows {
    readonly aboveBytes: number;
    open(statement: number, bytes: number, reader: RowReader): LongRow | undefined;
}
export interface RowReader {
    forwardToPg(bytes: Buffer): void;
    pause(): void;
    resume(): void;
    kill(error: Error): void;
}
export interface LongRow {
    readChunk(chunk: Buffer, at: number): number;
    readonly remainingBytes: number | undefined;
    fail(): void;
}

// --- core/database/pool.d.ts
export interface PoolCounts {
    readonly max: number;
    readonly available: number;
    readonly inUse: number;
    readonly waiting: number;
    readonly timeouts: number;
    readonly rejected: number;
    readonly prepared: number;
    readonly preparedBytes: number;
}
export interface Pool {
    acquire(owner?: PlanOwner): Connection | Promise<Connection>;
    release(connection: Connection, isReusable: boolean): void;
    readonly sharing: Sharing | undefined;
    recheck(connection: Connection): Promise<boolean>;
    renew(): void;
    counts(): PoolCounts;
    readonly isClosed: boolean;
    abandon(): void;
    close(patienceMs: number): Promise<void>;
}

// --- core/database/prepared-statements.d.ts
export declare const UNKNOWN_ROLE: unique symbol;
export type PlanOwner = string | typeof UNKNOWN_ROLE;
export declare class PreparedStatements {
    size: number;
    bytes: number;
    parsedBytes: number;
    readonly uncertain: Set<string>;
    private readonly sizes;
    has(name: string): boolean;
    countParsed(text: string): void;
    use(name: string, text: string): void;
    delete(name: string): void;
    markAllUncertain(): void;
    names(): Iterable<string>;
}

// --- core/database/script.d.ts
export interface ScriptOptions {
    readonly access: "read only" | "read write";
    readonly onDisconnect?: (listener: () => void) => () => void;
}

// --- core/database/sharing.d.ts
export interface Sharing {
    readonly setsJit: boolean;
    readonly hasPlpgsql: boolean;
}
export interface Backend {
    readonly isShared: boolean;
    readonly hasNoJit: boolean;
    readonly sharing: Sharing;
}

// --- core/database/wire.d.ts
export interface WireStatement {
    readonly text: string;
    readonly name: string;
    readonly values: readonly SentValue[];
    readonly isMultiRow?: boolean;
    readonly buildRow?: (count: string) => WireRow;
}
export interface WirePlan {
    readonly statements: readonly WireStatement[];
    readonly parses: readonly boolean[];
    readonly closes: readonly string[];
    readonly described?: {
        readonly before: number;
        readonly names: readonly string[];
    };
}
export type WireRow = readonly (string | null)[];
export type WireResult = {
    readonly rows: readonly (WireRow | undefined)[];
} | {
    readonly error: unknown;
    readonly failedAt: number;
    readonly rows: readonly (WireRow | undefined)[];
};
export declare class FollowingBatch {
    private readonly createPlan;
    private readonly onEnd;
    constructor(createPlan: () => WirePlan, onEnd: (error?: unknown) => void);
    send(): WirePlan;
    submit(): null;
    handleReadyForQuery(): void;
    handleError(error: unknown): void;
    handleDataRow(): void;
    handleCommandComplete(): void;
    handleEmptyQuery(): void;
    handleRowDescription(): void;
}

// --- core/hooks.d.ts
export interface RelApiHooks {
    readonly introspect: AsyncSeriesWaterfallHook<[
        model: Model,
        context: IntrospectContext
    ]>;
    readonly buildRestRoute: SyncWaterfallHook<[
        route: Route,
        context: RouteContext
    ]>;
    readonly buildGqlField: FieldHook;
    readonly compileFilter: HookMap<SyncBailHook<[
        comparison: Comparison,
        context: FilterContext
    ], Sql | undefined, BuiltIn>>;
    readonly authorize: AsyncSeriesBailHook<[
        credentials: Credentials
    ], Session | undefined>;
    readonly transformPlan: SyncWaterfallHook<[
        plan: Plan,
        context: PlanContext
    ], Plan, PlanTap>;
    readonly compileEmbed: HookMap<SyncBailHook<[
        embed: Embed,
        context: EmbedContext
    ], EmbedSql | undefined, BuiltIn>>;
    readonly compileMedia: HookMap<SyncBailHook<[
        context: MediaContext
    ], Sql | undefined, BuiltIn>>;
}
export type FieldMap = Readonly<Record<string, object>>;
export interface FieldContext {
    readonly scope: string;
    readonly typeName: string;
    readonly model: Model;
    readonly role: string;
}
type FieldTap = {
    tap(fields: FieldMap, context: FieldContext): FieldMap;
}["tap"];
export interface FieldHook {
    tap(options: string | {
        readonly name: string;
        readonly stage?: number;
        readonly before?: string;
    }, tap: FieldTap): void;
    call(fields: FieldMap, context: FieldContext): FieldMap;
    readonly taps: readonly {
        readonly name: string;
        readonly fn: object;
    }[];
}
export interface IntrospectContext {
    query<Row>(statement: Sql): Promise<readonly Row[]>;
    queryLater<Row>(statement: Sql): Promise<readonly Row[]>;
    readonly schemas: readonly string[];
    readonly hiddenSchemas: readonly string[];
    readonly extraSearchPath: readonly string[];
    readonly options: ResolvedOptions;
    warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}
export interface FilterContext {
    readonly model: Model;
    readonly column: Sql;
    readonly type: PgType | undefined;
    readonly declared: Column | undefined;
    readonly operand: Sql;
    readonly field: (name: string) => Sql | undefined;
    readonly keyword: string | undefined;
    readonly option: Sql | undefined;
    readonly quantifier: "any" | "all" | undefined;
}
export interface PlanTap {
    readonly keepsRows?: boolean;
}
export interface PlanContext {
    readonly model: Model;
    readonly session: Session;
    readonly surface: string;
    readonly envelope: Envelope;
    readonly options: ResolvedOptions;
}
export interface EmbedContext {
    readonly model: Model;
    readonly parent: Sql;
    alias(): string;
    readonly target: Relation | undefined;
    readonly isToOne: boolean;
    readonly isCertainlyOne: boolean;
    readonly isGrouped: boolean;
    readonly needsJoin: boolean;
    readonly isLimited: boolean;
    rows(read?: Read): Sql;
    storedRows(read?: Read): Sql;
    array(read?: Read): Sql;
    object(read?: Read): Sql;
    aggregate(read?: Read): Sql;
    lateral(rows: Sql, alias: string): Sql;
    expand(outputs: readonly Output[]): readonly Output[];
}
export interface EmbedColumn {
    readonly as: string;
    readonly value: Sql;
    readonly stored?: string;
    readonly isAggregate?: boolean;
}
export interface EmbedSql {
    readonly join?: Sql;
    readonly columns: readonly EmbedColumn[];
    readonly row?: Sql;
    readonly isInnerJoined?: boolean;
}
export interface MediaContext {
    readonly model: Model;
    readonly row: Sql;
    readonly object?: Sql;
    readonly rowAlias: string;
    readonly envelope: Envelope;
    readonly options: Json | undefined;
    readonly returns: "rows" | "row" | "value" | "values";
    readonly outputs: readonly string[];
    readonly areOutputsNamed: boolean;
    readonly relation: Relation | undefined;
    readonly isWholeRow: boolean;
    readonly page?: MediaPage;
}
export interface MediaPage {
    readonly read: Read;
    buildRow(outputs: readonly string[]): Sql;
}

// --- core/http/call.d.ts
export interface ApiMethods {
}
export interface Caller {
    readonly role: string;
    readonly databaseRole?: string;
    readonly isAdmin?: boolean;
    readonly claims?: Session["claims"];
    readonly variables?: Readonly<Record<string, string>>;
}
export interface CallOptions {
    readonly session?: Caller;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
}
export interface ApiCall extends CallOptions {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
    readonly parent?: Exchange;
}
export declare class CallError extends Error {
    readonly status: number;
    readonly statusCode: number;
    readonly code: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    constructor(fields: Pick<CallError, "status" | "code" | "message" | "headers" | "body">);
}
export interface ApiAnswer {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | Uint8Array;
    json<Value = any>(): Value;
}

// --- core/http/exchange.d.ts
export interface Exchange {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly method: string;
    readonly path: string;
    readonly query: string | undefined;
    readonly session: Session;
    readonly credentials: Credentials;
    header(name: string): string | undefined;
    body(): Promise<Buffer>;
    text(): Promise<string | undefined>;
    streamBody(onChunk: (chunk: Buffer) => void): Promise<void>;
    onDisconnect(listener: () => void): () => void;
    endPhase(phase: "jwt" | "parse" | "plan" | "transaction" | "response"): void;
    readonly timings: ReadonlyMap<string, number>;
    readonly exposedHeaders: readonly string[];
    readonly surface: string;
    operation: Operation | undefined;
    errorCode: string | undefined;
    requestId: string | undefined;
    plans: unknown;
    slots: unknown[] | undefined;
    readonly needsBody?: boolean;
    readonly parent?: OpenExchange | undefined;
    readonly prefer?: string;
    isUnlogged: boolean;
}
export interface Operation {
    readonly kind: string;
    readonly name?: string | undefined;
    readonly path?: string;
}
export type OpenExchange = Omit<Exchange, "session"> & {
    readonly session?: Session;
};
export type Headers = readonly (readonly [
    name: string,
    value: string
])[];
export interface Answer {
    readonly status: number;
    readonly statusText?: string;
    readonly headers: Headers;
    readonly body?: string | Uint8Array;
    readonly isSent?: boolean;
    readonly stream?: (response: ServerResponse) => Promise<void> | void;
    readonly streamBytes?: number;
}
export interface RequestRecord {
    readonly request: IncomingMessage;
    readonly exchange?: OpenExchange;
    readonly surface: string;
    readonly operation?: Operation | undefined;
    readonly status: number;
    readonly errorCode?: string | undefined;
    readonly bytes: number;
    readonly durationMs: number;
    readonly session?: Session | undefined;
    readonly planKey?: string | undefined;
}
export interface RequestStep {
    readonly name: string;
    beforeAuthorize?(exchange: OpenExchange): Promise<Answer | undefined> | Answer | undefined;
    afterAuthorize?(exchange: Exchange): Promise<Answer | undefined> | Answer | undefined;
    headers?(exchange: OpenExchange): Headers;
    afterResponse?(exchange: OpenExchange, record: RequestRecord): void;
}
export interface Surface {
    readonly name: string;
    readonly paths?: () => readonly string[];
    readonly methods?: readonly string[];
    match?(path: string, method: string, request: IncomingMessage): boolean;
    beforeAuthorize?(exchange: Omit<Exchange, "session">): Promise<Answer | undefined> | Answer | undefined;
    handle(exchange: Exchange): Promise<Answer> | Answer;
    encodeError(error: RelApiError, exchange: OpenExchange): Answer;
    readonly credentialRules?: CredentialRules;
    readonly isPage?: boolean;
    readonly isFallback?: boolean;
    readonly exposedHeaders?: readonly string[];
}
export interface AddedSurface extends Surface {
    readonly plugin: string;
}
export interface AddedStep {
    readonly plugin: string;
    readonly step: RequestStep;
}

// --- core/http/origins.d.ts
export interface OriginPolicy {
    readonly isOpen: boolean;
    allows(origin: string): boolean;
}
export declare const createOriginPolicyGetter: (getAllowedOrigins: () => readonly string[]) => (() => OriginPolicy);

// --- core/http/pipeline.d.ts
export type HttpRequest = IncomingMessage & {
    readonly originalUrl?: string;
};
export type Next = (error?: unknown) => void;

// --- core/http/request-headers.d.ts
export declare const decodeUtf8Header: (headerValue: string) => string;

// --- core/http/respond.d.ts
export declare const buildJsonAnswer: (status: number, body: string, furtherHeaders?: Headers) => Answer;

// --- core/http/servers.d.ts
export type AnyServer = Server | HttpsServer;

// --- core/http/unread-tracker.d.ts
export type ClientStream = OutgoingMessage | Duplex;

// --- core/kernel/cache.d.ts
export interface CacheQuestion<Source, Answer> {
    readonly name: string;
    readonly read: (source: Source) => Answer;
    readonly key?: ((answer: Answer) => unknown) | undefined;
}
export declare const defineCacheQuestion: <Source, Answer>(name: string, read: (source: Source) => Answer, key?: (answer: Answer) => unknown) => CacheQuestion<Source, Answer>;
export type Ask<Source> = <Answer>(question: CacheQuestion<Source, Answer>) => Answer;
export interface CacheEntry<Value> {
    readonly value: Value;
    commit(): void;
}
export interface Cache<Source, Value> {
    get(source: Source): CacheEntry<Value>;
    peek(source: Source): CacheEntry<Value> | undefined;
    getAndCommit(source: Source): Value;
    derive(ask: Ask<Source>): CacheEntry<Value>;
}
export interface CacheSpec<Source, Value> {
    readonly name: string;
    readonly make: (ask: Ask<Source>) => Value;
    readonly estimateBytes: (value: Value) => number;
}
export interface CacheManager {
    create<Source, Value>(spec: CacheSpec<Source, Value>): Cache<Source, Value>;
    clear(): void;
}
export interface CacheLimits {
    maxBytes(): number;
    maxEntries?(): number;
}

// --- core/kernel/counters.d.ts
export interface Counters {
    add(name: string, increment?: number): void;
    set(name: string, to: number): void;
    watch(name: string, read: () => number): void;
    get(name: string): number;
}

// --- core/kernel/did-you-mean.d.ts
export declare const findClosestNames: (name: string, candidates: Iterable<string>, maxChanges?: number) => readonly string[];
export declare const buildSuggestion: (name: string, candidates: Iterable<string>) => string;

// --- core/kernel/errors.d.ts
export interface RelApiErrorFields {
    readonly code: string;
    readonly status: number;
    readonly message: string;
    readonly details?: Json;
    readonly hint?: string | null;
    readonly path?: string;
    readonly headers?: readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly statusText?: string;
    readonly cause?: unknown;
    readonly facts?: Readonly<Record<string, Json>>;
}
export declare class RelApiError extends Error {
    readonly code: string;
    readonly status: number;
    readonly details: Json;
    readonly hint: string | null;
    readonly path: string | undefined;
    readonly headers: readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly statusText: string | undefined;
    readonly facts: Readonly<Record<string, Json>>;
    isCounted: boolean;
    constructor(fields: RelApiErrorFields);
}
export declare const presetError: (message: string) => RelApiError;
export declare const sessionVariableMissing: (name: string) => RelApiError;
export declare const bodyTooLarge: (limitBytes: number) => RelApiError;
export declare const tokenRejected: (message: string, details?: string | null) => RelApiError;

// --- core/kernel/health-problems.d.ts
export interface HealthProblems {
    set(subject: string, reason: string | undefined): void;
    list(): readonly string[];
}

// --- core/kernel/json-text.d.ts
export declare const exceedsJsonDepth: (text: string, levels: number) => boolean;

// --- core/kernel/limits.d.ts
export interface RequestLimits {
    readonly maxUrlBytes: number;
}
export type Limit = keyof RequestLimits;
export declare const limitExceeded: (limit: Limit, fields: Pick<RelApiErrorFields, "code" | "message" | "path"> & Partial<Pick<RelApiErrorFields, "status">>) => RelApiError;
export declare const urlTooLong: (limitBytes: number) => RelApiError;

// --- core/kernel/logger.d.ts
export declare const adaptFieldsFirstLogger: (appLogger: FieldsFirstLogger) => Logger;

// --- core/kernel/memoize.d.ts
export declare const memoize: <Source extends object, Value>(compute: (source: Source) => Value) => ((source: Source) => Value);

// --- core/kernel/observed-session.d.ts
export interface SessionSource {
    readonly session: Session;
}

// --- core/kernel/package-files.d.ts
export declare const importPackage: (path: string, plugin: string, spec?: string) => Promise<unknown>;

// --- core/kernel/plugin-errors.d.ts
export declare const buildErrorFields: (error: unknown) => Readonly<Record<string, unknown>>;

// --- core/kernel/preset.d.ts
export declare const Stage: {
    readonly early: -100;
    readonly normal: 0;
    readonly late: 100;
};
export interface Preset {
    readonly plugins: readonly Plugin[];
    readonly options: RelApiOptions;
    readonly knownPlugins?: readonly string[];
    readonly knownOptions?: readonly string[];
    readonly aliases?: Readonly<Record<string, readonly string[]>>;
    readonly removed?: ReadonlyMap<string, number>;
}
interface Without {
    readonly without: string;
}
export type PresetPart = (Preset | Plugin | Without) & {
    readonly bind?: never;
};
export declare const without: (name: string) => Without;
export declare const compose: (...parts: readonly PresetPart[]) => Preset;

// --- core/kernel/session.d.ts
export interface Session {
    readonly role: string;
    readonly databaseRole?: string;
    readonly isAdmin: boolean;
    readonly isAnonymous?: boolean;
    readonly claims: Readonly<Record<string, Json>>;
    readonly claimsText?: string;
    readonly variables: Readonly<Record<string, string>>;
    readonly isBackend?: boolean;
    readonly expiresAtMs?: number;
}
export interface CredentialRules {
}
export interface Credentials {
    header(name: string): string | undefined;
    headers(): Iterable<readonly [
        name: string,
        value: string
    ]>;
    headerNames?(): readonly string[];
    cookie(name: string): string | undefined;
    readonly request: IncomingMessage;
    readonly surface: string;
    readonly rules: CredentialRules | undefined;
    readonly isSocket: boolean;
    body?(): Promise<Buffer>;
    onDisconnect?(listener: () => void): () => void;
    slots?: unknown[] | undefined;
}
type SlotHolder = Pick<Credentials, "slots">;
export interface ExchangeSlot<Value> {
    get(holder: SlotHolder): Value | undefined;
    set(holder: SlotHolder, value: Value): void;
}

// --- core/kernel/time-slicing.d.ts
export type Slices<Result> = Generator<void, Result, void>;

// --- core/kernel/token.d.ts
export interface Token<Value> {
    readonly kind: "service" | "hook" | "signal";
    readonly name: string;
    readonly owner?: string;
    readonly create?: () => Value;
}
export type ServiceToken<Service> = Token<Service | undefined>;
export type ValueOf<Named extends Token<unknown>> = Named extends Token<infer Value> ? NonNullable<Value> : never;
export interface Signal<Event> {
    readonly hasListeners: boolean;
    emit(event: Event): void;
    listen(listener: (event: Event) => void): void;
}
export declare const defineService: <Service>(name: string) => ServiceToken<Service>;
export declare const requireService: <Service>({ use }: {
    use<Value>(token: Token<Value>): Value;
}, token: ServiceToken<Service>) => Service;
export declare const defineHook: <Hook extends object>(name: string, owner: string, make: () => Hook) => Token<Hook>;
export declare const defineSignal: <Event>(name: string) => Token<Signal<Event>>;

// --- core/kernel/version.d.ts
export declare const VERSION: string;

// --- core/model/caller-visibility.d.ts
export declare const getVisibility: (model: Model, session: Session, surface: string) => Visibility;

// --- core/model/model.d.ts
export interface Model {
    readonly version: number;
    readonly schemas: readonly string[];
    readonly schemaComments: ReadonlyMap<string, string>;
    readonly schemaAcls: ReadonlyMap<string, {
        readonly owner: string;
        readonly acl: readonly AclItem[];
    }>;
    readonly relations: ReadonlyMap<string, Relation>;
    readonly routines: ReadonlyMap<string, readonly Routine[]>;
    readonly types: ReadonlyMap<number, PgType>;
    readonly roles: ReadonlyMap<string, Role>;
    readonly loginRole: string;
    readonly loginPath: readonly string[];
    readonly representations: ReadonlyMap<number, Representation>;
    readonly mediaHandlers: readonly MediaHandler[];
    readonly extensions: ReadonlyMap<string, string>;
    readonly shadowedNames: ReadonlySet<string>;
    readonly serverVersion: number;
    readonly loginRoles?: ReadonlyMap<string, ReadonlyMap<string, Visibility>>;
    readonly callerSettings?: ReadonlyMap<string, CallerSettings>;
    readonly pluginFacts: Readonly<Record<string, unknown>>;
}
export interface CallerSettings {
    readonly settings: readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly explain?: (error: {
        readonly code: string;
        readonly message: string;
        readonly facts: Readonly<Record<string, unknown>>;
    }) => {
        readonly hint: string;
        readonly facts: Readonly<Record<string, string | number>>;
    } | undefined;
}
export declare const buildNameKey: (name: QualifiedName) => string;
export declare const findRelation: (model: Model, name: QualifiedName) => Relation | undefined;
export declare const findRoutines: (model: Model, name: QualifiedName) => readonly Routine[];
export declare const findColumn: (relation: Relation, name: string) => Column | undefined;
export declare const findBaseType: (model: Model, oid: number) => PgType | undefined;
export declare const getQualifiedName: ({ schema, name }: QualifiedName) => QualifiedName;

// --- core/model/objects.d.ts
export interface QualifiedName {
    readonly schema: string;
    readonly name: string;
}
export interface AclItem {
    readonly grantee: string;
    readonly privileges: string;
}
export type TypeKind = "base" | "array" | "composite" | "domain" | "enum" | "range" | "multirange" | "pseudo";
export interface PgType {
    readonly oid: number;
    readonly schema: string;
    readonly name: string;
    readonly sqlName: string;
    readonly kind: TypeKind;
    readonly category: string;
    readonly element?: number;
    readonly base?: number;
    readonly notNull?: boolean;
    readonly default?: string;
    readonly labels?: readonly string[];
    readonly attributes?: readonly {
        readonly name: string;
        readonly type: number;
    }[];
    readonly relation?: QualifiedName;
    readonly comment?: string;
}
export interface Column {
    readonly name: string;
    readonly position: number;
    readonly type: number;
    readonly sqlType: string;
    readonly notNull: boolean;
    readonly default?: string;
    readonly baseDefault?: string;
    readonly identity?: "always" | "by default";
    readonly isGenerated: boolean;
    readonly isBaseGenerated?: true;
    readonly maxLength?: number;
    readonly comment?: string;
    readonly acl: readonly AclItem[];
    readonly isUpdatable: boolean;
}
export interface UniqueKey {
    readonly name: string;
    readonly columns: readonly string[];
    readonly isPrimary: boolean;
}
export interface ConflictTarget {
    readonly columns: readonly string[];
    readonly expressions: readonly string[];
    readonly predicate?: string;
}
export interface ForeignKey {
    readonly name: string;
    readonly columns: readonly string[];
    readonly target: QualifiedName;
    readonly targetColumns: readonly string[];
}
export type RelationKind = "table" | "partitioned" | "view" | "materialized" | "foreign";
export interface Relation extends QualifiedName {
    readonly oid: number;
    readonly kind: RelationKind;
    readonly rowType: number;
    readonly ancestorTypes?: readonly number[];
    readonly owner: string;
    readonly acl: readonly AclItem[];
    readonly comment?: string;
    readonly columns: readonly Column[];
    readonly primaryKey: readonly string[];
    readonly uniqueKeys: readonly UniqueKey[];
    readonly conflictTargets?: readonly ConflictTarget[];
    readonly foreignKeys: readonly ForeignKey[];
    readonly writable: {
        readonly insert: boolean;
        readonly update: boolean;
        readonly delete: boolean;
    };
    readonly rules?: Readonly<Partial<Record<"insert" | "update" | "delete", "returning" | "separate" | "nothing">>>;
    readonly rejectsConflict?: true;
    readonly hasRowSecurity: boolean;
    readonly provenAccess?: "read" | "write";
    readonly mayHideNulls?: true;
    readonly relationships: readonly Relationship[];
}
export type Cardinality = "many-to-one" | "one-to-many" | "one-to-one" | "many-to-many";
export type ColumnPair = readonly [
    source: string,
    target: string
];
export interface Relationship {
    readonly id: string;
    readonly cardinality: Cardinality;
    readonly isToOne: boolean;
    readonly source: QualifiedName;
    readonly target: QualifiedName;
    readonly columns: readonly ColumnPair[];
    readonly constraint: string;
    readonly isOwnKey: boolean;
    readonly junction?: {
        readonly relation: QualifiedName;
        readonly sourceConstraint: string;
        readonly targetConstraint: string;
        readonly source: readonly ColumnPair[];
        readonly target: readonly ColumnPair[];
    };
    readonly routine?: QualifiedName;
    readonly isManual?: boolean;
}
export type Volatility = "immutable" | "stable" | "volatile";
export interface RoutineParameter {
    readonly name: string;
    readonly type: number;
    readonly sqlType: string;
    readonly mode: "in" | "inout" | "variadic";
    readonly hasDefault: boolean;
    readonly default?: string;
}
export interface Routine extends QualifiedName {
    readonly oid: number;
    readonly volatility: Volatility;
    readonly owner: string;
    readonly acl: readonly AclItem[];
    readonly comment?: string;
    readonly parameters: readonly RoutineParameter[];
    readonly returns: {
        readonly type: number;
        readonly isSet: boolean;
        readonly kind: "scalar" | "composite" | "record" | "void";
        readonly relation?: QualifiedName;
        readonly columns: readonly {
            readonly name: string;
            readonly type: number;
        }[];
        readonly hasOutParameters: boolean;
    };
    readonly isStrict: boolean;
    readonly rows: number;
    readonly settings: readonly (readonly [
        name: string,
        value: string
    ])[];
}
export interface Role {
    readonly name: string;
    readonly isSuperuser: boolean;
    readonly inherits: readonly string[];
    readonly isAssumable: boolean;
    readonly settings: readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly isolation?: string;
}
export interface Representation {
    readonly toJson?: QualifiedName;
    readonly fromJson?: QualifiedName;
    readonly fromText?: QualifiedName;
}
export interface MediaHandler {
    readonly mediaType: string;
    readonly aggregate: QualifiedName;
    readonly relation?: QualifiedName;
    readonly isBytea: boolean;
}

// --- core/model/privileges.d.ts
export type Privilege = "select" | "insert" | "update" | "delete" | "execute" | "usage";

// --- core/model/type-groups.d.ts
export interface AcceptedTypes {
    readonly types: readonly string[];
    readonly exceptTypes?: readonly string[];
}
export declare const matchesType: (spec: AcceptedTypes, type: PgType | undefined) => boolean;

// --- core/model/visibility.d.ts
export type TableOperation = "select" | "insert" | "update" | "delete";
export interface Visibility {
    readonly isByGrants: boolean;
    mayRead(relation: Relation, column: Column): boolean;
    mayReadEveryRow(relation: Relation, column: Column): boolean;
    mayNameColumn(relation: Relation, column: Column): boolean;
    mayNameRelation(relation: Relation): boolean;
    mayPerform(relation: Relation, operation: TableOperation): boolean;
    mayCall(routine: Routine): boolean;
}

// --- core/plan/conditions.d.ts
export declare const buildColumnComparison: (name: string, operator: string, right: Pick<Comparison, "operand" | "keyword">) => Comparison;
export type RowRule = (relation: Relation, path: PlanPath | undefined) => Predicate | undefined;
export declare const restrictRows: <P extends Plan>(plan: P, model: Model, rule: RowRule) => P;

// --- core/plan/lookups.d.ts
export type Lookup = Extract<Predicate, {
    readonly kind: "related" | "computed-rows" | "exists";
}> | Extract<Expression, {
    readonly kind: "related" | "related-aggregate" | "computed-aggregate";
}>;

// --- core/plan/plan.d.ts
export type Json = null | boolean | number | string | readonly Json[] | {
    readonly [key: string]: Json;
};
export type JsonObject = Readonly<Record<string, Json>>;
export type ValueRef = {
    readonly param: number;
    readonly type?: string;
    readonly apply?: string;
} | {
    readonly session: string;
    readonly type?: string;
    readonly apply?: string;
    readonly missing?: "null";
} | {
    readonly session: true;
    readonly type: string;
} | {
    readonly constant: string | null;
    readonly type?: string;
    readonly apply?: string;
} | {
    readonly step: number;
    readonly column: string;
    readonly type: string;
};
export interface PathKey {
    readonly arrow: "->" | "->>" | "#>";
    readonly key: ValueRef;
}
export type Expression = {
    readonly kind: "column";
    readonly name: string;
    readonly path?: readonly PathKey[];
    readonly scope?: "root";
    readonly isUnknown?: true;
} | {
    readonly kind: "computed";
    readonly routine: QualifiedName;
    readonly arguments?: readonly RoutineArgument[];
    readonly path?: readonly PathKey[];
} | {
    readonly kind: "cast";
    readonly value: Expression;
    readonly type: string;
} | {
    readonly kind: "apply";
    readonly function: string;
    readonly value: Expression;
    readonly operands?: readonly ApplyOperand[];
} | {
    readonly kind: "ordering";
    readonly ordering: string;
    readonly value: Expression;
    readonly operands: readonly ValueRef[];
} | {
    readonly kind: "masked";
    readonly value: Expression;
    readonly when: Predicate;
} | {
    readonly kind: "related";
    readonly relationship: string;
    readonly where?: Predicate;
    readonly value: Expression;
} | {
    readonly kind: "related-aggregate";
    readonly relationship: string;
    readonly fn: string;
    readonly expressions: readonly Expression[];
    readonly distinct?: boolean;
    readonly where?: Predicate;
} | {
    readonly kind: "computed-aggregate";
    readonly routine: QualifiedName;
    readonly arguments?: readonly RoutineArgument[];
    readonly target: QualifiedName;
    readonly fn: string;
    readonly expressions: readonly Expression[];
    readonly where?: Predicate;
} | {
    readonly kind: "aggregate";
    readonly fn: string;
    readonly expressions: readonly Expression[];
    readonly distinct?: boolean;
} | {
    readonly kind: "output";
    readonly as: string;
    readonly nth?: number;
} | {
    readonly kind: "embedded";
    readonly embed: string;
    readonly name: string;
    readonly path?: readonly PathKey[];
    readonly row?: string;
};
export type ApplyOperand = ValueRef | {
    readonly expression: Expression;
};
export interface RoutineArgument {
    readonly name?: string;
    readonly value: ValueRef;
    readonly isRow?: boolean;
}
export type Operand = ValueRef | {
    readonly expression: Expression;
} | {
    readonly items: readonly Operand[];
} | {
    readonly fields: Readonly<Record<string, Operand>>;
};
export type Predicate = {
    readonly kind: "and" | "or";
    readonly predicates: readonly Predicate[];
    readonly isRoot?: true;
} | {
    readonly kind: "not";
    readonly predicate: Predicate;
} | Comparison | {
    readonly kind: "related";
    readonly relationship: string;
    readonly where?: Predicate;
} | {
    readonly kind: "computed-rows";
    readonly routine: QualifiedName;
    readonly arguments?: readonly RoutineArgument[];
    readonly target: QualifiedName;
    readonly where?: Predicate;
} | {
    readonly kind: "embedded";
    readonly embed: string;
    readonly isNull: boolean;
} | {
    readonly kind: "exists";
    readonly from: QualifiedName;
    readonly where?: Predicate;
} | {
    readonly kind: "keyset";
    readonly order: readonly OrderBy[];
    readonly values: readonly (ValueRef | null)[];
} | {
    readonly kind: "written";
    readonly step: number;
    readonly columns: readonly ColumnPair[];
} | ({
    readonly kind: "keys";
} & RowKeys);
export interface RowKeys {
    readonly columns: readonly string[];
    readonly values: readonly (readonly ValueRef[])[];
}
export interface Comparison {
    readonly kind: "compare";
    readonly left: Expression;
    readonly operator: string;
    readonly operand?: Operand;
    readonly keyword?: string;
    readonly quantifier?: "any" | "all";
    readonly option?: ValueRef;
}
export interface OrderBy {
    readonly expression: Expression;
    readonly direction?: "asc" | "desc";
    readonly nulls?: "first" | "last";
}
export type Output = {
    readonly kind: "all";
} | {
    readonly kind: "value";
    readonly as: string;
    readonly value: Expression;
    readonly isOfAll?: true;
} | {
    readonly kind: "constant";
    readonly as: string;
    readonly value: string;
} | {
    readonly kind: "aggregate";
    readonly as: string;
    readonly fn: string;
    readonly expressions?: readonly Expression[];
    readonly distinct?: boolean;
    readonly cast?: string;
} | {
    readonly kind: "object";
    readonly as: string;
    readonly outputs: readonly Output[];
} | {
    readonly kind: "nodes";
    readonly as: string;
    readonly outputs: readonly Output[];
    readonly cap?: number;
    readonly isReversed?: boolean;
} | {
    readonly kind: "affected";
    readonly as: string;
} | {
    readonly kind: "total";
    readonly as: string;
} | Embed;
export interface Embed {
    readonly kind: "embed";
    readonly as: string;
    readonly id: string;
    readonly mode: string;
    readonly via: EmbedSource;
    readonly join: "left" | "inner";
    readonly isHidden?: boolean;
    readonly read: Read;
}
export type EmbedSource = {
    readonly relationship: string;
} | {
    readonly routine: QualifiedName;
    readonly arguments?: readonly RoutineArgument[];
    readonly isToOne: boolean;
};
export type ReadFrom = {
    readonly relation: QualifiedName;
} | {
    readonly call: RoutineCall;
} | {
    readonly written: QualifiedName;
    readonly steps?: readonly number[];
    readonly isCurrent?: true;
};
export interface Read {
    readonly kind: "read";
    readonly from: ReadFrom;
    readonly shape: "rows" | "aggregate";
    readonly row?: string;
    readonly output: readonly Output[];
    readonly where?: Predicate;
    readonly orderBy?: readonly OrderBy[];
    readonly distinctOn?: readonly Expression[];
    readonly groupBy?: readonly Expression[];
    readonly having?: Predicate;
    readonly limit?: ValueRef;
    readonly offset?: ValueRef;
    readonly cap?: number;
    readonly notes?: Readonly<Record<string, ValueRef>>;
}
export interface RoutineCall {
    readonly routine: QualifiedName;
    readonly oid: number;
    readonly arguments: readonly RoutineArgument[];
    readonly payload?: {
        readonly json: ValueRef;
        readonly shape: "object" | "array";
        readonly names: readonly string[];
    };
}
export interface Cell {
    readonly column: string;
    readonly value?: ValueRef;
}
export type WriteRows = {
    readonly payload: ValueRef;
    readonly shape: "object" | "array";
    readonly columns: readonly PayloadColumn[];
    readonly missing: "null" | "default" | "computed-default";
} | {
    readonly cells: readonly Cell[];
};
export interface PayloadColumn {
    readonly name: string;
    readonly apply?: string;
    readonly isText?: true;
}
export interface OnConflict {
    readonly target: {
        readonly columns: readonly string[];
    } | {
        readonly constraint: string;
    };
    readonly update: readonly string[];
    readonly set?: readonly Cell[];
    readonly where?: Predicate;
    readonly check?: Predicate;
}
interface Write {
    readonly check?: Predicate;
    readonly checksAfter?: true;
    readonly returning?: Read;
}
export interface Insert extends Write {
    readonly kind: "insert";
    readonly into: QualifiedName;
    readonly rows: WriteRows;
    readonly set?: readonly Cell[];
    readonly onConflict?: OnConflict;
    readonly onlyKeys?: readonly {
        readonly column: string;
        readonly value: ValueRef;
    }[];
}
export interface Assignment {
    readonly column: string;
    readonly operator: string;
    readonly operand: ValueRef;
}
export interface Update extends Write {
    readonly kind: "update";
    readonly relation: QualifiedName;
    readonly where?: Predicate;
    readonly payload?: Extract<WriteRows, {
        readonly payload: ValueRef;
    }>;
    readonly assignments?: readonly Assignment[];
    readonly locks?: true;
}
export interface Delete extends Write {
    readonly kind: "delete";
    readonly from: QualifiedName;
    readonly where?: Predicate;
}
export interface Call {
    readonly kind: "call";
    readonly call: RoutineCall;
    readonly returns: "value" | "values" | "row" | "rows" | "void";
    readonly result?: Read;
}
export interface Bundle {
    readonly kind: "bundle";
    readonly fields: readonly BundleField[];
}
export type BundleField = {
    readonly as: string;
    readonly value: string;
} | {
    readonly as: string;
    readonly read: Read;
    readonly isOne?: boolean;
} | {
    readonly as: string;
    readonly statement: string;
    readonly arguments: Readonly<Record<string, ValueRef>>;
} | {
    readonly as: string;
    readonly bundle: Bundle;
};
export interface Sequence {
    readonly kind: "sequence";
    readonly steps: readonly SequenceStep[];
    readonly result: Read;
    readonly isOne?: boolean;
    readonly rejection?: Rejection;
}
export interface Rejection {
    readonly message: string;
    readonly path: string;
    readonly requires: readonly StepRequirement[];
}
export interface SequenceStep {
    readonly write: Insert | Update | Delete | Read;
    readonly path?: string;
    readonly requires?: readonly StepRequirement[];
    readonly rewrittenStep?: number;
}
export interface StepRequirement {
    readonly step: number;
    readonly atMost?: number;
    readonly sameCountAs?: number;
    readonly keys?: RowKeys & {
        readonly paths: readonly string[];
    };
    readonly message: string;
    readonly path: string;
}
export interface Envelope {
    readonly media?: string;
    readonly mediaOptions?: Json;
    readonly domains?: "stored" | "text";
    readonly count?: "exact" | "planned" | "estimated";
    readonly countCap?: number;
    readonly location?: readonly string[];
    readonly countInserted?: boolean;
    readonly wrapper?: {
        readonly name: string;
        readonly options?: Json;
    };
}
export type Plan = Read | Insert | Update | Delete | Call | Bundle | Sequence;
export interface PlanWithEnvelope {
    readonly plan: Plan;
    readonly envelope: Envelope;
}

// --- core/plan/walk.d.ts
export interface PlanScope {
    readonly relation: Relation | undefined;
    readonly root: Relation | undefined;
    readonly isOne?: boolean;
    readonly path?: PlanPath;
}
export interface PlanPath {
    readonly from: Relation;
    readonly routine?: QualifiedName;
}
export type PlanSource = Read | Insert | Update | Delete | Embed | Lookup;
type StatementField = Extract<BundleField, {
    readonly statement: string;
}>;
interface PlanMapper<Scope extends PlanScope = PlanScope> {
    readonly extendScope?: (rows: PlanScope, node: PlanSource, outerScope: Scope | undefined) => Scope;
    readonly read?: (read: Read, scope: Scope) => Read;
    readonly insert?: (insert: Insert, scope: Scope) => Insert;
    readonly update?: (update: Update, scope: Scope) => Update;
    readonly delete?: (remove: Delete, scope: Scope) => Delete;
    readonly call?: (call: RoutineCall) => RoutineCall;
    readonly embed?: (embed: Embed, scope: Scope) => Embed;
    readonly predicate?: (predicate: Predicate, scope: Scope) => Predicate;
    readonly expression?: (expression: Expression, scope: Scope) => Expression;
    readonly output?: (output: Output, scope: Scope) => Output;
    readonly statement?: (field: StatementField) => StatementField;
    readonly value?: (ref: ValueRef) => ValueRef;
}
type PlanVisitor<Scope extends PlanScope = PlanScope> = Pick<PlanMapper<Scope>, "extendScope"> & {
    readonly [Node in Exclude<keyof PlanMapper, "extendScope">]?: (...parts: Parameters<NonNullable<PlanMapper<Scope>[Node]>>) => void;
};
export declare const mapPlan: <P extends Plan, Scope extends PlanScope = PlanScope>(plan: P, model: Model, mapper: PlanMapper<Scope>) => P;
export declare const visitPlan: <Scope extends PlanScope = PlanScope>(plan: Plan, model: Model, { extendScope, ...visitor }: PlanVisitor<Scope>) => void;

// --- core/plugin.d.ts
export type OperandKind = "scalar" | "list" | "json" | "keyword" | "fields";
export interface OperatorSpec extends BuiltIn {
    readonly name: string;
    readonly types: readonly string[];
    readonly exceptTypes?: readonly string[];
    readonly operand: OperandKind;
    readonly keywords?: readonly string[];
    readonly operandType?: string;
    readonly isQuantifiable?: boolean;
    readonly hasOption?: boolean;
    readonly plansEachTime?: boolean;
    readonly takesRepresentation?: boolean;
    readonly description?: string;
    readonly compile: (column: Sql, operand: Sql, context: FilterContext) => Sql;
}
export interface EmbedSpec extends BuiltIn {
    readonly mode: string;
    readonly isFlat?: boolean;
    readonly compile: (embed: Embed, context: EmbedContext) => EmbedSql;
}
export interface UpdateOperatorSpec extends BuiltIn {
    readonly name: string;
    readonly types: readonly string[];
    readonly operandType?: string;
    readonly description: string;
    readonly compile: (column: Sql, operand: Sql) => Sql;
}
export interface PlanFunction extends BuiltIn {
    readonly name: string;
    readonly compile: (argument: Sql, model: Model, operands?: readonly Sql[]) => Sql;
}
export interface SessionSpec {
    readonly name: string;
    readonly settings?: (session: Session) => readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly isForUserCode?: true;
    readonly createRequestSettings?: (secret: readonly string[]) => RequestSettings;
    readonly optionSettings?: (options: ResolvedOptions) => readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly prefix?: string;
}
export type RequestSettings = (request: Pick<IncomingMessage, "method" | "headers" | "rawHeaders">, path: string) => readonly (readonly [
    name: string,
    value: string
])[];
export interface PreferenceSpec {
    readonly name: string;
    readonly values: readonly string[] | ((value: string) => boolean);
    readonly plan?: (plan: Plan, value: string, context: {
        readonly model: Model;
    }) => Plan;
    readonly settings?: (value: string) => readonly (readonly [
        name: string,
        value: string
    ])[];
}
export interface AggregateSpec extends BuiltIn {
    readonly name: string;
    readonly predicate?: {
        readonly type?: string;
        readonly result: string;
        readonly columns?: 2;
    };
    readonly returns?: string;
    readonly compile?: (columns: readonly Sql[], isDistinct: boolean) => Sql;
}
export interface OrderingSpec extends BuiltIn {
    readonly name: string;
    readonly types: readonly string[];
    readonly exceptTypes?: readonly string[];
    readonly operands: readonly {
        readonly name: string;
        readonly type?: string;
    }[];
    readonly description?: string;
    readonly extension?: string;
    readonly compile: (column: Sql, operands: readonly Sql[], model: Model) => Sql;
}
export interface StatementSpec extends BuiltIn {
    readonly name: string;
    readonly compile: (argument: (name: string, type: string) => Sql, model: Model) => Sql;
}
export interface WrapperSpec extends BuiltIn {
    readonly name: string;
    readonly compile: (statement: Sql, options: Json | undefined) => Sql;
}
export interface ResultColumnSpec extends BuiltIn {
    readonly name: string;
    readonly compile: () => Sql;
}
export interface RowSourceSpec extends BuiltIn {
    readonly name: string;
    readonly prepare: (insert: Insert, model: Model) => RowSource | undefined;
}
export interface Plugin {
    readonly name: string;
    readonly requires?: readonly string[];
    readonly before?: readonly string[];
    readonly stage?: number;
    readonly operators?: readonly OperatorSpec[];
    readonly embeds?: readonly EmbedSpec[];
    readonly updateOperators?: readonly UpdateOperatorSpec[];
    readonly functions?: readonly PlanFunction[];
    readonly sessions?: readonly SessionSpec[];
    readonly secretHeaders?: readonly string[];
    readonly preferences?: readonly PreferenceSpec[];
    readonly settings?: readonly Setting[];
    readonly extensionTypes?: readonly string[];
    readonly clientSqlstates?: RegExp;
    readonly statements?: readonly StatementSpec[];
    readonly aggregates?: readonly AggregateSpec[];
    readonly orderings?: readonly OrderingSpec[];
    readonly wrappers?: readonly WrapperSpec[];
    readonly resultColumns?: readonly ResultColumnSpec[];
    readonly rowSources?: readonly RowSourceSpec[];
    readonly connector?: (parts: ConnectorParts) => Connector;
    readonly hiddenSchemas?: (exposedSchemas: readonly string[]) => readonly string[];
    readonly apply?: (hooks: RelApiHooks, context: PluginContext) => void;
}
export declare const definePlugin: (plugin: Plugin) => Plugin;
export interface Registry {
    readonly operators: readonly OperatorSpec[];
    readonly embeds: readonly EmbedSpec[];
    readonly updateOperators: readonly UpdateOperatorSpec[];
    readonly functions: ReadonlyMap<string, PlanFunction>;
    readonly secretHeaders: readonly string[];
    readonly sessions: readonly SessionSpec[];
    readonly sessionPrefixes: readonly string[];
    readonly preferences: ReadonlyMap<string, PreferenceSpec>;
    readonly statements: ReadonlyMap<string, StatementSpec>;
    readonly aggregates: ReadonlyMap<string, AggregateSpec>;
    readonly orderings: readonly OrderingSpec[];
    isForClient(sqlstate: string): boolean;
    getPluginName(part: object): string;
    readonly wrappers: ReadonlyMap<string, WrapperSpec>;
    readonly resultColumns: readonly ResultColumnSpec[];
    readonly rowSources: readonly RowSourceSpec[];
    hiddenSchemas(exposedSchemas: readonly string[]): readonly string[];
    has(plugin: string): boolean;
}
export interface Execution {
    readonly session: Session;
    readonly access: "read only" | "read write";
    readonly isolation?: string;
    readonly schema: string;
    readonly keepsLoginPath?: boolean;
    readonly requestSettings?: () => readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly settings?: readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly programs: readonly {
        readonly program: Program;
        readonly values: readonly SentValue[];
        readonly path?: string;
    }[];
    readonly end: "commit" | "rollback";
    readonly check?: (rows: readonly ResultRow[]) => void;
    readonly onDisconnect?: (listener: () => void) => () => void;
    readonly mayUseReplica?: boolean;
    readonly minWritePosition?: string;
    readonly skipsPreRequest?: boolean;
    readonly exchange?: OpenExchange;
    readonly openTransaction?: PluginContext["execute"];
    readonly longRows?: ((transaction: ArrivingTransaction) => LongRows) | undefined;
    readonly comment?: string;
}
export interface ArrivingTransaction {
    readonly execution: Execution;
    readonly offset: number;
    answer(rows: readonly ResultRow[]): void;
}
export interface EndedTransaction {
    readonly execution: Execution;
    readonly askedAtMs: number;
    readonly beganAtMs?: number;
    readonly endedAtMs: number;
    readonly rows?: readonly ResultRow[];
    readonly error?: unknown;
}
export interface TransactionSender {
    build(execution: Execution, programs?: Execution["programs"]): readonly WireStatement[] | undefined;
    readonly pool: Pick<Pool, "acquire" | "release">;
    send(connection: Connection, statements: readonly WireStatement[]): Promise<WireResult>;
}
export interface PlanProof {
    isProven(plan: Plan, envelope: Envelope, model: Model): boolean;
}
export declare const transactionEndedSignal: Token<import("./kernel/token.ts").Signal<EndedTransaction>>;
export declare const requestEndedSignal: Token<import("./kernel/token.ts").Signal<RequestRecord>>;
export type ResultRow = Readonly<Record<string, string | null>>;
export interface OptionSource {
    readonly name: string;
    readonly read: (query: <Row>(statement: Sql) => Promise<readonly Row[]>) => Promise<RelApiOptions>;
}
export interface PluginContext {
    readonly options: ResolvedOptions;
    readonly settings: readonly Setting[];
    addOptionSource(source: OptionSource): void;
    readonly logger: Logger;
    readonly registry: Registry;
    readonly counters: Counters;
    readonly healthProblems: HealthProblems;
    logTo(target: Logger | AppLogger): void;
    readonly caches: CacheManager;
    model(): Model;
    beforeModel(listener: (model: Model) => void | Promise<void>): void;
    setGate(gate: (() => Promise<void>) | undefined): void;
    onModel(listener: (model: Model) => void): void;
    onClose(listener: () => void | Promise<void>): void;
    prepare(plannedProgram: PlanWithEnvelope, session: Session, surface: string): Program;
    execute(execution: Execution): Promise<readonly ResultRow[]>;
    transaction<Result>(head: Pick<Execution, "isolation" | "onDisconnect">, work: (execute: PluginContext["execute"]) => Promise<{
        readonly result: Result;
        readonly end: Execution["end"];
    }>): Promise<Result>;
    readonly transactionSender: TransactionSender;
    query<Row>(statement: Sql): Promise<readonly Row[]>;
    script(script: Sql, options: ScriptOptions): Promise<readonly ScriptResult[]>;
    wrap(wrapper: {
        readonly prepare?: (next: PluginContext["prepare"]) => PluginContext["prepare"];
        readonly execute?: (next: PluginContext["execute"]) => PluginContext["execute"];
    }): void;
    authorize(credentials: Credentials): Promise<Session>;
    call(call: ApiCall): Promise<ApiAnswer>;
    addMethod<Name extends keyof ApiMethods>(name: Name, method: ApiMethods[Name]): void;
    readonly requestSettings: RequestSettings;
    readonly listen: Connector["listen"];
    openReplication(): Promise<ReplicationConnection>;
    findDatabaseUrl(): Promise<string | undefined>;
    addSurface(surface: Surface): void;
    addStep(step: RequestStep): void;
    watchUnread(stream: ClientStream): void;
    offer<Service>(token: ServiceToken<Service>, service: NoInfer<Service>): void;
    use<Value>(token: Token<Value>): Value;
    onServer(listener: (server: AnyServer) => void): void;
    addServer(server: AnyServer): void;
    hasServer(server: AnyServer): boolean;
    isApi(listener: unknown): boolean;
    reload(): Promise<void>;
    requestReload(): void;
}

// --- core/relapi.d.ts
export interface RelApi extends ApiMethods {
    (request: HttpRequest, response: ServerResponse, next?: Next): void;
    over(app: (request: IncomingMessage, response: ServerResponse) => unknown): RequestListener;
    readonly ready: Promise<void>;
    reload(): Promise<void>;
    model(): Model;
    close(): Promise<void>;
}
export declare const relApi: (preset: Preset) => RelApi;

// --- core/route.d.ts
export type RouteTarget = {
    readonly kind: "root";
} | {
    readonly kind: "relation";
    readonly relation: Relation;
} | {
    readonly kind: "routine";
    readonly name: string;
    readonly routines: readonly Routine[];
};
export type RouteHandler = (exchange: Exchange, target: RouteTarget) => Promise<Answer> | Answer;
export interface Route {
    readonly target: RouteTarget;
    readonly methods: ReadonlyMap<string, RouteHandler>;
}
export interface RouteContext {
    readonly model: Model;
    readonly schema: string;
}

// --- core/settings/define-setting.d.ts
export interface Setting<Value = unknown, Name extends string = string> {
    readonly name: Name;
    readonly environment?: readonly string[];
    readonly kind: SettingKind<Value>;
    readonly default?: NoInfer<Value>;
    readonly description: string;
    readonly unit?: string;
    readonly whenUnset?: string;
    readonly isSecret?: boolean;
    readonly acceptsEmpty?: boolean;
    readonly isFixed?: boolean;
    readonly isLimit?: boolean;
}
interface DefineSetting {
    <const Value, const Name extends string>(setting: Setting<Value, Name> & {
        readonly default: NoInfer<Value>;
    }): Setting<Value, Name>;
    <const Value, const Name extends string>(setting: Setting<Value, Name>): Setting<Value | undefined, Name>;
}
export declare const defineSetting: DefineSetting;
type SettingValue<Declared> = Declared extends Setting<infer Value> ? Value : never;
export type ValuesOf<Declared extends readonly Setting[]> = {
    readonly [Declaration in Declared[number] as Declaration["name"]]: SettingValue<Declaration>;
};

// --- core/settings/options.d.ts
export type LogLevel = NonNullable<ValuesOf<typeof coreSettings>["logLevel"]>;
export interface Logger {
    error(message: string, fields?: Readonly<Record<string, unknown>>): void;
    warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
    info(message: string, fields?: Readonly<Record<string, unknown>>): void;
    debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
    access(line: string, status: number): void;
    readonly request?: ((fields: Readonly<Record<string, unknown>>, status: number) => void) | undefined;
}
type LogFunction = (fields: object, message: string) => void;
export interface FieldsFirstLogger {
    readonly error: LogFunction;
    readonly warn: LogFunction;
    readonly info: LogFunction;
    readonly debug: LogFunction;
}
export interface AppLogger {
    error(message: string, fields?: Readonly<Record<string, unknown>>): unknown;
    warn(message: string, fields?: Readonly<Record<string, unknown>>): unknown;
    info(message: string, fields?: Readonly<Record<string, unknown>>): unknown;
    debug(message: string, fields?: Readonly<Record<string, unknown>>): unknown;
}
export interface DatabaseSource {
    readonly stream: () => Duplex;
    readonly ready?: Promise<void>;
    close?(): Promise<void>;
}
interface ObjectOptions {
    readonly database?: DatabaseSource | undefined;
    readonly logger?: Logger | AppLogger | undefined;
    readonly freshUrl?: ((option: string, index?: number) => string | undefined) | undefined;
    readonly appSettings?: Readonly<Record<string, string>> | undefined;
}
export interface ResolvedOptions extends ValuesOf<typeof coreSettings>, RequestLimits, ObjectOptions {
    readonly appSettings: Readonly<Record<string, string>>;
}
export type RelApiOptions = {
    readonly [Name in keyof ResolvedOptions]?: ResolvedOptions[Name] | undefined;
};

// --- core/settings/resolve-options.d.ts
export interface SettingsSource {
    readonly plugins: readonly {
        readonly name: string;
        readonly settings?: readonly Setting[];
    }[];
    readonly options?: RelApiOptions;
    readonly knownOptions?: readonly string[];
    readonly aliases?: Readonly<Record<string, readonly string[]>>;
}
export interface EnvironmentValues {
    readonly values: Readonly<Record<string, unknown>>;
    readonly errors: readonly string[];
}
export type Environment = Readonly<Record<string, string | undefined>>;
export declare const optionsFromEnvironment: (preset: SettingsSource, environment: Environment) => RelApiOptions;

// --- core/settings/setting-kinds.d.ts
export interface SettingKind<Value = unknown> {
    readonly accepts: string;
    readonly parse: (text: string) => Value | undefined;
    readonly option?: {
        readonly accepts: string;
        readonly isValid: (value: unknown) => boolean;
    };
}
declare const wholeNumber: (from: number, to?: number) => SettingKind<number>;
declare const commaList: (accepts: string) => SettingKind<readonly string[]>;
declare const choice: <const Word extends string>(words: readonly Word[], aliases?: Readonly<Record<string, Word>>) => SettingKind<Word>;
export declare const settingKinds: {
    text: SettingKind<string>;
    document: SettingKind<string | Readonly<Record<string, unknown>>>;
    flag: SettingKind<boolean>;
    wholeNumber: typeof wholeNumber;
    listOf: typeof commaList;
    textList: SettingKind<readonly string[]>;
    oneOf: typeof choice;
    databaseUrl: SettingKind<string>;
    databaseUrls: SettingKind<readonly string[]>;
    httpUrl: SettingKind<string>;
    headerName: SettingKind<string>;
};

// --- core/settings/setting-rows.d.ts
export declare const buildSettingRows: (plugins: readonly {
    readonly settings?: readonly Setting[];
}[]) => string[];

// --- core/settings/settings.d.ts
export declare const coreSettings: readonly [
    Setting<readonly string[], "dbSchemas">,
    Setting<readonly string[], "dbExtraSearchPath">,
    Setting<number, "dbPool">,
    Setting<number, "dbPoolAcquisitionTimeout">,
    Setting<number, "shutdownGrace">,
    Setting<number, "dbPoolMaxLifetime">,
    Setting<number, "dbPoolMaxIdletime">,
    Setting<number, "dbLoginPatience">,
    Setting<boolean, "dbPreparedStatements">,
    Setting<number, "dbMaxPreparedStatements">,
    Setting<number, "dbMaxPreparedBytes">,
    Setting<string | undefined, "dbPreRequest">,
    Setting<number, "cacheBytes">,
    Setting<number, "maxUrlBytes">,
    Setting<number, "maxBodyBytes">,
    Setting<number, "maxPendingBodyBytes">,
    Setting<number, "maxResultBytes">,
    Setting<number, "maxUnreadBytes">,
    Setting<number, "unreadTimeout">,
    Setting<number, "requestTimeout">,
    Setting<"debug" | "error" | "info" | "silent" | "warn" | undefined, "logLevel">,
    Setting<string | undefined, "name">,
    Setting<boolean, "logQuery">,
    Setting<boolean, "serverTimingEnabled">
];

// --- core/sql/built-in.d.ts
export interface BuiltIn {
    readonly builtIn?: readonly string[];
}

// --- core/sql/fragment.d.ts
export type BoundValue = string | null | Uint8Array;
export type SentValue = BoundValue | JsonList;
export interface JsonList {
    readonly json: string;
    rows(): readonly TextRow[] | undefined;
}
export type TextRow = Readonly<Record<string, string | null>>;
export type Slot = {
    readonly param: number;
    readonly isJson?: true;
} | {
    readonly session: string;
    readonly optional?: boolean;
} | {
    readonly sessionJson: readonly string[];
} | {
    readonly fixed: BoundValue;
};
export declare const getBoundValue: (sentValue: SentValue) => BoundValue;
type Chunk = string | {
    readonly slot: Slot;
};
declare const sqlBrand: unique symbol;
export interface Sql {
    readonly [sqlBrand]: true;
    readonly parts: readonly (Chunk | Sql)[];
}
export declare const sql: (strings: TemplateStringsArray, ...interpolations: readonly Sql[]) => Sql;
export declare const quoteIdentifier: (...parts: readonly string[]) => Sql;
export declare const bindValue: (boundValue: BoundValue, type?: string) => Sql;
export declare const trustedSql: (text: string) => Sql;
export declare const joinSql: (fragments: readonly Sql[], separator?: string) => Sql;
export declare const quoteLiteral: (text: string) => Sql;
export declare const inlineInteger: (number: number) => Sql;
export interface Statement {
    readonly text: string;
    readonly slots: readonly Slot[];
}
export declare const compileSql: (fragment: Sql) => Statement;

// --- core/sql/program.d.ts
export interface ProgramStatement {
    readonly text: string;
    readonly slots: readonly Slot[];
    readonly columns: readonly string[];
    readonly isMultiRow?: boolean;
    readonly buildRow?: (count: string) => readonly string[];
    readonly path?: string;
    readonly fragment?: Sql;
}
export interface ProgramCheck {
    readonly statement: number;
    readonly column: string;
    readonly kind: "permission" | "step" | "rejection";
    readonly message: string;
    readonly path?: string;
    readonly paths?: readonly string[];
}
export interface RowSource {
    readonly list: number;
    readonly compile: (alias: Sql, value: (i: number, type: string) => Sql) => Sql;
    readonly values: (rows: readonly TextRow[]) => readonly BoundValue[] | undefined;
}
interface ProgramWithRows extends Pick<RowSource, "list" | "values"> {
    readonly program: Program;
    readonly first: number;
}
export interface Program {
    readonly statements: readonly ProgramStatement[];
    readonly main: number;
    readonly checks: readonly ProgramCheck[];
    readonly relations: ReadonlySet<string>;
    readonly isOpenEnded: boolean;
    readonly plansEachTime?: true;
    readonly isProven?: boolean;
    readonly withRows?: ProgramWithRows;
    readonly plan?: Plan;
    readonly planned?: PlanWithEnvelope;
}
export declare const explainProgram: ({ statements, main, relations, isOpenEnded }: Program, options: string, nameColumn?: (statement: number) => string) => Program;

// --- core/values/array-literal.d.ts
export type ArrayItem = string | null | readonly ArrayItem[];
export declare const encodeArrayLiteral: (items: readonly ArrayItem[], elementType?: string) => string;

// --- core/values/exact-numbers.d.ts
export declare const isJsonObject: (value: unknown) => value is JsonObject;
export declare const getNumberText: (value: unknown) => string | undefined;
declare const survivesRoundTrip: (number: string) => boolean;
export declare const writeJson: (value: Json) => string;
export declare const parseJson: (text: string, isExact?: typeof survivesRoundTrip) => Json;

// --- plugins/auth/admin-secret.d.ts
export declare const adminSecret: import("../../core/plugin.ts").Plugin;

// --- plugins/auth/anonymous.d.ts
export declare const anonymous: import("../../core/plugin.ts").Plugin;

// --- plugins/auth/api.d.ts
export interface AcceptedCredentials {
    readonly acceptsTokens: boolean;
    readonly acceptsAdminSecret: boolean;
}
export declare const acceptedCredentialsService: import("../../core/index.ts").ServiceToken<{
    read(): AcceptedCredentials;
}>;
export declare const credentialsChangedSignal: import("../../core/index.ts").Token<import("../../core/index.ts").Signal<undefined>>;
interface CredentialRules extends TokenRules {
}

// --- plugins/auth/claims.d.ts
export type SessionClaims = ReadonlyMap<string, Json>;
export type ClaimsReading = {
    readonly claims: SessionClaims;
    readonly areTopLevel: boolean;
} | {
    readonly claimsWithoutRoles: SessionClaims;
} | {
    readonly reason: string;
};

// --- plugins/auth/jwt-tokens.d.ts
export declare const jwtTokens: import("../../core/plugin.ts").Plugin;

// --- plugins/auth/request-settings.d.ts
export declare const requestSettings: import("../../core/plugin.ts").Plugin;

// --- plugins/auth/session-settings.d.ts
export declare const sessionSettings: import("../../core/plugin.ts").Plugin;
export declare const hasuraSession: import("../../core/plugin.ts").Plugin;

// --- plugins/auth/settings.d.ts
export type JwtSecret = string | Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];
export declare const adminSecretSettings: readonly [
    import("../../core/index.ts").Setting<string | undefined, "adminSecret">,
    import("../../core/index.ts").Setting<readonly string[] | undefined, "adminSecrets">
];
export declare const tokenSettings: readonly [
    import("../../core/index.ts").Setting<JwtSecret | undefined, "jwtSecret">,
    import("../../core/index.ts").Setting<boolean, "jwtSecretIsBase64">,
    import("../../core/index.ts").Setting<string | undefined, "jwtAud">,
    import("../../core/index.ts").Setting<string, "jwtRoleClaimKey">,
    import("../../core/index.ts").Setting<number, "jwtCacheMaxEntries">,
    import("../../core/index.ts").Setting<boolean, "jwtRequireExp">
];
interface ResolvedOptions extends ValuesOf<typeof adminSecretSettings>, ValuesOf<typeof tokenSettings> {
}

// --- plugins/auth/token-rules.d.ts
export interface VerifiedToken {
    readonly claims: JsonObject;
    readonly audiences: readonly string[] | undefined | "wrong";
    readonly acceptedAudiences: readonly string[] | undefined;
    readonly isIssuerAccepted: boolean;
    readonly skewSeconds: number;
    readSessionClaims(): ClaimsReading;
}
export interface RoleSettings {
    readonly anonymousRole: string | undefined;
    readonly readRoleClaim: (claims: JsonObject) => string | undefined;
}
export interface TokenRoles {
    readonly defaultRole: string;
    readonly allowedRoles: readonly string[] | undefined;
    readonly claims: SessionClaims;
}
export interface TokenRules {
    createMissingKeyError?(): RelApiError;
    readBearer(value: string): string | undefined;
    createFailureError(failure: TokenFailure): RelApiError;
    createSeveralTokensError(): RelApiError;
    createUnknownIssuerError(): RelApiError;
    checkClaims(token: VerifiedToken, nowSeconds: number, mustExpire: boolean): void;
    grant(token: VerifiedToken, settings: RoleSettings): TokenRoles;
    chooseRole(grant: TokenRoles, requestedRole: string | undefined): string;
    createMissingCredentialError?(acceptedCredentials: {
        readonly acceptsTokens: boolean;
        readonly acceptsAdminSecret: boolean;
    }): RelApiError;
    createInvalidFlagError?(trueWords: readonly string[], falseWords: readonly string[]): RelApiError;
}

// --- plugins/auth/token.d.ts
export type TokenFailure = {
    readonly kind: "empty";
} | {
    readonly kind: "parts";
    readonly count: number;
} | {
    readonly kind: "undecodable";
    readonly reason: string;
} | {
    readonly kind: "unsecured";
} | {
    readonly kind: "no-key";
} | {
    readonly kind: "bad-signature";
} | {
    readonly kind: "too-deep";
    readonly levels: number;
} | {
    readonly kind: "no-claims";
    readonly reason: string;
};

// --- plugins/cluster/api.d.ts
export interface Bus {
    readonly group: string;
    readonly maxBytes: number;
    readonly usesNotify: boolean;
    readonly isMissing: boolean;
    readonly isUp: boolean;
    publish(topic: string, text: string): void;
    subscribe(topic: string, onMessage: (text: string, sender: string) => void, onMissed?: () => void): () => void;
}
export declare const busService: import("../../core/index.ts").ServiceToken<Bus>;
export interface BusHandlers {
    onMessage(topic: string, text: string): void;
    onConnect(): void;
    onMissed(topic: string): void;
    onDisconnect(reason: string): void;
}
export interface BusTransport {
    readonly maxBytes: number;
    publish(topic: string, text: string): void;
    subscribe(topic: string): void;
    unsubscribe(topic: string): void;
    close(): Promise<void>;
}
export declare const openBusHook: import("../../core/index.ts").Token<SyncBailHook<[
    url: string,
    namespace: string,
    handlers: BusHandlers
], BusTransport | undefined, import("tapable").UnsetAdditionalOptions>>;

// --- plugins/cluster/bus/bus.d.ts
export declare const bus: import("../../../core/plugin.ts").Plugin;

// --- plugins/cluster/bus/nats.d.ts
export declare const natsBus: import("../../../core/plugin.ts").Plugin;

// --- plugins/cluster/bus/notify.d.ts
export declare const notifyBus: import("../../../core/plugin.ts").Plugin;

// --- plugins/cluster/bus/redis-limits.d.ts
export declare const redisLimits: import("../../../core/plugin.ts").Plugin;

// --- plugins/cluster/bus/redis.d.ts
export declare const redisBus: import("../../../core/plugin.ts").Plugin;

// --- plugins/cluster/read-your-writes/index.d.ts
export declare const readYourWrites: import("../../../core/plugin.ts").Plugin;

// --- plugins/cluster/settings.d.ts
export declare const busSettings: readonly [
    import("../../core/index.ts").Setting<string | undefined, "busUrl">,
    import("../../core/index.ts").Setting<string, "busName">
];
export declare const redisLimitSettings: readonly [
    import("../../core/index.ts").Setting<string | undefined, "rateLimitRedisUrl">
];
export declare const readYourWritesSettings: readonly [
    import("../../core/index.ts").Setting<"both" | "cookie" | "header" | "off", "readYourWrites">
];
interface ResolvedOptions extends ValuesOf<typeof busSettings>, ValuesOf<typeof redisLimitSettings>, ValuesOf<typeof readYourWritesSettings> {
}

// --- plugins/database/api.d.ts
interface ApiMethods {
    reloadAll(): Promise<void>;
}
export declare const ADDITIONAL_OBJECTS = "additional-objects";
export declare const reloadOthersService: import("../../core/index.ts").ServiceToken<{
    requestReload(): void;
}>;

// --- plugins/database/connector/connector.d.ts
export declare const connector: import("../../../core/plugin.ts").Plugin;

// --- plugins/database/embedded/index.d.ts
export interface EmbeddedOptions {
    readonly dataDir?: string | undefined;
    readonly image?: "demo" | "empty" | (string & {});
    readonly extensions?: readonly string[];
    readonly loadScript?: string;
    readonly statementTimeout?: number;
    readonly log?: (line: string) => void;
}
export interface EmbeddedDatabase {
    readonly stream: () => Duplex;
    readonly ready: Promise<void>;
    close(): Promise<void>;
    dump(): Promise<Uint8Array>;
    restart(): Promise<void>;
}
export declare function embedded(options?: EmbeddedOptions): EmbeddedDatabase;

// --- plugins/database/introspect/catalog.d.ts
export declare const catalogIntrospection: import("../../../core/plugin.ts").Plugin;

// --- plugins/database/introspect/computed-relationships.d.ts
export declare const computedRelationships: import("../../../core/plugin.ts").Plugin;

// --- plugins/database/introspect/relationships.d.ts
export declare const relationships: import("../../../core/plugin.ts").Plugin;

// --- plugins/database/reload/index.d.ts
export declare const reloadChannel: import("../../../core/plugin.ts").Plugin;

// --- plugins/database/reload/poll.d.ts
export declare const reloadPoll: import("../../../core/plugin.ts").Plugin;

// --- plugins/database/reload/reload-all.d.ts
export declare const reloadAll: import("../../../core/plugin.ts").Plugin;

// --- plugins/database/settings.d.ts
export declare const connectorSettings: readonly [
    import("../../core/index.ts").Setting<string | undefined, "databaseUrl">,
    import("../../core/index.ts").Setting<string | undefined, "databaseDirectUrl">,
    import("../../core/index.ts").Setting<"auto" | "session" | "transaction", "databasePooler">,
    import("../../core/index.ts").Setting<readonly string[], "databaseReplicaUrls">,
    import("../../core/index.ts").Setting<number, "databaseReplicaMaxLag">,
    import("../../core/index.ts").Setting<number, "dbSilenceCheck">,
    import("../../core/index.ts").Setting<number, "dbSilenceLimit">
];
export declare const channelSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "dbChannelEnabled">
];
export declare const reloadPollSettings: readonly [
    import("../../core/index.ts").Setting<number, "dbSchemaPollInterval">
];
export declare const storeSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "dbConfig">,
    import("../../core/index.ts").Setting<string | undefined, "dbPreConfig">
];
interface ResolvedOptions extends ValuesOf<typeof connectorSettings>, ValuesOf<typeof channelSettings>, ValuesOf<typeof reloadPollSettings>, ValuesOf<typeof storeSettings> {
}

// --- plugins/database/stored-settings/index.d.ts
export declare const databaseSettings: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/api.d.ts
export declare const graphqlService: import("../../core/index.ts").ServiceToken<GqlEngine>;
export interface GqlHints {
    buildHints(error: RelApiError, session: Session, schema: () => RoleSchema): object | undefined;
}
export declare const graphqlHintsService: import("../../core/index.ts").ServiceToken<GqlHints>;
export declare const findGqlDocumentHook: import("../../core/index.ts").Token<SyncBailHook<[
    request: Readonly<Record<string, Json>>
], string | undefined, import("tapable").UnsetAdditionalOptions>>;
export declare const gqlDirectivesHook: import("../../core/index.ts").Token<SyncWaterfallHook<[
    directives: readonly GqlDirective[]
], readonly GqlDirective[], import("tapable").UnsetAdditionalOptions>>;
export declare const checkGqlDocumentHook: import("../../core/index.ts").Token<SyncHook<[
    text: string,
    session: Session,
    document: ValidatedDocument,
    sender: GqlSender | undefined
], void, import("tapable").UnsetAdditionalOptions>>;
export interface GraphqlCall<Variables = Readonly<Record<string, unknown>>> extends CallOptions {
    readonly query: string;
    readonly variables?: Variables;
    readonly operationName?: string;
}
export interface GraphqlResult<Data = any> {
    readonly data?: Data;
    readonly errors?: readonly {
        readonly message: string;
        readonly extensions: {
            readonly path: string;
            readonly code: string;
        };
    }[];
}
interface ApiMethods {
    graphql<Data = any>(call: GraphqlCall): Promise<GraphqlResult<Data>>;
}
interface OperatorSpec {
    readonly graphql?: string | false | {
        readonly name: string;
        readonly keywords: Readonly<Record<string, string>>;
    };
    readonly input?: {
        readonly typeName: string;
        readonly fields: Readonly<Record<string, string>>;
    };
    readonly takesNull?: boolean;
}
interface EmbedSpec {
    readonly graphql?: {
        readonly suffix: string;
        readonly answers?: "row" | "aggregate";
    };
}
interface UpdateOperatorSpec {
    readonly graphql: string;
    readonly inputDescription: string;
    readonly rejectsNull?: boolean;
}
interface AggregateSpec {
    readonly graphql?: string | false;
    readonly types?: readonly string[];
    readonly exceptTypes?: readonly string[];
    readonly result?: string;
}
interface OrderingSpec {
    readonly graphql?: string | false;
}
export declare const GQL_METADATA = "metadata";

// --- plugins/graphql/catalog-types.d.ts
export type GqlRootFieldName = "select" | "select_by_pk" | "select_aggregate" | "insert" | "insert_one" | "update" | "update_by_pk" | "update_many" | "delete" | "delete_by_pk";
export interface GqlRootFieldEntry {
    readonly name?: string;
    readonly comment?: string | null;
}
export interface GqlTableEntry {
    readonly relation: QualifiedName;
    readonly customName?: string;
    readonly comment?: string | null;
    readonly rootFields?: Readonly<Partial<Record<GqlRootFieldName, GqlRootFieldEntry>>>;
    readonly columns?: Readonly<Record<string, {
        readonly customName?: string;
        readonly comment?: string | null;
    }>>;
    readonly relationships: readonly {
        readonly name: string;
        readonly relationship: string;
        readonly isAfter?: boolean;
    }[];
    readonly computedFields: readonly GqlComputedEntry[];
    readonly primaryKey?: readonly string[];
    readonly enumValues?: readonly {
        readonly key: string;
        readonly comment: string | null;
    }[];
}
export interface GqlComputedEntry {
    readonly name: string;
    readonly routine: QualifiedName;
    readonly tableArgument?: string;
    readonly sessionArgument?: string;
    readonly comment?: string | null;
}
export interface GqlFunctionEntry {
    readonly routine: QualifiedName;
    readonly exposedAs?: "query" | "mutation";
    readonly sessionArgument?: string;
    readonly customName?: string;
    readonly rootFields?: {
        readonly function?: GqlRootFieldEntry;
        readonly function_aggregate?: GqlRootFieldEntry;
    };
    readonly comment?: string | null;
}
export interface GqlCustomization {
    readonly namespace?: string;
    readonly rootPrefix?: string;
    readonly rootSuffix?: string;
    readonly typePrefix?: string;
    readonly typeSuffix?: string;
    readonly namingConvention?: "hasura-default" | "graphql-default";
}
export interface GqlMetadata {
    readonly customization?: GqlCustomization;
    readonly tables?: readonly GqlTableEntry[];
    readonly functions?: readonly GqlFunctionEntry[];
    readonly introspectionClosedFor?: ReadonlySet<string>;
    findAccess(session: Session): GqlRoleAccess | undefined;
}
export interface GqlColumn {
    readonly column: Column;
    readonly name: string;
    readonly comment: string | null;
    readonly enumTable?: GqlEnumTable;
}
export interface GqlRelationshipField {
    readonly name: string;
    readonly relationship: Relationship;
    readonly target: Relation;
    readonly isAfter?: boolean;
}
export interface GqlTable {
    readonly relation: Relation;
    readonly namePart: GqlNamePart;
    readonly comment: string | null | undefined;
    readonly columns: readonly GqlColumn[];
    readonly relationships: readonly GqlRelationshipField[];
    readonly computedFields: readonly GqlComputedField[];
    readonly rootFields: Readonly<Partial<Record<GqlRootFieldName, GqlRootFieldEntry>>>;
    readonly primaryKey: readonly string[];
    readonly enumTable?: GqlEnumTable;
}
export interface GqlFunction {
    readonly routine: Routine;
    readonly relation: Relation;
    readonly namePart: GqlNamePart;
    readonly rootFields: {
        readonly function?: GqlRootFieldEntry;
        readonly function_aggregate?: GqlRootFieldEntry;
    };
    readonly comment: string | null | undefined;
    readonly isMutation: boolean;
    readonly sessionArgument?: number;
}
export interface GqlNamePart {
    readonly text: string;
    readonly isCustom: boolean;
}
export interface GqlCatalog {
    readonly tables: readonly GqlTable[];
    readonly tablesByKey: ReadonlyMap<string, GqlTable>;
    readonly functions: readonly GqlFunction[];
    readonly customization: GqlCustomization;
}
export interface GqlTableRights {
    readonly select?: {
        readonly columns: ReadonlySet<string>;
        readonly computedFields: ReadonlySet<string>;
        readonly mayAggregate: boolean;
        readonly queryRootFields?: ReadonlySet<GqlRootFieldName>;
        readonly subscriptionRootFields?: ReadonlySet<GqlRootFieldName>;
        readonly masked?: ReadonlySet<string>;
        readonly isFiltered?: true;
    };
    readonly insert?: {
        readonly columns: ReadonlySet<string>;
        readonly readsConflicts?: true;
    };
    readonly update?: {
        readonly columns: ReadonlySet<string>;
    };
    readonly delete?: true;
}
export interface GqlRoleAccess {
    readonly role: string;
    readonly isAdmin?: boolean;
    readonly databaseRole?: string;
    rights(table: GqlTable): GqlTableRights;
    mayCall(fn: GqlFunction): boolean;
    readonly isBackend?: boolean;
    readonly isIntrospectionClosed?: boolean;
}

// --- plugins/graphql/directives.d.ts
export interface GqlDirective {
    readonly name: string;
    readonly description: string;
    readonly on: readonly ("query" | "mutation" | "subscription")[];
    readonly arguments: Readonly<Record<string, boolean>>;
}
export type DirectiveTarget = "a query" | "a mutation" | "a subscription" | "a field" | "a fragment spread" | "an inline fragment";
export interface DirectiveSpec {
    readonly description?: string;
    readonly targets: readonly DirectiveTarget[];
    readonly arguments: Readonly<Record<string, {
        readonly type: GraphQLInputType;
        readonly defaultValue?: unknown;
    }>>;
    readonly pluginDirective?: GqlDirective;
}
export type Directives = Readonly<Record<string, DirectiveSpec>>;
export type ReadDirectives = ReadonlyMap<string, Readonly<Record<string, boolean>>>;

// --- plugins/graphql/encode-error.d.ts
export interface EncodedErrors {
    readonly body: string;
    readonly code: string;
    readonly status: number;
    readonly keepsStatus: boolean;
    readonly headers: Headers;
}

// --- plugins/graphql/field-types.d.ts
export interface GqlTypeExtension {
    readonly scope: GqlScope;
    readonly relation?: Relation;
    readonly value?: GqlValueType;
}
export interface GqlField {
    readonly config: GraphQLFieldConfig<unknown, unknown> | GraphQLInputFieldConfig;
    readonly toPlan: GqlPart;
}
export type GqlFields = Readonly<Record<string, GqlField>>;
export interface GqlFieldContext {
    readonly scope: GqlScope;
    readonly typeName: string;
    readonly model: Model;
    readonly role: string;
    readonly relation?: Relation;
    readonly routine?: Routine;
    readonly computedField?: GqlComputedField;
    readonly value?: GqlValueType;
    readonly fn?: string;
    readonly build: GqlBuild;
}
export interface GqlVariant {
    readonly name: string;
    readonly takesUnknownVariables?: true;
    fields(fields: GqlFields, context: GqlFieldContext): GqlFields;
    interfaces?(context: GqlFieldContext): readonly GraphQLInterfaceType[];
}
export interface GqlTypeSpec extends Omit<GqlFieldContext, "typeName" | "model" | "role" | "build"> {
    readonly name: string;
    readonly description?: string | null;
    readonly isOptional?: boolean;
}
export interface GqlEnumSpec {
    readonly name: string;
    readonly description?: string | null;
    readonly relation?: Relation;
    readonly values: () => readonly {
        readonly name: string;
        readonly value: unknown;
        readonly part: GqlPart;
        readonly description?: string | null;
    }[];
}
export interface GqlRowsField {
    readonly description: string;
    readonly args?: Readonly<Record<string, GraphQLArgumentConfig>>;
    readonly transformRead: (read: Read, context: GqlSelectionContext) => Read;
}
export interface GqlJoinedField extends Pick<GqlJoin, "columns" | "isToOne"> {
    readonly description: string | undefined;
}
export interface GqlDelegatedField {
    readonly plugin: string;
    readonly config: GraphQLFieldConfig<unknown, unknown>;
    readonly members: readonly string[];
    readonly delegate: GqlDelegate;
}
export type GqlRootName = "query" | "mutation" | "subscription";
export interface GqlBuild {
    readonly schema: RoleSchema;
    readonly catalog: GqlCatalog;
    readonly access: GqlRoleAccess;
    table(relation: QualifiedName): GqlTable | undefined;
    rights(table: GqlTable): GqlTableRights;
    mayHideRows(table: GqlTable): boolean;
    typeName(...nameParts: readonly (string | GqlNamePart)[]): string;
    rowType(table: GqlTable): GraphQLObjectType | undefined;
    mutationResponse(table: GqlTable): GraphQLObjectType | undefined;
    aggregateFields(table: GqlTable): GraphQLObjectType | undefined;
    aggregateFunctions(): readonly {
        readonly fn: string;
        readonly name: string;
        findResultType(value: GqlValueType): GqlValueType | undefined;
    }[];
    orderDirection(): GraphQLEnumType | undefined;
    listArguments(table: GqlTable): Readonly<Record<string, GraphQLArgumentConfig>>;
    rowsField(table: GqlTable, field: GqlRowsField): GqlField | undefined;
    joinedField(table: GqlTable, field: GqlJoinedField): GraphQLFieldConfig<unknown, unknown> | undefined;
    delegatedField(field: GqlDelegatedField): GraphQLFieldConfig<unknown, unknown>;
    boolExp(table: GqlTable): GraphQLInputObjectType | undefined;
    updates(table: GqlTable): GraphQLInputObjectType | undefined;
    relatedInsert(table: GqlTable, isToOne: boolean): GraphQLInputObjectType | undefined;
    updateOperators(table: GqlTable): GqlFields;
    rootName(...nameParts: readonly (string | GqlNamePart)[]): string;
    sharedTypeName(...nameParts: readonly (string | GqlNamePart)[]): string;
    bareTypeName(...nameParts: readonly (string | GqlNamePart)[]): string;
    predicateTypeName(...nameParts: readonly (string | GqlNamePart)[]): string;
    fieldName(...nameParts: readonly (string | GqlNamePart)[]): string;
    enumValue(name: string): string;
    object(spec: GqlTypeSpec): GraphQLObjectType | undefined;
    inputObject(spec: GqlTypeSpec): GraphQLInputObjectType | undefined;
    enumeration(spec: GqlEnumSpec): GraphQLEnumType | undefined;
    valueOutput(value: GqlValueType): GraphQLOutputType;
    valueInput(value: GqlValueType): GraphQLInputType;
    comparison(value: GqlValueType): GraphQLInputObjectType | undefined;
    valueType(type: number | string, isNullable?: boolean): GqlValueType | undefined;
    argumentType(type: number): GqlValueType | undefined;
    columnValue(column: GqlColumn): GqlValueType | undefined;
}

// --- plugins/graphql/graphql.d.ts
export declare const graphql: import("../../core/plugin.ts").Plugin;

// --- plugins/graphql/hints.d.ts
export declare const graphqlHints: import("../../core/plugin.ts").Plugin;

// --- plugins/graphql/http/endpoints.d.ts
export declare const restEndpoints: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/http/get-requests.d.ts
export declare const graphqlGet: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/introspection/introspection.d.ts
export declare const graphqlIntrospection: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/operations.d.ts
export interface GqlLiveExample {
    readonly subscription: string;
    readonly mutation: string;
    readonly key: string;
    readonly column: string;
    readonly mayUpdate: boolean;
}
export interface GqlRequest {
    readonly query: string;
    readonly operationName?: string;
    readonly variables?: Readonly<Record<string, Json>>;
}
export interface ValidatedDocument {
    readonly operation: "query" | "mutation" | "subscription";
    readonly namedOperation: Operation;
    readonly levels: number;
    readonly nodes: number;
    readonly rootFields: number;
    readonly aliases: number;
    readonly directives: readonly string[];
    bind(): GqlOperation;
}
export interface GqlOperation {
    readonly kind: "query" | "mutation" | "subscription";
    readonly document: string;
    readonly directives: ReadDirectives;
    readonly access: "read only" | "read write";
    readonly steps: readonly GqlStep[];
    readonly plans: readonly Plan[];
    readonly outputs: readonly GqlOutput[];
    readonly isIntrospecting?: boolean;
    readonly calls: readonly GqlCall[];
    readonly loads: readonly GqlLoads[];
    cachePlan(): void;
}
export interface GqlStep {
    readonly planned: PlanWithEnvelope;
    readonly program: Program;
    readonly values: readonly SentValue[];
    readonly path: string;
}
export interface GqlCall {
    readonly origin: string;
    readonly path: string;
    run(context: GqlCallContext, followUp: GqlFollowUp): Promise<string>;
    readonly live: ((session: Session) => GqlLiveCall) | undefined;
    readonly events?: GqlEvents | undefined;
    readonly afterSteps?: number | undefined;
}
export interface GqlEvents {
    isSame(events: GqlEvents): boolean;
    open(context: GqlCallContext, emit: (event: string | RelApiError) => Promise<void>): Promise<void>;
    complete(event: string, followUp: GqlFollowUp): Promise<string>;
}
export interface GqlFollowUp {
    read(joins: readonly GqlJoinedRead[]): Promise<readonly (readonly string[])[]>;
    load(load: GqlLoad, objects: readonly GqlLoadedRow[]): Promise<readonly string[]>;
}
export interface GqlJoinedRead extends GqlStep {
    readonly loads: readonly GqlLoads[];
}
export interface GqlLiveCall {
    readonly program: Program;
    text(body: string | null): string;
    readonly complete: ((body: string | null, followUp: GqlFollowUp) => Promise<string>) | undefined;
    convertError(error: unknown): unknown;
}
export interface GqlLoads {
    readonly step: number;
    readonly tree: GqlLoadTree;
    readonly fields: readonly GqlLoad[];
}
export type GqlLoadTree = ReadonlyMap<string, GqlLoadTree | number>;
export interface GqlLoad extends Pick<GqlCall, "origin" | "path"> {
    readonly key: string;
    run(rows: readonly GqlLoadedRow[], context: GqlCallContext, followUp: GqlFollowUp): Promise<readonly string[]>;
}
export type GqlOutput = {
    readonly as: string;
    readonly text: string;
} | {
    readonly as: string;
    readonly text: string;
    readonly pieces: () => TextParts;
} | {
    readonly as: string;
    readonly step: number;
} | {
    readonly bundle: number;
} | {
    readonly as: string;
    readonly call: number;
} | {
    readonly as: string;
    readonly list: readonly (number | string)[];
} | {
    readonly as: string;
    readonly outputs: readonly GqlOutput[];
};
export interface GqlSender {
    readonly request: IncomingMessage;
    readonly batchSize?: number;
}
export interface GqlEngine {
    readonly credentialRules: CredentialRules;
    readonly path: string;
    derive(variant: GqlVariant): GqlEngine;
    buildExampleQuery(session: Session): string | undefined | Promise<string | undefined>;
    buildLiveExample(session: Session): GqlLiveExample | undefined | Promise<GqlLiveExample | undefined>;
    prepare(request: GqlRequest, session: Session, sender?: GqlSender): ValidatedDocument | Promise<ValidatedDocument>;
    run<LongResult = never>(operation: GqlOperation, session: Session, run?: GqlRunOptions<LongResult>): Promise<string | LongResult>;
    runRequest<LongResult = never>(exchange: Exchange, request: GqlRequest, options?: GqlRequestOptions<LongResult>): Promise<string | LongResult>;
    assemble(operation: GqlOperation, bodies: readonly (string | null)[], calls?: readonly string[]): string;
    completeLive(operation: GqlOperation, calls: readonly GqlLiveCall[], bodies: readonly (string | null)[], session: Session, settings?: GqlRunOptions["settings"]): Promise<string>;
    openEvents(operation: GqlOperation, session: Session, signal: AbortSignal, emit: (event: string | RelApiError) => Promise<void>): Promise<void>;
    assembleEvent(operation: GqlOperation, event: string, session: Session, settings?: GqlRunOptions["settings"]): Promise<string>;
    parseJson(text: string): Json;
    parseRequestJson(text: string | undefined, at?: string): Json;
    createNames(customization: GqlCustomization): NameBuilder;
    readRequest(value: Json): GqlRequest;
    encodeErrors(error: unknown, session: Session | undefined): EncodedErrors;
}
export interface PackedBody {
    plain(): Promise<Buffer>;
    gzip(): Promise<Buffer>;
}
export interface GqlLongBody<LongResult> extends Pick<LongBodyHandler, "aboveBytes"> {
    take(body: ArrivingBody, before: string, after: string): {
        readonly receiver: ValueReceiver;
        readonly result: LongResult | Promise<LongResult>;
    } | undefined;
    takePacked?(body: PackedBody): LongResult;
}
export interface GqlRunOptions<LongResult = never> extends Pick<Execution, "exchange" | "requestSettings"> {
    readonly longBody?: GqlLongBody<LongResult> | undefined;
    readonly settings?: readonly (readonly [
        name: string,
        value: string
    ])[];
    readonly onDisconnect?: (listener: () => void) => () => void;
    readonly end?: "commit" | "rollback";
    readonly access?: "read only" | undefined;
}
export interface GqlRequestOptions<LongResult = never> extends Pick<GqlRunOptions<LongResult>, "access" | "longBody"> {
    readonly sender?: GqlSender;
    readonly path?: string | undefined;
}

// --- plugins/graphql/part-kinds.d.ts
export type GqlArgumentName = "where" | "order_by" | "limit" | "offset" | "distinct_on" | "having" | "objects" | "object" | "on_conflict" | "pk_columns" | "updates" | "data" | "constraint" | "update_columns" | "args" | "path" | "columns" | "distinct" | "arguments" | "filter" | "predicate" | "X" | "Y";
export type GqlRootKind = "list" | "aggregate" | "by-pk" | "insert" | "insert-one" | "update" | "update-by-pk" | "update-many" | "delete" | "delete-by-pk";
export type GqlScope = "query_root" | "mutation_root" | "subscription_root" | "row" | "record" | "terms" | "input" | "aggregate" | "aggregate_fields" | "aggregate_columns" | "mutation_response" | "bool_exp" | "comparison_exp" | "cast_exp" | "operand" | "aggregate_bool_exp" | "predicate" | "predicate_arguments" | "order_by" | "ordering" | "aggregate_order_by" | "aggregate_order_by_columns" | "insert_input" | "rel_insert_input" | "on_conflict" | "update_input" | "updates" | "pk_columns" | "function_args" | "enum";

// --- plugins/graphql/plan-parts.d.ts
export type GqlPart = {
    readonly kind: GqlRootKind;
    readonly relation: Relation;
} | {
    readonly kind: "function";
    readonly routine: Routine;
    readonly relation: Relation;
    readonly isAggregate: boolean;
    readonly sessionArgument?: number;
} | {
    readonly kind: "namespace";
} | {
    readonly kind: "constant";
    readonly text: string;
} | {
    readonly kind: "column";
    readonly column: Column;
    readonly relation: Relation;
    readonly value: GqlValueType;
} | {
    readonly kind: "relationship";
    readonly relationship: Relationship;
    readonly target: Relation;
    readonly isAfter?: boolean;
    readonly mode?: string;
} | {
    readonly kind: "relationship-aggregate";
    readonly relationship: Relationship;
    readonly target: Relation;
} | {
    readonly kind: "computed";
    readonly field: GqlComputedField;
    readonly relation: Relation;
    readonly value?: GqlValueType;
    readonly isAggregate?: boolean;
} | ({
    readonly kind: "custom";
    readonly plugin?: string;
} & GqlFieldImplementation) | {
    readonly kind: "aggregate-fields";
} | {
    readonly kind: "nodes";
} | {
    readonly kind: "count";
} | {
    readonly kind: "aggregate-function";
    readonly fn: string;
} | {
    readonly kind: "affected-rows";
} | {
    readonly kind: "returning";
} | {
    readonly kind: "and" | "or" | "not";
} | {
    readonly kind: "expression";
    readonly expression: Expression;
    readonly value: GqlValueType;
} | {
    readonly kind: "members";
} | {
    readonly kind: "operator";
    readonly operator: OperatorSpec;
    readonly keywords?: Readonly<Record<string, string>>;
    readonly value?: GqlValueType;
} | {
    readonly kind: "cast";
} | {
    readonly kind: "cast-to";
    readonly value: GqlValueType;
} | {
    readonly kind: "operand-field";
    readonly name: string;
    readonly value: GqlValueType;
} | {
    readonly kind: "predicate";
    readonly fn: string;
    readonly value: GqlValueType;
    readonly columns: "any" | 1 | 2;
} | {
    readonly kind: "update-operator";
    readonly operator: UpdateOperatorSpec;
} | {
    readonly kind: "update-additions";
    readonly writes: (input: GqlInput, writing: GqlWriting) => GqlUpdateAdditions | undefined;
} | {
    readonly kind: "own";
    readonly name: string;
} | {
    readonly kind: "update-column";
    readonly column: Column;
    readonly relation: Relation;
    readonly value: GqlValueType;
} | {
    readonly kind: "constraint";
    readonly name: string;
    readonly columns: readonly string[];
} | {
    readonly kind: "placeholder";
} | {
    readonly kind: "function-argument";
    readonly parameter: RoutineParameter;
    readonly index: number;
    readonly value: GqlValueType;
} | {
    readonly kind: "argument";
    readonly name: GqlArgumentName;
} | {
    readonly kind: "ordering";
    readonly ordering: OrderingSpec;
    readonly column: Column;
} | {
    readonly kind: "direction";
    readonly direction: "asc" | "desc";
    readonly nulls: "first" | "last";
} | {
    readonly kind: "enum-key";
    readonly key: string;
};
export type GqlFieldImplementation = {
    readonly output: (selection: GqlSelection, context: GqlSelectionContext) => Output;
} | {
    readonly plan: (selection: GqlSelection, context: GqlSelectionContext) => Read | Insert | Update | Delete;
} | {
    readonly statement: string;
} | {
    readonly run: (request: GqlFunctionRequest) => Json | Promise<Json>;
    readonly live?: (request: Omit<GqlFunctionRequest, "signal" | "document">) => GqlLiveField;
} | {
    readonly forward: GqlForward;
} | {
    readonly join: GqlJoin;
} | {
    readonly columns: readonly string[];
    readonly load: (rows: readonly GqlLoadedRow[], request: GqlFunctionRequest) => readonly Json[] | Promise<readonly Json[]>;
} | {
    readonly columns: readonly string[];
    readonly delegate: GqlDelegate;
};
export interface GqlJoin {
    readonly relation: Relation;
    readonly columns: readonly (readonly [
        member: string,
        column: string
    ])[];
    readonly isToOne: boolean;
}
export interface GqlLiveField {
    readonly program: Program;
    read(body: string): Json;
    convertError(error: unknown): unknown;
}
export interface GqlForward {
    readonly types?: readonly GraphQLNamedType[];
    readonly hasLinks?: boolean;
    check(document: DocumentNode, path: string): void;
    run(request: GqlForwardRequest): Promise<string>;
    subscribe?(request: GqlForwardRequest, emit: (event: string | RelApiError) => Promise<void>): Promise<void>;
}
export interface GqlDelegate extends Pick<GqlForward, "types" | "hasLinks" | "check"> {
    load(rows: readonly GqlLoadedRow[], request: GqlForwardRequest): Promise<readonly string[]>;
}
export interface GqlForwardRequest extends Omit<GqlFunctionRequest, "arguments" | "selection" | "document"> {
    readonly document: DocumentNode;
    readonly variables: Readonly<Record<string, Json>>;
}
export type GqlLoadedRow = Readonly<Record<string, Json>>;
export interface GqlSelection {
    readonly as: string;
    readonly path: string;
    readonly node: FieldNode;
    readonly arguments: Readonly<Record<string, Json>>;
}
export interface GqlSelectionContext {
    readonly schema: RoleSchema;
    readonly relation: Relation | undefined;
    bind(boundValue: BoundValue): {
        readonly param: number;
    };
    argument(name: string, type?: string): ValueRef | undefined;
    rows(type?: GraphQLObjectType): readonly Output[];
    list(): Pick<Read, "where" | "orderBy" | "distinctOn" | "having" | "limit" | "offset" | "cap">;
    aggregates(): readonly Output[];
    fields(): readonly GqlOwnSelected[];
}
export interface GqlOwnSelected {
    readonly as: string;
    readonly name: string;
    readonly type: GraphQLObjectType;
    fields(): readonly GqlOwnSelected[];
    rows(): readonly Output[];
}
export interface GqlFunctionRequest {
    readonly arguments: Readonly<Record<string, Json>>;
    readonly session: Session;
    readonly selection: readonly GqlSelected[];
    readonly signal: AbortSignal;
    readonly exchange?: OpenExchange | undefined;
    readonly document: string;
}
export type GqlCallContext = Pick<GqlFunctionRequest, "session" | "signal" | "exchange" | "document">;
export interface GqlSelected {
    readonly as: string;
    readonly name: string;
    readonly key: string;
    readonly arguments: Readonly<Record<string, Json>>;
    readonly selection: readonly GqlSelected[];
}
export interface GqlInput {
    readonly path: string;
    readonly isNull: boolean;
    fields(): readonly GqlInputField[];
    items(): readonly GqlInput[];
    isTrue(): boolean;
}
export interface GqlInputField extends GqlInput {
    readonly name: string;
    readonly part: GqlPart | undefined;
}
export interface GqlWriting {
    readonly schema: RoleSchema;
    readonly relation: Relation;
    addStep(make: (stepNumber: number) => SequenceStep): number;
    planCondition(input: GqlInput): Predicate | undefined;
    bindValue(input: GqlInput, type: GqlValueType): ValueRef;
    insert(input: GqlInput, relationship: Relationship, parent?: number): number | undefined;
    update(input: GqlInput, relation: Relation, condition: Predicate): number;
}
export interface GqlUpdateAdditions {
    readonly assignments?: readonly Assignment[];
    readonly requires?: readonly Omit<StepRequirement, "step">[];
    addLaterSteps?(step: number): void;
}

// --- plugins/graphql/settings.d.ts
export declare const graphqlSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "errorHints">,
    import("../../core/index.ts").Setting<boolean, "graphqlOverHttp">,
    import("../../core/index.ts").Setting<boolean, "stringifyNumericTypes">,
    import("../../core/index.ts").Setting<boolean, "v1BooleanNullCollapse">,
    import("../../core/index.ts").Setting<boolean, "disablePostgresArrays">,
    import("../../core/index.ts").Setting<boolean, "noNullUnboundVariableDefault">,
    import("../../core/index.ts").Setting<"graphql-default" | "hasura-default", "defaultNamingConvention">
];
export declare const relationshipSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "nullableRelationships">
];
export declare const persistedSettings: readonly [
    import("../../core/index.ts").Setting<number, "persistedQueryBytes">
];
export declare const trustedSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "enableAllowlist">,
    import("../../core/index.ts").Setting<string | undefined, "trustedDocuments">
];
export declare const graphqlLimits: readonly [
    import("../../core/index.ts").Setting<number, "maxDocumentBytes">,
    import("../../core/index.ts").Setting<number, "maxDocumentDepth">,
    import("../../core/index.ts").Setting<number, "maxDocumentFields">,
    import("../../core/index.ts").Setting<number, "maxAliases">,
    import("../../core/index.ts").Setting<number, "maxRootFields">,
    import("../../core/index.ts").Setting<number, "maxRelatedConditions">,
    import("../../core/index.ts").Setting<number, "maxIntrospectionDepth">,
    import("../../core/index.ts").Setting<number, "maxIntrospectionLists">,
    import("../../core/index.ts").Setting<number, "maxVariablesBytes">,
    import("../../core/index.ts").Setting<number, "maxListItems">,
    import("../../core/index.ts").Setting<number, "maxInsertValues">,
    import("../../core/index.ts").Setting<number, "maxWriteStatements">,
    import("../../core/index.ts").Setting<number, "maxBatchEntries">,
    import("../../core/index.ts").Setting<number, "maxBatchBytes">
];
interface ResolvedOptions extends ValuesOf<typeof graphqlSettings>, ValuesOf<typeof relationshipSettings>, ValuesOf<typeof persistedSettings>, ValuesOf<typeof trustedSettings> {
}
interface RequestLimits extends ValuesOf<typeof graphqlLimits> {
}

// --- plugins/graphql/stored-documents/persisted-queries.d.ts
export declare const persistedQueries: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/stored-documents/trusted-documents.d.ts
export declare const trustedDocuments: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/aggregate-predicates.d.ts
export declare const aggregatePredicates: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/aggregates.d.ts
export declare const graphqlAggregates: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/comparisons.d.ts
export declare const graphqlComparisons: import("../../../core/plugin.ts").Plugin;
export declare const graphqlCasts: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/computed-fields.d.ts
export declare const graphqlComputedFields: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/deletes.d.ts
export declare const graphqlDeletes: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/functions.d.ts
export declare const graphqlFunctions: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/inserts.d.ts
export declare const graphqlInserts: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/names.d.ts
type NamePart = string | GqlNamePart;
export interface NameBuilder {
    typeName(...nameParts: readonly NamePart[]): string;
    sharedTypeName(...nameParts: readonly NamePart[]): string;
    bareTypeName(...nameParts: readonly NamePart[]): string;
    predicateTypeName(...nameParts: readonly NamePart[]): string;
    namespaceTypeName(name: string): string;
    rootName(...nameParts: readonly NamePart[]): string;
    fieldName(...nameParts: readonly NamePart[]): string;
    enumValue(name: string): string;
}

// --- plugins/graphql/types/queries.d.ts
export declare const graphqlQueries: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/relationships.d.ts
export declare const graphqlRelationships: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/types/role-schema.d.ts
export type TextParts<Result = void> = Generator<Buffer | void, Result, void>;
export interface RoleSchema {
    readonly model: Model;
    readonly role: string;
    readonly registry: Registry;
    readonly options: ResolvedOptions;
    readonly query: GraphQLObjectType;
    readonly mutation: GraphQLObjectType | undefined;
    readonly subscription: GraphQLObjectType | undefined;
    readonly metaFields: ReadonlyMap<string, GraphQLField<unknown, unknown>>;
    readonly isIntrospectionClosed: boolean;
    readonly directives: Directives;
    findField(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> | undefined;
    introspect(field: FieldNode, document: DocumentNode, variables: Readonly<Record<string, unknown>>): TextParts;
    buildCompleteSchema(): Slices<RoleSchema>;
    columnName(relation: Relation, column: string): string;
}

// --- plugins/graphql/types/updates.d.ts
export declare const graphqlUpdates: import("../../../core/plugin.ts").Plugin;

// --- plugins/graphql/value-types.d.ts
export interface GqlValueType {
    readonly scalar: string;
    readonly type: PgType;
    readonly cast: string;
    readonly isNullable: boolean;
    readonly element?: GqlValueType;
    readonly enumTable?: GqlEnumTable;
}
export interface GqlEnumTable {
    readonly relation: Relation;
    readonly values: readonly {
        readonly name: string;
        readonly key: string;
        readonly comment: string | null;
    }[];
}
export interface GqlComputedField {
    readonly name: string;
    readonly routine: Routine;
    readonly tableArgument: number;
    readonly sessionArgument?: number;
    readonly target?: Relation;
    readonly comment: string | null;
}

// --- plugins/limits/anonymous-timeout.d.ts
export declare const anonymousTimeout: import("../../core/plugin.ts").Plugin;

// --- plugins/limits/api-limits.d.ts
export declare const apiLimits: import("../../core/plugin.ts").Plugin;

// --- plugins/limits/api.d.ts
export interface ApiLimits {
    findTimeLimitSeconds(session: Session): number | undefined;
    createTimeExceededError(seconds: number): RelApiError;
}
export declare const apiLimitsService: import("../../core/index.ts").ServiceToken<{
    current(): ApiLimits | undefined;
}>;
export interface CostLimits {
    check(execution: Execution): Promise<void> | undefined;
}
export declare const costLimitsService: import("../../core/index.ts").ServiceToken<{
    current(): CostLimits | undefined;
}>;
export interface TokenBuckets<Wait> {
    take(key: string, perMinute: number, burst: number, isOwed?: boolean): Wait;
}
export type SharedTokenBuckets = TokenBuckets<Promise<number | undefined>>;
export declare const redisBucketsService: import("../../core/index.ts").ServiceToken<SharedTokenBuckets & {
    open(): void;
}>;
export declare const workerBucketsService: import("../../core/index.ts").ServiceToken<SharedTokenBuckets>;

// --- plugins/limits/cost-limits.d.ts
export declare const costLimits: import("../../core/plugin.ts").Plugin;

// --- plugins/limits/rate-limits.d.ts
export declare const rateLimits: import("../../core/plugin.ts").Plugin;

// --- plugins/limits/row-limits.d.ts
export declare const rowLimits: import("../../core/plugin.ts").Plugin;

// --- plugins/limits/safe-writes.d.ts
export declare const safeWrites: import("../../core/plugin.ts").Plugin;

// --- plugins/limits/settings.d.ts
export declare const safeWriteSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "safeWrites">
];
export declare const rateLimitSettings: readonly [
    import("../../core/index.ts").Setting<Readonly<Record<string, number>> | undefined, "rateLimits">,
    import("../../core/index.ts").Setting<number | undefined, "rateLimitBurst">,
    import("../../core/index.ts").Setting<readonly string[], "rateLimitBy">,
    import("../../core/index.ts").Setting<number, "trustedProxies">
];
export declare const anonymousTimeoutSettings: readonly [
    import("../../core/index.ts").Setting<number | undefined, "anonStatementTimeout">
];
export declare const rowLimitSettings: readonly [
    import("../../core/index.ts").Setting<Readonly<Record<string, number>> | undefined, "rowLimits">
];
export declare const costLimitSettings: readonly [
    import("../../core/index.ts").Setting<Readonly<Record<string, number>> | undefined, "costLimits">,
    import("../../core/index.ts").Setting<Readonly<Record<string, number>> | undefined, "estimatedRowLimits">
];
export declare const apiLimitSettings: readonly [
    import("../../core/index.ts").Setting<Readonly<Record<string, Json>> | undefined, "apiLimits">
];
interface ResolvedOptions extends ValuesOf<typeof safeWriteSettings>, ValuesOf<typeof rateLimitSettings>, ValuesOf<typeof anonymousTimeoutSettings>, ValuesOf<typeof rowLimitSettings>, ValuesOf<typeof costLimitSettings>, ValuesOf<typeof apiLimitSettings> {
}

// --- plugins/limits/worker-limits.d.ts
export declare const workerLimits: import("../../core/plugin.ts").Plugin;

// --- plugins/live/api.d.ts
export interface LiveQuery {
    readonly session: Session;
    readonly schema: string;
    readonly keepsLoginPath?: Execution["keepsLoginPath"];
    readonly settings?: Execution["settings"];
    readonly isolation?: string;
    readonly programs: Execution["programs"];
    readonly form: string;
    assemble(bodies: readonly (string | null)[]): string;
    readonly complete?: (bodies: readonly (string | null)[]) => Promise<string>;
}
export interface LiveEvents {
    isSame(otherEvents: LiveEvents): boolean;
    open(signal: AbortSignal, emit: (event: string | Error) => Promise<void>): Promise<void>;
    complete(event: string): Promise<string>;
}
export interface LiveSource {
    plan(): LiveQuery | LiveEvents | Promise<LiveQuery | LiveEvents>;
    encodeError(error: unknown): string;
}
export interface LiveResult {
    readonly hash: string;
    readonly text: string;
    readonly isError: boolean;
    readonly isEvent?: boolean;
}
export interface Subscriber {
    answer(answer: LiveResult): void;
    isSlow?(): boolean;
    whenFast?(): Promise<void>;
    end(error?: unknown): void;
    complete?(): void;
}
export interface LiveQueries {
    subscribe(source: LiveSource, subscriber: Subscriber, lastHash?: string): () => void;
    rewatch(): void;
    readonly isIdle: boolean;
    plans(): readonly PlanFigures[];
    graphqlSource(engine: GqlEngine, request: GqlRequest, session: Session, settings?: Execution["settings"]): LiveSource;
}
export declare const liveQueriesService: import("../../core/index.ts").ServiceToken<LiveQueries>;
export interface LiveMessage {
    readonly version: number;
    readonly patch?: string;
}
export interface LivePatcher {
    next(result: LiveResult): LiveMessage | undefined;
    close(): void;
}
export declare const livePatchesService: import("../../core/index.ts").ServiceToken<{
    readonly open: () => LivePatcher;
}>;
export declare const eventStreamsService: import("../../core/index.ts").ServiceToken<{
    readonly isServed: () => boolean;
}>;
export interface CohortCounts {
    runs: number;
    rows: number;
    deliveries: number;
    skipped: number;
    lagMs: number | undefined;
}
export interface PlanFigures extends Readonly<CohortCounts> {
    readonly planKey: string;
    readonly role: string;
    readonly isAdmin: boolean;
    readonly statements: readonly string[];
    readonly relations: readonly string[];
    readonly cohorts: number;
    readonly sharedCohorts: number;
    readonly subscribers: number;
    readonly queries: number;
}
export interface LiveRun {
    readonly session: Session;
    readonly changedAtMs?: number | undefined;
    readonly startedAtMs: number;
    readonly ranAtMs: number;
    readonly endedAtMs: number;
    readonly queries: number;
    readonly deliveries: number;
    readonly bytes: number;
}
export declare const liveRunEndedSignal: import("../../core/index.ts").Token<import("../../core/index.ts").Signal<LiveRun>>;
export type ReportedCell = string | null | 0;
export type RowChange = readonly [
    before: readonly ReportedCell[] | null,
    after: readonly ReportedCell[] | null
];
export interface ChangedRows {
    readonly columns: readonly string[];
    readonly rows: readonly RowChange[];
}
export type TableChanges = ReadonlyMap<string, ChangedRows | undefined>;
export type ChangedKeys = ReadonlyMap<string, ReadonlySet<string> | undefined>;
export interface ChangeFeedHandlers {
    committed(xid: number, changes: ChangedKeys, lagMs?: number): void;
    keyColumn(relation: string): string | undefined;
    lost(reason: string): void;
}
export interface ChangeFeed {
    end(): Promise<void>;
}
export type OpenChangeFeed = (handlers: ChangeFeedHandlers) => Promise<ChangeFeed>;
export declare const changeFeedService: import("../../core/index.ts").ServiceToken<{
    readonly open: OpenChangeFeed;
}>;
export interface Interest {
    readonly relations: ReadonlySet<string>;
    readonly isOpenEnded: boolean;
    readonly columns: ReadonlyMap<string, readonly string[]>;
    onColumns(listener: () => void): void;
}
export type ReportChange = (relation?: string, rows?: ChangedRows) => void;
export type Unwatch = () => void;
export declare const watchChangesHook: import("../../core/index.ts").Token<SyncBailHook<[
    interest: Interest,
    changed: ReportChange
], Unwatch | undefined, import("tapable").UnsetAdditionalOptions>>;
export interface Upgrade {
    readonly request: IncomingMessage;
    readonly socket: Duplex;
    readonly head: Buffer;
    readonly path: string;
}
export interface UpgradeTap {
    readonly rejection?: string;
}
export declare const takeUpgradeHook: import("../../core/index.ts").Token<SyncBailHook<[
    upgrade: Upgrade
], true | undefined, UpgradeTap>>;
interface ApiMethods {
    attach(server: AnyServer, mount?: string): void;
}

// --- plugins/live/changes/notify-changes.d.ts
export declare const notifyChanges: import("../../../core/plugin.ts").Plugin;
export declare const liveTriggers: (take: (text: string) => void) => import("../../../core/plugin.ts").Plugin;

// --- plugins/live/changes/poll-changes.d.ts
export declare const pollChanges: import("../../../core/plugin.ts").Plugin;

// --- plugins/live/changes/replication-changes.d.ts
export declare const replicationChanges: import("../../../core/plugin.ts").Plugin;

// --- plugins/live/engine/live-queries.d.ts
export declare const liveQueries: import("../../../core/plugin.ts").Plugin;

// --- plugins/live/patches/client.d.ts
export type PatchOperation = {
    readonly op: "add" | "replace";
    readonly path: string;
    readonly value: unknown;
} | {
    readonly op: "test";
    readonly path: string;
    readonly value: unknown;
} | {
    readonly op: "remove";
    readonly path: string;
} | {
    readonly op: "move" | "copy";
    readonly from: string;
    readonly path: string;
};
export declare class LivePatchError extends Error {
    readonly name = "LivePatchError";
}
export declare const applyPatch: <Document>(document: Document, patch: readonly PatchOperation[]) => Document;
interface Live {
    readonly version: number;
    readonly patch?: readonly PatchOperation[];
}
interface GraphqlResult {
    readonly data?: any;
    readonly errors?: readonly unknown[];
    readonly extensions?: any;
}
export interface LiveEvent<Rows> extends Live {
    readonly data?: Rows;
}
export declare const createGraphqlPatchApplier: () => (<Result extends GraphqlResult>(result: Result) => Result);
export declare const createRestPatchApplier: <Rows = any>() => ((data: string) => Rows);

// --- plugins/live/patches/index.d.ts
export declare const livePatches: import("../../../core/plugin.ts").Plugin;

// --- plugins/live/settings.d.ts
export declare const liveSettings: readonly [
    import("../../core/index.ts").Setting<number, "liveQueryBatchSize">,
    import("../../core/index.ts").Setting<number, "maxLiveQueryBytes">
];
export declare const pollChangesSettings: readonly [
    import("../../core/index.ts").Setting<number, "liveQueryInterval">
];
declare const socketLimits: readonly [
    import("../../core/index.ts").Setting<number, "maxSocketOperations">
];
export declare const socketSettings: readonly [
    import("../../core/index.ts").Setting<number, "websocketKeepalive">,
    import("../../core/index.ts").Setting<number, "maxSockets">,
    import("../../core/index.ts").Setting<number, "maxSocketOperations">,
    import("../../core/index.ts").Setting<number, "maxSocketMessageBytes">
];
export declare const directiveSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "liveDirective">
];
export declare const patchSettings: readonly [
    import("../../core/index.ts").Setting<number, "maxLivePatchBytes">,
    import("../../core/index.ts").Setting<number, "maxLivePatchTotalBytes">
];
interface ResolvedOptions extends ValuesOf<typeof liveSettings>, ValuesOf<typeof pollChangesSettings>, ValuesOf<typeof socketSettings>, ValuesOf<typeof directiveSettings>, ValuesOf<typeof patchSettings> {
}
interface RequestLimits extends ValuesOf<typeof socketLimits> {
}

// --- plugins/live/transports/http-transports.d.ts
export declare const sse: import("../../../core/plugin.ts").Plugin;
export declare const multipart: import("../../../core/plugin.ts").Plugin;

// --- plugins/live/transports/legacy-websocket.d.ts
export declare const legacyWebsocket: import("../../../core/plugin.ts").Plugin;

// --- plugins/live/transports/live-directive.d.ts
export declare const liveDirective: import("../../../core/plugin.ts").Plugin;

// --- plugins/live/transports/websocket.d.ts
export declare const websocketTransport: import("../../../core/plugin.ts").Plugin;

// --- plugins/live/upgrades/index.d.ts
export declare const upgrades: import("../../../core/plugin.ts").Plugin;

// --- plugins/metadata/api.d.ts
export interface MetadataQueries {
    readonly collections: ReadonlyMap<string, ReadonlyMap<string, string>>;
    readonly allowed: readonly {
        readonly collection: string;
        readonly roles?: readonly string[];
    }[];
    readonly endpoints: readonly MetadataEndpoint[];
}
export interface MetadataEndpoint {
    readonly name: string;
    readonly url: string;
    readonly methods: readonly string[];
    readonly document: string;
}
export type MetadataLimits = Readonly<Record<string, Json>>;
export interface MetadataNative {
    readonly queries: readonly Json[];
    readonly models: readonly Json[];
    readonly takenNames: {
        readonly roots: ReadonlySet<string>;
        readonly types: ReadonlySet<string>;
    };
}
export interface MetadataRemoteSchemas {
    readonly schemas: readonly Json[];
    readonly relationships: readonly MetadataRemoteRelationship[];
    readonly inheritedRoles: readonly {
        readonly role: string;
        readonly parents: readonly string[];
    }[];
    readonly source: {
        readonly name: string;
        readonly tables: readonly QualifiedName[];
    };
}
export interface MetadataRemoteRelationship {
    readonly table: QualifiedName;
    readonly raw: Json;
    readonly otherNames: ReadonlySet<string>;
}
export interface MetadataEventTrigger {
    readonly table: QualifiedName;
    readonly raw: Json;
}
export type MetadataCronTriggers = readonly Json[];
export interface MetadataActions {
    readonly actions: readonly Json[];
    readonly customTypes: Readonly<Record<string, Json>>;
    readonly inheritedRoles: readonly {
        readonly role: string;
        readonly parents: readonly string[];
    }[];
    readonly takenNames: MetadataNative["takenNames"];
    readonly tables: readonly QualifiedName[];
}
export interface MetadataObject {
    readonly type: "table" | "enum_table" | "object_relation" | "array_relation" | "computed_field" | "select_permission" | "insert_permission" | "update_permission" | "delete_permission" | "function" | "inherited_role" | "native_query" | "logical_model" | "rest_endpoint" | "event_trigger" | "cron_trigger" | "remote_schema" | "remote_schema_permission" | "remote_relationship" | "remote_schema_remote_relationship" | "action" | "custom_types";
    readonly owner?: QualifiedName;
    readonly name?: string;
    readonly role?: string;
    readonly remoteType?: {
        readonly remote: string;
        readonly typeName: string;
    };
}
export interface MetadataProblem extends MetadataObject {
    readonly reason: string;
    readonly detail?: string;
}
export declare const METADATA_PROBLEMS = "metadata-problems";
export interface MetadataFacts {
    readonly "metadata-queries"?: MetadataQueries;
    readonly "metadata-limits"?: MetadataLimits;
    readonly "metadata-native"?: MetadataNative;
    readonly "metadata-remote-schemas"?: MetadataRemoteSchemas;
    readonly "metadata-event-triggers"?: readonly MetadataEventTrigger[];
    readonly "metadata-cron-triggers"?: MetadataCronTriggers;
    readonly "metadata-actions"?: MetadataActions;
    readonly [METADATA_PROBLEMS]?: readonly MetadataProblem[];
}
export declare const getMetadataFacts: ({ pluginFacts }: Model) => MetadataFacts;
export declare const copyProblems: (model: Model) => MetadataProblem[];
export type ReportMetadataProblem = (problem: Omit<MetadataProblem, "reason">, subject: string, reason: string) => void;
export declare const createProblemReport: (model: Model, { warn }: Pick<IntrospectContext, "warn">) => {
    readonly problems: readonly MetadataProblem[];
    readonly report: ReportMetadataProblem;
};
export interface MetadataSource {
    readonly path?: string;
    read(): Promise<{
        readonly raw: Json;
        readonly files: readonly string[];
    }>;
    propose(proposal: MetadataProposal | undefined): void;
}
export interface MetadataProposal {
    readonly raw: Json;
    accept(problems: readonly MetadataProblem[]): void;
}
export declare const metadataSourceService: import("../../core/index.ts").ServiceToken<MetadataSource>;

// --- plugins/metadata/metadata.d.ts
export declare const metadataLoader: import("../../core/plugin.ts").Plugin;
export declare const metadata: import("../../core/plugin.ts").Plugin;
export declare const metadataPermissions: import("../../core/plugin.ts").Plugin;

// --- plugins/metadata/settings.d.ts
export declare const loaderSettings: readonly [
    import("../../core/index.ts").Setting<string | Readonly<Record<string, unknown>> | undefined, "metadata">
];
export declare const metadataSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "inferFunctionPermissions">,
    import("../../core/index.ts").Setting<boolean, "checksAfterStatement">
];
interface ResolvedOptions extends ValuesOf<typeof loaderSettings>, ValuesOf<typeof metadataSettings> {
}

// --- plugins/operations/admin/index.d.ts
export interface AdminServerOptions {
    readonly port: number;
    readonly host?: string;
    readonly isApiListening?: () => boolean;
    readonly onListening?: (port: number) => void;
}
export declare const adminServer: (options: AdminServerOptions) => Plugin;

// --- plugins/operations/api.d.ts
export interface Metrics {
    text(): Promise<string>;
}
export declare const metricsService: import("../../core/index.ts").ServiceToken<Metrics>;
export interface TraceIds {
    readonly traceId: string;
    readonly spanId: string;
}
export interface Tracing {
    open(exchange: OpenExchange): void;
    close(exchange: OpenExchange, record: RequestRecord): void;
    findIds(exchange: OpenExchange): TraceIds | undefined;
    findTraceParent(exchange: OpenExchange): string | undefined;
}
export declare const tracingService: import("../../core/index.ts").ServiceToken<Tracing>;
interface ApiMethods {
    metrics(): Promise<string>;
}

// --- plugins/operations/http/access-log.d.ts
export declare const accessLog: import("../../../core/plugin.ts").Plugin;

// --- plugins/operations/http/cors.d.ts
export declare const cors: import("../../../core/plugin.ts").Plugin;

// --- plugins/operations/http/request-ids.d.ts
export declare const requestIds: import("../../../core/plugin.ts").Plugin;

// --- plugins/operations/http/structured-log.d.ts
export declare const structuredLog: import("../../../core/plugin.ts").Plugin;

// --- plugins/operations/http/trace-header.d.ts
export declare const traceHeader: import("../../../core/plugin.ts").Plugin;

// --- plugins/operations/metrics/index.d.ts
export declare const metrics: import("../../../core/plugin.ts").Plugin;

// --- plugins/operations/settings.d.ts
export declare const traceSettings: readonly [
    import("../../core/index.ts").Setting<string | undefined, "serverTraceHeader">
];
export declare const logSettings: readonly [
    import("../../core/index.ts").Setting<"json" | "pretty" | "text", "logFormat">
];
export declare const slowQuerySettings: readonly [
    import("../../core/index.ts").Setting<number | undefined, "slowQueryMs">,
    import("../../core/index.ts").Setting<boolean, "slowQueryPlans">
];
export declare const tracingSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "tracing">,
    import("../../core/index.ts").Setting<number, "traceRatio">,
    import("../../core/index.ts").Setting<"application-name" | "comment" | "off", "traceStatements">
];
interface ResolvedOptions extends ValuesOf<typeof traceSettings>, ValuesOf<typeof logSettings>, ValuesOf<typeof slowQuerySettings>, ValuesOf<typeof tracingSettings> {
}

// --- plugins/operations/slow-queries/index.d.ts
export declare const slowQueries: import("../../../core/plugin.ts").Plugin;

// --- plugins/operations/tracing/index.d.ts
export declare const tracing: import("../../../core/plugin.ts").Plugin;

// --- plugins/operators/aggregates.d.ts
export declare const aggregateFunctions: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/array-range.d.ts
export declare const arrayRangeOperators: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/comparison.d.ts
export declare const comparisonOperators: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/embeds/aggregate.d.ts
export declare const aggregateEmbeds: import("../../../core/plugin.ts").Plugin;

// --- plugins/operators/embeds/nest.d.ts
export declare const nestEmbeds: import("../../../core/plugin.ts").Plugin;

// --- plugins/operators/embeds/spread.d.ts
export declare const spreadEmbeds: import("../../../core/plugin.ts").Plugin;

// --- plugins/operators/full-text.d.ts
export declare const fullTextOperators: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/geo.d.ts
export declare const geoOperators: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/json.d.ts
export declare const jsonOperators: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/ltree.d.ts
export declare const ltreeOperators: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/set.d.ts
export declare const setOperator: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/text.d.ts
export declare const textOperators: import("../../core/plugin.ts").Plugin;

// --- plugins/operators/update.d.ts
export declare const incOperator: import("../../core/plugin.ts").Plugin;
export declare const documentOperators: import("../../core/plugin.ts").Plugin;

// --- plugins/pages/api.d.ts
export declare const playgroundService: import("../../core/index.ts").ServiceToken<{
    readonly path: string;
}>;

// --- plugins/pages/front/index.d.ts
export declare const frontPage: import("../../../core/plugin.ts").Plugin;

// --- plugins/pages/openapi/index.d.ts
export declare const openapiPage: import("../../../core/plugin.ts").Plugin;

// --- plugins/pages/playground/index.d.ts
export declare const playground: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/group-by/graphql.d.ts
export declare const graphqlGroupBy: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/group-by/rest.d.ts
export declare const restHaving: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/hasura/config-api.d.ts
export declare const configApi: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/hasura/explain.d.ts
export declare const graphqlExplain: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/hasura/metadata-api.d.ts
export declare const metadataApi: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/hasura/run-sql.d.ts
export declare const runSql: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/hasura/settings.d.ts
export declare const runSqlSettings: readonly [
    import("../../../core/index.ts").Setting<boolean, "runSql">
];
interface ResolvedOptions extends ValuesOf<typeof runSqlSettings> {
}

// --- plugins/plus/keyset/connections.d.ts
export declare const cursorConnections: import("../../../core/plugin.ts").Plugin;
export declare const graphqlConnections: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/keyset/cursor-pages.d.ts
export declare const cursorPages: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/keyset/relay.d.ts
export declare const relay: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/mcp/index.d.ts
export declare const mcp: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/mcp/settings.d.ts
export declare const mcpSettings: readonly [
    import("../../../core/index.ts").Setting<boolean, "mcpWrites">,
    import("../../../core/index.ts").Setting<number, "mcpMaxRows">,
    import("../../../core/index.ts").Setting<number, "mcpMaxBytes">,
    import("../../../core/index.ts").Setting<number, "mcpTimeout">,
    import("../../../core/index.ts").Setting<readonly string[], "mcpAllowedOrigins">,
    import("../../../core/index.ts").Setting<readonly string[], "mcpAuthorizationServers">,
    import("../../../core/index.ts").Setting<string | undefined, "mcpResourceUrl">
];
interface ResolvedOptions extends ValuesOf<typeof mcpSettings> {
}

// --- plugins/plus/native-queries/index.d.ts
export declare const nativeQueries: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/ndjson/index.d.ts
export declare const ndjson: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/nearest/index.d.ts
export declare const nearest: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/nested-writes/index.d.ts
export declare const nestedWrites: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/rest-batch/index.d.ts
export declare const restBatch: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/rest-batch/settings.d.ts
declare const batchLimits: readonly [
    import("../../../core/index.ts").Setting<number, "maxBatchRequests">
];
export declare const batchSettings: readonly [
    import("../../../core/index.ts").Setting<number, "maxBatchRequests">,
    import("../../../core/index.ts").Setting<number, "batchTimeout">
];
interface ResolvedOptions extends ValuesOf<typeof batchSettings> {
}
interface RequestLimits extends ValuesOf<typeof batchLimits> {
}

// --- plugins/plus/row-history/index.d.ts
export declare const rowHistory: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/soft-delete/index.d.ts
export declare const softDelete: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/soft-delete/settings.d.ts
export declare const softDeleteSettings: readonly [
    import("../../../core/index.ts").Setting<string | undefined, "softDeleteColumn">,
    import("../../../core/index.ts").Setting<readonly string[], "softDeleteRoles">
];
interface ResolvedOptions extends ValuesOf<typeof softDeleteSettings> {
}

// --- plugins/plus/why/index.d.ts
export declare const whyEmpty: import("../../../core/plugin.ts").Plugin;

// --- plugins/plus/why/settings.d.ts
export declare const whySettings: readonly [
    import("../../../core/index.ts").Setting<"admin" | "off" | "roles", "explainEmpty">
];
interface ResolvedOptions extends ValuesOf<typeof whySettings> {
}

// --- plugins/rest/api.d.ts
export interface RestLive {
    plan(exchange: Exchange, target: RouteTarget): Pick<Execution, "schema" | "programs" | "settings" | "isolation">;
    encodeError(error: unknown, exchange: Exchange): string;
}
export interface RestPreferences {
    read(exchange: Exchange): ReadonlyMap<string, string>;
}
export interface MediaType {
    readonly name: string;
    readonly isStripped: boolean;
    readonly plan?: {
        readonly format: "text" | "json";
        readonly mediaType: MediaType;
        readonly options: readonly string[];
    };
    readonly text: string;
}
export interface Payload {
    readonly text: string | Uint8Array | JsonList;
    readonly shape: "object" | "array";
    readonly keys: readonly string[];
    readonly isEmpty: boolean;
    readonly isText?: true;
    readonly isUninspected: boolean;
}
export interface JsonBody {
    readonly json: Buffer;
}
export type BodyRows = Omit<Payload, "isUninspected"> | JsonBody;
export declare const readBodyHook: Token<SyncBailHook<[
    body: Buffer,
    type: MediaType
], BodyRows | undefined>>;
export interface BodyReader {
    take(piece: Buffer): void;
    end(): BodyRows;
}
export declare const receiveBodyHook: Token<SyncBailHook<[
    type: MediaType
], BodyReader | undefined, import("tapable").UnsetAdditionalOptions>>;
export interface RaisedError {
    readonly error: RelApiError;
    readonly statusText?: string | undefined;
}
export declare const readRaisedHook: Token<SyncBailHook<[
    error: RelApiError
], RaisedError | undefined, import("tapable").UnsetAdditionalOptions>>;
export interface NameSuggestion {
    readonly suggestion: string;
    readonly misspelt: string;
}
export interface NameSuggestions {
    relation(model: Model, schema: string, name: string): string | undefined;
    relationship(model: Model, schema: string, source: string, target: string): NameSuggestion | undefined;
    routine(model: Model, schema: string, name: string): string | undefined;
    overload(overloads: readonly Routine[], names: readonly string[]): string | undefined;
    path(model: Model, session: Session, requestPath: string): string | undefined;
}
export declare const nameSuggestionsService: import("../../core/index.ts").ServiceToken<NameSuggestions>;
export interface RestHints {
    findJsonError(text: string): string | undefined;
    addPosition(error: unknown, text: Payload["text"]): unknown;
    addHint(error: RelApiError, exchange: Pick<Exchange, "method" | "path" | "header"> & {
        readonly session?: Session;
    }): RelApiError;
}
export declare const restHintsService: import("../../core/index.ts").ServiceToken<RestHints>;
export interface RestExample {
    readonly path: string;
    readonly relation: string;
    readonly select: string;
    readonly profile?: string;
}
export interface RestRelation {
    readonly name: string;
    readonly schema: string;
    readonly path: string;
    readonly comment?: string;
}
export interface RestLiveExample {
    readonly path: string;
    readonly relationPath: string;
    readonly key: string;
    readonly column: string;
    readonly mayUpdate: boolean;
}
export interface RestGuide {
    roots(): readonly string[];
    encodeError(error: RelApiError, exchange: OpenExchange): Answer;
    example(model: Model, session: Session): Promise<RestExample | undefined>;
    relations(model: Model, session: Session): Promise<readonly RestRelation[]>;
    liveExample(model: Model, session: Session): Promise<RestLiveExample | undefined>;
}
export declare const restGuideService: import("../../core/index.ts").ServiceToken<RestGuide>;
export interface ChosenMedia {
    readonly envelope: Pick<Envelope, "media" | "mediaOptions" | "domains" | "wrapper">;
    readonly contentType?: string;
    readonly isSingular?: boolean;
    readonly isBinary?: boolean;
}
export interface MediaNegotiation {
    readonly model: Model;
    readonly relation?: Relation;
    readonly routine?: Routine;
    readonly isWholeRow: boolean;
    readonly maySeePlans: boolean;
    chooseFor(type: MediaType): ChosenMedia | undefined;
}
export declare const chooseMediaHook: Token<SyncBailHook<[
    type: MediaType,
    context: MediaNegotiation
], ChosenMedia | undefined, import("tapable").UnsetAdditionalOptions>>;
export declare const finishAnswerHook: Token<SyncWaterfallHook<[
    answer: Answer,
    row: Readonly<Record<string, string | null>>
], Answer, import("tapable").UnsetAdditionalOptions>>;
export declare const exposeRestHeadersHook: Token<SyncWaterfallHook<[
    names: readonly string[]
], readonly string[], import("tapable").UnsetAdditionalOptions>>;
export interface OpenapiAdditions {
    readonly readParameters: Readonly<Record<string, string>>;
    readonly paths: Readonly<Record<string, object>>;
}
export declare const describeAdditionsHook: Token<SyncWaterfallHook<[
    additions: OpenapiAdditions
], OpenapiAdditions, import("tapable").UnsetAdditionalOptions>>;
export interface ReadParameter {
    readonly text: string;
    readonly model: Model;
    readonly relation: Relation;
    field(name: string): Expression;
    condition(leftOperand: Expression, text: string): Predicate;
    aggregate(name: string): string | undefined;
    checkDepth(depth: number): void;
    buildSyntaxError(at: number, ...expecting: readonly string[]): RelApiError;
}
export declare const readParametersHook: Token<HookMap<SyncWaterfallHook<[
    read: Read,
    parameter: ReadParameter
], Read, import("tapable").UnsetAdditionalOptions>>>;
export declare const restPreferencesService: import("../../core/index.ts").ServiceToken<RestPreferences>;
export declare const restLiveService: import("../../core/index.ts").ServiceToken<RestLive>;
interface OpenapiRoot {
    isServed(): boolean;
    roots(): readonly string[];
}
export declare const openapiService: import("../../core/index.ts").ServiceToken<OpenapiRoot>;
export declare const openapiPageService: import("../../core/index.ts").ServiceToken<{
    paths(): readonly string[];
}>;
export interface RestCall extends CallOptions {
    readonly method?: string;
    readonly path: string;
    readonly body?: unknown;
}
interface ApiMethods {
    rest(call: RestCall): Promise<ApiAnswer>;
}
interface OperatorSpec {
    readonly rest?: string | false;
    readonly restOperand?: (text: string) => string;
}
interface PreferenceSpec {
    readonly example?: string;
}
interface EmbedSpec {
    readonly rest?: {
        readonly prefix: string;
        readonly takesAlias?: boolean;
    };
}
interface AggregateSpec {
    readonly rest?: string | false;
}
interface OrderingSpec {
    readonly rest?: string | false;
}
export declare const quoteRestValue: (text: string) => string;
export declare const unquoteRestValue: (text: string) => string;
export declare const findRestItemEnd: (text: string, start: number) => number;

// --- plugins/rest/csv-bodies.d.ts
export declare const csvBodies: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/etag.d.ts
export declare const etag: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/hints.d.ts
export declare const restHints: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/live.d.ts
export declare const restLive: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/media/csv.d.ts
export declare const csvMedia: import("../../../core/plugin.ts").Plugin;

// --- plugins/rest/media/custom.d.ts
export declare const customMedia: import("../../../core/plugin.ts").Plugin;

// --- plugins/rest/media/explain.d.ts
export declare const explainMedia: import("../../../core/plugin.ts").Plugin;

// --- plugins/rest/media/geojson.d.ts
export declare const geojsonMedia: import("../../../core/plugin.ts").Plugin;

// --- plugins/rest/media/json.d.ts
export declare const jsonMedia: import("../../../core/plugin.ts").Plugin;
export declare const singularMedia: import("../../../core/plugin.ts").Plugin;
export declare const strippedMedia: import("../../../core/plugin.ts").Plugin;

// --- plugins/rest/openapi-3.d.ts
export declare const openapi3: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/openapi.d.ts
export declare const openapi: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/options.d.ts
export declare const restOptions: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/raised-errors.d.ts
export declare const raisedErrors: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/response-settings.d.ts
export declare const responseSettings: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/rest.d.ts
export declare const rest: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/rpc.d.ts
export declare const restRpc: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/settings.d.ts
export declare const restSettings: readonly [
    import("../../core/index.ts").Setting<readonly string[] | undefined, "restPrefixes">,
    import("../../core/index.ts").Setting<string, "restPath">,
    import("../../core/index.ts").Setting<boolean, "dbAggregatesEnabled">,
    import("../../core/index.ts").Setting<string | undefined, "dbRootSpec">,
    import("../../core/index.ts").Setting<"disabled" | "follow-privileges" | "ignore-privileges", "openapiMode">,
    import("../../core/index.ts").Setting<"minimal" | "verbose", "clientErrorVerbosity">,
    import("../../core/index.ts").Setting<boolean, "urlUseLegacyTargetNames">
];
export declare const restLimits: readonly [
    import("../../core/index.ts").Setting<number, "maxColumns">,
    import("../../core/index.ts").Setting<number, "maxParameters">,
    import("../../core/index.ts").Setting<number, "maxSelectFields">,
    import("../../core/index.ts").Setting<number, "maxEmbeds">,
    import("../../core/index.ts").Setting<number, "maxLogicDepth">
];
export declare const rpcSettings: readonly [
    import("../../core/index.ts").Setting<readonly string[], "dbHoistedTxSettings">
];
export declare const openapiSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "openapiSecurityActive">,
    import("../../core/index.ts").Setting<string | undefined, "openapiServerProxyUri">
];
export declare const etagSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "etags">
];
export declare const explainSettings: readonly [
    import("../../core/index.ts").Setting<boolean, "dbPlanEnabled">
];
interface ResolvedOptions extends ValuesOf<typeof restSettings>, ValuesOf<typeof rpcSettings>, ValuesOf<typeof openapiSettings>, ValuesOf<typeof etagSettings>, ValuesOf<typeof explainSettings> {
}
interface RequestLimits extends ValuesOf<typeof restLimits> {
}

// --- plugins/rest/suggestions.d.ts
export declare const restSuggestions: import("../../core/plugin.ts").Plugin;

// --- plugins/rest/write.d.ts
export declare const restWrites: import("../../core/plugin.ts").Plugin;

// --- plugins/services/actions/actions.d.ts
type InputOf<Output> = unknown extends Output ? ActionArguments : Output;
export interface ActionRequest<Input = ActionArguments> {
    readonly input: Input;
    readonly session: Session;
    readonly signal: AbortSignal;
    readonly exchange: OpenExchange | undefined;
}
export interface AsynchronousActionRequest<Input = ActionArguments> {
    readonly id: string;
    readonly createdAt: Date;
    readonly input: Input;
    readonly session: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
}
interface ActionDeclaration<Output> {
    readonly args?: string;
    readonly inputSchema?: InputSchema<Output>;
    readonly output: string;
    readonly roles?: readonly string[];
    readonly description?: string;
}
export interface SynchronousAction<Output = unknown> extends ActionDeclaration<Output> {
    readonly kind?: "synchronous";
    readonly type?: "query" | "mutation";
    readonly run: (request: ActionRequest<InputOf<Output>>) => Json | Promise<Json>;
}
export interface AsynchronousAction<Output = unknown> extends ActionDeclaration<Output> {
    readonly kind: "asynchronous";
    readonly timeoutSeconds?: number;
    readonly run: (request: AsynchronousActionRequest<InputOf<Output>>) => Json | Promise<Json>;
}
export type Action<Output = unknown> = SynchronousAction<Output> | AsynchronousAction<Output>;
export declare const actions: <Outputs extends Readonly<Record<string, unknown>>>(definitions: {
    readonly [Name in keyof Outputs]: Action<Outputs[Name]>;
}, types?: string) => Plugin;

// --- plugins/services/actions/input-schema.d.ts
export type ActionArguments = Readonly<Record<string, Json>>;
export interface InputSchema<Input> {
    readonly "~standard": {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => SchemaResult<Input> | Promise<SchemaResult<Input>>;
        readonly types?: {
            readonly input: unknown;
            readonly output: Input;
        } | undefined;
    };
}
type SchemaResult<Input> = {
    readonly value: Input;
    readonly issues?: undefined;
} | {
    readonly issues: readonly SchemaIssue[];
};
interface SchemaIssue {
    readonly message: string;
    readonly path?: readonly (PropertyKey | {
        readonly key: PropertyKey;
    })[] | undefined;
}

// --- plugins/services/actions/metadata-actions.d.ts
export declare const metadataActions: import("../../../core/plugin.ts").Plugin;

// --- plugins/services/api.d.ts
export type WebhookPurpose = "action" | "auth-hook" | "event" | "remote-schema" | "schedule" | "other";
export interface WebhookRequest {
    readonly purpose?: WebhookPurpose;
    readonly url: string;
    readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly timeoutMs: number;
    readonly maxAnswerBytes?: number;
    readonly isRepeatable?: boolean;
    readonly signal?: AbortSignal;
    readonly exchange?: OpenExchange | undefined;
    readonly forwardsCookies?: boolean;
}
export interface WebhookResponse {
    readonly status: number;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
}
export interface WebhookSocketRequest extends Pick<WebhookRequest, "url" | "headers"> {
    readonly protocol: string;
    readonly timeoutMs: number;
    onOpen(): void;
    onMessage(text: string): void;
    onEnd(reason: number | RelApiError): void;
}
export interface WebhookSocket {
    send(text: string): void;
    pause(): void;
    resume(): void;
    close(): void;
}
export interface WebhookClient {
    send(request: WebhookRequest): Promise<WebhookResponse>;
    openSocket(request: WebhookSocketRequest): Promise<WebhookSocket>;
}
export type WebhookFailure = "url" | "header" | "address" | "connection" | "timeout" | "size";
export declare const webhookService: import("../../core/index.ts").ServiceToken<WebhookClient>;
export interface WebhookCall {
    readonly purpose: WebhookPurpose;
    readonly outcome: string;
    readonly durationMs: number;
}
export declare const webhookCallEndedSignal: import("../../core/index.ts").Token<import("../../core/index.ts").Signal<WebhookCall>>;
export interface RemoteSchemaControl {
    names(): readonly string[];
    renew(name: string): Promise<void>;
    introspect(name: string): Promise<JsonObject>;
}
export declare const remoteSchemaControlService: import("../../core/index.ts").ServiceToken<RemoteSchemaControl>;
export interface TriggerStatus {
    readonly trigger: string;
    readonly table: string;
    readonly state: "installed" | "missing" | "changed" | "unknown";
}
export interface EventCounts {
    readonly trigger: string;
    readonly pending: number;
    readonly delivered: number;
    readonly dead: number;
}
export interface ListWindow {
    readonly limit: number;
    readonly offset: number;
}
export interface LoggedEvent {
    readonly id: string;
    readonly trigger: string;
    readonly table: QualifiedName;
    readonly operation: string;
    readonly old: Json;
    readonly new: Json;
    readonly session: Json;
    readonly traceContext: JsonObject | null;
    readonly createdAt: Date;
    readonly status: "pending" | "delivered" | "dead";
    readonly tries: number;
    readonly nextTryAt: Date;
    readonly isLocked: boolean;
}
export interface LoggedAttempt {
    readonly id: string;
    readonly eventId: string;
    readonly trigger: string;
    readonly startedAt: Date;
    readonly status: number | null;
    readonly response: string | null;
    readonly error: string | null;
}
export interface EventInstallation {
    readonly hasInstalledSchema: boolean;
    readonly triggerCount: number;
}
export interface EventsService {
    install(): Promise<EventInstallation>;
    remove(names?: ReadonlySet<string>): Promise<number>;
    checkQueue(): Promise<void>;
    loadStatus(): Promise<{
        readonly triggers: readonly TriggerStatus[];
        readonly events: readonly EventCounts[];
    }>;
    findTrigger(name: string): {
        readonly allowsManual: boolean;
    } | undefined;
    invoke(trigger: string, row: string): Promise<string>;
    redeliver(id: string): Promise<boolean>;
    loadEvents(trigger: string, window: ListWindow, status?: "pending" | "ended"): Promise<readonly LoggedEvent[]>;
    loadEvent(id: string): Promise<LoggedEvent | undefined>;
    loadEventAttempts(id: string, window: ListWindow): Promise<readonly LoggedAttempt[]>;
    loadAttempts(trigger: string, window: ListWindow): Promise<readonly LoggedAttempt[]>;
}
export declare const eventsService: import("../../core/index.ts").ServiceToken<EventsService>;
export type ScheduledEventStatus = "scheduled" | "locked" | "delivered" | "error" | "dead";
export interface LoggedScheduledEvent {
    readonly id: string;
    readonly scheduledAt: Date;
    readonly status: ScheduledEventStatus;
    readonly tries: number;
    readonly createdAt: Date;
    readonly nextTryAt: Date;
    readonly definition: JsonObject;
}
export interface ScheduledEventFilter {
    readonly trigger: string | undefined;
    readonly statuses?: readonly ScheduledEventStatus[];
    readonly id?: string;
}
export interface CountedList<Entry> {
    readonly entries: readonly Entry[];
    readonly count: number;
}
export interface ScheduledEventsService {
    checkQueue(): Promise<void>;
    create(definition: JsonObject, scheduledAt: Date): Promise<string>;
    remove(id: string, isCron: boolean): Promise<boolean>;
    loadEvents(filter: ScheduledEventFilter, window: ListWindow): Promise<CountedList<LoggedScheduledEvent>>;
    loadAttempts(filter: ScheduledEventFilter, window: ListWindow): Promise<CountedList<LoggedAttempt>>;
}
export declare const scheduledEventsService: import("../../core/index.ts").ServiceToken<ScheduledEventsService>;

// --- plugins/services/auth-hook/index.d.ts
export declare const authHook: import("../../../core/plugin.ts").Plugin;

// --- plugins/services/auth-hook/settings.d.ts
export declare const authHookSettings: readonly [
    import("../../../core/index.ts").Setting<string | undefined, "authHook">,
    import("../../../core/index.ts").Setting<"get" | "post", "authHookMode">,
    import("../../../core/index.ts").Setting<boolean, "authHookSendRequestBody">,
    import("../../../core/index.ts").Setting<number, "authHookTimeout">
];
interface ResolvedOptions extends ValuesOf<typeof authHookSettings> {
}

// --- plugins/services/events/event-trigger.d.ts
export declare const OPERATIONS: readonly [
    "insert",
    "update",
    "delete"
];
export type RowOperation = (typeof OPERATIONS)[number];
export interface StoredEvent {
    readonly id: string;
    readonly trigger: string;
    readonly table: QualifiedName;
    readonly operation: "INSERT" | "UPDATE" | "DELETE" | "MANUAL";
    readonly oldRow: string | null;
    readonly newRow: string | null;
    readonly session: string | null;
    readonly traceParent: string | null;
    readonly createdAt: Date;
    readonly tries: number;
}

// --- plugins/services/events/handlers.d.ts
export interface RowEvent<Row = JsonObject> {
    readonly id: string;
    readonly trigger: string;
    readonly table: QualifiedName;
    readonly operation: StoredEvent["operation"];
    readonly row: Row;
    readonly old: Row | undefined;
    readonly session: Readonly<Record<string, string>> | undefined;
    readonly traceParent: string | undefined;
    readonly attempt: number;
    readonly createdAt: Date;
    readonly signal: AbortSignal;
}
export type EventHandler<Row = any> = (event: RowEvent<Row>) => unknown;
export interface EventHandlerOptions<Row = any> {
    readonly handle: EventHandler<Row>;
    readonly columns?: readonly string[];
    readonly ordered?: boolean;
    readonly retryCount?: number;
    readonly intervalSeconds?: number;
    readonly timeoutSeconds?: number;
}
export type TableEventHandlers = Readonly<Partial<Record<RowOperation, EventHandler | EventHandlerOptions>>>;
export declare const eventHandlers: (on: Readonly<Record<string, TableEventHandlers>>) => Plugin;

// --- plugins/services/events/index.d.ts
export declare const events: import("../../../core/plugin.ts").Plugin;

// --- plugins/services/queue/index.d.ts
export declare const jobQueue: import("../../../core/plugin.ts").Plugin;

// --- plugins/services/queue/settings.d.ts
export declare const queueSettings: readonly [
    import("../../../core/index.ts").Setting<boolean, "eventsInstall">,
    import("../../../core/index.ts").Setting<number, "eventsConcurrency">,
    import("../../../core/index.ts").Setting<number, "eventsRetention">
];
interface ResolvedOptions extends ValuesOf<typeof queueSettings> {
}

// --- plugins/services/remote-schemas/index.d.ts
export declare const remoteSchemaFields: Plugin;
export declare const remoteSchemas: (schemas: Readonly<Record<string, RemoteSchema>>) => Plugin;

// --- plugins/services/remote-schemas/schema/definition.d.ts
export type RemoteSchema = ({
    readonly schema: GraphQLSchema;
} | {
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly forwardClientHeaders?: boolean;
    readonly timeoutSeconds?: number;
}) & {
    readonly permissions?: Readonly<Record<string, string>>;
    readonly customization?: JsonObject;
};

// --- plugins/services/remote-schemas/settings.d.ts
export declare const remoteSchemaSettings: readonly [
    import("../../../core/index.ts").Setting<boolean, "enableRemoteSchemaPermissions">
];
interface ResolvedOptions extends ValuesOf<typeof remoteSchemaSettings> {
}

// --- plugins/services/schedules/handlers.d.ts
export interface ScheduledRun {
    readonly id: string;
    readonly name: string;
    readonly scheduledAt: Date;
    readonly payload: Json;
    readonly attempt: number;
    readonly signal: AbortSignal;
}
export type ScheduleHandler = (run: ScheduledRun) => unknown;
export interface ScheduleOptions {
    readonly cron: string;
    readonly handle: ScheduleHandler;
    readonly payload?: Json;
    readonly retryCount?: number;
    readonly intervalSeconds?: number;
    readonly timeoutSeconds?: number;
    readonly toleranceSeconds?: number;
}
export declare const schedules: (on: Readonly<Record<string, ScheduleHandler | ScheduleOptions>>) => Plugin;

// --- plugins/services/schedules/index.d.ts
export declare const scheduledEvents: import("../../../core/plugin.ts").Plugin;

// --- plugins/services/webhook/index.d.ts
export declare const webhooks: import("../../../core/plugin.ts").Plugin;

// --- plugins/services/webhook/settings.d.ts
export declare const webhookSettings: readonly [
    import("../../../core/index.ts").Setting<readonly string[], "webhookAllowedHosts">,
    import("../../../core/index.ts").Setting<number, "webhookMaxAnswerBytes">,
    import("../../../core/index.ts").Setting<number, "webhookMaxConnections">
];
interface ResolvedOptions extends ValuesOf<typeof webhookSettings> {
}

// --- plugins/shared/json-values.d.ts
export declare const readText: (value: Json | undefined) => string | undefined;
export declare const readListOrEmpty: (value: Json | undefined) => readonly Json[];
export declare const readObjectOrEmpty: (value: Json | undefined) => JsonObject;

// --- plugins/shared/settings.d.ts
declare const sharedOptions: readonly [
    import("../../core/index.ts").Setting<boolean, "adminRoleInTokens">,
    import("../../core/index.ts").Setting<string | undefined, "anonRole">,
    import("../../core/index.ts").Setting<boolean, "compatMode">,
    import("../../core/index.ts").Setting<readonly string[], "corsAllowedOrigins">,
    import("../../core/index.ts").Setting<string, "dbChannel">,
    import("../../core/index.ts").Setting<number | undefined, "dbMaxRows">,
    import("../../core/index.ts").Setting<"commit" | "commit-allow-override" | "rollback" | "rollback-allow-override", "dbTxEnd">,
    import("../../core/index.ts").Setting<boolean, "metadataPermissionsForRest">
];
declare const surfaceLimits: readonly [
    import("../../core/index.ts").Setting<number, "maxJsonDepth">,
    import("../../core/index.ts").Setting<number, "maxRelationDepth">,
    import("../../core/index.ts").Setting<number, "maxFilters">,
    import("../../core/index.ts").Setting<number, "maxOrderTerms">,
    import("../../core/index.ts").Setting<number, "maxPathKeys">
];
interface ResolvedOptions extends ValuesOf<typeof sharedOptions> {
}
interface RequestLimits extends ValuesOf<typeof surfaceLimits> {
}

// --- plugins/speed/api.d.ts
export interface ValueReceiver {
    write(bytes: Buffer): boolean;
    end(): void;
    fail(): void;
}
export interface LongBodyHandler {
    readonly aboveBytes: number;
    onBody(row: ResultRow, body: ArrivingBody): ValueReceiver | undefined;
}
export interface ArrivingBody {
    readonly bytes: number;
    readonly execution: Execution;
    resume(): void;
    discard(): void;
}
export interface BodyFrame {
    readonly before: Buffer;
    readonly after: Buffer;
    readonly isZipped?: boolean;
}
export interface StreamedBody {
    readonly receiver: ValueReceiver;
    attachTo(answer: Answer, frame?: BodyFrame): Answer;
}
export interface StreamedAnswers {
    readonly aboveBytes: number;
    openBody(body: ArrivingBody): StreamedBody | undefined;
    createRowReader(body: LongBodyHandler): Execution["longRows"];
}
export declare const streamedAnswersService: import("../../core/index.ts").ServiceToken<StreamedAnswers>;

// --- plugins/speed/coalesced-reads/index.d.ts
export declare const coalescedReads: import("../../../core/plugin.ts").Plugin;

// --- plugins/speed/column-arrays/index.d.ts
export declare const columnArrays: import("../../../core/plugin.ts").Plugin;

// --- plugins/speed/plan-proof.d.ts
export declare const planProof: import("../../core/plugin.ts").Plugin;

// --- plugins/speed/settings.d.ts
export declare const coalescedReadsSettings: readonly [
    import("../../core/index.ts").Setting<number, "maxCoalescedReads">
];
export declare const streamSettings: readonly [
    import("../../core/index.ts").Setting<number, "streamAboveBytes">,
    import("../../core/index.ts").Setting<number, "streamPatience">
];
interface ResolvedOptions extends ValuesOf<typeof coalescedReadsSettings>, ValuesOf<typeof streamSettings> {
}

// --- plugins/speed/streamed-answers/index.d.ts
export declare const streamedAnswers: import("../../../core/plugin.ts").Plugin;

// --- presets/full-compat.d.ts
export declare const fullCompat: (options: PresetOptions) => Preset;

// --- presets/gql-compat.d.ts
export declare const gqlCompat: (options: PresetOptions) => Preset;

// --- presets/known-plugins.d.ts
export declare const knownPlugins: readonly string[];
export declare const knownOptions: readonly string[];

// --- presets/minimal.d.ts
export declare const minimal: (options: PresetOptions) => Preset;

// --- presets/options.d.ts
export interface PresetOptions extends RelApiOptions {
    readonly dbSchemas?: RelApiOptions["dbSchemas"];
    readonly dbExtraSearchPath?: RelApiOptions["dbExtraSearchPath"];
    readonly dbPool?: RelApiOptions["dbPool"];
    readonly dbPoolAcquisitionTimeout?: RelApiOptions["dbPoolAcquisitionTimeout"];
    readonly shutdownGrace?: RelApiOptions["shutdownGrace"];
    readonly dbPoolMaxLifetime?: RelApiOptions["dbPoolMaxLifetime"];
    readonly dbPoolMaxIdletime?: RelApiOptions["dbPoolMaxIdletime"];
    readonly dbLoginPatience?: RelApiOptions["dbLoginPatience"];
    readonly dbPreparedStatements?: RelApiOptions["dbPreparedStatements"];
    readonly dbMaxPreparedStatements?: RelApiOptions["dbMaxPreparedStatements"];
    readonly dbMaxPreparedBytes?: RelApiOptions["dbMaxPreparedBytes"];
    readonly dbPreRequest?: RelApiOptions["dbPreRequest"];
    readonly cacheBytes?: RelApiOptions["cacheBytes"];
    readonly maxUrlBytes?: RelApiOptions["maxUrlBytes"];
    readonly maxBodyBytes?: RelApiOptions["maxBodyBytes"];
    readonly maxPendingBodyBytes?: RelApiOptions["maxPendingBodyBytes"];
    readonly maxResultBytes?: RelApiOptions["maxResultBytes"];
    readonly maxUnreadBytes?: RelApiOptions["maxUnreadBytes"];
    readonly unreadTimeout?: RelApiOptions["unreadTimeout"];
    readonly requestTimeout?: RelApiOptions["requestTimeout"];
    readonly logLevel?: RelApiOptions["logLevel"];
    readonly name?: RelApiOptions["name"];
    readonly logQuery?: RelApiOptions["logQuery"];
    readonly serverTimingEnabled?: RelApiOptions["serverTimingEnabled"];
    readonly databaseUrl?: RelApiOptions["databaseUrl"];
    readonly databaseDirectUrl?: RelApiOptions["databaseDirectUrl"];
    readonly databasePooler?: RelApiOptions["databasePooler"];
    readonly databaseReplicaUrls?: RelApiOptions["databaseReplicaUrls"];
    readonly databaseReplicaMaxLag?: RelApiOptions["databaseReplicaMaxLag"];
    readonly dbSilenceCheck?: RelApiOptions["dbSilenceCheck"];
    readonly dbSilenceLimit?: RelApiOptions["dbSilenceLimit"];
    readonly logFormat?: RelApiOptions["logFormat"];
    readonly corsAllowedOrigins?: RelApiOptions["corsAllowedOrigins"];
    readonly serverTraceHeader?: RelApiOptions["serverTraceHeader"];
    readonly maxCoalescedReads?: RelApiOptions["maxCoalescedReads"];
    readonly readYourWrites?: RelApiOptions["readYourWrites"];
    readonly slowQueryMs?: RelApiOptions["slowQueryMs"];
    readonly slowQueryPlans?: RelApiOptions["slowQueryPlans"];
    readonly tracing?: RelApiOptions["tracing"];
    readonly traceRatio?: RelApiOptions["traceRatio"];
    readonly traceStatements?: RelApiOptions["traceStatements"];
    readonly rateLimitRedisUrl?: RelApiOptions["rateLimitRedisUrl"];
    readonly busUrl?: RelApiOptions["busUrl"];
    readonly busName?: RelApiOptions["busName"];
    readonly rateLimits?: RelApiOptions["rateLimits"];
    readonly rateLimitBurst?: RelApiOptions["rateLimitBurst"];
    readonly rateLimitBy?: RelApiOptions["rateLimitBy"];
    readonly trustedProxies?: RelApiOptions["trustedProxies"];
    readonly apiLimits?: RelApiOptions["apiLimits"];
    readonly rowLimits?: RelApiOptions["rowLimits"];
    readonly costLimits?: RelApiOptions["costLimits"];
    readonly estimatedRowLimits?: RelApiOptions["estimatedRowLimits"];
    readonly anonStatementTimeout?: RelApiOptions["anonStatementTimeout"];
    readonly anonRole?: RelApiOptions["anonRole"];
    readonly compatMode?: RelApiOptions["compatMode"];
    readonly safeWrites?: RelApiOptions["safeWrites"];
    readonly streamAboveBytes?: RelApiOptions["streamAboveBytes"];
    readonly streamPatience?: RelApiOptions["streamPatience"];
    readonly dbChannel?: RelApiOptions["dbChannel"];
    readonly dbChannelEnabled?: RelApiOptions["dbChannelEnabled"];
    readonly dbSchemaPollInterval?: RelApiOptions["dbSchemaPollInterval"];
    readonly dbConfig?: RelApiOptions["dbConfig"];
    readonly dbPreConfig?: RelApiOptions["dbPreConfig"];
    readonly metadata?: RelApiOptions["metadata"];
    readonly inferFunctionPermissions?: RelApiOptions["inferFunctionPermissions"];
    readonly checksAfterStatement?: RelApiOptions["checksAfterStatement"];
    readonly metadataPermissionsForRest?: RelApiOptions["metadataPermissionsForRest"];
    readonly adminSecret?: RelApiOptions["adminSecret"];
    readonly adminSecrets?: RelApiOptions["adminSecrets"];
    readonly adminRoleInTokens?: RelApiOptions["adminRoleInTokens"];
    readonly maxJsonDepth?: RelApiOptions["maxJsonDepth"];
    readonly authHook?: RelApiOptions["authHook"];
    readonly authHookMode?: RelApiOptions["authHookMode"];
    readonly authHookSendRequestBody?: RelApiOptions["authHookSendRequestBody"];
    readonly authHookTimeout?: RelApiOptions["authHookTimeout"];
    readonly jwtSecret?: RelApiOptions["jwtSecret"];
    readonly jwtSecretIsBase64?: RelApiOptions["jwtSecretIsBase64"];
    readonly jwtAud?: RelApiOptions["jwtAud"];
    readonly jwtRoleClaimKey?: RelApiOptions["jwtRoleClaimKey"];
    readonly jwtCacheMaxEntries?: RelApiOptions["jwtCacheMaxEntries"];
    readonly jwtRequireExp?: RelApiOptions["jwtRequireExp"];
    readonly liveQueryBatchSize?: RelApiOptions["liveQueryBatchSize"];
    readonly maxLiveQueryBytes?: RelApiOptions["maxLiveQueryBytes"];
    readonly dbTxEnd?: RelApiOptions["dbTxEnd"];
    readonly maxLivePatchBytes?: RelApiOptions["maxLivePatchBytes"];
    readonly maxLivePatchTotalBytes?: RelApiOptions["maxLivePatchTotalBytes"];
    readonly liveQueryInterval?: RelApiOptions["liveQueryInterval"];
    readonly errorHints?: RelApiOptions["errorHints"];
    readonly graphqlOverHttp?: RelApiOptions["graphqlOverHttp"];
    readonly stringifyNumericTypes?: RelApiOptions["stringifyNumericTypes"];
    readonly v1BooleanNullCollapse?: RelApiOptions["v1BooleanNullCollapse"];
    readonly disablePostgresArrays?: RelApiOptions["disablePostgresArrays"];
    readonly noNullUnboundVariableDefault?: RelApiOptions["noNullUnboundVariableDefault"];
    readonly defaultNamingConvention?: RelApiOptions["defaultNamingConvention"];
    readonly maxDocumentBytes?: RelApiOptions["maxDocumentBytes"];
    readonly maxDocumentDepth?: RelApiOptions["maxDocumentDepth"];
    readonly maxDocumentFields?: RelApiOptions["maxDocumentFields"];
    readonly maxAliases?: RelApiOptions["maxAliases"];
    readonly maxRootFields?: RelApiOptions["maxRootFields"];
    readonly maxRelatedConditions?: RelApiOptions["maxRelatedConditions"];
    readonly maxIntrospectionDepth?: RelApiOptions["maxIntrospectionDepth"];
    readonly maxIntrospectionLists?: RelApiOptions["maxIntrospectionLists"];
    readonly maxVariablesBytes?: RelApiOptions["maxVariablesBytes"];
    readonly maxListItems?: RelApiOptions["maxListItems"];
    readonly maxInsertValues?: RelApiOptions["maxInsertValues"];
    readonly maxWriteStatements?: RelApiOptions["maxWriteStatements"];
    readonly maxBatchEntries?: RelApiOptions["maxBatchEntries"];
    readonly maxBatchBytes?: RelApiOptions["maxBatchBytes"];
    readonly dbMaxRows?: RelApiOptions["dbMaxRows"];
    readonly maxRelationDepth?: RelApiOptions["maxRelationDepth"];
    readonly maxFilters?: RelApiOptions["maxFilters"];
    readonly maxOrderTerms?: RelApiOptions["maxOrderTerms"];
    readonly maxPathKeys?: RelApiOptions["maxPathKeys"];
    readonly enableAllowlist?: RelApiOptions["enableAllowlist"];
    readonly trustedDocuments?: RelApiOptions["trustedDocuments"];
    readonly persistedQueryBytes?: RelApiOptions["persistedQueryBytes"];
    readonly nullableRelationships?: RelApiOptions["nullableRelationships"];
    readonly websocketKeepalive?: RelApiOptions["websocketKeepalive"];
    readonly maxSockets?: RelApiOptions["maxSockets"];
    readonly maxSocketOperations?: RelApiOptions["maxSocketOperations"];
    readonly maxSocketMessageBytes?: RelApiOptions["maxSocketMessageBytes"];
    readonly liveDirective?: RelApiOptions["liveDirective"];
    readonly restPrefixes?: RelApiOptions["restPrefixes"];
    readonly restPath?: RelApiOptions["restPath"];
    readonly dbAggregatesEnabled?: RelApiOptions["dbAggregatesEnabled"];
    readonly dbRootSpec?: RelApiOptions["dbRootSpec"];
    readonly openapiMode?: RelApiOptions["openapiMode"];
    readonly clientErrorVerbosity?: RelApiOptions["clientErrorVerbosity"];
    readonly urlUseLegacyTargetNames?: RelApiOptions["urlUseLegacyTargetNames"];
    readonly maxColumns?: RelApiOptions["maxColumns"];
    readonly maxParameters?: RelApiOptions["maxParameters"];
    readonly maxSelectFields?: RelApiOptions["maxSelectFields"];
    readonly maxEmbeds?: RelApiOptions["maxEmbeds"];
    readonly maxLogicDepth?: RelApiOptions["maxLogicDepth"];
    readonly dbHoistedTxSettings?: RelApiOptions["dbHoistedTxSettings"];
    readonly etags?: RelApiOptions["etags"];
    readonly openapiSecurityActive?: RelApiOptions["openapiSecurityActive"];
    readonly openapiServerProxyUri?: RelApiOptions["openapiServerProxyUri"];
    readonly dbPlanEnabled?: RelApiOptions["dbPlanEnabled"];
    readonly runSql?: RelApiOptions["runSql"];
    readonly mcpWrites?: RelApiOptions["mcpWrites"];
    readonly mcpMaxRows?: RelApiOptions["mcpMaxRows"];
    readonly mcpMaxBytes?: RelApiOptions["mcpMaxBytes"];
    readonly mcpTimeout?: RelApiOptions["mcpTimeout"];
    readonly mcpAllowedOrigins?: RelApiOptions["mcpAllowedOrigins"];
    readonly mcpAuthorizationServers?: RelApiOptions["mcpAuthorizationServers"];
    readonly mcpResourceUrl?: RelApiOptions["mcpResourceUrl"];
    readonly enableRemoteSchemaPermissions?: RelApiOptions["enableRemoteSchemaPermissions"];
    readonly maxBatchRequests?: RelApiOptions["maxBatchRequests"];
    readonly batchTimeout?: RelApiOptions["batchTimeout"];
    readonly softDeleteColumn?: RelApiOptions["softDeleteColumn"];
    readonly softDeleteRoles?: RelApiOptions["softDeleteRoles"];
    readonly webhookAllowedHosts?: RelApiOptions["webhookAllowedHosts"];
    readonly webhookMaxAnswerBytes?: RelApiOptions["webhookMaxAnswerBytes"];
    readonly webhookMaxConnections?: RelApiOptions["webhookMaxConnections"];
    readonly explainEmpty?: RelApiOptions["explainEmpty"];
    readonly eventsInstall?: RelApiOptions["eventsInstall"];
    readonly eventsConcurrency?: RelApiOptions["eventsConcurrency"];
    readonly eventsRetention?: RelApiOptions["eventsRetention"];
}

// --- presets/plus.d.ts
export declare const plus: (options: PresetOptions) => Preset;

// --- presets/rest-compat.d.ts
export declare const restCompat: (options: PresetOptions) => Preset;

// --- presets/server/client-errors.d.ts
export declare const answerClientError: (error: NodeJS.ErrnoException, socket: Duplex) => void;
