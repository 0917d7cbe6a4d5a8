/** Reads the schemas of remotes, keeps them for later loads of the model, and repeats failed reads while a remote is
 *  unavailable. */
import {
  buildClientSchema,
  getIntrospectionQuery,
  GraphQLSchema,
  parse,
  validateSchema,
  type DocumentNode,
  type IntrospectionQuery,
} from "graphql";
import { isJsonObject, RelApiError, type JsonObject, type PluginContext } from "../../../../core/index.ts";
import { sendToRemote } from "../requests/client.ts";
import type { RemoteDefinition, RemoteServer } from "./definition.ts";
import { graphqlPackageDuplicated, RemoteSchemaProblem } from "../errors.ts";

/** The time limit of introspection. It is shorter than the limit for requests of clients, because loads of the model
 *  wait for introspection. */
const MAX_INTROSPECTION_MS = 10_000;

const FIRST_RETRY_MS = 5000;
const MAX_RETRY_MS = 300_000;

const INTROSPECTION: DocumentNode = parse(getIntrospectionQuery());

/** Returns the result of introspection, as the server sent it. @throws RelApiError `remote-schema-error` */
export const introspect = (context: PluginContext, name: string, server: RemoteServer): Promise<JsonObject> =>
  sendToRemote(
    context,
    name,
    { ...server, timeoutMs: Math.min(server.timeoutMs, MAX_INTROSPECTION_MS) },
    { document: INTROSPECTION },
    {},
  );

/** Returns the schema that an introspection result describes.
 *  @throws RemoteSchemaProblem if the result is not a valid schema */
const buildSchema = ({ data, errors }: JsonObject): GraphQLSchema => {
  if (!isJsonObject(data)) {
    const [first] = Array.isArray(errors) ? errors : [];
    const message = isJsonObject(first) ? first["message"] : undefined;
    throw new RemoteSchemaProblem(`its introspection failed: ${String(message ?? "it has no data")}`);
  }
  let schema: GraphQLSchema;
  try {
    schema = buildClientSchema(data as unknown as IntrospectionQuery); // the function checks the value
  } catch (error) {
    throw new RemoteSchemaProblem(`its introspection cannot be read: ${(error as Error).message}`);
  }
  const [invalid] = validateSchema(schema);
  if (invalid !== undefined) throw new RemoteSchemaProblem(invalid.message);
  return schema;
};

interface State {
  readonly targetKey: string;
  readonly schema?: GraphQLSchema;
  readonly failure?: string;
  readonly timer?: NodeJS.Timeout;
}

/** Reads the schemas of remotes, and caches them. */
export interface RemoteSchemaReader {
  /** Returns the schema of a remote in its own names. If the remote is unavailable, the reader tries again in the
   *  background. @throws RemoteSchemaProblem */
  read(definition: RemoteDefinition): Promise<GraphQLSchema>;
  /** Reads the schema again. If that fails, the previous schema stays. @throws RemoteSchemaProblem */
  refreshSchema(definition: RemoteDefinition): Promise<void>;
  /** Removes the schemas of all remotes except these. */
  keepOnly(names: ReadonlySet<string>): void;
}

/** Creates the reader that fetches the schemas of remotes, and retries after failures. @rule X-RMT-8a */
export const createReader = (context: PluginContext): RemoteSchemaReader => {
  const states = new Map<string, State>();
  let isClosed = false;

  const setState = (name: string, state: State | undefined): void => {
    clearTimeout(states.get(name)?.timer);
    if (state === undefined || isClosed) {
      clearTimeout(state?.timer);
      states.delete(name);
    } else states.set(name, state);
  };

  const loadRemoteSchema = async ({ name, target }: RemoteDefinition): Promise<GraphQLSchema> => {
    if ("schema" in target) {
      if (target.schema instanceof GraphQLSchema) return target.schema;
      throw graphqlPackageDuplicated(`the schema of the remote schema ${name}`);
    }
    try {
      return buildSchema(await introspect(context, name, target));
    } catch (error) {
      if (error instanceof RelApiError) throw new RemoteSchemaProblem(error.message);
      throw error;
    }
  };

  const scheduleRetry = (definition: RemoteDefinition, error: unknown, retryMs: number): never => {
    if (!(error instanceof RemoteSchemaProblem)) throw error;
    const { name, targetKey } = definition;
    const retry = async (): Promise<void> => {
      try {
        setState(name, { targetKey, schema: await loadRemoteSchema(definition) });
        context.logger.info(`the remote schema ${name} is available again`);
        context.requestReload();
      } catch (retryError) {
        if (states.get(name)?.targetKey !== targetKey) return;
        scheduleRetry(definition, retryError, Math.min(retryMs * 2, MAX_RETRY_MS));
      }
    };
    // The load has logged the failure.
    const timer = setTimeout(() => void retry().catch(() => undefined), retryMs).unref();
    setState(name, { targetKey, failure: error.message, timer });
    throw error;
  };

  const refreshSchema = async (definition: RemoteDefinition): Promise<void> => {
    const schema = await loadRemoteSchema(definition);
    setState(definition.name, { targetKey: definition.targetKey, schema });
  };

  context.onClose(() => {
    isClosed = true;
    for (const name of states.keys()) setState(name, undefined);
  });

  return {
    read: async (definition) => {
      const { name, targetKey } = definition;
      const knownState = states.get(name);
      if (knownState?.targetKey === targetKey) {
        if (knownState.schema !== undefined) return knownState.schema;
        throw new RemoteSchemaProblem(knownState.failure);
      }
      try {
        const schema = await loadRemoteSchema(definition);
        setState(name, { targetKey, schema });
        return schema;
      } catch (error) {
        return scheduleRetry(definition, error, FIRST_RETRY_MS);
      }
    },
    refreshSchema,
    keepOnly: (names) => {
      for (const name of states.keys()) if (!names.has(name)) setState(name, undefined);
    },
  };
};
