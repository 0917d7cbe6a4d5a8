import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

gqlCases(api, [
  {
    title: "G-CF-1 STABLE functions of one row are computed fields",
    query: "{ person_by_pk(id: 1) { person_title person_adult person_score } }",
    data: { person_by_pk: { person_title: "Dear Ann", person_adult: true, person_score: 1.5 } },
  },
  ...["person_roll", "person_pair"].map((name) => ({
    title: `G-CF-1 ${name} is not a computed field`,
    query: `{ person { ${name} } }`,
    error: { message: `field '${name}' not found in type: 'person'` },
  })),
  {
    title: "G-CF-1 the session argument contains the session variables",
    query: "{ person_by_pk(id: 1) { person_greeting } }",
    session: { "user-id": "Bob" },
    data: { person_by_pk: { person_greeting: "Ann meets Bob" } },
  },
  {
    title: "G-CF-2 a computed field of type jsonb accepts a path",
    query: '{ person_by_pk(id: 2) { person_card(path: "$.name") all: person_card } }',
    data: { person_by_pk: { person_card: "Ben", all: { name: "Ben", list: [1, 2] } } },
  },
  {
    title: "G-CF-2 a computed field may return rows of a table, with list arguments",
    query:
      "{ person_by_pk(id: 1) { person_peers(where: {id: {_gt: 1}}, order_by: {id: desc}, limit: 1) { name passport { number } person_peers { id } } } }",
    data: {
      person_by_pk: {
        person_peers: [{ name: "Cat", passport: { number: "N3" }, person_peers: [{ id: 1 }, { id: 2 }] }],
      },
    },
  },
  {
    title: "G-CF-3 arguments of a computed field are passed",
    query:
      'query ($y: Int) { person_by_pk(id: 1) { person_age_in(args: {year: $y}) later: person_age_in(args: {year: 2050}) person_label(args: {prefix: "Ms"}) short: person_label } }',
    variables: { y: 2020 },
    data: { person_by_pk: { person_age_in: 40, later: 70, person_label: "Ms Ann", short: "Dr Ann" } },
  },
  {
    title: "G-CF-3 arguments of a table computed field are passed",
    query: "{ team_by_pk(id: 1) { team_matches_over(args: {minimum: 2}, order_by: {id: asc}) { id } } }",
    data: { team_by_pk: { team_matches_over: [{ id: 1 }, { id: 3 }] } },
  },
  {
    title: "G-CF-3 a missing required argument is rejected",
    query: "{ person { person_age_in } }",
    error: {
      message: "missing required field 'args'",
      path: "$.selectionSet.person.selectionSet.person_age_in.args.args",
      code: "validation-failed",
    },
  },
  {
    title: "G-CF-3 an omitted argument without default is rejected",
    query: "{ person { person_age_in(args: {}) } }",
    error: {
      message: "Non default arguments cannot be omitted",
      path: "$.selectionSet.person.selectionSet.person_age_in.args.args",
      code: "not-supported",
    },
  },
  {
    title: "G-CF-5 where accepts a computed field",
    query: '{ person(where: {person_title: {_like: "%Ann"}, person_adult: {_eq: true}}) { id } }',
    data: { person: [{ id: 1 }] },
  },
  {
    title: "G-CF-5 where accepts a computed field that returns rows",
    query:
      '{ person(where: {person_peers: {name: {_eq: "Ann"}}}, order_by: {id: asc}) { id } none: person(where: {_not: {person_peers: {}}}) { id } }',
    data: { person: [{ id: 2 }, { id: 3 }], none: [] },
  },
  {
    title: "G-CF-5 where accepts a computed field with the session argument",
    query: '{ person(where: {person_greeting: {_eq: "Ben meets me"}}, order_by: {person_greeting: asc}) { id } }',
    session: { "user-id": "me" },
    data: { person: [{ id: 2 }] },
  },
  {
    title: "G-CF-5 order_by accepts a computed field",
    query: "{ person(order_by: [{person_score: desc}]) { id } }",
    data: { person: [{ id: 3 }, { id: 2 }, { id: 1 }] },
  },
  {
    title: "G-CF-5 order_by rejects a computed field with an argument, even with a default",
    query: '{ person(where: {person_label: {_eq: "x"}}) { id } }',
    error: {
      message: "field 'person_label' not found in type: 'person_bool_exp'",
      path: "$.selectionSet.person.args.where.person_label",
    },
  },
  {
    title: "G-CF-6 a computed field without the grant EXECUTE is unknown",
    query: "{ person { person_score } }",
    role: "music_reader",
    error: { message: "field 'person_score' not found in type: 'person'" },
  },
  {
    title: "G-CF-6 a computed field with the grant EXECUTE exists",
    query: "{ person_by_pk(id: 2) { person_score } }",
    role: "music_editor",
    data: { person_by_pk: { person_score: 3 } },
  },
  {
    title: "G-CF-7 a column precedes a computed field of the same name",
    query: "{ person_by_pk(id: 1) { nickname } }",
    data: { person_by_pk: { nickname: "Annie" } },
  },
  {
    title: "G-CF-8 computed fields are not in inputs",
    query: 'mutation { insert_person_one(object: {name: "x", person_title: "y"}) { id } }',
    error: { message: "field 'person_title' not found in type: 'person_insert_input'" },
  },
  {
    title: "G-CF-2 computed fields are in aggregates",
    query:
      "{ person_aggregate { aggregate { max { person_title person_age_in(args: {year: 2020}) } sum { person_score } avg { person_age_in(args: {year: 2020}) } } } }",
    data: {
      person_aggregate: {
        aggregate: {
          max: { person_title: "Dear Cat", person_age_in: 40 },
          sum: { person_score: 9 },
          avg: { person_age_in: 25 },
        },
      },
    },
  },
]);

const wideApi = await gqlApi();
await wideApi.sql(`
  create function person_note(lead text, p person, hasura_session json, tail text default '!') returns text language sql stable
    as $$ select lead || p.name || coalesce(hasura_session ->> 'x-session-user-id', '') || tail $$`);
await wideApi.reload();

gqlCases(wideApi, [
  {
    title: "G-CF-1 without metadata the first argument is the row",
    query: '{ person { person_note(args: {lead: "a"}) } }',
    error: { message: "field 'person_note' not found in type: 'person'" },
  },
]);

test("G-CF-1 an overloaded function is a field of several tables", async () => {
  await api.sql(`
    create table public.kin_left (id int primary key, left_only text);
    create table public.kin_right (id int primary key, right_only text);
    insert into public.kin_left values (1, 'l');
    insert into public.kin_right values (1, 'r');
    create function public.kin(public.kin_left) returns setof public.kin_right language sql stable as 'select * from public.kin_right where id = $1.id';
    create function public.kin(public.kin_right) returns setof public.kin_left language sql stable as 'select * from public.kin_left where id = $1.id'`);
  await api.reload();
  const answer = await api.gql(`{
    kin_left(where: {kin: {right_only: {_eq: "r"}}}) { kin(order_by: {right_only: asc}) { right_only kin { left_only } } }
    kin_right { kin { left_only } } }`);
  expect(answer).toEqual({
    data: {
      kin_left: [{ kin: [{ right_only: "r", kin: [{ left_only: "l" }] }] }],
      kin_right: [{ kin: [{ left_only: "l" }] }],
    },
  });
});

test("G-CF-3 G-FN-4 unnamed arguments are counted without the row", async () => {
  await api.sql(
    "create function person_older(person, int, text) returns text language sql stable as $$ select $1.name || $2 || $3 $$",
  );
  try {
    await api.reload();
    expect(await api.gql('{ person_by_pk(id: 1) { person_older(args: {arg_1: 5, arg_2: "!"}) } }')).toMatchObject({
      data: { person_by_pk: { person_older: "Ann5!" } },
    });
  } finally {
    await api.sql("drop function person_older");
    await api.reload();
  }
});

test("G-CF-1 G-CF-7 child tables have the computed fields of their ancestors, the nearest first", async () => {
  const db = await testDatabase();
  await db.query(`
    create schema zoo;
    create table zoo.being (id int primary key);
    create table zoo.animal (name text, primary key (id)) inherits (zoo.being);
    create table zoo.dog (primary key (id)) inherits (zoo.animal);
    insert into zoo.dog values (2, 'rex'), (3, 'ace');
    create function zoo.label(zoo.being) returns text language sql stable as $$ select 'B:' || $1.id $$;
    create function zoo.label(zoo.animal) returns text language sql stable as $$ select 'L:' || $1.name $$;
    create function zoo.packs(zoo.being) returns setof zoo.dog language sql stable as $$ select * from zoo.dog $$;
  `);
  const zooApi = await startApi(forGraphql({ dbSchemas: ["zoo"] }));
  expect(
    await zooApi.gql(`{ zoo_dog(where: {label: {_like: "L%"}}, order_by: {label: asc}) { id label packs { label } }
      zoo_animal(limit: 1) { label } zoo_being(limit: 1) { label } }`),
  ).toEqual({
    data: {
      zoo_dog: [
        { id: 3, label: "L:ace", packs: [{ label: "L:rex" }, { label: "L:ace" }] },
        { id: 2, label: "L:rex", packs: [{ label: "L:rex" }, { label: "L:ace" }] },
      ],
      zoo_animal: [{ label: "L:rex" }],
      zoo_being: [{ label: "B:2" }],
    },
  });
});
