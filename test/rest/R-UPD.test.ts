import { expect } from "vitest";
import { rolledBack, startApi, uncountedRange } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const representation = rolledBack("return=representation");

cases(api, [
  {
    title: "R-UPD-1 an update changes the rows that the filters match",
    request: "PATCH /vessels?tonnage=lt.500&select=id,specs&order=id",
    headers: representation,
    body: { specs: { a: 1 } },
    answer: [
      { id: 2, specs: { a: 1 } },
      { id: 3, specs: { a: 1 } },
    ],
  },
  {
    title: "R-UPD-1 an update changes the rows that a logic tree matches",
    request: "PATCH /vessels?or=(id.eq.1,name.eq.Gjoa)&select=id&order=id",
    headers: representation,
    body: { tonnage: 5 },
    answer: [{ id: 1 }, { id: 3 }],
  },
  {
    title: "R-UPD-1 an update changes the rows that a filter on a computed field matches",
    request: "PATCH /vessels?heavy=is.true&select=id&order=id",
    headers: representation,
    body: { name: "X" },
    answer: [{ id: 1 }, { id: 2 }],
  },
  {
    title: "R-UPD-1 an update without a filter changes every row",
    request: "PATCH /vessels?select=id",
    headers: rolledBack("return=representation", "count=exact"),
    body: { tonnage: 5 },
    responseHeaders: { "Content-Range": "0-2/3" },
  },
  {
    title: "R-UPD-1 an update changes several columns, named in any order",
    request: "PATCH /vessels?id=eq.1&select=name,tonnage,home_port_id",
    headers: representation,
    body: { home_port_id: 2, tonnage: 1, name: "A" },
    answer: [{ name: "A", tonnage: 1, home_port_id: 2 }],
  },
  {
    title: "R-UPD-1 an update that violates a constraint is rejected",
    request: "PATCH /vessels?id=eq.1",
    body: { home_port_id: 99 },
    status: 409,
    check: (answer) => expect(answer.json().code).toBe("23503"),
  },
  {
    title: "R-UPD-1 an update with a value of the wrong type is rejected",
    request: "PATCH /vessels?id=eq.1",
    body: { tonnage: "heavy" },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("22P02"),
  },
  {
    title: "R-UPD-1 an update may change the column that its filter compares",
    request: "PATCH /t?t=eq.one&select=*",
    headers: representation,
    body: { value: "new", t: "two" },
    answer: [{ t: "two", e: "e", p: 1, c: 2, value: "new" }],
  },

  ...[{}, [], [{}]].map((body) => ({
    title: `R-UPD-2 an update with the body ${JSON.stringify(body)} changes no row`,
    request: "PATCH /vessels",
    headers: rolledBack(),
    body,
    status: 204,
    responseHeaders: { "Content-Range": uncountedRange("*") },
  })),
  {
    title: "R-UPD-2 an update without columns returns an empty list as representation",
    request: "PATCH /vessels?id=eq.1",
    headers: representation,
    body: {},
    status: 200,
    answer: [],
    responseHeaders: { "Content-Range": uncountedRange("*") },
  },
  {
    title: "R-UPD-2 an update without columns needs no UPDATE grant",
    request: "PATCH /watches",
    headers: rolledBack(),
    body: {},
    status: 204,
  },

  {
    title: "R-UPD-3 an update without matching rows is 204 with the count 0",
    request: "PATCH /vessels?id=eq.99",
    headers: rolledBack("count=exact"),
    body: { tonnage: 1 },
    status: 204,
    responseHeaders: { "Content-Range": "*/0" },
  },
  {
    title: "R-UPD-3 an update without matching rows returns an empty list as representation",
    request: "PATCH /vessels?id=eq.99",
    headers: representation,
    body: { tonnage: 1 },
    status: 200,
    answer: [],
  },

  {
    title: "R-UPD-4 an update uses the first object of an array",
    request: "PATCH /vessels?id=eq.1&select=tonnage",
    headers: representation,
    body: [{ tonnage: 1 }, { tonnage: 2 }],
    answer: [{ tonnage: 1 }],
  },
  {
    title: "R-UPD-4 missing=default resets the listed columns to their defaults",
    request: "PATCH /crew?vessel_id=eq.1&sailor_id=eq.1&columns=rank&select=rank",
    headers: rolledBack("return=representation", "missing=default"),
    body: {},
    answer: [{ rank: "hand" }],
  },
]);
