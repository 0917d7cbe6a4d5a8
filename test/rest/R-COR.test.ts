import { expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { collectMessages } from "../support/logger.ts";

const EXPOSED_HEADERS =
  "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit";
const METHODS = "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD";
const origin = "https://a.example";
const preflight = { origin, "access-control-request-method": "POST" };

const api = await startApi();

cases(api, [
  {
    title: "R-COR-1 a request without Origin gets no CORS headers",
    request: "GET /ports",
    responseHeaders: {
      "Access-Control-Allow-Origin": null,
      "Access-Control-Expose-Headers": null,
      "Access-Control-Allow-Credentials": null,
    },
  },
  {
    title: "R-COR-1 by default any origin is allowed",
    request: "GET /ports",
    headers: { origin },
    responseHeaders: { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": null },
  },
  {
    title: "R-COR-1 errors have the CORS headers too",
    request: "GET /nowhere",
    headers: { origin },
    status: 404,
    responseHeaders: { "Access-Control-Allow-Origin": "*" },
  },
  {
    title: "R-COR-2 R-COR-2a a preflight lists the allowed methods and headers",
    request: "OPTIONS /ports",
    headers: { ...preflight, "access-control-request-headers": "X-One, Prefer" },
    status: 200,
    bytes: "",
    responseHeaders: {
      "Access-Control-Allow-Origin": "*",
      "Access-Control-Allow-Methods": METHODS,
      "Access-Control-Allow-Headers": "Authorization, X-One, Prefer, Accept, Accept-Language, Content-Language",
      "Access-Control-Max-Age": "86400",
      Allow: null,
    },
  },
  {
    title: "R-COR-2 R-COR-2a a preflight without requested headers lists no headers",
    request: "OPTIONS /ports",
    headers: preflight,
    status: 200,
    responseHeaders: { "Access-Control-Allow-Headers": null, "Access-Control-Allow-Methods": METHODS },
  },
  {
    title: "R-COR-2 a preflight is answered before authentication",
    request: "OPTIONS /ports",
    headers: { ...preflight, authorization: "Bearer x" },
    status: 200,
    responseHeaders: { "Access-Control-Allow-Methods": METHODS },
  },
  {
    title: "R-COR-2 a preflight is answered on any path",
    request: "OPTIONS /no/such/path",
    headers: preflight,
    status: 200,
  },
  {
    title: "R-COR-2 OPTIONS with an unknown requested method is not a preflight",
    request: "OPTIONS /ports",
    headers: { origin, "access-control-request-method": "FOO" },
    status: 200,
    responseHeaders: { Allow: "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE", "Access-Control-Allow-Methods": null },
  },
  {
    title: "R-COR-3 reads expose the response headers",
    request: "GET /ports",
    headers: { origin },
    responseHeaders: { "Access-Control-Expose-Headers": EXPOSED_HEADERS, Vary: "Accept, Prefer, Range" },
  },
  {
    title: "R-COR-3 writes expose the response headers",
    request: "POST /ports",
    headers: { origin, prefer: "tx=rollback" },
    body: { name: "A" },
    responseHeaders: { "Access-Control-Expose-Headers": EXPOSED_HEADERS },
  },
]);

const originsApi = await startApi({ corsAllowedOrigins: [origin, "https://b.example"] });

cases(originsApi, [
  {
    title: "R-COR-1 a listed origin is returned with credentials allowed",
    request: "GET /ports",
    headers: { origin },
    responseHeaders: { "Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true" },
  },
  {
    title: "R-COR-1 a request from another origin is answered without CORS headers",
    request: "GET /ports",
    headers: { origin: "https://evil.example" },
    status: 200,
    responseHeaders: {
      "Access-Control-Allow-Origin": null,
      "Access-Control-Allow-Credentials": null,
      "Access-Control-Expose-Headers": null,
    },
  },
  {
    title: "R-COR-2 a preflight from a listed origin returns that origin",
    request: "OPTIONS /ports",
    headers: preflight,
    status: 200,
    responseHeaders: {
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Credentials": "true",
      "Access-Control-Allow-Methods": METHODS,
    },
  },
  {
    title: "R-COR-2 OPTIONS from another origin is not a preflight",
    request: "OPTIONS /ports",
    headers: { ...preflight, origin: "https://evil.example" },
    status: 200,
    responseHeaders: { "Access-Control-Allow-Methods": null, Allow: "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE" },
  },
]);

test("R-COR-2 preflights are not in the access log", async () => {
  const { logger, lines } = collectMessages("access");
  const loggedApi = await startApi({ logger });
  await loggedApi.options("/ports", { headers: preflight });
  await loggedApi.get("/ports");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"GET /ports HTTP/1.1" 200');
});

test.each(["foo", "https://a.example/", "https://a.example/path", "a.example:3000", "https://*"])(
  "R-COR-4 the setting rejects %s as an origin",
  async (item) => {
    await expect(startApi({ corsAllowedOrigins: ["https://a.example", item] })).rejects.toThrow(
      /invalid option corsAllowedOrigins .*: expected a list of origins such as/,
    );
  },
);

test("R-COR-4 the setting accepts origins of apps, files and wildcards", async () => {
  const corsAllowedOrigins = ["capacitor://localhost", "null", "https://*.a.example:8443", "http://[::1]:3000"];
  const api = await startApi({ corsAllowedOrigins });
  const answer = await api.get("/ports?limit=1", { headers: { origin: "capacitor://localhost" } });
  expect(answer.headers["access-control-allow-origin"]).toBe("capacitor://localhost");
});
