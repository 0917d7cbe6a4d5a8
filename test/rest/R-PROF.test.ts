import { describe, expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { cases, type Case } from "../support/cases.ts";
import { rolledBack } from "../support/api.ts";

const api = await startApi();
const singleApi = await startApi({ dbSchemas: ["sea"] });
const oddApi = await startApi({ dbSchemas: ["sea", 'My "odd" schema'] });

const land = { "accept-profile": "land" };
const invalid = (name: string, exposedSchemas = "sea, land") => ({
  code: "PGRST106",
  details: null,
  hint: `Only the following schemas are exposed: ${exposedSchemas}`,
  message: `Invalid schema: ${name}`,
});
const code = (expected: string): Pick<Case, "check"> => ({
  check: (answer) => expect(answer.json().code).toBe(expected),
});

cases(api, [
  {
    title: "R-PROF-1 a request without a profile uses the first schema",
    request: "GET /ports?select=id&id=eq.1",
    answer: [{ id: 1 }],
  },
  {
    title: "R-PROF-1 Accept-Profile chooses the schema for GET",
    request: "GET /trucks?select=plate",
    headers: land,
    answer: [{ plate: "AB 123" }],
  },
  {
    title: "R-PROF-1 Accept-Profile chooses the schema for HEAD",
    request: "HEAD /trucks",
    headers: land,
    status: 200,
    responseHeaders: { "content-profile": "land" },
  },
  {
    title: "R-PROF-1 Accept-Profile chooses the schema for OPTIONS",
    request: "OPTIONS /trucks",
    headers: land,
    status: 200,
  },
  {
    title: "R-PROF-1 Accept-Profile is ignored for POST",
    request: "POST /trucks",
    headers: land,
    body: {},
    status: 404,
    ...code("PGRST205"),
  },
  {
    title: "R-PROF-1 Content-Profile chooses the schema for POST",
    request: "POST /trucks?select=plate",
    headers: { "content-profile": "land", ...rolledBack("return=representation") },
    body: { id: 900, plate: "CD 1" },
    status: 201,
    answer: [{ plate: "CD 1" }],
    responseHeaders: { "content-profile": "land" },
  },
  {
    title: "R-PROF-1 Content-Profile chooses the schema for PATCH",
    request: "PATCH /trucks?id=eq.1",
    headers: { "content-profile": "land", ...rolledBack() },
    body: { plate: "X" },
    status: 204,
  },
  {
    title: "R-PROF-1 Content-Profile chooses the schema for DELETE",
    request: "DELETE /trucks?id=eq.1",
    headers: { "content-profile": "land", ...rolledBack() },
    status: 204,
  },
  {
    title: "R-PROF-1 Content-Profile chooses the schema for functions by POST",
    request: "POST /rpc/depot_count",
    headers: { "content-profile": "land" },
    body: {},
    answer: 2,
  },
  {
    title: "R-PROF-1 Accept-Profile chooses the schema for functions by GET",
    request: "GET /rpc/depot_count",
    headers: land,
    answer: 2,
  },
  {
    title: "R-PROF-1 Content-Profile is ignored for GET",
    request: "GET /trucks",
    headers: { "content-profile": "land" },
    status: 404,
    ...code("PGRST205"),
  },
  {
    title: "R-PROF-2 a schema that is not listed is rejected",
    request: "GET /ports",
    headers: { "accept-profile": "air" },
    status: 406,
    answer: invalid("air"),
  },
  {
    title: "R-PROF-2 an existing schema that is not listed is rejected",
    request: "POST /ports",
    headers: { "content-profile": "hold" },
    body: {},
    status: 406,
    answer: invalid("hold"),
  },
  {
    title: "R-PROF-3 the response names the schema even if it is the default",
    request: "GET /ports?limit=0",
    status: 200,
    responseHeaders: { "content-profile": "sea" },
  },
  {
    title: "R-PROF-3 a response without a Content-Type names no schema",
    request: "PATCH /ports?id=eq.0",
    headers: rolledBack(),
    body: { name: "x" },
    status: 204,
    responseHeaders: { "content-profile": null },
  },
  {
    title: "R-PROF-4 relations are looked up only in the schema",
    request: "GET /ports",
    headers: land,
    status: 404,
    ...code("PGRST205"),
  },
  {
    title: "R-PROF-4 functions are looked up only in the schema",
    request: "GET /rpc/fleet_weight?port=1",
    headers: land,
    status: 404,
    ...code("PGRST202"),
  },
  {
    title: "R-PROF-4 an embed does not cross to another schema",
    request: "GET /depots?select=name,ports(name)",
    headers: land,
    status: 400,
    ...code("PGRST200"),
  },
  {
    title: "R-PROF-4 an embed of a view in the schema is found",
    request: "GET /depots?select=name,harbours(name)&order=id",
    headers: land,
    answer: [
      { name: "Sinsen", harbours: { name: "Oslo" } },
      { name: "Granton", harbours: { name: "Leith" } },
    ],
  },
  {
    title: "R-PROF-4 a computed relationship may lead to another schema",
    request: "GET /ports?select=name,land_depots(name)&order=id",
    answer: [
      { name: "Oslo", land_depots: [{ name: "Sinsen" }] },
      { name: "Leith", land_depots: [{ name: "Granton" }] },
    ],
  },
]);

describe("one exposed schema", () => {
  cases(singleApi, [
    {
      title: "R-PROF-3 with one schema, a request without a profile gets no Content-Profile",
      request: "GET /ports?limit=0",
      status: 200,
      responseHeaders: { "content-profile": null },
    },
    {
      title: "R-PROF-3 with one schema, a request with a profile gets Content-Profile",
      request: "GET /ports?limit=0",
      headers: { "accept-profile": "sea" },
      status: 200,
      responseHeaders: { "content-profile": "sea" },
    },
  ]);
});

describe("a schema with quotes and blanks", () => {
  cases(oddApi, [
    {
      title: "R-PROF-5 names are compared raw and quoted in SQL",
      request: 'GET /crates?select="it\'s"',
      headers: { "accept-profile": 'My "odd" schema' },
      answer: [{ "it's": "odd" }],
      responseHeaders: { "content-profile": 'My "odd" schema' },
    },
    {
      title: "R-PROF-5 the names of schemas are case-sensitive",
      request: "GET /crates",
      headers: { "accept-profile": 'my "odd" schema' },
      status: 406,
      answer: invalid('my "odd" schema', 'sea, My "odd" schema'),
    },
  ]);
});

test.each(["pg_catalog", "information_schema"])("R-PROF-6 %s may not be exposed", async (schema) => {
  await expect(startApi({ dbSchemas: ["sea", schema] })).rejects.toThrow(schema);
});
