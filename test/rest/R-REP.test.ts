import { describe, expect, test } from "vitest";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const representation = rolledBack("return=representation");

cases(api, [
  {
    title: "R-REP-1 a domain's casts to JSON, from JSON and from text are all used",
    request: "POST /paints?select=shade&shade=eq.#00ff00",
    headers: representation,
    body: { shade: "#00ff00" },
    status: 201,
    answer: [{ shade: "#00ff00" }],
  },

  {
    title: "R-REP-2 a selected column is shown in its JSON form",
    request: "GET /paints?select=shade&id=eq.1",
    bytes: '[{"shade":"#0000ff"}]',
  },
  {
    title: "R-REP-2 a read of every column shows the JSON forms",
    request: "GET /paints?id=eq.1",
    answer: [{ id: 1, name: "hull", shade: "#0000ff", mixed_at: 1577836800 }],
  },
  {
    title: "R-REP-2 a null of a domain with a representation stays null",
    request: "GET /paints?select=mixed_at&id=eq.2",
    answer: [{ mixed_at: null }],
  },
  {
    title: "R-REP-2 an alias is the key of a represented value",
    request: "GET /paints?select=colour:shade&id=eq.1",
    answer: [{ colour: "#0000ff" }],
  },
  {
    title: "R-REP-2 R-REP-2a an explicit cast applies to the formatted value",
    request: "GET /paints?select=shade::text&id=eq.1",
    answer: [{ shade: '"#0000ff"' }],
  },
  {
    title: "R-REP-2 a view shows the JSON forms",
    request: "GET /paint_cards?id=eq.2",
    answer: [{ id: 2, name: "deck", shade: "#ff0000" }],
  },
  {
    title: "R-REP-2 the response to a PATCH shows the JSON forms of the selected columns",
    request: "PATCH /paints?id=eq.1&select=shade,mixed_at",
    headers: representation,
    body: { name: "x" },
    answer: [{ shade: "#0000ff", mixed_at: 1577836800 }],
  },
  {
    title: "R-REP-2 the response to a DELETE shows the JSON forms of every column",
    request: "DELETE /paints?id=eq.2",
    headers: representation,
    answer: [{ id: 2, name: "deck", shade: "#ff0000", mixed_at: null }],
  },
  {
    title: "R-REP-2 CSV shows the JSON form in compatibility mode",
    request: "GET /paints?select=id,shade&id=eq.1",
    headers: { accept: "text/csv" },
    bytes: 'id,shade\n1,"""#0000ff"""',
  },
  {
    title: "R-REP-2 a media type handler of the relation receives rows as they are stored",
    request: "GET /paints?order=id",
    headers: { accept: "text/plain" },
    bytes: "hull 255\ndeck 16711680\n",
  },
  {
    title: "R-REP-2 a media type handler of the relation receives written rows as they are stored",
    request: "PATCH /paints?id=eq.1",
    headers: { ...representation, accept: "text/plain" },
    body: { shade: "#00000a" },
    bytes: "hull 10\n",
  },
  {
    title: "R-REP-2 a media type handler of any rows receives rows as they are shown",
    request: "GET /paints?id=eq.1",
    headers: { accept: "application/vnd.sea.tally" },
    bytes: "1 rows",
  },

  ...[
    ["eq.#0000ff", [1]],
    ["neq.#0000ff", [2]],
    ["gt.#0000ff", [2]],
    ["in.(#0000ff,#ff0000)", [1, 2]],
    ["not.in.(#0000ff)", [2]],
  ].map(([filter, ids]) => ({
    title: `R-REP-3 the text parser of the domain reads the value of ${filter}`,
    request: `GET /paints?select=id&order=id&shade=${filter}`,
    answer: (ids as number[]).map((id) => ({ id })),
  })),
  {
    title: "R-REP-3 the text parser reads the values of filters in logic trees",
    request: "GET /paints?select=id&or=(shade.eq.#0000ff,id.eq.9)",
    answer: [{ id: 1 }],
  },
  {
    title: "R-REP-3 the text parser reads the values of filters on writes",
    request: "PATCH /paints?shade=eq.#0000ff&select=id",
    headers: representation,
    body: { name: "x" },
    answer: [{ id: 1 }],
  },
  {
    title: "R-REP-3 the text parser reads the value of isdistinct",
    request: "GET /paints?select=id&shade=isdistinct.%230000ff",
    answer: [{ id: 2 }],
  },
  {
    title: "R-REP-3 is.null does not call the text parser",
    request: "GET /paints?select=id&mixed_at=is.null",
    answer: [{ id: 2 }],
  },
  {
    title: "R-REP-3 a domain without a text parser uses the input of the database",
    request: "GET /paints?select=id&mixed_at=eq.2020-01-01T00:00:00Z",
    answer: [{ id: 1 }],
  },
  {
    title: "R-REP-3 a domain without a text parser reports the error of the database's input",
    request: "GET /paints?mixed_at=eq.1577836800x",
    status: 400,
    check: (answer) => expect(answer.json().code).toMatch(/^22/),
  },

  {
    title: "R-REP-4 the JSON parser of the domain reads the values of a POST body",
    request: "POST /paints?select=name,shade",
    headers: representation,
    body: [
      { name: "a", shade: "#010203" },
      { name: "b", shade: null },
    ],
    status: 201,
    check: (answer) => expect(answer.json()[0]).toEqual({ name: "a", shade: "#010203" }),
  },
  {
    title: "R-REP-4 the JSON parser reads the values of a PATCH body",
    request: "PATCH /paints?id=eq.1&select=shade",
    headers: representation,
    body: { shade: "#010203" },
    answer: [{ shade: "#010203" }],
  },
  {
    title: "R-REP-4 the JSON parser reads the values of a PUT body",
    request: "PUT /paints?id=eq.1&select=id,shade",
    headers: representation,
    body: { id: 1, shade: "#00000a" },
    status: 200,
    answer: [{ id: 1, shade: "#00000a" }],
  },
  {
    title: "R-REP-4 the JSON parser reads the columns that the parameter columns lists",
    request: "POST /paints?columns=name,shade&select=shade",
    headers: representation,
    body: [{ name: "a", shade: "#010203" }],
    answer: [{ shade: "#010203" }],
  },
  {
    title: "R-REP-4 the JSON parser is not called for an absent column",
    request: "POST /paints?select=name",
    headers: representation,
    body: { name: "a" },
    answer: [{ name: "a" }],
  },
  {
    title: "R-REP-4 the JSON parser reads the values of CSV bodies",
    request: "POST /paints?select=shade",
    headers: { ...representation, "content-type": "text/csv" },
    body: "name,shade\na,#010203\n",
    answer: [{ shade: "#010203" }],
  },
  {
    title: "R-REP-4 the JSON parser reads values written through a view",
    request: "POST /paint_cards?select=shade",
    headers: representation,
    body: { name: "a", shade: "#010203" },
    answer: [{ shade: "#010203" }],
  },
]);

test("R-REP-3 R-REP-3a a represented key works in the URL of a PUT and in Location", async () => {
  await api.sql(
    "create schema tints; create table tints.tint (shade sea.colour primary key, name text); grant usage on schema tints to sea_anon; grant all on tints.tint to sea_anon",
  );
  const ownApi = await startApi({ dbSchemas: ["tints"] });
  const putTint = (name: string) =>
    ownApi.put("/tint?shade=eq.%230000ff", {
      headers: { prefer: "return=representation" },
      body: { shade: "#0000ff", name },
    });
  for (const [name, status] of [
    ["blue", 201],
    ["azure", 200],
  ] as const) {
    const answer = await putTint(name);
    expect([answer.status, answer.text]).toEqual([status, `[{"shade":"#0000ff","name":"${name}"}]`]);
  }
  const insertAnswer = await ownApi.post("/tint", {
    headers: { prefer: "return=headers-only" },
    body: { shade: "#00ff00", name: "green" },
  });
  expect(insertAnswer.headers["location"]).toBe("/tint?shade=eq.%2300ff00");
  expect((await ownApi.get(insertAnswer.headers["location"]!)).json()).toEqual([{ shade: "#00ff00", name: "green" }]);
});

describe("R-REP-2 R-REP-3 represented values in every position", async () => {
  const ownApi = await startApi({
    dbSchemas: ["reps"],
    dbAggregatesEnabled: true,
    dbTxEnd: "rollback",
    compatMode: false,
    restPrefixes: ["/"],
  });
  await ownApi.sql(`
    create schema reps;
    grant usage on schema reps to sea_anon;
    create domain reps.tag as int;
    create function reps.json(reps.tag) returns json language sql immutable as $$ select to_json('T' || $1) $$;
    create function reps.tag(text) returns reps.tag language sql immutable as $$ select substr($1, 2)::int::reps.tag $$;
    create function reps.tag(json) returns reps.tag language sql immutable as $$ select substr($1 #>> '{}', 2)::int::reps.tag $$;
    create cast (reps.tag as json) with function reps.json(reps.tag) as implicit;
    create cast (text as reps.tag) with function reps.tag(text) as implicit;
    create cast (json as reps.tag) with function reps.tag(json) as implicit;
    create table reps.prof (id reps.tag primary key, boss reps.tag references reps.prof (id), name text);
    insert into reps.prof values (1, null, 'a'), (2, 1, 'b'), (3, 1, 'c');
    create function reps.next_tag(reps.prof) returns reps.tag language sql stable as $$ select ($1.id + 10)::reps.tag $$;
    create function reps.one() returns reps.tag language sql stable as $$ select 7::reps.tag $$;
    create function reps.none() returns reps.tag language sql stable as $$ select null::reps.tag $$;
    create function reps.several() returns setof reps.tag language sql stable as $$ select id from reps.prof order by id $$;
    create function reps.rows() returns table (id reps.tag, n int) language sql stable as $$ select id, id * 2 from reps.prof order by id $$;
    create function reps.record(out id reps.tag, out n int) language sql stable as $$ select 7, 8 $$;
    create function reps.profs() returns setof reps.prof language sql stable as $$ select * from reps.prof $$;
    grant all on all tables in schema reps to sea_anon;
  `);
  await ownApi.reload();
  const ids = (...list: readonly number[]) => list.map((n) => ({ id: `T${n}` }));

  cases(ownApi, [
    ...(
      [
        ["in quantified filters", "/prof?select=id&id=eq(any).{T1,T3}", ids(1, 3)],
        ["in those of all", "/prof?select=id&id=gte(all).{T1,T2}&order=id", ids(2, 3)],
        ["in isdistinct", "/prof?select=id&id=isdistinct.T2&order=id", ids(1, 3)],
        ["in not.in", "/prof?select=id&id=not.in.(T2,T3)", ids(1)],
        [
          "in groups",
          "/prof?select=boss,count()&order=boss",
          [
            { boss: "T1", count: 2 },
            { boss: null, count: 1 },
          ],
        ],
        ["in groups, with an alias and a filter", "/prof?select=b:boss,count()&boss=eq.T1", [{ b: "T1", count: 2 }]],
        ["in groups, by a cast", "/prof?select=boss::text,count()&boss=eq.T1", [{ boss: '"T1"', count: 2 }]],
        ["in groups of a computed field", "/prof?select=next_tag,count()&id=eq.T1", [{ next_tag: "T11", count: 1 }]],
        [
          "in groups of a spread",
          "/prof?select=...boss(up:id),count()&order=count.desc&id=neq.T1",
          [{ up: "T1", count: 2 }],
        ],
        [
          "in groups of a spread in a spread",
          "/prof?select=...boss(up:id,...boss(top:id,name)),count()&order=count",
          [
            { up: null, top: null, name: null, count: 1 },
            { up: "T1", top: null, name: null, count: 2 },
          ],
        ],
        ["in aggregates of a spread", "/prof?select=...boss(id.max())&id=neq.T1", [{ max: 1 }]],
        [
          "in groups of an embed",
          "/prof?select=up:boss(id,name),count()&order=count",
          [
            { up: null, count: 1 },
            { up: { id: "T1", name: "a" }, count: 2 },
          ],
        ],
        [
          "in groups of a spread list",
          "/prof?select=...prof!boss(tags:id),count()&order=count",
          [
            { tags: ["T2", "T3"], count: 1 },
            { tags: [], count: 2 },
          ],
        ],
        ["of a computed field", "/prof?select=id,next_tag&id=eq.T2", [{ id: "T2", next_tag: "T12" }]],
        ["in a filter of a computed field", "/prof?select=id&next_tag=in.(T12,T13)&order=id", ids(2, 3)],
        ["of a function", "/rpc/one", "T7"],
        ["of a function that gives none", "/rpc/none", null],
        ["of a function's set", "/rpc/several", ["T1", "T2", "T3"]],
        ["of a function's set, in part", "/rpc/several?limit=1&offset=1", ["T2"]],
        ["of a function's columns", "/rpc/rows?select=id&n=gt.2", ids(2, 3)],
        ["of all of a function's columns", "/rpc/rows?limit=1", [{ id: "T1", n: 2 }]],
        ["in a filter of a function's columns", "/rpc/rows?id=eq.T3", [{ id: "T3", n: 6 }]],
        ["of a record", "/rpc/record", { id: "T7", n: 8 }],
        ["of a function's rows", "/rpc/profs?select=id&id=eq(any).{T3}", ids(3)],
        ["in embeds", "/prof?select=id,up:boss(id)&id=eq.T2", [{ id: "T2", up: { id: "T1" } }]],
      ] as const
    ).map(([title, path, answer]) => ({
      title: `R-REP-2 R-REP-3 represented values are converted ${title}`,
      request: `GET ${path}`,
      answer,
    })),
    ...(
      [
        ["of every column", "/prof?id=eq.T2", "id,boss,name\nT2,T1,b"],
        ["of groups", "/prof?select=boss,count()&id=eq.T2", "boss,count\nT1,1"],
        ["of groups of a spread", "/prof?select=...boss(id),count()&id=eq.T2", "count,id\n1,T1"],
        ["of a spread", "/prof?select=name,...boss(up:id)&id=eq.T2", "name,up\nb,T1"],
        ["of a list in a spread", "/prof?select=name,...prof!boss(up:id)&id=eq.T1", 'name,up\na,"[""T2"", ""T3""]"'],
        ["of a spread in an embed", "/prof?select=name,up:boss(...boss(id))&id=eq.T2", 'name,up\nb,"{""id"":null}"'],
        ["of an embed", "/prof?select=name,boss(id)&id=eq.T2", 'name,boss\nb,"{""id"":""T1""}"'],
        ["of a function's value", "/rpc/one", "pgrst_scalar\nT7"],
        ["of a function's values", "/rpc/several?limit=1", "pgrst_scalar\nT1"],
        ["of a computed field", "/prof?select=next_tag&id=eq.T1", "next_tag\nT11"],
      ] as const
    ).map(([what, path, bytes]) => ({
      title: `R-REP-2 R-MED-2 R-REP-2b CSV shows the represented values ${what}`,
      request: `GET ${path}`,
      headers: { accept: "text/csv" },
      bytes,
    })),
    {
      title: "R-REP-2 R-REP-2b CSV of a function shows represented values without quotation marks",
      request: "GET /rpc/rows?limit=1",
      headers: { accept: "text/csv" },
      bytes: "id,n\nT1,2",
    },
  ]);

  test("R-REP-2 R-BODY-6 R-REP-2b CSV of represented values can be sent back unchanged", async () => {
    const { text } = await ownApi.get("/prof?order=id.desc", { headers: { accept: "text/csv" } });
    const answer = await ownApi.post("/prof?order=id.desc", {
      headers: {
        "content-type": "text/csv",
        accept: "text/csv",
        prefer: "resolution=merge-duplicates,return=representation",
      },
      body: text,
    });
    expect([answer.status, answer.text]).toEqual([200, text]);
  });

  test("R-REP-2 R-OAS-4 R-REP-2a the OpenAPI document names no type for represented values", async () => {
    const { definitions } = (await ownApi.get("/")).json();
    expect(definitions.prof.properties.id.type).toBeUndefined();
    expect(definitions.prof.properties.name.type).toBe("string");
  });

  test("R-REP-2 GraphQL shows represented values in their JSON form", async () => {
    expect((await ownApi.gql('{ reps_prof(where: {name: {_eq: "b"}}) { id next_tag } }')).data).toEqual({
      reps_prof: [{ id: "T2", next_tag: "T12" }],
    });
  });
});
