/** CSV round trips: the rows of a table as CSV, sent unchanged to an empty table. */
import { expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import fc from "../support/fast-check.ts";

const COLUMNS = "id int, t text, n numeric, b boolean, j jsonb, o json, a text[], y bytea, at timestamptz";

const db = await testDatabase();
await db.query(`
  create schema trip;
  create type trip.pair as (a text, b text);
  create table trip.source (${COLUMNS}, p trip.pair);
  create table trip.copy (${COLUMNS}, p trip.pair);
  create table trip.word (t text);
  create table trip.word_copy (t text);
  grant usage on schema trip to sea_anon;
  grant all on all tables in schema trip to sea_anon;
`);
const api = await startApi({ dbSchemas: ["trip"], compatMode: false, restPrefixes: ["/"] });
const exactApi = await startApi({ dbSchemas: ["trip"], compatMode: true });

const fetchCsv = async (table: string, from = api): Promise<string> =>
  (await from.get(`/${table}`, { headers: { accept: "text/csv" } })).text;
const send = async (table: string, body: string, target = api): Promise<number> =>
  (await target.post(`/${table}`, { headers: { "content-type": "text/csv" }, body })).status;
const readRows = async (table: string): Promise<unknown> =>
  db.query(`select r::text from trip.${table} r order by r::text`);

/** Strings of characters that have a meaning in CSV, arrays, JSON or byte strings. */
const text = fc.string({
  unit: fc.constantFrom("\\", '"', ",", "\n", "\r", " ", "{", "}", "(", "x", "é", "N"),
  maxLength: 6,
});
const value = fc.oneof(text, fc.constantFrom("NULL", "", "null", "\\N", '"NULL"', ",NULL,", "\\x00ff"));

test("R-MED-2 R-BODY-6 CSV of rows of all types can be sent back unchanged", async () => {
  const row = fc.record({
    t: fc.option(value),
    n: fc.option(fc.constantFrom("1.50", "-0.001", "NaN", "12345678901234567890")),
    b: fc.option(fc.boolean()),
    j: fc.option(fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom("\\", '"', ",", "x") })),
    a: fc.option(fc.array(fc.option(value), { maxLength: 3 })),
    p: fc.option(fc.record({ a: fc.option(value), b: fc.option(value) })),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 4 }), async (rows) => {
      await db.query("truncate trip.source, trip.copy");
      for (const [id, { t, n, b, j, a, p }] of rows.entries())
        await db.query(
          `insert into trip.source values ($1, $2, $3, $4, $5, $6, $7, convert_to($2, 'UTF8'), '2024-02-29 12:00:00.5+02',
             case when $8::boolean then row($9::text, $10::text)::trip.pair end)`,
          [id, t, n, b, j === null ? null : JSON.stringify(j), JSON.stringify(t), a, p !== null, p?.a, p?.b],
        );
      const csv = await fetchCsv("source");
      expect([await send("copy", csv), csv]).toEqual([201, csv]);
      expect(await readRows("copy")).toEqual(await readRows("source"));
    }),
    { numRuns: 60 },
  );
});

test("R-MED-2 R-BODY-6 CSV of one column, with and without values, can be sent back unchanged", async () => {
  await db.query(String.raw`truncate trip.word, trip.word_copy;
    insert into trip.word values (null), (''), ('NULL'), ('"'), ('\'), ('a,b'), (E'\n')`);
  const csv = await fetchCsv("word");
  expect(csv).toBe('t\nNULL\n""\n"NULL"\n""""\n"\\"\n"a,b"\n"\n"');
  expect(await send("word_copy", csv)).toBe(201);
  expect(await readRows("word_copy")).toEqual(await readRows("word"));
});

test("R-BODY-6 an invalid document in a JSON column of CSV is 400", async () => {
  expect(await send("copy", 'id,j\n1,"{""a"":"\n')).toBe(400);
});

test("R-MED-2 R-BODY-6 with COMPAT_MODE backslashes are doubled, and empty fields are texts", async () => {
  await db.query(String.raw`truncate trip.word; insert into trip.word values ('a\b'), (null)`);
  expect(await fetchCsv("word", exactApi)).toBe('t\n"a\\\\b"\n');
  await db.query("truncate trip.copy");
  expect(await send("copy", 'id,t\n1,\n2,"NULL"\n3,NULL\n', exactApi)).toBe(201);
  expect(await db.query("select t from trip.copy order by id")).toEqual([{ t: "" }, { t: null }, { t: null }]);
  await db.query("truncate trip.copy");
  expect(await send("copy", 'id,t\n1,\n2,"NULL"\n3,NULL\n4,""\n')).toBe(201);
  expect(await db.query("select t from trip.copy order by id")).toEqual([
    { t: null },
    { t: "NULL" },
    { t: null },
    { t: "" },
  ]);
});

test.each([
  ["csv", false],
  ["csv of the compatibility mode", true],
])("R-MED-2c PostgreSQL prints each row of %s once", async (_what, compatMode) => {
  const planApi = await startApi({ dbSchemas: ["trip"], compatMode, restPrefixes: ["/"], dbPlanEnabled: true });
  const accept = 'application/vnd.pgrst.plan+text; for="text/csv"; options=verbose';
  const plan = (await planApi.get("/word?select=t&limit=5", { headers: { accept } })).text;
  expect(plan.match(/_rows\.\*\)::text/g)).toHaveLength(1);
});
