/** The preset of both surfaces with features that neither PostgREST nor Hasura has. */
import { compose, type Plugin, type Preset } from "../core/index.ts";
import { graphqlGroupBy, restHaving } from "../plugins/plus/group-by/index.ts";
import { configApi, graphqlExplain, metadataApi, runSql } from "../plugins/plus/hasura/index.ts";
import { connections, graphqlConnections } from "../plugins/plus/keyset/connections.ts";
import { cursorPages } from "../plugins/plus/keyset/cursor-pages.ts";
import { relay } from "../plugins/plus/keyset/relay.ts";
import { mcp } from "../plugins/plus/mcp/index.ts";
import { nativeQueries } from "../plugins/plus/native-queries/index.ts";
import { ndjson } from "../plugins/plus/ndjson/index.ts";
import { nearest } from "../plugins/plus/nearest/index.ts";
import { nestedWrites } from "../plugins/plus/nested-writes/index.ts";
import { restBatch } from "../plugins/plus/rest-batch/index.ts";
import { rowHistory } from "../plugins/plus/row-history/index.ts";
import { softDelete } from "../plugins/plus/soft-delete/index.ts";
import { whyEmpty } from "../plugins/plus/why/index.ts";
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
  metadataApi,
  runSql,
  mcp,
  nativeQueries,
  ndjson,
  nearest,
  nestedWrites,
  connections,
  graphqlConnections,
  relay,
  restBatch,
  rowHistory,
  softDelete,
  whyEmpty,
];

/** `fullCompat` with features that neither PostgREST nor Hasura has: docs/reference/plus.md. */
export const plus = (options: PresetOptions): Preset => compose(fullCompat(options), ...features);
