import { expect, test } from "vitest";
import { rolledBack, startApi, uncountedRange } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import type { Answer } from "../support/api.ts";

const api = await startApi();

const form = { "content-type": "application/x-www-form-urlencoded" };
const csv = { "content-type": "text/csv" };
const text = { "content-type": "text/plain" };
const object = { accept: "application/vnd.pgrst.object+json" };
const countHeaders = { prefer: "count=exact" };

const code = (expected: string) => (answer: Answer) => expect(answer.json().code).toBe(expected);
const noRelationship = (source: string, target: string, hint: string | null = null) => ({
  code: "PGRST200",
  details: `Searched for a foreign key relationship between '${source}' and '${target}' in the schema 'sea', but no matches were found.`,
  hint,
  message: `Could not find a relationship between '${source}' and '${target}' in the schema cache`,
});
const notFound = (message: string, details: string, hint: string | null = null) => ({
  code: "PGRST202",
  details: `Searched for the function ${details}, but no matches were found in the schema cache.`,
  hint,
  message: `Could not find the function ${message} in the schema cache`,
});

cases(api, [
  // Callable functions.
  { title: "R-RPC-1 GET calls a function", request: "GET /rpc/add_numbers?a=1&b=2", status: 200, bytes: "3" },
  {
    title: "R-RPC-1 POST calls a function",
    request: "POST /rpc/add_numbers",
    body: { a: 1, b: 2 },
    status: 200,
    bytes: "3",
  },
  {
    title: "R-RPC-1 HEAD answers like GET without a body",
    request: "HEAD /rpc/add_numbers?a=1&b=2",
    status: 200,
    bytes: "",
    responseHeaders: {
      "Content-Type": "application/json; charset=utf-8",
      "Content-Length": null,
      "Content-Range": uncountedRange("0-0"),
      "Content-Location": null,
    },
  },
  { title: "R-RPC-1 the name of a function may contain a blank", request: "GET /rpc/odd%20function", bytes: '"odd"' },
  {
    title: "R-RPC-1 a procedure cannot be called",
    request: "POST /rpc/tidy",
    body: {},
    status: 404,
    check: code("PGRST202"),
  },
  {
    title: "R-RPC-1 an aggregate cannot be called",
    request: "POST /rpc/product",
    body: {},
    status: 404,
    check: code("PGRST202"),
  },
  {
    title: "R-RPC-1 a trigger function cannot be called",
    request: "POST /rpc/write_vessel_card",
    body: {},
    status: 404,
    check: code("PGRST202"),
  },
  {
    title: "R-RPC-1 a function with unnamed parameters cannot be called",
    request: "GET /rpc/unnamed",
    status: 404,
    check: code("PGRST202"),
  },
  {
    title: "R-RPC-1 a function of another schema cannot be called",
    request: "GET /rpc/depot_count",
    status: 404,
    check: code("PGRST202"),
  },
  {
    title: "R-PROF-1 a profile header calls a function of another schema",
    request: "GET /rpc/depot_count",
    headers: { "accept-profile": "land" },
    status: 200,
    bytes: "2",
    responseHeaders: { "Content-Profile": "land" },
  },
  {
    title: "R-PROF-1 Content-Profile calls a function of another schema by POST",
    request: "POST /rpc/depot_count",
    headers: { "content-profile": "land" },
    body: {},
    bytes: "2",
  },
  {
    title: "R-PATH-7 a function rejects PATCH",
    request: "PATCH /rpc/vessels_of",
    status: 405,
    answer: { code: "PGRST101", details: null, hint: null, message: "Cannot use the PATCH method on RPC" },
  },

  // Arguments.
  {
    title: "R-RPC-2 a parameter with an operator is a filter, and any other is an argument",
    request: "GET /rpc/vessels_of?port=1&tonnage=gt.500&select=name,ports(name)",
    status: 200,
    answer: [{ name: "Ariel", ports: { name: "Oslo" } }],
  },
  {
    title: "R-RPC-2 one name may be an argument and a filter",
    request: "GET /rpc/find?word=a&word=neq.x",
    status: 400,
    check: code("42703"),
  },
  {
    title: "R-RPC-2 a parameter whose value looks like a filter is a filter",
    request: "GET /rpc/greet?name=eq.Bo",
    status: 400,
    check: code("42703"),
  },
  {
    title: "R-RPC-2 logic trees filter the rows of a function",
    request: "GET /rpc/vessels_of?port=1&or=(tonnage.gt.500,name.eq.Fram)&select=name",
    answer: [{ name: "Ariel" }, { name: "Fram" }],
  },
  {
    title: "R-RPC-3 the keys of a JSON object are the arguments",
    request: "POST /rpc/greet",
    body: { name: "Bo" },
    bytes: '"Ahoy, Bo"',
  },
  {
    title: "R-RPC-3 the first object of an array has the arguments",
    request: "POST /rpc/add_numbers",
    body: [
      { a: 1, b: 2 },
      { a: 5, b: 5 },
    ],
    bytes: "3",
  },
  {
    title: "R-RPC-3 the first row of a CSV body has the arguments",
    request: "POST /rpc/add_numbers",
    headers: csv,
    body: "a,b\n1,2\n5,5\n",
    bytes: "3",
  },
  {
    title: "R-RPC-3 a form has the arguments",
    request: "POST /rpc/greet",
    headers: form,
    body: "name=Bo+Lee&greeting=Hi",
    bytes: '"Hi, Bo Lee"',
  },
  {
    title: "R-RPC-3 an empty body is an object without keys",
    request: "POST /rpc/greet",
    body: "",
    bytes: '"Ahoy, sailor"',
  },
  { title: "R-RPC-3 an empty array has no arguments", request: "POST /rpc/greet", body: [], bytes: '"Ahoy, sailor"' },
  { title: "R-RPC-3 POST without a body passes no arguments", request: "POST /rpc/greet", bytes: '"Ahoy, sailor"' },
  {
    title: "R-RPC-3 the query string of POST filters the rows",
    request: "POST /rpc/vessels_of?tonnage=gt.500&select=name",
    body: { port: 1 },
    answer: [{ name: "Ariel" }],
  },
  {
    title: "R-RPC-3 the query string of POST passes no arguments",
    request: "POST /rpc/vessels_of?port=1",
    body: { port: 1 },
    status: 400,
    check: code("PGRST100"),
  },
  {
    title: "R-RPC-3 columns restricts the arguments",
    request: "POST /rpc/greet?columns=name",
    body: { name: "Bo", greeting: "Hi", more: 1 },
    bytes: '"Ahoy, Bo"',
  },
  {
    title: "R-RPC-3 invalid JSON is rejected",
    request: "POST /rpc/greet",
    body: "{",
    status: 400,
    check: code("PGRST102"),
  },
  {
    title: "R-RPC-3 objects with different keys are rejected",
    request: "POST /rpc/greet",
    body: [{ name: "a" }, { greeting: "b" }],
    status: 400,
    check: code("PGRST102"),
  },
  {
    title: "R-RPC-4 GET casts arguments without length limits",
    request: "GET /rpc/code_of?code=abcdef&bits=1",
    bytes: '"abcdef/1"',
  },
  {
    title: "R-RPC-4 POST casts arguments without length limits",
    request: "POST /rpc/code_of",
    body: { code: "abcdef", bits: "1" },
    bytes: '"abcdef/1"',
  },
  {
    title: "R-RPC-4 GET passes an array as a PostgreSQL literal",
    request: "GET /rpc/sum_list?numbers={1,2,3}",
    bytes: "6",
  },
  {
    title: "R-RPC-4 a form passes an array in PostgreSQL's syntax",
    request: "POST /rpc/sum_list",
    headers: form,
    body: "numbers={1,2}",
    bytes: "3",
  },
  {
    title: "R-RPC-4 POST passes a JSON array",
    request: "POST /rpc/sum_list",
    body: { numbers: [1, 2, 3] },
    bytes: "6",
  },
  {
    title: "R-RPC-4 JSON passes an array as text in PostgreSQL's syntax",
    request: "POST /rpc/sum_list",
    body: { numbers: "{1,2,3}" },
    bytes: "6",
  },
  {
    title: "R-RPC-4 GET passes text to a json parameter as JSON",
    request: 'GET /rpc/json_key?data={"k":"v"}&key=k',
    bytes: '"v"',
  },
  {
    title: "R-RPC-4 POST passes composite values and enums",
    request: "POST /rpc/describe",
    body: { place: { lat: 1, lon: 2 }, level: "master" },
    bytes: '"master at 1,2"',
  },
  {
    title: "R-RPC-4 an invalid value fails with the error of the database",
    request: "GET /rpc/add_numbers?a=x&b=2",
    status: 400,
    check: code("22P02"),
  },
  {
    title: "R-RPC-4 parameters may have names with blanks and other alphabets",
    request: "GET /rpc/quoted?a b=1&Ünï=y",
    bytes: '"1y"',
  },
  { title: "R-RPC-4 JSON passes null", request: "POST /rpc/greet", body: { name: null }, bytes: "null" },
  {
    title: "R-RPC-5 GET repeats a variadic parameter in order",
    request: "GET /rpc/join_words?separator=-&words=a&words=b&words=c",
    bytes: '"a-b-c"',
  },
  {
    title: "R-RPC-5 one occurrence of a variadic parameter is one element",
    request: "GET /rpc/join_words?separator=-&words=a,{b}",
    bytes: '"a,{b}"',
  },
  {
    title: "R-RPC-5 elements of a variadic parameter are passed unchanged",
    request: 'GET /rpc/join_words?separator=-&words="x"&words=\\y&words=',
    bytes: '"\\"x\\"-\\\\y-"',
  },
  {
    title: "R-RPC-5 a form repeats a variadic parameter",
    request: "POST /rpc/sum_all",
    headers: form,
    body: "numbers=1&numbers=2",
    bytes: "3",
  },
  {
    title: "R-RPC-5 POST passes a JSON array to a variadic parameter",
    request: "POST /rpc/sum_all",
    body: { numbers: [1, 2, 3] },
    bytes: "6",
  },
  {
    title: "R-RPC-5 GET without a variadic parameter uses its default",
    request: "GET /rpc/join_words?separator=-",
    bytes: '"fore-aft"',
  },
  {
    title: "R-RPC-5 POST without a variadic parameter uses its default",
    request: "POST /rpc/join_words",
    body: { separator: "/" },
    bytes: '"fore/aft"',
  },
  {
    title: "R-RPC-5 a variadic call by GET may use defaults of other parameters",
    request: "GET /rpc/join_words?words=a&words=b",
    bytes: '"a, b"',
  },
  {
    title: "R-RPC-5 a variadic call by POST may use defaults of other parameters",
    request: "POST /rpc/join_words",
    body: { words: ["a", "b"] },
    bytes: '"a, b"',
  },
  { title: "R-RPC-5 a call without arguments uses all defaults", request: "GET /rpc/join_words", bytes: '"fore, aft"' },
  {
    title: "R-RPC-5 the last of repeated parameters that are not variadic is passed",
    request: "GET /rpc/greet?name=a&name=b",
    bytes: '"Ahoy, b"',
  },

  // The raw body.
  {
    title: "R-RPC-6 a json parameter gets the raw body",
    request: "POST /rpc/raw_json",
    headers: { "content-type": "application/json" },
    body: '{"b" : 1,"a":2,"b":3}',
    bytes: '{"b" : 1,"a":2,"b":3}',
  },
  {
    title: "R-RPC-6 a jsonb parameter gets the raw body",
    request: "POST /rpc/raw_jsonb",
    headers: { "content-type": "application/json" },
    body: '{"b":1,"a":2}',
    answer: { a: 2, b: 1 },
  },
  {
    title: "R-RPC-6 R-RPC-6a a JSON scalar arrives as [] in a raw body",
    request: "POST /rpc/raw_json",
    headers: { "content-type": "application/json" },
    body: "5",
    bytes: "[]",
  },
  {
    title: "R-RPC-6 R-RPC-6a a raw JSON array without uniform objects is rejected",
    request: "POST /rpc/raw_json",
    headers: { "content-type": "application/json" },
    body: "[1,2]",
    status: 400,
    check: code("PGRST102"),
  },
  {
    title: "R-RPC-6 R-RPC-6a with columns a raw body arrives unchanged",
    request: "POST /rpc/raw_json?columns=x",
    headers: { "content-type": "application/json" },
    body: "[1,2]",
    bytes: "[1,2]",
  },
  {
    title: "R-RPC-6 R-RPC-6a an empty raw JSON body is rejected",
    request: "POST /rpc/raw_json",
    headers: { "content-type": "application/json" },
    body: "",
    status: 400,
    check: code("22P02"),
  },
  {
    title: "R-RPC-6 a text parameter gets the raw body",
    request: "POST /rpc/raw_text",
    headers: text,
    body: 'a "b" é',
    bytes: '"a \\"b\\" é"',
  },
  {
    title: "R-RPC-6 a raw text body that is not UTF-8 is rejected",
    request: "POST /rpc/raw_text",
    headers: text,
    body: Buffer.from([0x41, 0xff]),
    status: 400,
    check: code("22021"),
  },
  {
    title: "R-RPC-6 an xml parameter gets the raw body",
    request: "POST /rpc/raw_xml",
    headers: { "content-type": "text/xml" },
    body: "<a><b/></a>",
    bytes: '"<a><b/></a>"',
  },
  {
    title: "R-RPC-6 an xml parameter rejects invalid XML",
    request: "POST /rpc/raw_xml",
    headers: { "content-type": "text/xml" },
    body: "<a>",
    status: 400,
    check: code("2200N"),
  },
  {
    title: "R-RPC-6 a bytea parameter gets the raw body",
    request: "POST /rpc/raw_bytes",
    headers: { "content-type": "application/octet-stream" },
    body: Buffer.from([0, 255, 16, 34]),
    bytes: "4",
  },
  { title: "R-RPC-6 GET passes no raw body", request: "GET /rpc/raw_text", status: 404, check: code("PGRST202") },
  {
    title: "R-RPC-6 a raw body must have the content type of the parameter",
    request: "POST /rpc/raw_text",
    body: {},
    status: 404,
    check: code("PGRST202"),
  },
  {
    title: "R-BODY-1 a call rejects other content types",
    request: "POST /rpc/raw_text",
    headers: { "content-type": "image/png" },
    body: "x",
    status: 400,
    check: code("PGRST102"),
  },

  // The overload.
  {
    title: "R-RPC-7 the names of the arguments choose the overload",
    request: "GET /rpc/find?word=a&port=1&select=name",
    answer: [{ name: "Ariel" }, { name: "Fram" }],
  },
  {
    title: "R-RPC-7 fewer arguments choose another overload",
    request: "GET /rpc/find?word=a&select=name",
    answer: [{ name: "Ariel" }, { name: "Fram" }, { name: "Gjoa" }],
  },
  {
    title: "R-RPC-7 an argument that no overload has is rejected",
    request: "GET /rpc/find?word=a&nope=1",
    status: 404,
    check: code("PGRST202"),
  },
  {
    title: "R-RPC-7 a call without a required argument is rejected",
    request: "GET /rpc/add_numbers?a=1",
    status: 404,
    check: code("PGRST202"),
  },
  {
    title: "R-RPC-7 an overload with named parameters precedes one that takes the raw body",
    request: "POST /rpc/pack",
    body: { a: 5 },
    bytes: '"named 5"',
  },
  {
    title: "R-RPC-7 without a match of names the overload that takes the raw body is called",
    request: "POST /rpc/pack",
    body: { b: 5 },
    bytes: '"raw {\\"b\\":5}"',
  },
  {
    title: "R-RPC-7 a text body is not a call without arguments",
    request: "POST /rpc/read_volatile",
    headers: text,
    body: "x",
    status: 404,
    check: code("PGRST202"),
  },

  {
    title: "R-RPC-8 several overloads with matching names are ambiguous",
    request: "GET /rpc/weigh?cargo=1",
    status: 300,
    answer: {
      code: "PGRST203",
      details: null,
      hint: "Try renaming the parameters or the function itself in the database so function overloading can be resolved",
      message:
        "Could not choose the best candidate function between: sea.weigh(cargo => integer), sea.weigh(cargo => text)",
    },
  },
  {
    title: "R-RPC-8 several overloads that take the raw body are ambiguous",
    request: "POST /rpc/two_raw",
    body: { a: 1 },
    status: 300,
    answer: {
      code: "PGRST203",
      details: null,
      hint: "Try renaming the parameters or the function itself in the database so function overloading can be resolved",
      message: "Could not choose the best candidate function between: sea.two_raw( => json), sea.two_raw( => jsonb)",
    },
  },

  {
    title: "R-RPC-9 the error of an unknown function names the argument",
    request: "GET /rpc/fleet_weigth?port=3",
    status: 404,
    answer: notFound(
      "sea.fleet_weigth(port)",
      "sea.fleet_weigth with parameter port",
      "Perhaps you meant to call the function sea.fleet_weight",
    ),
  },
  {
    title: "R-RPC-9 R-RPC-9a the error of an unknown function sorts the arguments",
    request: "GET /rpc/qqq?b=1&a=2&b=3",
    status: 404,
    answer: notFound("sea.qqq(a, b)", "sea.qqq with parameters a, b"),
  },
  {
    title: "R-RPC-9 R-RPC-9a the error of an unknown function without arguments says so",
    request: "GET /rpc/qqq",
    status: 404,
    answer: notFound("sea.qqq without parameters", "sea.qqq without parameters"),
  },
  {
    title: "R-RPC-9 R-RPC-9a the error of an unknown function mentions json parameters for a JSON POST",
    request: "POST /rpc/qqq",
    body: { a: 1 },
    status: 404,
    answer: notFound("sea.qqq(a)", "sea.qqq with parameter a or with a single unnamed json/jsonb parameter"),
  },
  {
    title: "R-RPC-9 R-RPC-9a the error of an unknown function called with an empty JSON object names no parameters",
    request: "POST /rpc/qqq",
    body: {},
    status: 404,
    answer: notFound(
      "sea.qqq without parameters",
      "sea.qqq without parameters or with a single unnamed json/jsonb parameter",
    ),
  },
  {
    title: "R-RPC-9 R-RPC-9a the error of an unknown function called with a form names the argument",
    request: "POST /rpc/qqq",
    headers: form,
    body: "a=1",
    status: 404,
    answer: notFound("sea.qqq(a)", "sea.qqq with parameter a"),
  },
  {
    title: "R-RPC-9 R-RPC-9a the error of an unknown function called with text names a text parameter",
    request: "POST /rpc/qqq",
    headers: text,
    body: "x",
    status: 404,
    answer: notFound("sea.qqq", "sea.qqq with a single unnamed text parameter"),
  },
  {
    title: "R-RPC-9 R-RPC-9a the error of an unknown function called with XML names an xml parameter",
    request: "POST /rpc/qqq",
    headers: { "content-type": "text/xml" },
    body: "x",
    status: 404,
    answer: notFound("sea.qqq", "sea.qqq with a single unnamed xml parameter"),
  },
  {
    title: "R-RPC-9 R-RPC-9a the error of an unknown function called with bytes names a bytea parameter",
    request: "POST /rpc/qqq",
    headers: { "content-type": "application/octet-stream" },
    body: "x",
    status: 404,
    answer: notFound("sea.qqq", "sea.qqq with a single unnamed bytea parameter"),
  },
  {
    title: "R-RPC-10 the hint names a similar function",
    request: "GET /rpc/vessel_of?port=1",
    status: 404,
    check: (answer) => expect(answer.json().hint).toBe("Perhaps you meant to call the function sea.vessels_of"),
  },
  {
    title: "R-RPC-10 the hint names an overload with similar parameters",
    request: "GET /rpc/find?wort=a&port=1",
    status: 404,
    check: (answer) => expect(answer.json().hint).toBe("Perhaps you meant to call the function sea.find(port, word)"),
  },
  {
    title: "R-RPC-10 the error has no hint if no parameters are similar",
    request: "GET /rpc/add_numbers?zzz=1",
    status: 404,
    check: (answer) => expect(answer.json().hint).toBeNull(),
  },
  {
    title: "R-RPC-10 the error has no hint for a raw body",
    request: "POST /rpc/raw_tex",
    headers: text,
    body: "x",
    status: 404,
    check: (answer) => expect(answer.json().hint).toBeNull(),
  },
  {
    title: "R-RPC-10 a function with an empty name is not found",
    request: "GET /rpc/",
    status: 404,
    check: code("PGRST202"),
  },

  // Results.
  {
    title: "R-RPC-11 a function's rows accept select, embeds, order and limit",
    request: "GET /rpc/all_vessels?select=id,name,ports(name)&order=name.desc&limit=2",
    answer: [
      { id: 3, name: "Gjoa", ports: null },
      { id: 2, name: "Fram", ports: { name: "Oslo" } },
    ],
  },
  {
    title: "R-RPC-11 a function's rows can be filtered by columns that are not selected",
    request: "GET /rpc/all_vessels?select=name&id=gt.2",
    answer: [{ name: "Gjoa" }],
  },
  {
    title: "R-RPC-11 a function's rows can be counted and limited",
    request: "GET /rpc/all_vessels?limit=1&offset=1&select=id",
    headers: countHeaders,
    status: 206,
    answer: [{ id: 2 }],
    responseHeaders: { "Content-Range": "1-1/3", "Preference-Applied": "count=exact" },
  },
  {
    title: "R-RPC-11 a Range header limits a function's rows",
    request: "GET /rpc/all_vessels?select=id",
    headers: { range: "1-2" },
    answer: [{ id: 2 }, { id: 3 }],
    responseHeaders: { "Content-Range": uncountedRange("1-2") },
  },
  {
    title: "R-RPC-11 a Range header has no effect on POST",
    request: "POST /rpc/all_vessels?select=id",
    headers: { range: "1-2" },
    body: {},
    answer: [{ id: 1 }, { id: 2 }, { id: 3 }],
  },
  {
    title: "R-RPC-11 a function that returns a single row answers an object",
    request: "GET /rpc/vessel_named?name=Fram&select=id,ports(name)",
    answer: { id: 2, ports: { name: "Oslo" } },
    responseHeaders: { "Content-Range": uncountedRange("0-0") },
  },
  {
    title: "R-RPC-11 a function may return a domain over a row type",
    request: "GET /rpc/domain_vessels?select=id,ports(name)&id=eq.1",
    answer: [{ id: 1, ports: { name: "Oslo" } }],
  },
  {
    title: "R-RPC-11 a function's rows have computed fields",
    request: "GET /rpc/all_vessels?select=label&id=eq.1",
    answer: [{ label: "Ariel #1" }],
  },
  {
    title: "R-RPC-11 filters apply to embeds in a function's rows",
    request: "GET /rpc/vessels_of?port=1&select=name,voyages(id)&voyages.id=gt.1",
    answer: [
      { name: "Ariel", voyages: [{ id: 2 }] },
      { name: "Fram", voyages: [{ id: 3 }] },
    ],
  },
  {
    title: "R-RPC-11 inner embeds remove a function's rows and are counted",
    request: "GET /rpc/all_vessels?select=id,ports!inner(name)&limit=1",
    headers: countHeaders,
    answer: [{ id: 1, ports: { name: "Oslo" } }],
    responseHeaders: { "Content-Range": "0-0/2" },
  },
  {
    title: "R-RPC-11 rows of a type without a relation have columns and filters",
    request: "GET /rpc/crew_sizes?select=vessel&hands=gt.1",
    answer: [{ vessel: "Ariel" }],
  },
  {
    title: "R-RPC-11 rows without a relation have no embeds",
    request: "GET /rpc/crew_sizes?select=vessel,ports(*)",
    status: 400,
    check: code("PGRST200"),
  },
  {
    title: "R-RPC-11 a function may return a set of composite values",
    request: "GET /rpc/positions?select=lat",
    answer: [{ lat: 59.9 }],
  },
  {
    title: "R-RPC-11 POST applies select, order and limit to a function's rows",
    request: "POST /rpc/vessels_of?select=name&order=name.desc&limit=1",
    body: { port: 1 },
    answer: [{ name: "Fram" }],
  },
  { title: "R-RPC-12 a single OUT parameter is an object", request: "GET /rpc/double_it?n=4", bytes: '{"twice":8}' },
  { title: "R-RPC-12 a single INOUT parameter is an object", request: "GET /rpc/bump?n=4", bytes: '{"n":5}' },
  {
    title: "R-RPC-12 OUT parameters are an object",
    request: "GET /rpc/split_name?full_name=Jo Lee",
    answer: { first: "Jo", last: "Lee" },
  },
  {
    title: "R-RPC-12 a function that returns a table of one column returns objects",
    request: "GET /rpc/depth",
    answer: [{ depth: 40 }, { depth: 55 }],
  },
  {
    title: "R-RPC-12 a set of records with OUT parameters is a list of objects",
    request: "GET /rpc/ledger",
    answer: [
      { account: "fuel", total: 12.5 },
      { account: "food", total: 7.25 },
    ],
  },
  { title: "R-RPC-12 a record is an object", request: "GET /rpc/pair", answer: { one: 1, two: "two" } },
  {
    title: "R-RPC-12 a composite value is an object",
    request: "GET /rpc/where_is?beacon=1",
    answer: { lat: 59.9, lon: 10.7 },
  },
  { title: "R-RPC-12 a scalar keeps its digits", request: "GET /rpc/big_number", bytes: "9007199254740993" },
  {
    title: "R-RPC-12 a null value is null",
    request: "GET /rpc/nothing",
    bytes: "null",
    responseHeaders: { "Content-Range": uncountedRange("0-0") },
  },
  { title: "R-RPC-12 an enum value is a string", request: "GET /rpc/best_rating", bytes: '"master"' },
  { title: "R-RPC-12 an array value is an array", request: "GET /rpc/flags_of?vessel=1", bytes: '["PA","NO"]' },
  { title: "R-RPC-12 a json value is returned unchanged", request: "GET /rpc/spec_of?vessel=3", bytes: "null" },
  {
    title: "R-RPC-12 a set of scalars is a list of values",
    request: "GET /rpc/tonnages",
    answer: [853, 402, 47],
    responseHeaders: { "Content-Range": uncountedRange("0-2") },
  },
  {
    title: "R-RPC-12 a set without rows is an empty list",
    request: "GET /rpc/no_vessels",
    bytes: "[]",
    responseHeaders: { "Content-Range": uncountedRange("*") },
  },
  {
    title: "R-RPC-12 a void function is 204 by POST",
    request: "POST /rpc/sink_nothing",
    status: 204,
    bytes: "",
    responseHeaders: { "Content-Type": null, "Content-Length": null, "Content-Range": uncountedRange("0-0") },
  },
  { title: "R-RPC-12 a void function is 204 by GET", request: "GET /rpc/sink_nothing", status: 204 },
  {
    title: "R-RPC-13 the object type returns the only row of a function",
    request: "GET /rpc/all_vessels?id=eq.1&select=id",
    headers: object,
    bytes: '{"id":1}',
    responseHeaders: { "Content-Type": "application/vnd.pgrst.object+json; charset=utf-8" },
  },
  {
    title: "R-RPC-13 the object type rejects several rows of a function",
    request: "GET /rpc/all_vessels",
    headers: object,
    status: 406,
    answer: {
      code: "PGRST116",
      details: "The result contains 3 rows",
      hint: null,
      message: "Cannot coerce the result to a single JSON object",
    },
  },
  {
    title: "R-RPC-13 the object type rejects a function without rows",
    request: "GET /rpc/no_vessels",
    headers: object,
    status: 406,
    check: (answer) => expect(answer.json().details).toBe("The result contains 0 rows"),
  },
  {
    title: "R-RPC-13 the object type returns a scalar unchanged",
    request: "GET /rpc/add_numbers?a=1&b=2",
    headers: object,
    status: 200,
    bytes: "3",
  },
  {
    title: "R-RPC-13 the object type returns a set of one scalar as an object",
    request: "GET /rpc/tonnages?limit=1",
    headers: object,
    bytes: '{"pgrst_scalar":853}',
  },
  {
    title: "R-RPC-13 a single row that a filter removes is null",
    request: "GET /rpc/vessel_named?name=Fram&id=gt.9",
    status: 200,
    bytes: "null",
    responseHeaders: { "Content-Range": uncountedRange("0-0") },
  },
  {
    title: "R-RPC-13 a single row that limit removes is null",
    request: "GET /rpc/vessel_named?name=Fram&limit=0",
    status: 200,
    bytes: "null",
  },
  {
    title: "R-RPC-13 a single row that offset removes is null",
    request: "GET /rpc/vessel_named?name=Fram&offset=1",
    status: 200,
    bytes: "null",
  },
  {
    title: "R-RPC-13 a single value that limit removes is null",
    request: "GET /rpc/add_numbers?a=1&b=2&limit=0",
    headers: countHeaders,
    status: 200,
    bytes: "null",
    responseHeaders: { "Content-Range": "0-0/1" },
  },
  {
    title: "R-RPC-13 the object type returns null for a single row that a filter removes",
    request: "GET /rpc/vessel_named?name=Fram&id=gt.9",
    headers: object,
    status: 200,
    bytes: "null",
  },

  {
    title: "R-RPC-14 limit and offset apply to a set of scalars",
    request: "GET /rpc/tonnages?limit=1&offset=1",
    headers: countHeaders,
    status: 206,
    answer: [402],
    responseHeaders: { "Content-Range": "1-1/3" },
  },
  {
    title: "R-RPC-14 an offset beyond the rows of a function is 416",
    request: "GET /rpc/all_vessels?offset=9",
    headers: countHeaders,
    status: 416,
    answer: {
      code: "PGRST103",
      details: "An offset of 9 was requested, but there are only 3 rows.",
      hint: null,
      message: "Requested range not satisfiable",
    },
    responseHeaders: { "Content-Range": "*/3" },
  },
  {
    title: "R-RPC-14 a count of all rows of a function",
    request: "GET /rpc/tonnages",
    headers: countHeaders,
    status: 200,
    responseHeaders: { "Content-Range": "0-2/3" },
  },
  {
    title: "R-CNT-4 a single value counts 1",
    request: "GET /rpc/add_numbers?a=1&b=2",
    headers: countHeaders,
    status: 200,
    responseHeaders: { "Content-Range": "0-0/1" },
  },
  {
    title: "R-CNT-4 a planned count of a function is not reported",
    request: "GET /rpc/tonnages",
    headers: { prefer: "count=planned" },
    status: 200,
    responseHeaders: { "Content-Range": uncountedRange("0-2"), "Preference-Applied": "count=planned" },
  },
  {
    title: "R-CNT-4 an estimated count of the rows of a function is exact",
    request: "GET /rpc/all_vessels?limit=1",
    headers: { prefer: "count=estimated" },
    status: 206,
    responseHeaders: { "Content-Range": "0-0/3" },
  },
  {
    title: "R-RPC-17 a result of scalars has no column to filter by",
    request: "GET /rpc/tonnages?n=gt.1",
    status: 400,
    answer: { code: "42703", details: null, hint: null, message: "column tonnages.n does not exist" },
  },
  {
    title: "R-RPC-17 a scalar result has no column to select",
    request: "GET /rpc/tonnages?select=n",
    status: 400,
    answer: { code: "42703", details: null, hint: null, message: "column tonnages.n does not exist" },
  },
  {
    title: "R-RPC-17 the column that CSV names can be selected",
    request: "GET /rpc/fleet_weight?port=1&select=pgrst_scalar",
    answer: 1255,
  },
  {
    title: "R-RPC-17 a result of scalars has no relationships",
    request: "GET /rpc/tonnages?select=ports(name)",
    status: 400,
    answer: noRelationship("tonnages", "ports", "Perhaps you meant 'voyages' instead of 'tonnages'."),
  },
  {
    title: "R-EMB-4 the error of an embed in a function's record names the record",
    request: "GET /rpc/crew_sizes?select=vessel,ports(name)",
    status: 400,
    answer: noRelationship("record", "ports", "Perhaps you meant 'repairs' instead of 'record'."),
  },
  {
    title: "R-EMB-4 rows of OUT parameters have no embeds",
    request: "GET /rpc/ledger?select=account,ports(name)",
    status: 400,
    answer: noRelationship("record", "ports", "Perhaps you meant 'repairs' instead of 'record'."),
  },

  // Transactions.
  {
    title: "R-RPC-15 a function that writes is rejected by GET",
    request: "GET /rpc/next_number",
    status: 405,
    check: code("25006"),
  },
  {
    title: "R-RPC-15 GET may call a volatile function that writes nothing",
    request: "GET /rpc/read_volatile",
    status: 200,
  },
  {
    title: "R-RPC-15 POST may call a volatile function that writes",
    request: "POST /rpc/ring?select=rung",
    headers: rolledBack(),
    body: { times: 2 },
    status: 200,
    answer: [{ rung: 1 }, { rung: 2 }],
  },
  {
    title: "R-RPC-15 POST of a stable function that writes is rejected",
    request: "POST /rpc/write_read_only",
    body: {},
    status: 400,
    check: code("0A000"),
  },
  {
    title: "R-RPC-15 POST of a stable function runs in a read-only transaction",
    request: "POST /rpc/setting",
    body: { name: "transaction_read_only" },
    bytes: '"on"',
  },
  { title: "R-RPC-15 HEAD of a function that writes is rejected", request: "HEAD /rpc/next_number", status: 405 },
  {
    title: "R-RPC-16 the timeout of a function applies to the transaction",
    request: "GET /rpc/patient",
    bytes: '"7s"',
  },
  {
    title: "R-RPC-16 the isolation level of a function applies to the transaction",
    request: "GET /rpc/isolated",
    bytes: '"repeatable read"',
  },
  {
    title: "R-RPC-16 the isolation level of a function precedes that of the role",
    request: "GET /rpc/isolated",
    role: "sea_auditor",
    bytes: '"repeatable read"',
  },

  // Preferences.
  {
    title: "R-PRF-5 a call that returns more rows than max-affected is rejected",
    request: "POST /rpc/ring",
    headers: { prefer: "handling=strict, max-affected=1" },
    body: { times: 2 },
    status: 400,
    answer: {
      code: "PGRST124",
      details: "The query affects 2 rows",
      hint: null,
      message: "Query result exceeds max-affected preference constraint",
    },
  },
  {
    title: "R-PRF-5 a call that returns exactly max-affected rows succeeds",
    request: "POST /rpc/ring?select=rung",
    headers: { prefer: "handling=strict, max-affected=2, tx=rollback" },
    body: { times: 2 },
    status: 200,
    responseHeaders: { "Preference-Applied": "tx=rollback, handling=strict, max-affected=2" },
  },
  {
    title: "R-PRF-5 max-affected is rejected for a function that returns one value",
    request: "POST /rpc/next_number",
    headers: { prefer: "handling=strict, max-affected=2" },
    body: {},
    status: 400,
    answer: {
      code: "PGRST128",
      details: null,
      hint: null,
      message: "Function must return SETOF or TABLE when max-affected preference is used with handling=strict",
    },
  },
  {
    title: "R-PRF-5 without strict handling max-affected has no effect",
    request: "POST /rpc/ring?select=rung",
    headers: { prefer: "max-affected=1, tx=rollback" },
    body: { times: 2 },
    status: 200,
    responseHeaders: { "Preference-Applied": "tx=rollback" },
  },
]);

test("R-RPC-14 a function is called once, with or without a count and a body", async () => {
  const before = async (): Promise<number> =>
    Number((await api.sql("select last_value from sea.numbers"))[0]?.["last_value"]);
  await api.post("/rpc/next_number", { body: {} });
  for (const headers of [
    {},
    { prefer: "count=exact" },
    { accept: "text/csv" },
    { accept: "application/vnd.pgrst.object+json" },
  ]) {
    const previous = await before();
    expect((await api.post("/rpc/next_number", { headers, body: {} })).status).toBe(200);
    expect(await before()).toBe(previous + 1);
  }
  await api.sql("delete from sea.bells");
  await api.post("/rpc/ring?limit=1", { headers: { prefer: "count=exact" }, body: { times: 3 } });
  expect(await api.sql("select count(*)::int as n from sea.bells")).toEqual([{ n: 3 }]);
  await api.sql("delete from sea.bells");
});

test("R-RPC-14 a function that is not volatile is called once, although the planner may copy it", async () => {
  await api.sql(`create schema once; grant usage on schema once to sea_anon;
    create function once.calls() returns int language plpgsql stable as $$ begin
      return set_config('once.calls', (coalesce(nullif(current_setting('once.calls', true), ''), '0')::int + 1)::text, true)::int; end $$;`);
  const ownApi = await startApi({ dbSchemas: ["once"] });
  for (const headers of [{}, { prefer: "count=exact" }, { accept: "text/csv" }])
    expect((await ownApi.get("/rpc/calls", { headers })).text).toMatch(/1$/);
  expect((await ownApi.get("/rpc/calls?limit=1", { headers: countHeaders })).text).toBe("1");
});

test("R-RPC-13 R-PRF-5 a call whose rows are rejected changes nothing", async () => {
  const count = async (): Promise<unknown> => api.sql("select count(*)::int as n from sea.bells");
  const before = await count();
  const singular = await api.post("/rpc/ring", { headers: object, body: { times: 2 } });
  expect(singular.json().code).toBe("PGRST116");
  const strict = await api.post("/rpc/ring", {
    headers: { prefer: "handling=strict, max-affected=1" },
    body: { times: 2 },
  });
  expect(strict.json().code).toBe("PGRST124");
  expect(await count()).toEqual(before);
});

test("R-RPC-16 only the listed settings of a function apply to the transaction", async () => {
  const otherApi = await startApi({ dbHoistedTxSettings: [] });
  expect((await otherApi.get("/rpc/isolated")).json()).toBe("read committed");
  expect((await otherApi.get("/rpc/patient")).json()).toBe("7s"); // the function's own setting applies while it runs
});

test("R-RNG-5 the row limit applies to results of functions", async () => {
  const cappedApi = await startApi({ dbMaxRows: 2 });
  expect((await cappedApi.get("/rpc/tonnages")).json()).toEqual([853, 402]);
  expect((await cappedApi.get("/rpc/all_vessels?select=id")).json()).toEqual([{ id: 1 }, { id: 2 }]);
  expect(
    (
      await cappedApi.patch("/vessels?select=id", {
        headers: rolledBack("return=representation"),
        body: { tonnage: 1 },
      })
    ).json(),
  ).toHaveLength(3);
});
