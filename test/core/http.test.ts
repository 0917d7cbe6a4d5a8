/** The pipeline and the server around it, with a surface of the test: `/echo/…` answers with the request. */
import { hasSubscribers } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import express from "express";
import { Agent, createServer, request as send, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import {
  compose,
  definePlugin,
  relApi,
  RelApiError,
  tokenRejected,
  type Answer,
  type Exchange,
  type Logger,
  type Model,
  type Plugin,
  type PresetPart,
  type RelApi,
  type RelApiOptions,
  type Session,
  type Surface,
} from "../../core/index.ts";
import { adminSecret } from "../../plugins/auth/admin-secret.ts";
import { anonymous } from "../../plugins/auth/anonymous.ts";
import { credentialRules } from "../../plugins/graphql/credential-rules.ts";
import { accessLog, cors, traceHeader } from "../../plugins/operations/index.ts";
import { connector } from "../../plugins/database/connector/connector.ts";
import { databaseSettings } from "../../plugins/database/stored-settings/index.ts";
import { reloadChannel } from "../../plugins/database/reload/index.ts";
import { takeUpgradeHook } from "../../plugins/live/api.ts";
import { upgrades } from "../../plugins/live/upgrades/index.ts";
import { dbTxEnd } from "../../plugins/shared/settings.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { sendRequest, type RequestParts } from "../support/http.ts";
import { until } from "../support/until.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase();
});

const open: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of open.splice(0).reverse()) await close();
});

const text = (body: string, overrides: Partial<Answer> = {}): Answer => ({
  status: 200,
  headers: [["Content-Type", "text/plain"]],
  body,
  ...overrides,
});

type Handler = (exchange: Exchange) => Answer | Promise<Answer>;

const encodeError: Surface["encodeError"] = (error, { session }) => ({
  status: error.status,
  statusText: error.statusText,
  headers: [["Content-Type", "application/json"], ...error.headers],
  body: JSON.stringify({ code: error.code, message: error.message, role: session?.role }),
});

const WIDE_PATHS = ["/a/*", "/b*"];
const TRUSTED_ORIGINS = ["https://a.example", "https://*.shop.example"];

/** Answers `/echo` and the paths that the test adds. */
const echo = (handlers: Readonly<Record<string, Handler>> = {}, overrides: Partial<Surface> = {}): Plugin =>
  definePlugin({
    name: "echo",
    apply: (_, context) =>
      context.addSurface({
        name: "echo",
        match: (path) => path.startsWith("/echo"),
        handle: async (exchange) => {
          const handler = handlers[exchange.path.slice("/echo/".length)];
          if (handler !== undefined) return handler(exchange);
          return text(
            JSON.stringify({
              method: exchange.method,
              path: exchange.path,
              query: exchange.query,
              role: exchange.session.role,
              body: (await exchange.body()).toString(),
            }),
          );
        },
        encodeError,
        ...overrides,
      }),
  });

const logEntries: { readonly level: string; readonly message: string; readonly fields: unknown }[] = [];
const accessLines: string[] = [];
const keep = (level: string) => (message: string, fields?: unknown) => {
  logEntries.push({ level, message, fields });
};
const logger: Logger = {
  error: keep("error"),
  warn: keep("warn"),
  info: keep("info"),
  debug: keep("debug"),
  access: (line) => void accessLines.push(line),
};

interface RunningServer {
  readonly api: RelApi;
  readonly server: Server;
  readonly port: number;
  request(method: string, path: string, parts?: RequestParts): ReturnType<typeof sendRequest>;
}

const listen = async (api: RelApi, listener: RequestListener): Promise<RunningServer> => {
  const server = createServer(listener);
  server.keepAliveTimeout = 0; // a server that closes an idle connection could reject a request that is already sent
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  open.push(async () => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
    await api.close();
  });
  return { api, server, port, request: (method, path, parts) => sendRequest({ port, agent }, method, path, parts) };
};

const createApi = (options: RelApiOptions, ...parts: readonly PresetPart[]): RelApi =>
  relApi(
    compose(
      {
        plugins: [connector, anonymous, accessLog, cors, traceHeader],
        options: {
          ...db.options,
          anonRole: "sea_anon",
          logger,
          logLevel: "debug",
          dbChannelEnabled: false,
          ...options,
        },
      },
      ...parts,
    ),
  );

const start = async (options: RelApiOptions = {}, ...parts: readonly PresetPart[]): Promise<RunningServer> => {
  logEntries.length = 0;
  accessLines.length = 0;
  const api = createApi(options, ...parts);
  return listen(api, api);
};

const authorizing = (decide: () => Session | Promise<Session | undefined> | undefined, name = "test-auth"): Plugin =>
  definePlugin({ name, stage: -100, apply: (hooks) => hooks.authorize.tapPromise(name, async () => decide()) });

describe("answers", () => {
  test("R-PATH-4 a surface receives path and query undecoded, and the complete body", async () => {
    const { request } = await start({}, echo());
    const answer = await request("POST", "/echo/a%20b?x=1%26&y?z", { body: "payload é" });
    expect(answer.json()).toEqual({
      method: "POST",
      path: "/echo/a%20b",
      query: "x=1%26&y?z",
      role: "sea_anon",
      body: "payload é",
    });
  });

  test("X-SURF-1 exact paths and prefixes match in the order of the plugins, and match decides among them", async () => {
    let laterPaths: readonly string[] = [];
    const surface = (name: string, overrides: Partial<Surface>): Plugin =>
      definePlugin({
        name,
        apply: (_, context) =>
          context.addSurface({ name, handle: ({ path }) => text(`${name} ${path}`), encodeError, ...overrides }),
      });
    const { api, request } = await start(
      {},
      surface("posts", { paths: () => ["/a"], match: (_, method) => method === "POST" }),
      surface("wide", { paths: () => WIDE_PATHS }),
      surface("exact", { paths: () => ["/a", "/a/x", "/b/1"] }),
      surface("grown", { paths: () => laterPaths }),
      surface("matching", { match: (path) => path === "/c" || path === "/a" }),
    );
    const whoAnswers = async (method: string, path: string) => (await request(method, path)).text;
    expect(await whoAnswers("POST", "/a")).toBe("posts /a");
    expect(await whoAnswers("GET", "/a")).toBe("exact /a");
    for (const path of ["/a/x", "/a/y/z", "/b", "/b/1", "/bc"])
      expect(await whoAnswers("GET", path)).toBe(`wide ${path}`);
    expect(await whoAnswers("GET", "/c")).toBe("matching /c");
    for (const path of ["/d", "/", "/A", "/aa"]) expect((await request("GET", path)).status).toBe(404);
    laterPaths = ["/d"];
    await api.reload();
    expect(await whoAnswers("GET", "/d")).toBe("grown /d");
  });

  test("R-HDR-2 every response has Content-Length, also without a body, except for HEAD and with status 204", async () => {
    const { request } = await start(
      {},
      echo({
        none: () => ({ status: 201, headers: [] }),
        empty: () => ({ status: 204, headers: [] }),
        own: () => text("é", { headers: [["Content-Length", "99"]] }),
      }),
    );
    expect((await request("GET", "/echo/own")).headers["content-length"]).toBe("2");
    expect(await request("POST", "/echo/none")).toMatchObject({ status: 201, headers: { "content-length": "0" } });
    const [head, empty] = [await request("HEAD", "/echo/own"), await request("DELETE", "/echo/empty")];
    for (const answer of [head, empty]) {
      expect(answer.headers["content-length"]).toBeUndefined();
      expect(answer.headers["transfer-encoding"]).toBeUndefined();
      expect(answer.text).toBe("");
    }
  });

  test("R-HDR-12 R-HDR-13 Server is sent on every response unless the response has its own; repeated headers stay separate; a header needs a name", async () => {
    const cookies: Handler = () =>
      text("", {
        headers: [
          ["Set-Cookie", "a=1"],
          ["Set-Cookie", "b=2"],
          ["", "x"],
          ["sErVer", "mine"],
        ],
      });
    const { request } = await start({}, echo({ cookies }));
    const answer = await request("GET", "/echo/cookies");
    expect(answer.rawHeaders.filter(([name]) => /set-cookie|server/i.test(name))).toEqual([
      ["Set-Cookie", "a=1"],
      ["Set-Cookie", "b=2"],
      ["sErVer", "mine"],
    ]);
    expect((await request("GET", "/echo")).headers["server"]).toMatch(/^relapi\/\d+\.\d+\.\d+/);
    expect((await request("GET", "/nowhere")).headers["server"]).toMatch(/^relapi\//);
  });

  test("R-ERR-4 a response may have its own reason phrase", async () => {
    const { request } = await start(
      {},
      echo({
        pay: () => {
          throw new RelApiError({ code: "PT402", status: 402, message: "Payment Required", statusText: "Pay Up" });
        },
      }),
    );
    expect(await request("GET", "/echo/pay")).toMatchObject({ status: 402, statusText: "Pay Up" });
  });

  test("X-FLT-1 an unexpected error is hidden from the client and logged with its cause", async () => {
    const { request } = await start(
      {},
      echo({
        bug: () => {
          throw new TypeError("the secret is 42");
        },
      }),
    );
    const answer = await request("GET", "/echo/bug");
    expect(answer.status).toBe(500);
    expect(answer.json()).toEqual({ code: "internal", message: "internal error", role: "sea_anon" });
    const entry = logEntries.find(({ level }) => level === "error");
    expect(entry?.fields).toMatchObject({
      path: "/echo/bug",
      cause: expect.objectContaining({ message: "the secret is 42" }),
    });
  });

  test("X-FLT-1 an invalid header or status of a surface is an internal error", async () => {
    const { request } = await start(
      {},
      echo({ bad: () => text("x", { headers: [["X-Bad", "a\nb"]] }), odd: () => text("x", { status: 1000 }) }),
    );
    expect((await request("GET", "/echo/bad")).json()).toMatchObject({ code: "internal" });
    expect((await request("GET", "/echo/odd")).json()).toMatchObject({ code: "internal" });
    expect((await request("GET", "/echo")).status).toBe(200);
  });

  test("R-PIPE-1 R-PIPE-2 an unknown path gets 404 after authentication, with the message of the last surface", async () => {
    let session: Session | undefined = { role: "sea_anon", isAdmin: false, claims: {}, variables: {} };
    const { request } = await start(
      {},
      authorizing(() => {
        if (session === undefined) throw tokenRejected("bad");
        return session;
      }),
      echo(),
    );
    expect((await request("GET", "/nowhere")).json()).toEqual({
      code: "path-not-found",
      message: "No surface serves the path",
      role: "sea_anon",
    });
    session = undefined;
    expect((await request("GET", "/nowhere")).status).toBe(401);
  });

  test("R-HDR-11 X-STEP-1 the trace header follows its setting when the schema is loaded", async () => {
    let serverTraceHeader: string | undefined;
    const changing = definePlugin({
      name: "changing",
      apply: (_, context) =>
        context.addOptionSource({
          name: "the test",
          read: async () => (serverTraceHeader === undefined ? {} : { serverTraceHeader }),
        }),
    });
    const { api, request } = await start({}, echo(), changing);
    const readTrace = async () => (await request("GET", "/echo", { headers: { "x-trace": "7" } })).headers["x-trace"];
    expect(await readTrace()).toBeUndefined();
    serverTraceHeader = "X-Trace";
    await api.reload();
    expect(await readTrace()).toBe("7");
    serverTraceHeader = undefined;
    await api.reload();
    expect(await readTrace()).toBeUndefined();
  });

  test("R-HDR-11 the trace header is returned on every response, empty when it was not sent", async () => {
    const { request } = await start({ serverTraceHeader: "X-Trace" }, echo());
    expect((await request("GET", "/echo", { headers: { "x-trace": "t1" } })).headers["x-trace"]).toBe("t1");
    expect((await request("GET", "/nowhere")).headers["x-trace"]).toBe("");
  });

  test("R-HDR-10 the durations of phases are measured only if timing is on", async () => {
    const timedHandler: Handler = (exchange) => {
      exchange.endPhase("parse");
      return text([...exchange.timings.keys()].join());
    };
    expect(
      (await (await start({ serverTimingEnabled: true }, echo({ timed: timedHandler }))).request("GET", "/echo/timed"))
        .text,
    ).toBe("jwt,parse");
    expect((await (await start({}, echo({ timed: timedHandler }))).request("GET", "/echo/timed")).text).toBe("");
  });
});

describe("request bodies", () => {
  test("R-BND-3 a body over the limit gets 413, with and without Content-Length", async () => {
    const { request, port } = await start({ maxBodyBytes: 1000 }, echo());
    expect((await request("POST", "/echo", { body: "x".repeat(1000) })).status).toBe(200);
    expect((await request("POST", "/echo", { body: "x".repeat(1001) })).json()).toMatchObject({
      code: "body-too-large",
    });
    const status = await new Promise((resolve, reject) => {
      const outgoing = send(
        { port, method: "POST", path: "/echo", headers: { "transfer-encoding": "chunked" } },
        (incoming) => {
          resolve(incoming.statusCode);
          incoming.resume();
        },
      );
      outgoing.on("error", reject);
      for (let i = 0; i < 20; i++) outgoing.write("y".repeat(100));
      outgoing.end();
    });
    expect(status).toBe(413);
  });

  test("X-OVER-2 a body that an earlier parser has read is serialized again, and each api logs this once", async () => {
    const api = createApi({}, echo());
    const app = express().use(express.json()).use(api);
    logEntries.length = 0;
    const { request } = await listen(api, app);
    const headers = { "content-type": "application/json" };
    expect((await request("POST", "/echo", { headers, body: '{"a": [1, 2]}' })).json().body).toBe('{"a":[1,2]}');
    expect((await request("POST", "/echo", { headers, body: "[]" })).json().body).toBe("[]");
    expect((await request("POST", "/echo", { headers: { "content-type": "text/csv" }, body: "a,b" })).json().body).toBe(
      "a,b",
    );
    expect((await request("GET", "/echo")).json().body).toBe("");
    const countWarnings = (): number => logEntries.filter(({ message }) => message.includes("express.json()")).length;
    expect(countWarnings()).toBe(1);
    const second = createApi({}, echo());
    const otherServer = await listen(second, express().use(express.json()).use(second));
    expect((await otherServer.request("POST", "/echo", { headers, body: "[]" })).json().body).toBe("[]");
    expect(countWarnings()).toBe(2);
  });

  test("R-LIM-2 a parsed body that is too deep to serialize is rejected", async () => {
    const api = createApi({}, echo());
    const { request } = await listen(api, express().use(express.json()).use(api));
    logEntries.length = 0;
    const answer = await request("POST", "/echo", {
      headers: { "content-type": "application/json" },
      body: "[".repeat(45_000) + "]".repeat(45_000),
    });
    expect(answer.status).toBe(400);
    expect(logEntries.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("X-OVER-2 a form that an earlier parser has read is serialized to a form again", async () => {
    const api = createApi({}, echo());
    const { request } = await listen(api, express().use(express.urlencoded()).use(api));
    const headers = { "content-type": "application/x-www-form-urlencoded; charset=utf-8" };
    expect((await request("POST", "/echo", { headers, body: "name=Bo+Lee&tag=a&tag=%26b" })).json().body).toBe(
      "name=Bo+Lee&tag=a&tag=%26b",
    );
  });

  test("X-OVER-2 a request that an earlier handler has paused is read completely", async () => {
    const api = createApi({}, echo());
    const app = express()
      .use((incoming, _response, next) => {
        incoming.pause();
        until(() => incoming.readableLength > 0, "the body has come while the request is paused").then(next, next);
      })
      .use(api);
    const { request } = await listen(api, app);
    expect((await request("POST", "/echo", { body: "payload" })).json().body).toBe("payload");
  });

  test("R-ADM-4 a client that disconnects during authentication leaves no wait for its body", async () => {
    const events = new EventEmitter();
    let letIn: () => void = () => undefined;
    const slowly = authorizing(
      () =>
        new Promise((resolve) => {
          letIn = () =>
            resolve({ role: "sea_anon", databaseRole: "sea_anon", isAdmin: false, claims: {}, variables: {} });
          events.emit("asked");
        }),
    );
    // An unfinished request would delay `close` beyond the deadline of the test.
    const { api, port, server } = await start({ shutdownGrace: 600 }, slowly, echo());
    await api.ready;
    const authentication = once(events, "asked");
    const connectionEvent = once(server, "connection");
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    const [acceptedSocket] = await connectionEvent;
    socket.write("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf of it");
    await authentication;
    const isGone = new Promise((resolve) => acceptedSocket.once("close", resolve));
    socket.destroy();
    await isGone;
    letIn();
    await api.close();
  });
});

describe("CORS", () => {
  const preflight = (origin: string, method = "PATCH", extraHeaders: Record<string, string> = {}) => ({
    headers: { origin, "access-control-request-method": method, ...extraHeaders },
  });
  const rejecting = authorizing(() => {
    throw tokenRejected("nobody");
  });

  test("R-COR-2 a preflight is answered before authentication, on any path, and is not logged", async () => {
    const { request } = await start({}, rejecting, echo());
    for (const path of ["/echo", "/nowhere"]) {
      const answer = await request(
        "OPTIONS",
        path,
        preflight("https://a.example", "PATCH", { "access-control-request-headers": "X-One, prefer" }),
      );
      expect(answer).toMatchObject({ status: 200, text: "" });
      expect(Object.fromEntries(answer.rawHeaders.filter(([name]) => /access|length/i.test(name)))).toEqual({
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD",
        "Access-Control-Allow-Headers": "Authorization, X-One, prefer, Accept, Accept-Language, Content-Language",
        "Access-Control-Max-Age": "86400",
        "Content-Length": "0",
      });
    }
    expect(
      (await request("OPTIONS", "/echo", preflight("https://a.example"))).headers["access-control-allow-headers"],
    ).toBeUndefined();
    expect(accessLines).toEqual([]);
    expect((await request("OPTIONS", "/echo", preflight("https://a.example", "BREW"))).status).toBe(401);
    expect((await request("OPTIONS", "/echo", { headers: { origin: "https://a.example" } })).status).toBe(401);
    expect(accessLines).toHaveLength(2);
  });

  test("R-COR-1 R-COR-3 any origin may read by default, and only requests with an origin get the header", async () => {
    const { request } = await start({}, echo({}, { exposedHeaders: ["x-request-id"] }));
    const answer = await request("GET", "/echo", { headers: { origin: "https://a.example" } });
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "*",
      "access-control-expose-headers":
        "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit, x-request-id",
    });
    expect(answer.headers["vary"]).toBeUndefined();
    expect((await request("GET", "/echo")).rawHeaders.some(([name]) => /access-control/i.test(name))).toBe(false);
  });

  test("R-COR-1 G-HTTP-11 a response echoes a listed origin, and has no header for other origins", async () => {
    const { request } = await start({ corsAllowedOrigins: TRUSTED_ORIGINS }, echo());
    const get = async (origin: string) => (await request("GET", "/echo", { headers: { origin } })).headers;
    for (const origin of ["https://a.example", "https://north.shop.example"]) {
      expect(await get(origin)).toMatchObject({
        "access-control-allow-origin": origin,
        "access-control-allow-credentials": "true",
      });
    }
    for (const origin of [
      "https://b.example",
      "https://shop.example",
      "https://x.y.shop.example",
      "http://north.shop.example",
      "https://evil/.shop.example",
      "https://a.example.evil",
    ]) {
      expect((await get(origin))["access-control-allow-origin"]).toBeUndefined();
    }
    expect((await request("OPTIONS", "/echo", preflight("https://b.example"))).json().method).toBe("OPTIONS");
  });

  test("R-OPT-1 a response's own Access-Control-Allow-Origin is sent once", async () => {
    const { request } = await start(
      {},
      echo({ own: () => text("", { headers: [["Access-Control-Allow-Origin", "*"]] }) }),
    );
    const answer = await request("OPTIONS", "/echo/own", { headers: { origin: "https://a.example" } });
    expect(answer.rawHeaders.filter(([name]) => name.toLowerCase() === "access-control-allow-origin")).toHaveLength(1);
  });
});

describe("callers", () => {
  test("R-AUT-6 a request without credentials gets 401 if there is no anonymous role", async () => {
    const { request } = await start({ anonRole: undefined }, echo());
    expect(await request("GET", "/echo")).toMatchObject({ status: 401 });
  });

  test("R-AUT-8 G-AUTH-3 the admin secret makes an administrator, or a role with variables", async () => {
    const sessions: Session[] = [];
    const { request } = await start(
      { adminSecret: "s1", adminSecrets: ["s2"] },
      adminSecret,
      echo({ who: (exchange) => (sessions.push(exchange.session), text(exchange.session.role)) }),
    );
    const ask = (headers: Record<string, string>) => request("GET", "/echo/who", { headers });
    expect((await ask({ "x-session-admin-secret": "s2" })).text).toBe("admin");
    expect(
      (
        await ask({
          "X-Hasura-Admin-Secret": "s1",
          "X-Session-Role": "editor",
          "X-Hasura-User-Id": "7",
          "x-session-org": "a",
          "x-hasura-org": "b",
          "x-session-use-backend-only-permissions": "Yes",
        })
      ).text,
    ).toBe("editor");
    expect((await ask({})).text).toBe("sea_anon");
    expect((await ask({ "x-session-role": "editor" })).text).toBe("sea_anon");
    expect(sessions[0]).toEqual({
      role: "admin",
      isAdmin: true,
      claims: { role: "admin" },
      variables: { "x-session-role": "admin" },
    });
    expect(sessions[1]).toEqual({
      role: "editor",
      databaseRole: "editor",
      isAdmin: false,
      isBackend: true,
      claims: { role: "editor" },
      variables: { "x-session-role": "editor", "x-session-user-id": "7", "x-session-org": "a" },
    });
    expect(sessions[2]).toMatchObject({ isAnonymous: true, variables: { "x-session-role": "sea_anon" } });
  });

  test("G-AUTH-4 a wrong admin secret is rejected, whatever other credentials the request has", async () => {
    const { request } = await start({ adminSecret: "s1" }, adminSecret, echo());
    for (const secret of ["", "s", "s1x", "S1"]) {
      expect((await request("GET", "/echo", { headers: { "x-session-admin-secret": secret } })).json()).toEqual({
        code: "admin-secret-refused",
        message: "invalid x-session-admin-secret",
      });
    }
  });

  test("G-AUTH-20 a backend header that is not a boolean word is rejected", async () => {
    const { request } = await start({ adminSecret: "s1" }, adminSecret, echo({}, { credentialRules }));
    const answer = await request("GET", "/echo", {
      headers: { "x-session-admin-secret": "s1", "x-session-use-backend-only-permissions": "maybe" },
    });
    expect(answer.json()).toMatchObject({
      code: "bad-request",
      message:
        'x-session-use-backend-only-permissions:  Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive',
    });
  });

  test("G-AUTH-1 session headers have no effect without an admin secret", async () => {
    const { request } = await start({}, adminSecret, echo());
    expect(
      (await request("GET", "/echo", { headers: { "x-session-admin-secret": "", "x-session-role": "editor" } })).json()
        .role,
    ).toBe("sea_anon");
  });

  test("X-SURF-1 a surface reads the first of repeated headers, with its commas", async () => {
    const values: (string | undefined)[] = [];
    const { request } = await start(
      {},
      echo({ who: (exchange) => (values.push(exchange.header("X-Thing"), exchange.header("x-none")), text("")) }),
    );
    await request("GET", "/echo/who", { headers: { "x-thing": ["one, two", "three"] } });
    await request("GET", "/echo/who", { headers: { "x-thing": "one, two" } });
    expect(values).toEqual(["one, two", undefined, "one, two", undefined]);
  });
});

describe("log", () => {
  test("R-ADM-3 the access log has one line per response, without the role if authentication failed", async () => {
    const { request } = await start(
      { anonRole: undefined },
      authorizing(() => undefined),
      echo(),
    );
    await request("GET", "/echo?a=%20b", { headers: { "user-agent": 'curl "8"', referer: "http://r" } });
    const body = '{"code":"anonymous-refused","message":"No auth scheme identified the caller"}';
    expect(accessLines).toHaveLength(1);
    expect(accessLines[0]).toMatch(
      /^127\.0\.0\.1 - - \[\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d{2}:\d{2}:\d{2} \+0000\] "GET \/echo\?a=%20b HTTP\/1\.1" 401 \d+ "http:\/\/r" "curl \\"8\\""$/,
    );
    expect(accessLines[0]).toContain(` 401 ${body.length} `);
  });
});

describe("the model", () => {
  const introspecting = (load: () => Promise<void>): Plugin =>
    definePlugin({
      name: "test-model",
      apply: (hooks) => hooks.introspect.tapPromise("test-model", async (model: Model) => (await load(), model)),
    });

  test("R-SC-6 requests wait for the first load, and get 503 once it has failed, until one succeeds", async () => {
    const gate = new EventEmitter();
    const outcomes: ("ok" | "fail")[] = [];
    const { request, api } = await start(
      {},
      introspecting(async () => {
        const [outcome] = (await once(gate, "end")) as ["ok" | "fail"];
        outcomes.push(outcome);
        if (outcome === "fail") throw new Error("no catalogs");
      }),
      echo(),
    );
    const waitingRequest = request("GET", "/echo");
    await until(() => gate.listenerCount("end") > 0, "the schema is being loaded");
    gate.emit("end", "fail");
    const rejection = await waitingRequest;
    expect(rejection).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(rejection.json()).toMatchObject({ code: "model-not-loaded" });
    expect((await request("GET", "/echo")).status).toBe(503);
    expect(() => api.model()).toThrow("is not loaded");
    await until(() => gate.listenerCount("end") > 0, "the schema is being loaded again");
    gate.emit("end", "ok");
    await api.ready;
    expect((await request("GET", "/echo")).status).toBe(200);
    expect(outcomes).toEqual(["fail", "ok"]);
  });

  test("R-SC-4 a failed reload is logged, and the previous model remains", async () => {
    let fails = false;
    const { request, api } = await start(
      {},
      introspecting(async () => {
        if (fails) throw new Error("no catalogs");
      }),
      echo(),
    );
    await api.ready;
    const { version } = api.model();
    fails = true;
    await expect(api.reload()).rejects.toThrow('plugin "test-model", hook introspect: no catalogs');
    expect(api.model().version).toBe(version);
    expect((await request("GET", "/echo")).status).toBe(200);
    expect(logEntries.some(({ message }) => message === "failed to reload the schema; keeping the current one")).toBe(
      true,
    );
  });

  test("C-SET-3 an error in settings during the load rejects ready, and the load is not retried", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let loads = 0;
    const { api } = await start(
      {},
      introspecting(async () => {
        loads++;
        throw new RelApiError({ code: "preset", status: 500, message: "METADATA is no folder" });
      }),
      echo(),
    );
    await expect(api.ready).rejects.toThrow("METADATA is no folder");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(loads).toBe(1);
  });

  test("R-SC-3 NOTIFY reloads the schema; a burst of notifications reloads it once at the start and once at the end", async () => {
    const QUIET_MS = 100;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let loads = 0;
    const receivedMarkers = new Set<string>();
    const markers = definePlugin({
      name: "markers",
      requires: ["reload-channel"],
      apply: (_, context) => context.listen("exe_markers", (marker) => receivedMarkers.add(marker)),
    });
    const { api } = await start(
      { dbChannelEnabled: true, dbChannel: "exe_reload" },
      reloadChannel,
      markers,
      introspecting(async () => void loads++),
      echo(),
    );
    await api.ready;
    const notify = (payload: string) => db.query("select pg_notify('exe_reload', $1)", [payload]);
    /** The listening connection receives the marker after all earlier notifications. */
    const untilAllReceive = async (marker: string): Promise<void> => {
      await db.query("select pg_notify('exe_markers', $1)", [marker]);
      await until(() => receivedMarkers.has(marker), `the listener receives ${marker}`);
    };
    await until(async () => {
      await db.query("select pg_notify('exe_markers', 'start')");
      return receivedMarkers.has("start");
    }, "the api listens");
    await vi.advanceTimersByTimeAsync(QUIET_MS);
    await api.reload();
    const before = loads;
    for (let i = 0; i < 8; i++) await notify(i % 2 === 0 ? "reload schema" : "");
    await untilAllReceive("the burst");
    await until(() => loads === before + 1, "the schema is loaded at the start of the burst");
    await vi.advanceTimersByTimeAsync(QUIET_MS - 1);
    await api.reload();
    expect(loads - before).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    await until(() => loads === before + 3, "the schema is loaded at the end of the burst");
    await notify("something else");
    await untilAllReceive("something else");
    await vi.advanceTimersByTimeAsync(10 * QUIET_MS);
    await api.reload();
    expect(loads - before).toBe(4);
  });
});

describe("settings in the database", () => {
  const keepSetting = async (setting: string): Promise<void> => {
    await db.query(
      `do $$ begin execute format('alter role %I in database %I ${setting.replaceAll("'", "''")}', current_user, current_database()); end $$`,
    );
  };
  afterEach(() => keepSetting("reset all"));

  test("R-SC-4 settings of the login role override the preset, follow a reload, and fall back", async () => {
    await keepSetting("set pgrst.db_anon_role = 'sea_clerk'");
    await keepSetting("set pgrst.server_trace_header = 'x-kept'");
    const { request, api } = await start({}, echo(), databaseSettings);
    const role = async () => (await request("GET", "/echo")).json().role;
    await api.ready;
    expect(await role()).toBe("sea_clerk");
    expect((await request("GET", "/echo", { headers: { "x-kept": "1" } })).headers["x-kept"]).toBe("1");
    await keepSetting("set pgrst.db_anon_role = 'sea_auditor'");
    expect(await role()).toBe("sea_clerk");
    await api.reload();
    expect(await role()).toBe("sea_auditor");
    await keepSetting("reset all");
    await api.reload();
    expect(await role()).toBe("sea_anon");
  });

  test("R-SC-4 an invalid setting is logged and leaves all settings unchanged", async () => {
    await keepSetting("set pgrst.db_anon_role = 'sea_clerk'");
    const transactions = definePlugin({ name: "transactions", settings: [dbTxEnd] });
    const { request, api } = await start({}, echo(), databaseSettings, transactions);
    await api.ready;
    await keepSetting("set pgrst.db_anon_role = 'sea_auditor'");
    await keepSetting("set pgrst.db_tx_end = 'maybe'");
    await api.reload();
    expect((await request("GET", "/echo")).json().role).toBe("sea_clerk");
    expect(logEntries.find(({ message }) => message.startsWith("invalid settings in the database"))?.fields).toEqual({
      reason:
        'invalid pgrst.db_tx_end "maybe": expected one of commit, commit-allow-override, rollback, rollback-allow-override',
    });
  });

  test("R-SC-8a a setting that is read once at the start is not taken from the database", async () => {
    await keepSetting("set pgrst.log_level = 'nonsense'");
    await keepSetting("set pgrst.db_channel_enabled = 'nonsense'");
    await keepSetting("set pgrst.db_anon_role = 'sea_clerk'");
    const { request } = await start({}, echo(), databaseSettings);
    expect((await request("GET", "/echo")).json().role).toBe("sea_clerk");
    expect(logEntries.filter(({ message }) => message.startsWith("invalid settings"))).toEqual([]);
  });

  test("R-SC-8 settings in the database are ignored without the plugin database-settings", async () => {
    await keepSetting("set pgrst.db_anon_role = 'sea_clerk'");
    const { request } = await start({}, echo());
    expect((await request("GET", "/echo")).json().role).toBe("sea_anon");
  });

  test("R-SC-8 an option switches settings in the database off, and a function may set them", async () => {
    await keepSetting("set pgrst.db_anon_role = 'sea_clerk'");
    await db.query(
      "create or replace function public.exe_config() returns void language plpgsql as $$ begin perform set_config('pgrst.db_anon_role', 'sea_auditor', true); end $$",
    );
    const role = async (options: RelApiOptions) => {
      const { request } = await start(options, echo(), databaseSettings);
      return (await request("GET", "/echo")).json().role;
    };
    expect(await role({ dbConfig: false })).toBe("sea_anon");
    expect(await role({ dbPreConfig: "public.exe_config" })).toBe("sea_auditor");
    await keepSetting("set pgrst.db_pre_config = 'public.exe_config'");
    expect(await role({})).toBe("sea_auditor");
    expect(await role({ dbConfig: false })).toBe("sea_anon");
    await db.query("drop function public.exe_config()");
  });
});

describe("servers and applications", () => {
  test("X-OVER-2 the api runs under a path of an Express application, beside other routes", async () => {
    const api = createApi({}, echo());
    const app = express();
    app.get("/hello", (_, response) => void response.send("hello"));
    app.use("/db", api);
    app.use((_, response) => void response.status(418).send("teapot"));
    const { request } = await listen(api, app);
    expect((await request("GET", "/db/echo/x?y=1")).json()).toMatchObject({ path: "/echo/x", query: "y=1" });
    expect((await request("GET", "/hello")).text).toBe("hello");
    expect((await request("GET", "/db/nowhere")).text).toBe("teapot");
    expect(
      (
        await request("OPTIONS", "/db/nowhere", {
          headers: { origin: "http://a", "access-control-request-method": "GET" },
        })
      ).text,
    ).toBe("teapot");
    expect(accessLines.at(-1)).toContain('"GET /db/echo/x?y=1 HTTP/1.1"');
  });

  test("R-ADM-4 close() waits for requests in progress", async () => {
    let finish: (() => void) | undefined;
    const { request, api } = await start(
      { shutdownGrace: 600 },
      echo({
        slow: (exchange) =>
          new Promise((resolve) => {
            finish = () => resolve(text(exchange.session.role));
          }),
      }),
    );
    const answer = request("GET", "/echo/slow");
    const idle = await start();
    await idle.api.ready;
    await until(() => finish !== undefined, "the request is in progress");
    let isClosed = false;
    const closePromise = api.close().then(() => {
      isClosed = true;
    });
    await idle.api.close(); // it has no request in progress
    expect(isClosed).toBe(false);
    finish!();
    expect((await answer).text).toBe("sea_anon");
    await closePromise;
  });

  test("R-ADM-4 a plugin that fails in onClose keeps nothing open", async () => {
    const closed: string[] = [];
    const ending = (name: string, close: () => void): Plugin =>
      definePlugin({ name, apply: (_, context) => context.onClose(close) });
    const { api, request } = await start(
      {},
      ending("clumsy", () => {
        throw new Error("dropped");
      }),
      ending("careful", () => void closed.push("careful")),
      echo(),
    );
    expect((await request("GET", "/echo")).status).toBe(200);
    await api.close();
    expect(closed).toEqual(["careful"]);
    expect(logEntries.at(-1)).toMatchObject({
      level: "error",
      fields: { cause: expect.objectContaining({ message: "dropped" }) },
    });
  });

  test("X-OVER-2 the api runs behind middleware whose writeHead accepts no lists of headers", async () => {
    const api = createApi(
      {},
      echo({
        twice: () =>
          text("here", {
            headers: [
              ["Set-Cookie", "a=1"],
              ["set-cookie", "b=2"],
              ["X-One", "1"],
            ],
          }),
      }),
    );
    const app = express()
      .use((_incoming, response, next) => {
        const { writeHead } = response;
        response.writeHead = function (status: number, ...rest: unknown[]) {
          if (rest.some(Array.isArray)) throw new Error("a list");
          response.setHeader("X-Seen", String(response.getHeader("x-one")));
          return writeHead.call(response, status, ...(rest as [])); // one of its overloads
        } as typeof writeHead;
        next();
      })
      .use(api);
    const { request } = await listen(api, app);
    const answer = await request("GET", "/echo/twice");
    expect(answer).toMatchObject({ status: 200, text: "here" });
    expect(answer.headers).toMatchObject({ "x-seen": "1", "set-cookie": "a=1, b=2", "content-length": "4" });
  });

  test("X-SURF-1 a surface is notified when the client of its request disconnects", async () => {
    const events = new EventEmitter();
    const { port, api } = await start(
      {},
      echo({
        wait: (exchange) =>
          new Promise((resolve) => {
            exchange.onDisconnect(() => {
              events.emit("gone");
              resolve(text(""));
            });
            events.emit("waiting");
          }),
      }),
    );
    await api.ready;
    const waitStart = once(events, "waiting");
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    socket.write("GET /echo/wait HTTP/1.1\r\nHost: x\r\n\r\n");
    await waitStart;
    const disconnection = once(events, "gone");
    socket.destroy();
    await disconnection;
  });
});

describe("upgrades", () => {
  const REJECTION = "only '/v1/sockets' is supported on websockets";

  const upgrading = (paths: string[] = []): PresetPart => ({
    plugins: [
      upgrades,
      definePlugin({
        name: "test-sockets",
        requires: ["upgrades"],
        apply: (_hooks, context) =>
          context.use(takeUpgradeHook).tap({ name: "test-sockets", rejection: REJECTION }, ({ socket, path }) => {
            paths.push(path);
            if (path !== "/v1/sockets") return undefined;
            socket.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello");
            return true;
          }),
      }),
    ],
    options: {},
  });

  /** Resolves with the received text when the server closes, or once it contains `last`. */
  const raw = async (port: number, request: string, last?: string): Promise<string> => {
    const socket = connect(port, "127.0.0.1");
    socket.write(request);
    let answer = "";
    for await (const chunk of socket) {
      answer += String(chunk);
      if (last !== undefined && answer.includes(last)) break;
    }
    return answer;
  };
  const upgrade = (port: number, path: string) =>
    raw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);

  test("X-UPG-1 without the plugin an upgrade is an ordinary request, and the limit of headers applies", async () => {
    const { api, port, server } = await start({ requestTimeout: 7 }, echo());
    expect("attach" in api).toBe(false);
    expect(server.headersTimeout).toBe(60_000);
    expect(
      await raw(port, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "}"),
    ).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(server.listenerCount("upgrade")).toBe(0);
    expect(server.headersTimeout).toBe(7000);
  });

  test("X-UPG-1 a preset that fails to start leaves nothing behind", () => {
    const brokenPlugin = definePlugin({
      name: "broken",
      requires: ["upgrades"],
      apply: () => {
        throw new Error("no");
      },
    });
    const before = hasSubscribers("net.server.socket");
    expect(() => createApi({}, upgrading(), brokenPlugin)).toThrow('plugin "broken"');
    expect(hasSubscribers("net.server.socket")).toBe(before);
  });

  test("X-UPG-1 the first request of a server may be an upgrade, even without attach()", async () => {
    const app = express();
    const api = createApi({}, upgrading(), echo());
    app.use(express.Router().use(api));
    const { port } = await listen(api, app);
    expect(await upgrade(port, "/v1/sockets?x=1")).toMatch(/^HTTP\/1\.1 101 .*hello$/s);
  });

  test("X-OVER-1 an api over an application serves its own paths and upgrades first, and the application other requests", async () => {
    const appUrls: string[] = [];
    const app = express()
      .use((request, _response, next) => {
        appUrls.push(request.url);
        next();
      })
      .get("/", (_request, response) => void response.send("home"))
      .get("/health", (_request, response) => void response.send("fine"));
    const api = createApi({}, upgrading(), echo());
    const { port } = await listen(api, api.over(app));
    const get = (path: string): Promise<string> =>
      raw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await upgrade(port, "/v1/sockets?x=1")).toMatch(/^HTTP\/1\.1 101 .*hello$/s);
    expect(await get("/echo")).not.toMatch(/X-Powered-By/i);
    expect(appUrls).toEqual([]);
    expect(await get("/")).toMatch(/X-Powered-By: Express.*home$/s);
    expect(await get("/health")).toMatch(/fine$/);
    expect(await get("/missing")).toMatch(/^HTTP\/1\.1 404 .*Cannot GET/s);
    expect(appUrls).toEqual(["/", "/health", "/missing"]);
  });

  test("X-UPG-1 two apis of one server each accept the upgrades below their own mount path", async () => {
    const paths: readonly string[][] = [[], []];
    const [first, second] = paths.map((list) => createApi({}, upgrading(list), echo())) as [RelApi, RelApi];
    open.push(() => second.close());
    const { port, server } = await listen(
      first,
      express().use("/a", first).use("/b/:tenant", express.Router().use("/c", second)),
    );
    expect(await upgrade(port, "/a/v1/sockets")).toContain("101");
    expect(await upgrade(port, "/b/x/c/v1/sockets")).toContain("101");
    for (const path of [
      "/v1/sockets",
      "/c/v1/sockets",
      "/a/a/v1/sockets",
      "/ab/v1/sockets",
      "/b/%zz/c/v1/sockets",
      "/other",
    ])
      expect(await upgrade(port, path)).toMatch(/^HTTP\/1\.1 404 /);
    expect(paths).toEqual([["/v1/sockets", "/a/v1/sockets"], ["/v1/sockets"]]);
    expect(server.listenerCount("upgrade")).toBe(1);
    expect(
      await raw(
        port,
        "GET /a/echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
        "}",
      ),
    ).toMatch(/^HTTP\/1\.1 200 OK/);
    await first.close();
    expect(await upgrade(port, "/b/x/c/v1/sockets")).toContain("101");
    await second.close();
    expect(server.listenerCount("upgrade")).toBe(0);
  });

  test("X-UPG-1 two apis that a listener hides are distinguished by the mount paths given to attach()", async () => {
    const paths: readonly string[][] = [[], []];
    const [first, second] = paths.map((list) => createApi({}, upgrading(list), echo())) as [RelApi, RelApi];
    open.push(() => second.close());
    const { port, server } = await listen(first, (_incoming, response) => response.end());
    first.attach(server, "/a");
    second.attach(server, "/b/");
    expect(await upgrade(port, "/b/v1/sockets")).toContain("101");
    expect(await upgrade(port, "/a/v1/sockets")).toContain("101");
    expect(await upgrade(port, "/v1/sockets")).toContain("404");
    expect(paths).toEqual([["/v1/sockets"], ["/v1/sockets"]]);
  });

  test("X-UPG-1 upgrades find the api in applications that store their layers in other ways", async () => {
    const api = createApi({}, upgrading(), echo());
    // Express 4: the getter of the router throws, the layer keeps its match; connect: the layer has a route.
    const layer = {
      handle: api,
      path: "",
      match(path: string) {
        layer.path = "/a";
        return path.startsWith("/a/");
      },
    };
    const express4 = Object.defineProperty(() => undefined, "router", {
      get: () => {
        throw new Error("deprecated");
      },
    });
    Object.assign(express4, { _router: Object.assign(() => undefined, { stack: [layer] }) });
    const connectLike = Object.assign(() => undefined, { stack: [{ route: "/c", handle: api }] });
    for (const [listener, path] of [
      [express4, "/a/v1/sockets"],
      [connectLike, "/c/v1/sockets"],
    ] as const) {
      const server = createServer(listener).listen(0, "127.0.0.1");
      await once(server, "listening");
      open.push(() => void server.close());
      expect(await upgrade((server.address() as AddressInfo).port, path)).toContain("101");
    }
    open.push(() => api.close());
  });

  test("X-UPG-1 the path of an upgrade is matched below the mount", async () => {
    const api = createApi({}, upgrading(), echo());
    const { port } = await listen(api, express().use("/db/x", api));
    expect(await upgrade(port, "/db/x/v1/sockets")).toContain("101");
  });

  test("X-UPG-1 an api in another listener accepts upgrades after its first request, or once attached", async () => {
    const api = createApi({}, upgrading(), echo());
    const { port, server, request } = await listen(api, (incoming, response) => api(incoming, response));
    await api.ready;
    expect(server.listenerCount("upgrade")).toBe(0);
    await request("GET", "/echo");
    expect(await upgrade(port, "/v1/sockets")).toContain("101");
    api.attach(server);
    expect(server.listenerCount("upgrade")).toBe(1);
  });

  test("G-WS-17 an upgrade that no plugin accepts gets 404 with the plugin's text", async () => {
    const { port } = await start({}, upgrading(), echo());
    expect(await upgrade(port, "/other")).toMatch(
      /^HTTP\/1\.1 404 Not Found\r\n.*\r\n\r\nonly '\/v1\/sockets' is supported on websockets$/s,
    );
  });

  test("X-UPG-1 an upgrade to another protocol is an ordinary request with its body", async () => {
    const { port } = await start({}, upgrading(), echo());
    const answer = await raw(
      port,
      "POST /echo/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nContent-Length: 7\r\n\r\npayload",
      "}",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(answer).toContain('"body":"payload"');
  });

  test("X-UPG-1 servers of the process that do not serve the api get no upgrade listener", async () => {
    const api = createApi({}, upgrading(), echo());
    open.push(() => api.close());
    const otherServer = createServer((_, response) => response.end("other"));
    otherServer.listen(0, "127.0.0.1");
    await once(otherServer, "listening");
    open.push(() => void otherServer.close());
    const answer = await raw(
      (otherServer.address() as AddressInfo).port,
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toContain("other");
    expect(otherServer.listenerCount("upgrade")).toBe(0);
  });
});
