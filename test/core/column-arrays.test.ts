/** Lists of rows as one array per column. Inserts, responses and errors are the same as with JSON. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { definePlugin, without, type Plugin, type RowSource } from "../../core/index.ts";
import { columnArrays } from "../../plugins/speed/column-arrays/index.ts";
import { asAdmin, startApi, type TestApi } from "../support/api.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";
import { chosenSeed, createRandom } from "../support/random.ts";

const SCHEMA = `
  create schema lists;
  create domain lists.rank as int check (value < 100);
  create type lists.size as enum ('small', 'large');
  create table lists.thing (
    id int generated always as identity, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, n numeric, n31 numeric(3,1), b bool,
    t text, v3 varchar(3), c3 char(3), u uuid, d date, ts timestamp, tz timestamptz, tz0 timestamptz(0),
    j jsonb, r lists.rank, e lists.size, a int[], "odd ""name" int default 7);
  create table lists.pair (a int primary key, b text not null default 'none');
  insert into lists.pair values (1, 'x'), (2, 'y');
  create table lists.audit (id int generated always as identity, what text);
  create function lists.note() returns trigger language plpgsql as $$
    begin new.what := new.what || ' by ' || (current_setting('request.jwt.claims')::json ->> 'role'); return new; end $$;
  create trigger note before insert on lists.audit for each row execute function lists.note();
  create view lists.pairs as select a, b from lists.pair;
  grant usage on schema lists to sea_anon;
  grant all on all tables in schema lists to sea_anon;
`;

/** The number of lists sent as arrays, and of lists sent as JSON although their columns have arrays. */
const counts = { arrays: 0, json: 0 };

const counting: Plugin = definePlugin({
  name: "counting",
  rowSources: (columnArrays.rowSources ?? []).map((spec) => ({
    ...spec,
    prepare: (insert, model) => {
      const source: RowSource | undefined = spec.prepare(insert, model);
      return (
        source && {
          ...source,
          values: (rows) => {
            const values = source.values(rows);
            counts[values === undefined ? "json" : "arrays"]++;
            return values;
          },
        }
      );
    },
  })),
});

let database: TestDatabase;
let arrays: TestApi;
let json: TestApi;
beforeAll(async () => {
  database = await testDatabase();
  await database.query(SCHEMA);
  const options = { dbSchemas: ["lists"] };
  arrays = await startApi({ ...options, parts: [without("column-arrays"), counting] });
  json = await startApi({ ...options, parts: [without("column-arrays")] });
});
afterAll(async () => {
  await arrays.close();
  await json.close();
});

type ListFormat = "arrays" | "json" | "neither";

/** Returns the format in which the lists of the work were sent. */
const detectFormat = async (work: () => Promise<unknown>): Promise<ListFormat> => {
  const before = { ...counts };
  await work();
  if (counts.arrays > before.arrays) return "arrays";
  return counts.json > before.json ? "json" : "neither";
};

/** Posts the list to both APIs. The rows are returned in their order, without the id. */
const post = async (
  path: string,
  body: string,
  { prefer = "return=representation", ...headers }: Readonly<Record<string, string>> = {},
) => {
  const parts = {
    headers: { "content-type": "application/json", prefer: `tx=rollback,${prefer}`, ...headers },
    body: Buffer.from(body),
  };
  const answers: { status: number; body: unknown; range: unknown }[] = [];
  const format = await detectFormat(async () => {
    for (const api of [arrays, json]) {
      const answer = await api.post(path, parts);
      answers.push({
        status: answer.status,
        body: answer.text === "" ? "" : (answer.json() as unknown),
        range: answer.headers["content-range"],
      });
    }
  });
  const [arraysAnswer, jsonAnswer] = answers;
  expect(arraysAnswer, body).toEqual(jsonAnswer);
  return { ...arraysAnswer!, format }; // two rows were pushed
};

const buildRowsText = (name: string, texts: readonly string[]): string =>
  `[${texts.map((text) => `{${JSON.stringify(name)}:${text}}`).join(",")}]`;

describe("values that arrays represent exactly", () => {
  const certain: readonly (readonly [string, readonly string[]])[] = [
    ["i2", ["0", "-1", "9999", "null", "-0", '"5"']],
    ["i4", ["1", "-12345678", "999999999", "null"]],
    ["i8", ["999999999999999999", "-1"]],
    ["f4", ["1.5", "-0.25", "0", "123456789.123"]],
    ["f8", ["1.5", "-0.25", "0", "null"]],
    [
      "n",
      ["1.50", "-0.000000000000000000000000000000001", "12345678901234567890123456789012345678901234567890", '"1.5"'],
    ],
    ["n31", ["1.5", "-12", "99.9", "0.0"]],
    ["b", ["true", "false", "null", '"true"']],
    [
      "t",
      [
        '""',
        '"null"',
        '"NULL"',
        '"{a,b}"',
        "\"a, 'b' \u00e9 \u{1f600} \"",
        '"  "',
        "12.50",
        "true",
        "null",
        '"\u007f"',
        '"a\\nb"',
        '"\\u0041"',
        '"\\\\"',
        '"\\""',
        '"\\/"',
      ],
    ],
    ["v3", ['"abc"', '""', "123", "null", '"\u00e9\u00e9"']],
    ["c3", ['"a"', '"abc"', "12"]],
    ["u", ['"8d5f8a4e-6f0c-4d7b-9a52-0d4a1f2b3c4d"', '"8D5F8A4E-6F0C-4D7B-9A52-0D4A1F2B3C4D"', "null"]],
    ["d", ['"2024-02-28"', '"0001-01-01"', '"9999-12-28"']],
    ["ts", ['"2024-02-28"', '"2024-02-28T23:59:59.999999"', '"2024-02-28 00:00Z"', '"2024-02-28 00:00+14:00"']],
    ["tz", ['"2024-02-28"', '"2024-02-28T23:59:59.9"', '"2024-02-28 00:00Z"', '"2024-02-28 00:00-0330"']],
    ["tz0", ['"2024-02-28T23:59:59.9Z"']],
    ['odd "name', ["1", "null"]],
  ];
  test.each(certain)("X-INS-2 a column of type %s is sent as an array", async (column, texts) => {
    const answer = await post(
      `/thing?select=${encodeURIComponent(`"${column.replace('"', '\\"')}"`)}`,
      buildRowsText(column, texts),
    );
    expect(answer).toMatchObject({ status: 201, format: "arrays" });
    expect(answer.body).toHaveLength(texts.length);
  });

  const doubtful: readonly (readonly [string, readonly string[]])[] = [
    ["i2", ["32767", "32768", "1.0", "1e2", '"x"', "true", "[1]", "{}"]],
    ["i4", ["2147483647", "2147483648", "-2147483649", "1.5", '" 7 "']],
    ["i8", ["9223372036854775807", "9223372036854775808"]],
    ["f4", ["1e39", "1e-50", '"NaN"', "1234567890123456789012345678901"]],
    ["f8", ["1e400", '"Infinity"', "1e5"]],
    ["n", ["1e3", '"NaN"', "1e200000"]],
    ["n31", ["99.95", "100", "-99.95", "1.25", "1e1"]],
    ["b", ["1", "0", '"t"', '"maybe"']],
    ["t", ['{"a":1}', "[1]", '"\\u0000"', '"\\ud800"']],
    ["v3", ['"abcd"', '"abc  "', "1234", "true"]],
    ["c3", ['"abcd"', '"abc  "']],
    ["u", ['"8d5f8a4e6f0c4d7b9a520d4a1f2b3c4d"', '"{8d5f8a4e-6f0c-4d7b-9a52-0d4a1f2b3c4d}"', '"8d5f8a4e"', "1"]],
    [
      "d",
      [
        '"2024-02-29"',
        '"2023-02-29"',
        '"2024-13-01"',
        '"infinity"',
        '"today"',
        '"0000-01-01"',
        "20240228",
        '"2024-02-28 10:00"',
      ],
    ],
    [
      "ts",
      [
        '"2024-02-28 24:00"',
        '"2024-02-28 25:00"',
        '"2024-02-28 00:00 Europe/Berlin"',
        '"yesterday"',
        '"2024-02-28T00:00:60"',
      ],
    ],
    ["tz", ['"2024-02-28 00:00+16:00"', '"2024-02-28 00:00 Nowhere"', '"epoch"', "5"]],
  ];
  for (const [column, texts] of doubtful)
    test(`X-INS-2 uncertain values of ${column} are read as JSON`, async () => {
      for (const text of texts) {
        const answer = await post(`/thing?select=${column}`, buildRowsText(column, ["null", text]));
        expect(answer.format, text).not.toBe("arrays");
      }
    });

  test.each([
    ["j", '{"x":1}'],
    ["r", "5"],
    ["r", "500"],
    ["e", '"small"'],
    ["e", '"huge"'],
    ["a", "[1]"],
  ])("X-INS-2 a column of another type is read as JSON: %s (%s)", async (column, text) => {
    expect((await post(`/thing?select=${column}`, buildRowsText(column, [text, "null"]))).format).toBe("neither");
  });
});

describe("lists that go as arrays", () => {
  test.each([
    ["keys in one order", '[{"i4":1,"t":"a"},{"i4":2,"t":"b"}]', "arrays"],
    ["blanks between them", '[ {"i4" : 1, "t":"a"} ,\n{"i4":2,"t" :"b"}]', "arrays"],
    ["one row", '[{"i4":1}]', "arrays"],
    ["keys in another order", '[{"i4":1,"t":"a"},{"t":"b","i4":2}]', "arrays"],
    ["a key that is there twice", '[{"i4":1,"i4":2},{"i4":3,"i4":4}]', "arrays"],
    ["an object", '{"i4":1}', "neither"],
    ["a key with an escape", '[{"\\u0069\\u0034":1}]', "arrays"],
    ["one column among them of another type", '[{"i4":1,"r":5}]', "neither"],
    ["an unknown column", '[{"i4":1,"x":5}]', "neither"],
    ["a cut list", '[{"i4":1},{"i4":2', "neither"],
    ["a control character", '[{"t":"a\nb"}]', "neither"],
    ["no row", "[]", "neither"],
    ["empty rows", "[{},{}]", "neither"],
    ["more than 64 KiB", JSON.stringify(Array.from({ length: 9000 }, (_, i4) => ({ i4 }))), "neither"],
  ])("X-INS-2 %s", async (_, body, format) => {
    expect((await post("/thing?select=i4,t", body)).format).toBe(format);
  });

  test("X-INS-2 defaults, `columns`, counts and single objects work", async () => {
    const body = '[{"i4":1,"t":"a"},{"i4":2,"t":"b"}]';
    for (const prefer of [
      "missing=default",
      "return=minimal,count=exact",
      "return=headers-only",
      "missing=default,return=representation,count=exact",
    ])
      expect((await post("/thing?select=i4,t", body, { prefer })).format, prefer).toBe("arrays");
    expect((await post("/thing?select=i4&columns=i4", body)).format).toBe("neither");
    expect((await post("/thing?select=i4", body, { accept: "application/vnd.pgrst.object+json" })).status).toBe(406);
  });

  test("X-INS-2 arrays of timestamps use the time zone of the request", async () => {
    const prefer = "timezone=America/Los_Angeles,return=representation";
    expect(await post("/thing?select=tz", '[{"tz":"2024-02-28 10:00"}]', { prefer })).toMatchObject({
      format: "arrays",
      body: [{ tz: "2024-02-28T10:00:00-08:00" }],
    });
  });

  test("X-INS-2 upserts, views and constraints work", async () => {
    const upsert = { prefer: "resolution=merge-duplicates,return=representation" };
    expect(await post("/pair?order=a", '[{"a":2,"b":"z"},{"a":3,"b":"q"}]', upsert)).toMatchObject({
      status: 201,
      format: "arrays",
      body: [
        { a: 2, b: "z" },
        { a: 3, b: "q" },
      ],
    });
    expect(await post("/pairs", '[{"a":2,"b":"z"}]')).toMatchObject({
      status: 409,
      format: "arrays",
      body: { code: "23505" },
    });
    expect(await post("/pair", '[{"a":11,"b":"z"},{"a":12,"b":null}]')).toMatchObject({
      status: 400,
      format: "arrays",
    });
    expect((await post("/pair", '[{"a":4,"b":"z"},{"a":4,"b":"z"}]', upsert)).format).toBe("arrays");
  });

  test("X-INS-2 user-defined code sees the same statement values as with JSON", async () => {
    expect(await post("/audit?select=what", '[{"what":"x"},{"what":"y"}]')).toMatchObject({
      status: 201,
      format: "arrays",
      body: [{ what: "x by sea_anon" }, { what: "y by sea_anon" }],
    });
  });
});

describe("GraphQL", () => {
  const insert = async (type: string, objects: unknown, fields: string) => {
    const query = `mutation ($objects: [${type}_insert_input!]!) { insert_${type}(objects: $objects) { affected_rows returning { ${fields} } } }`;
    const answers: unknown[] = [];
    const format = await detectFormat(async () => {
      for (const api of [arrays, json]) answers.push(await api.gql(query, { objects }, asAdmin()));
    });
    expect(answers[0]).toEqual(answers[1]);
    return { format, answer: answers[0] as { data?: Record<string, { affected_rows: number }> } };
  };
  const repeatRow = <Row>(row: (i: number) => Row): readonly Row[] => Array.from({ length: 60 }, (_, i) => row(i));

  test("X-INS-2 rows in a variable work", async () => {
    const rows = repeatRow((i) => ({
      i4: i,
      t: `text ${i}`,
      n: i / 4,
      b: i % 2 === 0,
      tz: "2024-01-01T00:00:00Z",
      v3: null,
    }));
    const { format, answer } = await insert("lists_thing", rows, "i4 t n b tz v3");
    expect(format).toBe("arrays");
    expect(answer.data?.["insert_lists_thing"]?.affected_rows).toBe(60);
  });

  test("X-INS-2 rows without columns count as rows", async () => {
    const empty = Array.from({ length: 600 }, () => ({}));
    const { format, answer } = await insert("lists_thing", empty, "i4");
    expect(format).toBe("neither");
    expect(answer.data?.["insert_lists_thing"]?.affected_rows).toBe(600);
  });

  test.each<[string, (i: number) => Readonly<Record<string, unknown>>]>([
    ["a value that is coerced", (i: number) => ({ i4: i === 30 ? "30" : i, t: "long enough for a list that is held" })],
    ["an escape", (i: number) => ({ i4: i, t: `line\n${i} long enough for a list that is held` })],
    ["a number that is too large", (i: number) => ({ i4: i === 30 ? 99_999_999_999 : i, t: "long enough, held" })],
    ["a null for NOT NULL", (i: number) => ({ a: i + 1000, b: i === 30 ? null : "long enough for a list" })],
  ])("X-INS-2 %s", async (_, row) => {
    const rows = repeatRow(row);
    await insert("a" in rows[0]! ? "lists_pair" : "lists_thing", rows, "a" in rows[0]! ? "a b" : "i4 t"); // 60 in all
  });
});

test("X-INS-2 random lists give the same rows", async () => {
  const { int: random, pick } = createRandom(chosenSeed());
  const VALUES: Readonly<Record<string, readonly string[]>> = {
    i4: ["1", "-5", "null", "999999999", "2147483648", "1e2"],
    n31: ["1.5", "99.9", "99.95", "-3", "null"],
    t: ['"a"', '"b,c}"', '"\\t"', '"é"', "5", "null", '"\\ud83d\\ude00"'],
    v3: ['"abc"', '"ab"', '"abcd"', "null"],
    ts: ['"2024-02-28"', '"2024-02-30"', '"2024-01-31 10:00"', "null"],
    b: ["true", "false", "null", '"t"'],
  };
  const formats = new Set<ListFormat>();
  for (let i = 0; i < 150; i++) {
    const columns = Object.keys(VALUES).filter(() => random(2) === 0);
    if (columns.length === 0) continue;
    const rows = Array.from({ length: 1 + random(5) }, () => {
      const cells = columns.map(
        (column) => `"${column}":${random(3) > 0 ? VALUES[column]![0]! : pick(VALUES[column]!)}`,
      ); // one of its keys
      return `{${cells.join(",")}}`;
    });
    formats.add((await post(`/thing?select=${columns.join(",")}`, `[${rows.join(",")}]`)).format);
  }
  expect([...formats].sort()).toEqual(["arrays", "json"]);
});

test("X-INS-1 two row sources of one name are rejected", async () => {
  await expect(startApi({ parts: [counting] })).rejects.toThrow(/row source/);
});
