/** The schemas of all roles: one source per model, one set of types per role, made when a caller of that role comes.
 *  @rule G-GEN-1 */
import {
  membersOf,
  observeSession,
  type Ask,
  type Cache,
  type Model,
  type PluginContext,
  type RelApiHooks,
  type WithSession,
} from "../../core/index.ts";
import type { IntrospectionToken } from "./introspection.ts";
import { buildRoleSchema } from "./types/builder.ts";
import { viewOf } from "./types/rights.ts";
import { createCatalog, type Catalog } from "./types/catalog.ts";
import { createValues, type Values } from "./types/values.ts";
import type { RoleSchema } from "./parts.ts";
import type { LiveQueriesService } from "../subscriptions/api.ts";

export interface Caller extends WithSession {
  readonly model: Model;
}

const MODEL = membersOf<{ readonly model: Model }>()("model");

interface ModelNames {
  readonly source: Catalog;
  readonly values: Values;
}

/** Types are made when a document first touches them: so much for each table in the end. */
const BYTES_PER_TABLE = 4000;

export type Schemas = Cache<Caller, RoleSchema>;

export const createSchemas = (hooks: RelApiHooks, context: PluginContext): Schemas => {
  const names = context.caches.create({
    name: "graphql names",
    make: (ask: Ask<{ readonly model: Model }>): ModelNames => {
      const model = ask(MODEL);
      const source = createCatalog(model, context.options.defaultNamingConvention, (message) =>
        context.logger.warn(message),
      );
      return { source, values: createValues(model, context.options.disablePostgresArrays) };
    },
    bytesOf: ({ source }) => source.tables.length * BYTES_PER_TABLE,
  });

  return context.caches.create({
    name: "graphql schemas",
    make: (ask: Ask<Caller>): RoleSchema => {
      const model = ask(MODEL);
      const found = names.within(ask);
      found.keep();
      const introspection = context.service<IntrospectionToken>("graphql-introspection");
      return buildRoleSchema({
        model,
        ...found.made,
        view: viewOf(model, observeSession(ask)),
        hooks,
        registry: context.registry,
        options: context.options,
        hasSubscriptions: context.service<LiveQueriesService>("live-queries") !== undefined,
        metaFields: introspection?.metaFields ?? new Map(),
        introspect: introspection?.introspect ?? (() => () => "null"),
      });
    },
    bytesOf: () => context.model().relations.size * BYTES_PER_TABLE,
  });
};
