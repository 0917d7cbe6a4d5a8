import postgrest from "@raphiniert/ra-data-postgrest";
import { fetchUtils } from "ra-core";
import { client, equals, has, place, rejects } from "../checks.mjs";

const { default: postgrestRestProvider, defaultPrimaryKeys, defaultSchema } = postgrest; // CommonJS
const { check, report } = client("@raphiniert/ra-data-postgrest", import.meta.url);
const httpClient = (url, options = {}) => {
  options.user = { authenticated: true, token: `Bearer ${place.editor}` };
  return fetchUtils.fetchJson(url, options);
};
const config = (apiUrl) => ({
  apiUrl,
  httpClient,
  defaultListOp: "eq",
  primaryKeys: new Map([...defaultPrimaryKeys, ["parts", ["film_id", "actor_id"]]]),
  schema: defaultSchema,
});
const data = postgrestRestProvider(config(`${place.url}/api`));
/** The address ends with a slash, as in the first example of its documentation. */
const documented = postgrestRestProvider(config(`${place.url}/api/`));
const page = { page: 1, perPage: 10 };
const byId = { field: "id", order: "ASC" };
const list = (filter, overrides = {}) => data.getList("films", { pagination: page, sort: byId, filter, ...overrides });
const ids = async (filter) => (await list(filter)).data.map(({ id }) => id);

await check("getList: a page with the total", async () =>
  has(await list({}, { pagination: { page: 2, perPage: 2 } }), { total: 6, data: [{ id: 3 }, { id: 4 }] }),
);
await check("getList: a page past the end", async () => has(await list({ id: 1 }), { total: 1, data: [{ id: 1 }] }));
await check("getList: order", async () =>
  equals((await list({}, { sort: { field: "year", order: "DESC" } })).data[0].id, 6),
);
await check("getList: order, nulls last", async () =>
  equals((await list({}, { sort: { field: "rating", order: "DESC" }, meta: { nullslast: true } })).data[0].id, 4),
);
for (const [name, filter, expected] of [
  ["eq", { year: 1954 }, [4]],
  ["@neq", { "status@neq": "released" }, [6]],
  ["@gt", { "year@gt": 1985 }, [5, 6]],
  ["@ilike", { "title@ilike": "piano" }, [5]],
  ["@like", { "title@like": "Pia" }, [5]],
  ["@in", { "id@in": "(1,5)" }, [1, 5]],
  ["@is", { "rating@is": "null" }, [6]],
  ["@cs", { "tags@cs": "{crime}" }, [3]],
  ["@or", { "@or": { "id@eq": 1, "year@gt": 2000 } }, [1, 6]],
])
  await check(`getList: ${name}`, async () => equals(await ids(filter), expected));
await check("getList: columns", async () =>
  equals((await list({ id: 1 }, { meta: { columns: ["id", "name:title"] } })).data, [
    { id: 1, name: "Cléo from 5 to 7" },
  ]),
);
await check("getList: embed", async () =>
  has((await list({ id: 1 }, { meta: { embed: ["directors"] } })).data, [{ directors: { name: "Agnès Varda" } }]),
);
await check("getList: prefetch", async () =>
  has(await list({ id: 1 }, { meta: { prefetch: ["directors"] } }), {
    meta: { prefetched: { directors: [{ name: "Agnès Varda" }] } },
  }),
);
await check("getList: a function", async () =>
  has(await data.getList("rpc/search_films", { pagination: page, sort: byId, filter: { "words@": "samurai" } }), {
    data: [{ id: 4 }],
  }),
);
await check("getOne", async () => has(await data.getOne("films", { id: 4 }), { data: { title: "Seven Samurai" } }));
await check("getOne: compound key", async () =>
  has(await data.getOne("parts", { id: "[4,3]" }), { data: { part: "Kikuchiyo" } }),
);
await check("getMany", async () =>
  equals((await data.getMany("films", { ids: [2, 3] })).data.map(({ id }) => id).sort(), [2, 3]),
);
await check("getMany: compound keys", async () =>
  has(await data.getMany("parts", { ids: ["[3,3]", "[4,3]"] }), { data: [{ film_id: 3 }, { film_id: 4 }] }),
);
await check("getManyReference", async () =>
  has(
    await data.getManyReference("films", { target: "director_id", id: 2, pagination: page, sort: byId, filter: {} }),
    { total: 2, data: [{ id: 3 }, { id: 4 }] },
  ),
);
await check("create", async () =>
  has(await data.create("directors", { data: { id: 80, name: "Jean Vigo" } }), { data: { id: 80, name: "Jean Vigo" } }),
);
await check("update", async () =>
  has(await data.update("directors", { id: 80, data: { born: 1905 }, previousData: { id: 80, name: "Jean Vigo" } }), {
    data: { id: 80, born: 1905 },
  }),
);
await check("updateMany", async () =>
  equals((await data.updateMany("directors", { ids: [80], data: { born: 1906 } })).data, [80]),
);
await check("update: compound key", async () =>
  has(await data.update("parts", { id: "[5,4]", data: { part: "Ada McGrath" }, previousData: {} }), {
    data: { part: "Ada McGrath" },
  }),
);
await check("delete", async () =>
  has(await data.delete("directors", { id: 80, previousData: { id: 80 } }), { data: { id: 80 } }),
);
await check("deleteMany", async () => {
  await data.create("directors", { data: { id: 81, name: "A" } });
  equals((await data.deleteMany("directors", { ids: [81] })).data, [81]);
});
await check("an error", () =>
  rejects(data.create("directors", { data: { name: "Jane Campion" } }), { status: 409, body: { code: "23505" } }),
);
await check("an unknown table", () => rejects(data.getOne("film", { id: 1 }), { status: 404 }));
await check("the address with a slash at its end: list", async () =>
  has(await documented.getList("films", { pagination: page, sort: byId, filter: { year: 1954 } }), {
    total: 1,
    data: [{ id: 4 }],
  }),
);
await check("the address with a slash at its end: write", async () => {
  has(await documented.create("directors", { data: { id: 82, name: "B" } }), { data: { id: 82 } });
  has(await documented.delete("directors", { id: 82, previousData: { id: 82 } }), { data: { id: 82 } });
});
report();
