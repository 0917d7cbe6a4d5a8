import { expect } from "vitest";
import { plus } from "../../presets/index.ts";
import { startApi, type Answer } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const ariel = {
  id: 1,
  name: "Ariel",
  tonnage: 853,
  home_port_id: 1,
  specs: { engine: { maker: "Burmeister", kw: 550 }, crew: 24, tags: ["a", "b"] },
  flags: ["PA", "NO"],
};
const failure = (code: string, message: unknown = expect.any(String)) => ({
  check: (answer: { json(): unknown }) => expect(answer.json()).toMatchObject({ code, message }),
});

cases(api, [
  {
    title: "R-SEL-1 select accepts aliases, casts and JSON paths",
    request: "GET /vessels?select=id,called:name,tonnage::text,specs->engine->>maker&id=eq.1",
    answer: [{ id: 1, called: "Ariel", tonnage: "853", maker: "Burmeister" }],
  },
  { title: "R-SEL-1 without select all columns are returned", request: "GET /vessels?id=eq.1", answer: [ariel] },
  { title: "R-SEL-1 an empty select returns all columns", request: "GET /vessels?select=&id=eq.1", answer: [ariel] },
  { title: "R-SEL-1 a star selects all columns", request: "GET /vessels?select=*&id=eq.1", answer: [ariel] },
  {
    title: "R-SEL-1 a select of only embeds returns only their keys",
    request: "GET /vessels?select=ports(name)&id=eq.1",
    answer: [{ ports: { name: "Oslo" } }],
  },
  {
    title: "R-SEL-1 a select of only empty embeds returns no keys",
    request: "GET /vessels?select=ports()&id=eq.1",
    answer: [{}],
  },
  {
    title: "R-SEL-1 an unknown column is the database's error",
    request: "GET /vessels?select=rigging",
    status: 400,
    ...failure("42703", "column vessels.rigging does not exist"),
  },
  {
    title: "R-SEL-2 a column beside a star appears twice",
    request: "GET /ports?select=*,name&id=eq.1",
    bytes: '[{"id":1,"name":"Oslo","country":"NO","name":"Oslo"}]',
  },
  {
    title: "R-SEL-2 a star may be beside embeds",
    request: "GET /ports?select=*,vessels(name)&id=eq.2",
    answer: [{ id: 2, name: "Leith", country: "GB", vessels: [] }],
  },
  {
    title: "R-SEL-2 a star does not include computed fields",
    request: "GET /ports?select=*&id=eq.1",
    answer: [{ id: 1, name: "Oslo", country: "NO" }],
  },
  {
    title: "R-SEL-2 a star with an alias is rejected",
    request: "GET /ports?select=id,a:*",
    status: 400,
    ...failure("PGRST100"),
  },
  {
    title: "R-SEL-3 an alias renames the key",
    request: "GET /ports?select=harbour:name&id=eq.1",
    answer: [{ harbour: "Oslo" }],
  },
  {
    title: "R-SEL-3 filters and orders use the column's name",
    request: "GET /ports?select=harbour:name&name=neq.x&order=name",
    answer: [{ harbour: "Leith" }, { harbour: "Oslo" }],
  },
  {
    title: "R-SEL-3 a filter by an alias is rejected",
    request: "GET /ports?select=harbour:name&harbour=eq.Oslo",
    status: 400,
    ...failure("42703"),
  },
  {
    title: "R-SEL-3 the alias is the header of the CSV column",
    request: "GET /ports?select=harbour:name&id=eq.1",
    headers: { accept: "text/csv" },
    bytes: "harbour\nOslo",
  },
  {
    title: "R-SEL-4 a cast changes the type of a column",
    request: "GET /vessels?select=tonnage::text,big:tonnage::int8&id=eq.1",
    answer: [{ tonnage: "853", big: 853 }],
  },
  {
    title: "R-SEL-4 a cast to an unknown type is rejected",
    request: "GET /vessels?select=tonnage::knots",
    status: 400,
    ...failure("42704", 'type "knots" does not exist'),
  },
  {
    title: "R-SEL-4 a value that the cast cannot convert is rejected",
    request: "GET /vessels?select=name::int",
    status: 400,
    ...failure("22P02"),
  },
  {
    title: "R-SEL-4 a cast in a filter is ignored",
    request: "GET /vessels?tonnage::text=eq.853&select=id",
    status: 200,
    answer: [{ id: 1 }],
  },
  {
    title: "R-SEL-5 one arrow returns JSON, and a double arrow returns text",
    request: "GET /vessels?select=a:specs->crew,b:specs->>crew&id=eq.1",
    answer: [{ a: 24, b: "24" }],
  },
  {
    title: "R-SEL-5 the last key of a JSON path is the key of the result",
    request: "GET /vessels?select=specs->engine->kw,specs->tags->>0&id=eq.1",
    answer: [{ kw: 550, tags: "a" }],
  },
  {
    title: "R-SEL-5 a path of only indexes has the key of its column",
    request: "GET /vessels?select=flags->0&id=eq.1",
    answer: [{ flags: "PA" }],
  },
  {
    title: "R-SEL-6 JSON paths read fields of composite columns",
    request: "GET /beacons?select=lat:pos->lat,pos->>lon&id=eq.1",
    answer: [{ lat: 59.9, lon: "10.7" }],
  },
  {
    title: "R-SEL-6 JSON paths read items of array columns",
    request: "GET /beacons?select=c:cells->1->2,last:cells->-1->0,lamps->0->lat&id=eq.1",
    answer: [{ c: 6, last: 4, lat: 1 }],
  },
  {
    title: "R-SEL-6 JSON paths read columns of type json",
    request: "GET /kinds?select=c_json->z,t:c_json->>a&id=eq.1",
    answer: [{ z: 3, t: "2" }],
  },
  {
    title: "R-SEL-6 JSON paths read arrays within composite columns",
    request: "GET /vessels?select=dims->deck->1,dims->>length&id=eq.1",
    answer: [{ deck: 2, length: "85" }],
  },
  {
    title: "R-SEL-6 JSON paths read columns of other types with arrow operators",
    request: "GET /kinds?select=x:c_hstore->>depth&id=eq.1",
    answer: [{ x: "12" }],
  },
  {
    title: "R-SEL-7 an arrow after ->> is rejected",
    request: "GET /vessels?select=specs->>engine->maker",
    status: 404,
    ...failure("42883"),
  },
  {
    title: "R-SEL-8 fields come in the order of select, followed by embeds",
    request: "GET /vessels?select=ports(name),tonnage,crew(rank),id&id=eq.2",
    bytes: '[{"tonnage":402,"id":2,"ports":{"name":"Oslo"},"crew":[{"rank":"captain"}]}]',
  },
  {
    title: "R-SEL-9 select applies to representations",
    request: "PATCH /ports?id=eq.1&select=name",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { country: "SE" },
    status: 200,
    answer: [{ name: "Oslo" }],
  },
  {
    title: "R-SEL-9 select applies to the rows of functions",
    request: "GET /rpc/vessels_of?port=1&select=name",
    answer: [{ name: "Ariel" }, { name: "Fram" }],
  },
  {
    title: "R-SEL-9 a write without a body rejects a select that does not parse",
    request: "PATCH /ports?id=eq.0&select=name,",
    body: { country: "SE" },
    status: 400,
    ...failure("PGRST100"),
  },
  {
    title: "R-SEL-9 a write without a body ignores an unknown column in select",
    request: "PATCH /ports?id=eq.0&select=nothing",
    body: { country: "SE" },
    status: 204,
  },
  {
    title: "R-SEL-10 an embed may be written with !left",
    request: "GET /vessels?select=name,ports!left(name)&id=eq.3",
    answer: [{ name: "Gjoa", ports: null }],
  },
  {
    title: "R-SEL-10 hint and join type of an embed may have any order",
    request:
      "GET /voyages?select=id,origin:ports!inner!origin_id(name),target:ports!destination_id!inner(name)&id=eq.1",
    answer: [{ id: 1, origin: { name: "Oslo" }, target: { name: "Leith" } }],
  },
  {
    title: "R-SEL-10 the first of !left!inner applies",
    request: "GET /vessels?select=name,ports!left!inner(name)&id=eq.3",
    answer: [{ name: "Gjoa", ports: null }],
  },
  {
    title: "R-SEL-10 the first of !inner!left applies",
    request: "GET /vessels?select=name,ports!inner!left(name)&id=eq.3",
    answer: [],
  },
  {
    title: "R-SEL-10 the first of two embed hints applies",
    request: "GET /voyages?select=ports!origin_id!destination_id(name)&id=eq.1",
    answer: [{ ports: { name: "Oslo" } }],
  },
  {
    title: "R-SEL-10 three words after an embed are rejected",
    request: "GET /voyages?select=ports!inner!origin_id!left(name)&id=eq.1",
    status: 400,
    ...failure("PGRST100"),
  },
  {
    title: "R-SEL-10 the first of !inner!left on a spread applies",
    request: "GET /vessels?select=name,...ports!inner!left(country)&id=eq.3",
    answer: [],
  },
  {
    title: "R-SEL-10 a word that only begins like a join type is an error",
    request: "GET /vessels?select=ports!leftover(name)",
    status: 400,
    ...failure("PGRST100"),
  },
  {
    title: "R-SEL-10 a quoted word after an embed is a hint",
    request: 'GET /vessels?select=ports!"leftover"(name)',
    status: 400,
    check: (answer) => expect(answer.json().details).toContain("using the hint 'leftover'"),
  },
]);

const ownApi = await startApi({
  compatMode: false,
  preset: plus,
  restPrefixes: ["/"],
  dbAggregatesEnabled: true,
});
const representation = { prefer: "return=representation, tx=rollback" };

const ALL_AND_EMPTY = `[{"id":1,"name":"Oslo","country":"NO","":"Oslo"}]`;

cases(ownApi, [
  ...(
    [
      ["of a path", 'GET /vessels?select=id,specs->engine->>""&id=eq.1', '[{"id":1,"":null}]'],
      ["beside all columns", 'GET /ports?select=*,"":name&id=eq.1', ALL_AND_EMPTY],
      [
        "beside all columns in an embed",
        'GET /vessels?select=ports(*,"":name)&id=eq.1',
        `[{"ports":${ALL_AND_EMPTY.slice(1, -1)}}]`,
      ],
      [
        "of a spread in an embed",
        'GET /voyages?select=vessels(id,...ports("":name))&id=eq.1',
        '[{"vessels":{"id":1,"":"Oslo"}}]',
      ],
      ["of an alias", 'GET /vessels?select="":name,id&id=eq.1', '[{"":"Ariel","id":1}]'],
      ["of a group", 'GET /vessels?select="":home_port_id,count()&order="".desc&limit=1', '[{"":null,"count":1}]'],
      ["in an embed", 'GET /vessels?select=ports("":name,id)&id=eq.1', '[{"ports":{"":"Oslo","id":1}}]'],
      ["of an embed", 'GET /vessels?select=id,"":ports(name)&id=eq.1', '[{"id":1,"":{"name":"Oslo"}}]'],
      ["of a function", 'GET /rpc/all_vessels?select="":name&id=eq.1', '[{"":"Ariel"}]'],
      ["of a write", 'PATCH /vessels?select="":name&id=eq.1', '[{"":"New"}]'],
    ] as const
  ).map(([what, request, bytes]) => ({
    title: `R-SEL-5 an empty name is accepted as key ${what}`,
    request,
    bytes,
    ...(request.startsWith("PATCH") && { headers: representation, body: { name: "New" } }),
  })),
  ...(
    [
      ["application/vnd.pgrst.object+json", '{"":"Ariel","id":1}'],
      ["application/vnd.pgrst.array+json;nulls=stripped", '[{"":"Ariel","id":1}]'],
      ["application/x-ndjson", '{"":"Ariel","id":1}\n'],
      ["text/csv", ",id\nAriel,1"],
    ] as const
  ).map(([accept, bytes]) => ({
    title: `R-SEL-5 an empty name is accepted as key in ${accept}`,
    request: 'GET /vessels?select="":name,id&id=eq.1',
    headers: { accept },
    bytes,
  })),
  ...[
    ["an alias", (name: string) => `/vessels?select=${name}:id&limit=1`],
    ["two of them", (name: string) => `/vessels?select=${name}1:id,${name}2:name`],
    ["an embed", (name: string) => `/vessels?select=id,${name}:ports(id)&limit=1`],
    ["inside an embed", (name: string) => `/vessels?select=id,ports(${name}:id)&id=eq.1`],
    ["a spread", (name: string) => `/vessels?select=id,...ports(${name}:id)&limit=1`],
    ["a key of a path", (name: string) => `/vessels?select=specs->${name}&limit=1`],
    ["an aggregate", (name: string) => `/vessels?select=${name}:count()`],
    ["a function", (name: string) => `/rpc/all_vessels?select=${name}:id`],
    ["what a write returns", (name: string) => `/vessels?select=${name}:id&id=eq.1`],
  ]
    .map(([what, path]) => ({ what: what as string, path: path as (name: string) => string }))
    .flatMap(({ what, path }) => {
      const method = what.startsWith("what") ? "DELETE" : "GET";
      const name = "é".repeat(30);
      return [
        {
          title: `R-SEL-11 a name above 63 bytes is rejected: ${what}`,
          request: `${method} ${path(`${name}long`)}`,
          headers: representation,
          status: 400,
          check: (answer: Answer) =>
            expect(answer.json()).toMatchObject({
              code: "42622",
              message: expect.stringMatching(/^The name "é{20}…" is longer than 63 bytes$/),
              hint: "Give it an alias of at most 63 bytes: alias:name",
            }),
        },
        ...(what === "two of them"
          ? []
          : [
              {
                title: `R-SEL-11 a name of 63 bytes is accepted: ${what}`,
                request: `${method} ${path(`${name}abc`)}`,
                headers: representation,
                check: (answer: Answer) => expect(answer.text).toContain(`"${name}abc":`),
              },
            ]),
      ];
    }),
]);

cases(api, [
  {
    title: "R-SEL-11 in compatibility mode a long alias is truncated as PostgreSQL truncates it",
    request: `GET /vessels?select=${"x".repeat(80)}:id&id=eq.1`,
    bytes: `[{"${"x".repeat(63)}":1}]`,
  },
]);
