/** The client for webhooks, against real HTTP servers. */
import { once } from "node:events";
import { type ServerResponse } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { propagation, trace } from "@opentelemetry/api";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { GraphQLString } from "graphql";
import { beforeEach, describe, expect, test } from "vitest";
import { compose, definePlugin, optionsFromEnvironment, RelApiError, type RelApiOptions } from "../../core/index.ts";
import type { GqlFieldContext, GqlFields } from "../../plugins/graphql/api.ts";
import { webhookService, type WebhookClient, type WebhookRequest } from "../../plugins/services/api.ts";
import { plus } from "../../presets/index.ts";
import { forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { startMeasured } from "../support/metrics.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { json, startHook } from "./hook-server.ts";

const hook = await startHook();
const byName = hook.url.replace("127.0.0.1", "localhost");

/** Starts an api whose plugin provides the client, and whose field `call` calls the webhook for a request. */
const startWith = async <Api extends TestApi>(
  open: (options: StartOptions) => Promise<Api>,
  options: StartOptions,
): Promise<{ api: Api; client: WebhookClient }> => {
  let use: (() => WebhookClient | undefined) | undefined;
  const caller = definePlugin({
    name: "caller",
    requires: ["webhooks", "graphql-queries"],
    apply: (hooks, context) => {
      use = () => context.use(webhookService);
      hooks.buildGqlField.tap("caller", (fields: GqlFields, { scope }: GqlFieldContext): GqlFields => {
        if (scope !== "query_root") return fields;
        return {
          ...fields,
          call: {
            config: { type: GraphQLString },
            toPlan: {
              kind: "custom",
              run: async ({ signal, exchange }) => {
                const answer = await use?.()?.send({ ...request, signal, exchange });
                return answer?.text ?? null;
              },
            },
          },
        };
      });
    },
  });
  const preset = (presetOptions: RelApiOptions) => compose(plus(presetOptions), caller);
  const api = await open(forGraphql({ preset, ...options }));
  const client = use?.();
  if (client === undefined) throw new Error("no client");
  return { api, client };
};

const start = (options: StartOptions = {}) => startWith(startApi, options);

const request: WebhookRequest = { url: hook.url, body: '{"a":1}', timeoutMs: 60_000 };

const { api, client } = await start({ webhookAllowedHosts: ["127.0.0.0/8", "::1"] });
const databaseOptions = {};
const { client: guardedClient } = await start(databaseOptions);
const { client: smallClient } = await start({
  ...databaseOptions,
  webhookAllowedHosts: ["*"],
  webhookMaxAnswerBytes: 10,
});

beforeEach(() => {
  hook.requests.length = 0;
  hook.answer = json({ ok: true });
});

const failure = async (answer: Promise<unknown>): Promise<readonly unknown[]> => {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RelApiError);
  const { code, message, facts } = error as RelApiError; // the expectation has checked the class
  return [code, facts["reason"], message];
};

describe("the request", () => {
  test("X-HTTP-1 a request is a POST of JSON with the given headers, and returns status, headers and body", async () => {
    hook.answer = (response) => void response.writeHead(418, { "x-kind": "teapot" }).end("café");
    const answer = await client.send({ ...request, headers: { "X-Key": "k", accept: "text/plain" } });
    expect(answer).toMatchObject({ status: 418, headers: { "x-kind": "teapot" }, text: "café" });
    expect(hook.requests).toMatchObject([
      {
        method: "POST",
        url: "/hook?key=hook-secret",
        body: '{"a":1}',
        headers: { "x-key": "k", accept: "text/plain", "content-type": "application/json", "user-agent": "relapi" },
      },
    ]);
  });

  test("X-HTTP-1 a GET has no body", async () => {
    await client.send({ url: hook.url, method: "GET", timeoutMs: 60_000 });
    expect(hook.requests).toMatchObject([{ method: "GET", body: "" }]);
    expect(hook.requests[0]?.headers["content-type"]).toBeUndefined();
  });

  test("X-HTTP-1 headers that delimit messages are left out", async () => {
    await client.send({
      ...request,
      headers: { "Content-Length": "1", "transfer-encoding": "chunked", Connection: "close" },
    });
    expect(hook.requests).toMatchObject([{ body: '{"a":1}', headers: { "content-length": "7" } }]);
  });

  test.each([
    ["a b", "c"],
    ["x-break", "c\r\nx-other: d"],
  ])("X-HTTP-1 the header %j cannot be sent", async (name, value) => {
    expect(await failure(client.send({ ...request, headers: { [name]: value } }))).toEqual([
      "webhook-failed",
      "header",
      `the header ${JSON.stringify(name)} of the webhook cannot be sent`,
    ]);
    expect(hook.requests).toEqual([]);
  });

  test.each(["", "/login", "file:///etc/passwd", "ftp://127.0.0.1/", "http://[::1", "javascript:alert(1)"])(
    "X-HTTP-1 the URL %j is rejected",
    async (url) => {
      expect(await failure(client.send({ ...request, url }))).toEqual([
        "webhook-failed",
        "url",
        "the address of the webhook is not an http or https URL",
      ]);
    },
  );

  test("X-HTTP-3 the webhook gets the trace of the request", async () => {
    trace.setGlobalTracerProvider(new BasicTracerProvider());
    propagation.disable();
    const { api: tracedApi } = await start({
      ...databaseOptions,
      webhookAllowedHosts: ["*"],
      tracing: true,
      traceRatio: 1,
    });
    const answer = await tracedApi.post("/v1/graphql", { body: { query: "{ call }" } });
    expect(answer.json()).toEqual({ data: { call: '{"ok":true}' } });
    expect(hook.requests[0]?.headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    expect(answer.headers["traceparent"]).toBe(hook.requests[0]?.headers["traceparent"]);
    await api.post("/v1/graphql", { body: { query: "{ call }" } });
    expect(hook.requests[1]?.headers["traceparent"]).toBeUndefined();
  });
});

describe("the limits", () => {
  test("X-HTTP-2 an answer that does not begin in time fails", async () => {
    hook.answer = () => undefined;
    expect(await failure(client.send({ ...request, timeoutMs: 50 }))).toEqual([
      "webhook-failed",
      "timeout",
      "the webhook gave no complete answer within 0.05 s",
    ]);
  });

  test("X-HTTP-2 an answer that does not end in time fails, and its connection is closed", async () => {
    let closed: Promise<unknown> | undefined;
    hook.answer = (response) => {
      closed = once(response, "close");
      response.write("x");
    };
    expect((await failure(client.send({ ...request, timeoutMs: 500 }))).slice(0, 2)).toEqual([
      "webhook-failed",
      "timeout",
    ]);
    await closed;
  });

  test("X-HTTP-2 a response that never ends is cut off at the limit of its bytes", async () => {
    let closed: Promise<unknown> | undefined;
    hook.answer = (response) => {
      closed = once(response, "close");
      const writeMore = (): void => void (response.destroyed || response.write("x".repeat(100_000), writeMore));
      writeMore();
    };
    expect(await failure(client.send(request))).toEqual([
      "webhook-failed",
      "size",
      "the answer of the webhook is larger than 10485760 bytes",
    ]);
    await closed;
  });

  test.each([
    [200, 10, "x".repeat(10)],
    [200, 11, "larger"],
    [500, 11, "x".repeat(10)],
  ])("X-HTTP-2 status %i with %i bytes, where 10 are allowed", async (status, bytes, expected) => {
    hook.answer = (response) => void response.writeHead(status).end("x".repeat(bytes));
    const text = await smallClient.send(request).then(
      (answer) => answer.text,
      (error: unknown) => String(error),
    );
    expect(text).toContain(expected);
  });

  test.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("X-HTTP-2b an answer with the content encoding %s is decoded, up to the limit", async (encoding, compress) => {
    const send = (webhookClient: WebhookClient, body: Buffer) => {
      hook.answer = (response) => void response.writeHead(200, { "content-encoding": encoding }).end(body);
      return webhookClient.send(request);
    };
    expect((await send(client, compress("café"))).text).toBe("café");
    expect((await failure(send(smallClient, compress("x".repeat(11))))).slice(0, 2)).toEqual([
      "webhook-failed",
      "size",
    ]);
    expect(await failure(send(client, Buffer.from("plain")))).toEqual([
      "webhook-failed",
      "connection",
      expect.stringMatching(/^the connection to the webhook failed: \w+$/),
    ]);
  });

  test("X-HTTP-2b a body with an unknown content encoding is not decoded", async () => {
    hook.answer = (response) => void response.writeHead(200, { "content-encoding": "constructor" }).end("x");
    expect((await client.send(request)).text).toBe("x");
  });

  test("X-HTTP-2 a redirect is not followed", async () => {
    hook.answer = (response) => void response.writeHead(307, { location: "/elsewhere" }).end();
    expect((await client.send(request)).status).toBe(307);
    expect(hook.requests).toHaveLength(1);
  });

  test("X-HTTP-2 an abort ends the request with the reason of the signal", async () => {
    let pendingResponse: ServerResponse | undefined;
    hook.answer = (response) => void (pendingResponse = response);
    const controller = new AbortController();
    const result = failure(client.send({ ...request, signal: controller.signal }));
    await until(() => pendingResponse !== undefined, "the webhook is called");
    const closed = once(pendingResponse as ServerResponse, "close"); // the wait has checked that it is set
    controller.abort(new RelApiError({ code: "enough", status: 400, message: "enough" }));
    expect(await result).toEqual(["enough", undefined, "enough"]);
    await closed;
  });

  test("X-HTTP-2 a client that disconnects ends the request of its field", async () => {
    let pendingResponse: ServerResponse | undefined;
    hook.answer = (response) => void (pendingResponse = response);
    const controller = new AbortController();
    const clientAnswer = fetch(`${api.url}/v1/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-session-admin-secret": adminSecret },
      body: '{"query":"{ call }"}',
      signal: controller.signal,
    }).catch(() => "aborted");
    await until(() => pendingResponse !== undefined, "the webhook is called");
    const closed = once(pendingResponse as ServerResponse, "close"); // the wait has checked that it is set
    controller.abort();
    await closed;
    expect(await clientAnswer).toBe("aborted");
  });

  test("X-HTTP-2a a server gets a limited number of requests, and others wait within their time limits", async () => {
    const { client: limitedClient } = await start({
      ...databaseOptions,
      webhookAllowedHosts: ["*"],
      webhookMaxConnections: 2,
    });
    const otherHook = await startHook();
    otherHook.answer = json({});
    const pendingResponses: ServerResponse[] = [];
    hook.answer = (response) => void pendingResponses.push(response);
    const send = (body: string, overrides: Partial<WebhookRequest> = {}) =>
      limitedClient.send({ ...request, body, ...overrides });
    const running = [send("1"), send("2")];
    await until(() => pendingResponses.length === 2, "two requests run");
    const waiting = [send("3"), send("4")];
    const controller = new AbortController();
    const abortFailure = failure(send("never", { signal: controller.signal }));
    controller.abort();
    expect((await abortFailure).slice(0, 1)).toEqual(["request-cancelled"]);
    expect(await failure(send("never", { timeoutMs: 50 }))).toEqual([
      "webhook-failed",
      "timeout",
      "the webhook gave no complete answer within 0.05 s",
    ]);
    expect((await limitedClient.send({ ...request, url: otherHook.url })).status).toBe(200);
    expect(hook.requests).toHaveLength(2);
    pendingResponses[0]?.destroy();
    await expect(Promise.race(running)).rejects.toThrow("the connection to the webhook failed");
    await until(() => pendingResponses.length === 3, "the next request runs");
    for (const response of pendingResponses.slice(1)) response.end("{}");
    await until(() => pendingResponses.length === 4, "the last request runs");
    pendingResponses[3]?.end("{}");
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    expect(hook.requests.map(({ body }) => body).toSorted()).toEqual(["1", "2", "3", "4"]);
    await Promise.allSettled(running);
  });

  test("X-HTTP-2 a signal that was aborted before sends nothing", async () => {
    expect((await failure(client.send({ ...request, signal: AbortSignal.abort() }))).slice(0, 1)).toEqual([
      "request-cancelled",
    ]);
    expect(hook.requests).toEqual([]);
  });
});

describe("private addresses", () => {
  const PRIVATE = [
    "127.0.0.1",
    "127.9.9.9",
    "2130706433", // 127.0.0.1 as a number
    "0x7f.1",
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254", // metadata of clouds
    "172.31.255.255",
    "192.168.0.1",
    "192.0.2.1", // documentation
    "198.51.100.1",
    "203.0.113.1",
    "192.88.99.1",
    "255.255.255.255",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[::127.0.0.1]",
    "[64:ff9b::10.0.0.1]",
    "[::ffff:0:10.0.0.1]",
    "[100::1]",
    "[2001:db8::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fd00::1]",
    "LOCALHOST",
  ];
  test.each(PRIVATE)("X-HTTP-4 %s is rejected", async (host) => {
    expect(await failure(guardedClient.send({ ...request, url: `http://${host}:9/secret` }))).toEqual([
      "webhook-failed",
      "address",
      "the webhook has a private address, which WEBHOOK_ALLOWED_HOSTS does not allow",
    ]);
  });

  test("X-HTTP-4 a rejected webhook gets no request, by address and by name", async () => {
    for (const url of [hook.url, byName])
      expect((await failure(guardedClient.send({ ...request, url }))).slice(0, 2)).toEqual([
        "webhook-failed",
        "address",
      ]);
    expect(hook.requests).toEqual([]);
  });

  test.each([
    [["localhost"], true, false],
    [["LocalHost"], true, false],
    [["127.0.0.1"], true, true],
    [["127.0.0.0/30"], true, true],
    [["0.0.0.0/0", "::/0"], true, true],
    [["*"], true, true],
    [["10.0.0.0/8", "other"], false, false],
  ])("X-HTTP-4 %j allows the name: %j, and the address: %j", async (webhookAllowedHosts, name, address) => {
    const { client: allowing } = await start({ ...databaseOptions, webhookAllowedHosts });
    const isAllowed = (url: string): Promise<boolean> =>
      allowing.send({ ...request, url }).then(
        () => true,
        () => false,
      );
    expect([await isAllowed(byName), await isAllowed(hook.url)]).toEqual([name, address]);
  });

  test.each(["http://orders", "10.0.0.0/33", "10.0.0.0/8/8", "::/129", "orders/8", "*.internal", "a b"])(
    "X-HTTP-4 the allowed host %j is rejected at the start",
    async (item) => {
      await expect(start({ ...databaseOptions, webhookAllowedHosts: [item] })).rejects.toThrow(
        `webhookAllowedHosts (WEBHOOK_ALLOWED_HOSTS) contains ${JSON.stringify(item)}`,
      );
    },
  );

  test("X-HTTP-4 the environment variable is a list", () => {
    expect(optionsFromEnvironment(plus({}), { WEBHOOK_ALLOWED_HOSTS: "orders, 10.0.0.0/8" })).toEqual({
      webhookAllowedHosts: ["orders", "10.0.0.0/8"],
    });
  });
});

describe("a connection that fails", () => {
  test("X-HTTP-6 a failed connection is an error without the URL", async () => {
    hook.answer = (response) => void response.destroy();
    expect(await failure(client.send(request))).toEqual([
      "webhook-failed",
      "connection",
      "the connection to the webhook failed: ECONNRESET",
    ]);
  });

  test("X-HTTP-6 a host that does not exist is an error", async () => {
    expect(await failure(client.send({ ...request, url: "http://nowhere.invalid/?key=secret" }))).toEqual([
      "webhook-failed",
      "connection",
      expect.stringMatching(/^the connection to the webhook failed: E[A-Z_]+$/),
    ]);
  });

  test("X-HTTP-6 a server that switches protocols is an error", async () => {
    hook.answer = (response) =>
      void response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
    expect((await failure(client.send(request))).slice(0, 2)).toEqual(["webhook-failed", "connection"]);
  });
});

describe("an idle connection that the server has closed", () => {
  /** Answers the first request of each connection, and resets the connection at the second one. */
  const startServer = async () => {
    const requestCounts: number[] = [];
    const server = createServer((socket) => {
      const index = requestCounts.push(0) - 1;
      socket.on("error", () => undefined);
      socket.on("data", () => {
        requestCounts[index]!++; // the line above has added the element
        if (requestCounts[index] === 1) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
        else socket.resetAndDestroy();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // the server listens on TCP
    return { requestCounts, url: `http://127.0.0.1:${port}/`, close: () => server.close() };
  };

  test.each<[string, Partial<WebhookRequest>]>([
    ["a request that may be repeated", { isRepeatable: true }],
    ["a GET", { method: "GET" }],
  ])("X-HTTP-2c %s is sent once more on a new connection", async (_, parts) => {
    const { requestCounts, url, close } = await startServer();
    const repeatable: WebhookRequest = { url, timeoutMs: 60_000, ...parts };
    expect((await client.send(repeatable)).status).toBe(200);
    expect((await client.send(repeatable)).status).toBe(200);
    expect(requestCounts).toEqual([2, 1]);
    close();
  });

  test("X-HTTP-2c X-HTTP-6 a request that may not be repeated fails", async () => {
    const { requestCounts, url, close } = await startServer();
    expect((await client.send({ ...request, url })).status).toBe(200);
    expect(await failure(client.send({ ...request, url }))).toEqual([
      "webhook-failed",
      "connection",
      "the connection to the webhook failed: ECONNRESET",
    ]);
    expect(requestCounts).toEqual([2]);
    close();
  });
});

test("X-MET-9 calls are in a histogram by purpose and outcome", async () => {
  const options = { ...databaseOptions, webhookAllowedHosts: ["127.0.0.1"] };
  const { api: measuredApi, client: measuredClient } = await startWith((all) => startMeasured(all), options);
  hook.answer = json({});
  await measuredClient.send({ ...request, purpose: "action" });
  hook.answer = json({}, 503);
  await measuredClient.send({ ...request, purpose: "event" });
  await measuredClient.send({ ...request, url: "ftp://localhost/" }).catch(() => undefined);
  const controller = new AbortController();
  controller.abort();
  await measuredClient.send({ ...request, signal: controller.signal }).catch(() => undefined);
  const name = "relapi_webhook_duration_seconds_count";
  const counts = Object.entries(await measuredApi.metrics()).filter(([key]) => key.startsWith(name));
  expect(Object.fromEntries(counts)).toEqual({
    [`${name}{purpose="action",outcome="2xx"}`]: 1,
    [`${name}{purpose="event",outcome="5xx"}`]: 1,
    [`${name}{purpose="other",outcome="url"}`]: 1,
    [`${name}{purpose="other",outcome="cancelled"}`]: 1,
  });
});
