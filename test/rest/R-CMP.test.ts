import { describe, expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { testDatabase } from "../support/database.ts";

const api = await startApi();
const narrowApi = await startApi({ dbExtraSearchPath: [] });

const unknown = {
  status: 400,
  check: (answer: { json(): { readonly code: string } }) => expect(answer.json().code).toBe("42703"),
};
const representation = { prefer: "return=representation, tx=rollback" };

cases(api, [
  {
    title: "R-CMP-1 R-CMP-1b computed fields can be selected",
    request: "GET /vessels?select=name,heavy&order=id",
    answer: [
      { name: "Ariel", heavy: true },
      { name: "Fram", heavy: true },
      { name: "Gjoa", heavy: false },
    ],
  },
  {
    title: "R-CMP-1 R-CMP-1b computed fields can have an alias, a cast or a JSON path",
    request: "GET /vessels?select=h:heavy::text,dims->>length&id=eq.1",
    answer: [{ h: "true", length: "85" }],
  },
  {
    title: "R-CMP-1 R-CMP-1b computed fields can be filtered",
    request: "GET /vessels?select=id&label=eq.Fram %232",
    answer: [{ id: 2 }],
  },
  {
    title: "R-CMP-1 R-CMP-1b computed fields can be filtered in logic trees",
    request: 'GET /vessels?select=id&or=(label.eq."Fram #2",heavy.is.false)&order=id',
    answer: [{ id: 2 }, { id: 3 }],
  },
  {
    title: "R-CMP-1 R-CMP-1b computed fields can be ordered by",
    request: "GET /vessels?select=id&order=label.desc",
    answer: [{ id: 3 }, { id: 2 }, { id: 1 }],
  },
  {
    title: "R-CMP-1 a star does not include computed fields",
    request: "GET /ports?id=eq.1",
    answer: [{ id: 1, name: "Oslo", country: "NO" }],
  },
  {
    title: "R-CMP-1 an overloaded computed field is chosen by the type of the row",
    request: "GET /vessels?select=label,ports(label)&id=eq.1",
    answer: [{ label: "Ariel #1", ports: { label: "Oslo (NO)" } }],
  },
  {
    title: "R-CMP-1 computed fields can be selected in to-many embeds",
    request: "GET /ports?select=vessels(label)&vessels.heavy=is.true&vessels.order=label&id=eq.1",
    answer: [{ vessels: [{ label: "Ariel #1" }, { label: "Fram #2" }] }],
  },
  {
    title: "R-CMP-1 computed fields can be selected in spreads",
    request: "GET /voyages?select=id,...vessels(label)&id=eq.3",
    answer: [{ id: 3, label: "Fram #2" }],
  },
  {
    title: "R-CMP-1 R-CMP-1b computed fields can be selected in rows of a function",
    request: "GET /rpc/vessels_of?port=1&select=label&heavy=is.true",
    answer: [{ label: "Ariel #1" }, { label: "Fram #2" }],
  },
  {
    title: "R-CMP-1 R-CMP-1b computed fields can be selected in representations of POST",
    request: "POST /vessels?select=label",
    headers: representation,
    body: { id: 900, name: "Vega" },
    status: 201,
    answer: [{ label: "Vega #900" }],
  },
  {
    title: "R-CMP-1 R-CMP-1b computed fields can be selected in representations of PATCH",
    request: "PATCH /vessels?select=label,heavy&id=eq.3",
    headers: representation,
    body: { tonnage: 500 },
    answer: [{ label: "Gjoa #3", heavy: true }],
  },
  {
    title: "R-CMP-1 R-CMP-1b computed fields can be selected in representations of DELETE",
    request: "DELETE /vessels?select=label&id=eq.3",
    headers: representation,
    answer: [{ label: "Gjoa #3" }],
  },
  {
    title: "R-CMP-1 a computed field can be the condition of a write",
    request: "PATCH /vessels?heavy=is.false&select=id",
    headers: representation,
    body: { flags: [] },
    answer: [{ id: 3 }],
  },
  {
    title: "R-CMP-1 R-CMP-1a a function in the extra search path is a computed field",
    request: "GET /vessels?select=hull_code&hull_code=eq.H2",
    answer: [{ hull_code: "H2" }],
  },
  {
    title: "R-CMP-1 R-CMP-1a a function outside the search path is not a computed field",
    request: "GET /vessels?select=secret_label",
    ...unknown,
  },
  {
    title: "R-CMP-1 a function outside the search path cannot be filtered by",
    request: "GET /vessels?select=id&secret_label=eq.secret",
    ...unknown,
  },
  ...[
    "vessels?select=id&peers=is.null",
    "vessels?select=id,peers(id)&peers=eq.1",
    "vessels?select=id&or=(home_harbour->>name.eq.Oslo,id.eq.1)",
  ].map((target) => ({
    title: `R-CMP-1c a function that returns a set cannot be filtered by: ${target}`,
    request: `GET /${target}`,
    status: 400,
    check: (answer: { json(): { readonly message: string } }) =>
      expect(answer.json().message).toMatch(/^column vessels\.(peers|home_harbour) does not exist$/),
  })),
  {
    title: "R-CMP-1 a function of another row type is not a computed field",
    request: "GET /ports?select=heavy",
    ...unknown,
  },
]);

cases(narrowApi, [
  { title: "R-CMP-1 the search path is that of the request", request: "GET /vessels?select=hull_code", ...unknown },
]);

test("R-CMP-1 functions of another exposed schema are outside the search path", async () => {
  await api.sql(`
    create function land.afar(sea.vessels) returns text language sql stable as $$ select 'land' $$;
    create function land.near(sea.vessels) returns text language sql stable as $$ select 'land' $$;
    create function sea.near(sea.vessels) returns text language sql stable as $$ select 'sea' $$;
    grant usage on schema land to sea_anon`);
  const ownApi = await startApi({ dbSchemas: ["land", "sea"] });
  const get = async (select: string) =>
    (await ownApi.get(`/vessels?select=${select}&id=eq.1`, { headers: { "accept-profile": "sea" } })).json();
  expect((await get("afar")).code).toBe("42703");
  expect(await get("near")).toEqual([{ near: "sea" }]);
  const patchAnswer = await ownApi.patch("/vessels?select=near&id=eq.1", {
    headers: { ...representation, "content-profile": "sea" },
    body: { flags: [] },
  });
  expect(patchAnswer.json()).toEqual([{ near: "sea" }]);
});

describe("fields as PostgreSQL finds them", async () => {
  const db = await testDatabase();
  await db.query(`
    create schema zoo;
    create table zoo.being (id int primary key);
    create table zoo.animal (name text, primary key (id)) inherits (zoo.being);
    create table zoo.dog (breed text, primary key (id)) inherits (zoo.animal);
    create table zoo.walk (id int, dog_id int references zoo.dog, primary key (id)) partition by range (id);
    create table zoo.walk_1 partition of zoo.walk for values from (0) to (10);
    insert into zoo.animal values (1, 'cat');
    insert into zoo.dog values (2, 'rex', 'pug'), (3, 'ace', 'lab');
    insert into zoo.walk values (1, 2), (2, 3);
    create view zoo.walks as select * from zoo.walk_1;
    create function zoo.label(zoo.being) returns text language sql stable as $$ select 'B:' || $1.id $$;
    create function zoo.label(zoo.animal) returns text language sql stable as $$ select 'L:' || $1.name $$;
    create function zoo.far(zoo.being) returns text language sql stable as $$ select 'far ' || $1.id $$;
    create function zoo.shout(zoo.dog, mark text default '!') returns text language sql stable as $$ select upper($1.name) || mark $$;
    create function zoo.needy(zoo.dog, mark text) returns text language sql stable as $$ select mark $$;
    create type zoo.hit as (id int, score float);
    create function zoo.find_hits(q text) returns setof zoo.hit language sql stable as $$ select n, n / 2.0 from generate_series(1, length(q)) as n $$;
    create function zoo.best_hit() returns zoo.hit language sql stable as $$ select 7, 1.5::float $$;
    create function zoo.hit_label(zoo.hit) returns text language sql stable as $$ select 'hit ' || $1.id $$;
    create function zoo.hit_data(zoo.hit) returns jsonb language sql stable as $$ select jsonb_build_object('n', $1.id) $$;
    create function zoo.score(zoo.hit) returns text language sql stable as $$ select 'hidden by the column' $$;
    grant usage on schema zoo to sea_anon;
    grant select, update on all tables in schema zoo to sea_anon;
  `);
  const zooApi = await startApi({ dbSchemas: ["zoo"] });
  const hits = [{ id: 1, hit_label: "hit 1" }];

  cases(zooApi, [
    {
      title: "R-CMP-1 a child table has the computed fields of its parent",
      request: "GET /dog?select=id,label&label=like.L*&order=label.desc",
      answer: [
        { id: 2, label: "L:rex" },
        { id: 3, label: "L:ace" },
      ],
    },
    {
      title: "R-CMP-1 the parent table has its own computed field",
      request: "GET /animal?select=label&id=eq.1",
      answer: [{ label: "L:cat" }],
    },
    {
      title: "R-CMP-1 a computed field of a grandparent can be used with limits and embeds",
      request: "GET /dog?select=far,walk(id)&order=far.desc&limit=1&offset=1",
      answer: [{ far: "far 2", walk: [{ id: 1 }] }],
    },
    {
      title: "R-CMP-1 an inherited computed field can be selected in an embed",
      request: "GET /walk?select=dog(label)&id=eq.1",
      answer: [{ dog: { label: "L:rex" } }],
    },
    {
      title: "R-CMP-1 a function with defaults for other parameters is a computed field",
      request: "GET /dog?select=shout&shout=eq.REX!",
      answer: [{ shout: "REX!" }],
    },
    {
      title: "R-CMP-1 a function that requires other parameters is not a computed field",
      request: "GET /dog?select=needy",
      status: 400,
      check: (answer) => expect(answer.json().code).toBe("42703"),
    },
    {
      title: "R-CMP-1 a computed field of a child table is not a computed field of its parent",
      request: "GET /animal?select=shout",
      status: 400,
      check: (answer) => expect(answer.json().code).toBe("42703"),
    },
    {
      title: "R-CMP-1 rows of a composite type that a function returns have computed fields",
      request: "GET /rpc/find_hits?q=n&select=id,hit_label",
      answer: hits,
    },
    {
      title: "R-CMP-1 inherited computed fields can be filtered, ordered, counted and limited",
      request: "GET /rpc/find_hits?q=nnn&select=id,hit_label&hit_label=neq.hit%202&order=hit_label&limit=1",
      headers: { prefer: "count=exact" },
      status: 206,
      answer: hits,
      responseHeaders: { "content-range": "0-0/2" },
    },
    {
      title: "R-CMP-1 a computed field can be read by a JSON path in a single row",
      request: "GET /rpc/best_hit?select=hit_data->n,score",
      answer: { n: 7, score: 1.5 },
    },
    {
      title: "R-CMP-1 R-WRT-3 a representation has inherited computed fields",
      request: "PATCH /dog?id=eq.2&select=label,shout",
      headers: { prefer: "return=representation, tx=rollback" },
      body: { name: "max" },
      answer: [{ label: "L:max", shout: "MAX!" }],
    },
  ]);
});
