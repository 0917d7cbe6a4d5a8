/** The preset `plus` adds to the contracts and changes nothing in them. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { fullCompat, plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { initSocket, startLive, subscribe } from "../support/live.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { INTROSPECTION, typeText, type SchemaInput, type SchemaType } from "../support/schema.ts";

/** Tables whose names conflict with those of added fields and types. */
const SPOTS = `
  create table amount_distance (id int primary key); create table day_nearest (id int primary key);
  create table spot (id int primary key, at point, word text, day date, amount int, seen timestamptz, span int4range,
    word_nearest text, word_distance text, near_id int references amount_distance, day_id int references day_nearest,
    _nearest text, _related text);
  create table spot_group_by (id int primary key, spot_id int references spot);
  create table spot_connection (id int primary key, spot_id int references spot);
  create table spot_as_of (id int primary key, spot_id int references spot);
  create table spot_edge (id int primary key, node int references spot, cursor text);
  create table spot_related_input (id int primary key);
  create table numeric_nearest_ordering (id int primary key);
  create schema public_history;
  create table public_history.album (like public.album, sys_period tstzrange);
`;

const allTables = buildMetadataDocument(
  ["artist", "album", "spot", "day_nearest", "specimen", "profile"].map((name) =>
    table(name, {
      select_permissions: permissions({ reader: { columns: "*", filter: {}, allow_aggregations: true } }),
      insert_permissions: permissions({ reader: { columns: "*", check: {} } }),
      update_permissions: permissions({ reader: { columns: "*", filter: {} } }),
      delete_permissions: permissions({ reader: { filter: {} } }),
    }),
  ),
);

/** Every type, field, argument, input field and enum value, with its introspection entry. */
const collectMembers = (types: readonly SchemaType[]): ReadonlyMap<string, string> => {
  const members = new Map<string, string>();
  const addInput = (place: string, { name, type, description, defaultValue }: SchemaInput): void => {
    members.set(`${place}${name}`, JSON.stringify([typeText(type), description, defaultValue]));
  };
  for (const { name: type, kind, description, fields, inputFields, enumValues } of types) {
    members.set(type, JSON.stringify([kind, description]));
    for (const field of fields ?? []) {
      members.set(`${type}.${field.name}`, JSON.stringify([typeText(field.type), field.description]));
      for (const argument of field.args) addInput(`${type}.${field.name}:`, argument);
    }
    for (const input of inputFields ?? []) addInput(`${type}.`, input);
    for (const value of enumValues ?? []) members.set(`${type}.${value.name}`, JSON.stringify(value.description));
  }
  return members;
};

const fetchMembers = async (api: TestApi, role?: string): Promise<ReadonlyMap<string, string>> => {
  const { data } = await api.gql(INTROSPECTION, {}, role === undefined ? {} : { "x-session-role": role });
  return collectMembers(data.__schema.types);
};

test.each(["row-history", "soft-delete"])(
  "P-GEN-3 the plugin %s uses transformPlan and imports only core",
  (plugin) => {
    const folder = fileURLToPath(new URL(`../../plugins/plus/${plugin}/`, import.meta.url));
    const text = readdirSync(folder)
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(folder + name, "utf8"))
      .join("\n");
    expect(text).toContain("hooks.transformPlan");
    const importPaths = [...text.matchAll(/^(?:import (?!type )[^;]*?|\} )from "(\.[^"]+)"/gm)].map(([, from]) => from);
    expect(importPaths).toContain("../../../core/index.ts");
    expect(importPaths.filter((from) => from !== "../../../core/index.ts" && from !== "./settings.ts")).toEqual([]);
  },
);

describe("P-GEN-2 types of the dialect", () => {
  beforeAll(async () => {
    const api = await startApi(forGraphql());
    await api.sql(SPOTS);
    for (const { name } of (await api.sql(
      "select name from pg_available_extensions where name in ('pg_trgm', 'btree_gist', 'cube', 'vector')",
    )) as { name: string }[])
      await api.sql(`create extension if not exists ${name}`);
  });

  const naming = { naming_convention: "graphql-default" };
  test.each<[string, StartOptions, string?]>([
    ["all tables of the schemas", { dbSchemas: ["public", "shop"] }],
    ["metadata, as the administrator", { metadata: allTables }],
    ["metadata, as a role", { metadata: allTables }, "reader"],
    [
      "the naming convention graphql-default",
      { metadata: { ...allTables, sources: [{ ...(allTables["sources"] as any)[0], customization: naming }] } },
    ],
  ])("P-GEN-2 the preset plus only adds to the schema: %s", async (_, options, role) => {
    const [plain, plusSchema] = await Promise.all(
      [fullCompat, plus].map(async (preset) => fetchMembers(await startApi(forGraphql({ ...options, preset })), role)),
    );
    const changedMembers = [...plain!].filter(([member, text]) => plusSchema!.get(member) !== text);
    expect(changedMembers.map(([member, text]) => `${member}: ${text} is ${plusSchema!.get(member)}`)).toEqual([]);
    expect(plusSchema!.size).toBeGreaterThan(plain!.size);
  });

  test("P-GEN-2 a variable with a direction is an order_by for any column", async () => {
    const api = await startApi(forGraphql({ preset: plus }));
    await api.sql("insert into spot (id, amount, word) values (1, 5, 'b'), (2, 7, 'a')");
    const { data, errors } = await api.gql(
      "query ($d: order_by!) { a: spot(order_by: {amount: $d}) { id } b: spot(order_by: {word: $d}) { id } }",
      { d: "desc" },
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({ a: [{ id: 2 }, { id: 1 }], b: [{ id: 1 }, { id: 2 }] });
  });
});

describe("P-GEN-4 live queries", () => {
  const native = {
    native_queries: [
      {
        root_field_name: "names_from",
        arguments: { least: { type: "integer" } },
        code: "select id, name from public.live_name where id >= {{least}}",
        returns: "named",
      },
      {
        root_field_name: "faulty_names",
        arguments: { by: { type: "integer" } },
        code: "select id / {{by}} as id, name from public.live_name",
        returns: "named",
      },
    ],
    logical_models: [
      {
        name: "named",
        fields: [
          { name: "id", type: "integer", nullable: false },
          { name: "name", type: "text", nullable: false },
        ],
        select_permissions: permissions({
          reader: { columns: ["id", "name"], filter: { id: { _lte: "X-Hasura-Upto" } } },
        }),
      },
    ],
  };
  const open = async () => {
    const firstApi = await startApi(forGraphql());
    await firstApi.sql(`
      create table if not exists public.live_name (id int primary key, name text, kind text);
      create schema if not exists public_history;
      create table if not exists public_history.live_name (id int, name text, kind text, valid_from timestamptz not null, valid_to timestamptz);
      truncate public.live_name, public_history.live_name;
      insert into public.live_name values (1, 'a', 'x'), (2, 'b', 'x');
      insert into public_history.live_name values (1, 'a', 'x', '2020-01-01', null)`);
    await firstApi.close();
    return startLive(
      forGraphql({
        preset: plus,
        liveQueryInterval: 20,
        metadata: buildMetadataDocument([table("live_name"), table("studio")], {}, native),
      }),
    );
  };

  test("P-GEN-4 the subscription root has the fields of the query root", async () => {
    const api = await open();
    const { data } = await api.gql(INTROSPECTION);
    const listFields = (type: string) =>
      data.__schema.types
        .find(({ name }: SchemaType) => name === type)
        .fields.map(({ name, type: fieldType, args }: any) => [
          name,
          typeText(fieldType),
          args.map((argument: any) => [argument.name, typeText(argument.type)]),
        ]);
    const fields = listFields("query_root");
    expect(fields.map(([name]: [string]) => name)).toEqual(
      expect.arrayContaining(["live_name_group_by", "live_name_connection", "live_name_as_of", "names_from"]),
    );
    expect(listFields("subscription_root")).toEqual(fields);
    await api.close();
  });

  test.each<[string, string, unknown, unknown]>([
    [
      "groups",
      "live_name_group_by(by: [kind], order_by: {count: desc}) { kind aggregate { count } }",
      [{ kind: "x", aggregate: { count: 2 } }],
      [{ kind: "x", aggregate: { count: 3 } }],
    ],
    [
      "cursor-connections",
      "live_name_connection(last: 1) { nodes { name } pageInfo { hasPreviousPage } }",
      { nodes: [{ name: "b" }], pageInfo: { hasPreviousPage: true } },
      { nodes: [{ name: "c" }], pageInfo: { hasPreviousPage: true } },
    ],
    [
      "rows as they were",
      'live_name_as_of(at: "2024-01-01", order_by: {id: asc}) { name }',
      [{ name: "a" }],
      [{ name: "a" }, { name: "c" }],
    ],
    [
      "native queries",
      "names_from(args: {least: 2}, order_by: {id: asc}) { i: id name __typename }",
      [{ i: 2, name: "b", __typename: "named" }],
      [
        { i: 2, name: "b", __typename: "named" },
        { i: 3, name: "c", __typename: "named" },
      ],
    ],
  ])("P-GEN-4 %s are live", async (_, field, before, after) => {
    const api = await open();
    const socket = await initSocket(api);
    subscribe(socket, "1", `subscription { found: ${field} }`);
    expect(await socket.next()).toMatchObject({ type: "next", payload: { data: { found: before } } });
    await api.sql(
      "insert into public.live_name values (3, 'c', 'x'); insert into public_history.live_name values (3, 'c', 'x', '2021-01-01', null)",
    );
    expect(
      await socket.next(({ payload }) => JSON.stringify(payload.data.found) !== JSON.stringify(before)),
    ).toMatchObject({
      payload: { data: { found: after } },
    });
    await socket.close();
    await api.close();
  });

  test("P-GEN-4 a live native query has the rows of its role and the errors of a query", async () => {
    const api = await open();
    const reader = await initSocket(api, { headers: asAdmin("reader", { upto: "1" }) });
    subscribe(reader, "1", "subscription { names_from(args: {least: 0}) { id } }");
    expect(await reader.next()).toMatchObject({ type: "next", payload: { data: { names_from: [{ id: 1 }] } } });
    const socket = await initSocket(api);
    for (const field of ["faulty_names(args: {by: 0}) { id }", "names_from(args: {least: 1}) { name }"]) {
      await api.sql("insert into public.live_name values (9, null, 'x') on conflict do nothing");
      const plain = await api.gql(`{ ${field} }`);
      expect(plain.errors).toHaveLength(1);
      subscribe(socket, "1", `subscription { ${field} }`);
      expect((await socket.next()).payload).toEqual(plain);
      socket.send({ id: "1", type: "complete" });
    }
    await reader.close();
    await socket.close();
    await api.close();
  });
});
