import { expect } from "vitest";
import { rolledBack, startApi, uncounted } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const shown = rolledBack("return=representation");

cases(api, [
  {
    title: "R-UPD-1 rows by filters",
    request: "PATCH /vessels?tonnage=lt.500&select=id,specs&order=id",
    headers: shown,
    body: { specs: { a: 1 } },
    answer: [
      { id: 2, specs: { a: 1 } },
      { id: 3, specs: { a: 1 } },
    ],
  },
  {
    title: "R-UPD-1 and trees",
    request: "PATCH /vessels?or=(id.eq.1,name.eq.Gjoa)&select=id&order=id",
    headers: shown,
    body: { tonnage: 5 },
    answer: [{ id: 1 }, { id: 3 }],
  },
  {
    title: "R-UPD-1 by a computed field",
    request: "PATCH /vessels?heavy=is.true&select=id&order=id",
    headers: shown,
    body: { name: "X" },
    answer: [{ id: 1 }, { id: 2 }],
  },
  {
    title: "R-UPD-1 no filter: every row",
    request: "PATCH /vessels?select=id",
    headers: rolledBack("return=representation", "count=exact"),
    body: { tonnage: 5 },
    responseHeaders: { "Content-Range": "0-2/3" },
  },
  {
    title: "R-UPD-1 several columns, by their names in any order",
    request: "PATCH /vessels?id=eq.1&select=name,tonnage,home_port_id",
    headers: shown,
    body: { home_port_id: 2, tonnage: 1, name: "A" },
    answer: [{ name: "A", tonnage: 1, home_port_id: 2 }],
  },
  {
    title: "R-UPD-1 a constraint",
    request: "PATCH /vessels?id=eq.1",
    body: { home_port_id: 99 },
    status: 409,
    check: (answer) => expect(answer.json().code).toBe("23503"),
  },
  {
    title: "R-UPD-1 a value that does not fit",
    request: "PATCH /vessels?id=eq.1",
    body: { tonnage: "heavy" },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("22P02"),
  },
  {
    title: "R-UPD-1 a column of the row and of the payload",
    request: "PATCH /t?t=eq.one&select=*",
    headers: shown,
    body: { value: "new", t: "two" },
    answer: [{ t: "two", e: "e", p: 1, c: 2, value: "new" }],
  },

  ...[{}, [], [{}]].map((body) => ({
    title: `R-UPD-2 ${JSON.stringify(body)} runs no statement on rows`,
    request: "PATCH /vessels",
    headers: rolledBack(),
    body,
    status: 204,
    responseHeaders: { "Content-Range": uncounted("*") },
  })),
  {
    title: "R-UPD-2 with a representation",
    request: "PATCH /vessels?id=eq.1",
    headers: shown,
    body: {},
    status: 200,
    answer: [],
    responseHeaders: { "Content-Range": uncounted("*") },
  },
  {
    title: "R-UPD-2 needs no right to update",
    request: "PATCH /watches",
    headers: rolledBack(),
    body: {},
    status: 204,
  },

  {
    title: "R-UPD-3 no matching row",
    request: "PATCH /vessels?id=eq.99",
    headers: rolledBack("count=exact"),
    body: { tonnage: 1 },
    status: 204,
    responseHeaders: { "Content-Range": "*/0" },
  },
  {
    title: "R-UPD-3 no matching row, with representation",
    request: "PATCH /vessels?id=eq.99",
    headers: shown,
    body: { tonnage: 1 },
    status: 200,
    answer: [],
  },

  {
    title: "R-UPD-4 the first object of an array",
    request: "PATCH /vessels?id=eq.1&select=tonnage",
    headers: shown,
    body: [{ tonnage: 1 }, { tonnage: 2 }],
    answer: [{ tonnage: 1 }],
  },
  {
    title: "R-UPD-4 missing=default resets listed columns",
    request: "PATCH /crew?vessel_id=eq.1&sailor_id=eq.1&columns=rank&select=rank",
    headers: rolledBack("return=representation", "missing=default"),
    body: {},
    answer: [{ rank: "hand" }],
  },
]);
