/** The schemas of all roles: one source per model, one set of types per role, made when a caller of that role comes.
 *  @rule G-GEN-1 */
import {
  observeSession,
  type Ask,
  type Model,
  type PluginContext,
  type Question,
  type RelApiHooks,
  type Session,
  type WithSession,
} from "../../core/index.ts";
import type { IntrospectionToken } from "./introspection.ts";
import { buildRoleSchema } from "./types/builder.ts";
import { viewOf } from "./types/rights.ts";
import { createSource, type Source } from "./types/source.ts";
import { createValues, type Values } from "./types/values.ts";
import type { RoleSchema } from "./parts.ts";
import type { LiveQueriesService } from "../subscriptions/api.ts";

interface Caller extends WithSession {
  readonly model: Model;
}

const MODEL: Question<{ readonly model: Model }, Model> = { name: "model", of: ({ model }) => model };

interface ModelNames {
  readonly source: Source;
  readonly values: Values;
}

/** Types are made when a document first touches them: so much for each table in the end. */
const BYTES_PER_TABLE = 4000;

export interface Schemas {
  of(session: Session): RoleSchema;
}

export const createSchemas = (hooks: RelApiHooks, context: PluginContext): Schemas => {
  const names = context.caches.create({
    name: "graphql names",
    make: (ask: Ask<{ readonly model: Model }>): ModelNames => {
      const model = ask(MODEL);
      const source = createSource(model, context.options.defaultNamingConvention, (message) =>
        context.logger.warn(message),
      );
      return { source, values: createValues(model, context.options.disablePostgresArrays) };
    },
    bytesOf: ({ source }) => source.tables.length * BYTES_PER_TABLE,
  });

  const schemas = context.caches.create({
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

  return {
    of: (session) => schemas.take({ session, model: context.model() }),
  };
};
