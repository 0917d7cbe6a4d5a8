import { describe, expect } from "vitest";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();
const committing = await startApi({ dbTxEnd: "commit", on: api.database });

const prefer = (...preferences: readonly string[]) => ({ prefer: preferences.join(", ") });
const applied = (value: string | null) => ({ responseHeaders: { "preference-applied": value } });
const strict = (details: string) => ({ code: "PGRST122", details, hint: null, message: "Invalid preferences given with handling=strict" });
const tooMany = (rows: number) => ({ code: "PGRST124", details: `The query affects ${rows} rows`, hint: null, message: "Query result exceeds max-affected preference constraint" });

cases(api, [
  { title: "R-PRF-1 several headers are joined", request: "GET /vessels", headers: { prefer: ["count=exact", "timezone=UTC"] }, status: 200, ...applied("count=exact, timezone=UTC") },
  { title: "R-PRF-1 blanks around the commas", request: "GET /vessels", headers: { prefer: "  count=exact  ,timezone=UTC" }, status: 200, ...applied("count=exact, timezone=UTC") },
  { title: "R-PRF-1 values are case-sensitive", request: "GET /vessels", headers: prefer("count=Exact"), status: 200, ...applied(null) },
  { title: "R-PRF-1 the first valid value counts", request: "GET /vessels?limit=1", headers: prefer("count=some", "count=exact", "count=planned"), status: 206, ...applied("count=exact") },
  { title: "R-PRF-1 unknown ones are ignored", request: "GET /vessels", headers: prefer("colour=blue", "return"), status: 200, ...applied(null) },
  { title: "R-PRF-2 strict: unknown ones", request: "GET /vessels", headers: prefer("handling=strict", "colour=blue"), status: 400, answer: strict("Invalid preferences: colour=blue") },
  { title: "R-PRF-2 strict: in the order sent", request: "GET /vessels", headers: prefer("count=Exact", "handling=strict", "anything", "return=all"), status: 400, answer: strict("Invalid preferences: count=Exact, anything, return=all") },
  { title: "R-PRF-2 strict: an empty item counts as one", request: "GET /vessels", headers: { prefer: "handling=strict,,count=exact" }, status: 400, answer: strict("Invalid preferences: ") },
  { title: "R-PRF-2 strict: known but inapplicable ones are valid", request: "GET /vessels", headers: prefer("handling=strict", "return=representation", "resolution=merge-duplicates", "missing=default", "max-affected=1"), status: 200, ...applied("handling=strict") },
  { title: "R-PRF-2 strict: shown in the alphabet it was sent in", request: "GET /vessels", headers: prefer("handling=strict", Buffer.from("färg=blå").toString("latin1")), status: 400, answer: strict("Invalid preferences: färg=blå") },
  { title: "R-PRF-2 lenient is the default", request: "GET /vessels", headers: prefer("handling=lenient", "colour=blue"), status: 200, ...applied("handling=lenient") },
  { title: "R-PRF-2 strict on writes", request: "POST /logbook", headers: prefer("handling=strict", "colour=blue"), body: { entry: "x" }, status: 400, answer: strict("Invalid preferences: colour=blue") },
  { title: "R-PRF-2 strict on functions", request: "GET /rpc/fleet_weight?port=1", headers: prefer("handling=strict", "colour=blue"), status: 400, answer: strict("Invalid preferences: colour=blue") },
  {
    title: "R-PRF-3 in a fixed order",
    request: "POST /ports?select=name&columns=id,name,country",
    headers: prefer("timezone=UTC", "tx=rollback", "handling=lenient", "count=exact", "return=representation", "missing=default", "resolution=merge-duplicates"),
    body: [{ id: 900, name: "Bergen" }],
    status: 201,
    ...applied("resolution=merge-duplicates, missing=default, return=representation, count=exact, tx=rollback, handling=lenient, timezone=UTC"),
  },
  { title: "R-PRF-3 absent on errors", request: "GET /vessels?select=nothing", headers: prefer("count=exact"), status: 400, ...applied(null) },
  { title: "R-PRF-3 absent when empty", request: "GET /vessels", status: 200, ...applied(null) },
  { title: "R-PRF-3 count is echoed where it has no effect", request: "PUT /ports?id=eq.1", headers: prefer("count=planned", "tx=rollback"), body: { id: 1, name: "Oslo" }, status: 204, ...applied("count=planned, tx=rollback") },
  { title: "R-PRF-3 return is not echoed on reads", request: "GET /vessels", headers: prefer("return=representation"), status: 200, ...applied(null) },
  { title: "R-PRF-3 resolution is not echoed on PATCH", request: "PATCH /vessels?id=eq.0", headers: prefer("resolution=merge-duplicates", "return=minimal"), body: { name: "x" }, status: 204, ...applied("return=minimal") },
  { title: "R-PRF-3 missing is echoed on PATCH", request: "PATCH /vessels?id=eq.0&columns=name", headers: prefer("missing=null"), body: { name: "x" }, status: 204, ...applied("missing=null") },
  { title: "R-PRF-3 and not on PUT", request: "PUT /ports?id=eq.1", headers: prefer("missing=default", "resolution=ignore-duplicates", "tx=rollback"), body: { id: 1, name: "Oslo" }, status: 204, ...applied("tx=rollback") },
  { title: "R-PRF-4 a time zone by name", request: "GET /kinds?select=c_timestamptz&id=eq.1", headers: prefer("timezone=Asia/Tokyo"), answer: [{ c_timestamptz: "2020-02-29T19:00:00+09:00" }], ...applied("timezone=Asia/Tokyo") },
  { title: "R-PRF-4 a time zone of the caller's own, whatever its alphabet", request: "GET /kinds?select=c_timestamptz&id=eq.1", headers: prefer(`timezone=${Buffer.from("<€uro>-9").toString("latin1")}`), answer: [{ c_timestamptz: "2020-02-29T19:00:00+09:00" }], check: (answer) => expect(Buffer.from(answer.headers["preference-applied"] ?? "", "latin1").toString()).toBe("timezone=<€uro>-9") },
  { title: "R-PRF-4 a number is hours east", request: "GET /kinds?select=c_timestamptz&id=eq.1", headers: prefer("timezone=-4"), answer: [{ c_timestamptz: "2020-02-29T06:00:00-04:00" }] },
  { title: "R-PRF-4 hours and minutes are a POSIX offset", request: "GET /kinds?select=c_timestamptz&id=eq.1", headers: prefer("timezone=+05:30"), answer: [{ c_timestamptz: "2020-02-29T04:30:00-05:30" }] },
  { title: "R-PRF-4 an invalid one is the database's error", request: "GET /vessels", headers: prefer("timezone=Nowhere/Land"), status: 400, check: (answer) => expect(answer.json().code).toBe("22023") },
  { title: "R-PRF-4 under strict handling, too", request: "GET /vessels", headers: prefer("handling=strict", "timezone=Nowhere/Land"), status: 400, check: (answer) => expect(answer.json().code).toBe("22023") },
  { title: "R-PRF-4 it does not outlive the request", request: "GET /kinds?select=c_timestamptz&id=eq.1", headers: prefer("timezone=UTC"), answer: [{ c_timestamptz: "2020-02-29T10:00:00+00:00" }] },
  { title: "R-PRF-5 more rows than allowed", request: "DELETE /logbook", headers: prefer("handling=strict", "max-affected=1"), status: 400, answer: tooMany(2) },
  { title: "R-PRF-5 nothing was written", request: "GET /logbook", headers: prefer("count=exact"), status: 200, responseHeaders: { "content-range": "0-1/2" } },
  { title: "R-PRF-5 as many as allowed", request: "PATCH /vessels?id=lt.3", headers: prefer("handling=strict", "max-affected=2", "tx=rollback"), body: { flags: [] }, status: 204, ...applied("tx=rollback, handling=strict, max-affected=2") },
  { title: "R-PRF-5 without strict it has no effect", request: "PATCH /vessels?id=lt.3", headers: prefer("max-affected=1", "tx=rollback"), body: { flags: [] }, status: 204, ...applied("tx=rollback") },
  { title: "R-PRF-5 a value that is no integer is ignored", request: "PATCH /vessels?id=lt.3", headers: prefer("handling=strict", "max-affected=few", "tx=rollback"), body: { flags: [] }, status: 204, ...applied("tx=rollback, handling=strict") },
  { title: "R-PRF-5 functions", request: "GET /rpc/all_vessels", headers: prefer("handling=strict", "max-affected=2"), status: 400, answer: tooMany(3) },
  {
    title: "R-PRF-5 functions of a single value",
    request: "GET /rpc/fleet_weight?port=1",
    headers: prefer("handling=strict", "max-affected=2"),
    status: 400,
    answer: { code: "PGRST128", details: null, hint: null, message: "Function must return SETOF or TABLE when max-affected preference is used with handling=strict" },
  },
  { title: "R-PRF-5 not on reads", request: "GET /vessels", headers: prefer("handling=strict", "max-affected=1"), status: 200, ...applied("handling=strict") },
  { title: "R-PRF-6 rolled back", request: "POST /logbook?select=entry", headers: prefer("tx=rollback", "return=representation"), body: { entry: "gone" }, status: 201, answer: [{ entry: "gone" }], ...applied("return=representation, tx=rollback") },
  { title: "R-PRF-6 it is gone", request: "GET /logbook?entry=eq.gone", answer: [] },
  { title: "R-PRF-6 deferred constraints are checked", request: "POST /rpc/clash_places", headers: prefer("tx=rollback"), body: {}, status: 409, check: (answer) => expect(answer.json().code).toBe("23505") },
  { title: "R-PRF-6 those that hold do no harm", request: "POST /rpc/swap_places", headers: prefer("tx=rollback"), body: {}, status: 204 },
]);

describe("without override", () => {
  cases(committing, [
    { title: "R-PRF-3 tx is not echoed", request: "GET /vessels", headers: prefer("tx=rollback"), status: 200, ...applied(null) },
    { title: "R-PRF-2 but never invalid", request: "GET /vessels", headers: prefer("handling=strict", "tx=rollback"), status: 200, ...applied("handling=strict") },
  ]);
});
