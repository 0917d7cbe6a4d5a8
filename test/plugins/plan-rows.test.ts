/**
 * The parts of row rules in plugins: conditions on rows, notes on reads, relations of hidden schemas, fields of rows.
 */
import { GraphQLInt } from "graphql";
import { expect, test } from "vitest";
import {
  findColumn,
  buildColumnComparison,
  definePlugin,
  mapPlan,
  RelApiError,
  restrictRows,
  Stage,
  type Relation,
} from "../../core/index.ts";
import type { GqlFieldContext, GqlFields } from "../../plugins/graphql/api.ts";
import { asAdmin, startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";

const database = await testDatabase();
await database.query(`
  create schema zoo;
  create schema zoo_archive;
  create table zoo.keeper (id int primary key, name text unique, rank int not null);
  create table zoo.animal (id int primary key, keeper_id int references zoo.keeper, name text, rank int not null);
  create function zoo.animals_of(k zoo.keeper) returns setof zoo.animal stable language sql as
    'select * from zoo.animal where keeper_id = k.id';
  create table zoo_archive.keeper (id int primary key, name text, rank int not null);
  insert into zoo.keeper values (1, 'Ann', 1), (2, 'Ben', 1), (3, 'Cy', 9);
  insert into zoo.animal values (1, 1, 'Ape', 1), (2, 1, 'Bat', 9), (3, 2, 'Cat', 9), (4, 3, 'Dog', 1);
  insert into zoo_archive.keeper values (7, 'Old', 1), (8, 'Older', 9);
  grant usage on schema zoo, zoo_archive to sea_anon;
  grant all on all tables in schema zoo to sea_anon;
`);

const isRanked = (relation: Relation): boolean => findColumn(relation, "rank") !== undefined;

/** Rows of rank 9 are secret. `keeper_archived(atLeast: 1)` reads the archive. */
const ranks = definePlugin({
  name: "ranks",
  stage: Stage.late,
  hiddenSchemas: (exposedSchemas) => exposedSchemas.map((schema) => `${schema}_archive`),
  apply: (hooks) => {
    hooks.transformPlan.tap("ranks", (plan, { model }) => {
      const restrictedPlan = restrictRows(plan, model, (relation, way) => {
        if (way?.routine !== undefined)
          throw new RelApiError({
            code: "no-way",
            status: 403,
            message: `not from ${way.from.name} by ${way.routine.name}`,
          });
        return isRanked(relation) ? buildColumnComparison("rank", "lt", { operand: { constant: "9" } }) : undefined;
      });
      return mapPlan(restrictedPlan, model, {
        read: (read) => {
          const leastId = read.notes?.["ranks"];
          if (leastId === undefined) return read;
          const where = buildColumnComparison("id", "gte", { operand: leastId });
          return {
            ...read,
            from: { relation: { schema: "zoo_archive", name: "keeper" } },
            where: read.where === undefined ? where : { kind: "and", predicates: [where, read.where] },
          };
        },
      });
    });
    hooks.buildGqlField.tap("ranks", (fields: GqlFields, { scope, build }: GqlFieldContext) => {
      const keeper = build.table({ schema: "zoo", name: "keeper" });
      const field =
        scope === "query_root" && keeper !== undefined
          ? build.rowsField(keeper, {
              description: "keepers of old",
              args: { atLeast: { type: GraphQLInt } },
              transformRead: (read, { argument }) => ({
                ...read,
                notes: { ranks: argument("atLeast", "int4") ?? { constant: "0" } },
              }),
            })
          : undefined;
      return field === undefined ? fields : { ...fields, keeper_archived: field };
    });
  },
});

const metadata = buildMetadataDocument([
  table("zoo.keeper", {
    array_relationships: [
      {
        name: "animals",
        using: { foreign_key_constraint_on: { table: { schema: "zoo", name: "animal" }, column: "keeper_id" } },
      },
    ],
    select_permissions: permissions({ named: { columns: ["name"], filter: { name: { _neq: "Older" } } } }),
  }),
  table("zoo.animal", {}),
]);
const settings = { dbSchemas: ["zoo"], dbAggregatesEnabled: true, parts: [ranks] };
const api = await startApi(settings);
const graphql = await startApi({ ...settings, metadata });

const get = async (path: string): Promise<unknown> => (await api.get(path)).json();

test("X-ROW-1 the condition applies to every use of the rows", async () => {
  expect(await get("/keeper?select=name,animal(name)&order=id")).toEqual([
    { name: "Ann", animal: [{ name: "Ape" }] },
    { name: "Ben", animal: [] },
  ]);
  expect(await get("/animal?select=name,keeper(name)&order=id")).toEqual([
    { name: "Ape", keeper: { name: "Ann" } },
    { name: "Dog", keeper: null },
  ]);
  expect(await get("/keeper?select=name,animal!inner()&order=id")).toEqual([{ name: "Ann" }]);
  expect(await get("/animal?select=count()")).toEqual([{ count: 2 }]);
  const document = `{ zoo_keeper(where: {animals: {name: {_neq: "x"}}}) { name }
    most: zoo_keeper(order_by: {animals_aggregate: {count: desc}}, limit: 1) { name }
    zoo_animal_aggregate { aggregate { count max { rank } } } }`;
  expect(await graphql.gql(document)).toEqual({
    data: {
      zoo_keeper: [{ name: "Ann" }],
      most: [{ name: "Ann" }],
      zoo_animal_aggregate: { aggregate: { count: 2, max: { rank: 1 } } },
    },
  });
});

test("X-ROW-1 writes change no other rows, and return the rows that they have written", async () => {
  const headers = { prefer: "return=representation, tx=rollback" };
  expect((await api.patch("/keeper?id=gte.2&select=name", { headers, body: { rank: 10 } })).json()).toEqual([
    { name: "Ben" },
  ]);
  expect((await api.delete("/animal?select=id", { headers })).json()).toEqual([{ id: 1 }, { id: 4 }]);
  expect((await api.post("/animal?select=id", { headers, body: { id: 9, rank: 9 } })).json()).toEqual([{ id: 9 }]);
  const upsert = { prefer: "return=representation, resolution=merge-duplicates, tx=rollback" };
  const body = [
    { id: 1, name: "Anna", rank: 1 },
    { id: 3, name: "Cyd", rank: 1 },
  ];
  expect((await api.post("/keeper?select=id", { headers: upsert, body })).json()).toEqual([{ id: 1 }]);
});

test("X-ROW-1 the rule is called for functions that lead to the rows, and may reject the plan", async () => {
  expect(await get("/keeper?select=animals_of(name)")).toMatchObject({ message: "not from keeper by animals_of" });
});

test("X-ROW-2 X-GQL-11 notes of a read arrive with their values", async () => {
  const text = "query($n: Int) { keeper_archived(atLeast: $n, order_by: {id: asc}) { id name } }";
  expect(await graphql.gql(text, { n: 1 })).toEqual({ data: { keeper_archived: [{ id: 7, name: "Old" }] } });
  expect(await graphql.gql(text, { n: 8 })).toEqual({ data: { keeper_archived: [] } });
  expect(await graphql.gql("{ keeper_archived(where: {id: {_gt: 7}}) { id } }")).toEqual({
    data: { keeper_archived: [] },
  });
});

test("X-GQL-11 roles have the field with the columns and rows of their permission, or not at all", async () => {
  expect(await graphql.gql("{ keeper_archived { name } }", {}, asAdmin("named"))).toEqual({
    data: { keeper_archived: [{ name: "Old" }] },
  });
  expect((await graphql.gql("{ keeper_archived { id } }", {}, asAdmin("named"))).errors[0].message).toBe(
    "field 'id' not found in type: 'zoo_keeper'",
  );
  expect((await graphql.gql("{ keeper_archived { id } }", {}, asAdmin("other"))).errors[0].message).toContain(
    "field 'keeper_archived' not found",
  );
});

test("X-ROW-3 no name in a request reaches a hidden schema", async () => {
  expect((await api.get("/keeper", { headers: { "accept-profile": "zoo_archive" } })).status).toBe(406);
  expect((await graphql.gql("{ zoo_archive_keeper { id } }")).errors[0].message).toContain("not found");
  const rest = (await api.get("/")).text;
  expect(rest).not.toContain("zoo_archive");
});
