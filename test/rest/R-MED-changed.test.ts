/**
 * Columns change while an API serves without notification: in every media type, each value has its current name in the
 * database.
 */
import { expect, test } from "vitest";
import { plus } from "../../presets/index.ts";
import { capabilities, rolledBack, startApi, type Answer } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";

const db = await testDatabase();
const point = capabilities.postgis ? ", at gis.geometry" : "";

/** The table, and functions that return its rows. */
const tableSql = (name: string, columns: string): string => `
  create table changing.${name} (${columns}${point});
  grant all on changing.${name} to sea_anon;
  insert into changing.${name} (id, nick, mail, phone) values (1, 'bo', 'b@x', '555');
  create function changing.all_${name}() returns setof changing.${name} language sql stable as 'select * from changing.${name}';
  create function changing.one_${name}() returns changing.${name} language sql stable as 'select * from changing.${name} limit 1';
`;

/** A table with a foreign key to the table of that name. */
const reference = (name: string): string => `
  create table changing.of_${name} (n int primary key, to_id int references changing.${name} on delete cascade);
  insert into changing.of_${name} values (7, 1);
  grant all on changing.of_${name} to sea_anon;
`;

const COLUMNS = "id int primary key, nick text, mail text, phone text";

/** Changes, each with the column names afterwards, in order. */
const CHANGES: readonly { readonly name: string; readonly sql: string; readonly names: readonly string[] }[] = [
  { name: "dropped", sql: "alter table changing.dropped drop column nick", names: ["id", "mail", "phone"] },
  {
    name: "added",
    sql: "alter table changing.added add column zip text default '9'",
    names: ["id", "nick", "mail", "phone", "zip"],
  },
  {
    name: "renamed",
    sql: "alter table changing.renamed rename column nick to alias; alter table changing.renamed rename column phone to nick",
    names: ["id", "alias", "mail", "nick"],
  },
  {
    name: "rebuilt",
    sql: `drop table changing.rebuilt cascade; ${tableSql("rebuilt", "phone text, mail text, id int primary key, nick text")}`,
    names: ["phone", "mail", "id", "nick"],
  },
];

await db.query(`
  create schema changing;
  grant usage on schema changing to sea_anon;
  ${CHANGES.map(({ name }) => tableSql(name, COLUMNS) + reference(name)).join("")}
  ${tableSql("returned", COLUMNS)}
`);
const api = await startApi({
  dbSchemas: ["changing"],
  dbPool: 1,
  ...(capabilities.postgis ? { dbExtraSearchPath: ["public", "gis"] } : {}),
  preset: plus,
});

type Entries = readonly (readonly [name: string, value: string | null])[];

/** Returns whether GeoJSON has the column among the properties. The geometry has a separate key. */
const isPlain = ([name]: readonly [string, unknown]): boolean => name !== "at";

/** The entries of a row, with numbers as strings, as in CSV. */
const listEntries = (row: object): Entries =>
  Object.entries(row)
    .filter(isPlain)
    .map(([name, value]) => [name, value === null ? null : String(value)] as const);

/** The entries of an array of rows or of a single row. */
const objects = (json: unknown): readonly Entries[] => [json].flat().map((row) => listEntries(row as object));

const fromJson = (text: string): readonly Entries[] => objects(JSON.parse(text));

const fromCsv = (text: string): readonly Entries[] => {
  const [header = [], ...lines] = text.split("\n").map((line) => line.split(","));
  return lines.map((fields) => header.map((name, i) => [name, fields[i] || null] as const).filter(isPlain));
};

interface Media {
  readonly type: string;
  readonly read: (text: string) => readonly Entries[];
  readonly hasNulls?: boolean;
}

const MEDIA: readonly Media[] = [
  { type: "application/json", read: fromJson },
  { type: "text/csv", read: fromCsv },
  { type: "application/vnd.pgrst.object+json", read: fromJson },
  { type: "application/vnd.pgrst.array+json;nulls=stripped", read: fromJson, hasNulls: false },
  { type: "application/vnd.pgrst.object+json;nulls=stripped", read: fromJson, hasNulls: false },
  { type: "application/x-ndjson", read: (text) => text.trimEnd().split("\n").flatMap(fromJson) },
  ...(capabilities.postgis
    ? [
        {
          type: "application/geo+json",
          read: (text: string) =>
            objects(JSON.parse(text).features.map(({ properties }: { readonly properties: object }) => properties)),
        },
      ]
    : []),
];

const representation = rolledBack("return=representation");

type Row = Readonly<Record<string, string | null>>;

interface RequestKind {
  readonly what: string;
  readonly send: (name: string, accept: string) => Promise<Answer>;
  /** The row in the response, if it differs from the stored one. */
  readonly row?: (storedRow: Row) => Row;
}

const OF_TABLES: readonly RequestKind[] = [
  { what: "GET", send: (name, accept) => api.get(`/${name}`, { headers: { accept } }) },
  {
    what: "POST",
    send: (name, accept) =>
      api.post(`/${name}`, { headers: { ...representation, accept }, body: { id: 2, mail: "m@x" } }),
    row: () => ({ id: "2", mail: "m@x", zip: "9" }),
  },
  {
    what: "PUT",
    send: (name, accept) =>
      api.put(`/${name}?id=eq.2`, { headers: { ...representation, accept }, body: { id: 2, mail: "m@x" } }),
    row: () => ({ id: "2", mail: "m@x", zip: "9" }),
  },
  {
    what: "upsert",
    send: (name, accept) =>
      api.post(`/${name}`, {
        headers: { ...rolledBack("return=representation", "resolution=merge-duplicates"), accept },
        body: { id: 1, mail: "m@x" },
      }),
    row: (storedRow) => ({ ...storedRow, mail: "m@x" }),
  },
  {
    what: "PATCH",
    send: (name, accept) =>
      api.patch(`/${name}?id=eq.1`, { headers: { ...representation, accept }, body: { mail: "new@x" } }),
    row: (storedRow) => ({ ...storedRow, mail: "new@x" }),
  },
  {
    what: "DELETE",
    send: (name, accept) => api.delete(`/${name}?id=eq.1`, { headers: { ...representation, accept } }),
  },
];
const OF_FUNCTIONS: readonly RequestKind[] = [
  { what: "a function of rows", send: (name, accept) => api.get(`/rpc/all_${name}`, { headers: { accept } }) },
  { what: "a function of one row", send: (name, accept) => api.get(`/rpc/one_${name}`, { headers: { accept } }) },
];

/** Expects embedded rows as JSON in each media type, and spread columns under the names of the loaded schema. */
const expectEmbeds = async (name: string, storedRow: Row, names: readonly string[]): Promise<void> => {
  const row = Object.fromEntries(
    names.filter((column) => column in storedRow).map((column) => [column, storedRow[column]]),
  );
  const embeddedRow = JSON.stringify({ ...row, id: 1 });
  const wholeRow = expect.objectContaining(JSON.parse(embeddedRow));
  const ask = async (select: string, accept: string): Promise<Answer> =>
    api.get(`/of_${name}?select=${select}`, { headers: { accept } });
  expect((await ask(`*,${name}(*)`, "application/json")).json()).toEqual([{ n: 7, to_id: 1, [name]: wholeRow }]);
  const { text } = await ask(`n,${name}(*),to_id`, "text/csv");
  const [header, line] = text.split("\n");
  expect(header).toBe(`n,to_id,${name}`);
  const json = /^7,1,"(.*)"$/.exec(line ?? "")?.[1] ?? text;
  expect(JSON.parse(json.replaceAll('""', '"'))).toEqual(wholeRow);
  for (const { type, read } of MEDIA) {
    const spread = await ask(`n,...${name}(*)`, type);
    // A removed column cannot be read under its name.
    if (spread.status === 400) expect(spread.json().code).toBe("42703");
    else
      for (const [column, value] of read(spread.text).flat())
        if (column !== "n") expect([type, column, value]).toEqual([type, column, storedRow[column] ?? null]);
  }
};

test.each(CHANGES)("R-MED-1 R-MED-2 $name columns: each value appears under its own name", async (change) => {
  const { name, sql, names } = change;
  // The second use prepares the statement.
  for (let turn = 0; turn < 2; turn++)
    for (const { send } of OF_TABLES)
      for (const { type } of MEDIA) expect((await send(name, type)).status).toBeLessThan(300);

  await db.query(sql);

  const [firstRow] = await db.query(`select to_json(t) as row from changing.${name} as t`);
  const storedRow: Row = Object.fromEntries(listEntries(firstRow?.["row"]));
  for (const { what, send, row = (sameRow: Row) => sameRow } of [...OF_TABLES, ...OF_FUNCTIONS]) {
    const values = row(storedRow);
    const entries = names.map((column) => [column, values[column] ?? null] as const);
    for (const { type, read, hasNulls = true } of MEDIA) {
      const { status, text } = await send(name, type);
      const expected = entries.filter(([, value]) => hasNulls || value !== null);
      expect([what, type, status < 300 ? read(text) : text]).toEqual([what, type, [expected]]);
    }
  }
  if (name !== "rebuilt") await expectEmbeds(name, storedRow, names); // CASCADE removed its foreign key
});

test("R-MED-2 CSV of a function has the columns of its JSON, even after the columns have changed", async () => {
  const fetchText = async (accept: string): Promise<string> =>
    (await api.get("/rpc/all_returned", { headers: { accept } })).text;
  const expectSame = async (): Promise<void> =>
    expect(fromCsv(await fetchText("text/csv"))).toEqual(fromJson(await fetchText("application/json")));
  // Prepared statements keep the columns that the function returned then.
  for (let turn = 0; turn < 2; turn++) await expectSame();
  for (const change of ["drop column nick", "add column zip text default '9'", "rename column phone to nick"]) {
    await db.query(`alter table changing.returned ${change}`);
    await expectSame();
  }
  await db.query(
    `drop table changing.returned cascade; ${tableSql("returned", "phone text, mail text, id int, nick text")}`,
  );
  await expectSame();
});
