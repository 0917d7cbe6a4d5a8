/** A login that the database rejects, on a server that requires passwords. */
import { beforeAll, describe, expect, test } from "vitest";
import { startPrimary, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { start, type RunningProgram } from "./run.ts";

describe.skipIf(!hasPostgres)("a rejected login", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startPrimary();
    await server.query("create role keyed login password 'right'");
    await server.setAccess("host all keyed 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
  });

  const startRejected = (patience: string): RunningProgram =>
    start([], {
      DATABASE_URL: server.url.replace("postgres@", "keyed:wrong@"),
      ANON_ROLE: "keyed",
      PORT: "0",
      DB_LOGIN_PATIENCE: patience,
    });

  test("C-SET-5 a wrong password is logged for each attempt, with increasing pauses", async () => {
    const running = startRejected("3600");
    await running.untilPrinted(/(?:password authentication failed.*\n[^]*){3}/);
    const lines = running.output().split("\n").slice(0, 3);
    for (const line of lines) {
      expect(line).toContain("password authentication failed");
      expect(line).toContain("check user, password and database of DATABASE_URL");
    }
    // Each line begins with its time; an attempt adds to the pause before it.
    const [first = 0, second = 0, third = 0] = lines.map((line) => Date.parse(line.split(" ")[0] ?? ""));
    expect(second - first).toBeGreaterThan(950);
    expect(third - second).toBeGreaterThan(1950);
    await running.stop();
  });

  test("C-SET-5 a wrong password ends the start once the time limit is over", async () => {
    const { code, stdout, stderr } = await startRejected("1").end();
    expect([code, stdout]).toEqual([1, ""]);
    for (const line of stderr.trim().split("\n")) expect(line).toContain("password authentication failed");
  });
});
