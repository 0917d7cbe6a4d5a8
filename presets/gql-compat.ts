/** The preset of the GraphQL surface, compatible with Hasura v2. */
import { compose, type Preset } from "../core/index.ts";
import {
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
} from "../plugins/graphql/index.ts";
import { apiLimits } from "../plugins/limits/index.ts";
import { legacyWebsocket, liveDirective, multipart, upgrades, websocketTransport } from "../plugins/live/index.ts";
import { documentOperators, geoOperators, incOperator } from "../plugins/operators/index.ts";
import { playground } from "../plugins/pages/index.ts";
import { commonPlugins } from "./common-plugins.ts";
import { packageNames } from "./known-plugins.ts";
import type { PresetOptions } from "./options.ts";

/** Composes the GraphQL surface of Hasura v2, including live queries. */
export const gqlCompat = (options: PresetOptions): Preset =>
  compose(
    { plugins: commonPlugins, options, ...packageNames },
    // Plugins that limit requests.
    apiLimits,
    // Plugins of filters.
    geoOperators,
    // Plugins of column updates.
    incOperator,
    documentOperators,
    // Plugins of the surface.
    graphql,
    graphqlGet,
    graphqlHints,
    trustedDocuments,
    persistedQueries,
    restEndpoints,
    graphqlQueries,
    graphqlRelationships,
    graphqlComputedFields,
    graphqlComparisons,
    graphqlCasts,
    graphqlAggregates,
    aggregatePredicates,
    graphqlFunctions,
    graphqlInserts,
    graphqlUpdates,
    graphqlDeletes,
    graphqlIntrospection,
    playground,
    // Live queries over WebSocket and multipart responses, and subscriptions sent as queries.
    upgrades,
    websocketTransport,
    legacyWebsocket,
    multipart,
    liveDirective,
  );
