import { expect, test } from "vitest";
import { rolledBack, startApi, type Answer } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { createLogger } from "../support/logger.ts";

const api = await startApi({ dbAggregatesEnabled: true, dbMaxRows: 1000 });

const representation = rolledBack("return=representation");
const LONG_NAME = "long_names_of_things_that_fill_the_identifier_limit_to_the_end_";
const code = (expected: string) => (answer: Answer) => expect(answer.json().code).toBe(expected);

cases(api, [
  // Names.
  {
    title: "R-SQL-0 a table may have columns named like the aliases of the statement",
    request: "GET /t",
    answer: [{ t: "one", e: "e", p: 1, c: 2, value: "v" }],
  },
  {
    title: "R-SQL-0 columns named like aliases appear in CSV",
    request: "GET /t",
    headers: { accept: "text/csv" },
    bytes: "t,e,p,c,value\none,e,1,2,v",
  },
  {
    title: "R-SQL-0 columns named like aliases appear in a single object",
    request: "GET /t",
    headers: { accept: "application/vnd.pgrst.object+json" },
    answer: { t: "one", e: "e", p: 1, c: 2, value: "v" },
  },
  {
    title: "R-SQL-0 columns named like aliases can be inserted",
    request: "POST /t",
    headers: representation,
    body: { t: "two", e: "x", p: 3, c: 4, value: "w" },
    answer: [{ t: "two", e: "x", p: 3, c: 4, value: "w" }],
  },
  {
    title: "R-SQL-0 columns named like aliases can be updated and filtered",
    request: "PATCH /t?value=eq.v&select=t,value",
    headers: representation,
    body: { value: "w", p: 9 },
    answer: [{ t: "one", value: "w" }],
  },
  {
    title: "R-SQL-0 rows with columns named like aliases can be counted",
    request: "GET /t?t=eq.one&select=value",
    headers: { prefer: "count=exact" },
    answer: [{ value: "v" }],
    responseHeaders: { "Content-Range": "0-0/1" },
  },
  {
    title: "R-SQL-0 a column may have the name of its table",
    request: "GET /pennant?pennant=like.blue*",
    answer: [{ pennant: "blue peter" }],
  },
  {
    title: "R-SQL-0 a column with the name of its table can be written",
    request: "POST /pennant?select=pennant",
    headers: representation,
    body: { pennant: "black" },
    answer: [{ pennant: "black" }],
  },
  {
    title: "R-SQL-0 a column may have the name of the function that returns it",
    request: "GET /rpc/depth?depth=gt.50",
    answer: [{ depth: 55 }],
  },
  {
    title: "R-SQL-0 relations and columns may be named by reserved words",
    request: 'GET /order?"select"=eq.1&"order"=eq.7&order=limit',
    answer: [{ select: 1, limit: "l", from: "f", or: "o", order: 7, group: "g" }],
  },
  {
    title: "R-SQL-0 columns named by reserved words can be written",
    request: 'PATCH /order?"select"=eq.1&select=from,group',
    headers: representation,
    body: { from: "x", group: "y" },
    answer: [{ from: "x", group: "y" }],
  },
  {
    title: "R-SQL-0 relations and columns may have names of 63 bytes",
    request: `GET /${LONG_NAME}`,
    answer: [{ id: 1, column_name_that_is_as_long_as_postgres_allows_it_to_be_at_all_: "long" }],
  },
  {
    title: "R-SQL-0 columns with names of 63 bytes can be written",
    request: `POST /${LONG_NAME}?select=id`,
    headers: representation,
    body: { id: 2, column_name_that_is_as_long_as_postgres_allows_it_to_be_at_all_: "x" },
    answer: [{ id: 2 }],
  },
  {
    title: "R-SQL-0 columns may have names with dots, parentheses, quotes and backslashes",
    request: 'GET /Deck Plans?select="a.b","(x)","the \\"best\\" one","back\\\\slash"',
    answer: [{ "a.b": "dotted", "(x)": "paren", 'the "best" one': "quoted", "back\\slash": "slash" }],
  },
  {
    title: "R-SQL-0 columns with names of special characters can be written",
    request: "POST /Deck Plans?select=*",
    headers: representation,
    body: {
      "Plan No": 2,
      "a.b": "1",
      "a:b": "2",
      "(x)": "3",
      "first-mate": "4",
      "back\\slash": "5",
      'the "best" one': "6",
      ünï: "7",
    },
    answer: [
      {
        "Plan No": 2,
        'the "best" one': "6",
        "a.b": "1",
        "a:b": "2",
        "(x)": "3",
        "first-mate": "4",
        "back\\slash": "5",
        ünï: "7",
      },
    ],
  },

  // The envelope.
  {
    title: "R-SQL-1 one statement returns the body, the total, the status and headers of a write",
    request: "POST /bells?select=rung",
    headers: { prefer: "return=representation, count=exact, tx=rollback" },
    body: { rung: 8 },
    status: 202,
    answer: [{ rung: 8 }],
    responseHeaders: { "X-Bell": "8", "Content-Range": "*/1" },
  },
  {
    title: "R-SQL-1 one statement returns the total beside the window",
    request: "GET /vessels?select=id&limit=1",
    headers: { prefer: "count=exact" },
    status: 206,
    bytes: '[{"id":1}]',
    responseHeaders: { "Content-Range": "0-0/3" },
  },

  // Bodies.
  { title: "R-SQL-2 a read without rows returns an empty array", request: "GET /vessels?id=eq.0", bytes: "[]" },
  {
    title: "R-SQL-2 the object media type returns an object",
    request: "GET /vessels?id=eq.1&select=id",
    headers: { accept: "application/vnd.pgrst.object+json" },
    bytes: '{"id":1}',
  },
  {
    title: "R-SQL-2 nulls=stripped leaves out keys with null",
    request: "GET /vessels?id=eq.3&select=id,tonnage,specs",
    headers: { accept: "application/vnd.pgrst.array+json;nulls=stripped" },
    bytes: '[{"id":3,"tonnage":47}]',
  },
  {
    title: "R-SQL-2 a function that returns a scalar returns a bare value",
    request: "GET /rpc/add_numbers?a=1&b=2",
    bytes: "3",
  },
  {
    title: "R-SQL-2 a function that returns a set of scalars returns an array of bare values",
    request: "GET /rpc/tonnages",
    bytes: "[853, 402, 47]",
  },
  {
    title: "R-SQL-2 a write with return=minimal has no body",
    request: "PATCH /vessels?id=eq.1",
    headers: rolledBack(),
    body: { tonnage: 1 },
    status: 204,
    bytes: "",
  },

  // Select items.
  {
    title: "R-SQL-3 select accepts casts, JSON paths and array indexes",
    request: "GET /vessels?select=t:tonnage::text,specs->engine->>kw,specs->tags->0,flags->1&id=eq.1",
    bytes: '[{"t":"853","kw":"550","tags":"a","flags":"NO"}]',
  },
  {
    title: "R-SQL-3 select shows the representation of a domain",
    request: "GET /paints?select=shade&id=eq.1",
    bytes: '[{"shade":"#0000ff"}]',
  },

  // Embeds.
  {
    title: "R-SQL-4 a to-one embed is an object, exact to the byte",
    request: "GET /vessels?select=id,ports(name)&order=id&limit=1",
    bytes: '[{"id":1,"ports":{"name":"Oslo"}}]',
  },
  {
    title: "R-SQL-4 a to-one embed without a row is null",
    request: "GET /vessels?select=id,ports(name)&id=eq.3",
    bytes: '[{"id":3,"ports":null}]',
  },
  {
    title: "R-SQL-4 an inner to-one embed removes rows without a related row",
    request: "GET /vessels?select=id,ports!inner(name)&id=eq.3",
    bytes: "[]",
  },
  {
    title: "R-SQL-4 a to-one embed is grouped by its value",
    request: "GET /vessels?select=n:count(),ports(name)&id=lt.3",
    answer: [{ n: 2, ports: { name: "Oslo" } }],
  },
  {
    title: "R-SQL-5 a to-many embed is an array, exact to the byte",
    request: "GET /ports?select=id,vessels(id)&id=eq.1&vessels.order=id",
    bytes: '[{"id":1,"vessels":[{"id":1}, \n {"id":2}]}]',
  },
  {
    title: "R-SQL-5 a to-many embed without rows is an empty array",
    request: "GET /ports?select=id,vessels(id)&id=eq.2",
    bytes: '[{"id":2,"vessels":[]}]',
  },
  {
    title: "R-SQL-5 an inner to-many embed removes rows without related rows",
    request: "GET /ports?select=id,vessels!inner(id)&vessels.tonnage=gt.9000",
    bytes: "[]",
  },
  {
    title: "R-SQL-6 a to-one spread adds columns to its parent",
    request: "GET /voyages?select=id,...vessels(ship:name)&id=eq.1",
    bytes: '[{"id":1,"ship":"Ariel"}]',
  },
  {
    title: "R-SQL-6 a to-many spread is ordered by a column that is not selected",
    request: "GET /ports?select=...vessels(name)&vessels.order=tonnage&id=eq.1",
    answer: [{ name: ["Fram", "Ariel"] }],
  },
  {
    title: "R-SQL-7 a many-to-many embed returns the related rows of each parent",
    request: "GET /docks?select=name,cranes!dock_cranes(name)&cranes.order=name&order=id",
    answer: [
      { name: "east", cranes: [{ name: "big" }, { name: "small" }] },
      { name: "west", cranes: [{ name: "small" }] },
    ],
  },
  {
    title: "R-SQL-8 a computed relationship uses the overload of its row type",
    request: "GET /vessels?select=peers(id)&id=eq.1",
    answer: [{ peers: [{ id: 2 }, { id: 3 }] }],
  },
  {
    title: "R-SQL-8 a computed relationship works on written rows",
    request: "PATCH /sailors?id=eq.1&select=peers(id)",
    headers: representation,
    body: { mentor_id: null },
    answer: [{ peers: [{ id: 2 }, { id: 3 }, { id: 4 }] }],
  },

  // Filters.
  {
    title: "R-SQL-9 a filter value has the type of its column",
    request: "GET /vessels?tonnage=eq.x",
    status: 400,
    answer: { code: "22P02", details: null, hint: null, message: 'invalid input syntax for type integer: "x"' },
  },
  { title: "R-SQL-9 an empty in list matches no row", request: "GET /vessels?id=in.()", bytes: "[]" },
  {
    title: "R-SQL-9 the quantifier any accepts a list of values",
    request: "GET /vessels?select=id&id=eq(any).{1,3}&order=id",
    answer: [{ id: 1 }, { id: 3 }],
  },
  {
    title: "R-SQL-9 a null filter on an embed selects rows without related rows",
    request: "GET /ports?select=name,vessels()&vessels=is.null",
    answer: [{ name: "Leith" }],
  },
  {
    title: "R-SQL-9 a full-text filter accepts a language",
    request: "GET /manifests?select=id&body=fts(english).cat",
    answer: [{ id: 1 }],
  },

  // Counts.
  {
    title: "R-SQL-10 an exact count regards inner embeds",
    request: "GET /ports?select=id,vessels!inner(id)&limit=1",
    headers: { prefer: "count=exact" },
    responseHeaders: { "Content-Range": "0-0/1" },
  },
  {
    title: "R-SQL-10 a planned count is an estimate",
    request: "GET /ports?select=id",
    headers: { prefer: "count=planned" },
    responseHeaders: { "Content-Range": /^0-1\/\d+$/ },
  },
  {
    title: "R-SQL-10 an estimated count is reported in Content-Range",
    request: "GET /ports?select=id",
    headers: { prefer: "count=estimated" },
    responseHeaders: { "Content-Range": "0-1/2" },
  },

  // Writes.
  {
    title: "R-SQL-11 an inserted object is read with the declared types of its columns",
    request: "POST /kinds?select=c_varchar,c_char,c_bit,c_int_list",
    headers: representation,
    body: { id: 5, c_varchar: "ten letters", c_char: "ab" },
    status: 400,
    check: code("22001"),
  },
  {
    title: "R-SQL-11 a list inserts its rows in order",
    request: "POST /ports?select=name&columns=name",
    headers: representation,
    body: [{ name: "B" }, { name: "A" }],
    answer: [{ name: "B" }, { name: "A" }],
  },
  {
    title: "R-SQL-12 an upsert through a view that updates its row is 200",
    request: "POST /fleet?select=id",
    headers: rolledBack("return=representation", "resolution=merge-duplicates"),
    body: [{ id: 1, name: "A" }],
    status: 200,
    answer: [{ id: 1 }],
  },
  {
    title: "R-SQL-12 an upsert that updates one row and inserts another is 201",
    request: "POST /fleet?select=id",
    headers: rolledBack("return=representation", "resolution=merge-duplicates"),
    body: [
      { id: 1, name: "A" },
      { id: 70, name: "B" },
    ],
    status: 201,
    answer: [{ id: 1 }, { id: 70 }],
  },
  {
    title: "R-SQL-12 an upsert without rows is 200",
    request: "POST /ports?select=id",
    headers: rolledBack("return=representation", "resolution=merge-duplicates"),
    body: [],
    status: 200,
    answer: [],
  },
  {
    title: "R-SQL-13 an update returns embeds and computed fields",
    request: "PATCH /vessels?id=eq.1&select=name,label,ports(name),voyages(id)&voyages.order=id",
    headers: representation,
    body: { name: "X", home_port_id: 2 },
    answer: [{ name: "X", label: "X #1", ports: { name: "Leith" }, voyages: [{ id: 1 }, { id: 2 }] }],
  },
  {
    title: "R-SQL-16 an insert with return=minimal counts its rows",
    request: "POST /ports",
    headers: rolledBack("return=minimal", "count=exact"),
    body: [{ name: "B" }, { name: "A" }],
    status: 201,
    responseHeaders: { "content-range": "*/2" },
    bytes: "",
  },
  {
    title: "R-SQL-16 an insert with return=minimal does not count ignored duplicates",
    request: "POST /ports?on_conflict=name",
    headers: rolledBack("return=minimal", "count=exact", "resolution=ignore-duplicates"),
    body: [{ name: "Oslo" }, { name: "A" }, { name: "Leith" }],
    status: 201,
    responseHeaders: { "content-range": "*/1" },
  },
  {
    title: "R-SQL-16 an update with return=minimal counts its rows",
    request: "PATCH /vessels?tonnage=gt.100",
    headers: rolledBack("return=minimal", "count=exact"),
    body: { tonnage: 1 },
    status: 204,
    responseHeaders: { "content-range": "0-1/2" },
  },
  {
    title: "R-SQL-16 an update with return=minimal observes max-affected",
    request: "PATCH /vessels?tonnage=gt.100",
    headers: { prefer: "return=minimal, handling=strict, max-affected=1" },
    body: { tonnage: 1 },
    status: 400,
    check: code("PGRST124"),
  },
  {
    title: "R-SQL-16 a delete without matching rows counts 0",
    request: "DELETE /crew?rank=eq.nobody",
    headers: rolledBack("return=minimal", "count=exact"),
    status: 204,
    responseHeaders: { "content-range": "*/0" },
  },
  {
    title: "R-SQL-13 a delete returns the deleted rows with embeds",
    request: "DELETE /crew?vessel_id=eq.1&sailor_id=eq.1&select=rank,sailors(name)",
    headers: representation,
    answer: [{ rank: "captain", sailors: { name: "Ada" } }],
  },

  // Calls.
  {
    title: "R-SQL-14 named arguments of a call are read with their types",
    request: "GET /rpc/add_numbers?b=2&a=40",
    bytes: "42",
  },
  {
    title: "R-SQL-14 repeated arguments of a call become a variadic array",
    request: "GET /rpc/sum_all?numbers=1&numbers=2",
    bytes: "3",
  },
  {
    title: "R-SQL-14 a JSON body gives the arguments of a call",
    request: "POST /rpc/vessels_of?select=id",
    body: { port: "1" },
    answer: [{ id: 1 }, { id: 2 }],
  },
  {
    title: "R-SQL-14 the first object of a JSON array gives the arguments of a call",
    request: "POST /rpc/sum_all",
    body: [{ numbers: [1, 2] }, { numbers: [3] }],
    bytes: "3",
  },

  // Group by.
  {
    title: "R-SQL-15 aliases, casts, embeds and spreads are group terms",
    request:
      "GET /voyages?select=from:origin_id,departs::text,fare.sum(),ports!voyages_destination_id_fkey(name),...vessels(ship:name)&id=eq.1",
    answer: [{ from: 1, departs: "2024-05-01", sum: 120.5, ports: { name: "Leith" }, ship: "Ariel" }],
  },
  {
    title: "R-SQL-15 JSON paths are group terms",
    request: "GET /vessels?select=specs->engine->>maker,count()&id=eq.1",
    answer: [{ maker: "Burmeister", count: 1 }],
  },
]);

test("R-SQL-1 each request runs one statement beside the settings and the pre-request function", async () => {
  const statements: string[] = [];
  const note = (message: string, fields?: Readonly<Record<string, unknown>>): void =>
    void statements.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const ownApi = await startApi({
    logQuery: true,
    logger: createLogger({ info: note, debug: note }),
  });
  const countStatements = async (ask: () => Promise<unknown>): Promise<number> => {
    statements.length = 0;
    await ask();
    return statements.filter((line) => /\b(select|insert|update|delete)\b/i.test(line)).length;
  };
  expect(
    await countStatements(() =>
      ownApi.get("/ports?select=name,vessels(name,voyages(*))&limit=1", { headers: { prefer: "count=exact" } }),
    ),
  ).toBe(1);
  expect(
    await countStatements(() =>
      ownApi.post("/ports?select=*,vessels(*)", { headers: representation, body: [{ name: "A" }, { name: "B" }] }),
    ),
  ).toBe(1);
  expect(
    await countStatements(() => ownApi.get("/rpc/all_vessels?limit=1", { headers: { prefer: "count=exact" } })),
  ).toBe(1);
});
