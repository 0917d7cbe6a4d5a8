import { createRequire } from "node:module";
import { client, equals, has, place, rejects } from "../checks.mjs";

const { check, report } = client("ra-data-hasura", import.meta.url);
const require = createRequire(import.meta.url); // the whole package is CommonJS
const { default: buildHasuraProvider } = require("ra-data-hasura");
const { ApolloClient, InMemoryCache, gql } = require("@apollo/client");

const apollo = new ApolloClient({
  uri: place.graphqlUrl,
  cache: new InMemoryCache(),
  headers: { "x-hasura-admin-secret": place.secret },
});
const data = await buildHasuraProvider({ client: apollo });
const page = { page: 1, perPage: 10 };
const byId = { field: "id", order: "ASC" };
const list = (filter, overrides = {}) => data.getList("films", { pagination: page, sort: byId, filter, ...overrides });
const ids = async (filter) => (await list(filter)).data.map(({ id }) => id);

await check("introspection finds the resources", async () =>
  has((await data.getOne("directors", { id: 1 })).data, { id: 1, name: "Agnès Varda" }),
);
await check("getList: a page with the total", async () =>
  has(await list({}, { pagination: { page: 2, perPage: 2 } }), { total: 6, data: [{ id: 3 }, { id: 4 }] }),
);
await check("getList: order", async () =>
  equals((await list({}, { sort: { field: "year", order: "DESC" } })).data[0].id, 6),
);
await check("getList: order by several", async () =>
  equals((await list({}, { sort: { field: "status,year", order: "ASC,DESC" } })).data.map(({ id }) => id)[0], 6),
);
await check("getList: order by a relation", async () =>
  equals(
    (await list({ director_id: 3 }, { sort: { field: "director.name", order: "ASC" } })).data.map(({ id }) => id),
    [5],
  ),
);
for (const [name, filter, expected] of [
  ["equal", { year: 1954 }, [4]],
  ["ids", { ids: [1, 5] }, [1, 5]],
  ["@_gt", { "year@_gt": 1985 }, [5, 6]],
  ["@_lte", { "year@_lte": 1954 }, [3, 4]],
  ["@_neq", { "status@_neq": "released" }, [6]],
  ["@_ilike", { "title@_ilike": "piano" }, [5]],
  ["@_like", { "title@_like": "Rash" }, [3]],
  ["@_in", { "id@_in": [2, 3] }, [2, 3]],
  ["@_is_null", { "rating@_is_null": true }, [6]],
  ["of a relation", { "director#name@_ilike": "varda" }, [1, 2]],
  ["of a JSON document", { details: { format: "hasura-raw-query", value: { _contains: { colour: true } } } }, [2, 5]],
]) {
  await check(`getList: ${name}`, async () => equals(await ids(filter), expected));
}
await check("getOne", async () =>
  has((await data.getOne("films", { id: 4 })).data, {
    title: "Seven Samurai",
    year: 1954,
    tags: ["action", "drama"],
    details: { minutes: 207 },
  }),
);
await check("getMany", async () =>
  equals((await data.getMany("films", { ids: [2, 3] })).data.map(({ id }) => id).sort(), [2, 3]),
);
await check("getManyReference", async () =>
  has(
    await data.getManyReference("films", { target: "director_id", id: 2, pagination: page, sort: byId, filter: {} }),
    { total: 2, data: [{ id: 3 }, { id: 4 }] },
  ),
);
await check("create", async () =>
  has((await data.create("directors", { data: { id: 90, name: "Jean Vigo" } })).data, { id: 90, name: "Jean Vigo" }),
);
await check("create with a document", async () =>
  has(
    (
      await data.create("films", {
        data: { id: 90, title: "L'Atalante", year: 1934, director_id: 90, details: { minutes: 89 }, tags: ["drama"] },
      })
    ).data,
    { id: 90, title: "L'Atalante" },
  ),
);
await check("update", async () =>
  has(
    (
      await data.update("directors", {
        id: 90,
        data: { id: 90, name: "Jean Vigo", born: 1905 },
        previousData: { id: 90, name: "Jean Vigo", born: null },
      })
    ).data,
    { id: 90, born: 1905 },
  ),
);
await check("updateMany", async () => {
  has((await data.updateMany("films", { ids: [90], data: { year: 1935 } })).data, [90]);
  equals(await ids({ year: 1935 }), [90]);
});
await check("delete", async () =>
  has((await data.delete("films", { id: 90, previousData: { id: 90 } })).data, { id: 90 }),
);
await check("deleteMany", async () => {
  has((await data.deleteMany("directors", { ids: [90] })).data, [90]);
});
await check("an error of the database", () =>
  rejects(data.create("directors", { data: { name: "Jane Campion" } }), { message: /Uniqueness violation/ }),
);
await check("a row that is not there", async () => equals(await ids({ ids: [99] }), []));
await check("another query beside it", async () => {
  const { data: queryData } = await apollo.query({
    query: gql`
      {
        films_aggregate {
          aggregate {
            count
          }
        }
      }
    `,
  });
  has(queryData, { films_aggregate: { aggregate: { count: 6 } } });
});
report();
