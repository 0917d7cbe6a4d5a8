import { expect } from "vitest";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const representation = rolledBack("return=representation");
const defaults = rolledBack("return=representation", "missing=default");

cases(api, [
  {
    title: "R-INS-1 columns that the payload does not name get their defaults",
    request: "POST /certificates?select=rating,grade,issued,points,renewed,note,summary",
    headers: representation,
    body: { sailor_id: 1 },
    status: 201,
    answer: [
      {
        rating: "ordinary",
        grade: "b",
        issued: "2020-01-01",
        points: 42,
        renewed: false,
        note: "none",
        summary: "points 42",
      },
    ],
  },
  {
    title: "R-INS-1 absent identity and generated columns get their values",
    request: "POST /certificates?select=id,serial_number,summary",
    headers: representation,
    body: { sailor_id: 1, points: 5 },
    status: 201,
    check: (answer) =>
      expect(answer.json()).toEqual([
        { id: expect.any(Number), serial_number: expect.any(Number), summary: "points 5" },
      ]),
  },
  {
    title: "R-INS-1 a value for a generated column is rejected",
    request: "POST /certificates",
    body: { sailor_id: 1, summary: "x" },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("428C9"),
  },
  {
    title: "R-INS-1 a value for an identity that is always generated is rejected",
    request: "POST /certificates",
    body: { id: 7, sailor_id: 1 },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("428C9"),
  },
  {
    title: "R-INS-1 columns restricts an insert to the listed columns",
    request: "POST /crew?columns=vessel_id,sailor_id&select=rank",
    headers: representation,
    body: { vessel_id: 3, sailor_id: 1, rank: "ignored" },
    answer: [{ rank: "hand" }],
  },
  {
    title: "R-INS-1 a column that columns lists twice counts once",
    request: "POST /ports?columns=name,name&select=name",
    headers: representation,
    body: { name: "A" },
    answer: [{ name: "A" }],
  },

  {
    title: "R-INS-2 the payload {} inserts a row of defaults",
    request: "POST /voyages?select=vessel_id,fare",
    headers: representation,
    body: {},
    status: 201,
    answer: [{ vessel_id: null, fare: null }],
  },
  {
    title: "R-INS-2 the payload [{}] inserts a row of defaults",
    request: "POST /voyages?select=vessel_id",
    headers: representation,
    body: [{}],
    status: 201,
    answer: [{ vessel_id: null }],
  },
  {
    title: "R-INS-2 the payload [{},{}] inserts two rows of defaults",
    request: "POST /voyages?select=vessel_id",
    headers: representation,
    body: [{}, {}],
    status: 201,
    answer: [{ vessel_id: null }, { vessel_id: null }],
  },
  {
    title: "R-INS-2 the payload {} is rejected if a required column has no default",
    request: "POST /ports",
    body: {},
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("23502"),
  },
  {
    title: "R-INS-2 the payload [] inserts nothing",
    request: "POST /ports",
    headers: rolledBack("return=representation", "count=exact"),
    body: [],
    status: 201,
    answer: [],
    responseHeaders: { "Content-Range": "*/0" },
  },
  {
    title: "R-INS-2 the payload [] without a representation has no body",
    request: "POST /ports",
    body: [],
    status: 201,
    bytes: "",
    responseHeaders: { "Content-Length": "0" },
  },

  {
    title: "R-INS-3 a null in the payload is stored as null instead of the default",
    request: "POST /crew?select=rank",
    headers: representation,
    body: { vessel_id: 3, sailor_id: 1, rank: null },
    answer: [{ rank: null }],
  },
  {
    title: "R-INS-3 a null in a column that may not be null is rejected",
    request: "POST /certificates",
    body: { sailor_id: 1, renewed: null },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("23502"),
  },

  {
    title: "R-INS-4 R-INS-4b missing=default gives each object the defaults of its absent columns",
    request: "POST /certificates?columns=sailor_id,rating,grade,points,note&select=sailor_id,rating,grade,points,note",
    headers: defaults,
    body: [
      { sailor_id: 1, points: 7, ignored: 1 },
      { sailor_id: 2, rating: "able", grade: "c", note: null },
    ],
    status: 201,
    answer: [
      { sailor_id: 1, rating: "ordinary", grade: "b", points: 7, note: "none" },
      { sailor_id: 2, rating: "able", grade: "c", points: 42, note: null },
    ],
    responseHeaders: { "Preference-Applied": "missing=default, return=representation, tx=rollback" },
  },
  {
    title: "R-INS-4 missing=default gives null to an absent column without a default",
    request: "POST /vessels?columns=name,tonnage&select=name,tonnage",
    headers: defaults,
    body: [{ name: "Fram", tonnage: 402 }, { name: "Gjoa" }],
    answer: [
      { name: "Fram", tonnage: 402 },
      { name: "Gjoa", tonnage: null },
    ],
  },
  {
    title: "R-INS-4 R-INS-4b missing=default gives an identity by default its next value",
    request: "POST /ports?columns=id,name&select=id,name",
    headers: defaults,
    body: [{ id: 900, name: "A" }, { name: "B" }],
    check: (answer) =>
      expect(answer.json()).toEqual([
        { id: 900, name: "A" },
        { id: expect.any(Number), name: "B" },
      ]),
  },
  {
    title: "R-INS-4 missing=default rejects a generated column that an object names",
    request: "POST /certificates?columns=sailor_id,summary",
    headers: defaults,
    body: [{ sailor_id: 1 }, { sailor_id: 2, summary: "x" }],
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("428C9"),
  },
  {
    title: "R-INS-4 R-INS-4c missing=default uses the view's own defaults",
    request: "POST /new_vessels?columns=name,tonnage&select=name,tonnage",
    headers: defaults,
    body: [{ name: "A" }],
    answer: [{ name: "A", tonnage: 10 }],
  },
  {
    title: "R-INS-4 missing=default applies to a single object",
    request: "POST /crew?columns=vessel_id,sailor_id,rank&select=rank",
    headers: defaults,
    body: { vessel_id: 3, sailor_id: 1 },
    answer: [{ rank: "hand" }],
  },
  {
    title: "R-INS-4 missing=null gives null to absent columns",
    request: "POST /crew?columns=vessel_id,sailor_id,rank&select=rank",
    headers: rolledBack("return=representation", "missing=null"),
    body: { vessel_id: 3, sailor_id: 1 },
    answer: [{ rank: null }],
    responseHeaders: { "Preference-Applied": "missing=null, return=representation, tx=rollback" },
  },
  {
    title: "R-INS-4 missing=default resets absent columns on PATCH",
    request: "PATCH /certificates?id=eq.1&columns=points,note&select=points,note",
    headers: defaults,
    body: { note: "x" },
    status: 200,
    answer: [{ points: 42, note: "x" }],
  },
]);
