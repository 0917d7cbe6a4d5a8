import { describe, expect, test } from "vitest";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const merge = rolledBack("return=representation", "resolution=merge-duplicates");
const ignore = rolledBack("return=representation", "resolution=ignore-duplicates");

cases(api, [
  {
    title: "R-UPS-1 resolution=merge-duplicates updates existing rows and inserts new ones",
    request: "POST /ports?select=id,name,country",
    headers: merge,
    body: [
      { id: 1, name: "Christiania" },
      { id: 50, name: "Hull" },
    ],
    status: 201,
    answer: [
      { id: 1, name: "Christiania", country: "NO" },
      { id: 50, name: "Hull", country: null },
    ],
    responseHeaders: { "Preference-Applied": "resolution=merge-duplicates, return=representation, tx=rollback" },
  },
  {
    title: "R-UPS-1 resolution=ignore-duplicates skips existing rows and does not return them",
    request: "POST /ports?select=id,name",
    headers: ignore,
    body: [
      { id: 1, name: "Christiania" },
      { id: 50, name: "Hull" },
    ],
    status: 201,
    answer: [{ id: 50, name: "Hull" }],
    responseHeaders: { "Preference-Applied": "resolution=ignore-duplicates, return=representation, tx=rollback" },
  },
  {
    title: "R-UPS-1 a duplicate without a resolution is an error",
    request: "POST /ports",
    body: { id: 1, name: "Christiania" },
    status: 409,
    check: (answer) => expect(answer.json().code).toBe("23505"),
  },

  {
    title: "R-UPS-2 on_conflict names the columns of the conflict target",
    request: "POST /ports?on_conflict=name&select=id,name,country",
    headers: merge,
    body: [{ name: "Oslo", country: "XX" }],
    status: 200,
    answer: [{ id: 1, name: "Oslo", country: "XX" }],
  },
  {
    title: "R-UPS-2 on_conflict accepts two columns",
    request: "POST /crew?on_conflict=vessel_id,sailor_id&select=rank",
    headers: merge,
    body: [{ vessel_id: 1, sailor_id: 1, rank: "cook" }],
    status: 200,
    answer: [{ rank: "cook" }],
  },
  {
    title: "R-UPS-2 a duplicate in another constraint than on_conflict is an error",
    request: "POST /ports?on_conflict=id",
    headers: merge,
    body: [{ id: 9, name: "Oslo" }],
    status: 409,
  },
  {
    title: "R-UPS-2 on_conflict with columns without a unique constraint is an error",
    request: "POST /ports?on_conflict=country",
    headers: merge,
    body: [{ name: "A", country: "NO" }],
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("42P10"),
  },
  {
    title: "R-UPS-2 on_conflict without a resolution makes no upsert",
    request: "POST /ports?on_conflict=name",
    body: [{ name: "Oslo" }],
    status: 409,
  },
  {
    title: "R-UPS-2 an upsert through a view uses the derived key",
    request: "POST /fleet?select=id,name",
    headers: merge,
    body: [{ id: 1, name: "Merged" }],
    status: 200,
    answer: [{ id: 1, name: "Merged" }],
  },

  {
    title: "R-UPS-3 an upsert into a relation without a key is a plain insert",
    request: "POST /logbook",
    headers: merge,
    body: { entry: "calm" },
    status: 201,
    answer: [{ entry: "calm" }],
    responseHeaders: { "Preference-Applied": "return=representation, tx=rollback" },
  },

  {
    title: "R-UPS-4 a merge that inserts a row is 201",
    request: "POST /ports",
    headers: rolledBack("resolution=merge-duplicates"),
    body: [
      { id: 1, name: "A" },
      { id: 60, name: "B" },
    ],
    status: 201,
    bytes: "",
  },
  {
    title: "R-UPS-4 a merge that only updates rows is 200",
    request: "POST /ports",
    headers: rolledBack("resolution=merge-duplicates"),
    body: [
      { id: 1, name: "A" },
      { id: 2, name: "B" },
    ],
    status: 200,
    bytes: "",
    responseHeaders: { "Content-Length": "0" },
  },
  {
    title: "R-UPS-4 a merge of an empty list is 200",
    request: "POST /ports",
    headers: merge,
    body: [],
    status: 200,
    answer: [],
  },
  {
    title: "R-UPS-4 an insert that ignores duplicates is 201 even without new rows",
    request: "POST /ports",
    headers: ignore,
    body: [{ id: 1, name: "A" }],
    status: 201,
    answer: [],
  },
  {
    title: "R-UPS-4 an empty list with ignored duplicates is 201",
    request: "POST /ports",
    headers: ignore,
    body: [],
    status: 201,
    answer: [],
  },
  {
    title: "R-UPS-4 a merge that only updates rows of a partitioned table is 200",
    request: "POST /soundings?select=depth",
    headers: merge,
    body: [{ id: 1, taken: "2023-03-01", depth: 1 }],
    status: 200,
    answer: [{ depth: 1 }],
  },
  {
    title: "R-UPS-4 the count of a merge includes inserted and updated rows",
    request: "POST /ports",
    headers: rolledBack("resolution=merge-duplicates", "count=exact"),
    body: [
      { id: 1, name: "A" },
      { id: 60, name: "B" },
    ],
    status: 201,
    responseHeaders: { "Content-Range": "*/2" },
  },

  {
    title: "R-UPS-5 a merge keeps the values of columns that the payload does not name",
    request: "POST /vessels?select=id,name,tonnage",
    headers: merge,
    body: [{ id: 1, name: "New" }],
    status: 200,
    answer: [{ id: 1, name: "New", tonnage: 853 }],
  },
  {
    title: "R-UPS-5 a merge that inserts a row uses the defaults of other columns",
    request: "POST /crew?select=rank",
    headers: merge,
    body: [{ vessel_id: 3, sailor_id: 4 }],
    status: 201,
    answer: [{ rank: "hand" }],
  },
  {
    title: "R-UPS-5 a merge into a relation of only key columns returns the row",
    request: "POST /passes",
    headers: merge,
    body: [{ port_id: 1, day: "2024-01-01" }],
    status: 200,
    answer: [{ port_id: 1, day: "2024-01-01" }],
  },
  {
    title: "R-UPS-5 a payload with the same key twice is an error",
    request: "POST /ports",
    headers: merge,
    body: [
      { id: 1, name: "A" },
      { id: 1, name: "B" },
    ],
    status: 500,
    check: (answer) => expect(answer.json().code).toBe("21000"),
  },
  {
    title: "R-UPS-5 a merge with columns and missing=default generates serial keys",
    request: "POST /ports?columns=id,name&select=name",
    headers: rolledBack("return=representation", "resolution=merge-duplicates", "missing=default"),
    body: [{ id: 2, name: "Merged" }, { name: "New" }],
    status: 201,
    answer: [{ name: "Merged" }, { name: "New" }],
    responseHeaders: {
      "Preference-Applied": "resolution=merge-duplicates, missing=default, return=representation, tx=rollback",
    },
  },
]);

test("R-INS-4 R-UPS-5 R-INS-4b missing=default takes one number of a sequence per row", async () => {
  await api.sql(`
    create table sea.numbered (id serial primary key, name text unique);
    create table sea.identified (id int generated by default as identity primary key, name text unique);
    create view sea.numbered_view as select * from sea.numbered;
    create view sea.numbered_anew as select * from sea.numbered;
    alter view sea.numbered_anew alter column id set default nextval('sea.numbered_id_seq');
    grant all on sea.numbered, sea.identified, sea.numbered_view, sea.numbered_anew, sea.numbered_id_seq, sea.identified_id_seq to sea_anon;
    insert into sea.numbered values (500, 'old');
    insert into sea.identified values (500, 'old');
  `);
  await api.reload();
  const rows = [{ name: "a" }, { id: 50, name: "b" }, { name: "c" }, { name: "old" }];
  const sequences = {
    numbered: "numbered_id_seq",
    numbered_view: "numbered_id_seq",
    numbered_anew: "numbered_id_seq",
    identified: "identified_id_seq",
  };
  for (const [relation, sequence] of Object.entries(sequences)) {
    for (const resolution of ["merge-duplicates", "ignore-duplicates"]) {
      await api.sql(`alter sequence sea.${sequence} restart`);
      const headers = rolledBack("return=representation", "missing=default", `resolution=${resolution}`);
      const answer = await api.post(`/${relation}?columns=id,name&on_conflict=name`, { headers, body: rows });
      const mergedRows = resolution === "merge-duplicates" ? [{ id: 4, name: "old" }] : [];
      expect([relation, answer.json()]).toEqual([
        relation,
        [{ id: 1, name: "a" }, { id: 50, name: "b" }, { id: 3, name: "c" }, ...mergedRows],
      ]);
      expect(await api.sql(`select last_value::int from sea.${sequence}`)).toEqual([{ last_value: 4 }]);
    }
    await api.sql(`alter sequence sea.${sequence} restart`);
    const answer = await api.post(`/${relation}?columns=id,name`, {
      headers: rolledBack("return=representation", "missing=default"),
      body: { name: "one" },
    });
    expect(answer.json()).toEqual([{ id: 1, name: "one" }]);
    expect(await api.sql(`select last_value::int from sea.${sequence}`)).toEqual([{ last_value: 1 }]);
  }
});

test("R-UPD-4 missing=default computes a default once for all rows", async () => {
  await api.sql(`
    create sequence sea.batches;
    create table sea.batched (id int primary key, batch int default nextval('sea.batches'), note text default 'none');
    insert into sea.batched values (1, 0, 'x'), (2, 0, 'x'), (3, 0, 'x');
    grant all on sea.batched, sea.batches to sea_anon;
  `);
  await api.reload();
  const headers = rolledBack("return=representation", "missing=default");
  expect(
    (await api.patch("/batched?columns=batch,note&id=gt.1&order=id", { headers, body: { note: "new" } })).json(),
  ).toEqual([
    { id: 2, batch: 1, note: "new" },
    { id: 3, batch: 1, note: "new" },
  ]);
  expect(
    (await api.patch("/batched?columns=batch,note&order=id", { headers, body: [{ batch: 9 }, { batch: 8 }] })).json(),
  ).toEqual([1, 2, 3].map((id) => ({ id, batch: 9, note: "none" })));
});

describe("R-UPS-6 unique indexes on some of the rows, or on expressions", async () => {
  const ownApi = await startApi({ dbSchemas: ["parts"], dbTxEnd: "rollback" });
  await ownApi.sql(`
    create schema parts;
    grant usage on schema parts to sea_anon;
    create type parts.state as enum ('on', 'off');
    create table parts.uq (
      id int primary key generated by default as identity,
      code text,
      active boolean not null default true,
      "E mail" text,
      a text, b text,
      state parts.state default 'on',
      twice text,
      whole text,
      n int default 0
    );
    create unique index on parts.uq (code) where active;
    create unique index on parts.uq (lower("E mail")) include (n);
    create unique index on parts.uq ((a || b)) where state = 'on';
    create unique index on parts.uq (twice) where active;
    create unique index on parts.uq (twice) where not active;
    create unique index on parts.uq (whole);
    create unique index on parts.uq (whole) where active;
    insert into parts.uq (id, code, active, "E mail", a, b, twice, whole) values (1, 'x', true, 'A@b', 'p', 'q', 't', 'w'), (2, 'x', false, 'c', 'r', 's', 'u', 'v');
    create view parts.uq_view as select n, code, active from parts.uq;
    create view parts.uq_view_of_view as select code, n, active from parts.uq_view where n < 100;
    create view parts.uq_renamed as select code as kind, n, active from parts.uq;
    grant all on all tables in schema parts to sea_anon;
  `);
  await ownApi.reload();

  cases(ownApi, [
    ...(
      [
        ["some of the rows", "code", { code: "x", n: 7 }],
        ["an expression", encodeURIComponent('"E mail"'), { "E mail": "a@B", n: 7 }],
        ["an expression of two columns, for some of the rows", "b,a", { a: "p", b: "q", n: 7 }],
        ["all rows rather than a partial one", "whole", { whole: "w", n: 7 }],
      ] as const
    ).flatMap(([title, target, body]) => [
      {
        title: `R-UPS-6 on_conflict uses a unique index on ${title}, and updates the row`,
        request: `POST /uq?on_conflict=${target}&select=id,n`,
        headers: { prefer: "return=representation,resolution=merge-duplicates" },
        body,
        status: 200,
        answer: [{ id: 1, n: 7 }],
      },
      {
        title: `R-UPS-6 on_conflict uses a unique index on ${title}, and ignores the duplicate`,
        request: `POST /uq?on_conflict=${target}&select=id,n`,
        headers: { prefer: "return=representation,resolution=ignore-duplicates" },
        body,
        status: 201,
        answer: [],
      },
    ]),
    ...["uq_view", "uq_view_of_view"].map((view) => ({
      title: `R-UPS-6 an upsert through the view ${view} updates the row of a partial index`,
      request: `POST /${view}?on_conflict=code&select=n`,
      headers: { prefer: "return=representation,resolution=merge-duplicates" },
      body: { code: "x", active: true, n: 7 },
      status: 200,
      answer: [{ n: 7 }],
    })),
    {
      title: "R-UPS-2 R-UPS-6 an upsert through a view that renames the predicate's column is rejected",
      request: "POST /uq_renamed?on_conflict=kind",
      headers: { prefer: "resolution=merge-duplicates" },
      body: { kind: "x", active: true, n: 7 },
      status: 400,
      check: (answer: { json(): { code: string } }) => expect(answer.json().code).toBe("42P10"),
    },
    {
      title: "R-UPS-6 an upsert inserts a row that the partial index does not contain",
      request: "POST /uq?on_conflict=code&select=n",
      headers: { prefer: "return=representation,resolution=merge-duplicates" },
      body: { code: "x", active: false, n: 7 },
      status: 201,
      answer: [{ n: 7 }],
    },
    ...["twice", "n", "a", "code,active"].map((target) => ({
      title: `R-UPS-2 R-UPS-6 on_conflict is rejected if no index, or more than one, fits ${target}`,
      request: `POST /uq?on_conflict=${target}`,
      headers: { prefer: "resolution=merge-duplicates" },
      body: { code: "x", active: true, twice: "t", a: "p", n: 1 },
      status: 400,
      check: (answer: { json(): { code: string } }) => expect(answer.json().code).toBe("42P10"),
    })),
  ]);

  test("R-UPS-6 R-SC-14 a replaced index takes effect with the next load of the schema", async () => {
    const upsert = async (): Promise<number> =>
      (
        await ownApi.post("/uq?on_conflict=code", {
          headers: { prefer: "resolution=merge-duplicates" },
          body: { code: "x", active: false },
        })
      ).status;
    expect(await upsert()).toBe(201);
    await ownApi.sql("drop index parts.uq_code_idx; create unique index on parts.uq (code) where not active");
    await ownApi.reload();
    expect(await upsert()).toBe(200);
    await ownApi.sql("drop index parts.uq_code_idx");
    await ownApi.reload();
    expect(await upsert()).toBe(400);
  });
});
