// @runs-also-on postgresql-15-postgis
/**
 * The statements of thirty usual requests, stored beside this file, so that a reviewer sees changes of SQL. `npm test
 * -- statements -u` writes them again.
 */
import { afterAll, expect, test } from "vitest";
import { forGraphql, rolledBack, startApi, type TestApi } from "../support/api.ts";
import { collectMessages } from "../support/logger.ts";

const { logger, lines: statements } = collectMessages("info");
const options = {
  dbAggregatesEnabled: true,
  logQuery: true,
  logger,
};
const rest = await startApi(options);
const graphql = await startApi(forGraphql(options));

afterAll(() => Promise.all([rest.close(), graphql.close()]));

const representation = rolledBack("return=representation");

const REST: readonly (readonly [title: string, ask: (api: TestApi) => Promise<unknown>])[] = [
  ["GET /ports", (api) => api.get("/ports")],
  ["GET /vessels?id=eq.1", (api) => api.get("/vessels?id=eq.1")],
  [
    "GET /vessels?select=name,t:tonnage::text&name=ilike.*a*&tonnage=gte.10&order=name.desc.nullslast&limit=2&offset=1",
    (api) =>
      api.get(
        "/vessels?select=name,t:tonnage::text&name=ilike.*a*&tonnage=gte.10&order=name.desc.nullslast&limit=2&offset=1",
      ),
  ],
  [
    "GET /vessels?or=(id.in.(1,2),not.and(flags.cs.{NO},tonnage.is.null))",
    (api) => api.get("/vessels?or=(id.in.(1,2),not.and(flags.cs.{NO},tonnage.is.null))"),
  ],
  [
    "GET /vessels?select=maker:specs->engine->>maker&specs->engine->>kw=gt.300&order=specs->crew",
    (api) => api.get("/vessels?select=maker:specs->engine->>maker&specs->engine->>kw=gt.300&order=specs->crew"),
  ],
  [
    "GET /ports?select=name,vessels(name,voyages(*))&vessels.order=name&vessels.limit=1",
    (api) => api.get("/ports?select=name,vessels(name,voyages(*))&vessels.order=name&vessels.limit=1"),
  ],
  [
    "GET /vessels?select=name,ports!inner(name)&ports.country=eq.NO",
    (api) => api.get("/vessels?select=name,ports!inner(name)&ports.country=eq.NO"),
  ],
  [
    "GET /vessels?select=name,sailors(name),...registrations(number)&ports=is.null",
    (api) => api.get("/vessels?select=name,sailors(name),...registrations(number),ports()&ports=is.null"),
  ],
  [
    "GET /voyages?select=id,vessels(name)&order=vessels(name)&limit=2",
    (api) => api.get("/voyages?select=id,vessels(name)&order=vessels(name)&limit=2"),
  ],
  [
    "GET /voyages?select=vessel_id,fare.sum(),count()",
    (api) => api.get("/voyages?select=vessel_id,fare.sum(),count()"),
  ],
  [
    "GET /vessels, Prefer: count=exact, limit=1",
    (api) => api.get("/vessels?limit=1", { headers: { prefer: "count=exact" } }),
  ],
  ["GET /vessels, Prefer: count=planned", (api) => api.get("/vessels", { headers: { prefer: "count=planned" } })],
  ["GET /vessels, Accept: text/csv", (api) => api.get("/vessels?select=id,name", { headers: { accept: "text/csv" } })],
  [
    "POST /ports, return=minimal",
    (api) => api.post("/ports", { headers: rolledBack(), body: { name: "A", country: "NO" } }),
  ],
  [
    "POST /vessels?columns=name,tonnage&select=id,ports(name), missing=default",
    (api) =>
      api.post("/vessels?columns=name,tonnage&select=id,ports(name)", {
        headers: rolledBack("return=representation", "missing=default"),
        body: [{ name: "A" }, { name: "B", tonnage: 1 }],
      }),
  ],
  [
    "POST /ports?on_conflict=name, resolution=merge-duplicates",
    (api) =>
      api.post("/ports?on_conflict=name", {
        headers: rolledBack("return=representation", "resolution=merge-duplicates"),
        body: [{ name: "Oslo", country: "SE" }],
      }),
  ],
  [
    "PATCH /vessels?id=eq.1",
    (api) => api.patch("/vessels?id=eq.1&select=id,tonnage", { headers: representation, body: { tonnage: 7 } }),
  ],
  [
    "PUT /ports?id=eq.1",
    (api) => api.put("/ports?id=eq.1", { headers: representation, body: { id: 1, name: "Oslo", country: "NO" } }),
  ],
  ["DELETE /crew?rank=eq.mate", (api) => api.delete("/crew?rank=eq.mate", { headers: rolledBack() })],
  ["GET /rpc/add_numbers?a=1&b=2", (api) => api.get("/rpc/add_numbers?a=1&b=2")],
  [
    "POST /rpc/vessels_of?select=name,ports(name)&order=name",
    (api) => api.post("/rpc/vessels_of?select=name,ports(name)&order=name", { body: { port: 1 } }),
  ],
];

const GRAPHQL: readonly string[] = [
  "{ album_by_pk(id: 1) { id title price } }",
  '{ album(where: {title: {_ilike: "%a%"}, _or: [{live: {_eq: true}}, {sold: {_is_null: true}}]}, order_by: [{sold: desc}, {id: asc}], limit: 2, offset: 1) { id title } }',
  '{ person(where: {sheep: {name: {_like: "D%"}}}) { name passport { number } sheep(order_by: {id: asc}) { name } sheep_aggregate { aggregate { count } } } }',
  "{ album_aggregate(where: {live: {_eq: true}}) { aggregate { count(columns: [price], distinct: true) sum { sold } max { title } } nodes { id } } }",
  "{ album(distinct_on: artist_id, order_by: {artist_id: asc}) { artist_id } }",
  '{ a: artist { stats(path: "label.name") } b: album { id } }',
  '{ search_albums(args: {term: "%a%"}, limit: 1) { title } }',
  'mutation { insert_team(objects: [{name: "A"}, {name: "B"}]) { affected_rows returning { id } } }',
  'mutation { insert_person_one(object: {name: "P", passport: {data: {number: "N"}}, sheep: {data: [{name: "S"}]}}) { id sheep { name } } }',
  'mutation { insert_artist(objects: {name: "Abba", country: "NO"}, on_conflict: {constraint: artist_name_key, update_columns: [country], where: {country: {_neq: "NO"}}}) { affected_rows } }',
  'mutation { update_album(where: {id: {_eq: 1}}, _set: {title: "T"}, _inc: {sold: 1}) { returning { id title } } }',
  "mutation { delete_album_by_pk(id: 1) { id } delete_album(where: {id: {_gt: 4}}) { affected_rows } }",
];

test("R-SQL-1 the statements of usual requests are the reviewed ones", async () => {
  const recordedTexts: string[] = [];
  const record = async (title: string, ask: () => Promise<unknown>): Promise<void> => {
    statements.length = 0;
    await ask();
    recordedTexts.push(`-- ${title}\n${statements.join(";\n")};`);
  };
  for (const [title, ask] of REST) await record(title, () => ask(rest));
  for (const query of GRAPHQL) await record(query, () => graphql.gql(query, {}, { prefer: "tx=rollback" }));
  expect(recordedTexts.filter((text) => text.endsWith("\n;"))).toEqual([]);
  await expect(`${recordedTexts.join("\n\n")}\n`).toMatchFileSnapshot("./statements.sql");
});
