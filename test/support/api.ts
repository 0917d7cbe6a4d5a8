/** A real API on a real database: `relApi(fullCompat(...))` on a free loopback port. */
import { Agent, createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { compose, relApi, type PresetPart, type RelApi, type RelApiOptions } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { testDatabase, type TestDatabase } from "./database.ts";
import { atFileEnd } from "./file-end.ts";
import { sendRequest, type Answer, type HeaderValues, type RequestParts } from "./http.ts";
import { adminSecret, jwtSecret } from "./tokens.ts";

export { encodePath, type Answer, type HeaderValues, type RequestParts } from "./http.ts";
export { capabilities } from "./database.ts";

export interface StartOptions extends RelApiOptions {
  /** Plugins, presets and `without(...)` composed after the preset. */
  readonly parts?: readonly PresetPart[];
  /** Instead of `fullCompat`: receives the options. */
  readonly preset?: (options: RelApiOptions) => PresetPart;
  /** Instead of the file's database. */
  readonly on?: TestDatabase;
}

type Send = (path: string, parts?: RequestParts) => Promise<Answer>;

export interface TestApi {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** `ws://127.0.0.1:<port>` */
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
  /** POST `/v1/graphql` as administrator; a header given as null is left out, so `{ "x-session-admin-secret": null }`
   *  is anybody. */
  gql(query: string, variables?: Readonly<Record<string, unknown>>, headers?: HeaderValues): Promise<any>;
  /** As superuser, past the API. After a change of the schema: `await api.reload()`. */
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
  dbSchemaPollInterval: 0, // a test says when the schema is read
  logLevel: "silent",
};

/** Options for tests of the GraphQL surface, over those of `startApi`. */
export const forGraphql = (options: StartOptions = {}): StartOptions => ({ dbSchemas: ["public"], ...options });

/** Headers of the administrator, acting as `role` if one is given, with session variables: `asAdmin("music_artist", {
 *  "artist-id": "1" })`. */
export const asAdmin = (role?: string, variables: Readonly<Record<string, string>> = {}): HeaderValues => ({
  "x-session-admin-secret": adminSecret,
  "x-session-role": role,
  ...Object.fromEntries(Object.entries(variables).map(([name, text]) => [`x-session-${name}`, text])),
});

/** `Prefer` of a write that leaves nothing behind: `rolledBack("return=representation")`. */
export const rolledBack = (...preferences: readonly string[]): { prefer: string } => ({
  prefer: [...preferences, "tx=rollback"].join(", "),
});

/** Closed with the file at the latest. With ORACLE set, all that it is asked is put to the oracle when the file ends
 *  (oracle/recorded.ts). @throws what a preset that cannot start throws, or what `ready` rejects with */
export const startApi = async (options: StartOptions = {}): Promise<TestApi> => {
  if ((process.env["ORACLE"] ?? "") === "") return openApi(options);
  const { recorded } = await import("./oracle/recorded.ts"); // asks this file for servers
  return recorded(options);
};

/** `asked` hears of each request. */
export const openApi = async (
  options: StartOptions,
  asked?: (method: string, path: string, parts?: RequestParts) => void,
): Promise<TestApi> => {
  const { parts = [], preset = fullCompat, on, ...own } = options;
  const database = on ?? (await testDatabase());
  const handler = relApi(compose(preset({ ...DEFAULTS, ...database.options, ...own }), ...parts));
  const server = createServer(handler);
  if ("attach" in handler) handler.attach(server); // a plugin adds it
  const agent = new Agent({ keepAlive: true });
  server.keepAliveTimeout = 0; // a server that closes an idle connection would refuse a request already under way
  try {
    await handler.ready;
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  } catch (error) {
    await handler.close();
    throw error;
  }
  const { port } = server.address() as AddressInfo; // listening on TCP
  const request: TestApi["request"] = (method, path, sent) => {
    asked?.(method, path, sent);
    return sendRequest({ port, agent }, method, path, sent);
  };
  const by =
    (method: string): Send =>
    (path, sent) =>
      request(method, path, sent);
  let closing: Promise<void> | undefined;
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
    get: by("GET"),
    head: by("HEAD"),
    post: by("POST"),
    put: by("PUT"),
    patch: by("PATCH"),
    delete: by("DELETE"),
    options: by("OPTIONS"),
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
    close: () => (closing ??= close()),
  };
  atFileEnd(api.close);
  return api;
};
