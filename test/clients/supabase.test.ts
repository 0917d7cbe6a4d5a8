/** The standalone server with supabase-js, which requests `/rest/v1`. */
import { createClient } from "@supabase/supabase-js";
import { describe, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { readEnvironment } from "../../presets/server/environment.ts";
import { testDatabase } from "../support/database.ts";
import { jwtSecret, signToken } from "../support/tokens.ts";
import { serveDemo } from "./demo.ts";

// Node 20 has no WebSocket, which the client requires to start.
vi.stubGlobal("WebSocket", WebSocket);

const database = await testDatabase();
const { options } = readEnvironment({ REST_PREFIXES: "/api,/rest/v1", DB_SCHEMAS: "sea,land", ANON_ROLE: "sea_anon" });
const { url } = await serveDemo({ ...options, ...database.options, jwtSecret });
const supabase = createClient<any, any, any>(url, signToken({ role: "sea_clerk" }), { db: { schema: "sea" } });

describe("supabase-js", () => {
  test("R-PATH-11 supabase-js reads rows with filters, embeds and counts", async () => {
    const answer = await supabase.from("ports").select("id,name", { count: "exact" }).eq("id", 1);
    expect(answer).toMatchObject({ error: null, status: 200, count: 1, data: [{ id: 1 }] });
    const vessel = await supabase.from("vessels").select("name,ports!inner(id)").eq("ports.id", 1).limit(1).single();
    expect(vessel).toMatchObject({ error: null, data: { ports: { id: 1 } } });
  });

  test("R-PATH-11 supabase-js inserts, updates and deletes rows, and gets the written rows", async () => {
    const insertResult = await supabase.from("ports").insert({ id: 901, name: "Bergen" }).select().single();
    expect(insertResult).toMatchObject({ error: null, status: 201, data: { id: 901, name: "Bergen" } });
    const updateResult = await supabase.from("ports").update({ name: "Turku" }).eq("id", 901).select("name");
    expect(updateResult.data).toEqual([{ name: "Turku" }]);
    const deleteResult = await supabase.from("ports").delete().eq("id", 901);
    expect(deleteResult).toMatchObject({ error: null, status: 204 });
  });

  test("R-PATH-11 supabase-js calls functions by POST and by GET", async () => {
    expect(await supabase.rpc("fleet_weight", { port: 1 })).toMatchObject({ error: null, data: 1255 });
    expect(await supabase.rpc("fleet_weight", { port: 1 }, { get: true })).toMatchObject({ error: null, data: 1255 });
  });

  test("R-PROF-2 supabase-js gets the error for a schema that is not exposed", async () => {
    const { error } = await supabase.schema("nowhere").from("ports").select();
    expect(error).toMatchObject({ code: "PGRST106" });
  });

  test("R-PATH-12 supabase-js gets the served paths as a hint if its prefix is not served", async () => {
    const elsewhere = await serveDemo({ ...options, ...database.options, jwtSecret, restPrefixes: ["/api"] });
    const { error } = await createClient(elsewhere.url, signToken({ role: "sea_anon" }))
      .from("ports")
      .select();
    expect(error).toMatchObject({
      code: "PGRST125",
      hint: "The REST API is below /api; GraphQL is at /v1/graphql; perhaps you meant /api/ports",
    });
  });
});
