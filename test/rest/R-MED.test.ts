// @runs-also-on postgresql-15-postgis
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { ANY_MEDIA_TYPE, capabilities, rolledBack, startApi, type Answer, uncountedRange } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { compose, definePlugin, quoteLiteral, relApi, sql, without } from "../../core/index.ts";
import { chooseMediaHook } from "../../plugins/rest/api.ts";
import { fullCompat } from "../../presets/index.ts";

const ANY_TEXT = ANY_MEDIA_TYPE.replace("*", "text");

const api = await startApi();

const accept = (type: string) => ({ accept: type });
const representation = rolledBack("return=representation");
const noMediaTypeError = (types: string) => ({
  code: "PGRST107",
  details: null,
  hint: null,
  message: `None of these media types are available: ${types}`,
});
const jsonType = { "Content-Type": "application/json; charset=utf-8" };
const csvType = { "Content-Type": "text/csv; charset=utf-8" };

cases(api, [
  // Negotiation.
  {
    title: "R-MED-1 a request without Accept gets JSON",
    request: "GET /ports?select=id&id=eq.1",
    headers: { accept: null },
    answer: [{ id: 1 }],
    responseHeaders: jsonType,
  },
  ...[
    ANY_MEDIA_TYPE,
    "application/json",
    "APPLICATION/Json",
    "application/json; charset=x",
    "application/vnd.pgrst.array",
    "application/vnd.pgrst.array+json",
    `text/nope, ${ANY_MEDIA_TYPE}`,
  ].map((type) => ({
    title: `R-MED-1 ${type} is JSON`,
    request: "GET /ports?select=id&id=eq.1",
    headers: accept(type),
    bytes: '[{"id":1}]',
    responseHeaders: jsonType,
  })),
  {
    title: "R-MED-1 the first available type is chosen",
    request: "GET /ports?select=id&id=eq.1",
    headers: accept("text/nope, text/csv, application/json"),
    responseHeaders: csvType,
  },
  {
    title: "R-MED-1 the type with the highest quality is chosen",
    request: "GET /ports?select=id&id=eq.1",
    headers: accept("text/csv;q=0.4, application/json ; q=0.5"),
    responseHeaders: jsonType,
  },
  {
    title: "R-MED-1 the type with more parameters is chosen",
    request: "GET /ports?select=id&id=eq.1",
    headers: accept("text/csv, application/vnd.pgrst.object;nulls=stripped"),
    bytes: '{"id":1}',
  },
  {
    title: "R-MED-1 a wildcard has the lowest rank",
    request: "GET /ports?select=id&id=eq.1",
    headers: accept(`${ANY_MEDIA_TYPE}, text/csv`),
    responseHeaders: csvType,
  },
  {
    title: "R-MED-1 q=0 excludes nothing",
    request: "GET /ports?select=id&id=eq.1",
    headers: accept("text/csv;q=0"),
    responseHeaders: csvType,
  },
  {
    title: "R-MED-1 ranges of media types match no type",
    request: "GET /ports",
    headers: accept(ANY_TEXT),
    status: 406,
    answer: noMediaTypeError(ANY_TEXT),
  },
  {
    title: "R-MED-1 R-MED-1a an empty Accept header is an unknown type",
    request: "GET /ports",
    headers: accept(""),
    status: 406,
    answer: noMediaTypeError(""),
  },
  {
    title: "R-MED-1 R-MED-1b the error of unknown types lists them normalised",
    request: "GET /ports",
    headers: accept("text/nope; a=b;q=0.5, image/PNG , text/plain;x=y"),
    status: 406,
    answer: noMediaTypeError("text/plain, image/PNG, text/nope;a=b"),
  },
  {
    title: "R-MED-1 the type of the OpenAPI document is rejected for relations",
    request: "GET /ports",
    headers: accept("application/openapi+json"),
    status: 406,
    answer: noMediaTypeError("application/openapi+json"),
  },
  {
    title: "R-MED-1 geo+json is rejected without PostGIS",
    request: "GET /ports",
    headers: accept("application/geo+json"),
    when: !capabilities.postgis,
    status: 406,
  },

  // One object.
  {
    title: "R-MED-1 the object type returns the only row",
    request: "GET /ports?id=eq.1",
    headers: accept("application/vnd.pgrst.object+json"),
    bytes: '{"id":1,"name":"Oslo","country":"NO"}',
    responseHeaders: { "Content-Type": "application/vnd.pgrst.object+json; charset=utf-8" },
  },
  {
    title: "R-MED-1 the object type works without the suffix +json",
    request: "GET /ports?id=eq.1&select=id",
    headers: accept("application/vnd.pgrst.object"),
    bytes: '{"id":1}',
    responseHeaders: { "Content-Type": "application/vnd.pgrst.object+json; charset=utf-8" },
  },
  {
    title: "R-MED-1 the object type rejects a result without rows",
    request: "GET /ports?id=eq.99",
    headers: accept("application/vnd.pgrst.object+json"),
    status: 406,
    answer: {
      code: "PGRST116",
      details: "The result contains 0 rows",
      hint: null,
      message: "Cannot coerce the result to a single JSON object",
    },
  },
  {
    title: "R-MED-1 the object type rejects several rows",
    request: "GET /ports",
    headers: accept("application/vnd.pgrst.object+json"),
    status: 406,
    check: (answer: Answer) => expect(answer.json().details).toBe("The result contains 2 rows"),
  },
  {
    title: "R-MED-1 nulls=stripped removes null keys from the rows of an array",
    request: "GET /vessels?id=eq.3&select=id,home_port_id,specs,ports(name)",
    headers: accept("application/vnd.pgrst.array+json;nulls=stripped"),
    bytes: '[{"id":3}]',
    responseHeaders: { "Content-Type": "application/vnd.pgrst.array+json;nulls=stripped; charset=utf-8" },
  },
  {
    title: "R-MED-1 nulls are stripped at every depth",
    request: "GET /kinds?id=eq.1&select=id,c_jsonb",
    headers: accept("application/vnd.pgrst.array;nulls=stripped"),
    answer: [{ id: 1, c_jsonb: { a: {}, z: 1 } }],
  },
  {
    title: "R-MED-1 nulls=stripped removes null keys from an object",
    request: "GET /vessels?id=eq.3&select=id,home_port_id",
    headers: accept("application/vnd.pgrst.object+json; nulls=stripped"),
    bytes: '{"id":3}',
    responseHeaders: { "Content-Type": "application/vnd.pgrst.object+json;nulls=stripped; charset=utf-8" },
  },
  {
    title: "R-MED-1 nulls=stripped returns an empty array without rows",
    request: "GET /vessels?id=eq.0",
    headers: accept("application/vnd.pgrst.array+json;nulls=stripped"),
    bytes: "[]",
  },

  // CSV.
  {
    title: "R-MED-2 CSV has a header line and a line for each row",
    request: "GET /vessels?select=id,name&order=id",
    headers: accept("text/csv"),
    bytes: "id,name\n1,Ariel\n2,Fram\n3,Gjoa",
    responseHeaders: { ...csvType, "Content-Range": uncountedRange("0-2") },
  },
  {
    title: "R-MED-2 R-MED-2a CSV without rows is one line end",
    request: "GET /vessels?id=eq.0",
    headers: accept("text/csv"),
    bytes: "\n",
  },
  {
    title: "R-MED-2 CSV fields have the text of PostgreSQL's rows",
    request: "GET /certificates?select=renewed,note,points&id=eq.1",
    headers: accept("text/csv"),
    bytes: "renewed,note,points\nf,none,90",
  },
  {
    title: "R-MED-2 CSV quotes names, leaves nulls empty and shows arrays as text",
    request: "GET /vessels?select=name,home_port_id,flags&order=id",
    headers: accept("text/csv"),
    bytes: 'name,home_port_id,flags\nAriel,1,"{PA,NO}"\nFram,1,{NO}\nGjoa,,{}',
  },
  {
    title: "R-MED-2 CSV doubles quotes",
    request: "GET /sailors?select=name&id=eq.4",
    headers: accept("text/csv"),
    bytes: 'name\n"Jo ""Red"" Lee"',
  },
  {
    title: "R-MED-2 R-MED-2a CSV shows embeds as quoted JSON after the fields",
    request: "GET /vessels?select=ports(name),id&id=eq.1",
    headers: accept("text/csv"),
    bytes: 'id,ports\n1,"{""name"":""Oslo""}"',
  },
  {
    title: "R-MED-2 R-MED-2a CSV has aliases as column headers",
    request: "GET /vessels?select=ship:name&id=eq.1",
    headers: accept("text/csv"),
    bytes: "ship\nAriel",
  },
  {
    title: "R-MED-2 R-MED-2a CSV of a scalar has the header pgrst_scalar",
    request: "GET /rpc/add_numbers?a=1&b=2",
    headers: accept("text/csv"),
    bytes: "pgrst_scalar\n3",
  },
  {
    title: "R-MED-2 R-MED-2a CSV of a set of scalars has the header pgrst_scalar",
    request: "GET /rpc/tonnages",
    headers: accept("text/csv"),
    bytes: "pgrst_scalar\n853\n402\n47",
  },
  {
    title: "R-MED-2 CSV shows the rows of a function",
    request: "GET /rpc/crew_sizes",
    headers: accept("text/csv"),
    bytes: "vessel,hands\nAriel,2\nFram,1\nGjoa,0",
  },
  {
    title: "R-MED-2 CSV shows a representation",
    request: "POST /ports?select=name,country",
    headers: { ...representation, accept: "text/csv" },
    body: { name: "A" },
    status: 201,
    bytes: "name,country\nA,",
  },
  {
    title: "R-MED-2 CSV shows columns that are named by reserved words",
    request: "GET /order?select=select,from,group",
    headers: accept("text/csv"),
    bytes: "select,from,group\n1,f,g",
  },

  // Negotiation without a body.
  {
    title: "R-MED-3 a write without a representation rejects an unknown type",
    request: "POST /ports",
    headers: { ...rolledBack(), accept: "text/nope" },
    body: { name: "A" },
    status: 406,
    answer: noMediaTypeError("text/nope"),
  },
  {
    title: "R-MED-3 a write without a representation accepts CSV and has no body",
    request: "POST /ports",
    headers: { ...rolledBack(), accept: "text/csv" },
    body: { name: "A" },
    status: 201,
    bytes: "",
  },
  {
    title: "R-MED-3 HEAD rejects an unknown type",
    request: "HEAD /ports",
    headers: accept("text/nope"),
    status: 406,
    bytes: "",
  },
  {
    title: "R-MED-3 HEAD has the Content-Type of GET",
    request: "HEAD /ports",
    headers: accept("text/csv"),
    status: 200,
    bytes: "",
    responseHeaders: { ...csvType, "Content-Length": null },
  },
  {
    title: "R-MED-3 an unknown type is rejected before the function is called",
    request: "POST /rpc/next_number",
    headers: accept("text/nope"),
    body: {},
    status: 406,
  },

  // Handlers of the database.
  {
    title: "R-MED-4 R-MED-4a an aggregate over the rows of a relation is a handler for a media type",
    request: "GET /notices?order=id",
    headers: accept("text/plain"),
    bytes: "mind the step\nno, swimming\n",
    responseHeaders: { "Content-Type": "text/plain; charset=utf-8" },
  },
  {
    title: "R-MED-4 a handler replaces a built-in type for its relation",
    request: "GET /notices?order=id",
    headers: accept("text/csv"),
    bytes: "body\nmind the step\nno, swimming\n",
  },
  {
    title: "R-MED-4 the handler of a relation serves no other relation",
    request: "GET /ports",
    headers: accept("text/plain"),
    status: 406,
  },
  {
    title: "R-MED-4 R-MED-4a an aggregate over any row is a handler for a media type",
    request: "GET /ports?select=id",
    headers: accept("application/vnd.sea.tally"),
    bytes: "2 rows",
    responseHeaders: { "Content-Type": "application/vnd.sea.tally" },
  },
  {
    title: "R-MED-4 a handler for any row serves columns with a JSON representation",
    request: "GET /paints",
    headers: accept("application/vnd.sea.tally"),
    bytes: "2 rows",
  },
  {
    title: "R-MED-4 a handler of a relation serves representations of its writes",
    request: "POST /notices",
    headers: { ...representation, accept: "text/plain" },
    body: { id: 9, body: "x" },
    status: 201,
    bytes: "x\n",
  },
  {
    title: "R-MED-4 a handler for any row serves rows of functions",
    request: "GET /rpc/all_vessels",
    headers: accept("application/vnd.sea.tally"),
    bytes: "3 rows",
  },
  {
    title: "R-MED-4 a handler for any row serves values of functions",
    request: "GET /rpc/tonnages",
    headers: accept("application/vnd.sea.tally"),
    bytes: "3 rows",
  },
  {
    title: "R-MED-4 a handler for any row serves representations",
    request: "PATCH /vessels",
    headers: { ...representation, accept: "application/vnd.sea.tally" },
    body: { tonnage: 1 },
    bytes: "3 rows",
  },
  {
    title: "R-MED-4 R-MED-4b a function that returns the domain of a media type serves that type by GET",
    request: "GET /rpc/page?name=Bo",
    headers: accept("text/html"),
    bytes: "<p>Bo</p>",
    responseHeaders: { "Content-Type": "text/html" },
  },
  {
    title: "R-MED-4 R-MED-4b a function that returns the domain of a media type serves that type by POST",
    request: "POST /rpc/page",
    headers: accept("text/html"),
    body: { name: "Bo" },
    bytes: "<p>Bo</p>",
  },
  {
    title: "R-MED-4 R-MED-4b a function may return plain text",
    request: "GET /rpc/banner",
    headers: accept("text/plain"),
    bytes: "Fair winds",
    responseHeaders: { "Content-Type": "text/plain; charset=utf-8" },
  },
  {
    title: "R-MED-4 R-MED-4b a function may return XML",
    request: "GET /rpc/chart",
    headers: accept("text/xml"),
    bytes: "<chart/>",
    responseHeaders: { "Content-Type": "text/xml; charset=utf-8" },
  },
  {
    title: "R-MED-4 R-MED-4b a function may return the bytes of an image",
    request: "GET /rpc/logo",
    headers: accept("image/png"),
    bytes: Buffer.from("89504e470d0a1a0a", "hex"),
    responseHeaders: { "Content-Type": "image/png", "Content-Length": "8" },
  },
  {
    title: "R-MED-4 R-MED-4b a function may return an octet stream",
    request: "GET /rpc/blob",
    headers: accept("application/octet-stream"),
    bytes: Buffer.from([0, 255, 16]),
    responseHeaders: { "Content-Type": "application/octet-stream" },
  },

  {
    title: "R-MED-5 a relation's handler rejects a select of some columns",
    request: "GET /notices?select=body",
    headers: accept("text/plain"),
    status: 406,
    answer: noMediaTypeError("text/plain"),
  },
  {
    title: "R-MED-5 a select of some columns gets the built-in type",
    request: "GET /notices?select=body&order=id",
    headers: accept("text/csv"),
    bytes: 'body\n"mind the step"\n"no, swimming"',
  },
  {
    title: "R-MED-5 select=* is the same as no select",
    request: "GET /notices?select=*&order=id",
    headers: accept("text/plain"),
    status: 200,
  },
  {
    title: "R-MED-5 select=* is the whole value of a function",
    request: "GET /rpc/banner?select=*",
    headers: accept("text/plain"),
    bytes: "Fair winds",
  },
  {
    title: "R-MED-5 a write without a representation may have the handler's type",
    request: "POST /notices?select=*",
    headers: { ...accept("text/plain"), prefer: "tx=rollback" },
    body: { id: 900, body: "x" },
    status: 201,
  },
  {
    title: "R-MED-5 R-MED-5a the object type cannot be replaced by a handler",
    request: "GET /signals?code=eq.N",
    headers: accept("application/vnd.pgrst.object+json"),
    answer: { code: "N", meaning: "no" },
  },
  {
    title: "R-MED-5 if the handler cannot serve the select, another accepted type is chosen",
    request: "GET /notices?select=body&id=eq.1",
    headers: accept("text/plain, application/json"),
    answer: [{ body: "mind the step" }],
  },

  {
    title: "R-MED-6 a handler for every media type serves any type",
    request: "GET /signals?meaning=eq.no",
    headers: accept("text/whatever"),
    bytes: "N;",
    responseHeaders: { "Content-Type": "application/octet-stream" },
  },
  {
    title: "R-MED-6 a handler for all types precedes every other type",
    request: "GET /signals?meaning=eq.no",
    headers: accept("application/json"),
    bytes: "N;",
  },
  {
    title: "R-MED-6 a request without Accept gets the handler for all types",
    request: "GET /signals?meaning=eq.no",
    headers: { accept: null },
    bytes: "N;",
  },
  {
    title: "R-MED-6 R-MED-6a a handler for all types without rows returns an empty body",
    request: "GET /signals?code=eq.zzz",
    headers: accept("text/x"),
    bytes: "",
  },
  {
    title: "R-MED-6 a function for every media type reads the accepted type",
    request: "GET /rpc/any_file",
    headers: accept("image/webp"),
    bytes: "file as image/webp",
    responseHeaders: { "Content-Type": "application/octet-stream" },
  },
  {
    title: "R-MED-6 a function for all types may set the Content-Type",
    request: "GET /rpc/any_file",
    headers: accept("text/plain"),
    bytes: "file as text/plain",
    responseHeaders: { "Content-Type": "text/plain" },
  },
  {
    title: "R-MED-6 a function for all types may reject a type",
    request: "GET /rpc/any_file",
    headers: accept("image/tiff"),
    status: 406,
    check: (answer: Answer) =>
      expect(answer.json()).toEqual({ code: "PT406", details: null, hint: null, message: "Not Acceptable" }),
  },
  {
    title:
      "R-MED-6 R-MED-6a a client that accepts any type gets JSON even if the function returns the domain of a media type",
    request: "GET /rpc/banner",
    headers: accept(ANY_MEDIA_TYPE),
    bytes: '"Fair winds"',
    responseHeaders: jsonType,
  },
  {
    title: "R-MED-6 R-MED-6a a function that returns plain text rejects text/plain",
    request: "GET /rpc/plain_word",
    headers: accept("text/plain"),
    status: 406,
    answer: noMediaTypeError("text/plain"),
  },

  // Execution plans are disabled.
  {
    title: "R-MED-7 if the setting is off, the plan type is unknown",
    request: "GET /ports",
    headers: accept("application/vnd.pgrst.plan+json"),
    status: 406,
    answer: noMediaTypeError('application/vnd.pgrst.plan+json; for="application/json"'),
  },
]);

test("R-MED-1 R-MED-1a the first of several Accept headers is read", async () => {
  const answer = await api.get("/ports?select=id&id=eq.1", { headers: { accept: ["text/csv", "application/json"] } });
  expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
});

const planApi = await startApi({ dbPlanEnabled: true });

cases(planApi, [
  {
    title: "R-MED-7 a plan is text by default",
    request: "GET /ports?id=eq.1",
    headers: accept("application/vnd.pgrst.plan"),
    status: 200,
    responseHeaders: { "Content-Type": 'application/vnd.pgrst.plan+text; for="application/json"; charset=utf-8' },
    check: (answer: Answer) => expect(answer.text).toMatch(/^Aggregate[^]*cost=[^]*\n$/),
  },
  {
    title: "R-MED-7 R-MED-7a a plan as JSON names its options in a fixed order",
    request: "GET /ports?id=eq.1",
    headers: accept("application/vnd.pgrst.plan+json; options=wal|analyze"),
    status: 200,
    responseHeaders: {
      "Content-Type": 'application/vnd.pgrst.plan+json; for="application/json"; options=analyze|wal; charset=utf-8',
    },
    check: (answer: Answer) => {
      expect(answer.json()[0]).toHaveProperty("Execution Time");
      expect(answer.text.endsWith("\n")).toBe(true);
    },
  },
  {
    title: "R-MED-7 a plan may be requested for a CSV response",
    request: "GET /ports",
    headers: accept('application/vnd.pgrst.plan+text; for="text/csv"; options=verbose'),
    responseHeaders: {
      "Content-Type": 'application/vnd.pgrst.plan+text; for="text/csv"; options=verbose; charset=utf-8',
    },
    check: (answer: Answer) => expect(answer.text).toContain("string_agg"),
  },
  {
    title: "R-MED-7 a plan may be requested for an object response",
    request: "GET /ports",
    headers: accept('application/vnd.pgrst.plan+json; for="application/vnd.pgrst.object"'),
    status: 200,
    responseHeaders: {
      "Content-Type": 'application/vnd.pgrst.plan+json; for="application/vnd.pgrst.object+json"; charset=utf-8',
    },
  },
  {
    title: "R-MED-7 a plan for an unknown type is rejected",
    request: "GET /ports",
    headers: accept('application/vnd.pgrst.plan+json; for="text/nope"'),
    status: 406,
  },
  {
    title: "R-MED-7 a plan of POST has status 200",
    request: "POST /ports",
    headers: accept("application/vnd.pgrst.plan+json"),
    body: { name: "A" },
    status: 200,
    check: (answer: Answer) => expect(answer.text).toContain("ModifyTable"),
  },
  {
    title: "R-MED-7 a plan of DELETE has status 200",
    request: "DELETE /vessels?id=eq.1",
    headers: accept("application/vnd.pgrst.plan+json"),
    status: 200,
    check: (answer: Answer) => expect(answer.json()[0].Plan).toBeDefined(),
  },
  {
    title: "R-MED-3 HEAD of a plan has the headers of GET",
    request: "HEAD /ports?id=eq.1",
    headers: accept("application/vnd.pgrst.plan+json"),
    status: 200,
    responseHeaders: {
      "Content-Type": 'application/vnd.pgrst.plan+json; for="application/json"; charset=utf-8',
      "Content-Range": null,
    },
  },
  {
    title: "R-MED-7 a call has a plan",
    request: "GET /rpc/all_vessels",
    headers: accept("application/vnd.pgrst.plan+json"),
    status: 200,
    check: (answer: Answer) => expect(answer.json()[0].Plan).toBeDefined(),
  },
]);

test("R-MED-7 R-MED-7b a plan with ANALYZE writes the rows, and a plan without it does not", async () => {
  const plan = (options: string) =>
    planApi.post("/logbook", {
      headers: accept(`application/vnd.pgrst.plan+json${options}`),
      body: { entry: "planned" },
    });
  const count = async () => (await planApi.get("/logbook?entry=eq.planned")).json().length;
  expect((await plan("")).status).toBe(200);
  expect(await count()).toBe(0);
  expect((await plan("; options=analyze")).status).toBe(200);
  expect(await count()).toBe(1);
});

test("R-MED-1 a media type whose plugin is left out is unknown", async () => {
  const bareApi = await startApi({
    parts: [
      without("csv-media"),
      without("singular-media"),
      without("custom-media"),
      without("stripped-media"),
      without("explain-media"),
    ],
    dbPlanEnabled: true,
  });
  for (const type of [
    "text/csv",
    "application/vnd.pgrst.object+json",
    "application/vnd.sea.tally",
    "application/vnd.pgrst.array+json;nulls=stripped",
    "application/vnd.pgrst.plan+json",
  ]) {
    const answer = await bareApi.get("/ports", { headers: { accept: type } });
    expect(answer.status, type).toBe(406);
    expect(answer.json().code).toBe("PGRST107");
  }
  expect((await bareApi.get("/ports?select=id&id=eq.1")).json()).toEqual([{ id: 1 }]);
});

test("R-MED-1 a plugin adds a media type", async () => {
  const linesMedia = definePlugin({
    name: "lines-media",
    apply: (hooks) => {
      hooks.compileMedia
        .for("application/x-ndjson")
        .tap("lines-media", ({ row }) => sql`coalesce(string_agg(row_to_json(${row})::text, E'\\n'), '')`);
    },
  });
  const ownApi = await startApi({ parts: [linesMedia] });
  const answer = await ownApi.get("/vessels?select=id,name&order=id&limit=2", {
    headers: { accept: "application/x-ndjson, */*;q=0.1" },
  });
  expect(answer.headers["content-type"]).toBe("application/x-ndjson");
  expect(answer.text).toBe('{"id":1,"name":"Ariel"}\n{"id":2,"name":"Fram"}');
});

describe("X-MED-1 X-MED-2 a media type of a plugin wraps the whole statement", async () => {
  const CSV = { name: "text/csv", isStripped: false, text: "text/csv" };
  const digestMedia = definePlugin({
    name: "digest-media",
    requires: ["rest"],
    wrappers: [
      {
        name: "digest",
        compile: (statement, options) =>
          sql`select ${quoteLiteral(String(options))} || pg_catalog.md5(_d.body) from (${statement}) as _d`,
      },
    ],
    apply: (_hooks, context) => {
      context.use(chooseMediaHook).tap("digest-media", ({ name }, { chooseFor, isWholeRow }) => {
        const csv = name === "text/x-digest" ? chooseFor(CSV) : undefined;
        const options = isWholeRow ? "all " : "some ";
        return (
          csv && { envelope: { ...csv.envelope, wrapper: { name: "digest", options } }, contentType: "text/x-md5" }
        );
      });
    },
  });
  const ownApi = await startApi({ parts: [digestMedia] });
  const digest = (text: string): string => createHash("md5").update(text).digest("hex");

  test("X-MED-2 reads and calls return the result of the wrapper", async () => {
    const headers = { accept: "text/x-digest" };
    const read = await ownApi.get("/vessels?select=id,name&order=id&limit=2", { headers });
    expect([read.status, read.headers["content-type"]]).toEqual([200, "text/x-md5"]);
    expect(read.text).toBe(`some ${digest("id,name\n1,Ariel\n2,Fram")}\n`);
    const callAnswer = await ownApi.get("/rpc/add_numbers?a=1&b=2", { headers });
    expect(callAnswer.text).toBe(`all ${digest("pgrst_scalar\n3")}\n`);
    const head = await ownApi.head("/vessels", { headers });
    expect(head.headers["content-type"]).toBe("text/x-md5");
  });

  test("X-MED-1 the parts of a request that a media type's tap reads belong to the plan's key", async () => {
    const headers = { accept: "text/x-digest" };
    expect((await ownApi.get("/ports", { headers })).text).toMatch(/^all /);
    expect((await ownApi.get("/ports?select=id", { headers })).text).toMatch(/^some /);
    expect((await ownApi.get("/ports?select=id&id=eq.1", { headers: { accept: "text/csv" } })).text).toBe("id\n1");
  });

  test("X-MED-2 two wrappers of one name are rejected at the start", () => {
    const otherPlugin = definePlugin({
      name: "other-media",
      wrappers: [{ name: "explain", compile: (statement) => statement }],
    });
    expect(() =>
      relApi(compose(fullCompat({ databaseUrl: "postgres://nobody@127.0.0.1:1/none" }), otherPlugin)),
    ).toThrow(
      'wrapper "explain" is declared by plugins "explain-media" and "other-media": rename one or remove one of the plugins',
    );
  });
});

const geo = capabilities.postgis
  ? await startApi({ dbSchemas: ["atlas"], dbExtraSearchPath: ["public", "gis"], anonRole: undefined })
  : undefined;

test.skipIf(geo === undefined)(
  "R-MED-1 R-SEL-5 GeoJSON has a feature per row, with empty names as keys of its properties",
  async () => {
    const headers = { accept: "application/geo+json", "x-session-admin-secret": "admin-secret-of-the-tests" };
    // The test is skipped if `geo` is undefined.
    const answer = await geo!.get("/spots?select=id,at&order=id&limit=1", { headers });
    expect(answer.headers["content-type"]).toBe("application/geo+json; charset=utf-8");
    const body = answer.json();
    expect(body.type).toBe("FeatureCollection");
    expect(body.features[0]).toMatchObject({ type: "Feature", geometry: { type: "Point" }, properties: { id: 1 } });
    expect((await geo!.get("/spots?id=eq.0", { headers })).json()).toEqual({ type: "FeatureCollection", features: [] });
    const [empty] = (await geo!.get('/spots?select="":id,label:id,at&order=id&limit=1', { headers })).json().features;
    expect(empty).toEqual({ type: "Feature", geometry: body.features[0].geometry, properties: { "": 1, label: 1 } });
    const plain = await geo!.get("/spots?select=id", { headers });
    expect([plain.status, plain.json().code]).toEqual([400, "22023"]);
  },
);

test("R-MED-4 the value of a handler is printed as the base type of its domain", async () => {
  await api.sql(`
    create domain sea."application/vnd.sea.xml" as xml;
    create domain sea."application/vnd.sea.json" as json;
    create domain sea."application/vnd.sea.code" as char(4);
    create domain sea."application/vnd.sea.bytes" as bytea;
    create function sea.sheet() returns sea."application/vnd.sea.xml" language sql stable as $$ select '<?xml version="1.0" encoding="UTF-8"?><a> é </a>'::xml $$;
    create function sea.standalone() returns sea."application/vnd.sea.xml" language sql stable as $$ select '<?xml version="1.1" encoding="UTF-8" standalone="yes"?><a/>'::xml $$;
    create function sea.no_sheet() returns sea."application/vnd.sea.xml" language sql stable as $$ select null::xml $$;
    create function sea.spaced() returns sea."application/vnd.sea.json" language sql stable as $$ select '{"b" : 1, "b":2}'::json $$;
    create function sea.padded() returns sea."application/vnd.sea.code" language sql stable as $$ select 'ab' $$;
    create function sea.two_bytes() returns sea."application/vnd.sea.bytes" language sql stable as $$ select '\\xff00'::bytea $$;
    create function sea.sheet_step(xml, sea.ports) returns xml language sql stable as $$ select xmlconcat($1, xmlelement(name port, $2.name)) $$;
    create function sea.sheet_end(xml) returns sea."application/vnd.sea.xml" language sql stable as $$ select ('<?xml version="1.0" encoding="UTF-8"?><ports>' || $1::text || '</ports>')::xml $$;
    create aggregate sea.port_sheet(sea.ports) (sfunc = sea.sheet_step, stype = xml, finalfunc = sea.sheet_end);
  `);
  const ownApi = await startApi();
  const body = async (path: string, type: string) => {
    const answer = await ownApi.get(path, { headers: { accept: `application/vnd.sea.${type}` } });
    expect([answer.status, answer.headers["content-type"]]).toEqual([200, `application/vnd.sea.${type}`]);
    return answer.bytes;
  };
  expect(String(await body("/rpc/sheet", "xml"))).toBe("<a> é </a>");
  expect(String(await body("/rpc/standalone", "xml"))).toBe('<?xml version="1.1" standalone="yes"?><a/>');
  expect(String(await body("/rpc/no_sheet", "xml"))).toBe("");
  expect(String(await body("/ports?order=id", "xml"))).toBe("<ports><port>Oslo</port><port>Leith</port></ports>");
  expect(String(await body("/rpc/spaced", "json"))).toBe('{"b" : 1, "b":2}');
  expect(String(await body("/rpc/padded", "code"))).toBe("ab  ");
  expect(await body("/rpc/two_bytes", "bytes")).toEqual(Buffer.from([255, 0]));
});
