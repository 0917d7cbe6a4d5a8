import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { fetchSchema } from "../support/schema.ts";
import { entry, withMetadata } from "./with-metadata.ts";

const api = await startApi(
  forGraphql({
    dbTxEnd: "rollback",
    parts: [
      withMetadata((model) => ({
        tables: [
          entry(model, "genre", {
            comment: "Kinds of music",
            enumValues: [
              { key: "rock", comment: null },
              { key: "jazz", comment: "swinging" },
              { key: "folk", comment: "plain" },
            ],
          }),
          entry(model, "record"),
          entry(model, "blank_enum"),
        ],
      })),
    ],
  }),
);
const admin = await fetchSchema(api);

test("G-TYP-28 a column that leads to an enum table has its enum type", () => {
  expect(admin.members("record")).toMatchObject({ genre: "genre_enum!", second_genre: "genre_enum" });
  expect(admin.members("record_insert_input")).toMatchObject({ genre: "genre_enum" });
  expect(admin.type("genre_enum").kind).toBe("ENUM");
});

test("G-ENU-5 enum values have the comments of their rows as descriptions", () => {
  expect(admin.values("genre_enum").map((name) => [name, admin.description("genre_enum", name)])).toEqual([
    ["folk", "plain"],
    ["jazz", "swinging"],
    ["rock", null],
  ]);
});

test("G-ENM-2 columns of an enum type have few operators and no max", () => {
  expect(admin.members("genre_enum_comparison_exp")).toEqual({
    _eq: "genre_enum",
    _in: "[genre_enum!]",
    _is_null: "Boolean",
    _neq: "genre_enum",
    _nin: "[genre_enum!]",
  });
  expect(Object.keys(admin.members("record_max_fields"))).toEqual(["id", "title"]);
});

test("G-ENM-3 values are sorted by name", () => {
  expect(admin.values("genre_enum")).toEqual(["folk", "jazz", "rock"]);
});

test("G-ENM-4 the enum table stays a table with a key of type String", () => {
  expect(admin.members("genre")).toMatchObject({ value: "String!", comment: "String" });
  expect(Object.keys(admin.members("query_root"))).toEqual(expect.arrayContaining(["genre", "genre_by_pk"]));
});

test("G-ENM-1 a table that is not declared as enum is an ordinary table", () => {
  expect(admin.has("blank_enum_enum")).toBe(false);
  expect(Object.keys(admin.members("blank_enum"))).toEqual(["value"]);
});

gqlCases(api, [
  {
    title: "G-ENM-2 a filter accepts an enum literal",
    query: "{ record(where: {genre: {_in: [jazz, folk]}}) { title genre second_genre } }",
    data: { record: [{ title: "Blue", genre: "jazz", second_genre: "folk" }] },
  },
  {
    title: "G-ENM-6 G-CON-5 G-CON-6 an unknown enum value is rejected",
    query: "{ record(where: {genre: {_eq: polka}}) { id } }",
    error: {
      message: "expected one of the values ['folk', 'jazz', 'rock'] for type 'genre_enum', but found 'polka'",
      code: "validation-failed",
    },
  },
  {
    title: "G-ENM-6 a string literal is not an enum value",
    query: 'mutation { insert_record_one(object: {genre: "rock"}) { id } }',
    error: { message: "expected an enum value for type 'genre_enum', but found a string", code: "validation-failed" },
  },
]);

test("G-ENM-4 the enum type needs no permission on its table", async () => {
  await api.sql("grant select on record to music_nobody");
  try {
    await api.reload();
    const schema = await fetchSchema(api, "music_nobody");
    expect(schema.members("record").genre).toBe("genre_enum!");
    expect(schema.has("genre")).toBe(false);
  } finally {
    await api.sql("revoke select on record from music_nobody");
    await api.reload();
  }
});

test("G-ENM-5 a value that the schema does not contain is returned unchanged", async () => {
  await api.sql("insert into genre values ('polka'); insert into record (id, genre) values (77, 'polka')");
  try {
    expect(await api.gql("{ record_by_pk(id: 77) { genre } }")).toEqual({ data: { record_by_pk: { genre: "polka" } } });
  } finally {
    await api.sql("delete from record where id = 77; delete from genre where value = 'polka'");
  }
});
