/**
 * A table of requests, and whether their statements count as proven. A statement that is not on the list of
 * plugins/speed/plan-proof.ts is not proven.
 */
import { expect, test } from "vitest";
import { definePlugin, joinSql, sql, type Program } from "../../core/index.ts";
import { asAdmin, startApi } from "../support/api.ts";
import { watchExecutions } from "../support/context.ts";

const programs: Program[] = [];

/** Records the executed statements. */
const watching = watchExecutions((execution) => {
  programs.push(...execution.programs.map(({ program }) => program));
});

/** Does not declare its parts. */
const unsaid = definePlugin({
  name: "unsaid",
  operators: [
    { name: "same", types: ["any"], operand: "scalar", compile: (column, operand) => sql`${column} = ${operand}` },
  ],
  aggregates: [{ name: "lowest", compile: (columns) => sql`min(${joinSql(columns)})` }],
  orderings: [{ name: "as_is", types: ["any"], operands: [], compile: (column) => column }],
});

/** Declares that it uses only parts of PostgreSQL. */
const declaringPlugin = definePlugin({
  name: "said",
  aggregates: [{ name: "highest", compile: (columns) => sql`max(${joinSql(columns)})`, builtIn: ["max"] }],
  orderings: [
    {
      name: "far",
      types: ["int4"],
      operands: [{ name: "from", type: "int4" }],
      compile: (column, [from]) => sql`(${column} - ${from!})`,
      builtIn: ["-"],
    },
  ],
});

const api = await startApi({
  dbSchemas: ["sea", "land"],
  dbAggregatesEnabled: true,
  dbPlanEnabled: true,
  parts: [unsaid, declaringPlugin, watching],
});
const gql = await startApi({ dbSchemas: ["public"], parts: [watching] });

await api.sql(`
  create table sea.crates (id int primary key, label text default upper('x'), parent_id int references sea.crates);
  create function sea.crate_label() returns text language sql stable as $$ select 'crate' $$;
  create table sea.stamped (id int primary key, label text default sea.crate_label());
  create table sea.checked (id int primary key, label text check (label <> sea.crate_label()));
  create table sea.indexed (id int primary key, label text);
  create function sea.folded(t text) returns text language sql immutable as $$ select lower(t) $$;
  create index on sea.indexed (sea.folded(label));
  create table sea.boxes (id int primary key);
  create table sea.box_notes (id int primary key, box_id int references sea.boxes on delete cascade);
  create table sea.box_marks (id int primary key, note_id int references sea.box_notes on delete set null);
  create function sea.mark() returns trigger language plpgsql as $$ begin return new; end $$;
  create trigger mark before update on sea.box_marks for each row execute function sea.mark();
  create table sea.parents (id int primary key);
  create table sea.children () inherits (sea.parents);
  create trigger mark before update on sea.children for each row execute function sea.mark();
  create table sea.ruled (id int primary key);
  create rule twice as on insert to sea.ruled do also notify ruled;
  grant all on sea.crates, sea.stamped, sea.checked, sea.indexed, sea.boxes, sea.box_notes, sea.box_marks, sea.parents, sea.children, sea.ruled to sea_anon;`);
await api.reload();

const checkProof = async (ask: () => Promise<unknown>): Promise<boolean | undefined> => {
  programs.length = 0;
  await ask();
  return programs.length === 0 ? undefined : programs.every((program) => program.isProven === true);
};

const READS: readonly (readonly [path: string, isProven: boolean])[] = [
  ["/vessels", true],
  ["/vessels?select=id,name,ports(name)&tonnage=gt.100&order=name.desc&limit=2", true],
  ["/vessels?select=name,...ports(port:name)&name=like.A*", true],
  ["/vessels?select=name,docks:voyages(id)&name=in.(Ariel,Fram)", true],
  ["/sailors?select=name,vessels(name)", true],
  ["/vessels?select=tonnage.sum(),count()", true],
  ["/vessels?select=tonnage::text", true],
  ["/vessels?select=name&name=fts.ariel", true],
  ["/vessels?ports.name=eq.Oslo&select=name,ports!inner(name)", true],
  ["/t", true],
  ["/soundings", true],
  ["/vessels?name=same.Ariel", false],
  ["/vessels?select=heavy", false],
  ["/vessels?select=name&heavy=is.true", false],
  ["/vessels?order=heavy", false],
  ["/vessels?select=name,home_harbour(name)", false],
  ["/fleet", false],
  ["/port_tonnage", false],
  ["/paints", false], // a domain with representations
  ["/paints?select=id", true],
  ["/beacons", false], // composites
  ["/cabins", false], // row policies
  ["/rpc/add_numbers?a=1&b=2", false],
  ["/rpc/all_vessels", false],
  ["/", false],
];

test.each(READS)("R-TX-10 a read is proven by a list: %s", async (path, isProven) => {
  expect(await checkProof(() => api.get(`/api${path}`))).toBe(isProven);
});

const count = { prefer: "count=estimated" };

test.each([
  ["text/csv", true],
  ["application/vnd.pgrst.object+json", true],
  ["application/vnd.pgrst.plan", true],
  ["text/plain", false], // an aggregate of the database
] as const)("R-TX-10 a media type is proven by the list too: %s", async (accept, isProven) => {
  const path = accept === "text/plain" ? "/api/notices" : "/api/ports?id=eq.1";
  expect(await checkProof(() => api.get(path, { headers: { accept, ...count } }))).toBe(isProven);
});

test.each([
  ["vessels", true],
  ["crates", true],
  ["stamped", false],
  ["checked", false],
  ["indexed", false],
  ["ruled", false],
  ["bells", false], // a trigger
  ["paints", false],
] as const)("R-TX-10 a write runs the code of its table: insert into %s", async (table, isProven) => {
  expect(
    await checkProof(() =>
      api.post(`/api/${table}`, { headers: { prefer: "tx=rollback, return=representation" }, body: { id: 5000 } }),
    ),
  ).toBe(isProven);
});

test.each([
  ["boxes", false], // its key cascades to notes, and theirs to marks, which have a trigger
  ["box_notes", false],
  ["box_marks", false],
  ["parents", false], // a child has a trigger
  ["crates", true],
] as const)("R-TX-10 a delete runs the code of the tables that it reaches: delete from %s", async (table, isProven) => {
  expect(await checkProof(() => api.delete(`/api/${table}?id=eq.1`, { headers: { prefer: "tx=rollback" } }))).toBe(
    isProven,
  );
});

test.each([
  [
    '{ studio(where: {name: {_ilike: "a%"}}, order_by: {name: asc}) { name takes { length } takes_aggregate { aggregate { count max { tempo } } } } }',
    true,
  ],
  ["{ studio(where: {takes: {kept: {_eq: true}}}) { name } }", true],
  [
    "mutation { update_take(where: {id: {_eq: -1}}, _set: {kept: true}) { affected_rows returning { tempo studio { name } } } }",
    true,
  ],
  ["{ album { title } }", false], // row policies
  ["{ person { name person_title } }", false],
  ['{ search_albums(args: {term: "a"}) { id } }', false],
  ["{ album_title { title } }", false],
] as const)("R-TX-10 on the GraphQL surface: %s", async (query, isProven) => {
  expect(await checkProof(() => gql.gql(query, {}, asAdmin()))).toBe(isProven);
});

test.each([
  ["/vessels?select=tonnage.highest()", true],
  ["/vessels?select=tonnage.lowest()", false],
  ["/vessels?select=id&order=tonnage.far(5)", true],
  ["/vessels?select=id&order=tonnage.as_is()", false],
] as const)(
  "X-AGG-1 X-ORD-1 R-TX-10 parts of plugins are proven only if they declare it: %s",
  async (path, isProven) => {
    expect(await checkProof(() => api.get(`/api${path}`))).toBe(isProven);
  },
);

test("R-TX-10 an operator, function or cast that shadows one of PostgreSQL is never proven", async () => {
  const proves = async (): Promise<boolean | undefined> => {
    await api.reload();
    return checkProof(() => api.get("/api/vessels?name=eq.Ariel&select=tonnage.max()"));
  };
  expect(await proves()).toBe(true);
  await api.sql(`create function public.same_words(varchar, varchar) returns boolean language sql as $$ select true $$;
    create operator public.= (function = public.same_words, leftarg = varchar, rightarg = varchar)`);
  expect(await proves()).toBe(false);
  await api.sql(
    "drop operator public.= (varchar, varchar); create aggregate public.max(int4) (sfunc = int4larger, stype = int4)",
  );
  expect(await proves()).toBe(false);
  await api.sql(
    "drop aggregate public.max(int4); create type public.weather as enum ('fair'); create function public.weather_json(public.weather) returns json language sql as $$ select '1'::json $$",
  );
  expect(await proves()).toBe(true);
  await api.sql("create cast (public.weather as json) with function public.weather_json(public.weather)");
  expect(await proves()).toBe(false);
  await api.sql("drop type public.weather cascade");
  expect(await proves()).toBe(true);
});
