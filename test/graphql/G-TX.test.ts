import { expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

gqlCases(api, [
  {
    title: "G-TX-2 each field sees the effects of the fields before it",
    query: `mutation { insert_team_one(object: {id: 50, name: "New"}) { id } update_team(where: {name: {_eq: "New"}}, _set: {name: "Newer"}) { returning { name } }
      delete_team_by_pk(id: 50) { name } again: delete_team_by_pk(id: 50) { name } }`,
    data: {
      insert_team_one: { id: 50 },
      update_team: { returning: [{ name: "Newer" }] },
      delete_team_by_pk: { name: "Newer" },
      again: null,
    },
  },
  {
    title: "G-TX-2 fields run in the order of the document after fragments are inlined",
    query: `mutation { ...first second: update_team(where: {id: {_eq: 1}}, _inc: {id: 500}) { affected_rows } third: update_team(where: {id: {_eq: 501}}, _set: {name: "x"}) { returning { name id } } }
      fragment first on mutation_root { delete_match(where: {}) { affected_rows } }`,
    data: {
      delete_match: { affected_rows: 3 },
      second: { affected_rows: 1 },
      third: { returning: [{ name: "x", id: 501 }] },
    },
  },
  {
    title: "G-TX-5 one alias for two mutation fields is rejected",
    query: "mutation { a: delete_team_by_pk(id: 50) { id } a: delete_match_by_pk(id: 50) { id } }",
    error: {
      message: "selection of both 'delete_team_by_pk' and 'delete_match_by_pk' specify the same response name, 'a'",
      path: "$.selectionSet",
      code: "validation-failed",
    },
  },
  {
    title: "G-TX-5 equal fields of one response name run once",
    query:
      "mutation { update_album(where: {id: {_eq: 1}}, _inc: {sold: 1}) { affected_rows } update_album(where: {id: {_eq: 1}}, _inc: {sold: 1}) { returning { sold } } }",
    data: { update_album: { affected_rows: 1, returning: [{ sold: 4 }] } },
  },
]);

const committingApi = await startApi(forGraphql({ dbTxEnd: "commit-allow-override" }));

test("G-TX-1 a failing field undoes all fields, and only its error is returned", async () => {
  const answer = await committingApi.gql(
    'mutation { insert_team_one(object: {name: "Lost"}) { id } insert_artist_one(object: {name: "Abba"}) { id } }',
  );
  expect(answer).toEqual({
    errors: [
      {
        message: 'Uniqueness violation. duplicate key value violates unique constraint "artist_name_key"',
        extensions: {
          path: "$.selectionSet.insert_artist_one.args.object",
          code: "constraint-violation",
          internal: expect.anything(),
        },
      },
    ],
  });
  expect(await committingApi.sql("select from team where name = 'Lost'")).toEqual([]);
});

test("G-TX-1 a field that is rejected before it runs prevents all fields", async () => {
  const answer = await committingApi.gql('mutation { insert_team_one(object: {name: "Lost"}) { id } nope { id } }');
  expect(answer.errors[0].message).toBe("field 'nope' not found in type: 'mutation_root'");
  expect(await committingApi.sql("select from team where name = 'Lost'")).toEqual([]);
});

test("G-TX-1 a mutation that succeeds is committed", async () => {
  expect(await committingApi.gql('mutation { insert_song_one(object: {title: "Kept"}) { title } }')).toEqual({
    data: { insert_song_one: { title: "Kept" } },
  });
  expect(await committingApi.sql("select title from song where title = 'Kept'")).toEqual([{ title: "Kept" }]);
  await committingApi.sql("delete from song where title = 'Kept'");
});

test("G-TX-3 queries run read-only at READ COMMITTED, and mutations may write", async () => {
  await committingApi.sql(`
    create view tx_facts as select 1 as id, current_setting('transaction_read_only') as read_only, current_setting('transaction_isolation') as isolation;
    grant select on tx_facts to public;
    create function tx_touch() returns setof tx_facts language sql volatile as $$ select * from tx_facts $$`);
  await committingApi.reload();
  expect(await committingApi.gql("{ tx_facts { read_only isolation } }")).toEqual({
    data: { tx_facts: [{ read_only: "on", isolation: "read committed" }] },
  });
  expect(await committingApi.gql("mutation { tx_touch { read_only isolation } }")).toEqual({
    data: { tx_touch: [{ read_only: "off", isolation: "read committed" }] },
  });
  await committingApi.sql("drop view tx_facts cascade");
  await committingApi.reload();
});

test("G-TX-4 each request of a batch has its own transaction", async () => {
  const insert = (title: string, name: string) => ({
    query: `mutation { insert_song_one(object: {title: "${title}"}) { title } insert_artist_one(object: {name: "${name}"}) { name } }`,
  });
  const answers = (
    await committingApi.post("/v1/graphql", {
      headers: asAdmin(),
      body: [
        insert("batch 1", "Batch"),
        insert("batch 2", "Batch"),
        { query: '{ song(where: {title: {_like: "batch%"}}) { title } }' },
      ],
    })
  ).json();
  expect(answers[0]).toEqual({ data: { insert_song_one: { title: "batch 1" }, insert_artist_one: { name: "Batch" } } });
  expect(answers[1].errors).toHaveLength(1);
  expect(answers[2]).toEqual({ data: { song: [{ title: "batch 1" }] } });
  await committingApi.sql("delete from song where title like 'batch%'; delete from artist where name = 'Batch'");
});

test("G-TX-6 a client may roll back a mutation if DB_TX_END allows it", async () => {
  const query = 'mutation { insert_song_one(object: {title: "Fleeting"}) { title } }';
  const answer = await committingApi.post("/v1/graphql", {
    headers: { ...asAdmin(), prefer: "tx=rollback" },
    body: { query },
  });
  expect(answer.json()).toEqual({ data: { insert_song_one: { title: "Fleeting" } } });
  expect(await committingApi.sql("select from song where title = 'Fleeting'")).toEqual([]);
});
