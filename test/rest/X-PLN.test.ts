/** How PostgreSQL plans with arguments of POST calls: docs/reference/statements.md. */
import { describe, expect, test } from "vitest";
import { startApi } from "../support/api.ts";

const api = await startApi();

const TYPES = [
  "int",
  "bigint",
  "numeric",
  "real",
  "boolean",
  "text",
  "varchar",
  "char",
  "bytea",
  "bit",
  "uuid",
  "date",
  "timestamptz",
  "interval",
  "name",
  "point",
  "xml",
  "int4range",
  "json",
  "jsonb",
  "int[]",
  "sea.plain_mood",
  "sea.plain_short",
  "sea.plain_sure",
  "sea.plain_pair",
];
const VALUES = [
  "1",
  "-0",
  "1.50",
  "1e3",
  "99999999999999999999",
  "true",
  "null",
  '""',
  '" 7 "',
  '"1"',
  '"NULL"',
  '"{1,2}"',
  '"(1,2)"',
  '"[1,5)"',
  '"happy"',
  '"\\\\x6162"',
  '"a\\"b\\\\c\\nd\\/e"',
  '"Ålesund 🚢"',
  '"2024-02-30"',
  '"2024-02-29T12:00:00+02:00"',
  '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"',
  '"1 day"',
  '"<a/>"',
  '"101"',
  '{"a":1}',
  "[1,2]",
];

await api.sql(`
  create type sea.plain_mood as enum ('happy', 'sad');
  create domain sea.plain_short as varchar(3) check (value <> '1');
  create domain sea.plain_sure as int not null;
  create type sea.plain_pair as (a int, b int);
  ${TYPES.map(
    (type, i) => `
  create function sea.plain_${i}(v ${type}, w text default 'w') returns text language sql stable as $$ select coalesce(v::text, 'nothing') || w $$;
  create function sea.plain_rows_${i}(v ${type}) returns table (id int, said text) language sql volatile as $$ select 1, v::text $$;`,
  ).join("")}
  create function sea.plain_strict(a int, b text) returns text language sql strict immutable as $$ select a || b $$;
  create function sea.plain_all(a int, b text default 'b', variadic c int[] default '{}') returns text language sql as $$ select concat_ws(',', a, b, c::text) $$`);
await api.reload();

const call = async (name: string, body: string): Promise<string> => {
  const { status, text } = await api.post(`/rpc/${name}`, { headers: { "content-type": "application/json" }, body });
  return `${status} ${text}`;
};

describe("X-PLN-8 arguments of a JSON body are read from the body's text", () => {
  // The database parses an array, but values of an object are bound one by one.
  test.each(TYPES.map((type, i) => [type, i] as const))("X-PLN-8 %s", async (_, i) => {
    for (const value of VALUES) {
      for (const name of [`plain_${i}`, `plain_rows_${i}`]) {
        const boundAnswer = await call(name, `{"v":${value}}`);
        const read = await call(name, `[{"v":${value}}]`);
        expect(boundAnswer, `${name} ${value}`).toBe(read);
      }
    }
  });

  test.each([
    ["the last of repeated keys counts", "plain_strict", '{"a":1,"a":2,"b":"x"}', '200 "2x"'],
    ["a null for a strict function gives null", "plain_strict", '{"a":null,"b":"x"}', "200 null"],
    [
      "escapes in keys and values are decoded",
      "plain_strict",
      '{"\\u0061":1,"b":"\\u00e9\\uD83D\\uDEA2"}',
      '200 "1é🚢"',
    ],
    ["an absent argument takes its default", "plain_0", '{"v":3}', '200 "3w"'],
    ["blanks between tokens are ignored", "plain_strict", ' \n{ "b" : "x" ,\t"a" : 1 } ', '200 "1x"'],
    ["a variadic parameter takes a list", "plain_all", '{"a":1,"c":[2,3]}', '200 "1,b,{2,3}"'],
    ["an absent variadic parameter takes its default", "plain_all", '{"a":1}', '200 "1,b,{}"'],
  ])("X-PLN-8 %s", async (_, name, body, answer) => {
    expect(await call(name, body)).toBe(answer);
  });

  test.each([
    ["half of a surrogate pair is rejected", '{"a":1,"b":"\\ud83d"}', "22P02"],
    ["a NUL is rejected", '{"a":1,"b":"\\u0000"}', "22P05"],
    ["an invalid number is rejected", '{"a":"x","b":""}', "22P02"],
    ["a number that is too large is rejected", '{"a":99999999999,"b":""}', "22003"],
    ["an object for a number is rejected", '{"a":{},"b":""}', "22P02"],
  ])("X-PLN-8 %s", async (_, body, code) => {
    const answer = await call("plain_strict", body);
    expect(answer).toContain("400 ");
    expect(JSON.parse(answer.slice(4)).code).toBe(code);
    expect(answer).toBe(await call("plain_strict", `[${body}]`));
  });

  test("X-PLN-8 a long body reaches the function unchanged", async () => {
    const longText = "é".repeat(20_000);
    expect(await call("plain_strict", `{"a":1,"b":"${longText}"}`)).toBe(`200 "1${longText}"`);
  });
});
