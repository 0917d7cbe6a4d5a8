import { expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const EXPOSED =
  "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit";
const METHODS = "GET, POST, PATCH, PUT, DELETE, OPTIONS, HEAD";
const origin = "https://a.example";
const preflight = { origin, "access-control-request-method": "POST" };

const api = await startApi();

cases(api, [
  {
    title: "R-COR-1 without an origin no header",
    request: "GET /ports",
    responseHeaders: {
      "Access-Control-Allow-Origin": null,
      "Access-Control-Expose-Headers": null,
      "Access-Control-Allow-Credentials": null,
    },
  },
  {
    title: "R-COR-1 any origin",
    request: "GET /ports",
    headers: { origin },
    responseHeaders: { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": null },
  },
  {
    title: "R-COR-1 on errors too",
    request: "GET /nowhere",
    headers: { origin },
    status: 404,
    responseHeaders: { "Access-Control-Allow-Origin": "*" },
  },
  {
    title: "R-COR-2 a preflight",
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
    title: "R-COR-2 without requested headers",
    request: "OPTIONS /ports",
    headers: preflight,
    status: 200,
    responseHeaders: { "Access-Control-Allow-Headers": null, "Access-Control-Allow-Methods": METHODS },
  },
  {
    title: "R-COR-2 before authentication",
    request: "OPTIONS /ports",
    headers: { ...preflight, authorization: "Bearer x" },
    status: 200,
    responseHeaders: { "Access-Control-Allow-Methods": METHODS },
  },
  { title: "R-COR-2 on any path", request: "OPTIONS /no/such/path", headers: preflight, status: 200 },
  {
    title: "R-COR-2 another method is a plain OPTIONS",
    request: "OPTIONS /ports",
    headers: { origin, "access-control-request-method": "FOO" },
    status: 200,
    responseHeaders: { Allow: "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE", "Access-Control-Allow-Methods": null },
  },
  {
    title: "R-COR-3 headers exposed",
    request: "GET /ports",
    headers: { origin },
    responseHeaders: { "Access-Control-Expose-Headers": EXPOSED, Vary: "Accept, Prefer, Range" },
  },
  {
    title: "R-COR-3 of writes too",
    request: "POST /ports",
    headers: { origin, prefer: "tx=rollback" },
    body: { name: "A" },
    responseHeaders: { "Access-Control-Expose-Headers": EXPOSED },
  },
]);

const listed = await startApi({ corsAllowedOrigins: [origin, "https://b.example"] });

cases(listed, [
  {
    title: "R-COR-1 an origin of the list is echoed",
    request: "GET /ports",
    headers: { origin },
    responseHeaders: { "Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true" },
  },
  {
    title: "R-COR-1 another one is served without headers",
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
    title: "R-COR-2 a preflight from an origin of the list",
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
    title: "R-COR-2 from elsewhere it is a plain OPTIONS",
    request: "OPTIONS /ports",
    headers: { ...preflight, origin: "https://evil.example" },
    status: 200,
    responseHeaders: { "Access-Control-Allow-Methods": null, Allow: "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE" },
  },
]);

test("R-COR-2 preflights are not in the request log", async () => {
  const lines: string[] = [];
  const quiet = (): void => {};
  const logged = await startApi({
    logger: { error: quiet, warn: quiet, info: quiet, debug: quiet, access: (line) => lines.push(line) },
  });
  await logged.options("/ports", { headers: preflight });
  await logged.get("/ports");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"GET /ports HTTP/1.1" 200');
});

test.each(["foo", "https://a.example/", "https://a.example/path", "a.example:3000", "https://*"])(
  "R-COR-4 %s is no origin",
  async (item) => {
    await expect(startApi({ corsAllowedOrigins: ["https://a.example", item] })).rejects.toThrow(
      /invalid option corsAllowedOrigins .*: expected a list of origins such as/,
    );
  },
);

test("R-COR-4 origins of apps, of files, and wildcards are taken", async () => {
  const corsAllowedOrigins = ["capacitor://localhost", "null", "https://*.a.example:8443", "http://[::1]:3000"];
  const api = await startApi({ corsAllowedOrigins });
  const answer = await api.get("/ports?limit=1", { headers: { origin: "capacitor://localhost" } });
  expect(answer.headers["access-control-allow-origin"]).toBe("capacitor://localhost");
});
