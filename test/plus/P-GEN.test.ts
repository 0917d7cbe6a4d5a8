/** What the preset `plus` leaves as the contracts have it. */
import { beforeAll, describe, expect, test } from "vitest";
import { fullCompat, plus } from "../../presets/index.ts";
import { forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { documentOf, permissions, table } from "../support/metadata-document.ts";
import { INTROSPECTION, typeText, type SchemaInput, type SchemaType } from "../support/schema.ts";

/** Tables whose names could be those of fields and types that plugins add. */
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

const everything = documentOf(
  ["artist", "album", "spot", "day_nearest", "specimen", "profile"].map((name) =>
    table(name, {
      select_permissions: permissions({ reader: { columns: "*", filter: {}, allow_aggregations: true } }),
      insert_permissions: permissions({ reader: { columns: "*", check: {} } }),
      update_permissions: permissions({ reader: { columns: "*", filter: {} } }),
      delete_permissions: permissions({ reader: { filter: {} } }),
    }),
  ),
);

/** Each type, field, argument, input field and enum value, with all that introspection tells of it. */
const membersOf = (types: readonly SchemaType[]): ReadonlyMap<string, string> => {
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

const schemaOf = async (api: TestApi, role?: string): Promise<ReadonlyMap<string, string>> => {
  const { data } = await api.gql(INTROSPECTION, {}, role === undefined ? {} : { "x-session-role": role });
  return membersOf(data.__schema.types);
};

describe("P-GEN-2 the types of the dialect", () => {
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
    ["metadata, as the administrator", { metadata: everything }],
    ["metadata, as a role", { metadata: everything }, "reader"],
    [
      "the naming convention graphql-default",
      { metadata: { ...everything, sources: [{ ...(everything["sources"] as any)[0], customization: naming }] } },
    ],
  ])("P-GEN-2 plus adds, and changes nothing: %s (plus H1)", async (_, options, role) => {
    const [plain, more] = await Promise.all(
      [fullCompat, plus].map(async (preset) => schemaOf(await startApi(forGraphql({ ...options, preset })), role)),
    );
    const changed = [...plain!].filter(([member, text]) => more!.get(member) !== text);
    expect(changed.map(([member, text]) => `${member}: ${text} is ${more!.get(member)}`)).toEqual([]);
    expect(more!.size).toBeGreaterThan(plain!.size);
  });

  test("P-GEN-2 a direction in a variable is an order_by, whatever the column (plus H1)", async () => {
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
