import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import { generate } from "openapi-typescript-codegen";
import { beforeAll, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, BROWSER, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { bearer } from "../support/tokens.ts";

const api = await startApi();

const TYPE = "application/openapi+json; charset=utf-8";

cases(api, [
  ...["application/openapi+json", "application/json", "*/*", "text/csv, */*;q=0.1"].map((accept) => ({
    title: `R-OAS-1 the root returns the OpenAPI document for ${accept}`,
    request: "GET /",
    headers: { accept },
    status: 200,
    responseHeaders: { "Content-Type": TYPE, "Content-Profile": "sea" },
  })),
  {
    title: "R-OAS-1 the root rejects other media types",
    request: "GET /",
    headers: { accept: "text/csv" },
    status: 406,
    answer: {
      code: "PGRST107",
      details: null,
      hint: null,
      message: "None of these media types are available: text/csv",
    },
  },
  {
    title: "R-OAS-1 HEAD of the root has no body",
    request: "HEAD /",
    status: 200,
    bytes: "",
    responseHeaders: { "Content-Type": TYPE, "Content-Length": null },
  },
  {
    title: "R-OAS-1 the root under the prefix has the base path /api",
    request: "GET /api/",
    status: 200,
    check: (answer) => expect(answer.json().basePath).toBe("/api"),
  },
  {
    title: "R-OAS-1 the root in compatibility mode has the base path /",
    request: "GET /",
    status: 200,
    check: (answer) => expect(answer.json().basePath).toBe("/"),
  },
  {
    title: "R-OAS-1 the profile chooses the described schema",
    request: "GET /",
    headers: { "accept-profile": "land" },
    status: 200,
    check: (answer) =>
      expect(Object.keys(answer.json().paths)).toEqual(["/", "/depots", "/harbours", "/trucks", "/rpc/depot_count"]),
  },
  {
    title: "R-OAS-1 the root rejects other methods",
    request: "POST /",
    body: {},
    status: 405,
    check: (answer) => expect(answer.json().code).toBe("PGRST117"),
  },
  {
    title: "R-OAS-1 the root rejects a role that does not exist",
    request: "GET /",
    role: "nobody_at_all",
    status: 401,
    check: (answer) => expect(answer.json().code).toBe("22023"),
  },
]);

type Document = any; // tests read documents at many depths
let document: Document;

beforeAll(async () => {
  document = (await api.get("/")).json();
});

test("R-OAS-1 the document has the top-level keys of OpenAPI 2.0", () => {
  expect(Object.keys(document)).toEqual([
    "swagger",
    "info",
    "host",
    "basePath",
    "schemes",
    "consumes",
    "produces",
    "externalDocs",
    "paths",
    "definitions",
    "parameters",
  ]);
  const types = [
    "application/json",
    "application/vnd.pgrst.object+json;nulls=stripped",
    "application/vnd.pgrst.object+json",
    "text/csv",
  ];
  expect(document).toMatchObject({
    swagger: "2.0",
    host: `127.0.0.1:${api.port}`,
    basePath: "/",
    schemes: ["http"],
    consumes: types,
    produces: types,
  });
  expect(document.paths["/"]).toEqual({
    get: {
      tags: ["Introspection"],
      summary: "OpenAPI description (this document)",
      produces: ["application/openapi+json", "application/json"],
      responses: { 200: { description: "OK" } },
    },
  });
});

test("R-OAS-2 the document leaves out partitions, functions that cannot be called, and objects without a privilege", () => {
  const paths = Object.keys(document.paths);
  expect(paths).toContain("/soundings");
  for (const absent of [
    "/soundings_2023",
    "/rpc/tidy",
    "/rpc/product",
    "/rpc/write_vessel_card",
    "/rpc/unnamed",
    "/payroll",
    "/captains_log",
    "/rpc/clerks_only",
  ])
    expect(paths).not.toContain(absent);
});

test("R-OAS-2 R-OAS-2a follow-privileges shows the objects that the role has a privilege on", async () => {
  const fetchDocument = async (role: string): Promise<Document> =>
    (await api.get("/", { headers: bearer({ role }) })).json();
  const writeonly = await fetchDocument("sea_writeonly");
  expect(Object.keys(writeonly.definitions)).toEqual(["logbook", "notices", "ports", "vessels"]);
  expect(Object.keys((await fetchDocument("sea_columns")).definitions)).toEqual(["notices", "ports", "vessels"]);
  expect(Object.keys((await fetchDocument("sea_captain")).definitions)).toEqual(["cabins", "captains_log", "notices"]);
  expect((await fetchDocument("sea_clerk")).paths).toHaveProperty("/rpc/clerks_only");
  expect((await api.get("/", { headers: asAdmin() })).json().paths).toHaveProperty("/payroll");
});

test("R-OAS-2 ignore-privileges shows every object", async () => {
  const openApi = await startApi({ openapiMode: "ignore-privileges" });
  const paths = (await openApi.get("/", { headers: bearer({ role: "sea_writeonly" }) })).json().paths;
  expect(paths).toHaveProperty("/payroll");
  expect(paths).toHaveProperty("/rpc/clerks_only");
  expect(paths).not.toHaveProperty("/rpc/unnamed");
});

test("R-PATH-8 a disabled description rejects every method", async () => {
  const disabledApi = await startApi({ openapiMode: "disabled" });
  for (const method of ["GET", "HEAD", "OPTIONS", "POST"])
    expect((await disabledApi.request(method, "/")).status).toBe(404);
  expect((await disabledApi.get("/")).json()).toEqual({
    code: "PGRST126",
    details: null,
    hint: null,
    message: "Root endpoint metadata is disabled",
  });
});

test("R-OAS-1 without the plugin openapi the root is not found", async () => {
  const bareApi = await startApi({ parts: [without("openapi")] });
  expect((await bareApi.get("/")).json().code).toBe("PGRST126");
  expect((await bareApi.get("/", { headers: { accept: "text/html" } })).status).toBe(404);
});

test("R-PATH-8 a root function replaces the description", async () => {
  const ownApi = await startApi({ dbRootSpec: "root" });
  expect((await ownApi.get("/")).json()).toEqual({ root: true });
  expect((await ownApi.post("/", { body: {} })).json()).toEqual({ root: true });
  expect((await ownApi.options("/")).headers["allow"]).toBe("OPTIONS,POST,GET,HEAD");
});

test("R-OAS-3 R-OAS-3a descriptions come from SQL comments", () => {
  expect(document.info).toMatchObject({
    title: "Sea traffic",
    description: "Ships, ports and the people on them.\nAll of it invented.",
    version: expect.any(String),
  });
  const { get, post, patch, delete: remove } = document.paths["/vessels"];
  for (const operation of [get, post, patch, remove])
    expect(operation).toMatchObject({
      tags: ["vessels"],
      summary: "Ships",
      description: "Everything that floats and has a name.",
    });
  expect(document.paths["/ports"].get.summary).toBe("Harbours");
  expect(document.paths["/ports"].get).not.toHaveProperty("description");
  expect(document.paths["/logbook"].get).not.toHaveProperty("summary");
  expect(document.definitions.vessels.description).toBe("Ships\n\nEverything that floats and has a name.");
  expect(document.definitions.vessels.properties.tonnage.description).toBe("Gross tonnage");
  expect(document.parameters["rowFilter.vessels.tonnage"]).toEqual({
    name: "tonnage",
    description: "Gross tonnage",
    required: false,
    in: "query",
    type: "string",
  });
  expect(document.paths["/rpc/fleet_weight"].get).toMatchObject({
    tags: ["(rpc) fleet_weight"],
    summary: "Weight of a fleet",
    description: "Sum of the gross tonnage of the vessels of a port.",
  });
});

test("R-OAS-3 a schema without a comment has the product's title and description", async () => {
  const { info } = (await api.get("/", { headers: { "accept-profile": "land" } })).json();
  expect(info.title).not.toBe("");
  expect(info.description).not.toBe("");
});

test("R-OAS-1a each parameter of a relation has a name of its own, and filters by it", async () => {
  const { parameters } = document.paths["/order"].get;
  const names: string[] = parameters.map(
    ({ $ref }: { $ref: string }) => document.parameters[$ref.split("/").at(-1)!].name,
  );
  expect([...new Set(names)]).toEqual(names);
  expect(names).toEqual(expect.arrayContaining(['"select"', '"limit"', "from", '"or"', '"order"', "order"]));
  for (const name of names.slice(0, 6))
    expect((await api.get(`/order?${encodeURIComponent(name)}=is.null&select=%22order%22`)).status, name).toBe(200);
});

test("R-OAS-1 the document lists the operations of a relation", () => {
  const reference = (name: string) => ({ $ref: `#/parameters/${name}` });
  const filters = ["id", "name", "country"].map((column) => reference(`rowFilter.ports.${column}`));
  expect(document.paths["/ports"]).toMatchObject({
    get: {
      parameters: [
        ...filters,
        ...["select", "order", "range", "rangeUnit", "offset", "limit", "preferCount"].map(reference),
      ],
      responses: {
        200: { description: "OK", schema: { type: "array", items: { $ref: "#/definitions/ports" } } },
        206: { description: "Partial Content" },
      },
    },
    post: {
      parameters: ["body.ports", "select", "preferPost"].map(reference),
      responses: { 201: { description: "Created" } },
    },
    patch: {
      parameters: [...filters, reference("body.ports"), reference("preferReturn")],
      responses: { 204: { description: "No Content" } },
    },
    delete: { parameters: [...filters, reference("preferReturn")], responses: { 204: { description: "No Content" } } },
  });
  expect(Object.keys(document.paths["/all_names"])).toEqual(["get"]);
  expect(Object.keys(document.paths["/port_tonnage"])).toEqual(["get"]);
  // A view that is insertable in one way supports all three.
  expect(Object.keys(document.paths["/vessel_intake"])).toEqual(["get", "post", "patch", "delete"]);
});

test("R-OAS-1 the document lists the shared parameters", () => {
  const { parameters } = document;
  const query = (name: string, description: string) => ({
    name,
    description,
    required: false,
    in: "query",
    type: "string",
  });
  const returns = ["return=representation", "return=minimal", "return=none"];
  const prefer = (values?: string[]) => ({
    name: "Prefer",
    description: "Preference",
    required: false,
    in: "header",
    type: "string",
    ...(values === undefined ? {} : { enum: values }),
  });
  expect(parameters).toMatchObject({
    select: query("select", "Filtering Columns"),
    order: query("order", "Ordering"),
    on_conflict: query("on_conflict", "On Conflict"),
    offset: query("offset", "Limiting and Pagination"),
    limit: query("limit", "Limiting and Pagination"),
    range: { name: "Range", in: "header", type: "string", required: false },
    rangeUnit: { name: "Range-Unit", in: "header", type: "string", required: false, default: "items" },
    preferReturn: prefer(returns),
    preferCount: prefer(["count=none"]),
    preferPost: prefer([...returns, "resolution=ignore-duplicates", "resolution=merge-duplicates"]),
    "body.ports": {
      name: "ports",
      description: "ports",
      required: false,
      in: "body",
      schema: { $ref: "#/definitions/ports" },
    },
  });
  expect(parameters.preferParams).toEqual(prefer());
});

test("R-OAS-1 the document lists the operations of functions", () => {
  const produces = [
    "application/json",
    "application/vnd.pgrst.object+json;nulls=stripped",
    "application/vnd.pgrst.object+json",
  ];
  const { get, post } = document.paths["/rpc/greet"];
  expect(get).toMatchObject({ produces, responses: { 200: { description: "OK" } } });
  expect(get.parameters).toEqual([
    { name: "name", required: false, in: "query", type: "string", format: "text" },
    { name: "greeting", required: false, in: "query", type: "string", format: "text" },
  ]);
  expect(post.parameters).toEqual([
    {
      name: "args",
      required: true,
      in: "body",
      schema: {
        type: "object",
        properties: { name: { type: "string", format: "text" }, greeting: { type: "string", format: "text" } },
      },
    },
    { $ref: "#/parameters/preferParams" },
  ]);
  expect(document.paths["/rpc/fleet_weight"].post.parameters[0].schema).toEqual({
    type: "object",
    description: "Weight of a fleet\n\nSum of the gross tonnage of the vessels of a port.",
    required: ["port"],
    properties: { port: { type: "integer", format: "int32" } },
  });
  expect(Object.keys(document.paths["/rpc/next_number"])).toEqual(["post"]);
  expect(document.paths["/rpc/sum_all"].get.parameters).toEqual([
    {
      name: "numbers",
      required: true,
      in: "query",
      type: "array",
      items: { type: "integer", format: "int32" },
      collectionFormat: "multi",
    },
  ]);
  expect(document.paths["/rpc/sum_list"].get.parameters).toEqual([
    { name: "numbers", required: true, in: "query", type: "string", format: "integer[]" },
  ]);
  expect(document.paths["/rpc/sum_list"].post.parameters[0].schema.properties.numbers).toEqual({
    type: "array",
    format: "integer[]",
    items: { type: "integer" },
  });
  expect(document.paths["/rpc/json_key"].get.parameters[0]).toEqual({
    name: "data",
    required: true,
    in: "query",
    type: "string",
    format: "json",
  });
  expect(document.paths["/rpc/split_name"].post.parameters[0].schema.properties).toEqual({
    full_name: { type: "string", format: "text" },
  });
  expect(document.paths["/rpc/bump"].post.parameters[0].schema.properties).toEqual({
    n: { type: "integer", format: "int32" },
  });
  expect(document.paths["/rpc/find"].get.tags).toEqual(["(rpc) find"]);
});

test("R-OAS-4 columns have the types of OpenAPI", () => {
  const shapes = Object.fromEntries(
    Object.entries<Document>(document.definitions.kinds.properties).map(([name, { type, format, items }]) => [
      name,
      [type, format, ...(items === undefined ? [] : [items])],
    ]),
  );
  expect(shapes).toMatchObject({
    id: ["integer", "int32"],
    c_smallint: ["integer", "int32"],
    c_bigint: ["integer", "int64"],
    c_numeric: ["number", "numeric"],
    c_real: ["number", "real"],
    c_double: ["number", "double precision"],
    c_boolean: ["boolean", "boolean"],
    c_varchar: ["string", "character varying"],
    c_char: ["string", "character"],
    c_bit: ["string", "bit"],
    c_date: ["string", "date"],
    c_timestamptz: ["string", "timestamp with time zone"],
    c_json: [undefined, "json"],
    c_jsonb: [undefined, "jsonb"],
    c_int_list: ["array", "integer[]", { type: "integer" }],
    c_json_list: ["array", "json[]", {}],
    c_rating: ["string", "sea.rating"],
  });
  expect(document.definitions.certificates.properties.rating.enum).toEqual(["ordinary", "able", "master"]);
  expect(document.definitions.certificates.properties.note.maxLength).toBe(20);
  // Domains over pg_catalog show their base type.
  expect(document.definitions.beacons.properties.name).toMatchObject({ type: "string", format: "character varying" });
  // A cast to json may return values of any type.
  expect(document.definitions.paints.properties.shade).toEqual({ format: "integer" });
});

test("R-OAS-4 required lists the columns that may not be null, also by their domain", () => {
  expect(document.definitions.vessels.required).toEqual(["id", "name"]);
  expect(document.definitions.beacons.required).toEqual(["id", "name"]);
  expect(document.definitions.fleet).not.toHaveProperty("required");
  expect(document.definitions.logbook).not.toHaveProperty("required");
});

test("R-OAS-5 the description of a column names its keys", () => {
  const { properties } = document.definitions.vessels;
  expect(properties.id.description).toBe("Note:\nThis is a Primary Key.<pk/>");
  expect(properties.home_port_id.description).toBe(
    "Note:\nThis is a Foreign Key to `ports.id`.<fk table='ports' column='id'/>",
  );
  expect(document.definitions.crew.properties.vessel_id.description).toBe(
    "Note:\nThis is a Primary Key.<pk/>\nThis is a Foreign Key to `vessels.id`.<fk table='vessels' column='id'/>",
  );
  expect(document.definitions.fleet.properties.home_port_id.description).toBe(
    "Note:\nThis is a Foreign Key to `ports.id`.<fk table='ports' column='id'/>",
  );
  expect(document.definitions.moorings.properties.port_id).not.toHaveProperty("description");
});

test("R-OAS-5 the note on keys follows the column's own comment", async () => {
  await api.sql("comment on column sea.registrations.vessel_id is 'Which ship'");
  await api.reload();
  const { properties } = (await api.get("/")).json().definitions.registrations;
  expect(properties.vessel_id.description).toBe(
    "Which ship\n\nNote:\nThis is a Primary Key.<pk/>\nThis is a Foreign Key to `vessels.id`.<fk table='vessels' column='id'/>",
  );
});

test("R-OAS-6 literal defaults of columns are shown", () => {
  const { properties } = document.definitions.certificates;
  expect(properties.points.default).toBe(42);
  expect(properties.renewed.default).toBe(false);
  expect(properties.note.default).toBe("none");
  expect(properties.issued.default).toBe("2020-01-01");
  expect(properties.rating.default).toBe("ordinary");
  expect(properties.grade.default).toBe("b");
  for (const column of ["id", "serial_number", "summary", "sailor_id"])
    expect(properties[column]).not.toHaveProperty("default");
});

test("R-OAS-1 settings add a security scheme and the address of a proxy", async () => {
  const securedApi = await startApi({
    openapiSecurityActive: true,
    openapiServerProxyUri: "https://sea.example/rest/v1",
  });
  const openapi = (await securedApi.get("/")).json();
  expect(openapi).toMatchObject({
    host: "sea.example:443",
    basePath: "/rest/v1",
    schemes: ["https"],
    security: [{ JWT: [] }],
  });
  expect(openapi.securityDefinitions).toEqual({
    JWT: {
      type: "apiKey",
      in: "header",
      name: "Authorization",
      description: 'Add the token prepending "Bearer " (without quotes) to it',
    },
  });
  expect(document).not.toHaveProperty("security");
});

test("R-OAS-1 a validator and a client generator accept the document", async () => {
  // The rules require parameters with duplicate or unusual names, which generators cannot name.
  await api.sql(`drop table sea."order", sea."مو", sea."Deck Plans", sea.t, sea.pennant; drop function sea.quoted`);
  await api.reload();
  const text = (await api.get("/api")).text;
  await SwaggerParser.validate(JSON.parse(text));
  const folder = await mkdtemp(join(tmpdir(), "relapi-client-"));
  try {
    await generate({ input: JSON.parse(text), output: folder, httpClient: "fetch" });
    const models = await readdir(join(folder, "models"));
    expect(models).toContain("vessels.ts");
    expect(await readFile(join(folder, "models", "vessels.ts"), "utf8")).toContain("home_port_id?: number;");
    expect(await readFile(join(folder, "services", "VesselsService.ts"), "utf8")).toContain("url: '/vessels'");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("R-OAS-1 a browser gets a page that loads everything from the same server", async () => {
  const answer = await api.get("/api", { headers: BROWSER });
  expect(answer.status).toBe(200);
  expect(answer.headers["content-type"]).toBe("text/html; charset=utf-8");
  const sources = [...answer.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source as string);
  expect(sources).toHaveLength(4);
  for (const source of sources) {
    expect(source).toMatch(/^\/api\/openapi\/ui\/[a-z0-9.-]+$/);
    const asset = await api.get(source);
    expect([source, asset.status, asset.bytes.length > 100]).toEqual([source, 200, true]);
  }
  expect((await api.get("/api/openapi/ui/page.js")).text).toContain("validatorUrl: null");
  const zippedAnswer = await api.get("/api/openapi/ui/swagger-ui.css", { headers: { "accept-encoding": "gzip" } });
  expect(zippedAnswer.headers["content-encoding"]).toBe("gzip");
});

test("R-OAS-1 the page needs no credentials, and the document does", async () => {
  const authenticatedApi = await startApi({ anonRole: undefined });
  expect((await authenticatedApi.get("/", { headers: BROWSER })).status).toBe(200);
  expect((await authenticatedApi.get("/")).status).toBe(401);
});

test("R-OAS-1 R-SC-4 the page follows a reload of the settings", async () => {
  const keep = (setting: string) =>
    api.sql(
      `do $$ begin execute format('alter role %I in database %I ${setting}', current_user, current_database()); end $$`,
    );
  const ownApi = await startApi();
  const type = async () => (await ownApi.get("/", { headers: BROWSER })).headers["content-type"];
  expect(await type()).toBe("text/html; charset=utf-8");
  try {
    await keep("set pgrst.openapi_mode = ''disabled''");
    await ownApi.reload();
    const answer = await ownApi.get("/", { headers: BROWSER });
    expect([answer.status, answer.json().code]).toEqual([404, "PGRST126"]);
  } finally {
    await keep("reset pgrst.openapi_mode");
  }
  await ownApi.reload();
  expect(await type()).toBe("text/html; charset=utf-8");
});

cases(api, [
  {
    title: "R-OAS-1 in compatibility mode the page is at the root",
    request: "GET /",
    headers: BROWSER,
    responseHeaders: { "Content-Type": "text/html; charset=utf-8" },
  },
  {
    title: "R-OAS-1 an unknown file of the page is 404",
    request: "GET /api/openapi/ui/../../package.json",
    status: 404,
  },
  {
    title: "R-OAS-1 an encoded path to the folder above is 404",
    request: "GET /api/openapi/ui/%2e%2e%2fpackage.json",
    status: 404,
  },
  {
    title: "R-OAS-1 the page takes no path from relations",
    request: "GET /openapi",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST205"),
  },
]);

test("R-OAS-4 R-RPC-8 types are named as declared, without their lengths", async () => {
  await api.sql(`
    create domain sea.short_code as char(4);
    create domain sea.codes as char(2)[];
    create table sea.lengths (a char, b char(3), c bit, d bit(3), e bit varying, f bit varying(4), g varchar, h varchar(7), i "char", j numeric(5,2),
      k char(3)[], l bit(3)[], m bit varying(3)[], n varchar(4)[], o "char"[], p numeric(4,1)[], q timestamp(3), r sea.short_code, s sea.codes, t sea.short_code[]);
    create function sea.take_lengths(a char, b bit(3), c varchar, d "char", e numeric(5,2), f char[], g bit[], h sea.short_code, i sea.codes) returns int language sql stable as 'select 1';
    create function sea.take_codes(variadic codes char[]) returns int language sql stable as 'select 1';
    create function sea.take_bits(variadic bits bit[]) returns int language sql stable as 'select 1';
    create function sea.take_one(a char) returns int language sql stable as 'select 1';
    create function sea.take_one(a bit[]) returns int language sql stable as 'select 1';
    grant select on sea.lengths to sea_anon;
  `);
  const ownApi = await startApi();
  const { definitions, paths } = (await ownApi.get("/")).json();
  const formats = (properties: Document) =>
    Object.fromEntries(
      Object.entries<Document>(properties).map(([name, { format, maxLength }]) => [
        name,
        maxLength === undefined ? format : [format, maxLength],
      ]),
    );
  expect(formats(definitions.lengths.properties)).toEqual({
    a: ["character", 1],
    b: ["character", 3],
    c: ["bit", 1],
    d: ["bit", 3],
    e: "bit varying",
    f: ["bit varying", 4],
    g: "character varying",
    h: ["character varying", 7],
    i: '"char"',
    j: "numeric",
    k: "character[]",
    l: "bit[]",
    m: "bit varying[]",
    n: "character varying[]",
    o: '"char"[]',
    p: "numeric[]",
    q: "timestamp without time zone",
    r: ["character", 4],
    s: "character[]",
    t: "sea.short_code[]",
  });
  const expectedFormats = {
    a: "character",
    b: "bit",
    c: "character varying",
    d: '"char"',
    e: "numeric",
    f: "character[]",
    g: "bit[]",
    h: "short_code",
    i: "codes",
  };
  expect(formats(paths["/rpc/take_lengths"].post.parameters[0].schema.properties)).toEqual(expectedFormats);
  expect(
    Object.fromEntries(paths["/rpc/take_lengths"].get.parameters.map(({ name, format }: Document) => [name, format])),
  ).toEqual(expectedFormats);
  const items = (name: string) => paths[`/rpc/${name}`].get.parameters[0].items.format;
  expect([items("take_codes"), items("take_bits")]).toEqual(["character", "bit"]);
  expect((await ownApi.get("/rpc/take_one?a=x")).json().message).toBe(
    "Could not choose the best candidate function between: sea.take_one(a => character), sea.take_one(a => bit[])",
  );
  // Casts still use types without a length.
  expect((await ownApi.get("/rpc/take_lengths?a=abc&b=10101&c=x&d=y&e=1&f={abc}&g={101}&h=abcd&i={ab}")).json()).toBe(
    1,
  );
});
