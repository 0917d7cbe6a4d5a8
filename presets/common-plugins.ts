/** The plugins that both surfaces need. */
import type { Plugin } from "../core/index.ts";
import {
  adminSecret,
  anonymous,
  hasuraSession,
  jwtTokens,
  requestSettings,
  sessionSettings,
} from "../plugins/auth/index.ts";
import { bus, natsBus, notifyBus, readYourWrites, redisBus, redisLimits } from "../plugins/cluster/index.ts";
import {
  catalogIntrospection,
  computedRelationships,
  connector,
  databaseSettings,
  relationships,
  reloadAll,
  reloadChannel,
  reloadPoll,
} from "../plugins/database/index.ts";
import { anonymousTimeout, costLimits, rateLimits, rowLimits, safeWrites } from "../plugins/limits/index.ts";
import {
  liveQueries,
  livePatches,
  notifyChanges,
  pollChanges,
  replicationChanges,
  sse,
} from "../plugins/live/index.ts";
import { metadata, metadataLoader, metadataPermissions } from "../plugins/metadata/index.ts";
import {
  accessLog,
  cors,
  requestIds,
  slowQueries,
  structuredLog,
  traceHeader,
  tracing,
} from "../plugins/operations/index.ts";
import {
  aggregateEmbeds,
  aggregateFunctions,
  arrayRangeOperators,
  comparisonOperators,
  jsonOperators,
  ltreeOperators,
  nestEmbeds,
  setOperator,
  textOperators,
} from "../plugins/operators/index.ts";
import { frontPage } from "../plugins/pages/index.ts";
import { authHook } from "../plugins/services/index.ts";
import { coalescedReads, columnArrays, planProof, streamedAnswers } from "../plugins/speed/index.ts";

export const commonPlugins: readonly Plugin[] = [
  // The plugin that connects to the database.
  connector,
  // Plugins around each request.
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
  // Plugins that limit requests.
  redisLimits,
  rateLimits,
  rowLimits,
  costLimits,
  anonymousTimeout,
  safeWrites,
  // Plugins for long bodies.
  streamedAnswers,
  // Plugins for pages in a browser.
  frontPage,
  // Plugins that load the model.
  catalogIntrospection,
  relationships,
  computedRelationships,
  reloadChannel,
  reloadPoll,
  // Settings stored in the database.
  databaseSettings,
  // Plugins of names and permissions from metadata.
  metadataLoader,
  metadata,
  metadataPermissions,
  // Auth schemes.
  adminSecret,
  authHook,
  jwtTokens,
  anonymous,
  // Plugins of the settings and roles that SQL sees.
  requestSettings,
  sessionSettings,
  hasuraSession,
  // Plugins of filters.
  comparisonOperators,
  textOperators,
  jsonOperators,
  arrayRangeOperators,
  ltreeOperators,
  // Plugins of aggregates.
  aggregateFunctions,
  // Plugins of related rows.
  nestEmbeds,
  aggregateEmbeds,
  // Plugins of writes.
  setOperator,
  // Live queries: the engine, event streams, patches, change sources (the best one first).
  liveQueries,
  sse,
  livePatches,
  replicationChanges,
  notifyChanges,
  pollChanges,
  // The bus of several processes, listed after plugins that send a last message on it.
  bus,
  natsBus,
  redisBus,
  notifyBus,
  reloadAll,
];
