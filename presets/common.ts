/** The plugins that both surfaces need. */
import type { Plugin } from "../core/index.ts";
import { adminSecret } from "../plugins/auth/admin-secret.ts";
import { anonymous } from "../plugins/auth/anonymous.ts";
import { jwtTokens } from "../plugins/auth/jwt-tokens.ts";
import { aggregateEmbeds } from "../plugins/embeds/aggregate.ts";
import { hasuraSession, sessionSettings } from "../plugins/auth/session-settings.ts";
import { nestEmbeds } from "../plugins/embeds/nest.ts";
import { bus, natsBus, notifyBus, redisBus, redisLimits } from "../plugins/bus/index.ts";
import { catalogIntrospection, computedRelationships, relationships } from "../plugins/introspect/index.ts";
import { coalescedReads } from "../plugins/coalesced-reads/index.ts";
import { columnArrays } from "../plugins/column-arrays/index.ts";
import { frontPage } from "../plugins/front-page/index.ts";
import { databaseSettings } from "../plugins/database-settings/index.ts";
import { anonymousTimeout } from "../plugins/limits/anonymous-timeout.ts";
import { costLimits } from "../plugins/limits/cost-limits.ts";
import { accessLog, cors, requestIds, structuredLog, traceHeader } from "../plugins/http/index.ts";
import { rateLimits } from "../plugins/limits/rate-limits.ts";
import { rowLimits } from "../plugins/limits/row-limits.ts";
import { safeWrites } from "../plugins/limits/safe-writes.ts";
import { metadata, metadataLoader, metadataPermissions } from "../plugins/metadata/index.ts";
import { readYourWrites } from "../plugins/read-your-writes/index.ts";
import { aggregateFunctions } from "../plugins/operators/aggregates.ts";
import { arrayRangeOperators } from "../plugins/operators/array-range.ts";
import { comparisonOperators } from "../plugins/operators/comparison.ts";
import { jsonOperators } from "../plugins/operators/json.ts";
import { ltreeOperators } from "../plugins/operators/ltree.ts";
import { textOperators } from "../plugins/operators/text.ts";
import { setOperator } from "../plugins/operators/set.ts";
import { streamedAnswers } from "../plugins/streamed-answers/index.ts";
import { reloadPoll } from "../plugins/reload/poll.ts";
import { tracing } from "../plugins/tracing/index.ts";
import { slowQueries } from "../plugins/slow-queries/index.ts";
import { reloadAll, reloadChannel } from "../plugins/reload/index.ts";
import { livePatches } from "../plugins/live-patches/index.ts";
import { liveQueries, notifyChanges, pollChanges, replicationChanges, sse } from "../plugins/subscriptions/index.ts";

export const common: readonly Plugin[] = [
  // plugins around each request
  structuredLog,
  requestIds,
  accessLog,
  cors,
  traceHeader,
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
