import { expect } from "vitest";
import { rolledBack, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();

const shown = rolledBack("return=representation");
const defaults = rolledBack("return=representation", "missing=default");

cases(api, [
  {
    title: "R-INS-1 columns that are not named get their defaults",
    request: "POST /certificates?select=rating,grade,issued,points,renewed,note,summary",
    headers: shown,
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
    title: "R-INS-1 identity and generated columns work by being absent",
    request: "POST /certificates?select=id,serial_number,summary",
    headers: shown,
    body: { sailor_id: 1, points: 5 },
    status: 201,
    check: (answer) =>
      expect(answer.json()).toEqual([
        { id: expect.any(Number), serial_number: expect.any(Number), summary: "points 5" },
      ]),
  },
  {
    title: "R-INS-1 a generated column that is named",
    request: "POST /certificates",
    body: { sailor_id: 1, summary: "x" },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("428C9"),
  },
  {
    title: "R-INS-1 an identity that is always generated",
    request: "POST /certificates",
    body: { id: 7, sailor_id: 1 },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("428C9"),
  },
  {
    title: "R-INS-1 columns named by the request",
    request: "POST /crew?columns=vessel_id,sailor_id&select=rank",
    headers: shown,
    body: { vessel_id: 3, sailor_id: 1, rank: "ignored" },
    answer: [{ rank: "hand" }],
  },
  {
    title: "R-INS-1 a column named twice counts once",
    request: "POST /ports?columns=name,name&select=name",
    headers: shown,
    body: { name: "A" },
    answer: [{ name: "A" }],
  },

  {
    title: "R-INS-2 {} is a row of defaults",
    request: "POST /voyages?select=vessel_id,fare",
    headers: shown,
    body: {},
    status: 201,
    answer: [{ vessel_id: null, fare: null }],
  },
  {
    title: "R-INS-2 [{}] too",
    request: "POST /voyages?select=vessel_id",
    headers: shown,
    body: [{}],
    status: 201,
    answer: [{ vessel_id: null }],
  },
  {
    title: "R-INS-2 [{},{}] is two",
    request: "POST /voyages?select=vessel_id",
    headers: shown,
    body: [{}, {}],
    status: 201,
    answer: [{ vessel_id: null }, { vessel_id: null }],
  },
  {
    title: "R-INS-2 {} where a column has no default",
    request: "POST /ports",
    body: {},
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("23502"),
  },
  {
    title: "R-INS-2 [] writes nothing",
    request: "POST /ports",
    headers: rolledBack("return=representation", "count=exact"),
    body: [],
    status: 201,
    answer: [],
    responseHeaders: { "Content-Range": "*/0" },
  },
  {
    title: "R-INS-2 [] without representation",
    request: "POST /ports",
    body: [],
    status: 201,
    bytes: "",
    responseHeaders: { "Content-Length": "0" },
  },

  {
    title: "R-INS-3 null is null, not the default",
    request: "POST /crew?select=rank",
    headers: shown,
    body: { vessel_id: 3, sailor_id: 1, rank: null },
    answer: [{ rank: null }],
  },
  {
    title: "R-INS-3 null where it is forbidden",
    request: "POST /certificates",
    body: { sailor_id: 1, renewed: null },
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("23502"),
  },

  {
    title: "R-INS-4 listed columns that are absent take their defaults, object by object",
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
    title: "R-INS-4 an absent column without default is null",
    request: "POST /vessels?columns=name,tonnage&select=name,tonnage",
    headers: defaults,
    body: [{ name: "Fram", tonnage: 402 }, { name: "Gjoa" }],
    answer: [
      { name: "Fram", tonnage: 402 },
      { name: "Gjoa", tonnage: null },
    ],
  },
  {
    title: "R-INS-4 identity by default takes the next value",
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
    title: "R-INS-4 a generated column that some object names",
    request: "POST /certificates?columns=sailor_id,summary",
    headers: defaults,
    body: [{ sailor_id: 1 }, { sailor_id: 2, summary: "x" }],
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("428C9"),
  },
  {
    title: "R-INS-4 the defaults of a view are its own",
    request: "POST /new_vessels?columns=name,tonnage&select=name,tonnage",
    headers: defaults,
    body: [{ name: "A" }],
    answer: [{ name: "A", tonnage: 10 }],
  },
  {
    title: "R-INS-4 one object",
    request: "POST /crew?columns=vessel_id,sailor_id,rank&select=rank",
    headers: defaults,
    body: { vessel_id: 3, sailor_id: 1 },
    answer: [{ rank: "hand" }],
  },
  {
    title: "R-INS-4 missing=null may be said",
    request: "POST /crew?columns=vessel_id,sailor_id,rank&select=rank",
    headers: rolledBack("return=representation", "missing=null"),
    body: { vessel_id: 3, sailor_id: 1 },
    answer: [{ rank: null }],
    responseHeaders: { "Preference-Applied": "missing=null, return=representation, tx=rollback" },
  },
  {
    title: "R-INS-4 on PATCH absent columns are reset",
    request: "PATCH /certificates?id=eq.1&columns=points,note&select=points,note",
    headers: defaults,
    body: { note: "x" },
    status: 200,
    answer: [{ points: 42, note: "x" }],
  },
]);
