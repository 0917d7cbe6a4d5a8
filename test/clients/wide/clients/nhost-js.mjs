import { createNhostClient, withAdminSession } from "@nhost/nhost-js";
import { client as createChecks, has, place, rejects } from "../checks.mjs";

const { check, report } = createChecks("@nhost/nhost-js", import.meta.url);
const admin = createNhostClient({
  graphqlUrl: place.graphqlUrl,
  configure: [withAdminSession({ adminSecret: place.secret })],
});
const asEditor = createNhostClient({
  graphqlUrl: place.graphqlUrl,
  configure: [withAdminSession({ adminSecret: place.secret, role: "clients_editor" })],
});
const anyone = createNhostClient({ graphqlUrl: place.graphqlUrl });
const body = async (query, variables, nhost = admin) => (await nhost.graphql.request({ query, variables })).body;

await check("a query", async () =>
  has(await body("query ($id: Int!) { films_by_pk(id: $id) { title } }", { id: 3 }), {
    data: { films_by_pk: { title: "Rashomon" } },
  }),
);
await check("without a session", async () =>
  has(await body("{ films_by_pk(id: 3) { title } }", {}, anyone), { data: { films_by_pk: { title: "Rashomon" } } }),
);
await check("filters, order, page and total", async () =>
  has(
    await body(
      "{ films(where: {year: {_gt: 1960}}, order_by: {year: asc}, limit: 1) { id director { name } } films_aggregate(where: {year: {_gt: 1960}}) { aggregate { count } } }",
    ),
    { data: { films: [{ id: 1, director: { name: "Agnès Varda" } }], films_aggregate: { aggregate: { count: 4 } } } },
  ),
);
await check("a role of the secret", async () =>
  has(await body('mutation { insert_directors_one(object: {id: 60, name: "Vigo"}) { name } }', {}, asEditor), {
    data: { insert_directors_one: { name: "Vigo" } },
  }),
);
await check("upsert", async () =>
  has(
    await body(
      'mutation { insert_directors_one(object: {id: 60, name: "Jean Vigo"}, on_conflict: {constraint: directors_pkey, update_columns: [name]}) { name } }',
    ),
    { data: { insert_directors_one: { name: "Jean Vigo" } } },
  ),
);
await check("update and delete", async () =>
  has(
    await body(
      "mutation { update_directors_by_pk(pk_columns: {id: 60}, _set: {born: 1905}) { born } delete_directors_by_pk(id: 60) { id } }",
    ),
    { data: { update_directors_by_pk: { born: 1905 }, delete_directors_by_pk: { id: 60 } } },
  ),
);
await check("a function", async () =>
  has(await body('{ search_films(args: {words: "piano"}) { id } }'), { data: { search_films: [{ id: 5 }] } }),
);
await check("an error of the document", () =>
  rejects(body("{ films { titel } }"), { body: { errors: [{ extensions: { code: "validation-failed" } }] } }),
);
await check("an error of the database", () =>
  rejects(body('mutation { insert_directors_one(object: {name: "Jane Campion"}) { id } }'), {
    message: /Uniqueness violation/,
  }),
);
await check("a caller without rights", () =>
  rejects(body("mutation { delete_films_by_pk(id: 1) { id } }", {}, anyone), { message: /mutation/ }),
);
report();
