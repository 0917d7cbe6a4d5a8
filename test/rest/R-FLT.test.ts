import { describe, expect, test } from "vitest";
import { compose, definePlugin, sql, without } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { startApi } from "../support/api.ts";
import { buildFilterRequest, cases } from "../support/cases.ts";

const api = await startApi();

const ids = (...list: readonly number[]) => list.map((id) => ({ id }));
const failure = (code: string, message: unknown = expect.any(String)) => ({
  check: (answer: { json(): unknown }) => expect(answer.json()).toMatchObject({ code, message }),
});

cases(api, [
  {
    title: "R-FLT-1 several filters are combined with AND",
    request: buildFilterRequest("vessels", "tonnage=gte.400&name=neq.Fram"),
    answer: ids(1),
  },
  {
    title: "R-FLT-1 the example of the reference returns its rows",
    request: buildFilterRequest("vessels", "tonnage=gte.500&name=not.ilike.*queen*&flags=cs.{PA}"),
    answer: ids(1),
  },
  {
    title: "R-FLT-1 root conditions choose the rows of a write",
    request: "PATCH /vessels?name=eq.Fram&select=id",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { tonnage: 1 },
    answer: ids(2),
  },
  {
    title: "R-FLT-1 conditions filter the rows that a function returns",
    request: "GET /rpc/all_vessels?select=id&tonnage=lt.500",
    answer: ids(2, 3),
  },
  {
    title: "R-FLT-2 not. before an operator negates the condition",
    request: buildFilterRequest("vessels", "name=not.eq.Fram"),
    answer: ids(1, 3),
  },
  {
    title: "R-FLT-2 a comparison with null follows SQL",
    request: buildFilterRequest("vessels", "home_port_id=not.eq.2"),
    answer: ids(1, 2),
  },
  {
    title: "R-FLT-2 a second not. is rejected",
    request: buildFilterRequest("vessels", "name=not.not.eq.Fram"),
    status: 400,
    ...failure("PGRST100"),
  },
  {
    title: "R-FLT-3 bad literals give the database's error",
    request: buildFilterRequest("vessels", "tonnage=eq."),
    status: 400,
    ...failure("22P02", 'invalid input syntax for type integer: ""'),
  },
  {
    title: "R-FLT-3 an invalid date fails with the error of the database",
    request: buildFilterRequest("voyages", "departs=gt.never"),
    status: 400,
    ...failure("22007", 'invalid input syntax for type date: "never"'),
  },
  {
    title: "R-FLT-3 values beyond the column's type are the database's error",
    request: buildFilterRequest("vessels", "tonnage=eq.99999999999"),
    status: 400,
    ...failure("22003"),
  },
  {
    title: "R-FLT-4 ->> compares as text",
    request: buildFilterRequest("vessels", "specs->>crew=gt.20"),
    answer: ids(1),
  },
  {
    title: "R-FLT-4 -> compares as jsonb",
    request: buildFilterRequest("vessels", "specs->crew=gt.5"),
    answer: ids(1, 2),
  },
  {
    title: "R-FLT-4 -> compares JSON documents",
    request: buildFilterRequest("vessels", 'specs->tags=eq.["a"]'),
    answer: ids(2),
  },
  {
    title: "R-FLT-4 a bare word is not a JSON document",
    request: buildFilterRequest("vessels", "specs->engine->maker=eq.Akers"),
    status: 400,
    ...failure("22P02"),
  },
  {
    title: "R-FLT-4 the type json has no equality",
    request: buildFilterRequest("kinds", "c_json->a=eq.2"),
    status: 404,
    ...failure("42883"),
  },
  {
    title: "R-FLT-5 a filter may use a computed field",
    request: buildFilterRequest("vessels", "heavy=is.true"),
    answer: ids(1, 2),
  },
  {
    title: "R-FLT-5 a filter may use a column that is not selected",
    request: buildFilterRequest("vessels", "tonnage=eq.47"),
    answer: ids(3),
  },
  {
    title: "R-FLT-5 a filter may use a JSON path of a computed field",
    request: buildFilterRequest("vessels", "dims->>length=eq.85"),
    answer: ids(1),
  },
  ...(
    [
      ["eq", "tonnage=eq.402", [2]],
      ["neq", "tonnage=neq.402", [1, 3]],
      ["gt", "tonnage=gt.402", [1]],
      ["gte", "tonnage=gte.402", [1, 2]],
      ["lt", "tonnage=lt.402", [3]],
      ["lte", "tonnage=lte.402", [2, 3]],
      ["like", "name=like.*a*", [2, 3]],
      ["like with %", "name=like.%25m", [2]],
      ["ilike", "name=ilike.a*", [1]],
      ["match", "name=match.^[AF]", [1, 2]],
      ["match leaves the star", "name=match.^Fr.*m$", [2]],
      ["imatch", "name=imatch.^f", [2]],
      ["in", "name=in.(Fram,Gjoa)", [2, 3]],
      ["is null", "home_port_id=is.null", [3]],
      ["isdistinct", "home_port_id=isdistinct.1", [3]],
      ["cs", "flags=cs.{NO}", [1, 2]],
      ["cd", "flags=cd.{NO}", [2, 3]],
      ["ov", "flags=ov.{PA,SE}", [1]],
      ["cs on jsonb", 'specs=cs.{"crew": 12}', [2]],
    ] as const
  ).map(([name, filter, rowIds]) => ({
    title: `R-FLT-1 the operator ${name} selects its rows`,
    request: buildFilterRequest("vessels", filter),
    answer: ids(...rowIds),
  })),
  ...(
    [
      ["cs", "period=cs.[2024-01-10,2024-01-15)", [1]],
      ["cd", "period=cd.[2024-01-01,2024-12-31)", [1, 2]],
      ["ov", "period=ov.[2024-01-20,2024-02-10)", [1, 2]],
      ["sl", "seats=sl.[5,9)", [1]],
      ["sr", "seats=sr.[1,5)", [2]],
      ["nxr", "seats=nxr.[1,5)", [1]],
      ["nxl", "seats=nxl.[5,9)", [2]],
      ["adj", "seats=adj.[9,12)", [2]],
    ] as const
  ).map(([name, filter, rowIds]) => ({
    title: `R-FLT-1 the range operator ${name} selects its rows`,
    request: buildFilterRequest("charters", filter),
    answer: ids(...rowIds),
  })),
  {
    title: "R-FLT-6 any: one element of the array matches",
    request: buildFilterRequest("vessels", "id=eq(any).{3,1}"),
    answer: ids(1, 3),
  },
  {
    title: "R-FLT-6 all: every element of the array matches",
    request: buildFilterRequest("vessels", "tonnage=gt(all).{10,100}"),
    answer: ids(1, 2),
  },
  {
    title: "R-FLT-6 any accepts patterns",
    request: buildFilterRequest("vessels", "name=like(any).{A*,*a}"),
    answer: ids(1, 3),
  },
  {
    title: "R-FLT-6 all with patterns can be negated",
    request: buildFilterRequest("vessels", "name=not.ilike(all).{*r*,*a*}"),
    answer: ids(3),
  },
  {
    title: "R-FLT-6 any with regular expressions",
    request: buildFilterRequest("vessels", "name=match(any).{^F,a$}"),
    answer: ids(2, 3),
  },
  ...["neq(any).{1}", "in(any).(1)", "isdistinct(any).{1}", "cs(any).{1}", "is(any).null", "eq().1"].map((filter) => ({
    title: `R-FLT-6 an operator without quantifiers rejects one: ${filter}`,
    request: buildFilterRequest("vessels", `id=${filter}`),
    status: 400,
    ...failure("PGRST100"),
  })),
  { title: "R-FLT-7 an empty list matches no rows", request: buildFilterRequest("vessels", "id=in.()"), answer: [] },
  {
    title: "R-FLT-7 a list of blanks is an empty list",
    request: buildFilterRequest("vessels", "id=in.(   )"),
    answer: [],
  },
  {
    title: "R-FLT-7 not.in with an empty list matches all rows",
    request: buildFilterRequest("vessels", "id=not.in.()"),
    answer: ids(1, 2, 3),
  },
  {
    title: "R-FLT-7 a list may contain an empty element",
    request: buildFilterRequest("vessels", "id=in.( ,2)"),
    status: 400,
    ...failure("22P02", 'invalid input syntax for type integer: ""'),
  },
  {
    title: "R-FLT-7 R-FLT-7a elements of a list may contain backslashes, quotes and braces",
    request: 'GET /sailors?select=id&name=in.(a\\b,{c},Jo "Red" Lee)',
    answer: ids(4),
  },
  {
    title: "R-FLT-7 R-FLT-7a the word null in a list is text",
    request: buildFilterRequest("vessels", "name=in.(null,Fram)"),
    answer: ids(2),
  },
  {
    title: "R-FLT-7 blanks after commas belong to the element",
    request: buildFilterRequest("vessels", "name=in.(Fram, Gjoa)"),
    answer: ids(2),
  },
  {
    title: "R-FLT-7 blanks before numbers in a list are accepted",
    request: buildFilterRequest("vessels", "id=in.(2, 3)"),
    answer: ids(2, 3),
  },
  {
    title: "R-FLT-7 quoted list elements may contain commas",
    request: 'GET /ports?select=name&name=in.(Oslo,"Baie, La","say \\"x\\"")',
    answer: [{ name: "Oslo" }],
  },
  {
    title: "R-FLT-8 the words of is are read in any letter case",
    request: buildFilterRequest("vessels", "home_port_id=is.NULL"),
    answer: ids(3),
  },
  {
    title: "R-FLT-8 is.not_null equals not.is.null",
    request: buildFilterRequest("vessels", "home_port_id=is.not_null"),
    answer: ids(1, 2),
  },
  {
    title: "R-FLT-8 not.is.null selects rows with a value",
    request: buildFilterRequest("vessels", "home_port_id=not.is.null"),
    answer: ids(1, 2),
  },
  {
    title: "R-FLT-8 not.is.not_null selects rows with null",
    request: buildFilterRequest("vessels", "home_port_id=not.is.not_null"),
    answer: ids(3),
  },
  { title: "R-FLT-8 is.true selects true", request: buildFilterRequest("kinds", "c_boolean=is.true"), answer: ids(1) },
  { title: "R-FLT-8 is.false selects false", request: buildFilterRequest("kinds", "c_boolean=is.false"), answer: [] },
  {
    title: "R-FLT-8 is.unknown selects a null boolean",
    request: buildFilterRequest("kinds", "c_boolean=is.unknown"),
    answer: ids(2),
  },
  {
    title: "R-FLT-8 is.unknown rejects other types than boolean",
    request: buildFilterRequest("vessels", "tonnage=is.unknown"),
    status: 400,
    ...failure("42804"),
  },
  {
    title: "R-FLT-8 is rejects other words",
    request: buildFilterRequest("vessels", "tonnage=is.maybe"),
    status: 400,
    ...failure("PGRST100"),
  },
  {
    title: "R-FLT-9 fts searches a tsvector column",
    request: buildFilterRequest("manifests", "words=fts.cat"),
    answer: ids(1),
  },
  {
    title: "R-FLT-9 fts searches a domain over tsvector",
    request: buildFilterRequest("manifests", "indexed=fts.cat"),
    answer: ids(1),
  },
  {
    title: "R-FLT-9 fts searches a text column",
    request: buildFilterRequest("manifests", "body=fts.barrels"),
    answer: ids(1),
  },
  {
    title: "R-FLT-9 fts uses the language of the filter",
    request: buildFilterRequest("manifests", "body=fts(french).chat"),
    answer: ids(2),
  },
  {
    title: "R-FLT-9 fts accepts a language for a tsvector",
    request: buildFilterRequest("manifests", "words=fts(english).sitting|cats"),
    answer: ids(1),
  },
  {
    title: "R-FLT-9 fts searches a JSON document",
    request: buildFilterRequest("manifests", "notes=fts.rats"),
    answer: ids(1),
  },
  {
    title: "R-FLT-9 fts searches the value of a JSON path",
    request: buildFilterRequest("manifests", "notes->>a=fts.rats"),
    answer: ids(1),
  },
  {
    title: "R-FLT-9 fts searches a computed tsvector",
    request: buildFilterRequest("manifests", "search_words=fts.crate"),
    answer: ids(3),
  },
  {
    title: "R-FLT-9 plfts finds plain words",
    request: buildFilterRequest("manifests", "body=plfts.the fat cats"),
    answer: ids(1),
  },
  {
    title: "R-FLT-9 phfts finds a phrase",
    request: buildFilterRequest("manifests", "body=phfts.fat cats"),
    answer: ids(1),
  },
  {
    title: "R-FLT-9 phfts finds no phrase with the words in another order",
    request: buildFilterRequest("manifests", "body=phfts.cats fat"),
    answer: [],
  },
  {
    title: "R-FLT-9 wfts accepts the syntax of search engines",
    request: buildFilterRequest("manifests", 'body=wfts.cats -"sat on"'),
    answer: [],
  },
  {
    title: "R-FLT-9 wfts can be negated",
    request: buildFilterRequest("manifests", "body=not.wfts(english).cats or crates"),
    answer: ids(2),
  },
  {
    title: "R-FLT-9 fts rejects an unknown language",
    request: buildFilterRequest("manifests", "body=fts(klingon).x"),
    status: 400,
    ...failure("42704"),
  },
  {
    title: "R-FLT-10 eq. compares with the empty string",
    request: buildFilterRequest("kinds", "c_varchar=eq."),
    answer: [],
  },
  {
    title: "R-FLT-10 neq. compares with the empty string",
    request: buildFilterRequest("kinds", "c_varchar=neq."),
    answer: ids(1),
  },
  {
    title: "R-FLT-11 a filter on an embed filters only its rows",
    request: "GET /ports?select=name,vessels(name)&vessels.tonnage=gt.500&order=id",
    answer: [
      { name: "Oslo", vessels: [{ name: "Ariel" }] },
      { name: "Leith", vessels: [] },
    ],
  },
  {
    title: "R-FLT-12 an operator that the type does not have is rejected",
    request: buildFilterRequest("vessels", "tonnage=like.4*"),
    status: 404,
    ...failure("42883", "operator does not exist: integer ~~ unknown"),
  },
  {
    title: "R-ERR-6 the error of a function that the type does not have names it without its schema",
    request: buildFilterRequest("vessels", "tonnage=fts.4"),
    status: 404,
    ...failure("42883", "function to_tsvector(integer) does not exist"),
  },
  {
    title: "R-FLT-13 an extension's operators are found by the search path",
    request: buildFilterRequest("kinds", "c_hstore=cs.depth=>12"),
    answer: ids(1),
  },
]);

test("R-FLT-13 operators of an extension outside the search path are unknown", async () => {
  const bareApi = await startApi({ dbExtraSearchPath: [] });
  const answer = await bareApi.get("/kinds?select=id&c_hstore=cs.depth=>12");
  expect(answer.json()).toMatchObject({ code: "42883" });
  expect(answer.status).toBe(404);
});

describe("operators are plugins", () => {
  const soundsLike = definePlugin({
    name: "length-operator",
    operators: [
      {
        name: "longer",
        graphql: false,
        types: ["text"],
        operand: "scalar",
        isQuantifiable: true,
        compile: (column, operand) => sql`pg_catalog.length(${column}) > (${operand})::int`,
      },
    ],
  });

  test("R-FLT-1 a plugin adds an operator", async () => {
    const extendedApi = await startApi({ parts: [soundsLike] });
    expect((await extendedApi.get("/vessels?select=id&name=longer.4")).json()).toEqual(ids(1));
    expect((await extendedApi.get("/vessels?select=id&order=id&or=(name.not.longer.4,id.eq.1)")).json()).toEqual(
      ids(1, 2, 3),
    );
  });

  test("R-FLT-1 without the plugin the operator is unknown", async () => {
    expect((await api.get("/vessels?select=id&name=longer.4")).json().code).toBe("PGRST100");
    const reducedApi = await startApi({
      preset: (options) => compose(fullCompat(options), without("full-text-operators")),
    });
    const answer = await reducedApi.get("/manifests?body=fts.cats");
    expect(answer.status).toBe(400);
    expect(answer.json().code).toBe("PGRST100");
  });
});
