import { describe, expect } from "vitest";
import { startApi, uncountedRange } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();
const cappedApi = await startApi({ dbMaxRows: 2 });

const ids = (...list: readonly number[]) => list.map((id) => ({ id }));
const exact = { prefer: "count=exact" };
const unsatisfiable = (details: string) => ({
  code: "PGRST103",
  details,
  hint: null,
  message: "Requested range not satisfiable",
});
const negative = unsatisfiable("Limit should be greater than or equal to zero.");
const reversedRange = unsatisfiable(
  "The lower boundary must be lower than or equal to the upper boundary in the Range header.",
);
const vessels = "GET /vessels?select=id&order=id";

cases(api, [
  { title: "R-RNG-1 limit and offset cut the rows", request: `${vessels}&limit=1&offset=1`, answer: ids(2) },
  { title: "R-RNG-1 an offset without a limit skips rows", request: `${vessels}&offset=1`, answer: ids(2, 3) },
  {
    title: "R-RNG-1 a limit applies to an embed",
    request: "GET /ports?select=vessels(id)&vessels.order=id.desc&vessels.limit=1&id=eq.1",
    answer: [{ vessels: ids(2) }],
  },
  {
    title: "R-RNG-1 an offset applies to an embed",
    request: "GET /ports?select=vessels(id)&vessels.order=id&vessels.offset=1&id=eq.1",
    answer: [{ vessels: ids(2) }],
  },
  {
    title: "R-RNG-1 a limit applies to a nested embed",
    request:
      "GET /ports?select=vessels(crew(rank))&vessels.id=eq.1&vessels.crew.order=rank&vessels.crew.limit=1&id=eq.1",
    answer: [{ vessels: [{ crew: [{ rank: "captain" }] }] }],
  },
  ...["abc", "1.5", "", "1e3", "0x10"].map((text) => ({
    title: `R-RNG-1 the limit "${text}" is not a whole number and is ignored`,
    request: `${vessels}&limit=${text}&offset=${text}`,
    answer: ids(1, 2, 3),
  })),
  {
    title: "R-RNG-1 R-RNG-1a PATCH ignores a limit",
    request: "PATCH /vessels?select=id&order=id&limit=1",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { flags: [] },
    answer: ids(1, 2, 3),
  },
  {
    title: "R-RNG-1 R-RNG-1a DELETE ignores a limit",
    request: "DELETE /logbook?limit=1",
    headers: { prefer: "tx=rollback, count=exact" },
    status: 204,
    responseHeaders: { "content-range": "*/2" },
  },
  {
    title: "R-RNG-1 limits of embeds are ignored in a representation",
    request: "PATCH /ports?id=eq.1&select=vessels(id)&vessels.order=id&vessels.limit=1",
    headers: { prefer: "return=representation, tx=rollback" },
    body: { country: "NO" },
    answer: [{ vessels: ids(1, 2) }],
  },
  {
    title: "R-RNG-1 R-RNG-1a PATCH rejects a negative limit",
    request: "PATCH /vessels?limit=-1",
    body: { flags: [] },
    status: 416,
    answer: negative,
  },
  {
    title: "R-RNG-1 R-RNG-1a PUT rejects a limit",
    request: "PUT /ports?id=eq.1&limit=1",
    body: { id: 1, name: "Oslo" },
    status: 400,
    answer: {
      code: "PGRST114",
      details: null,
      hint: null,
      message: "limit/offset querystring parameters are not allowed for PUT",
    },
  },
  {
    title: "R-RNG-1 limit and offset apply to a function's rows",
    request: "GET /rpc/all_vessels?select=id&limit=1&offset=2",
    answer: ids(3),
    responseHeaders: { "content-range": uncountedRange("2-2") },
  },
  {
    title: "R-RNG-2 limit=0 returns an empty list",
    request: `${vessels}&limit=0`,
    status: 200,
    answer: [],
    responseHeaders: { "content-range": uncountedRange("*") },
  },
  {
    title: "R-RNG-2 limit=0 with offset=0 returns an empty list",
    request: `${vessels}&limit=0&offset=0`,
    status: 200,
    answer: [],
  },
  {
    title: "R-RNG-2 R-RNG-2a limit=0 with an offset is rejected",
    request: `${vessels}&limit=0&offset=1`,
    status: 416,
    answer: negative,
  },
  { title: "R-RNG-2 a negative limit is rejected", request: `${vessels}&limit=-1`, status: 416, answer: negative },
  {
    title: "R-RNG-2 a negative offset without a limit counts as 0",
    request: `${vessels}&offset=-5`,
    answer: ids(1, 2, 3),
    responseHeaders: { "content-range": uncountedRange("0-2") },
  },
  {
    title: "R-RNG-2 R-RNG-2a a window with a negative offset begins at row 0",
    request: `${vessels}&offset=-2&limit=3`,
    answer: ids(1),
  },
  {
    title: "R-RNG-2 R-RNG-2a a window that ends before row 0 is rejected",
    request: `${vessels}&offset=-2&limit=2`,
    status: 416,
    answer: negative,
  },
  {
    title: "R-RNG-2 R-RNG-2b a negative limit on an embed is an error of the database",
    request: "GET /ports?select=vessels(id)&vessels.limit=-1",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("2201W"),
  },
  {
    title: "R-RNG-2 R-RNG-2b a negative offset on an embed is an error of the database",
    request: "GET /ports?select=vessels(id)&vessels.offset=-1",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("2201X"),
  },
  {
    title: "R-RNG-2 a limit beyond 64 bits is an error of the database",
    request: `${vessels}&limit=99999999999999999999`,
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("22003"),
  },
  {
    title: "R-RNG-3 a Range header selects the rows",
    request: vessels,
    headers: { range: "1-2" },
    status: 200,
    answer: ids(2, 3),
    responseHeaders: { "content-range": uncountedRange("1-2") },
  },
  {
    title: "R-RNG-3 a Range header without an end returns all later rows",
    request: vessels,
    headers: { range: "2-" },
    answer: ids(3),
  },
  {
    title: "R-RNG-3 the unit of a Range header is ignored",
    request: vessels,
    headers: { range: "0-0", "range-unit": "parsecs" },
    answer: ids(1),
  },
  ...["bytes=0-1", "-1", "a-b", "0-1,2-3", " "].map((range) => ({
    title: `R-RNG-3 the Range header "${range}" is ignored`,
    request: vessels,
    headers: { range },
    status: 200,
    answer: ids(1, 2, 3),
  })),
  {
    title: "R-RNG-3 HEAD ignores a Range header",
    request: "HEAD /vessels",
    headers: { range: "0-0" },
    status: 200,
    responseHeaders: { "content-range": uncountedRange("0-2") },
  },
  {
    title: "R-RNG-3 POST ignores a Range header",
    request: "POST /rpc/all_vessels?select=id",
    headers: { range: "0-0" },
    body: {},
    answer: ids(1, 2, 3),
  },
  {
    title: "R-RNG-3 GET of a function applies a Range header",
    request: "GET /rpc/all_vessels?select=id",
    headers: { range: "0-0" },
    answer: ids(1),
  },
  {
    title: "R-RNG-4 the Range header and limit are intersected",
    request: `${vessels}&limit=3`,
    headers: { range: "0-1" },
    answer: ids(1, 2),
  },
  {
    title: "R-RNG-4 the later start of the Range header and offset applies",
    request: `${vessels}&offset=2`,
    headers: { range: "1-5" },
    answer: ids(3),
  },
  {
    title: "R-RNG-4 a Range header with a reversed range is rejected",
    request: vessels,
    headers: { range: "2-1" },
    status: 416,
    answer: reversedRange,
  },
  {
    title: "R-RNG-4 an empty intersection of the Range header and limit is rejected",
    request: `${vessels}&limit=1`,
    headers: { range: "2-5" },
    status: 416,
    answer: negative,
  },
  {
    title: "R-RNG-6 a read with Content-Range has a Range-Unit",
    request: vessels,
    status: 200,
    responseHeaders: { "range-unit": "items" },
  },
  {
    title: "R-RNG-6 writes have a Range-Unit",
    request: "PATCH /vessels?id=eq.0",
    body: { flags: [] },
    status: 204,
    responseHeaders: { "range-unit": "items" },
  },
  {
    title: "R-RNG-6 a counted read with 416 has a Range-Unit",
    request: `${vessels}&offset=99`,
    headers: exact,
    status: 416,
    responseHeaders: { "range-unit": "items" },
  },
  {
    title: "R-RNG-6 a response without Content-Range has no Range-Unit",
    request: "GET /vessels?limit=-1",
    status: 416,
    responseHeaders: { "range-unit": null, "content-range": null },
  },
  {
    title: "R-RNG-7 Content-Range has the first and the last row",
    request: `${vessels}&limit=2&offset=1`,
    status: 200,
    responseHeaders: { "content-range": uncountedRange("1-2") },
  },
  {
    title: "R-RNG-7 Content-Range of a read without rows is a star",
    request: `${vessels}&id=eq.0`,
    status: 200,
    responseHeaders: { "content-range": uncountedRange("*") },
  },
  {
    title: "R-RNG-7 Content-Range of a counted read has the total",
    request: `${vessels}&limit=2`,
    headers: exact,
    status: 206,
    responseHeaders: { "content-range": "0-1/3" },
  },
  {
    title: "R-RNG-7 Content-Range of POST has a star",
    request: "POST /logbook",
    headers: { prefer: "tx=rollback, count=exact" },
    body: [{ entry: "a" }, { entry: "b" }],
    status: 201,
    responseHeaders: { "content-range": "*/2" },
  },
  {
    title: "R-RNG-7 Content-Range of PATCH has the range of the rows",
    request: "PATCH /vessels?id=lt.3",
    headers: { prefer: "tx=rollback" },
    body: { flags: [] },
    status: 204,
    responseHeaders: { "content-range": uncountedRange("0-1") },
  },
  {
    title: "R-RNG-7 Content-Range of DELETE has a star",
    request: "DELETE /logbook",
    headers: { prefer: "tx=rollback" },
    status: 204,
    responseHeaders: { "content-range": uncountedRange("*") },
  },
  {
    title: "R-RNG-7 PUT has no Content-Range",
    request: "PUT /ports?id=eq.1",
    headers: { prefer: "tx=rollback" },
    body: { id: 1, name: "Oslo" },
    status: 204,
    responseHeaders: { "content-range": null },
  },
  {
    title: "R-RNG-8 a partial read without a count is 200",
    request: `${vessels}&limit=1`,
    status: 200,
    responseHeaders: { "content-range": uncountedRange("0-0") },
  },
  {
    title: "R-RNG-8 a count that equals the returned rows is 200",
    request: vessels,
    headers: exact,
    status: 200,
    responseHeaders: { "content-range": "0-2/3" },
  },
  {
    title: "R-RNG-8 a counted read with an offset beyond the rows is 416",
    request: `${vessels}&offset=99`,
    headers: exact,
    status: 416,
    answer: unsatisfiable("An offset of 99 was requested, but there are only 3 rows."),
    responseHeaders: {
      "content-range": "*/3",
      "content-location": "/vessels?offset=99&order=id&select=id",
      "preference-applied": "count=exact",
      "proxy-status": null,
      vary: "Accept, Prefer, Range",
    },
  },
  {
    title: "R-RNG-8 a counted read with a Range header beyond the rows is 416",
    request: vessels,
    headers: { ...exact, range: "99-100" },
    status: 416,
    responseHeaders: { "content-range": "*/3" },
  },
  {
    title: "R-RNG-8 an offset beyond the rows without a count is an empty list",
    request: `${vessels}&offset=99`,
    status: 200,
    answer: [],
    responseHeaders: { "content-range": uncountedRange("*") },
  },
  {
    title: "R-RNG-8 a counted read with an offset at the end is 206",
    request: `${vessels}&offset=3`,
    headers: exact,
    status: 206,
    answer: [],
    responseHeaders: { "content-range": "*/3" },
  },
  {
    title: "R-RNG-8 a counted read without rows is 200",
    request: `${vessels}&id=eq.0`,
    headers: exact,
    status: 200,
    answer: [],
    responseHeaders: { "content-range": "*/0" },
  },
  {
    title: "R-RNG-8 a partial counted read of a function's rows is 206",
    request: "GET /rpc/all_vessels?limit=1",
    headers: exact,
    status: 206,
    responseHeaders: { "content-range": "0-0/3" },
  },
  {
    title: "R-RNG-8 a counted call with an offset beyond the rows is 416",
    request: "GET /rpc/all_vessels?offset=9",
    headers: exact,
    status: 416,
    answer: unsatisfiable("An offset of 9 was requested, but there are only 3 rows."),
  },
  {
    title: "R-RNG-8 HEAD with an offset beyond the rows is 416",
    request: "HEAD /vessels?offset=99",
    headers: exact,
    status: 416,
    responseHeaders: { "content-range": "*/3" },
  },
]);

describe("a row limit", () => {
  cases(cappedApi, [
    {
      title: "R-RNG-5 the row limit applies to reads",
      request: vessels,
      answer: ids(1, 2),
      responseHeaders: { "content-range": uncountedRange("0-1") },
    },
    { title: "R-RNG-5 a smaller limit than the row limit applies", request: `${vessels}&limit=1`, answer: ids(1) },
    {
      title: "R-RNG-5 a larger limit than the row limit has no effect",
      request: `${vessels}&limit=5`,
      answer: ids(1, 2),
    },
    { title: "R-RNG-5 the row limit counts from the offset", request: `${vessels}&offset=1`, answer: ids(2, 3) },
    {
      title: "R-RNG-5 the row limit applies to embeds",
      request: "GET /sailors?select=id,peers(id)&id=eq.1",
      answer: [{ id: 1, peers: ids(2, 3) }],
    },
    {
      title: "R-RNG-5 the row limit of an embed counts from its own offset",
      request: "GET /sailors?select=id,peers(id)&id=eq.1&peers.offset=1",
      answer: [{ id: 1, peers: ids(3, 4) }],
    },
    {
      title: "R-RNG-5 the row limit applies to rows of functions",
      request: "GET /rpc/all_vessels?select=id",
      answer: ids(1, 2),
    },
    {
      title: "R-RNG-5 the count ignores the row limit",
      request: vessels,
      headers: exact,
      status: 206,
      answer: ids(1, 2),
      responseHeaders: { "content-range": "0-1/3" },
    },
    {
      title: "R-RNG-5 the row limit does not apply to representations",
      request: "PATCH /vessels?select=id&order=id",
      headers: { prefer: "return=representation, tx=rollback" },
      body: { flags: [] },
      answer: ids(1, 2, 3),
    },
    {
      title: "R-RNG-5 the row limit does not apply to embeds of representations",
      request: "PATCH /sailors?select=id,peers(id)&id=eq.1",
      headers: { prefer: "return=representation, tx=rollback" },
      body: { name: "Ada" },
      answer: [{ id: 1, peers: ids(2, 3, 4) }],
    },
  ]);
});
