import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { cases, type Case } from "../support/cases.ts";
import { testDatabase } from "../support/database.ts";

const api = await startApi({ compatMode: false });
const exactApi = await startApi({ compatMode: true });

const hintAnswer = (hint: unknown, status = 400): Pick<Case, "status" | "answer"> => ({
  status,
  answer: expect.objectContaining({ hint }),
});

const PAGES = "Pages are made by limit and offset: limit=20&offset=20";
const ORDER = "Rows are sorted by order: order=name.desc,id";
const SELECT = "Columns and related rows are chosen by select: select=id,name,related(name)";
const FILTER = "Rows are filtered by column=operator.value: name=eq.Oslo, name=ilike.*osl*, id=in.(1,2)";

describe("parameters", () => {
  cases(api, [
    ...["page=2", "per_page=20", "pageSize=20", "page[number]=2", "skip=10", "$top=5", "cursor=abc"].map((query) => ({
      title: `R-HNT-1 the hint for ${query} is about limit and offset`,
      request: `GET /api/ports?${query}`,
      ...hintAnswer(PAGES),
    })),
    ...["sort=name", "sortBy=name", "order_by=name.desc", "ordering=-name"].map((query) => ({
      title: `R-HNT-1 the hint for ${query} is about order`,
      request: `GET /api/ports?${query}`,
      ...hintAnswer(ORDER),
    })),
    ...["fields=id,name", "include=vessels", "$expand=vessels", "populate=*"].map((query) => ({
      title: `R-HNT-1 the hint for ${query} is about select`,
      request: `GET /api/ports?${query}`,
      ...hintAnswer(SELECT),
    })),
    ...["filter=x", "q=oslo", "search=oslo", "filter[name]=Oslo", "where={}"].map((query) => ({
      title: `R-HNT-1 the hint for ${query} is about filters`,
      request: `GET /api/ports?${query}`,
      ...hintAnswer(FILTER),
    })),
    {
      title: "R-HNT-1 the parser's message and details are kept beside the hint",
      request: "GET /api/ports?page=2",
      status: 400,
      answer: {
        code: "PGRST100",
        message: '"failed to parse filter (2)" (line 1, column 1)',
        details: 'unexpected "2" expecting "not" or operator (eq, gt, ...)',
        hint: PAGES,
      },
    },
    {
      title: "R-HNT-1 an unknown relation gets the hint about parameters",
      request: "GET /api/nowhere?page=2",
      ...hintAnswer(PAGES),
    },
    {
      title: "R-HNT-1 writes get the hint about parameters",
      request: "DELETE /api/ports?page=2",
      ...hintAnswer(PAGES),
    },
    {
      title: "R-HNT-2 the hint names the parameter near a misspelt one",
      request: "GET /api/ports?lmit=2",
      ...hintAnswer("Perhaps you meant 'limit' instead of 'lmit'"),
    },
    {
      title: "R-HNT-2 the hint names the column near a misspelt one without an operator",
      request: "GET /api/ports?nmae=Oslo",
      ...hintAnswer("Perhaps you meant 'name' instead of 'nmae'"),
    },
    {
      title: "R-HNT-2 the hint names the operator near a misspelt one",
      request: "GET /api/ports?name=eqq.Oslo",
      ...hintAnswer("Perhaps you meant the operator 'eq' instead of 'eqq'"),
    },
    {
      title: "R-HNT-2 the hint names the operator near a misspelt one after not.",
      request: "GET /api/ports?name=not.ilke.*o*",
      ...hintAnswer(expect.stringMatching(/^Perhaps you meant the operator '(?:like' or 'ilike|ilike|like)'/)),
    },
    {
      title: "R-HNT-2 R-HNT-2a the hint for a value without an operator shows the form",
      request: "GET /api/ports?name=Oslo",
      ...hintAnswer("A filter has an operator: perhaps you meant name=eq.Oslo"),
    },
    {
      title: "R-HNT-2 R-HNT-2a the hint for in without parentheses shows the list",
      request: "GET /api/ports?id=in.1,2",
      ...hintAnswer("Put the list in parentheses: id=in.(1,2)"),
    },
    {
      title: "R-HNT-2 the hint for an operator without a value shows the form",
      request: "GET /api/ports?name=eq",
      ...hintAnswer(FILTER),
    },
    {
      title: "R-HNT-2 R-HNT-2a invalid text after an operator has no hint",
      request: "GET /api/ports?name=is.Oslo",
      ...hintAnswer(null),
    },
    { title: "R-HNT-2 a second not. has no hint", request: "GET /api/ports?name=not.not.eq.Oslo", ...hintAnswer(null) },
    {
      title: "R-HNT-2 the hint for a long value does not repeat the value",
      request: `GET /api/ports?name=${"o".repeat(99)}`,
      ...hintAnswer(FILTER),
    },
  ]);

  test("R-HNT-1 a column named like a parameter gets the hint for filters", async () => {
    await api.sql("create table sea.books (id int primary key, page int, hidden_page int, sort text)");
    await api.sql("grant select (id, page) on sea.books to sea_anon");
    await api.reload();
    const hint = async (query: string): Promise<unknown> => (await api.get(`/api/books?${query}`)).json().hint;
    expect(await hint("page=2")).toBe("A filter has an operator: perhaps you meant page=eq.2");
    // A hidden column counts as missing.
    expect(await hint("sort=id")).toBe(ORDER);
    expect(await hint("hiden_page=1")).not.toContain("hidden_page");
    await api.sql("drop table sea.books");
    await api.reload();
  });
});

describe("names", () => {
  cases(api, [
    {
      title: "R-HNT-3 the hint names the column near a misspelt key of a body",
      request: "POST /api/ports",
      body: { nmae: "Oslo" },
      role: "sea_clerk",
      status: 400,
      answer: {
        code: "PGRST204",
        message: "Could not find the 'nmae' column of 'ports' in the schema cache",
        details: null,
        hint: "Perhaps you meant the column 'name'",
      },
    },
    {
      title: "R-HNT-3 the hint names the column near a misspelt one in columns",
      request: "POST /api/ports?columns=contry",
      body: { contry: "NO" },
      role: "sea_clerk",
      ...hintAnswer("Perhaps you meant the column 'country'"),
    },
    {
      title: "R-HNT-3 an unknown column has no hint if no column is near",
      request: "POST /api/ports",
      body: { zzzzzz: 1 },
      role: "sea_clerk",
      ...hintAnswer(null),
    },
    {
      title: "R-HNT-4 the hint names the preference near a misspelt one",
      request: "GET /api/ports",
      headers: { prefer: "handling=strict, retrun=minimal" },
      status: 400,
      answer: {
        code: "PGRST122",
        message: "Invalid preferences given with handling=strict",
        details: "Invalid preferences: retrun=minimal",
        hint: "Perhaps you meant return=minimal",
      },
    },
    {
      title: "R-HNT-4 the hint names the values near several misspelt preferences",
      request: "GET /api/ports",
      headers: { prefer: "handling=strict, return=minmal, cuont=exat, tx=maybe, max-afected=3, zzz=1" },
      ...hintAnswer(
        "Perhaps you meant return=minimal; perhaps you meant count=exact; tx takes commit, rollback; perhaps you meant max-affected=3",
      ),
    },
    {
      title: "R-HNT-4 an unknown preference has no hint if none is near",
      request: "GET /api/ports",
      headers: { prefer: "handling=strict, qwertyuiop" },
      ...hintAnswer(null),
    },
  ]);

  test("R-HNT-3 the hint names the value of an enum near a misspelt one", async () => {
    const { hint, code } = (await api.get("/api/certificates?rating=eq.mastr")).json();
    expect([code, hint]).toEqual(["22P02", "Perhaps you meant 'master'"]);
    // The description leaves out an enum without visible columns.
    await api.sql("create type sea.mood as enum ('happy', 'sad'); create table sea.moods (id int, mood sea.mood)");
    await api.sql("grant select (id) on sea.moods to sea_anon");
    await api.reload();
    expect((await api.get("/api/ports?select=name::mood")).json().hint).toBeNull();
    await api.sql("drop table sea.moods; drop type sea.mood");
    await api.reload();
  });
});

describe("bodies", () => {
  const brokenBody = (body: string, details: unknown): Pick<Case, "body" | "headers" | "status" | "answer"> => ({
    body,
    headers: { "content-type": "application/json" },
    status: 400,
    answer: { code: "PGRST102", message: "Empty or invalid json", details, hint: null },
  });
  cases(api, [
    {
      title: "R-HNT-5 the error of broken JSON has its position",
      request: "POST /api/ports",
      role: "sea_clerk",
      ...brokenBody('{\n  "name": "Oslo",\n  "country" "NO"\n}', 'line 3, column 13: expected ":", found "\\""'),
    },
    {
      title: "R-HNT-5 the error of an empty body has a position",
      request: "POST /api/ports",
      role: "sea_clerk",
      ...brokenBody("", "line 1, column 1: expected a value, found the end"),
    },
    {
      title: "R-HNT-5 the error of a body of a call has a position",
      request: "POST /api/rpc/add_numbers",
      ...brokenBody('{"a":1,"b":}', 'line 1, column 12: expected a value, found "}"'),
    },
    {
      title: "R-HNT-5 errors of bodies that the database parses have a position",
      request: "POST /api/ports?columns=name",
      role: "sea_clerk",
      headers: { "content-type": "application/json" },
      body: '[{"name": "Oslo"},\n {"name": }]',
      status: 400,
      answer: expect.objectContaining({ code: "22P02", details: 'line 2, column 11: expected a value, found "}"' }),
    },
  ]);
});

describe("R-HNT-6 errors in compatibility mode", async () => {
  const bareApi = await startApi({ compatMode: false, parts: [without("rest-hints")] });
  const rows: readonly (readonly [path: string, api: TestApi, prefix: string])[] = [
    ["with COMPAT_MODE", exactApi, ""],
    ["without the plugin", bareApi, "/api"],
  ];
  for (const [title, target, prefix] of rows)
    cases(target, [
      {
        title: `R-HNT-6 errors of parameters have no hint ${title}`,
        request: `GET ${prefix}/ports?page=2`,
        ...hintAnswer(null),
      },
      {
        title: `R-HNT-6 errors of columns have no hint ${title}`,
        request: `POST ${prefix}/ports`,
        role: "sea_clerk",
        body: { nmae: 1 },
        ...hintAnswer(null),
      },
      {
        title: `R-HNT-6 errors of preferences have no hint ${title}`,
        request: `GET ${prefix}/ports`,
        headers: { prefer: "handling=strict, retrun=minimal" },
        ...hintAnswer(null),
      },
      {
        title: `R-HNT-6 errors of bodies have no hint ${title}`,
        request: `POST ${prefix}/ports`,
        role: "sea_clerk",
        headers: { "content-type": "application/json" },
        body: "{",
        status: 400,
        answer: { code: "PGRST102", message: "Empty or invalid json", details: null, hint: null },
      },
    ]);
});

describe("useful hints", async () => {
  const db = await testDatabase();
  await db.query(`
    create schema led;
    create table led.node (id int primary key, name text, parent_id int references led.node, boss_id int references led.node);
    create table led.place (id int primary key, name text);
    create table led.visit (id int primary key, place_id int references led.place);
    create view led.v_dup as select id, place_id, place_id as place_again from led.visit;
    create table led.selft (id int primary key, nm text, up_id int references led.selft);
    create view led.selft_v as select * from led.selft;
    create table led.dog (id int primary key);
    create table led.region (id int primary key, name text);
    create table led.msg (id int primary key, node_id int references led.node);
    create function led.f_json(json) returns json language sql immutable as 'select $1';
    create type led.visits as (id int);
    create function led.list_visits() returns setof led.visits language sql immutable as 'select 1';
    insert into led.node values (1, 'root', null, null), (2, 'leaf', 1, 1);
    insert into led.selft values (1, 'a', null), (2, 'b', 1);
    grant usage on schema led to sea_anon;
    grant select on all tables in schema led to sea_anon;
  `);
  const helpfulApi = await startApi({ dbSchemas: ["led"], compatMode: false, restPrefixes: ["/"] });
  const compatApi = await startApi({ dbSchemas: ["led"], compatMode: true });

  test.each([
    [
      "two self references",
      "/node?select=name,EMBED(name)",
      "node",
      ["node!node_boss_id_fkey", "node!node_parent_id_fkey"],
    ],
    [
      "a key column that is shown twice",
      "/v_dup?select=id,EMBED(name)",
      "place",
      ["place!place_id", "place!place_again"],
    ],
    ["a view of a self reference", "/selft?select=nm,EMBED(nm)", "selft_v", ["selft_v!id", "selft_v!up_id"]],
  ])(
    "R-EMB-5 R-EMB-5b each embed that a hint offers for %s means one relationship",
    async (_what, path, target, offeredHints) => {
      const ambiguousAnswer = await helpfulApi.get(path.replace("EMBED", target));
      expect(ambiguousAnswer.status).toBe(300);
      const hints = [...ambiguousAnswer.json().hint.matchAll(/'([^']+![^']+)'/g)].map(([, hint]) => hint as string);
      expect([...hints].sort()).toEqual([...offeredHints].sort());
      const answers = await Promise.all(hints.map(async (hint) => helpfulApi.get(path.replace("EMBED", hint))));
      for (const [i, answer] of answers.entries()) expect(answer.status, `${hints[i]}: ${answer.text}`).toBe(200);
      expect(ambiguousAnswer.json().details).toHaveLength(hints.length);
    },
  );

  test("R-EMB-1 a self reference by its constraint returns the rows that its column returns", async () => {
    for (const api of [helpfulApi, compatApi]) {
      const rows = async (embed: string) => (await api.get(`/node?select=name,to:${embed}(name)&order=id`)).json();
      expect(await rows("node!node_parent_id_fkey")).toEqual([
        { name: "root", to: [{ name: "leaf" }] },
        { name: "leaf", to: [] },
      ]);
      expect(await rows("node!node_parent_id_fkey")).toEqual(await rows("node!parent_id"));
    }
  });

  test("R-EMB-1 R-EMB-5c the column of either side chooses a direction between a table and its view", async () => {
    const rows = async (embed: string) => (await helpfulApi.get(`/selft?select=nm,to:${embed}(nm)&order=id`)).json();
    expect(await rows("selft_v!up_id")).toEqual([
      { nm: "a", to: null },
      { nm: "b", to: { nm: "a" } },
    ]);
    expect(await rows("selft_v!id")).toEqual([
      { nm: "a", to: [{ nm: "b" }] },
      { nm: "b", to: [] },
    ]);
  });

  test("R-EMB-19 R-EMB-19a a relation without a relationship is not called misspelt", async () => {
    const fetchHint = async (target: TestApi, path: string) => (await target.get(path)).json().hint;
    expect(await fetchHint(helpfulApi, "/dog?select=id,region(name)")).toBeNull();
    expect(await fetchHint(compatApi, "/dog?select=id,region(name)")).toContain("instead of 'dog'");
    expect(await fetchHint(helpfulApi, "/msg?select=id,nod(name)")).toBe("Perhaps you meant 'node' instead of 'nod'.");
    expect((await helpfulApi.get("/msg?select=id,node(name)")).status).toBe(200);
  });

  test("R-EMB-19a the type of a function's rows is not called misspelt", async () => {
    const path = "/rpc/list_visits?select=id,place(name)";
    expect((await helpfulApi.get(path)).json()).toMatchObject({ code: "PGRST200", hint: null });
    expect((await compatApi.get(path)).json().hint).toBe("Perhaps you meant 'visit' instead of 'visits'.");
  });

  test("R-RPC-10 R-RPC-10a the hint for GET of a function that takes a body suggests POST", async () => {
    const answer = await helpfulApi.get("/rpc/f_json");
    expect([answer.status, answer.json().hint]).toEqual([
      404,
      "The function takes its argument as the body of a POST request",
    ]);
    expect((await helpfulApi.post("/rpc/f_json", { body: { a: 1 } })).json()).toEqual({ a: 1 });
    expect((await compatApi.get("/rpc/f_json")).json().hint).toBe(
      "Perhaps you meant to call the function led.f_json()",
    );
  });

  test("R-HNT-2 R-HNT-2a the hint for a filter with blanks around its equals sign shows the form", async () => {
    const answer = await helpfulApi.get("/place?id%20=%20eq.1");
    expect(answer.json().hint).toBe("A filter has no blanks in front of its operator: perhaps you meant id=eq.1");
    expect((await helpfulApi.get("/place?id=eq.1")).status).toBe(200);
    expect((await helpfulApi.get("/place?id%20=%20x")).json().hint).toBe(
      "A filter has an operator: perhaps you meant id=eq.x",
    );
    expect((await compatApi.get("/place?id%20=%20eq.1")).json().hint).toBeNull();
  });
});
