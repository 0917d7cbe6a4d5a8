import { dataProvider } from "@refinedev/supabase";
import { createClient } from "@supabase/supabase-js";
import { WebSocket } from "ws";
import { client, equals, has, place, rejects } from "../checks.mjs";

globalThis.WebSocket ??= WebSocket; // as in supabase-js.mjs
const { check, report } = client("@refinedev/supabase", import.meta.url);
const data = dataProvider(createClient(place.url, place.editor));
const listIds = ({ data: rows }) => rows.map(({ id }) => id);
const where = async (...filters) =>
  listIds(await data.getList({ resource: "films", filters, sorters: [{ field: "id", order: "asc" }] }));

await check("getList: a page with the total", async () =>
  has(
    await data.getList({
      resource: "films",
      pagination: { currentPage: 2, pageSize: 2 },
      sorters: [{ field: "id", order: "asc" }],
    }),
    { total: 6, data: [{ id: 3 }, { id: 4 }] },
  ),
);
await check("getList: order", async () =>
  equals(
    listIds(
      await data.getList({
        resource: "films",
        sorters: [{ field: "year", order: "desc" }],
        pagination: { pageSize: 2 },
      }),
    ),
    [6, 5],
  ),
);
await check("getList: an embed", async () =>
  has(
    await data.getList({
      resource: "films",
      meta: { select: "id, directors(name)" },
      filters: [{ field: "id", operator: "eq", value: 1 }],
    }),
    { data: [{ directors: { name: "Agnès Varda" } }] },
  ),
);
for (const [operator, field, value, expected] of [
  ["eq", "year", 1954, [4]],
  ["ne", "status", "released", [6]],
  ["lt", "year", 1954, [3]],
  ["lte", "year", 1954, [3, 4]],
  ["gt", "year", 1985, [5, 6]],
  ["gte", "year", 1985, [2, 5, 6]],
  ["in", "id", [1, 5], [1, 5]],
  ["nin", "id", "(1,2,3,4)", [5, 6]], // the list in the notation of PostgREST; see below
  ["contains", "title", "piano", [5]],
  ["containss", "title", "Piano", [5]],
  ["null", "rating", null, [6]],
  ["nnull", "director_id", null, [1, 2, 3, 4, 5]],
  ["startswith", "title", "the", [5]],
  ["endswith", "title", "SAMURAI", [4]],
])
  await check(`getList: ${operator}`, async () => equals(await where({ field, operator, value }), expected));
await check(
  "getList: nin of a list",
  async () => equals(await where({ field: "id", operator: "nin", value: [1, 2, 3, 4] }), [5, 6]),
  { exception: "it sends not.in.1,2,3,4, a list without parentheses" },
);
await check(
  "getList: ncontains",
  async () => equals(await where({ field: "title", operator: "ncontains", value: "a" }), [1, 6]),
  { exception: "it sends not.ilike.a, a pattern without %, where contains has it" },
);
await check("getList: or", async () =>
  equals(
    await where({
      operator: "or",
      value: [
        { field: "id", operator: "eq", value: 1 },
        { field: "year", operator: "gt", value: 2000 },
      ],
    }),
    [1, 6],
  ),
);
await check("getOne", async () =>
  has(await data.getOne({ resource: "films", id: 4 }), { data: { title: "Seven Samurai" } }),
);
await check("getMany", async () =>
  equals(listIds(await data.getMany({ resource: "films", ids: [2, 3] })).sort(), [2, 3]),
);
await check("create", async () =>
  has(await data.create({ resource: "directors", variables: { id: 70, name: "Jean Vigo" } }), {
    data: { id: 70, name: "Jean Vigo" },
  }),
);
await check("createMany", async () =>
  has(
    await data.createMany({
      resource: "directors",
      variables: [
        { id: 71, name: "A" },
        { id: 72, name: "B" },
      ],
    }),
    { data: [{ id: 71 }, { id: 72 }] },
  ),
);
await check("update", async () =>
  has(await data.update({ resource: "directors", id: 70, variables: { born: 1905 } }), {
    data: { id: 70, born: 1905 },
  }),
);
await check("updateMany", async () =>
  has(await data.updateMany({ resource: "directors", ids: [71, 72], variables: { born: 1 } }), {
    data: [{ born: 1 }, { born: 1 }],
  }),
);
// Neither method requests the deleted rows.
const countRemaining = async () => (await data.getMany({ resource: "directors", ids: [70, 71, 72] })).data.length;
await check("deleteOne", async () => {
  await data.deleteOne({ resource: "directors", id: 70 });
  equals(await countRemaining(), 2);
});
await check("deleteMany", async () => {
  await data.deleteMany({ resource: "directors", ids: [71, 72] });
  equals(await countRemaining(), 0);
});
await check("an error", () => rejects(data.getList({ resource: "film" }), { message: /Could not find the table/ }));
await check("a broken constraint", () =>
  rejects(data.create({ resource: "directors", variables: { name: "Jane Campion" } }), { message: /duplicate key/ }),
);
report();
