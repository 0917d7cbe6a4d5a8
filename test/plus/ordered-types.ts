/** A table with a column of each sortable type. */
import type { TestDatabase } from "../support/database.ts";

/** Types of extensions, in a schema outside of every search path. */
const OF_EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  hstore: ["", '"a"=>"1"', '"a"=>NULL', '"b"=>"x, y"'],
  citext: ["a", "B", "c", "D"],
  ltree: ["a", "a.b", "b"],
};

/** Sortable types, each with values. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  bool: ["false", "true"],
  "int4[]": ["{}", "{1}", "{1,NULL}", "{2,1}", "{{1,2},{3,4}}"],
  "text[]": ["{}", String.raw`{"a,b","c\"d"}`, "{NULL}", "{b}", `{"null"}`],
  "float8[]": ["{-Infinity}", "{0.1}", "{NaN}"],
  "timestamptz[]": ['{"2024-01-01 00:00:00.123456+00"}', "{infinity}"],
  "jsonb[]": ['{"{\\"a\\": 1}"}', '{"[1]"}'],
  "kinds.pair": ["(,)", '(1,"a, (b)")', "(1,)", "(2,)", '(2,"")'],
  "kinds.pair[]": ["{}", '{"(1,a)"}', '{"(1,b)","(,)"}'],
  "kinds.boxed": ['("(1,a)",{})', '("(1,a)",{1})'],
  "kinds.mood": ["sad", "ok", 'happy, or "not"'],
  "kinds.mood[]": ["{sad}", "{ok,sad}"],
  "kinds.some_ints": ["{}", "{1}", "{2}"],
  "kinds.pair_domain": ["(1,a)", "(2,b)"],
  "kinds.score": ["1.50", "2"],
  int4range: ["empty", "(,3)", "[1,5)", "[1,)"],
  tstzrange: ['["2024-01-01 00:00:00+00","2024-01-02 00:00:00+00")', '["2024-01-02 00:00:00+00",infinity)'],
  int4multirange: ["{}", "{[1,3),[5,7)}", "{[2,3)}"],
  jsonb: ["null", '"x"', "1.50", "true", "[]", "[1, 2]", '{"a": "b\\"c"}'],
  numeric: ["-Infinity", "-1.500", "0.1", "9007199254740993.1", "NaN"],
  money: ["-5", "1234.5"],
  interval: ["-1 day", "00:00:00.000001", "1 mon", "1 mon 1 day"],
  date: ["-infinity", "0044-03-15 BC", "2024-01-01", "infinity"],
  timetz: ["00:00:00+02", "00:00:00+00"],
  uuid: ["00000000-0000-0000-0000-000000000001", "f0000000-0000-0000-0000-000000000000"],
  bytea: ["\\x", "\\x00ff", "\\x5c"],
  inet: ["10.0.0.0/8", "10.0.0.1", "::1"],
  cidr: ["10.0.0.0/8", "10.1.0.0/16"],
  macaddr: ["08:00:2b:01:02:03", "08:00:2b:01:02:04"],
  varbit: ["", "0", "01", "1"],
  "char(3)": ["", "a", "a b"],
  name: ["a", "b"],
  '"char"': ["a", "b"],
  'text collate "C"': ["", " ", '"a"', "a,b", "eq.1", "null", "ü"],
  tsvector: ["'a'", "'a':1 'b,c':2"],
  tsquery: ["'a'", "'a' & 'b'"],
  pg_lsn: ["0/1", "16/B374D848"],
  xid8: ["1", "2"],
  oid: ["1", "4000000000"],
};

/** The number of rows in the table. */
export const ORDERED_ROWS = 11;

/** Creates `<schema>.typed (id, c0, c1, …)` with a null or a value of each type in each row. @returns the types, in the
 *  order of their columns */
export const createOrdered = async (sql: TestDatabase["query"], schema: string): Promise<readonly string[]> => {
  const extensions = (await sql("select name from pg_available_extensions")) as readonly { readonly name: string }[];
  const knownExtensions = extensions.flatMap(({ name }) => (Object.hasOwn(OF_EXTENSIONS, name) ? [name] : []));
  const types = {
    ...TYPES,
    ...Object.fromEntries(knownExtensions.map((name) => [`ext.${name}`, OF_EXTENSIONS[name] ?? []])),
  };
  await sql(`
    create schema ext;
    create schema kinds;
    grant usage on schema ext, kinds to public;
    ${knownExtensions.map((name) => `create extension if not exists ${name}; alter extension ${name} set schema ext;`).join(" ")}
    create type kinds.pair as (a int, b text);
    create type kinds.boxed as (one kinds.pair, many int[]);
    create type kinds.mood as enum ('sad', 'ok', 'happy, or "not"');
    create domain kinds.some_ints as int[];
    create domain kinds.pair_domain as kinds.pair;
    create domain kinds.score as numeric(5, 2);
    create table ${schema}.typed (id int primary key, ${Object.keys(types)
      .map((type, i) => `c${i} ${type}`)
      .join()})`);
  const rows = Array.from({ length: ORDERED_ROWS }, (_, row) => [
    String(row),
    ...Object.values(types).map((values) => {
      const value = values[(row * 7) % (values.length + 1)];
      return value === undefined ? "null" : `'${value.replaceAll("'", "''")}'`;
    }),
  ]);
  await sql(`insert into ${schema}.typed values ${rows.map((row) => `(${row.join()})`).join()}`);
  return Object.keys(types);
};
