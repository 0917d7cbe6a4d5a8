import { PostgrestClient } from "@supabase/postgrest-js";
import { describe, expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { bearer } from "../support/tokens.ts";

/** The configuration of PostgREST's own checks. */
const conformance = {
  dbSchemas: ["sea"],
  dbExtraSearchPath: [],
  anonRole: "sea_anon",
  dbTxEnd: "rollback-allow-override",
  serverTimingEnabled: true,
  dbPreRequest: "sea.before_request",
  urlUseLegacyTargetNames: true,
  dbAggregatesEnabled: false,
  dbPlanEnabled: false,
  compatMode: true,
} as const;

const api = await startApi(conformance);

cases(api, [
  {
    title: "R-CON-1 the conformance settings serve relations at the root and roll back every write",
    request: "POST /ports?select=name",
    headers: { prefer: "return=representation" },
    body: { name: "A" },
    status: 201,
    bytes: '[{"name":"A"}]',
    responseHeaders: { "Content-Length": "14", "Preference-Applied": "return=representation", "Content-Profile": null },
  },
  {
    title: "R-CON-1 a client may keep a write with tx=commit",
    request: "DELETE /logbook?entry=eq.none",
    headers: { prefer: "tx=commit" },
    status: 204,
    responseHeaders: { "Preference-Applied": "tx=commit" },
  },
  {
    title: "R-CON-1 each successful read has a Server-Timing header",
    request: "GET /ports",
    responseHeaders: {
      "Server-Timing":
        /^jwt;dur=\d+\.\d, parse;dur=\d+\.\d, plan;dur=\d+\.\d, transaction;dur=\d+\.\d, response;dur=\d+\.\d$/,
    },
  },
  {
    title: "R-CON-1 OPTIONS has a Server-Timing header",
    request: "OPTIONS /ports",
    responseHeaders: { "Server-Timing": /^jwt;dur=.*response;dur=/ },
  },
  {
    title: "R-CON-1 writes have a Server-Timing header",
    request: "PATCH /ports?id=eq.1",
    body: { country: "X" },
    responseHeaders: { "Server-Timing": /^jwt;dur=/ },
  },
  {
    title: "R-CON-1 functions have a Server-Timing header",
    request: "GET /rpc/who",
    responseHeaders: { "Server-Timing": /^jwt;dur=/ },
  },
  {
    title: "R-CON-1 R-CON-1a the bytes of an error are those of PostgREST",
    request: "GET /vessels?select=nope(*)",
    status: 400,
    bytes: `{"code":"PGRST200","details":"Searched for a foreign key relationship between 'vessels' and 'nope' in the schema 'sea', but no matches were found.","hint":null,"message":"Could not find a relationship between 'vessels' and 'nope' in the schema cache"}`,
    responseHeaders: { "Content-Length": "251" },
  },
  {
    title: "R-CON-1 a filter may use the name of the target instead of its alias, with a warning",
    request: "GET /ports?select=name,ships:vessels(name)&vessels.id=eq.1&id=eq.1",
    answer: [{ name: "Oslo", ships: [{ name: "Ariel" }] }],
    responseHeaders: { Warning: /^299 / },
  },
  {
    title: "R-CON-1 aggregates are off in the conformance settings",
    request: "GET /vessels?select=tonnage.sum()",
    status: 400,
    check: (answer) => expect(answer.json().code).toBe("PGRST123"),
  },
  {
    title: "R-CON-1 execution plans are off in the conformance settings",
    request: "GET /vessels",
    headers: { accept: "application/vnd.pgrst.plan" },
    status: 406,
  },
  {
    title: "R-CON-1 the pre-request function may set headers",
    request: "GET /vessels",
    headers: { "x-pre": "header" },
    responseHeaders: { "X-Pre": "seen" },
  },
]);

describe("R-CON-1 the client library postgrest-js", async () => {
  const liveApi = await startApi({
    ...conformance,
    dbTxEnd: "commit-allow-override",
    dbPlanEnabled: true,
    dbAggregatesEnabled: true,
    dbSchemas: ["sea", "land"],
    compatMode: false,
  });
  // Its types require a generated description of the schema.
  const connect = (headers = {}): any => new PostgrestClient(`${liveApi.url}/api`, { headers }).schema("sea");
  const client = connect();

  test("R-CON-1 postgrest-js selects with filters, orders and windows", async () => {
    const { data, error, status } = await client
      .from("vessels")
      .select("id,name,tonnage")
      .gte("tonnage", 50)
      .in("name", ["Ariel", "Fram"])
      .order("tonnage", { ascending: true })
      .range(0, 1);
    expect([error, status]).toEqual([null, 200]);
    expect(data).toEqual([
      { id: 2, name: "Fram", tonnage: 402 },
      { id: 1, name: "Ariel", tonnage: 853 },
    ]);
    expect(
      (await client.from("vessels").select("id").or("id.eq.3,and(id.gt.1,tonnage.lt.500)").order("id")).data,
    ).toEqual([{ id: 2 }, { id: 3 }]);
    expect((await client.from("vessels").select("id").contains("flags", ["PA"])).data).toEqual([{ id: 1 }]);
    expect((await client.from("vessels").select("id").is("home_port_id", null)).data).toEqual([{ id: 3 }]);
    expect(
      (await client.from("manifests").select("id").textSearch("body", "cats", { config: "english" })).data,
    ).toEqual([{ id: 1 }]);
    expect(
      (
        await client
          .from("vessels")
          .select("id,maker:specs->engine->>maker")
          .not("specs->engine->>maker", "is", null)
          .eq("specs->engine->>maker", "Akers")
      ).data,
    ).toEqual([{ id: 2, maker: "Akers" }]);
  });

  test("R-CON-1 postgrest-js reads embeds", async () => {
    const { data } = await client
      .from("ports")
      .select("name,vessels!inner(name,voyages(id))")
      .gt("vessels.tonnage", 500)
      .order("id", { referencedTable: "vessels.voyages" });
    expect(data).toEqual([{ name: "Oslo", vessels: [{ name: "Ariel", voyages: [{ id: 1 }, { id: 2 }] }] }]);
    expect((await client.from("voyages").select("id,...vessels(ship:name)").eq("id", 1).single()).data).toEqual({
      id: 1,
      ship: "Ariel",
    });
  });

  test("R-CON-1 postgrest-js counts with rows and without", async () => {
    const rows = await client.from("vessels").select("id", { count: "exact" }).limit(1);
    expect([rows.count, rows.status, rows.data?.length]).toEqual([3, 206, 1]);
    const head = await client.from("vessels").select("*", { count: "exact", head: true });
    expect([head.count, head.status, head.data]).toEqual([3, 200, null]);
  });

  test("R-CON-1 postgrest-js reads with single and maybeSingle", async () => {
    expect((await client.from("vessels").select("name").eq("id", 1).single()).data).toEqual({ name: "Ariel" });
    const rejection = await client.from("vessels").select("name").eq("id", 99).single();
    expect([rejection.status, rejection.error?.code]).toEqual([406, "PGRST116"]);
    const emptyResult = await client.from("vessels").select("name").eq("id", 99).maybeSingle();
    expect([emptyResult.error, emptyResult.data]).toEqual([null, null]);
  });

  test("R-CON-1 postgrest-js inserts, updates, upserts and deletes", async () => {
    const insertResult = await client
      .from("ports")
      .insert([
        { id: 301, name: "Bergen" },
        { id: 302, name: "Hull", country: "GB" },
      ])
      .select("id,country")
      .order("id");
    expect([insertResult.status, insertResult.data]).toEqual([
      201,
      [
        { id: 301, country: null },
        { id: 302, country: "GB" },
      ],
    ]);
    expect((await client.from("ports").update({ country: "NO" }).eq("id", 301).select().single()).data).toEqual({
      id: 301,
      name: "Bergen",
      country: "NO",
    });
    const upsertResult = await client
      .from("ports")
      .upsert([{ name: "Bergen", country: "XX" }], { onConflict: "name" })
      .select();
    expect([upsertResult.status, upsertResult.data]).toEqual([200, [{ id: 301, name: "Bergen", country: "XX" }]]);
    const ignoreResult = await client
      .from("ports")
      .upsert({ id: 301, name: "Other" }, { ignoreDuplicates: true })
      .select();
    expect(ignoreResult.data).toEqual([]);
    // Rows have different keys, so the library lists the columns itself.
    const mixedResult = await client
      .from("ports")
      .insert(
        [
          { id: 303, name: "A" },
          { id: 304, name: "B", country: "DK" },
        ],
        { defaultToNull: false },
      )
      .select("country")
      .order("id");
    expect(mixedResult.data).toEqual([{ country: null }, { country: "DK" }]);
    const deleteResult = await client.from("ports").delete({ count: "exact" }).gte("id", 301);
    expect([deleteResult.status, deleteResult.count]).toEqual([204, 4]);
  });

  test("R-CON-1 postgrest-js calls functions", async () => {
    expect((await client.rpc("add_numbers", { a: 1, b: 2 })).data).toBe(3);
    expect((await client.rpc("add_numbers", { a: 1, b: 2 }, { get: true })).data).toBe(3);
    expect((await client.rpc("vessels_of", { port: 1 }).select("name").gt("tonnage", 500)).data).toEqual([
      { name: "Ariel" },
    ]);
    const countResult = await client.rpc("all_vessels", {}, { count: "exact", head: true });
    expect(countResult.count).toBe(3);
    const missingResult = await client.rpc("fleet_weigth", { port: 1 });
    expect([missingResult.status, missingResult.error?.code, missingResult.error?.hint]).toEqual([
      404,
      "PGRST202",
      "Perhaps you meant to call the function sea.fleet_weight",
    ]);
  });

  test("R-CON-1 postgrest-js reads CSV and execution plans", async () => {
    expect((await client.from("vessels").select("id,name").order("id").csv()).data).toBe(
      "id,name\n1,Ariel\n2,Fram\n3,Gjoa",
    );
    const text = await client.from("vessels").select().explain();
    expect(text.data).toMatch(/cost=/);
    const json = await client.from("vessels").select().explain({ format: "json", analyze: true });
    expect(json.data).toMatchObject([{ Plan: expect.anything() }]);
  });

  test("R-CON-1 postgrest-js receives errors, and uses schemas, tokens and rollback", async () => {
    const deniedResult = await client.from("payroll").select();
    expect([deniedResult.status, deniedResult.error?.code]).toEqual([401, "42501"]);
    const unknown = await client.from("vesels").select();
    expect([unknown.status, unknown.error]).toMatchObject([
      404,
      { code: "PGRST205", hint: "Perhaps you meant the table 'sea.vessels'" },
    ]);
    expect((await client.schema("land").from("depots").select("name").eq("id", 1)).data).toEqual([{ name: "Sinsen" }]);
    expect((await connect(bearer({ role: "sea_clerk" })).rpc("who")).data).toBe("sea_clerk");
    expect((await client.from("ports").insert({ name: "Gone" }).rollback().select("name")).data).toEqual([
      { name: "Gone" },
    ]);
    expect((await client.from("ports").select("name").eq("name", "Gone")).data).toEqual([]);
    const cappedResult = await client.from("sailors").update({ mentor_id: null }).gt("id", 0).maxAffected(1);
    expect(cappedResult.error?.code).toBe("PGRST124");
  });
});
