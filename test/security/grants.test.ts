/**
 * Grant mode: the grants of the database, column by column, and the row policies determine what a role sees and may do.
 */
import { afterAll, expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { bearer } from "../support/tokens.ts";
import { fetchSchema } from "../support/schema.ts";

const COLUMNS = ["id", "owner", "a", "b"] as const;
type Column = (typeof COLUMNS)[number];

interface Grants {
  readonly select: readonly Column[];
  readonly insert: readonly Column[];
  readonly update: readonly Column[];
  readonly delete: boolean;
  /** True if the role has EXECUTE on the functions. */
  readonly execute: boolean;
}

const ROLES: Readonly<Record<string, Grants>> = {
  none: { select: [], insert: [], update: [], delete: false, execute: false },
  sees_some: { select: ["id", "a"], insert: [], update: [], delete: false, execute: true },
  sees_all: { select: COLUMNS, insert: [], update: [], delete: false, execute: false },
  writes_some: {
    select: ["id", "owner", "a"],
    insert: ["id", "owner", "a"],
    update: ["a"],
    delete: false,
    execute: true,
  },
  writes_blind: { select: [], insert: ["owner", "b"], update: ["b"], delete: false, execute: false },
  deletes: { select: ["id"], insert: [], update: [], delete: true, execute: false },
  everything: { select: COLUMNS, insert: COLUMNS, update: COLUMNS, delete: true, execute: true },
};

const suffix = `${process.pid}`;
const getRoleName = (name: string): string => `grants_${name}_${suffix}`;
const names = Object.keys(ROLES);

const api = await startApi(
  forGraphql({ dbSchemas: ["guarded"], dbTxEnd: "rollback-allow-override", dbAggregatesEnabled: true }),
);
await api.sql(`
  create schema guarded;
  create table guarded.folder (id int primary key, name text);
  create table guarded.note (id int primary key default 100, owner int not null, a text, b text, folder_id int references guarded.folder);
  insert into guarded.folder values (1, 'one'), (2, 'two');
  insert into guarded.note values (1, 7, 'a1', 'b1', 1), (2, 7, 'a2', 'b2', 1), (3, 8, 'a3', 'b3', 1), (4, 8, 'a4', 'b4', 2);
  alter table guarded.note enable row level security;
  create policy own on guarded.note using (owner = nullif(current_setting('session.user_id', true), '')::int);
  create function guarded.notes() returns setof guarded.note language sql stable as $$ select * from guarded.note $$;
  create function guarded.note_length(n guarded.note) returns int language sql stable as $$ select length(n.a) $$;
  revoke execute on all functions in schema guarded from public;`);
for (const [name, grants] of Object.entries(ROLES)) {
  const role = getRoleName(name);
  const buildGrant = (privilege: string, columns: readonly Column[]): string =>
    columns.length === 0 ? "" : `grant ${privilege} (${columns.join(", ")}) on guarded.note to ${role};`;
  await api.sql(`create role ${role}; grant ${role} to current_user; grant usage on schema guarded to ${role}; grant select on guarded.folder to ${role};
    ${buildGrant("select", grants.select)} ${grants.select.length === 0 ? "" : `grant select (folder_id) on guarded.note to ${role};`}
    ${buildGrant("insert", grants.insert)} ${buildGrant("update", grants.update)}
    ${grants.delete ? `grant delete on guarded.note to ${role};` : ""}
    ${grants.execute ? `grant execute on all functions in schema guarded to ${role};` : ""}`);
}
await api.reload();
afterAll(async () => {
  for (const name of names) await api.sql(`drop owned by ${getRoleName(name)}; drop role ${getRoleName(name)}`);
});

const headers = (name: string) => asAdmin(getRoleName(name), { "user-id": "7" });
const rest = (name: string, method: string, path: string, body?: unknown, prefer?: string) =>
  api.request(method, path, { headers: { ...headers(name), ...(prefer === undefined ? {} : { prefer }) }, body });
const gql = (name: string, query: string) => api.gql(query, {}, headers(name));
const isRejected = (answer: { errors?: readonly { extensions: { code: string } }[] }): boolean =>
  answer.errors?.[0] !== undefined &&
  ["validation-failed", "permission-error"].includes(answer.errors[0].extensions.code);

/** The fields of an object or input type. Undefined if the type does not exist. */
const fetchMembers = async (name: string, type: string): Promise<readonly string[]> => {
  const schema = await fetchSchema(api, getRoleName(name));
  return schema.has(type)
    ? Object.keys(schema.members(type)).filter((member) => (COLUMNS as readonly string[]).includes(member))
    : [];
};
const sortColumns = (columns: readonly string[]): readonly string[] => [...columns].sort();

for (const [name, grants] of Object.entries(ROLES)) {
  test(`R-OPT-3 Allow follows the grants of ${name}`, async () => {
    const expected = ["OPTIONS"];
    if (grants.select.length > 0) expected.push("GET", "HEAD");
    if (grants.insert.length > 0) expected.push("POST");
    if (grants.insert.length > 0 && grants.update.length > 0) expected.push("PUT");
    if (grants.update.length > 0) expected.push("PATCH");
    if (grants.delete) expected.push("DELETE");
    expect((await rest(name, "OPTIONS", "/note")).headers["allow"]).toBe(expected.join(","));
  });

  test(`R-OAS-2 the OpenAPI document follows the grants of ${name}`, async () => {
    const { paths } = (await rest(name, "GET", "/")).json();
    expect(Object.hasOwn(paths, "/note")).toBe(
      grants.select.length + grants.insert.length + grants.update.length > 0 || grants.delete,
    );
    expect(Object.hasOwn(paths, "/rpc/notes")).toBe(grants.execute);
  });

  test(`G-PRM-2 G-PRM-6 the GraphQL schema follows the grants of ${name}`, async () => {
    const schema = await fetchSchema(api, getRoleName(name));
    expect(await fetchMembers(name, "guarded_note")).toEqual(sortColumns(grants.select));
    expect(await fetchMembers(name, "guarded_note_insert_input")).toEqual(sortColumns(grants.insert));
    expect(await fetchMembers(name, "guarded_note_set_input")).toEqual(sortColumns(grants.update));
    const bySelect = grants.select.length === 0 ? [] : sortColumns(grants.select);
    for (const type of ["guarded_note_bool_exp", "guarded_note_order_by"])
      expect(await fetchMembers(name, type), type).toEqual(bySelect);
    const mutations = schema.roots.mutation === undefined ? [] : Object.keys(schema.members("mutation_root"));
    expect(mutations.includes("insert_guarded_note")).toBe(grants.insert.length > 0);
    expect(mutations.includes("update_guarded_note")).toBe(grants.update.length > 0);
    expect(mutations.includes("delete_guarded_note")).toBe(grants.delete);
    expect(mutations.includes("delete_guarded_note_by_pk")).toBe(grants.delete && grants.select.includes("id"));
    const queries = Object.keys(schema.members("query_root"));
    expect(queries.includes("guarded_note_aggregate")).toBe(grants.select.length > 0);
    expect(queries.includes("guarded_notes")).toBe(grants.execute && grants.select.length > 0);
    expect(Object.keys(schema.members("guarded_folder")).includes("notes")).toBe(grants.select.length > 0);
    if (grants.select.length > 0)
      expect(Object.keys(schema.members("guarded_note")).includes("note_length")).toBe(
        grants.execute && grants.select.length === COLUMNS.length,
      );
    // An upsert reads the columns of its constraint.
    expect(schema.has("guarded_note_on_conflict")).toBe(grants.insert.length > 0 && grants.select.includes("id"));
    if (schema.has("guarded_note_on_conflict"))
      expect(schema.values("guarded_note_update_column")).toEqual(
        grants.update.length > 0 ? sortColumns(grants.update) : ["_PLACEHOLDER"],
      );
  });

  for (const column of COLUMNS) {
    const maySelect = grants.select.includes(column);
    test(`G-PRM-5 R-ERR-3 reads of ${column} by ${name} are rejected without a grant in every position`, async () => {
      const [key] = grants.select;
      const places = [
        `/note?select=${column}`,
        `/folder?select=id,note(${column})`,
        `/note?select=${column}.max()`,
        ...(key === undefined
          ? []
          : [`/note?select=${key}&${column}=not.is.null`, `/note?select=${key}&order=${column}`]),
      ];
      for (const path of places) expect((await rest(name, "GET", path)).status, path).toBe(maySelect ? 200 : 403);
      const queries = [
        `{ guarded_note { ${column} } }`,
        `{ guarded_folder { notes { ${column} } } }`,
        `{ guarded_note_aggregate { aggregate { max { ${column} } } } }`,
        ...(key === undefined
          ? []
          : [
              `{ guarded_note(where: {${column}: {_is_null: false}}) { ${key} } }`,
              `{ guarded_note(order_by: {${column}: asc}) { ${key} } }`,
            ]),
      ];
      for (const query of queries) expect(isRejected(await gql(name, query)), query).toBe(!maySelect);
    });

    test(`G-PRM-5 R-ERR-3 writes of ${column} by ${name} are rejected without a grant`, async () => {
      const text = column === "id" || column === "owner" ? "7" : '"7"';
      const patch = await rest(name, "PATCH", "/note", { [column]: 7 });
      expect(patch.status === 403).toBe(!grants.update.includes(column));
      expect(
        isRejected(
          await gql(name, `mutation { update_guarded_note(where: {}, _set: {${column}: ${text}}) { affected_rows } }`),
        ),
      ).toBe(!grants.update.includes(column));
      const row = { ...(grants.insert.includes("owner") ? { owner: 7 } : {}), [column]: 7 };
      expect((await rest(name, "POST", "/note", row)).status === 403).toBe(!grants.insert.includes(column));
    });
  }

  test(`G-PRM-2 the response to a write by ${name} contains only readable columns`, async () => {
    if (grants.insert.length === 0) return expect((await rest(name, "POST", "/note", { owner: 7 })).status).toBe(403);
    const insert = (columns: string) =>
      rest(name, "POST", `/note?select=${columns}`, { owner: 7 }, "return=representation");
    for (const column of COLUMNS)
      expect((await insert(column)).status, column).toBe(grants.select.includes(column) ? 201 : 403);
    expect((await rest(name, "POST", "/note", { owner: 7 }, "return=minimal")).status).toBe(201);
    expect(await gql(name, "mutation { insert_guarded_note(objects: [{owner: 7}]) { affected_rows } }")).toEqual({
      data: { insert_guarded_note: { affected_rows: 1 } },
    });
    for (const column of COLUMNS)
      expect(
        isRejected(
          await gql(name, `mutation { insert_guarded_note(objects: [{owner: 7}]) { returning { ${column} } } }`),
        ),
        column,
      ).toBe(!grants.select.includes(column));
  });

  test(`G-PRM-2 row policies apply to ${name} in reads, embeds, counts, aggregates, functions and writes`, async () => {
    if (grants.select.includes("id")) {
      expect((await rest(name, "GET", "/note?select=id&order=id")).json()).toEqual([{ id: 1 }, { id: 2 }]);
      expect((await rest(name, "GET", "/folder?select=id,note(id)&order=id")).json()).toEqual([
        { id: 1, note: [{ id: 1 }, { id: 2 }] },
        { id: 2, note: [] },
      ]);
      expect(
        (await rest(name, "HEAD", "/note?select=id&limit=1", undefined, "count=exact")).headers["content-range"],
      ).toBe("0-0/2");
      expect((await rest(name, "GET", "/note?select=id.count()")).json()).toEqual([{ count: 2 }]);
      expect(
        (
          await gql(
            name,
            "{ guarded_note_aggregate { aggregate { count } nodes { id } } guarded_folder(order_by: {id: asc}) { notes_aggregate { aggregate { count } } } }",
          )
        ).data,
      ).toEqual({
        guarded_note_aggregate: { aggregate: { count: 2 }, nodes: [{ id: 1 }, { id: 2 }] },
        guarded_folder: [
          { notes_aggregate: { aggregate: { count: 2 } } },
          { notes_aggregate: { aggregate: { count: 0 } } },
        ],
      });
    }
    expect((await rest(name, "GET", "/rpc/notes?select=id")).status).toBe(
      grants.execute && grants.select.length === COLUMNS.length ? 200 : 403,
    );
    if (grants.delete) {
      expect((await gql(name, "mutation { delete_guarded_note(where: {}) { affected_rows } }")).data).toEqual({
        delete_guarded_note: { affected_rows: 2 },
      });
      expect((await rest(name, "DELETE", "/note?select=id", undefined, "return=representation")).json()).toHaveLength(
        2,
      );
    }
    if (grants.insert.includes("owner")) {
      expect((await rest(name, "POST", "/note", { owner: 8 })).json()).toMatchObject({
        code: "42501",
        message: 'new row violates row-level security policy for table "note"',
      });
      expect(
        (await gql(name, "mutation { insert_guarded_note(objects: [{owner: 8}]) { affected_rows } }")).errors[0],
      ).toMatchObject({
        message: 'new row violates row-level security policy for table "note"',
        extensions: { code: "permission-error" },
      });
    }
  });
}

test("G-UPS-1 R-UPS-1 an upsert needs the INSERT and the UPDATE grant on its columns", async () => {
  const merge = "resolution=merge-duplicates";
  expect((await rest("everything", "POST", "/note", { id: 1, owner: 7, a: "x" }, merge)).status).toBeLessThan(300);
  // The role has only UPDATE (a).
  expect((await rest("writes_some", "POST", "/note", { id: 1, owner: 7, a: "x" }, merge)).status).toBe(403);
  const upsert = (name: string, columns: string) =>
    gql(
      name,
      `mutation { insert_guarded_note(objects: [{id: 1, owner: 7, a: "x"}], on_conflict: {constraint: note_pkey, update_columns: [${columns}]}) { affected_rows } }`,
    );
  expect(await upsert("writes_some", "a")).toEqual({ data: { insert_guarded_note: { affected_rows: 1 } } });
  expect(await upsert("writes_some", "")).toEqual({ data: { insert_guarded_note: { affected_rows: 0 } } });
  expect(isRejected(await upsert("writes_some", "owner"))).toBe(true);
  expect(isRejected(await upsert("writes_blind", "b"))).toBe(true);
});

test("R-AUT-6 a role of a token has the same grants", async () => {
  const token = { headers: bearer({ role: getRoleName("sees_some") }) };
  // Without the session variable no row is visible.
  expect((await api.get("/note?select=id", token)).json()).toEqual([]);
  expect((await api.get("/note?select=b", token)).status).toBe(403);
  expect((await api.options("/note", token)).headers["allow"]).toBe("OPTIONS,GET,HEAD");
});

test("R-SC-3 changed grants take effect after a reload", async () => {
  const role = getRoleName("none");
  await api.sql(`grant select (id) on guarded.note to ${role}`);
  await api.reload();
  expect((await rest("none", "OPTIONS", "/note")).headers["allow"]).toBe("OPTIONS,GET,HEAD");
  expect(await fetchMembers("none", "guarded_note")).toEqual(["id"]);
  await api.sql(`revoke select (id) on guarded.note from ${role}`);
  await api.reload();
  expect(await fetchMembers("none", "guarded_note")).toEqual([]);
});
