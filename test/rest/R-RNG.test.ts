import { describe, expect } from "vitest";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();
const capped = await startApi({ dbMaxRows: 2, on: api.database });

const ids = (...list: readonly number[]) => list.map((id) => ({ id }));
const exact = { prefer: "count=exact" };
const unsatisfiable = (details: string) => ({ code: "PGRST103", details, hint: null, message: "Requested range not satisfiable" });
const negative = unsatisfiable("Limit should be greater than or equal to zero.");
const reversed = unsatisfiable("The lower boundary must be lower than or equal to the upper boundary in the Range header.");
const vessels = "GET /vessels?select=id&order=id";

cases(api, [
  { title: "R-RNG-1 limit and offset", request: `${vessels}&limit=1&offset=1`, answer: ids(2) },
  { title: "R-RNG-1 offset alone", request: `${vessels}&offset=1`, answer: ids(2, 3) },
  { title: "R-RNG-1 on embeds", request: "GET /ports?select=vessels(id)&vessels.order=id.desc&vessels.limit=1&id=eq.1", answer: [{ vessels: ids(2) }] },
  { title: "R-RNG-1 offset on embeds", request: "GET /ports?select=vessels(id)&vessels.order=id&vessels.offset=1&id=eq.1", answer: [{ vessels: ids(2) }] },
  { title: "R-RNG-1 on deeper embeds", request: "GET /ports?select=vessels(crew(rank))&vessels.id=eq.1&vessels.crew.order=rank&vessels.crew.limit=1&id=eq.1", answer: [{ vessels: [{ crew: [{ rank: "captain" }] }] }] },
  ...["abc", "1.5", "", "1e3", "0x10"].map((text) => ({ title: `R-RNG-1 "${text}" is no whole number and ignored`, request: `${vessels}&limit=${text}&offset=${text}`, answer: ids(1, 2, 3) })),
  { title: "R-RNG-1 ignored on PATCH", request: "PATCH /vessels?select=id&order=id&limit=1", headers: { prefer: "return=representation, tx=rollback" }, body: { flags: [] }, answer: ids(1, 2, 3) },
  { title: "R-RNG-1 ignored on DELETE", request: "DELETE /logbook?limit=1", headers: { prefer: "tx=rollback, count=exact" }, status: 204, responseHeaders: { "content-range": "*/2" } },
  { title: "R-RNG-1 ignored on embeds of a representation", request: "PATCH /ports?id=eq.1&select=vessels(id)&vessels.order=id&vessels.limit=1", headers: { prefer: "return=representation, tx=rollback" }, body: { country: "NO" }, answer: [{ vessels: ids(1, 2) }] },
  { title: "R-RNG-1 yet a bad one is refused on PATCH", request: "PATCH /vessels?limit=-1", body: { flags: [] }, status: 416, answer: negative },
  { title: "R-RNG-1 PUT takes none", request: "PUT /ports?id=eq.1&limit=1", body: { id: 1, name: "Oslo" }, status: 400, answer: { code: "PGRST114", details: null, hint: null, message: "limit/offset querystring parameters are not allowed for PUT" } },
  { title: "R-RNG-1 functions", request: "GET /rpc/all_vessels?select=id&limit=1&offset=2", answer: ids(3), responseHeaders: { "content-range": "2-2/*" } },
  { title: "R-RNG-2 limit=0 is an empty list", request: `${vessels}&limit=0`, status: 200, answer: [], responseHeaders: { "content-range": "*/*" } },
  { title: "R-RNG-2 limit=0 with offset=0", request: `${vessels}&limit=0&offset=0`, status: 200, answer: [] },
  { title: "R-RNG-2 limit=0 with an offset", request: `${vessels}&limit=0&offset=1`, status: 416, answer: negative },
  { title: "R-RNG-2 a negative limit", request: `${vessels}&limit=-1`, status: 416, answer: negative },
  { title: "R-RNG-2 a negative offset without a limit counts as 0", request: `${vessels}&offset=-5`, answer: ids(1, 2, 3), responseHeaders: { "content-range": "0-2/*" } },
  { title: "R-RNG-2 with a limit the window is cut at 0", request: `${vessels}&offset=-2&limit=3`, answer: ids(1) },
  { title: "R-RNG-2 an empty window", request: `${vessels}&offset=-2&limit=2`, status: 416, answer: negative },
  { title: "R-RNG-2 a negative limit on an embed is the database's", request: "GET /ports?select=vessels(id)&vessels.limit=-1", status: 400, check: (answer) => expect(answer.json().code).toBe("2201W") },
  { title: "R-RNG-2 so is a negative offset", request: "GET /ports?select=vessels(id)&vessels.offset=-1", status: 400, check: (answer) => expect(answer.json().code).toBe("2201X") },
  { title: "R-RNG-2 numbers beyond 64 bits are the database's", request: `${vessels}&limit=99999999999999999999`, status: 400, check: (answer) => expect(answer.json().code).toBe("22003") },
  { title: "R-RNG-3 a Range header", request: vessels, headers: { range: "1-2" }, status: 200, answer: ids(2, 3), responseHeaders: { "content-range": "1-2/*" } },
  { title: "R-RNG-3 without an end", request: vessels, headers: { range: "2-" }, answer: ids(3) },
  { title: "R-RNG-3 the unit is not looked at", request: vessels, headers: { range: "0-0", "range-unit": "parsecs" }, answer: ids(1) },
  ...["bytes=0-1", "-1", "a-b", "0-1,2-3", " "].map((range) => ({ title: `R-RNG-3 "${range}" is ignored`, request: vessels, headers: { range }, status: 200, answer: ids(1, 2, 3) })),
  { title: "R-RNG-3 HEAD ignores it", request: "HEAD /vessels", headers: { range: "0-0" }, status: 200, responseHeaders: { "content-range": "0-2/*" } },
  { title: "R-RNG-3 POST ignores it", request: "POST /rpc/all_vessels?select=id", headers: { range: "0-0" }, body: {}, answer: ids(1, 2, 3) },
  { title: "R-RNG-3 GET of functions does not", request: "GET /rpc/all_vessels?select=id", headers: { range: "0-0" }, answer: ids(1) },
  { title: "R-RNG-4 header and query are intersected", request: `${vessels}&limit=3`, headers: { range: "0-1" }, answer: ids(1, 2) },
  { title: "R-RNG-4 the later start counts", request: `${vessels}&offset=2`, headers: { range: "1-5" }, answer: ids(3) },
  { title: "R-RNG-4 a reversed header", request: vessels, headers: { range: "2-1" }, status: 416, answer: reversed },
  { title: "R-RNG-4 an empty intersection", request: `${vessels}&limit=1`, headers: { range: "2-5" }, status: 416, answer: negative },
  { title: "R-RNG-6 Range-Unit goes with Content-Range", request: vessels, status: 200, responseHeaders: { "range-unit": "items" } },
  { title: "R-RNG-6 on writes, too", request: "PATCH /vessels?id=eq.0", body: { flags: [] }, status: 204, responseHeaders: { "range-unit": "items" } },
  { title: "R-RNG-6 on 416 of a counted read, too", request: `${vessels}&offset=99`, headers: exact, status: 416, responseHeaders: { "range-unit": "items" } },
  { title: "R-RNG-6 not without Content-Range", request: "GET /vessels?limit=-1", status: 416, responseHeaders: { "range-unit": null, "content-range": null } },
  { title: "R-RNG-7 first and last", request: `${vessels}&limit=2&offset=1`, status: 200, responseHeaders: { "content-range": "1-2/*" } },
  { title: "R-RNG-7 no row", request: `${vessels}&id=eq.0`, status: 200, responseHeaders: { "content-range": "*/*" } },
  { title: "R-RNG-7 with a count", request: `${vessels}&limit=2`, headers: exact, status: 206, responseHeaders: { "content-range": "0-1/3" } },
  { title: "R-RNG-7 POST", request: "POST /logbook", headers: { prefer: "tx=rollback, count=exact" }, body: [{ entry: "a" }, { entry: "b" }], status: 201, responseHeaders: { "content-range": "*/2" } },
  { title: "R-RNG-7 PATCH", request: "PATCH /vessels?id=lt.3", headers: { prefer: "tx=rollback" }, body: { flags: [] }, status: 204, responseHeaders: { "content-range": "0-1/*" } },
  { title: "R-RNG-7 DELETE", request: "DELETE /logbook", headers: { prefer: "tx=rollback" }, status: 204, responseHeaders: { "content-range": "*/*" } },
  { title: "R-RNG-7 PUT", request: "PUT /ports?id=eq.1", headers: { prefer: "tx=rollback" }, body: { id: 1, name: "Oslo" }, status: 204, responseHeaders: { "content-range": null } },
  { title: "R-RNG-8 a partial window without a count", request: `${vessels}&limit=1`, status: 200, responseHeaders: { "content-range": "0-0/*" } },
  { title: "R-RNG-8 all rows counted", request: vessels, headers: exact, status: 200, responseHeaders: { "content-range": "0-2/3" } },
  { title: "R-RNG-8 an offset beyond the rows", request: `${vessels}&offset=99`, headers: exact, status: 416, answer: unsatisfiable("An offset of 99 was requested, but there are only 3 rows."), responseHeaders: { "content-range": "*/3", "content-location": "/vessels?offset=99&order=id&select=id", "preference-applied": "count=exact", "proxy-status": null, vary: "Accept, Prefer, Range" } },
  { title: "R-RNG-8 the same by a header", request: vessels, headers: { ...exact, range: "99-100" }, status: 416, responseHeaders: { "content-range": "*/3" } },
  { title: "R-RNG-8 without a count it is empty", request: `${vessels}&offset=99`, status: 200, answer: [], responseHeaders: { "content-range": "*/*" } },
  { title: "R-RNG-8 an offset at the end", request: `${vessels}&offset=3`, headers: exact, status: 206, answer: [], responseHeaders: { "content-range": "*/3" } },
  { title: "R-RNG-8 no rows at all", request: `${vessels}&id=eq.0`, headers: exact, status: 200, answer: [], responseHeaders: { "content-range": "*/0" } },
  { title: "R-RNG-8 functions", request: "GET /rpc/all_vessels?limit=1", headers: exact, status: 206, responseHeaders: { "content-range": "0-0/3" } },
  { title: "R-RNG-8 functions beyond the rows", request: "GET /rpc/all_vessels?offset=9", headers: exact, status: 416, answer: unsatisfiable("An offset of 9 was requested, but there are only 3 rows.") },
  { title: "R-RNG-8 HEAD", request: "HEAD /vessels?offset=99", headers: exact, status: 416, responseHeaders: { "content-range": "*/3" } },
]);

describe("a cap on rows", () => {
  cases(capped, [
    { title: "R-RNG-5 reads", request: vessels, answer: ids(1, 2), responseHeaders: { "content-range": "0-1/*" } },
    { title: "R-RNG-5 a smaller limit counts", request: `${vessels}&limit=1`, answer: ids(1) },
    { title: "R-RNG-5 a larger one does not", request: `${vessels}&limit=5`, answer: ids(1, 2) },
    { title: "R-RNG-5 counted from its own offset", request: `${vessels}&offset=1`, answer: ids(2, 3) },
    { title: "R-RNG-5 embeds", request: "GET /sailors?select=id,peers(id)&id=eq.1", answer: [{ id: 1, peers: ids(2, 3) }] },
    { title: "R-RNG-5 embeds from their own offset", request: "GET /sailors?select=id,peers(id)&id=eq.1&peers.offset=1", answer: [{ id: 1, peers: ids(3, 4) }] },
    { title: "R-RNG-5 functions", request: "GET /rpc/all_vessels?select=id", answer: ids(1, 2) },
    { title: "R-RNG-5 the count is not capped", request: vessels, headers: exact, status: 206, answer: ids(1, 2), responseHeaders: { "content-range": "0-1/3" } },
    { title: "R-RNG-5 writes are not capped", request: "PATCH /vessels?select=id&order=id", headers: { prefer: "return=representation, tx=rollback" }, body: { flags: [] }, answer: ids(1, 2, 3) },
    { title: "R-RNG-5 nor are embeds of their answers", request: "PATCH /sailors?select=id,peers(id)&id=eq.1", headers: { prefer: "return=representation, tx=rollback" }, body: { name: "Ada" }, answer: [{ id: 1, peers: ids(2, 3, 4) }] },
  ]);
});
