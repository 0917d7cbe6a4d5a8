import { isSpecifiedScalarType, printType } from "graphql";
import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { introspect } from "../support/graphql-data.ts";
import { annexSdl, parseTypes } from "./annex.ts";

const api = await startApi(forGraphql());
const schemaText = Object.values((await introspect(api)).getTypeMap())
  .filter((type) => !type.name.startsWith("__") && !isSpecifiedScalarType(type))
  .map(printType)
  .join("\n");
const servedTypes = parseTypes(schemaText);
const annexTypes = parseTypes(annexSdl());

test("G-GEN-4 the annex of the reference has types to compare", () => {
  expect(Object.keys(annexTypes).length).toBeGreaterThan(40);
});

for (const [name, members] of Object.entries(annexTypes)) {
  test(`G-GEN-4 the type ${name} is that of the annex`, () => {
    // The fixture has more tables than the annex: its roots have more fields.
    const sharedMembers = name.endsWith("_root")
      ? (servedTypes[name] ?? []).filter((member) => members.includes(member))
      : servedTypes[name];
    expect(sharedMembers).toEqual(members);
  });
}

test("G-GEN-4 types that no field leads to are absent", () => {
  const absent = [
    "artist_aggregate_bool_exp",
    "artist_aggregate_order_by",
    "artist_avg_order_by",
    "artist_arr_rel_insert_input",
    "album_obj_rel_insert_input",
  ];
  expect(absent.filter((name) => name in servedTypes)).toEqual([]);
});

test("G-ROOT-1 the seven mutations of the annex exist for album", () => {
  const seven = (servedTypes["mutation_root"] ?? []).filter((member) =>
    /^(insert|update|delete)_album(_one|_by_pk|_many)?\(/.test(member),
  );
  expect(seven).toHaveLength(7);
});
