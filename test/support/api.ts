/** A real API on a real database: `relApi(fullCompat(...))` on a free loopback port. */
import { Agent, createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { compose, relApi, type PresetPart, type RelApi, type RelApiOptions } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { testDatabase, type TestDatabase } from "./database.ts";
import { withoutFamily } from "./families.ts";
import { atFileEnd } from "./file-end.ts";
import { sendRequest, type Answer, type HeaderValues, type RequestParts } from "./http.ts";
import { adminSecret, jwtSecret } from "./tokens.ts";

export { ANY_MEDIA_TYPE, BROWSER, encodePath, type Answer, type HeaderValues, type RequestParts } from "./http.ts";
export { capabilities } from "./database.ts";

export interface StartOptions extends RelApiOptions {
  /** Plugins, presets and `without(...)` composed after the preset. */
  readonly parts?: readonly PresetPart[];
  /** The preset in place of `fullCompat`. It receives the options. */
  readonly preset?: (options: RelApiOptions) => PresetPart;
  /** The database in place of the file's. */
  readonly on?: TestDatabase;
}

type Send = (path: string, parts?: RequestParts) => Promise<Answer>;

export interface TestApi {
  /** The URL `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** The URL `ws://127.0.0.1:<port>`. */
  readonly wsUrl: string;
  readonly port: number;
  readonly database: TestDatabase;
  readonly relApi: RelApi;
  readonly server: Server;
  request(method: string, path: string, parts?: RequestParts): Promise<Answer>;
  readonly get: Send;
  readonly head: Send;
  readonly post: Send;
  readonly put: Send;
  readonly patch: Send;
  readonly delete: Send;
  readonly options: Send;
  /**
   * POST `/v1/graphql` as administrator. A header of null is left out, so `{ "x-session-admin-secret": null }` makes
   * the caller anonymous.
   */
  gql(query: string, variables?: Readonly<Record<string, unknown>>, headers?: HeaderValues): Promise<any>;
  /** Runs SQL as superuser, outside of the API. After a change of the schema, call `await api.reload()`. */
  readonly sql: TestDatabase["query"];
  reload(): Promise<void>;
  close(): Promise<void>;
}

const DEFAULTS: RelApiOptions = {
  compatMode: true,
  dbSchemas: ["sea", "land"],
  anonRole: "sea_anon",
  jwtSecret,
  adminSecret,
  dbTxEnd: "commit-allow-override",
  liveQueryInterval: 100,
  dbSchemaPollInterval: 0, // tests reload the schema themselves
};

/** Options for tests of the GraphQL surface, which override those of `startApi`. */
export const forGraphql = (options: StartOptions = {}): StartOptions => ({ dbSchemas: ["public"], ...options });

/** Headers of the administrator, acting as `role` if one is given, with session variables: `asAdmin("music_artist", {
 *  "artist-id": "1" })`. */
export const asAdmin = (role?: string, variables: Readonly<Record<string, string>> = {}): HeaderValues => ({
  "x-session-admin-secret": adminSecret,
  "x-session-role": role,
  ...Object.fromEntries(Object.entries(variables).map(([name, text]) => [`x-session-${name}`, text])),
});

/** The `Prefer` header of a write that is rolled back: `rolledBack("return=representation")`. */
export const rolledBack = (...preferences: readonly string[]): { prefer: string } => ({
  prefer: [...preferences, "tx=rollback"].join(", "),
});

/** The `Content-Range` of a response without a count: `uncountedRange("0-2")`, and `uncountedRange("*")` if it has no rows. */
export const uncountedRange = (rows: string): string => `${rows}/*`;

/**
 * Starts an API that is closed at the latest with the file. With ORACLE set, all its requests are repeated by the
 * oracle when the file ends (oracle/recorded.ts). @throws errors of a preset that cannot start, or the rejection of
 * `ready`
 */
export const startApi = async (options: StartOptions = {}): Promise<TestApi> => {
  if ((process.env["ORACLE"] ?? "") === "") return openApi(options);
  const { startRecorded } = await import("./oracle/recorded.ts"); // that module imports this file
  return startRecorded(options);
};

/** Opens an API. `onRequest` is called with each request. */
export const openApi = async (
  options: StartOptions,
  onRequest?: (method: string, path: string, parts?: RequestParts) => void,
): Promise<TestApi> => {
  const { parts = [], preset = fullCompat, on: chosenDatabase, ...presetOptions } = options;
  const database = chosenDatabase ?? (await testDatabase());
  const logLevel = presetOptions.logger === undefined ? "silent" : "debug"; // a logger of the test gets every line
  const basePreset = compose(preset({ ...DEFAULTS, logLevel, ...database.options, ...presetOptions }));
  const handler = relApi(compose(withoutFamily(basePreset), ...parts));
  const server = createServer(handler);
  if ("attach" in handler) handler.attach(server); // a plugin adds this member
  const agent = new Agent({ keepAlive: true });
  server.keepAliveTimeout = 0; // a server that closes an idle connection would reject a request already under way
  try {
    await handler.ready;
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  } catch (error) {
    await handler.close();
    throw error;
  }
  const { port } = server.address() as AddressInfo; // the server listens on TCP
  const request: TestApi["request"] = (method, path, requestParts) => {
    onRequest?.(method, path, requestParts);
    return sendRequest({ port, agent }, method, path, requestParts);
  };
  const sendWith =
    (method: string): Send =>
    (path, requestParts) =>
      request(method, path, requestParts);
  let closePromise: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    agent.destroy();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await handler.close();
    server.closeAllConnections();
    await closed;
  };
  const api: TestApi = {
    url: `http://127.0.0.1:${port}`,
    wsUrl: `ws://127.0.0.1:${port}`,
    port,
    database,
    relApi: handler,
    server,
    request,
    get: sendWith("GET"),
    head: sendWith("HEAD"),
    post: sendWith("POST"),
    put: sendWith("PUT"),
    patch: sendWith("PATCH"),
    delete: sendWith("DELETE"),
    options: sendWith("OPTIONS"),
    gql: async (query, variables, headers) => {
      const answer = await request("POST", "/v1/graphql", {
        headers: { "x-session-admin-secret": adminSecret, ...headers },
        body: { query, variables },
      });
      return answer.json();
    },
    sql: database.query,
    reload: async () => {
      await handler.reload();
    },
    close: () => (closePromise ??= close()),
  };
  atFileEnd(api.close);
  return api;
};
