/** Deleted rows stay in the table. */
import { describe, expect, test } from "vitest";
import { compose, without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { buildMetadataDocument, object, permissions, table } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";
import { testDatabase } from "../support/database.ts";

const database = await testDatabase();
await database.query(`
  create schema shelf;
  create table shelf.author (id int primary key, name text, deleted_at timestamptz);
  create table shelf.book (id int primary key, author_id int references shelf.author, title text, sold int, deleted_at timestamp);
  create table shelf.tag (id int primary key, word text, deleted_at text);
  create table shelf.book_tag (book_id int references shelf.book, tag_id int references shelf.tag, deleted_at date, primary key (book_id, tag_id));
  create table shelf.label (id int primary key, word text, deleted_at text);
  create table shelf.tag_label (tag_id int references shelf.tag, label_id int references shelf.label, deleted_at text, primary key (tag_id, label_id));
  create function shelf.books_of(author int) returns setof shelf.book stable language sql as 'select * from shelf.book where author_id = author';
  insert into shelf.author values (1, 'Ann', null), (2, 'Ben', null), (3, 'Cy', '2020-01-01');
  insert into shelf.book values (1, 1, 'A', 10, null), (2, 1, 'B', 20, null), (3, 2, 'C', 30, null), (4, 2, 'D', 40, '2020-01-01'), (5, 3, 'E', 50, null);
  insert into shelf.tag values (1, 'red', 'x'), (2, 'blue', 'y');
  insert into shelf.label values (1, 'old', 'x');
  insert into shelf.tag_label values (1, 1, 'x');
  insert into shelf.book_tag values (1, 1, null), (2, 1, '2020-01-01');
  grant usage on schema shelf to sea_anon;
  grant all on all tables in schema shelf to sea_anon;
`);
const settings = { preset: plus, dbSchemas: ["shelf"], dbAggregatesEnabled: true };
const api = await startApi({ ...settings, softDeleteColumn: "deleted_at" });
const plainApi = await startApi({ ...settings, preset: (options) => compose(plus(options), without("soft-delete")) });

const metadata = buildMetadataDocument([
  table("shelf.author", {
    array_relationships: [
      {
        name: "books",
        using: { foreign_key_constraint_on: { table: { schema: "shelf", name: "book" }, column: "author_id" } },
      },
    ],
    select_permissions: permissions({ reader: { columns: ["id", "name"], filter: {}, allow_aggregations: true } }),
  }),
  table("shelf.book", {
    object_relationships: [object("author", "author_id")],
    select_permissions: permissions({
      reader: { columns: ["id", "title"], filter: {}, allow_aggregations: true },
      editor: { columns: "*", filter: {} },
    }),
    delete_permissions: permissions({ editor: { filter: { sold: { _gt: 10 } } } }),
  }),
]);
const graphqlApi = await startApi(forGraphql({ ...settings, metadata, softDeleteColumn: "deleted_at" }));

const ids = async (path: string): Promise<unknown> =>
  (await api.get(path)).json().map(({ id }: { readonly id: number }) => id);

describe("reads", () => {
  test("P-DEL-1 deleted rows are hidden at the root, in counts, ranges and functions", async () => {
    expect(await ids("/author?select=id&order=id")).toEqual([1, 2]);
    expect(await ids("/book?select=id&order=id&author_id=eq.2")).toEqual([3]);
    const countAnswer = await api.get("/book?select=id&limit=1", { headers: { prefer: "count=exact" } });
    expect(countAnswer.headers["content-range"]).toBe("0-0/4");
    expect(await ids("/rpc/books_of?author=2&select=id")).toEqual([3]);
    expect((await api.get("/book?select=sold.sum(),id.count()")).json()).toEqual([{ sum: 110, count: 4 }]);
  });

  test("P-DEL-1 deleted rows are hidden in embeds, spreads, related orders and null filters", async () => {
    expect((await api.get("/author?select=id,book(id)&order=id")).json()).toEqual([
      { id: 1, book: [{ id: 1 }, { id: 2 }] },
      { id: 2, book: [{ id: 3 }] },
    ]);
    expect((await api.get("/book?select=id,author(name)&id=eq.5")).json()).toEqual([{ id: 5, author: null }]);
    expect(await ids("/book?select=id,author!inner()&order=author(name).desc,id")).toEqual([3, 1, 2]);
    expect(await ids("/author?select=id,book!inner()&book.id=eq.4")).toEqual([]);
    expect((await api.get("/book?select=id,...author(name)&id=eq.5")).json()).toEqual([{ id: 5, name: null }]);
  });

  test("P-DEL-1 a column of the configured name that is not a time has no effect", async () => {
    expect(await ids("/tag?select=id&order=id")).toEqual([1, 2]);
    expect(
      (await api.delete("/tag?id=eq.2", { headers: { prefer: "tx=rollback, return=representation" } })).json(),
    ).toEqual([{ id: 2, word: "blue", deleted_at: "y" }]);
  });

  test("P-DEL-3 a junction with the column gives no many-to-many relationship", async () => {
    expect((await api.get("/book?select=id,tag(word)")).json()).toMatchObject({ code: "PGRST200" });
    expect((await api.get("/book?select=id,book_tag(...tag(word))&id=lt.3&order=id")).json()).toEqual([
      { id: 1, book_tag: [{ word: "red" }] },
      { id: 2, book_tag: [] },
    ]);
    expect((await plainApi.get("/book?select=id,tag(word)&id=eq.2")).json()).toEqual([
      { id: 2, tag: [{ word: "red" }] },
    ]);
  });

  test("P-DEL-3 a junction whose column is not a time gives a many-to-many relationship", async () => {
    expect((await api.get("/tag?select=id,label(word)&id=eq.1")).json()).toEqual([{ id: 1, label: [{ word: "old" }] }]);
  });

  test("P-DEL-1 deleted rows are hidden in lists, keys, aggregates, conditions and orders of GraphQL", async () => {
    const { data } = await graphqlApi.gql(`{
      shelf_author(order_by: {id: asc}) { id books(order_by: {id: asc}) { id } books_aggregate { aggregate { count sum { sold } } } }
      shelf_author_by_pk(id: 3) { id }
      all: shelf_book_aggregate { aggregate { count } }
      some: shelf_author(where: {books: {sold: {_gte: 40}}}) { id }
      many: shelf_author(where: {books_aggregate: {count: {predicate: {_gte: 2}}}}) { id }
      ordered: shelf_author(order_by: {books_aggregate: {sum: {sold: desc}}}) { id }
      lost: shelf_book(where: {id: {_eq: 5}}) { author { name } }
    }`);
    expect(data).toEqual({
      shelf_author: [
        { id: 1, books: [{ id: 1 }, { id: 2 }], books_aggregate: { aggregate: { count: 2, sum: { sold: 30 } } } },
        { id: 2, books: [{ id: 3 }], books_aggregate: { aggregate: { count: 1, sum: { sold: 30 } } } },
      ],
      shelf_author_by_pk: null,
      all: { aggregate: { count: 4 } },
      some: [],
      many: [{ id: 1 }],
      ordered: expect.arrayContaining([{ id: 1 }, { id: 2 }]),
      lost: [{ author: null }],
    });
  });
});

describe("writes", () => {
  test("P-DEL-2 DELETE sets the time once and returns the row", async () => {
    await api.sql("insert into shelf.book values (21, 1, 'X', 1)");
    const answer = await api.delete("/book?id=in.(4,21)&select=id,deleted_at", {
      headers: { prefer: "return=representation, count=exact" },
    });
    expect([answer.status, answer.json()]).toEqual([200, [{ id: 21, deleted_at: expect.stringMatching(/^20\d\d-/) }]]);
    expect(answer.headers["content-range"]).toBe("*/1");
    expect((await api.delete("/book?id=eq.21")).status).toBe(204);
    const [row] = await api.sql(
      "select deleted_at > localtimestamp - interval '1 minute' as is_now from shelf.book where id = 21",
    );
    expect(row).toEqual({ is_now: true });
    await api.sql("delete from shelf.book where id = 21");
  });

  test("P-DEL-2 the time of a deletion is that of its transaction", async () => {
    await api.sql("insert into shelf.book values (31, 1, 'X', 1), (32, 1, 'Y', 1)");
    await api.delete("/book?id=eq.31");
    await api.delete("/book?id=eq.32");
    const [row] = await api.sql("select count(distinct deleted_at)::int as times from shelf.book where id in (31, 32)");
    expect(row).toEqual({ times: 2 });
    await api.sql("delete from shelf.book where id in (31, 32)");
  });

  test("P-DEL-4 updates and upserts leave deleted rows unchanged", async () => {
    const headers = { prefer: "return=representation, resolution=merge-duplicates" };
    expect((await api.patch("/book?id=eq.4", { headers, body: { title: "Z", deleted_at: null } })).json()).toEqual([]);
    expect((await api.post("/book", { headers, body: { id: 4, title: "Z" } })).json()).toEqual([]);
    expect(await api.sql("select title from shelf.book where id = 4")).toEqual([{ title: "D" }]);
  });

  test("P-DEL-7 a PUT of a deleted row is a conflict that names the reason", async () => {
    const putAuthor = (id: number, body: object) =>
      api.put(`/author?id=eq.${id}`, { headers: { prefer: "tx=rollback" }, body });
    const deletedAnswer = await putAuthor(3, { id: 3, name: "New" });
    expect([deletedAnswer.status, deletedAnswer.json()]).toEqual([
      409,
      {
        code: "row-deleted",
        message: "The row with this key is deleted",
        details: null,
        hint: "A caller who sees deleted rows can restore it.",
      },
    ]);
    expect((await putAuthor(2, { id: 1, name: "New" })).json().code).toBe("PGRST115");
    expect((await putAuthor(3, { id: 1, name: "New" })).json().code).toMatch(/PGRST115|row-deleted/);
    expect((await putAuthor(2, { id: 2, name: "New" })).status).toBeLessThan(300);
    expect(await api.sql("select name from shelf.author where id = 3")).toEqual([{ name: "Cy" }]);
  });

  test("P-DEL-7 a PUT of a row whose column is not a time is never the PUT of a deleted row", async () => {
    const answer = await api.put("/label?id=eq.1", {
      headers: { prefer: "tx=rollback" },
      body: { id: 2, word: "new" },
    });
    expect([answer.status, answer.json().code]).toEqual([400, "PGRST115"]);
  });

  test("P-DEL-2 GraphQL deletes softly by the permission to delete", async () => {
    await api.sql("insert into shelf.book values (41, 1, 'X', 11), (42, 1, 'Y', 5)");
    const text = "mutation { delete_shelf_book(where: {id: {_in: [41, 42]}}) { affected_rows returning { id } } }";
    const rejection = await graphqlApi.gql(text, {}, asAdmin("reader"));
    expect(rejection.errors[0].message).toBe("no mutations exist");
    expect(await graphqlApi.gql(text, {}, asAdmin("editor"))).toEqual({
      data: { delete_shelf_book: { affected_rows: 1, returning: [{ id: 41 }] } },
    });
    expect(await graphqlApi.gql("mutation { delete_shelf_book_by_pk(id: 42) { title } }")).toEqual({
      data: { delete_shelf_book_by_pk: { title: "Y" } },
    });
    expect(await api.sql("select id from shelf.book where id > 40 and deleted_at is not null order by id")).toEqual([
      { id: 41 },
      { id: 42 },
    ]);
    await api.sql("delete from shelf.book where id > 40");
  });

  test("P-DEL-5 a deleted row disappears from a live query", async () => {
    await api.sql("insert into shelf.book values (51, 1, 'X', 1)");
    const socket = await openSocket(graphqlApi);
    await socket.init();
    socket.send({
      id: "1",
      type: "subscribe",
      payload: { query: "subscription { shelf_book(where: {id: {_gt: 50}}) { id } }" },
    });
    const rows = (expected: unknown[]) => (message: any) =>
      JSON.stringify(message.payload?.data?.shelf_book) === JSON.stringify(expected);
    await socket.next(rows([{ id: 51 }]));
    await graphqlApi.gql("mutation { delete_shelf_book_by_pk(id: 51) { id } }");
    await socket.next(rows([]));
    await socket.close();
    await api.sql("delete from shelf.book where id = 51");
  });
});

describe("P-DEL-6 permitted roles see deleted rows and restore them", async () => {
  const permissionsApi = await startApi(
    forGraphql({
      ...settings,
      metadata: buildMetadataDocument([
        table("shelf.author", {
          array_relationships: [
            {
              name: "books",
              using: { foreign_key_constraint_on: { table: { schema: "shelf", name: "book" }, column: "author_id" } },
            },
          ],
          select_permissions: permissions({ editor: { columns: "*", filter: {} } }),
        }),
        table("shelf.book", {
          select_permissions: permissions({
            editor: { columns: "*", filter: { id: { _neq: 62 } }, allow_aggregations: true },
            reader: { columns: "*", filter: {} },
          }),
          update_permissions: permissions({
            editor: { columns: ["title", "deleted_at"], filter: {}, check: {} },
            reader: { columns: ["title", "deleted_at"], filter: {}, check: {} },
          }),
          delete_permissions: permissions({ editor: { filter: {} } }),
        }),
      ]),
      metadataPermissionsForRest: true,
      softDeleteColumn: "deleted_at",
      softDeleteRoles: ["editor"],
    }),
  );
  const rest = async (role: string | undefined, path: string) =>
    (await permissionsApi.get(path, { headers: asAdmin(role) })).json();

  test("P-DEL-6 a condition on the column shows deleted rows on both surfaces to permitted roles and administrators", async () => {
    for (const role of ["editor", undefined]) {
      expect(await rest(role, "/book?select=id&deleted_at=not.is.null&order=id")).toEqual([{ id: 4 }]);
      expect(await rest(role, "/book?select=id&or=(deleted_at.is.null,deleted_at.not.is.null)&order=id")).toHaveLength(
        5,
      );
      expect(await rest(role, "/book?select=id&order=id")).toHaveLength(4);
      expect(await rest(role, "/author?select=id,book(id)&book.deleted_at=not.is.null&id=eq.2")).toEqual([
        { id: 2, book: [{ id: 4 }] },
      ]);
      const { data } = await permissionsApi.gql(
        `{ shelf_book(where: {deleted_at: {_is_null: false}}) { id }
           shelf_book_aggregate(where: {deleted_at: {_is_null: false}}) { aggregate { count } }
           shelf_author(where: {id: {_eq: 2}}) { books(where: {deleted_at: {_is_null: false}}) { id } } }`,
        {},
        asAdmin(role),
      );
      expect(data).toEqual({
        shelf_book: [{ id: 4 }],
        shelf_book_aggregate: { aggregate: { count: 1 } },
        shelf_author: [{ books: [{ id: 4 }] }],
      });
    }
    expect(await rest("reader", "/book?select=id&deleted_at=not.is.null")).toEqual([]);
    expect(await rest("reader", "/book?select=id&or=(deleted_at.is.null,deleted_at.not.is.null)")).toHaveLength(4);
    const { data } = await permissionsApi.gql(
      "{ shelf_book(where: {deleted_at: {_is_null: false}}) { id } }",
      {},
      asAdmin("reader"),
    );
    expect(data).toEqual({ shelf_book: [] });
  });

  test("P-DEL-6 P-DEL-6a an update with the condition restores deleted rows within permissions", async () => {
    await api.sql(
      "insert into shelf.book values (61, 1, 'X', 1, now()), (62, 1, 'Y', 1, now()), (63, 1, 'Z', 1, now())",
    );
    const restore = (role: string | undefined, id: number) =>
      permissionsApi.patch(`/book?id=eq.${id}&deleted_at=not.is.null&select=id`, {
        headers: { ...asAdmin(role), prefer: "return=representation" },
        body: { deleted_at: null },
      });
    expect((await restore("reader", 61)).json()).toEqual([]);
    expect((await restore("editor", 61)).json()).toEqual([{ id: 61 }]);
    expect(await rest("editor", "/book?select=id&id=eq.62&deleted_at=not.is.null")).toEqual([]);
    const text = (id: number) =>
      `mutation { update_shelf_book(where: {id: {_eq: ${id}}, deleted_at: {_is_null: false}}, _set: {deleted_at: null}) { returning { id } } }`;
    expect((await permissionsApi.gql(text(63), {}, asAdmin("reader"))).data.update_shelf_book.returning).toEqual([]);
    expect((await permissionsApi.gql(text(63), {}, asAdmin("editor"))).data.update_shelf_book.returning).toEqual([
      { id: 63 },
    ]);
    expect(await rest("reader", "/book?select=id&id=gt.60&order=id")).toEqual([{ id: 61 }, { id: 63 }]);
    // A row can be deleted only once.
    const secondDelete = await permissionsApi.delete("/book?id=eq.62&deleted_at=not.is.null&select=id", {
      headers: { ...asAdmin(), prefer: "return=representation" },
    });
    expect(secondDelete.json()).toEqual([]);
    await api.sql("delete from shelf.book where id > 60");
  });
});

test("P-GEN-2 without the plugin rows are deleted, and rows with a time are visible", async () => {
  expect((await plainApi.get("/book?id=eq.4&select=id")).json()).toEqual([{ id: 4 }]);
  const answer = await plainApi.delete("/book?id=eq.4&select=id,deleted_at", {
    headers: { prefer: "return=representation, tx=rollback" },
  });
  expect(answer.json()).toEqual([{ id: 4, deleted_at: "2020-01-01T00:00:00" }]);
});
