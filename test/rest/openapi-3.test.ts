/** The OpenAPI 3.1 document. test/clients/openapi-typescript.test.ts tests generated clients. */
import SwaggerParser from "@apidevtools/swagger-parser";
import { describe, expect, test } from "vitest";
import { definePlugin, without } from "../../core/index.ts";
import { describeAdditionsHook } from "../../plugins/rest/api.ts";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { bearer } from "../support/tokens.ts";

const OPENAPI_3 = { accept: "application/openapi+json;version=3.1" };

const api = await startApi({ compatMode: false, restPrefixes: ["/api", "/rest/v1"] });
const compatApi = await startApi();
const disabledApi = await startApi({ openapiMode: "disabled" });
const bareApi = await startApi({ parts: [without("openapi-3")] });
const securedApi = await startApi({
  openapiMode: "ignore-privileges",
  openapiSecurityActive: true,
  openapiServerProxyUri: "https://shop.example/data",
});

const describedApi = await startApi({
  parts: [
    definePlugin({
      name: "described",
      requires: ["rest"],
      preferences: [
        { name: "tone", values: ["loud"], example: "tone=loud" },
        { name: "pace", values: ["slow"], example: "pace=slow" },
      ],
      apply: (_hooks, { use }) =>
        use(describeAdditionsHook).tap("described", ({ readParameters, paths }) => ({
          readParameters: { ...readParameters, near: "A place", name: "A column of ports" },
          paths: { ...paths, "/tides": { get: { responses: {} } }, "/ports": { get: { summary: "not this" } } },
        })),
    }),
  ],
});

const document = (await api.get("/api/openapi.json")).json();

const isThree = (answer: { json(): any }): void => expect(answer.json().openapi).toBe("3.1.0");
const isTwo = (answer: { json(): any }): void => expect(answer.json().swagger).toBe("2.0");

cases(api, [
  ...["/api/openapi.json", "/rest/v1/openapi.json", "/openapi.json"].map((path) => ({
    title: `R-OAS-7 ${path} is an OpenAPI 3.1 document`,
    request: `GET ${path}`,
    responseHeaders: { "content-type": "application/json; charset=utf-8" },
    check: isThree,
  })),
  {
    title: "R-OAS-7 the root returns OpenAPI 3.1 by Accept",
    request: "GET /api",
    headers: OPENAPI_3,
    responseHeaders: { "content-type": "application/openapi+json;version=3.1; charset=utf-8" },
    check: isThree,
  },
  ...["*/*", "application/json", "application/openapi+json", "application/openapi+json;version=2.0"].map((accept) => ({
    title: `R-OAS-7 the root returns OpenAPI 2.0 for ${accept}`,
    request: "GET /api",
    headers: { accept },
    check: isTwo,
  })),
  { title: "R-OAS-7 HEAD of the document has no body", request: "HEAD /api/openapi.json", status: 200, bytes: "" },
  {
    title: "R-OAS-7 the profile chooses the described schema",
    request: "GET /api/openapi.json",
    headers: { "accept-profile": "land" },
    check: (answer) => expect(Object.keys(answer.json().paths)).not.toContain("/ports"),
  },
  {
    title: "R-OAS-7 a profile that is not exposed is rejected",
    request: "GET /api/openapi.json",
    headers: { "accept-profile": "nowhere" },
    status: 406,
    check: (answer) => expect(answer.json().code).toBe("PGRST106"),
  },
]);
cases(compatApi, [
  {
    title: "R-OAS-7 the root returns OpenAPI 3.1 by Accept in compatibility mode",
    request: "GET /",
    headers: OPENAPI_3,
    check: isThree,
  },
]);
cases(disabledApi, [
  {
    title: "R-OAS-7 R-OAS-7a the document is not found if the description is disabled",
    request: "GET /api/openapi.json",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST126"),
  },
]);
cases(bareApi, [
  {
    title: "R-OAS-7 without the plugin openapi-3 the root returns OpenAPI 2.0",
    request: "GET /",
    headers: OPENAPI_3,
    check: isTwo,
  },
  {
    title: "R-OAS-7 without the plugin openapi-3 the path of the document is an unknown relation",
    request: "GET /api/openapi.json",
    status: 404,
    check: (answer) => expect(answer.json().code).toBe("PGRST205"),
  },
]);

describe("the document", () => {
  test("R-OAS-7 a validator accepts the document", async () => {
    const copy = structuredClone((await securedApi.get("/api/openapi.json")).json());
    await expect(SwaggerParser.validate(copy)).resolves.toMatchObject({ openapi: "3.1.0" });
    expect(copy.servers).toEqual([{ url: "https://shop.example/data" }]);
    expect(copy.components.securitySchemes.JWT.scheme).toBe("bearer");
  });

  test("R-OAS-7 servers names the root of the request", async () => {
    const serverAt = async (path: string, headers = {}) => (await api.get(path, { headers })).json().servers[0].url;
    expect(await serverAt("/api/openapi.json")).toBe("/api");
    expect(await serverAt("/rest/v1/openapi.json")).toBe("/rest/v1");
    expect(await serverAt("/openapi.json")).toBe("/api");
    expect(await serverAt("/rest/v1", OPENAPI_3)).toBe("/rest/v1");
  });

  test("R-OAS-7 R-OAS-7a the document leaves out paths that the role may not use", async () => {
    const fetchPaths = async (role: string) =>
      Object.keys((await api.get("/api/openapi.json", { headers: bearer({ role }) })).json().paths);
    const [clerk, ghost] = [await fetchPaths("sea_clerk"), await fetchPaths("sea_ghost")];
    expect(clerk).toEqual(expect.arrayContaining(["/ports", "/rpc/fleet_weight"]));
    expect(ghost).not.toContain("/ports");
  });

  test("R-OAS-7 the document leaves out the functions of extensions", async () => {
    await api.sql("alter extension pg_trgm set schema sea");
    await api.sql("create function sea.of_our_own() returns int language sql as 'select 1'");
    await api.sql("grant all on all functions in schema sea to sea_clerk");
    await api.reload();
    const headers = bearer({ role: "sea_clerk" });
    const openapi3Paths = Object.keys((await api.get("/api/openapi.json", { headers })).json().paths);
    const swaggerPaths = Object.keys((await api.get("/api", { headers })).json().paths);
    expect(swaggerPaths).toContain("/rpc/show_limit");
    expect(openapi3Paths).toContain("/rpc/of_our_own");
    expect(openapi3Paths).not.toContain("/rpc/show_limit");
  });

  test("R-OAS-8 R-OAS-8a the document describes the rows of reads, inserts and updates", () => {
    const { ports, "ports.insert": insert, "ports.update": update } = document.components.schemas;
    expect(ports.required).toEqual(Object.keys(ports.properties).filter((name) => ports.required.includes(name)));
    expect(ports.properties.id.type).toBe("integer");
    expect(ports.properties.vessels).toEqual({ type: "array", items: { $ref: "#/components/schemas/vessels" } });
    expect(insert.required).toEqual(expect.arrayContaining(["name"]));
    expect(update.required).toBeUndefined();
  });

  test("R-OAS-8 R-OAS-8b filters have the operators of the preset", () => {
    const filters = document.paths["/ports"].get.parameters.map(({ $ref }: { $ref: string }) => $ref.split("/").pop()!);
    expect(filters).toEqual(expect.arrayContaining(["filter.ports.0", "select", "limit"]));
    const { schema, name } = document.components.parameters["filter.ports.0"];
    expect(name).toBe("id");
    const pattern = new RegExp(schema.pattern);
    for (const good of ["eq.1", "not.in.(1,2)", "eq(any).{1,2}", "wfts(english).x"]) expect(good).toMatch(pattern);
    for (const bad of ["1", "equals.1", "eq"]) expect(bad).not.toMatch(pattern);
  });

  test("R-OAS-8 the document describes the arguments and results of functions", () => {
    const { get, post } = document.paths["/rpc/fleet_weight"];
    expect(get.parameters).toEqual([
      { name: "port", in: "query", required: expect.any(Boolean), schema: { type: "integer" } },
    ]);
    expect(post.requestBody.content["application/json"].schema.properties.port.type).toEqual(["integer", "null"]);
    expect(get.responses["200"].content["application/json"].schema.type).toContain("integer");
  });

  test("R-OAS-8 names with other characters get valid component names", () => {
    expect(document.paths).toHaveProperty(["/Deck Plans"]);
    expect(document.components.schemas).toHaveProperty("Deck_Plans");
  });
});

describe("additions of plugins", async () => {
  const { paths, components } = (await describedApi.get("/api/openapi.json")).json();
  const isNamed = (path: string, parameter: string): boolean =>
    paths[path].get.parameters.some(({ $ref }: { $ref: string }) => $ref === `#/components/parameters/${parameter}`);

  test("X-OAS-1 plugins add parameters of reads, except those with the name of a column", () => {
    expect(components.parameters.near).toEqual({
      name: "near",
      in: "query",
      description: "A place",
      schema: { type: "string" },
    });
    expect(isNamed("/ports", "near")).toBe(true);
    expect(isNamed("/ports", "name")).toBe(false);
  });

  test("X-OAS-1 plugins add paths, except those of relations", () => {
    expect(paths["/tides"]).toEqual({ get: { responses: {} } });
    expect(paths["/ports"].get.summary).not.toBe("not this");
  });

  test("X-OAS-1a plugins add sorted examples of preferences", () => {
    expect(components.parameters.prefer.description).toMatch(/^`pace=slow`, `tone=loud`, /);
  });
});
