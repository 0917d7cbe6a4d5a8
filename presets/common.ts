/** The plugins that both surfaces need. */
import type { Plugin } from "../core/index.ts";
import { adminSecret } from "../plugins/auth/admin-secret.ts";
import { anonymous } from "../plugins/auth/anonymous.ts";
import { jwtTokens } from "../plugins/auth/jwt-tokens.ts";
import { aggregateEmbeds } from "../plugins/operators/embeds/aggregate.ts";
import { requestSettings } from "../plugins/auth/request-settings.ts";
import { hasuraSession, sessionSettings } from "../plugins/auth/session-settings.ts";
import { nestEmbeds } from "../plugins/operators/embeds/nest.ts";
import { bus, natsBus, notifyBus, redisBus, redisLimits } from "../plugins/cluster/bus/index.ts";
import { catalogIntrospection, computedRelationships, relationships } from "../plugins/database/introspect/index.ts";
import { connector } from "../plugins/database/connector/index.ts";
import { frontPage } from "../plugins/pages/front/index.ts";
import { databaseSettings } from "../plugins/database/stored-settings/index.ts";
import { anonymousTimeout } from "../plugins/limits/anonymous-timeout.ts";
import { costLimits } from "../plugins/limits/cost-limits.ts";
import { accessLog, cors, requestIds, structuredLog, traceHeader } from "../plugins/operations/http/index.ts";
import { rateLimits } from "../plugins/limits/rate-limits.ts";
import { rowLimits } from "../plugins/limits/row-limits.ts";
import { safeWrites } from "../plugins/limits/safe-writes.ts";
import { metadata, metadataLoader, metadataPermissions } from "../plugins/metadata/index.ts";
import { readYourWrites } from "../plugins/cluster/read-your-writes/index.ts";
import { aggregateFunctions } from "../plugins/operators/aggregates.ts";
import { arrayRangeOperators } from "../plugins/operators/array-range.ts";
import { comparisonOperators } from "../plugins/operators/comparison.ts";
import { jsonOperators } from "../plugins/operators/json.ts";
import { ltreeOperators } from "../plugins/operators/ltree.ts";
import { textOperators } from "../plugins/operators/text.ts";
import { setOperator } from "../plugins/operators/set.ts";
import { coalescedReads, columnArrays, planProof, streamedAnswers } from "../plugins/speed/index.ts";
import { reloadPoll } from "../plugins/database/reload/poll.ts";
import { tracing } from "../plugins/operations/tracing/index.ts";
import { slowQueries } from "../plugins/operations/slow-queries/index.ts";
import { reloadAll, reloadChannel } from "../plugins/database/reload/index.ts";
import { livePatches } from "../plugins/live/patches/index.ts";
import { liveQueries, notifyChanges, pollChanges, replicationChanges, sse } from "../plugins/live/index.ts";

export const common: readonly Plugin[] = [
  // the plugin that connects to the database
  connector,
  // plugins around each request
  structuredLog,
  requestIds,
  accessLog,
  cors,
  traceHeader,
  planProof,
  coalescedReads,
  columnArrays,
  readYourWrites,
  slowQueries,
  tracing,
  // plugins that limit requests
  redisLimits,
  rateLimits,
  rowLimits,
  costLimits,
  anonymousTimeout,
  safeWrites,
  // plugins for long bodies
  streamedAnswers,
  // plugins for pages in a browser
  frontPage,
  // plugins that load the model
  catalogIntrospection,
  relationships,
  computedRelationships,
  reloadChannel,
  reloadPoll,
  // settings stored in the database
  databaseSettings,
  // names and permissions from metadata
  metadataLoader,
  metadata,
  metadataPermissions,
  // auth schemes
  adminSecret,
  jwtTokens,
  anonymous,
  // settings and roles that SQL sees
  requestSettings,
  sessionSettings,
  hasuraSession,
  // plugins of filters
  comparisonOperators,
  textOperators,
  jsonOperators,
  arrayRangeOperators,
  ltreeOperators,
  // plugins of aggregates
  aggregateFunctions,
  // plugins of related rows
  nestEmbeds,
  aggregateEmbeds,
  // plugins of writes
  setOperator,
  // live queries: the engine, event streams, patches, change sources (the best one first)
  liveQueries,
  sse,
  livePatches,
  replicationChanges,
  notifyChanges,
  pollChanges,
  // the bus of several processes, listed after plugins that send a last message on it
  bus,
  natsBus,
  redisBus,
  notifyBus,
  reloadAll,
];
