/** Creates the schemas of all roles: one source per model, and one set of types per role, on its first request.
 *  @rule G-GEN-1 */
import {
  runToEnd,
  runSliced,
  defineCacheQuestion,
  memoize,
  observeSession,
  type Ask,
  type Cache,
  type Model,
  type Slices,
  type PluginContext,
  type RelApiHooks,
  type ResolvedOptions,
  type Session,
  type SessionSource,
} from "../../../core/index.ts";
import { buildDirectives } from "../document/directives.ts";
import type { Directives } from "../directives.ts";
import { gqlDirectivesHook } from "../api.ts";
import { introspectionService, type IntrospectionService } from "../introspection/introspection.ts";
import { buildRoleSchema, type PreparableSchema } from "./builder.ts";
import { findAccess } from "./rights.ts";
import { createCatalog, type Catalog } from "./catalog.ts";
import { createValueTypes, type ValueTypes } from "./values.ts";
import type { GqlVariant } from "../field-types.ts";
import type { RoleSchema } from "./role-schema.ts";
import { liveQueriesService } from "../../live/api.ts";

export interface SchemaCaller extends SessionSource {
  readonly model: Model;
}

const MODEL = defineCacheQuestion("model", ({ model }: Pick<SchemaCaller, "model">) => model);

interface ModelNames {
  readonly catalog: Catalog;
  readonly values: ValueTypes;
}

/** The estimated memory of a role schema. Types are made on first use, and the estimate per table includes its complete
 *  root fields. */
const BYTES_PER_TABLE = 4000;
const BYTES_PER_ROLE = 100_000;

export type Schemas = Cache<SchemaCaller, RoleSchema>;

/** Returns the cache key of a role's access to a model. */
const encodeAccessKey = ({ role, isAdmin, isBackend }: Session): string =>
  JSON.stringify([role, isAdmin, isBackend === true]);

const parseAccessKey = (key: string): Session => {
  // Only `encodeAccessKey` writes the key.
  const [role, isAdmin, isBackend] = JSON.parse(key) as [string, boolean, boolean];
  return { role, isAdmin, isBackend, claims: {}, variables: {} };
};

/** The preparation of a model. */
interface Preparation {
  /** The options with which the schemas are prepared. */
  options: ResolvedOptions | undefined;
  /** The names, once they are complete. */
  names: ModelNames | undefined;
  /** The prepared schemas by the key of `encodeAccessKey`. */
  readonly schemas: Map<string, PreparableSchema>;
  /** The warnings about names that no request has used. */
  warnings: string[] | undefined;
}

/** Replaces introspection if its plugin is missing. */
const NO_INTROSPECTION: IntrospectionService = {
  metaFields: new Map(),
  introspect: () => {
    throw new TypeError("a schema without meta fields is not introspected");
  },
};

/** The maximum number of schemas that are prepared for the next model. The most recent schemas are prepared. */
const MAX_PREPARED = 10;

interface SchemaSource {
  readonly schemas: Schemas;
  /** Runs work that needs a schema. The first document waits for the names of all tables, so that it does not block
   *  other requests. @rule R-SC-12b */
  whenOpen<Result>(run: () => Result): Result | Promise<Result>;
}

/** Creates the schemas. `variant` is set for schemas of another surface. */
export const createSchemas = (hooks: RelApiHooks, context: PluginContext, variant?: GqlVariant): SchemaSource => {
  const buildCacheName = (name: string): string => (variant === undefined ? name : `${variant.name} ${name}`);
  const getPreparation = memoize((_model: Model): Preparation => ({
    options: undefined,
    names: undefined,
    schemas: new Map(),
    warnings: undefined,
  }));
  const inUse = new Map<string, WeakRef<PreparableSchema>>();
  let isUsed = false;
  /** Prepares the names of the current model. Undefined if they are complete. */
  let open: (() => Promise<void>) | undefined;

  const createWarn =
    (model: Model) =>
    (message: string): void => {
      const { warnings } = getPreparation(model);
      if (warnings === undefined) context.logger.warn(message);
      else warnings.push(message);
    };

  const buildModelNames = function* (model: Model): Slices<ModelNames> {
    const { defaultNamingConvention, disablePostgresArrays } = context.options;
    const source = yield* createCatalog(model, context.registry, defaultNamingConvention, createWarn(model));
    return { catalog: source, values: createValueTypes(model, disablePostgresArrays) };
  };

  /** The directives, which are collected for the first schema, after all plugins have tapped. */
  let directives: Directives | undefined;
  const buildSchema = (model: Model, { catalog, values }: ModelNames, session: Session): PreparableSchema => {
    return buildRoleSchema({
      model,
      catalog,
      values,
      access: findAccess(model, session),
      hooks,
      registry: context.registry,
      options: context.options,
      hasSubscriptions: context.use(liveQueriesService) !== undefined,
      directives: (directives ??= buildDirectives(context.use(gqlDirectivesHook).call([]))),
      introspection: context.use(introspectionService) ?? NO_INTROSPECTION,
      variant,
    });
  };

  /** Building the types of thousands of tables takes long, so they are built before the model comes into force. */
  context.beforeModel(async (model) => {
    const usedSchemas = [...inUse].flatMap(([key, ref]) => {
      const schema = ref.deref();
      const roots = schema?.usedRoots() ?? [];
      const tables = [...(schema?.usedTables() ?? [])];
      return roots.length === 0 && tables.length === 0 ? [] : [{ key, roots, tables }];
    });
    if (!isUsed) return;
    const preparation = getPreparation(model);
    preparation.options = context.options;
    const modelNames = await runSliced(buildModelNames(model));
    for (const { key, roots, tables } of usedSchemas) {
      const schema = buildSchema(model, modelNames, parseAccessKey(key));
      if (schema.isWhole) await runSliced(schema.prepare(roots));
      await runSliced(schema.openTables(tables));
      preparation.schemas.set(key, schema);
      inUse.set(key, new WeakRef(schema));
    }
    preparation.names = modelNames;
  });

  const startModelNames = async (model: Model): Promise<void> => {
    const preparation = getPreparation(model);
    preparation.warnings = [];
    try {
      const names = await runSliced(buildModelNames(model));
      preparation.names ??= names;
    } catch {
      // The document that needs the names fails and reports the error.
    }
  };
  context.onModel((model) => {
    open = undefined;
    const preparation = getPreparation(model);
    if (preparation.options !== context.options) {
      // The options have changed with the model.
      preparation.names = undefined;
      preparation.schemas.clear();
    }
    if (preparation.names !== undefined) return;
    // Another surface may never get a request.
    let names = variant === undefined ? startModelNames(model) : undefined;
    const openNames = async (): Promise<void> => {
      await (names ??= startModelNames(model));
      if (open === openNames) open = undefined;
    };
    open = openNames;
  });

  /** Returns the names of a model. They depend only on the model and on settings that come into force with it. */
  const getModelNames = (model: Model): ModelNames => {
    isUsed = true;
    const preparation = getPreparation(model);
    preparation.names ??= runToEnd(buildModelNames(model));
    const { warnings = [] } = preparation;
    preparation.warnings = undefined;
    for (const message of warnings) context.logger.warn(message);
    return preparation.names;
  };

  const schemas = context.caches.create({
    name: buildCacheName("graphql schemas"),
    make: (ask: Ask<SchemaCaller>): PreparableSchema => {
      const model = ask(MODEL);
      const session = observeSession(ask);
      const key = encodeAccessKey(session);
      const preparedSchemas = getPreparation(model).schemas;
      const schema = preparedSchemas.get(key) ?? buildSchema(model, getModelNames(model), session);
      preparedSchemas.delete(key); // from here on, the cache keeps or evicts the schema
      inUse.delete(key);
      inUse.set(key, new WeakRef(schema));
      for (const oldest of inUse.keys()) if (inUse.size > MAX_PREPARED) inUse.delete(oldest);
      return schema;
    },
    estimateBytes: ({ isWhole }) => BYTES_PER_ROLE + (isWhole ? context.model().relations.size * BYTES_PER_TABLE : 0),
  });
  const whenOpen: SchemaSource["whenOpen"] = (run) => (open === undefined ? run() : open().then(() => whenOpen(run)));
  return { schemas, whenOpen };
};
