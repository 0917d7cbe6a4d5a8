/** A login that the database refuses, on a server that asks for passwords. */
import { beforeAll, describe, expect, test } from "vitest";
import { startPrimary, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { start } from "./run.ts";

describe.skipIf(!hasPostgres)("a refused login", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startPrimary();
    await server.query("create role keyed login password 'right'");
    await server.setAccess("host all keyed 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
  });

  test("C-SET-5 a wrong password is a line for each attempt, with growing pauses, and ends the start in time", async () => {
    const startedAtMs = performance.now();
    const { code, stdout, stderr } = await start([], {
      DATABASE_URL: server.url.replace("postgres@", "keyed:wrong@"),
      ANON_ROLE: "keyed",
      PORT: "0",
      DB_LOGIN_PATIENCE: "4",
    }).ended;
    expect([code, stdout]).toEqual([1, ""]);
    const lines = stderr.trim().split("\n");
    // after 0, 1, 3 and 4 seconds; a slow machine loses one
    expect([3, 4]).toContain(lines.length);
    for (const line of lines) {
      expect(line).toContain("password authentication failed");
      expect(line).toContain("check user, password and database of DATABASE_URL");
    }
    expect(performance.now() - startedAtMs).toBeGreaterThan(4000);
  }, 30_000);
});
