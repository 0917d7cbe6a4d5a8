import { describe, expect, test } from "vitest";
import { startApi, uncountedRange } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { collectMessages } from "../support/logger.ts";

const { logger, lines: warnings } = collectMessages("warn");
const api = await startApi({ logger });
const timingApi = await startApi({ serverTimingEnabled: true, serverTraceHeader: "X-Request-Id" });

const json = "application/json; charset=utf-8";
const timingPattern =
  /^jwt;dur=\d+\.\d, parse;dur=\d+\.\d, plan;dur=\d+\.\d, transaction;dur=\d+\.\d, response;dur=\d+\.\d$/;

cases(api, [
  {
    title: "R-HDR-1 a body has the Content-Type of its format",
    request: "GET /vessels?limit=0",
    status: 200,
    responseHeaders: { "content-type": json },
  },
  {
    title: "R-HDR-1 HEAD has the Content-Type of GET",
    request: "HEAD /vessels",
    headers: { accept: "text/csv" },
    status: 200,
    responseHeaders: { "content-type": "text/csv; charset=utf-8" },
  },
  {
    title: "R-HDR-1 a response without a body has no Content-Type",
    request: "PATCH /vessels?id=eq.0",
    body: { name: "x" },
    status: 204,
    responseHeaders: { "content-type": null },
  },
  {
    title: "R-HDR-2 Content-Length counts the bytes PostgreSQL wrote",
    request: "GET /vessels?select=id&id=lt.3&order=id",
    bytes: '[{"id":1}, \n {"id":2}]',
    responseHeaders: { "content-length": "22" },
  },
  {
    title: "R-HDR-2 Content-Length counts bytes of other alphabets",
    request: "GET /مو?select=اسم",
    responseHeaders: { "content-length": String(Buffer.byteLength('[{"اسم":"نجم"}]')) },
    status: 200,
  },
  {
    title: "R-HDR-2 POST without a body has the Content-Length 0",
    request: "POST /logbook",
    headers: { prefer: "tx=rollback" },
    body: { entry: "x" },
    status: 201,
    bytes: "",
    responseHeaders: { "content-length": "0" },
  },
  {
    title: "R-HDR-2 OPTIONS has the Content-Length 0",
    request: "OPTIONS /vessels",
    status: 200,
    responseHeaders: { "content-length": "0" },
  },
  {
    title: "R-HDR-2 HEAD has no Content-Length",
    request: "HEAD /vessels",
    headers: { prefer: "count=exact" },
    status: 200,
    bytes: "",
    responseHeaders: { "content-length": null, "content-type": json, "content-range": "0-2/3" },
  },
  {
    title: "R-HDR-2 204 has no Content-Length",
    request: "DELETE /logbook?entry=eq.none",
    status: 204,
    bytes: "",
    responseHeaders: { "content-length": null },
  },
  {
    title: "R-HDR-3 reads have Content-Range and Range-Unit",
    request: "GET /vessels",
    status: 200,
    responseHeaders: { "content-range": uncountedRange("0-2"), "range-unit": "items" },
  },
  {
    title: "R-HDR-4 reads have Content-Location",
    request: "GET /vessels?id=eq.1",
    status: 200,
    responseHeaders: { "content-location": "/vessels?id=eq.1" },
  },
  {
    title: "R-HDR-4 calls of functions have no Content-Location",
    request: "GET /rpc/all_vessels",
    status: 200,
    responseHeaders: { "content-location": null },
  },
  {
    title: "R-HDR-4 writes have no Content-Location",
    request: "POST /logbook",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { entry: "x" },
    status: 201,
    responseHeaders: { "content-location": null },
  },
  {
    title: "R-HDR-5 a response names its schema in Content-Profile",
    request: "GET /vessels",
    status: 200,
    responseHeaders: { "content-profile": "sea" },
  },
  {
    title: "R-HDR-6 headers-only has the Location of the new row",
    request: "POST /ports",
    headers: { prefer: "return=headers-only, tx=rollback" },
    body: { id: 900, name: "Bergen" },
    status: 201,
    responseHeaders: { location: "/ports?id=eq.900" },
  },
  {
    title: "R-HDR-6 other returns have no Location",
    request: "POST /ports",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { id: 900, name: "Bergen" },
    status: 201,
    responseHeaders: { location: null },
  },
  {
    title: "R-HDR-7 Preference-Applied lists the applied preferences",
    request: "GET /vessels",
    headers: { prefer: "count=exact" },
    status: 200,
    responseHeaders: { "preference-applied": "count=exact" },
  },
  ...["GET /vessels", "HEAD /vessels", "GET /rpc/all_vessels", "GET /", "DELETE /logbook?entry=eq.none"].map(
    (request) => ({
      title: `R-HDR-8 ${request} has its Vary header`,
      request,
      responseHeaders: { vary: "Accept, Prefer, Range" },
    }),
  ),
  {
    title: "R-HDR-10 Server-Timing is off by default",
    request: "GET /vessels",
    status: 200,
    responseHeaders: { "server-timing": null },
  },
  {
    title: "R-HDR-12 the header Server names the product and its version",
    request: "GET /vessels",
    status: 200,
    responseHeaders: { server: /^\S+\/\S+$/ },
  },
  {
    title: "R-HDR-12 errors have the header Server",
    request: "GET /harbours",
    status: 404,
    responseHeaders: { server: /^\S+\/\S+$/ },
  },
  {
    title: "R-HDR-13 a header without a name is left out",
    request: `GET /rpc/answer_headers?headers=${encodeURIComponent('[{"":"x"},{"X-A":"a"}]')}`,
    status: 200,
    responseHeaders: { "x-a": "a" },
  },
]);

test("R-HDR-9 a deprecated name causes a Warning header and one log line", async () => {
  warnings.length = 0;
  const answer = await api.get("/ports?select=big:vessels(name)&vessels.tonnage=gt.500&vessels.name=neq.x");
  expect(answer.headers["warning"]).toMatch(
    /^299 PostgRESTv\S+ "Embedded resource was referenced by relation name .* Update `vessels` to `big` in query string filters, orders or limits\."$/,
  );
  expect(warnings).toHaveLength(1);
});

test("R-HDR-13 repeated Set-Cookie headers are sent separately", async () => {
  const answer = await api.get(
    `/rpc/answer_headers?headers=${encodeURIComponent('[{"Set-Cookie":"a=1"},{"Set-Cookie":"b=2"}]')}`,
  );
  expect(answer.rawHeaders.filter(([name]) => name === "Set-Cookie").map(([, value]) => value)).toEqual(["a=1", "b=2"]);
});

describe("timing and tracing", () => {
  cases(timingApi, [
    ...[
      "GET /vessels",
      "HEAD /vessels",
      "OPTIONS /vessels",
      "GET /rpc/fleet_weight?port=1",
      "PATCH /vessels?id=eq.0",
      "GET /",
    ].map((request) => ({
      title: `R-HDR-10 Server-Timing has all phases on ${request}`,
      request,
      body: request.startsWith("PATCH") ? { name: "x" } : undefined,
      responseHeaders: { "server-timing": timingPattern },
    })),
    {
      title: "R-HDR-10 errors have no Server-Timing",
      request: "GET /harbours",
      status: 404,
      responseHeaders: { "server-timing": null },
    },
    {
      title: "R-HDR-11 the trace header is returned",
      request: "GET /vessels",
      headers: { "x-request-id": "abc" },
      status: 200,
      responseHeaders: { "x-request-id": "abc" },
    },
    {
      title: "R-HDR-11 errors return the trace header",
      request: "GET /harbours",
      headers: { "x-request-id": "abc" },
      status: 404,
      responseHeaders: { "x-request-id": "abc" },
    },
    {
      title: "R-HDR-11 the trace header is empty if the request has none",
      request: "GET /vessels",
      status: 200,
      responseHeaders: { "x-request-id": "" },
    },
  ]);
});
