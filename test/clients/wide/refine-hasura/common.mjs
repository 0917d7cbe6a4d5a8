/** The checks of @refinedev/hasura, the same for both naming conventions. */
import dataProvider, { liveProvider } from "@refinedev/hasura";
import { GraphQLClient } from "graphql-request";
import { createClient } from "graphql-ws";
import { WebSocket } from "ws";
import { equals, eventually, has, place, rejects } from "../checks.mjs";

export const run = async ({ check, report }, { namingConvention, url, socketUrl, director, exceptions = {} }) => {
  const headers = { "x-hasura-admin-secret": place.secret };
  const options = { namingConvention, idType: "Int" };
  const data = dataProvider(new GraphQLClient(url, { headers }), options);
  const meta = { fields: ["id", "title", "year"] };
  const byId = [{ field: "id", order: "asc" }];
  const listIds = ({ data: rows }) => rows.map(({ id }) => id);
  const where = async (...filters) => listIds(await data.getList({ resource: "films", filters, sorters: byId, meta }));

  await check("getList: a page with the total", async () =>
    has(await data.getList({ resource: "films", meta, sorters: byId, pagination: { currentPage: 2, pageSize: 2 } }), {
      total: 6,
      data: [{ id: 3 }, { id: 4 }],
    }),
  );
  await check("getList: order", async () =>
    equals(
      listIds(
        await data.getList({
          resource: "films",
          meta,
          sorters: [{ field: "year", order: "desc" }],
          pagination: { pageSize: 2 },
        }),
      ),
      [6, 5],
    ),
  );
  await check(
    "getList: order by a relation",
    async () =>
      equals(
        listIds(
          await data.getList({
            resource: "films",
            meta,
            sorters: [{ field: `${director}.name`, order: "asc" }, ...byId],
            pagination: { pageSize: 3 },
          }),
        ),
        [1, 2, 3],
      ),
    exceptions.nestedOrder,
  );
  await check("getList: an embed", async () =>
    has(
      await data.getList({
        resource: "films",
        sorters: byId,
        pagination: { pageSize: 1 },
        meta: { fields: ["id", { [director]: ["name"] }] },
      }),
      { data: [{ [director]: { name: "Agnès Varda" } }] },
    ),
  );
  for (const [operator, field, value, expected] of [
    ["eq", "year", 1954, [4]],
    ["ne", "id", 1, [2, 3, 4, 5, 6]],
    ["lt", "year", 1954, [3]],
    ["lte", "year", 1954, [3, 4]],
    ["gt", "year", 1985, [5, 6]],
    ["gte", "year", 1985, [2, 5, 6]],
    ["in", "id", [1, 5], [1, 5]],
    ["nin", "id", [1, 2, 3, 4], [5, 6]],
    ["contains", "title", "piano", [5]],
    ["ncontains", "title", "a", [1, 6]],
    ["containss", "title", "Piano", [5]],
    ["ncontainss", "title", "o", [4, 6]],
    ["null", "rating", true, [6]],
    ["nnull", "rating", true, [1, 2, 3, 4, 5]],
    ["startswith", "title", "the", [5]],
    ["nstartswith", "title", "the", [1, 2, 3, 4, 6]],
    ["endswith", "title", "SAMURAI", [4]],
    ["startswiths", "title", "Seven", [4]],
    ["nendswiths", "title", "d", [1, 3, 4, 5]],
    ["eq", `${director}.name`, "Jane Campion", [5]],
  ])
    await check(`getList: ${operator} of ${field}`, async () =>
      equals(await where({ field, operator, value }), expected),
    );
  await check("getList: or, and", async () =>
    equals(
      await where({
        operator: "or",
        value: [
          { field: "id", operator: "eq", value: 1 },
          {
            operator: "and",
            value: [
              { field: "year", operator: "gt", value: 1980 },
              { field: "year", operator: "lt", value: 1990 },
            ],
          },
        ],
      }),
      [1, 2],
    ),
  );
  await check("getOne", async () =>
    has(await data.getOne({ resource: "films", id: 4, meta }), { data: { title: "Seven Samurai" } }),
  );
  await check("getMany", async () =>
    equals(listIds(await data.getMany({ resource: "films", ids: [2, 3], meta })).sort(), [2, 3]),
  );
  const fields = { fields: ["id", "name", "born"] };
  await check("create", async () =>
    has(await data.create({ resource: "directors", variables: { id: 95, name: "Jean Vigo" }, meta: fields }), {
      data: { id: 95, name: "Jean Vigo" },
    }),
  );
  await check("createMany", async () =>
    has(
      await data.createMany({
        resource: "directors",
        variables: [
          { id: 96, name: "A" },
          { id: 97, name: "B" },
        ],
        meta: fields,
      }),
      { data: [{ id: 96, name: "A" }, { id: 97 }] },
    ),
  );
  await check("update", async () =>
    has(await data.update({ resource: "directors", id: 95, variables: { born: 1905 }, meta: fields }), {
      data: { id: 95, born: 1905 },
    }),
  );
  await check("updateMany", async () =>
    has(await data.updateMany({ resource: "directors", ids: [96, 97], variables: { born: 1 }, meta: fields }), {
      data: [{ born: 1 }, { born: 1 }],
    }),
  );
  await check("deleteOne", async () =>
    has(await data.deleteOne({ resource: "directors", id: 95, meta: fields }), { data: { id: 95 } }),
  );
  await check("deleteMany", async () =>
    has(await data.deleteMany({ resource: "directors", ids: [96, 97], meta: fields }), {
      data: [{ id: 96 }, { id: 97 }],
    }),
  );
  await check("an error", () =>
    rejects(data.getList({ resource: "films", meta: { fields: ["titel"] } }), { message: /titel/ }),
  );
  const socket = createClient({ url: socketUrl, webSocketImpl: WebSocket, connectionParams: { headers } });
  const live = liveProvider(socket, options);
  const liveRows = async (born, overrides) => {
    const results = [];
    const stop = live.subscribe({
      channel: "resources/directors",
      types: ["*"],
      callback: (rows) => results.push(rows.find(({ id }) => id === 1)?.born),
      params: {
        resource: "directors",
        subscriptionType: "useList",
        meta: fields,
        pagination: { currentPage: 1, pageSize: 5 },
        ...overrides,
      },
    });
    try {
      await eventually(() => equals(results.length, 1), 3000);
      await data.update({ resource: "directors", id: 1, variables: { born }, meta: fields });
      await eventually(() => equals(results.at(-1), born));
    } finally {
      live.unsubscribe(stop);
    }
  };
  await check("live: the provider's subscription brings changes", () => liveRows(1929, {}));
  await check("live: ordered", () => liveRows(1930, { sorters: byId }), exceptions.liveOrder);
  await socket.dispose();
  report();
};
