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
  // plugins of names and permissions from metadata
  metadataLoader,
  metadata,
  metadataPermissions,
  // auth schemes
  adminSecret,
  authHook,
  jwtTokens,
  anonymous,
  // plugins of the settings and roles that SQL sees
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
