import { expect } from "vitest";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

cases(api, [
  { title: "R-URL-1 a semicolon separates parameters", request: "GET /vessels?select=id;id=eq.1", answer: [{ id: 1 }] },
  {
    title: "R-URL-1 an escaped semicolon is part of the value",
    request: "GET /vessels?name=eq.Ariel%3Bid=eq.1",
    answer: [],
  },
  {
    title: "R-URL-1 a plus and %20 are decoded as blanks",
    request: "GET /sailors?select=id&name=eq.Jo+%22Red%22%20Lee",
    answer: [{ id: 4 }],
  },
  { title: "R-URL-1 an escaped plus is decoded as a plus", request: "GET /rpc/greet?name=a%2Bb", answer: "Ahoy, a+b" },
  {
    title: "R-URL-1 escaped and literal quotes are the same",
    request: "GET /vessels?select=%22id%22&id=eq.1",
    answer: [{ id: 1 }],
  },
  {
    title: "R-URL-1 names are decoded as UTF-8",
    request: "GET /%D9%85%D9%88?select=%D8%A7%D8%B3%D9%85&%D8%A7%D8%B3%D9%85=eq.%D9%86%D8%AC%D9%85",
    answer: [{ اسم: "نجم" }],
  },
  {
    title: "R-URL-1 a value with an invalid escape is accepted",
    request: "GET /vessels?name=eq.%zz",
    status: 200,
    answer: [],
  },
  ...[
    "GET /vessels?name=neq.%ff",
    "DELETE /vessels?%c3=eq.1",
    "PATCH /vessels?or=(name.eq.%ed%a0%80)",
    "GET /vessels?name=like.%desc%",
    "GET /rpc/greet?name=%c0%af",
  ].map((request) => ({
    title: `R-URL-1 bytes that are not UTF-8 are rejected: ${request}`,
    request,
    body: request.startsWith("PATCH") ? { note: "x" } : undefined,
    status: 400,
    answer: {
      code: "PGRST100",
      details: null,
      hint: "Write a percent sign as %25",
      message: "The query string is not UTF-8",
    },
  })),
  {
    title: "R-URL-2 a select without = is treated as absent",
    request: "GET /ports?select&id=eq.1",
    answer: [{ id: 1, name: "Oslo", country: "NO" }],
  },
  {
    title: "R-URL-2 an empty select selects every column",
    request: "GET /ports?select=&id=eq.1",
    answer: [{ id: 1, name: "Oslo", country: "NO" }],
  },
  {
    title: "R-URL-2 the first of repeated select parameters counts",
    request: "GET /ports?select=id&select=name&id=eq.1",
    answer: [{ id: 1 }],
  },
  {
    title: "R-URL-2 all filters on a column apply",
    request: "GET /vessels?select=id&id=gt.1&id=lt.3",
    answer: [{ id: 2 }],
  },
  {
    title: "R-URL-2 all logic trees apply",
    request: "GET /vessels?select=id&or=(id.eq.1,id.eq.2)&or=(id.eq.2,id.eq.3)",
    answer: [{ id: 2 }],
  },
  {
    title: "R-URL-2 the first of repeated order parameters counts",
    request: "GET /vessels?select=id&order=id.desc&order=id",
    answer: [{ id: 3 }, { id: 2 }, { id: 1 }],
  },
  {
    title: "R-URL-2 the last of repeated limit or offset parameters counts",
    request: "GET /vessels?select=id&order=id&limit=1&limit=2&offset=0&offset=1",
    answer: [{ id: 2 }, { id: 3 }],
  },
  {
    title: "R-URL-3 a parameter with a reserved name is not read as a filter",
    request: "GET /order?select=order&order=select",
    answer: [{ order: 7 }],
  },
  {
    title: "R-URL-3 a column with a reserved name is filtered with a quoted name",
    request: 'GET /order?select=select,"limit"&"order"=eq.7&"limit"=eq.l&"select"=eq.1&"or"=eq.o',
    answer: [{ select: 1, limit: "l" }],
  },
  {
    title: "R-URL-3 a filter with a quoted reserved name compares the value",
    request: 'GET /order?"order"=eq.8',
    answer: [],
  },
  {
    title: "R-URL-3 a parameter whose last part is a reserved name is not a filter",
    request: "GET /vessels?select=id,crew(rank)&id=eq.1&crew.order=rank.desc",
    answer: [{ id: 1, crew: [{ rank: "mate" }, { rank: "captain" }] }],
  },
  {
    title: "R-URL-4 R-URL-4a Content-Location sorts the parameters by name and escapes their values",
    request: "GET /vessels?tonnage=gt.1&select=name,home:ports(name)&order=tonnage.desc",
    status: 200,
    responseHeaders: {
      "content-location": "/vessels?order=tonnage.desc&select=name%2Chome%3Aports%28name%29&tonnage=gt.1",
    },
  },
  {
    title: "R-URL-4 R-URL-4b Content-Location writes a repeated name once, with its values joined",
    request: "GET /vessels?name=eq.a+b&id=gt.0&name=neq.*",
    status: 200,
    responseHeaders: { "content-location": "/vessels?id=gt.0&name=eq.a%20b,neq.%2A" },
  },
  {
    title: "R-URL-4 R-URL-4a Content-Location writes a parameter without = as name=",
    request: "GET /vessels?select&id=eq.1",
    status: 200,
    responseHeaders: { "content-location": "/vessels?id=eq.1&select=" },
  },
  {
    title: "R-URL-4c Content-Location is left out if it would be longer than 3000 characters",
    request: `GET /vessels?id=eq.1&name=neq.${"x".repeat(3000)}`,
    status: 200,
    responseHeaders: { "content-location": null },
  },
  {
    title: "R-URL-4 Content-Location has no question mark if the URL has no parameters",
    request: "GET /vessels",
    status: 200,
    responseHeaders: { "content-location": "/vessels" },
  },
  {
    title: "R-URL-4 R-URL-4a Content-Location does not escape unreserved characters",
    request: "GET /vessels?name=eq.A-b_c.d~e",
    status: 200,
    responseHeaders: { "content-location": "/vessels?name=eq.A-b_c.d~e" },
  },
  {
    title: "R-URL-4 R-URL-4a Content-Location escapes other characters once",
    request: "GET /vessels?name=eq.%C3%A9!'()*",
    status: 200,
    responseHeaders: { "content-location": "/vessels?name=eq.%C3%A9%21%27%28%29%2A" },
  },
  {
    title: "R-URL-4 Content-Location shows the relation's name unescaped",
    request: "GET /Deck%20Plans",
    status: 200,
    responseHeaders: { "content-location": "/Deck Plans" },
  },
  {
    title: "R-URL-4 HEAD has the header Content-Location",
    request: "HEAD /vessels?id=eq.1",
    status: 200,
    responseHeaders: { "content-location": "/vessels?id=eq.1" },
  },
  {
    title: "R-URL-4 writes have no Content-Location header",
    request: "PATCH /vessels?id=eq.0",
    headers: { prefer: "return=representation" },
    body: { name: "x" },
    status: 200,
    responseHeaders: { "content-location": null },
  },
  {
    title: "R-URL-4 functions have no Content-Location header",
    request: "GET /rpc/fleet_weight?port=1",
    status: 200,
    responseHeaders: { "content-location": null },
    check: (answer) => expect(answer.json()).toBe(1255),
  },
]);
