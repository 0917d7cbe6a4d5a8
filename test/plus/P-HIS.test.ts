/** Rows of an earlier time. */
import { describe, expect, test } from "vitest";
import { compose, without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { buildMetadataDocument, object, permissions, table } from "../support/metadata-document.ts";

const database = await testDatabase();
await database.query(`
  create schema shelf;
  create schema shelf_history;
  create table shelf.author (id int primary key, name text, added text);
  create table shelf.book (id int primary key, author_id int references shelf.author, title text, sold int);
  create table shelf.genre (id int primary key, word text);
  create table shelf.shelfmark (id int primary key, book_id int references shelf.book, genre_id int references shelf.genre, mark text);
  create function shelf.shout(a shelf.author) returns text stable language sql as 'select upper(a.name)';
  create table shelf_history.author (id int, name text, secret text default 'HIDDEN', valid_from timestamptz not null, valid_to timestamptz);
  create table shelf_history.book (like shelf.book, valid_from timestamptz not null, valid_to timestamptz);
  create table shelf_history.shelfmark (like shelf.shelfmark, valid_from timestamptz not null, valid_to timestamptz);
  create table shelf_history.genre (like shelf.genre); -- without times
  insert into shelf.author values (1, 'Ann', 'x'), (2, 'Ben', 'y');
  insert into shelf.book values (1, 2, 'New', 30), (2, 1, 'Other', 5);
  insert into shelf.genre values (1, 'art');
  insert into shelf_history.author (id, name, valid_from, valid_to) values
    (1, 'Anne', '2020-01-01', '2022-01-01'), (1, 'Ann', '2022-01-01', null), (2, 'Ben', '2021-01-01', null), (3, 'Cy', '2020-01-01', '2021-01-01');
  insert into shelf_history.book values
    (1, 1, 'Old', 10, '2020-01-01', '2022-01-01'), (1, 2, 'New', 30, '2022-01-01', null), (2, 1, 'Other', 5, '2022-06-01', null);
  insert into shelf_history.shelfmark values (1, 1, 1, 'A1', '2020-01-01', null);
  grant usage on schema shelf, shelf_history to sea_anon, sea_clerk;
  grant select on all tables in schema shelf to sea_anon, sea_clerk;
  grant select on shelf_history.author, shelf_history.book, shelf_history.shelfmark to sea_anon;
`);
const metadata = buildMetadataDocument([
  table("shelf.author", {
    select_permissions: permissions({
      late: { columns: ["id", "name"], filter: { name: { _neq: "Anne" } } },
      whole: { columns: "*", filter: {}, allow_aggregations: true },
      names: { columns: ["name"], filter: {} },
    }),
  }),
  table("shelf.book", {
    object_relationships: [object("author", "author_id")],
    select_permissions: permissions({
      late: { columns: "*", filter: {} },
      whole: { columns: "*", filter: {}, allow_aggregations: true },
    }),
  }),
]);
const settings = { preset: plus, dbSchemas: ["shelf"], dbAggregatesEnabled: true };
const api = await startApi(settings);
const graphqlApi = await startApi(forGraphql({ ...settings, metadata }));
const permissionsApi = await startApi(forGraphql({ ...settings, metadata, metadataPermissionsForRest: true }));
const plainApi = await startApi(
  forGraphql({ ...settings, preset: (options) => compose(plus(options), without("row-history")) }),
);

const fetchAsOf = async (time: string, path: string, headers: Record<string, string> = {}): Promise<any> =>
  (await api.get(path, { headers: { prefer: `as-of=${time}`, ...headers } })).json();

describe("REST", () => {
  test("P-HIS-2 the preference as-of returns the rows of that time", async () => {
    expect(await fetchAsOf("2020-06-01", "/author?order=id")).toEqual([
      { id: 1, name: "Anne" },
      { id: 3, name: "Cy" },
    ]);
    expect(await fetchAsOf("2021-06-01T12:00:00Z", "/author?select=name&order=id")).toEqual([
      { name: "Anne" },
      { name: "Ben" },
    ]);
    expect(await fetchAsOf("2019-01-01", "/author")).toEqual([]);
    expect(await fetchAsOf("2022-01-01T00:00:00Z", "/author?id=eq.1&select=name")).toEqual([{ name: "Ann" }]);
    expect(await fetchAsOf("2021-12-31T23:59:59.5%2B00:00".replace("%2B", "+"), "/author?id=eq.1&select=name")).toEqual(
      [{ name: "Anne" }],
    );
  });

  test("P-HIS-2 the response confirms the preference as-of, and all times share a plan", async () => {
    const answer = await api.get("/author?select=id", { headers: { prefer: "as-of=2020-06-01, count=exact" } });
    expect(answer.headers["preference-applied"]).toBe("count=exact, as-of=2020-06-01");
    expect(answer.headers["content-range"]).toBe("0-1/2");
  });

  test("P-HIS-3 as-of applies to embeds, inner joins, filters, aggregates and spreads", async () => {
    expect(await fetchAsOf("2020-06-01", "/book?select=title,author(name)")).toEqual([
      { title: "Old", author: { name: "Anne" } },
    ]);
    expect(await fetchAsOf("2023-01-01", "/author?select=name,book(title)&order=id")).toEqual([
      { name: "Ann", book: [{ title: "Other" }] },
      { name: "Ben", book: [{ title: "New" }] },
    ]);
    expect(await fetchAsOf("2020-06-01", "/author?select=name,book!inner(sold.sum())")).toEqual([
      { name: "Anne", book: [{ sum: 10 }] },
    ]);
    expect(await fetchAsOf("2020-06-01", "/book?select=title,...author(name)&order=author(name)")).toEqual([
      { title: "Old", name: "Anne" },
    ]);
    expect(await fetchAsOf("2020-06-01", "/shelfmark?select=mark,book(title,author(name)),genre(word)")).toEqual([
      { mark: "A1", book: { title: "Old", author: { name: "Anne" } }, genre: { word: "art" } },
    ]);
  });

  test("P-HIS-4 as-of rejects a function or relation without a history in the same request", async () => {
    expect(await fetchAsOf("2020-06-01", "/author?select=id,shout")).toEqual({
      code: expect.anything(),
      message: "the function shout has no history",
      details: null,
      hint: null,
    });
    expect(await fetchAsOf("2020-06-01", "/shelfmark?select=genre(shelfmark(mark))")).toMatchObject({
      message: "genre has no history",
    });
    expect(await fetchAsOf("2020-06-01", "/author?select=added")).toMatchObject({ code: "42703" });
  });

  test("P-HIS-5 as-of rejects writes, tables without a history and invalid times", async () => {
    const headers = { prefer: "as-of=2020-06-01" };
    expect((await api.get("/genre?select=word", { headers })).json()).toMatchObject({
      message: "genre has no history",
    });
    const rejection = await api.post("/author", { headers, body: { id: 9 } });
    expect([rejection.status, rejection.json().message]).toEqual([400, "a write or a call has no history"]);
    for (const wrong of ["yesterday", "notatime", "1714521600", "", "2020-13-01", "now()", "2020-01-01';--"])
      for (const path of ["/author?select=name&id=eq.1", "/author?select=count()", "/genre", "/rpc/none"]) {
        const answer = await api.get(path, { headers: { prefer: `as-of=${wrong}` } });
        expect([wrong, path, answer.status >= 400 && answer.status < 500]).toEqual([wrong, path, true]);
      }
    expect(await fetchAsOf("yesterday", "/author?select=name&id=eq.1")).toEqual({
      code: "22007",
      message: 'invalid input syntax for type timestamp with time zone: "yesterday"',
      details: null,
      hint: "as-of requires a date or a time in ISO 8601: 2024-05-01, 2024-05-01T12:00Z",
    });
    for (const prefer of ["as-of", "return=representation, as-of", "as-of ,handling=lenient"])
      expect((await api.get("/author?select=name", { headers: { prefer } })).json()).toMatchObject({ code: "22007" });
    expect(await fetchAsOf("yesterday, handling=strict", "/author")).toMatchObject({ code: "22007" });
    expect(await fetchAsOf("2020-02-30", "/author")).toMatchObject({ code: expect.stringMatching(/^22/) });
    expect(await fetchAsOf('"2020-06-01T00:00:00Z"', "/author?select=name&id=eq.1")).toEqual([{ name: "Anne" }]);
  });

  test("P-HIS-1 the history tables are not exposed, and their grants apply", async () => {
    expect(
      await api.get("/author", { headers: { "accept-profile": "shelf_history" } }).then((answer) => answer.status),
    ).toBe(406);
    await api.sql("revoke select on shelf_history.book from sea_anon");
    expect(await fetchAsOf("2020-06-01", "/book")).toMatchObject({ code: "42501" });
    await api.sql("grant select on shelf_history.book to sea_anon");
  });
});

describe("GraphQL", () => {
  test("P-HIS-6 each table with a history has a field with the suffix _as_of", async () => {
    const text = `query($at: timestamptz!) {
      shelf_author_as_of(at: $at, where: {name: {_like: "%n%"}}, order_by: {id: asc}, limit: 5) { id name __typename }
      now: shelf_author(order_by: {id: asc}) { name }
      past: shelf_book_as_of(at: "2023-01-01", where: {author: {name: {_eq: "Ben"}}}) { title author { name } }
    }`;
    const expectedData = (rows: readonly unknown[]) => ({
      data: {
        shelf_author_as_of: rows,
        now: [{ name: "Ann" }, { name: "Ben" }],
        past: [{ title: "New", author: { name: "Ben" } }],
      },
    });
    const ann = (name: string) => ({ id: 1, name, __typename: "shelf_author" });
    expect(await graphqlApi.gql(text, { at: "2020-06-01" })).toEqual(expectedData([ann("Anne")]));
    expect(await graphqlApi.gql(text, { at: "2023-06-01T00:00:00Z" })).toEqual(
      expectedData([ann("Ann"), { id: 2, name: "Ben", __typename: "shelf_author" }]),
    );
    expect((await graphqlApi.gql(text, { at: "soon" })).errors[0].extensions.code).toBe("data-exception");
  });

  test("P-HIS-1 permissions of the table apply to its earlier rows", async () => {
    const text = '{ shelf_author_as_of(at: "2020-06-01", order_by: {name: asc}) { name } }';
    expect(await graphqlApi.gql(text, {}, asAdmin("late"))).toEqual({ data: { shelf_author_as_of: [{ name: "Cy" }] } });
    expect(await graphqlApi.gql(text, {}, asAdmin("names"))).toEqual({
      data: { shelf_author_as_of: [{ name: "Anne" }, { name: "Cy" }] },
    });
    const hiddenColumn = await graphqlApi.gql('{ shelf_author_as_of(at: "2020-06-01") { id } }', {}, asAdmin("names"));
    expect(hiddenColumn.errors[0].message).toBe("field 'id' not found in type: 'shelf_author'");
  });

  test("P-HIS-4 a star returns the columns of the history, for any rights on the table", async () => {
    for (const [api_, role] of [
      [api, undefined],
      [permissionsApi, "whole"],
    ] as const) {
      const headers = { prefer: "as-of=2020-06-01", ...(role && asAdmin(role)) };
      for (const path of ["/author?id=eq.1", "/author?select=*&id=eq.1", "/author?select=id,...book(*)&id=eq.1"]) {
        const answer = await api_.get(path, { headers });
        expect([path, role, answer.status, answer.text.includes("secret")]).toEqual([path, role, 200, false]);
      }
    }
  });

  test("R-NAM-8 a column that only the history has is unknown to roles of the metadata", async () => {
    const ask = async (role: string, path: string, prefer = "as-of=2020-06-01") =>
      permissionsApi.get(path, { headers: { ...asAdmin(role), prefer } });
    for (const role of ["late", "whole"])
      for (const name of ["secret", "valid_from", "valid_to"])
        for (const path of [
          `/author?select=id,${name}`,
          `/author?select=id,x:${name}::text`,
          `/author?select=id&${name}=not.is.null`,
          `/author?select=id&or=(id.eq.1,${name}.not.is.null)`,
          `/author?select=id&order=${name}`,
          `/author?select=id&order=${name}->a`,
          `/book?select=id,author(${name})`,
          `/book?select=id,...author(${name})`,
          `/book?select=id,author!inner()&author.${name}=not.is.null`,
          `/book?select=id,author()&order=author(${name})`,
          ...(role === "whole"
            ? [
                `/author?select=${name}.max()`,
                `/author?select=${name},count()`,
                `/book?select=id,author(${name}.max())`,
              ]
            : []),
        ]) {
          const rejection = await ask(role, path);
          expect([path, rejection.status, rejection.json().code]).toEqual([path, 400, "42703"]);
          expect(rejection.text).not.toContain("HIDDEN");
        }
    const rejection = await ask("whole", "/author?select=secret");
    expect(rejection.json()).toEqual({
      code: "42703",
      message: "column author.secret does not exist",
      details: null,
      hint: null,
    });
    for (const name of ["xmin", "ctid", "tableoid"])
      for (const prefer of ["as-of=2020-06-01", "count=none"])
        expect((await ask("late", `/author?select=id,${name}`, prefer)).json()).toMatchObject({ code: "42501" });
    expect((await ask("whole", "/author?select=id,name&order=id")).json()).toEqual([
      { id: 1, name: "Anne" },
      { id: 3, name: "Cy" },
    ]);
  });

  test("P-GEN-2 without the plugin, and for tables without a history, the field is unknown", async () => {
    const unknown = (name: string) => ({
      errors: [
        {
          message: `field '${name}' not found in type: 'query_root'`,
          extensions: { path: `$.selectionSet.${name}`, code: "validation-failed" },
        },
      ],
    });
    expect(await plainApi.gql('{ shelf_author_as_of(at: "2020-06-01") { id } }')).toEqual(
      unknown("shelf_author_as_of"),
    );
    expect(await graphqlApi.gql('{ shelf_genre_as_of(at: "2020-06-01") { id } }')).toEqual(
      unknown("shelf_genre_as_of"),
    );
    const answer = await plainApi.get("/author?id=eq.1&select=name", { headers: { prefer: "as-of=2020-06-01" } });
    expect(answer.json()).toEqual([{ name: "Ann" }]);
  });
});
