/**
 * Names in requests. PostgreSQL reads `"row"."name"` as a column only if it exists, otherwise as a function of the row
 * or a system column. Names unknown to the model therefore never reach it, and no error reveals names that the caller
 * may not see.
 */
import { afterAll, describe, expect, test } from "vitest";
import { asAdmin, forGraphql, startApi, type Answer, type TestApi } from "../support/api.ts";
import { buildMetadataDocument, object, permissions, table } from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";

const role = `names_reader_${process.pid}`;
const blindRole = `names_blind_${process.pid}`;
const fullRole = `names_full_${process.pid}`;

const all = { columns: "*", filter: {} };
const partialPermission = { columns: ["id", "name"], filter: {}, limit: 2 };
const ownFilter = { owner: { _eq: "X-Session-User-Id" } };

const metadata = buildMetadataDocument(
  [
    table("hush.account", {
      array_relationships: [
        {
          name: "notes",
          using: { foreign_key_constraint_on: { table: { schema: "hush", name: "note" }, column: "account_id" } },
        },
      ],
      computed_fields: [
        { name: "shout", definition: { function: { schema: "hush", name: "shout" } } },
        { name: "whisper", definition: { function: { schema: "hush", name: "whisper" } } },
      ],
      select_permissions: permissions({
        reader: { ...partialPermission, computed_fields: ["shout"] },
        joiner: partialPermission,
        everything: all,
        checked: { ...all, computed_fields: ["shout"] },
        keeper: { columns: "*", filter: ownFilter },
        nameless: { columns: ["name"], filter: {} },
      }),
      insert_permissions: permissions({
        reader: { check: {}, columns: ["id", "name"] },
        everything: { check: {} },
        checked: { check: { id: { _gt: 0 } } },
        blind: { check: {}, columns: ["id", "name"] },
        nameless: { check: {}, columns: ["id", "name"] },
      }),
      update_permissions: permissions({
        reader: { columns: ["id", "name"], filter: {} },
        keeper: { columns: ["name"], filter: {} },
      }),
      delete_permissions: permissions({ reader: { filter: {} }, everything: { filter: {} } }),
    }),
    table("hush.note", {
      object_relationships: [object("account", "account_id")],
      select_permissions: permissions({
        reader: { columns: ["id", "account_id", "body"], filter: {} },
        joiner: { columns: ["id"], filter: {} },
        everything: all,
      }),
      insert_permissions: permissions({
        reader: { check: {}, columns: ["id", "account_id"] },
        everything: { check: {} },
      }),
    }),
    table("hush.account_view", { select_permissions: permissions({ reader: partialPermission }) }),
    table("hush.badge", {
      select_permissions: permissions({ reader: { columns: ["id", "code"], filter: {} }, everything: all }),
      insert_permissions: permissions({
        reader: { check: {}, columns: ["id", "code", "size", "during"] },
        everything: { check: {} },
      }),
    }),
    table("hush.vault", { select_permissions: permissions({ everything: all }) }),
    table("hush.transfer", {
      select_permissions: permissions({
        reader: { columns: ["id", "payer"], filter: {} },
        joiner: { columns: ["id"], filter: {} },
        everything: all,
      }),
    }),
  ],
  { inherited_roles: [{ role_name: "both", role_set: ["nameless", "keeper"] }] },
  {
    functions: ["accounts", "one", "pairs", "names", "loose", "complain"].map((name) => ({
      function: { schema: "hush", name },
      permissions: [{ role: "reader" }, { role: "everything" }, { role: "both" }],
    })),
  },
);

const options = forGraphql({ dbSchemas: ["hush"], dbTxEnd: "rollback" as const });
const byGrants = await startApi({ ...options, dbAggregatesEnabled: true });
await byGrants.sql(`
  create schema hush;
  create table hush.account (id int primary key, name text not null, secret text default 'classified', owner int check (owner < 100));
  create table hush.note (id int primary key, account_id int references hush.account, body text, hidden text default 'classified');
  create table hush.vault (note_id int primary key references hush.note, account_id int references hush.account);
  create table hush.badge (id int primary key, code text unique, hidden text unique default 'classified', size int check (size > 0), during int4range, exclude using gist (during with &&));
  create table hush.transfer (id int primary key, payer int references hush.account, secret_payee int references hush.account);
  create view hush.account_view as select * from hush.account;
  insert into hush.account values (1, 'Ann', 'classified', 1), (2, 'Bob', 'classified', 2), (3, 'Cid', 'classified', 3), (4, 'Dot', 'classified', 4);
  insert into hush.note values (1, 1, 'one', 'classified'), (2, 1, 'two', 'classified'), (3, 2, 'three', 'classified');
  insert into hush.vault values (1, 4);
  insert into hush.badge values (1, 'a', 'classified', 1, '[1,5)');
  create function hush.accounts() returns setof hush.account language sql stable as $$ select * from hush.account order by id $$;
  create function hush.one() returns hush.account language sql stable as $$ select * from hush.account where id = 1 $$;
  create function hush.pairs() returns table (id int, name text) language sql stable as $$ select id, name from hush.account $$;
  create function hush.names() returns setof text language sql stable as $$ select name from hush.account $$;
  create function hush.loose() returns setof record language sql stable as $$ select 1, 2 $$;
  create function hush.shout(hush.account) returns text language sql stable as $$ select upper($1.name) $$;
  create function hush.whisper(hush.account) returns text language sql stable as $$ select lower($1.secret) $$;
  create function hush.pairwise(hush.account, text default 'x') returns text language sql stable as $$ select $1.secret $$;
  create function hush.anything(anyelement) returns text language sql stable as $$ select $1::text $$;
  create function hush.broken() returns int language plpgsql stable as $$ begin return (select secrte from hush.account limit 1); end $$;
  create function hush.lost() returns int language plpgsql stable as $$ begin return (select 1 from hush.vualt); end $$;
  create function hush.complain(state text) returns int language plpgsql stable as $$ begin raise using errcode = state, message = 'mine', detail = 'my words', hint = 'my hint'; end $$;
  create aggregate hush.collect(hush.account) (sfunc = array_append, stype = hush.account[], initcond = '{}');
  create role ${role}; create role ${blindRole}; create role ${fullRole};
  grant ${role}, ${blindRole}, ${fullRole} to current_user;
  grant usage on schema hush to ${role}, ${blindRole}, ${fullRole};
  grant all on all tables in schema hush to ${fullRole};
  grant select (id, name), insert, update, delete on hush.account to ${role};
  grant select (id, account_id, body), insert, update on hush.note to ${role};
  grant select (id, name) on hush.account_view to ${role};
  grant select (id, code), insert on hush.badge to ${role};
  grant insert (id, name) on hush.account to ${blindRole};
  revoke execute on function hush.whisper(hush.account) from public;
`);
await byGrants.reload();
const byMetadata = await startApi({
  ...options,
  metadata,
  metadataPermissionsForRest: true,
  inferFunctionPermissions: true,
});
afterAll(async () => {
  await byGrants.sql(
    `drop owned by ${role}, ${blindRole}, ${fullRole}; drop role ${role}; drop role ${blindRole}; drop role ${fullRole}`,
  );
});

/** Names that are no column of any relation here. */
const HOSTILE = [
  "row_to_json",
  "to_json",
  "to_jsonb",
  "record_out",
  "json_agg",
  "jsonb_agg",
  "array_agg",
  "count",
  "max",
  "row",
  "text",
  "name2",
  "oid",
  "*",
  "account",
  "note",
  "hush",
  "accounts",
  "collect",
  "anything",
  "pg_typeof",
  "hash_record",
  "record_send",
  "num_nonnulls",
  "query_to_xml",
  "",
  " ",
  "id\u0000",
  "ID",
  "__proto__",
  "constructor",
];

interface Place {
  readonly title: string;
  /** The name of the row in the message. Undefined if another rejection is expected. */
  readonly row?: string;
  readonly method?: string;
  /** The path for a name, quoted and percent-encoded. */
  readonly path: (name: string) => string;
  readonly prefer?: string;
  readonly body?: (name: string) => unknown;
  readonly code?: string;
  /** True if a bare `count` means the number of rows (R-AGG-7). */
  readonly counts?: boolean;
}

const RETURN_ROWS = "return=representation";

const PLACES: readonly Place[] = [
  { title: "select", row: "account", counts: true, path: (n) => `/account?select=${n}` },
  { title: "select with an alias", row: "account", counts: true, path: (n) => `/account?select=x:${n}` },
  { title: "select with a path", row: "account", path: (n) => `/account?select=${n}->>secret` },
  { title: "select with a cast", row: "account", counts: true, path: (n) => `/account?select=${n}::text` },
  { title: "select beside columns", row: "account", path: (n) => `/account?select=id,${n}` },
  { title: "filter", row: "account", path: (n) => `/account?select=id&${n}=is.null` },
  { title: "negated filter", row: "account", path: (n) => `/account?select=id&${n}=not.is.null` },
  { title: "filter on a path", row: "account", path: (n) => `/account?select=id&${n}->>secret=eq.classified` },
  { title: "tree", row: "account", path: (n) => `/account?select=id&or=(${n}.is.null,id.eq.1)` },
  {
    title: "tree within a tree",
    row: "account",
    path: (n) => `/account?select=id&and=(id.eq.1,not.or(id.eq.2,${n}->>secret.eq.classified))`,
  },
  { title: "order", row: "account", path: (n) => `/account?select=id&order=${n}` },
  { title: "order by a path", row: "account", path: (n) => `/account?select=id&order=${n}->>secret.desc` },
  { title: "embed's select", row: "note_1", counts: true, path: (n) => `/account?select=id,note(${n})` },
  { title: "embed's filter", row: "note_1", path: (n) => `/account?select=id,note(id)&note.${n}=is.null` },
  { title: "embed's tree", row: "note_1", path: (n) => `/account?select=id,note(id)&note.or=(${n}.is.null)` },
  { title: "embed's order", row: "note_1", path: (n) => `/account?select=id,note(id)&note.order=${n}` },
  { title: "empty embed's filter", row: "note_1", path: (n) => `/account?select=id,note!inner()&note.${n}=is.null` },
  { title: "to-one embed", row: "account_1", counts: true, path: (n) => `/note?select=id,account(${n})` },
  { title: "spread", row: "account_1", path: (n) => `/note?select=id,...account(${n})` },
  { title: "to-many spread", row: "note_1", path: (n) => `/account?select=id,...note(${n})` },
  { title: "related order", row: "note_account_1", path: (n) => `/note?select=id,account(id)&order=account(${n})` },
  {
    title: "related order on an empty embed",
    row: "note_account_1",
    path: (n) => `/note?select=id,account()&order=account(${n})`,
  },
  {
    title: "related order on a spread",
    row: "note_account_1",
    path: (n) => `/note?select=id,...account(name)&order=account(${n})`,
  },
  { title: "rows of a function", row: "pgrst_call", counts: true, path: (n) => `/rpc/accounts?select=${n}` },
  { title: "filter of a function's rows", row: "pgrst_call", path: (n) => `/rpc/accounts?select=id&${n}=is.null` },
  { title: "order of a function's rows", row: "account", path: (n) => `/rpc/accounts?select=id&order=${n}` },
  { title: "the row of a function", row: "pgrst_call", counts: true, path: (n) => `/rpc/one?select=${n}` },
  { title: "whole rows of a function", row: "account", path: (n) => `/rpc/accounts?${n}=is.null` },
  { title: "whole columns of a function", row: "record", path: (n) => `/rpc/pairs?order=${n}` },
  { title: "columns of a function", row: "pgrst_call", counts: true, path: (n) => `/rpc/pairs?select=${n}` },
  { title: "filter of a function's columns", row: "pgrst_call", path: (n) => `/rpc/pairs?select=id&${n}=is.null` },
  { title: "select of values", row: "names", path: (n) => `/rpc/names?select=${n}` },
  { title: "filter of values", row: "names", path: (n) => `/rpc/names?${n}=is.null` },
  { title: "tree of values", row: "names", path: (n) => `/rpc/names?or=(${n}.is.null)` },
  { title: "order of values", row: "names", path: (n) => `/rpc/names?order=${n}` },
  { title: "filter of records without columns", row: "loose", path: (n) => `/rpc/loose?${n}=is.null` },
  { title: "view", row: "account_view", counts: true, path: (n) => `/account_view?select=${n}` },
  { title: "filter of a view", row: "account_view", path: (n) => `/account_view?select=id&${n}->>secret=is.null` },
  { title: "HEAD", path: (n) => `/account?select=id,${n}`, method: "HEAD" },
  {
    title: "rows that an insert returns",
    row: "account",
    counts: true,
    method: "POST",
    prefer: RETURN_ROWS,
    path: (n) => `/account?select=${n}`,
    body: () => ({ id: 9, name: "x" }),
  },
  {
    title: "rows that an update returns",
    row: "account",
    counts: true,
    method: "PATCH",
    prefer: RETURN_ROWS,
    path: (n) => `/account?select=${n}&id=eq.1`,
    body: () => ({ name: "x" }),
  },
  {
    title: "rows that a deletion returns",
    row: "account",
    counts: true,
    method: "DELETE",
    prefer: RETURN_ROWS,
    path: (n) => `/account?select=${n}&id=eq.3`,
  },
  {
    title: "embeds of returned rows",
    row: "note_1",
    counts: true,
    method: "PATCH",
    prefer: RETURN_ROWS,
    path: (n) => `/account?select=id,note(${n})&id=eq.1`,
    body: () => ({ name: "x" }),
  },
  {
    title: "condition of an update",
    row: "account",
    method: "PATCH",
    path: (n) => `/account?${n}->>secret=eq.classified`,
    body: () => ({ name: "x" }),
  },
  {
    title: "condition of a deletion",
    row: "account",
    method: "DELETE",
    path: (n) => `/account?${n}->>secret=eq.classified`,
  },
  {
    title: "conflict target",
    method: "POST",
    prefer: "resolution=merge-duplicates",
    path: (n) => `/account?on_conflict=${n}`,
    body: () => ({ id: 1, name: "x" }),
  },
  {
    title: "columns",
    code: "PGRST204",
    method: "POST",
    path: (n) => `/account?columns=${n}`,
    body: () => ({ id: 9, name: "x" }),
  },
  {
    title: "key of a body",
    code: "PGRST204",
    method: "POST",
    path: () => "/account",
    body: (n) => ({ id: 9, name: "x", [n]: 1 }),
  },
  {
    title: "key of an update's body",
    code: "PGRST204",
    method: "PATCH",
    path: () => "/account?id=eq.1",
    body: (n) => ({ [n]: 1 }),
  },
];

const quote = (name: string): string => encodeURIComponent(`"${name}"`);

const surfaces: readonly (readonly [title: string, api: TestApi, acting: string])[] = [
  ["grants", byGrants, role],
  ["permissions of the metadata", byMetadata, "reader"],
];

describe.each(surfaces)("names by %s", (_title, api, acting) => {
  const send = (place: Place, name: string): Promise<Answer> =>
    api.request(place.method ?? "GET", place.path(quote(name)), {
      headers: { ...asAdmin(acting), ...(place.prefer === undefined ? {} : { prefer: place.prefer }) },
      body: place.body?.(name),
    });

  test.each(PLACES)("R-NAM-1 R-NAM-1a R-NAM-2 an unknown name is rejected like a hidden one: $title", async (place) => {
    for (const name of HOSTILE) {
      if (name === "count" && place.counts === true && api === byGrants) continue;
      const answer = await send(place, name);
      const description = `${place.path(quote(name))}: ${answer.text}`;
      expect(answer.status, description).toBe(400);
      expect(answer.text).not.toContain("classified");
      if (place.method === "HEAD") continue;
      const { code, message, hint } = answer.json();
      expect(code, description).toBe(place.code ?? "42703");
      if (place.row !== undefined) expect(message).toBe(`column ${place.row}.${name} does not exist`);
      if (place.title === "conflict target") expect(message).toBe(`column "${name}" does not exist`);
      expect(`${hint}`).not.toMatch(/secret|hidden|owner/);
    }
  });

  test("R-CMP-1 a computed field is called with its schema", async () => {
    // A function of the row receives all of its columns.
    const get = async (path: string) =>
      (await api.get(path, { headers: asAdmin(api === byGrants ? fullRole : acting) })).json();
    expect(await get("/account?select=shout&shout=like.A*")).toEqual([{ shout: "ANN" }]);
    expect(await get("/rpc/accounts?select=id,shout&order=shout&limit=1")).toEqual([{ id: 1, shout: "ANN" }]);
    expect(await get("/note?select=id,account(shout)&id=eq.3")).toEqual([{ id: 3, account: { shout: "BOB" } }]);
    // The permissions lack the function, and grants require the whole row.
    expect((await api.get("/account?select=pairwise", { headers: asAdmin(acting) })).json().code).toBe("42501");
    for (const path of ["/account?select=whisper", "/account?whisper=eq.classified", "/note?select=account(whisper)"])
      expect((await get(path)).code, path).toBe("42501");
  });
});

describe("R-NAM-7 system columns", () => {
  const SYSTEM = ["ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"];
  const everyone: readonly (readonly [string, TestApi, string, readonly string[]])[] = [
    ["grants", byGrants, fullRole, [role]],
    ["permissions of the metadata", byMetadata, "everything", ["reader", "nameless", "both"]],
  ];
  const paths = (name: string): readonly string[] => [
    `/account?select=id,${name}&limit=1`,
    `/account?select=id,x:${name}::text&order=id&offset=1`,
    `/account?select=*,${name}&order=id&limit=1&offset=1`,
    `/account?select=id&${name}=not.is.null`,
    `/account?select=id&or=(${name}.is.null,id.eq.1)`,
    `/note?select=id,account(${name})&limit=1`,
    `/account?select=id,note(id,${name})&order=id&limit=1`,
    `/note?select=id,...account(${name})`,
    // Transactions have no order.
    ...(/^(?:ctid|tableoid)$/.test(name) ? [`/note?select=id,account(${name})&order=account(${name})`] : []),
  ];

  test.each(everyone)(
    "R-NAM-7b a caller who may read the whole table by %s may read system columns",
    async (_title, api, may, mayNot) => {
      for (const name of SYSTEM)
        for (const path of paths(name)) {
          const answer = await api.get(path, { headers: asAdmin(may) });
          expect(answer.status, `${path}: ${answer.text}`).toBe(200);
          if (path.startsWith("/account?select=id,ctid")) expect(answer.json()).toEqual([{ id: 1, ctid: "(0,1)" }]);
          for (const otherRole of mayNot) {
            const rejection = await api.get(path, { headers: asAdmin(otherRole) });
            expect([rejection.status, rejection.json().code], `${path} as ${otherRole}`).toEqual([403, "42501"]);
          }
        }
      const [row] = (await api.get("/account?select=tableoid::regclass&id=eq.1", { headers: asAdmin(may) })).json();
      expect(row).toEqual({ tableoid: "account" });
    },
  );

  test.each(everyone)(
    "R-NAM-7 by %s system columns are not in a star, a view or the result of a function",
    async (_title, api, may) => {
      const get = async (path: string) => (await api.get(path, { headers: asAdmin(may) })).json();
      expect(Object.keys((await get("/account"))[0])).toEqual(["id", "name", "secret", "owner"]);
      expect(Object.keys((await get("/account?select=*&order=ctid&limit=1"))[0])).toEqual([
        "id",
        "name",
        "secret",
        "owner",
      ]);
      for (const name of SYSTEM)
        for (const path of [`/rpc/accounts?select=${name}`, `/rpc/one?${name}=is.null`, `/rpc/names?order=${name}`])
          expect((await get(path)).code, path).toBe("42703");
    },
  );

  test("R-NAM-7a a write may compare the version in xmin and returns the new one", async () => {
    const headers = { ...asAdmin(), prefer: "return=representation, tx=commit" };
    const committingApi = await startApi({ ...options, dbTxEnd: "commit" });
    const [{ xmin }] = (await committingApi.get("/note?select=xmin&id=eq.3", { headers })).json();
    const patch = (version: string) =>
      committingApi.patch(`/note?id=eq.3&xmin=eq.${version}&select=id,xmin`, { headers, body: { body: "three" } });
    const first = await patch(xmin);
    expect(first.status, first.text).toBe(200);
    const [changedRow] = first.json();
    expect(changedRow).toEqual({ id: 3, xmin: expect.stringMatching(/^\d+$/) });
    expect(changedRow.xmin).not.toBe(xmin);
    expect((await patch(xmin)).json()).toEqual([]);
    expect((await patch(changedRow.xmin)).json()).toHaveLength(1);
  });

  test("R-NAM-7 writes return system columns, also beside all columns", async () => {
    const headers = { ...asAdmin(), prefer: "return=representation, resolution=merge-duplicates" };
    const [note] = (await byGrants.get("/note?id=eq.3", { headers })).json();
    const writes = [
      ["POST", "/note?", note],
      ["PUT", "/note?id=eq.3&", note],
      ["PATCH", "/note?id=eq.3&", { body: "three" }],
      ["DELETE", "/note?id=eq.3&xmin=not.is.null&", undefined],
    ] as const;
    for (const [method, path, body] of writes)
      for (const name of SYSTEM) {
        const write = async (select: string) => {
          const answer = await byGrants.request(method, `${path}select=${select}`, { headers, ...(body && { body }) });
          expect(answer.status, `${method} ${path}${select}: ${answer.text}`).toBeLessThan(300);
          return answer.json();
        };
        expect(await write(`id,${name}`)).toEqual([{ id: 3, [name]: expect.anything() }]);
        const [fullRow] = await write(`*,${name},account(id,${name})`);
        expect(Object.keys(fullRow)).toEqual([...Object.keys(note), name, "account"]);
        expect(Object.keys(fullRow.account)).toEqual(["id", name]);
      }
    const emptyAnswer = await byGrants.patch("/note?id=eq.3&select=*,xmin", { headers, body: {} });
    expect([emptyAnswer.status, emptyAnswer.text]).toEqual([200, "[]"]);
  });

  test("R-NAM-7b writes with permission checks return system columns to a caller who may read every column", async () => {
    const write = async (roleName: string, select: string) => {
      const headers = { ...asAdmin(roleName), prefer: "return=representation" };
      return (await byMetadata.post(`/account?select=${select}`, { headers, body: { id: 900, name: "x" } })).json();
    };
    expect(await write("checked", "id,xmin")).toEqual([{ id: 900, xmin: expect.stringMatching(/^\d+$/) }]);
    expect(Object.keys((await write("checked", "*,ctid,shout"))[0])).toEqual([
      "id",
      "name",
      "secret",
      "owner",
      "ctid",
      "shout",
    ]);
    expect((await write("reader", "id,xmin")).code).toBe("42501");
  });

  test("R-NAM-7 views have no system columns", async () => {
    for (const name of SYSTEM)
      expect((await byGrants.get(`/account_view?select=${name}`, { headers: asAdmin(fullRole) })).json().code).toBe(
        "42703",
      );
  });
});

test("R-NAM-1 R-NAM-1b no statement checks whether a name exists", async () => {
  const reloadedApi = await startApi(options);
  await byGrants.sql("create table hush.gone (id int)");
  await reloadedApi.reload();
  await byGrants.sql("drop table hush.gone");
  const code = async (path: string): Promise<string> =>
    (await reloadedApi.get(path, { headers: asAdmin() })).json().code;
  expect(await code("/gone?select=id")).toBe("42P01");
  for (const path of ["/gone?select=oid", "/gone?row_to_json->>id=eq.1", "/gone?order=json_agg"])
    expect(await code(path), path).toBe("42703");
});

describe("R-NAM-3 hints", () => {
  const fetchHint = async (api: TestApi, path: string, roleName: string) =>
    (await api.get(path, { headers: asAdmin(roleName) })).json().hint;

  test("R-NAM-3 hints are those of PostgreSQL for a caller who may read all columns", async () => {
    for (const name of [
      "nmae",
      "nam",
      "ids",
      "i",
      "secrt",
      "ownre",
      "sectre",
      "anme",
      "nothing_like_it",
      "secret_",
      "Name",
      "oid",
    ]) {
      const answer = (await byGrants.get(`/account?select=${name}`, { headers: asAdmin() })).json();
      let databaseError: { message?: string; hint?: string } = {};
      try {
        await byGrants.sql(`select "account"."${name}" from hush.account`);
      } catch (error) {
        databaseError = error as typeof databaseError;
      }
      expect([answer.message, answer.hint], name).toEqual([databaseError.message, databaseError.hint ?? null]);
    }
  });

  test.each([
    ["grants", byGrants, role],
    ["permissions of the metadata", byMetadata, "reader"],
  ] as const)("R-NAM-3 hints name only readable columns by %s", async (_title, api, roleName) => {
    expect(await fetchHint(api, "/account?select=nmae", roleName)).toBe(
      'Perhaps you meant to reference the column "account.name".',
    );
    expect(await fetchHint(api, "/account?select=secrt", roleName)).toBeNull();
    expect(await fetchHint(api, "/account?ownr=eq.1", roleName)).toBeNull();
    expect(await fetchHint(api, "/account?select=id,note(hiden)", roleName)).toBeNull();
    expect(await fetchHint(api, "/account?select=id,note(bdy)", roleName)).toBe(
      'Perhaps you meant to reference the column "note_1.body".',
    );
    expect(await fetchHint(api, "/account_view?select=secrt", roleName)).toBeNull();
    expect(await fetchHint(api, "/rpc/accounts?select=secrt", roleName)).toBeNull();
    expect(await fetchHint(api, "/rpc/pairs?select=nam", roleName)).toBe(
      'Perhaps you meant to reference the column "pgrst_call.name".',
    );
    expect(await fetchHint(api, "/note?select=id,account(title:name)&order=account(titel)", roleName)).toBe(
      'Perhaps you meant to reference the column "note_account_1.title".',
    );
  });

  test("R-NAM-3a the database's own hints are left out unless a function raises them", async () => {
    const admin = { headers: asAdmin() };
    expect((await byGrants.get("/rpc/broken", admin)).json()).toMatchObject({ code: "42703", hint: null });
    expect((await byGrants.get("/rpc/lost", admin)).json()).toMatchObject({ code: "42P01", hint: null });
    for (const state of ["42703", "42P01"])
      expect((await byGrants.get(`/rpc/complain?state=${state}`, admin)).json()).toEqual({
        code: state,
        details: "my words",
        hint: "my hint",
        message: "mine",
      });
  });
});

describe("R-NAM-3 R-EMB-19 R-PATH-10 R-RPC-10 suggested names", () => {
  const fetchHint = async (path: string, roleName: string) =>
    (await byMetadata.get(path, { headers: asAdmin(roleName) })).json().hint;

  test("R-NAM-3c suggestions name only objects that the permissions of the metadata allow", async () => {
    for (const [path, hint] of [
      ["/valt", "Perhaps you meant the table 'hush.vault'"],
      ["/note?select=valt(note_id)", "Perhaps you meant 'vault' instead of 'valt'."],
    ] as const) {
      expect(await fetchHint(path, "everything"), path).toBe(hint);
      expect(await fetchHint(path, "reader"), path).toBeNull();
    }
    expect(await fetchHint("/acount", "reader")).toBe("Perhaps you meant the table 'hush.account'");
    expect(await fetchHint("/rpc/acounts", "reader")).toBe("Perhaps you meant to call the function hush.accounts");
    expect(await fetchHint("/rpc/complan", "reader")).toBe("Perhaps you meant to call the function hush.complain");
    expect(await fetchHint("/rpc/complan", "keeper")).toBeNull();
    expect(await fetchHint("/rpc/complain?stat=1", "reader")).toBe(
      "Perhaps you meant to call the function hush.complain(state)",
    );
    expect(await fetchHint("/rpc/complain?stat=1", "keeper")).toBeNull();
  });
});

describe("R-OPT-3 methods", () => {
  const allowedMethods = async (path: string, roleName: string) =>
    (await byMetadata.request("OPTIONS", path, { headers: asAdmin(roleName) })).headers["allow"];

  test("R-OPT-3a methods are those that the permissions of the metadata allow", async () => {
    expect(await allowedMethods("/account", "reader")).toBe("OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE");
    expect(await allowedMethods("/account", "keeper")).toBe("OPTIONS,GET,HEAD,PATCH");
    expect(await allowedMethods("/account", "blind")).toBe("OPTIONS,POST");
    expect(await allowedMethods("/vault", "reader")).toBe("OPTIONS");
    expect(await allowedMethods("/account_view", "reader")).toBe("OPTIONS,GET,HEAD");
    expect(await allowedMethods("/account_view", "keeper")).toBe("OPTIONS");
    expect(await allowedMethods("/rpc/accounts", "reader")).toBe("OPTIONS,POST,GET,HEAD");
    expect(await allowedMethods("/rpc/complain", "keeper")).toBe("OPTIONS");
    expect(await allowedMethods("/vault", "admin")).toBe("OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE");
  });
});

test("R-MED-7 R-MED-7c only the administrator gets an execution plan under permissions of the metadata", async () => {
  const api = await startApi({
    ...options,
    metadata,
    metadataPermissionsForRest: true,
    dbPlanEnabled: true,
  });
  const plan = (roleName: string) =>
    api.get("/account?select=id", {
      headers: { ...asAdmin(roleName), accept: "application/vnd.pgrst.plan+json; options=verbose" },
    });
  expect(await plan("reader")).toMatchObject({ status: 406 });
  expect(await plan("everything")).toMatchObject({ status: 406 });
  expect(await plan("admin")).toMatchObject({ status: 200 });
  expect((await plan("reader")).text).not.toContain("secret");
});

describe("R-NAM-3 descriptions", () => {
  const documentAs = async (api: TestApi, roleName: string) =>
    (await api.get("/", { headers: asAdmin(roleName) })).json();

  test("R-NAM-3b the OpenAPI document has the columns that the grants allow", async () => {
    const document = await documentAs(byGrants, role);
    expect(Object.keys(document.definitions.account_view.properties)).toEqual(["id", "name"]);
    expect(Object.keys(document.definitions)).toEqual(["account", "account_view", "badge", "note"]);
    const { definitions, parameters } = await documentAs(byGrants, blindRole);
    expect(Object.keys(definitions.account.properties)).toEqual(["id", "name"]);
    expect(definitions.account.required).toEqual(["id", "name"]);
    expect(JSON.stringify(parameters)).not.toMatch(/secret|owner/);
  });

  test("R-NAM-3b the OpenAPI document has the objects that the metadata permits", async () => {
    const document = await documentAs(byMetadata, "reader");
    expect(Object.keys(document.definitions)).toEqual(["account", "account_view", "badge", "note", "transfer"]);
    expect(Object.keys(document.definitions.transfer.properties)).toEqual(["id", "payer"]);
    expect(JSON.stringify(document)).not.toMatch(/secret|hidden|owner|vault/);
    expect(Object.keys(document.paths).filter((path) => path.startsWith("/rpc/"))).toEqual([
      "/rpc/accounts",
      "/rpc/complain",
      "/rpc/loose",
      "/rpc/names",
      "/rpc/one",
      "/rpc/pairs",
    ]);
    expect(JSON.stringify(await documentAs(byMetadata, "everything"))).toContain("secret_payee");
  });

  test("G-ENU-4 G-ENU-4a the description of a constraint names only columns of the role's schema", async () => {
    const reader = await fetchSchema(byMetadata, "reader");
    expect(reader.description("hush_badge_constraint", "badge_code_key")).toBe(
      'unique or primary key constraint on columns "code"',
    );
    expect(reader.description("hush_badge_constraint", "badge_hidden_key")).toBe("unique or primary key constraint");
    expect((await fetchSchema(byMetadata, "everything")).description("hush_badge_constraint", "badge_hidden_key")).toBe(
      'unique or primary key constraint on columns "hidden"',
    );
  });

  test("R-NAM-3c relationships of hidden columns are not listed as ambiguous", async () => {
    const errorFor = async (roleName: string) =>
      (await byMetadata.get("/account?select=transfer(id)", { headers: asAdmin(roleName) })).json();
    expect((await errorFor("everything")).details).toHaveLength(2);
    const error = await errorFor("reader");
    expect(error.details).toHaveLength(1);
    expect(error.hint).toContain("'transfer!transfer_payer_fkey'");
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

describe("R-NAM-2 permissions of the metadata apply to every name", () => {
  const get = (path: string, roleName = "reader", extraHeaders: Readonly<Record<string, string>> = {}) =>
    byMetadata.get(path, { headers: { ...asAdmin(roleName, { "user-id": "1" }), ...extraHeaders } });

  test("R-NAM-2 permitted may use every permitted name", async () => {
    expect((await get("/account?order=id")).json()).toEqual([
      { id: 1, name: "Ann" },
      { id: 2, name: "Bob" },
    ]);
    expect((await get("/rpc/accounts?select=*&order=id")).json()).toEqual([
      { id: 1, name: "Ann" },
      { id: 2, name: "Bob" },
    ]);
  });

  test("R-NAM-2 hidden names are rejected in every position", async () => {
    for (const place of PLACES) {
      if (!["account", "account_view", "accounts", "one"].includes(place.row ?? "")) continue;
      const answer = await byMetadata.request(place.method ?? "GET", place.path("secret"), {
        headers: { ...asAdmin("reader"), ...(place.prefer === undefined ? {} : { prefer: place.prefer }) },
        body: place.body?.("secret"),
      });
      // The name is not among the embed's keys.
      const isKey = place.title.startsWith("related order");
      expect([answer.status, answer.json().code], `${place.title}: ${answer.text}`).toEqual(
        isKey ? [400, "42703"] : [403, "42501"],
      );
    }
  });

  test("R-NAM-2 a conflict target needs a readable column", async () => {
    const post = (target: string) =>
      byMetadata.post(`/badge?on_conflict=${target}`, {
        headers: { ...asAdmin("reader"), prefer: "resolution=ignore-duplicates" },
        body: { id: 7, code: "a" },
      });
    expect((await post("code")).status).toBe(201);
    expect((await post("hidden")).json().code).toBe("42501");
  });

  test("R-AGG-7b a bare count is an aggregate and needs the setting and the permission", async () => {
    expect((await get("/account?select=count")).json().code).toBe("42703");
    expect((await get("/account?select=count()")).json().code).toBe("PGRST123");
    const counting = await startApi({
      ...options,
      metadata,
      metadataPermissionsForRest: true,
      dbAggregatesEnabled: true,
    });
    for (const path of [
      "/account?select=count",
      "/account?select=count()",
      "/note?select=account(count)",
      "/account_view?select=n:count",
    ]) {
      expect((await counting.get(path, { headers: asAdmin("reader") })).json().code, path).toBe("42501");
    }
  });

  test("G-PRM-14 an inherited role sees null in the masked cells of a column", async () => {
    expect((await get("/account?select=name,secret&order=name&limit=2", "both")).json()).toEqual([
      { name: "Ann", secret: "classified" },
      { name: "Bob", secret: null },
    ]);
    for (const path of [
      "/account?select=row_to_json",
      "/account?row_to_json->>secret=eq.classified",
      "/rpc/accounts?select=to_jsonb",
    ])
      expect((await get(path, "both")).json().code, path).toBe("42703");
    expect((await get("/account?select=name&secret=eq.classified", "both")).json()).toEqual([{ name: "Ann" }]);
  });
});

describe("R-NAM-6 relationships reveal the columns that they compare", () => {
  const ask = async (role: string, request: string) => {
    const [method = "", path = ""] = request.split(" ");
    const answer = await byMetadata.request(method, path, {
      headers: { ...asAdmin(role), prefer: "return=representation" },
      ...(method === "POST" ? { body: { id: 9, account_id: 1 } } : {}),
    });
    return answer.status < 300 ? "answered" : answer.json().code;
  };
  const HIDDEN_REQUESTS = [
    "GET /transfer?select=id,account!secret_payee(id)",
    "GET /transfer?select=id,secret_payee(name)",
    "GET /transfer?select=id,...account!transfer_secret_payee_fkey(name)",
    "GET /transfer?select=id,account!secret_payee()&account=not.is.null",
    "GET /transfer?select=id,account!secret_payee!inner()&account.id=eq.1",
    "GET /account?select=id,transfer!secret_payee(id)",
    "GET /note?select=id,account(id,transfer!secret_payee(id))",
    "POST /note?select=id,account(transfer!secret_payee(id))",
    "GET /rpc/accounts?select=id,transfer!secret_payee(id)",
  ];

  test("R-NAM-6 a relationship with a hidden column is rejected in every position", async () => {
    for (const request of HIDDEN_REQUESTS) {
      expect(await ask("reader", request), request).toBe("42501");
      expect(await ask("everything", request), request).toBe("answered");
    }
    expect(await ask("joiner", "GET /transfer?select=id,account!payer(id)")).toBe("42501");
    expect(await ask("nameless", "GET /account?select=name,transfer!payer(id)")).toBe("42501");
  });

  test("R-NAM-6 a relationship is served if all its columns are readable or the metadata names it", async () => {
    for (const request of [
      "GET /transfer?select=id,account!payer(id)",
      "GET /account?select=id,transfer!payer(id)",
      "GET /note?select=id,account(id)",
    ])
      expect(await ask("reader", request), request).toBe("answered");
    for (const request of ["GET /note?select=id,account(id)", "GET /account?select=id,note(id)"])
      expect(await ask("joiner", request), request).toBe("answered");
  });
});

describe("R-AGG-7 a bare count under grants", () => {
  const get = async (path: string) => (await byGrants.get(path, { headers: asAdmin(fullRole) })).json();

  test("R-AGG-7a select=count is the number of rows", async () => {
    expect(await get("/account?select=count")).toEqual([{ count: 4 }]);
    expect(await get("/account?select=n:count&id=gt.2")).toEqual([{ n: 2 }]);
    expect(await get("/account?select=id,note(count)&order=id&limit=2")).toEqual([
      { id: 1, note: [{ count: 2 }] },
      { id: 2, note: [{ count: 1 }] },
    ]);
    expect(await get("/rpc/accounts?select=count")).toEqual([{ count: 4 }]);
  });

  test("R-AGG-7a count is an unknown column beside others, in spreads, filters and orders", async () => {
    for (const path of [
      "/account?select=id,count",
      "/note?select=id,...account(count)",
      "/account?count=gt.1",
      "/account?order=count",
    ])
      expect((await get(path)).code, path).toBe("42703");
  });
});

describe("R-NAM-4 details of constraints", () => {
  const post = async (api: TestApi, roleName: string, path: string, body: unknown) =>
    (await api.post(path, { headers: asAdmin(roleName, { "user-id": "1" }), body })).json();
  const failing = expect.stringContaining("Failing row contains");

  test("R-NAM-4 the details of a failing row are for callers who may read all its columns", async () => {
    for (const body of [{ id: 9, name: null }, { id: 9 }]) {
      expect(await post(byMetadata, "reader", "/account", body)).toMatchObject({ code: "23502", details: null });
      expect(await post(byMetadata, "everything", "/account", body)).toMatchObject({ code: "23502", details: failing });
      const grantError = await post(byGrants, role, "/account", body);
      expect(grantError).toMatchObject({ code: "23502" });
      expect(JSON.stringify(grantError)).not.toContain("classified");
    }
    expect(await post(byMetadata, "reader", "/badge", { id: 9, code: "z", size: 0 })).toMatchObject({
      code: "23514",
      details: null,
    });
    expect(await post(byMetadata, "everything", "/badge", { id: 9, code: "z", hidden: "h", size: 0 })).toMatchObject({
      code: "23514",
      details: failing,
    });
    // Rows that the select filter hides may be written but not read.
    const patchAnswer = await byMetadata.patch("/account", {
      headers: asAdmin("keeper", { "user-id": "1" }),
      body: { name: null },
    });
    expect(patchAnswer.json()).toMatchObject({ code: "23502", details: null });
  });

  test("R-NAM-4 the details of a duplicate key are for callers who may read its columns", async () => {
    expect(await post(byMetadata, "reader", "/badge", { id: 1, code: "z" })).toMatchObject({
      code: "23505",
      details: "Key (id)=(1) already exists.",
    });
    expect(await post(byMetadata, "reader", "/badge", { id: 9, code: "z" })).toMatchObject({
      code: "23505",
      details: null,
    });
    expect(await post(byMetadata, "everything", "/badge", { id: 9, code: "z" })).toMatchObject({
      code: "23505",
      details: "Key (hidden)=(classified) already exists.",
    });
    expect(JSON.stringify(await post(byGrants, role, "/badge", { id: 9, code: "z" }))).not.toContain("classified");
  });

  test("R-NAM-4 the details of an exclusion violation are shown to no caller", async () => {
    await byGrants.sql("alter table hush.badge alter hidden drop default");
    expect(await post(byMetadata, "reader", "/badge", { id: 9, code: "z", during: "[2,3)" })).toMatchObject({
      code: "23P01",
      details: null,
    });
    await byGrants.sql("alter table hush.badge alter hidden set default 'classified'");
  });

  test("R-NAM-4a the details of a foreign key name its tables to callers who know both", async () => {
    const missingDetails = 'Key (account_id)=(77) is not present in table "account".';
    expect(await post(byMetadata, "reader", "/note", { id: 9, account_id: 77 })).toMatchObject({
      code: "23503",
      details: missingDetails,
    });
    expect(await post(byMetadata, "everything", "/note", { id: 9, account_id: 77 })).toMatchObject({
      code: "23503",
      details: missingDetails,
    });
    const remove = async (api: TestApi, roleName: string) =>
      (await api.delete("/account?id=eq.4", { headers: asAdmin(roleName) })).json();
    const referencedDetails = 'Key (id)=(4) is still referenced from table "vault".';
    expect(await remove(byMetadata, "reader")).toMatchObject({ code: "23503", details: null });
    expect(await remove(byMetadata, "everything")).toMatchObject({ code: "23503", details: referencedDetails });
    expect(await remove(byGrants, role)).toMatchObject({ code: "23503", details: null });
    expect((await byGrants.delete("/account?id=eq.4", { headers: asAdmin() })).json()).toMatchObject({
      code: "23503",
      details: referencedDetails,
    });
  });

  test("R-NAM-4 details that a function raises are passed on", async () => {
    for (const state of ["23505", "23503", "23514"]) {
      const answer = (await byMetadata.get(`/rpc/complain?state=${state}`, { headers: asAdmin("reader") })).json();
      expect(answer).toEqual({ code: state, details: "my words", hint: "my hint", message: "mine" });
    }
  });

  test("G-ERR-7 GraphQL shows details of constraints only to the administrator", async () => {
    const insert = 'mutation { insert_hush_badge_one(object: {id: 9, code: "z"}) { id } }';
    expect(
      JSON.stringify(await byMetadata.gql(insert, {}, { ...asAdmin("reader"), "x-session-admin-secret": null })),
    ).not.toContain("classified");
  });
});

describe("R-NAM-5 the key in Location", () => {
  const post = (api: TestApi, roleName: string) =>
    api.post("/account", {
      headers: { ...asAdmin(roleName), prefer: "return=headers-only" },
      body: { id: 9, name: "x" },
    });

  test.each([
    ["grants", byGrants, role, blindRole],
    ["permissions of the metadata", byMetadata, "reader", "blind"],
    ["a permission without the key", byMetadata, "everything", "nameless"],
  ] as const)("R-NAM-5 Location has the key for callers who may read it: %s", async (_title, api, may, mayNot) => {
    const answer = await post(api, may);
    expect([answer.status, answer.headers["location"]]).toEqual([201, "/account?id=eq.9"]);
    const rejection = await post(api, mayNot);
    expect([rejection.status, rejection.json().code, rejection.headers["location"]]).toEqual([403, "42501", undefined]);
  });

  test("R-NAM-5 a write without Location needs no SELECT", async () => {
    for (const [api, roleName] of [
      [byGrants, blindRole],
      [byMetadata, "blind"],
    ] as const)
      expect((await api.post("/account", { headers: asAdmin(roleName), body: { id: 9, name: "x" } })).status).toBe(201);
  });
});

test("R-NAM-1 GraphQL has only the fields of the schema", async () => {
  for (const name of ["row_to_json", "ctid", "tableoid", "count", "secret", "whisper", "anything"]) {
    for (const query of [
      `{ hush_account { ${name} } }`,
      `{ hush_account(where: {${name}: {_is_null: true}}) { id } }`,
      `{ hush_account(order_by: {${name}: asc}) { id } }`,
      `{ hush_note { account { ${name} } } }`,
    ]) {
      const answer = await byMetadata.gql(query, {}, asAdmin("reader"));
      expect(answer.errors[0].extensions.code, query).toBe("validation-failed");
      expect(JSON.stringify(answer)).not.toContain("classified");
    }
  }
  expect(await byMetadata.gql("{ hush_account(where: {id: {_eq: 1}}) { shout } }", {}, asAdmin("reader"))).toEqual({
    data: { hush_account: [{ shout: "ANN" }] },
  });
});
