/** The preset of both surfaces with features that neither PostgREST nor Hasura has. */
import { compose, type Plugin, type Preset } from "../core/index.ts";
import {
  configApi,
  cursorConnections,
  cursorPages,
  graphqlConnections,
  graphqlExplain,
  graphqlGroupBy,
  mcp,
  metadataApi,
  nativeQueries,
  ndjson,
  nearest,
  nestedWrites,
  relay,
  restBatch,
  restHaving,
  rowHistory,
  runSql,
  softDelete,
  whyEmpty,
} from "../plugins/plus/index.ts";
import {
  events,
  jobQueue,
  metadataActions,
  remoteSchemaFields,
  scheduledEvents,
  webhooks,
} from "../plugins/services/index.ts";
import { fullCompat } from "./full-compat.ts";
import type { PresetOptions } from "./options.ts";

/**
 * One plugin per line, as in docs/reference/plus.md. The command line loads this file at each start, so plugins import
 * large modules on first use.
 */
const features: readonly Plugin[] = [
  cursorPages,
  graphqlGroupBy,
  restHaving,
  configApi,
  graphqlExplain,
  metadataActions,
  metadataApi,
  runSql,
  mcp,
  nativeQueries,
  ndjson,
  nearest,
  nestedWrites,
  cursorConnections,
  graphqlConnections,
  relay,
  remoteSchemaFields,
  restBatch,
  rowHistory,
  softDelete,
  webhooks,
  whyEmpty,
  jobQueue,
  events,
  scheduledEvents,
];

/** Composes `fullCompat` with features that neither PostgREST nor Hasura has: docs/reference/plus.md. */
export const plus = (options: PresetOptions): Preset => compose(fullCompat(options), ...features);
