import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { startApi, type TestApi } from "../support/api.ts";
import { cases, type Case } from "../support/cases.ts";

const api = await startApi({ compatMode: false });
const exact = await startApi({ compatMode: true, on: api.database });

const told = (hint: unknown, status = 400): Pick<Case, "status" | "answer"> => ({
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
      title: `R-HNT-1 ${query} is told about limit and offset`,
      request: `GET /api/ports?${query}`,
      ...told(PAGES),
    })),
    ...["sort=name", "sortBy=name", "order_by=name.desc", "ordering=-name"].map((query) => ({
      title: `R-HNT-1 ${query} is told about order`,
      request: `GET /api/ports?${query}`,
      ...told(ORDER),
    })),
    ...["fields=id,name", "include=vessels", "$expand=vessels", "populate=*"].map((query) => ({
      title: `R-HNT-1 ${query} is told about select`,
      request: `GET /api/ports?${query}`,
      ...told(SELECT),
    })),
    ...["filter=x", "q=oslo", "search=oslo", "filter[name]=Oslo", "where={}"].map((query) => ({
      title: `R-HNT-1 ${query} is told about filters`,
      request: `GET /api/ports?${query}`,
      ...told(FILTER),
    })),
    {
      title: "R-HNT-1 the parser's own words stay",
      request: "GET /api/ports?page=2",
      status: 400,
      answer: {
        code: "PGRST100",
        message: '"failed to parse filter (2)" (line 1, column 1)',
        details: 'unexpected "2" expecting "not" or operator (eq, gt, ...)',
        hint: PAGES,
      },
    },
    { title: "R-HNT-1 of an unknown relation too", request: "GET /api/nowhere?page=2", ...told(PAGES) },
    { title: "R-HNT-1 of writes too", request: "DELETE /api/ports?page=2", ...told(PAGES) },
    {
      title: "R-HNT-2 a misspelt parameter",
      request: "GET /api/ports?lmit=2",
      ...told("Perhaps you meant 'limit' instead of 'lmit'"),
    },
    {
      title: "R-HNT-2 a misspelt column without an operator",
      request: "GET /api/ports?nmae=Oslo",
      ...told("Perhaps you meant 'name' instead of 'nmae'"),
    },
    {
      title: "R-HNT-2 a misspelt operator",
      request: "GET /api/ports?name=eqq.Oslo",
      ...told("Perhaps you meant the operator 'eq' instead of 'eqq'"),
    },
    {
      title: "R-HNT-2 a misspelt operator behind not",
      request: "GET /api/ports?name=not.ilke.*o*",
      ...told(expect.stringMatching(/^Perhaps you meant the operator '(?:like' or 'ilike|ilike|like)'/)),
    },
    {
      title: "R-HNT-2 no operator",
      request: "GET /api/ports?name=Oslo",
      ...told("A filter has an operator: perhaps you meant name=eq.Oslo"),
    },
    {
      title: "R-HNT-2 in without parentheses",
      request: "GET /api/ports?id=in.1,2",
      ...told("A list stands in parentheses: id=in.(1,2)"),
    },
    {
      title: "R-HNT-2 an operator alone",
      request: "GET /api/ports?name=eq",
      ...told(FILTER),
    },
    { title: "R-HNT-2 nothing of what follows an operator", request: "GET /api/ports?name=is.Oslo", ...told(null) },
    { title: "R-HNT-2 nothing of a second not", request: "GET /api/ports?name=not.not.eq.Oslo", ...told(null) },
    {
      title: "R-HNT-2 of a long value the form alone",
      request: `GET /api/ports?name=${"o".repeat(99)}`,
      ...told(FILTER),
    },
  ]);

  test("R-HNT-1 a column of that name is a column", async () => {
    await api.sql("create table sea.books (id int primary key, page int, hidden_page int, sort text)");
    await api.sql("grant select (id, page) on sea.books to sea_anon");
    await api.reload();
    const hint = async (query: string): Promise<unknown> => (await api.get(`/api/books?${query}`)).json().hint;
    expect(await hint("page=2")).toBe("A filter has an operator: perhaps you meant page=eq.2");
    // a column that the caller may not see is as if it were not there
    expect(await hint("sort=id")).toBe(ORDER);
    expect(await hint("hiden_page=1")).not.toContain("hidden_page");
    await api.sql("drop table sea.books");
    await api.reload();
  });
});

describe("names", () => {
  cases(api, [
    {
      title: "R-HNT-3 a misspelt column of a body",
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
      title: "R-HNT-3 a misspelt column of columns",
      request: "POST /api/ports?columns=contry",
      body: { contry: "NO" },
      role: "sea_clerk",
      ...told("Perhaps you meant the column 'country'"),
    },
    {
      title: "R-HNT-3 nothing is near",
      request: "POST /api/ports",
      body: { zzzzzz: 1 },
      role: "sea_clerk",
      ...told(null),
    },
    {
      title: "R-HNT-4 a misspelt preference",
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
      title: "R-HNT-4 misspelt values, and several",
      request: "GET /api/ports",
      headers: { prefer: "handling=strict, return=minmal, cuont=exat, tx=maybe, max-afected=3, zzz=1" },
      ...told(
        "Perhaps you meant return=minimal; perhaps you meant count=exact; tx takes commit, rollback; perhaps you meant max-affected=3",
      ),
    },
    {
      title: "R-HNT-4 nothing is near",
      request: "GET /api/ports",
      headers: { prefer: "handling=strict, qwertyuiop" },
      ...told(null),
    },
  ]);

  test("R-HNT-3 a value near those of an enum", async () => {
    const { hint, code } = (await api.get("/api/certificates?rating=eq.mastr")).json();
    expect([code, hint]).toEqual(["22P02", "Perhaps you meant 'master'"]);
    // an enum that the caller sees no column of is not described
    await api.sql("create type sea.mood as enum ('happy', 'sad'); create table sea.moods (id int, mood sea.mood)");
    await api.sql("grant select (id) on sea.moods to sea_anon");
    await api.reload();
    expect((await api.get("/api/ports?select=name::mood")).json().hint).toBeNull();
    await api.sql("drop table sea.moods; drop type sea.mood");
    await api.reload();
  });
});

describe("bodies", () => {
  const broken = (body: string, details: unknown): Pick<Case, "body" | "headers" | "status" | "answer"> => ({
    body,
    headers: { "content-type": "application/json" },
    status: 400,
    answer: { code: "PGRST102", message: "Empty or invalid json", details, hint: null },
  });
  cases(api, [
    {
      title: "R-HNT-5 broken JSON says where",
      request: "POST /api/ports",
      role: "sea_clerk",
      ...broken('{\n  "name": "Oslo",\n  "country" "NO"\n}', 'line 3, column 13: expected ":", found "\\""'),
    },
    {
      title: "R-HNT-5 so does an empty body",
      request: "POST /api/ports",
      role: "sea_clerk",
      ...broken("", "line 1, column 1: expected a value, found the end"),
    },
    {
      title: "R-HNT-5 of calls too",
      request: "POST /api/rpc/add_numbers",
      ...broken('{"a":1,"b":}', 'line 1, column 12: expected a value, found "}"'),
    },
    {
      title: "R-HNT-5 where the columns are named, the database reads it",
      request: "POST /api/ports?columns=name",
      role: "sea_clerk",
      headers: { "content-type": "application/json" },
      body: '[{"name": "Oslo"},\n {"name": }]',
      status: 400,
      answer: expect.objectContaining({ code: "22P02", details: 'line 2, column 11: expected a value, found "}"' }),
    },
  ]);
});

describe("R-HNT-6 where errors are PostgREST's to the byte", async () => {
  const bare = await startApi({ compatMode: false, parts: [without("rest-hints")], on: api.database });
  const rows: readonly (readonly [path: string, api: TestApi, prefix: string])[] = [
    ["with COMPAT_MODE", exact, ""],
    ["without the plugin", bare, "/api"],
  ];
  for (const [title, one, prefix] of rows)
    cases(one, [
      { title: `R-HNT-6 ${title} parameters`, request: `GET ${prefix}/ports?page=2`, ...told(null) },
      {
        title: `R-HNT-6 ${title} columns`,
        request: `POST ${prefix}/ports`,
        role: "sea_clerk",
        body: { nmae: 1 },
        ...told(null),
      },
      {
        title: `R-HNT-6 ${title} preferences`,
        request: `GET ${prefix}/ports`,
        headers: { prefer: "handling=strict, retrun=minimal" },
        ...told(null),
      },
      {
        title: `R-HNT-6 ${title} bodies`,
        request: `POST ${prefix}/ports`,
        role: "sea_clerk",
        headers: { "content-type": "application/json" },
        body: "{",
        status: 400,
        answer: { code: "PGRST102", message: "Empty or invalid json", details: null, hint: null },
      },
    ]);
});
