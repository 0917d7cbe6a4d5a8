/** The command line on a server: requests, output, and how the process ends (docs/reference/command-line.md). */
import { createServer, type AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { temporaryFile } from "../support/temporary-files.ts";
import { startBusyServer } from "./busy-server.ts";
import { relapi, start, startUntil, type Environment } from "./run.ts";

describe.skipIf(!capabilities.realServer)("with a PostgreSQL server", () => {
  const url = async (): Promise<string> => (await testDatabase()).options.databaseUrl ?? "";

  /** A port with another listener until the test ends. */
  const takenPort = async (): Promise<number> => {
    const listener = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => listener.once("listening", resolve));
    onTestFinished(() => void listener.close());
    return (listener.address() as AddressInfo).port;
  };
  const portMessage = (port: number): string =>
    `relapi: port ${port} is in use: end the program that listens there, or choose another port with --port or PORT\n`;

  test("C-CLI-1 C-CLI-3 settings.conf is read, and the environment and --port take precedence", async () => {
    const text = `db-uri = "${await url()}"\ndb-schema = "sea, land"\ndb-anon-role = "sea_anon"\nserver-port = 1\n`;
    const words = ["serve", "--config", temporaryFile("settings.conf", text), "--port", "0"];
    const { code, stdout } = await startUntil(/Try:/, words, { HOST: "127.0.0.1", PGRST_DB_SCHEMAS: "sea" });
    expect(code).toBe(0);
    expect(stdout).toContain("on your database");
    expect(stdout).toMatch(/REST {7}http:\/\/127\.0\.0\.1:[1-9]\d{3,}\/api/);
  });

  // Without the file, the server would log the start of the embedded database; without --port, its address.
  test.each([
    [
      "settings.json",
      (db: string) =>
        JSON.stringify({
          databaseUrl: db,
          dbSchemas: ["sea", "land"],
          anonRole: "sea_anon",
          port: 1,
          logQuery: false,
        }),
    ],
    [
      "settings.yaml",
      (db: string) => `DATABASE_URL: ${db}\nPGRST_DB_SCHEMAS: [sea, land]\nanonRole: sea_anon\nPORT: 1\n`,
    ],
  ])("C-CLI-1 C-CLI-3 %s is read, and the environment and --port take precedence", async (name, write) => {
    const [file, port] = [temporaryFile(name, write(await url())), await takenPort()];
    const environment = { HOST: "127.0.0.1", PGRST_DB_SCHEMAS: "sea" };
    const serverResult = await relapi(["serve", "--config", file, "--port", String(port)], environment);
    expect([serverResult.code, serverResult.stdout, serverResult.stderr]).toEqual([1, "", portMessage(port)]);
    const documentResult = await relapi(["openapi", "--config", file], environment);
    expect(JSON.parse(documentResult.stdout).paths).toHaveProperty("/ports");
  });

  const good = async (): Promise<Environment> => ({
    DATABASE_URL: await url(),
    DB_SCHEMAS: "sea",
    ANON_ROLE: "sea_anon",
    PORT: "0",
    HOST: "127.0.0.1",
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "C-CLI-6 R-ADM-4 the server finishes a request after %s and exits with code 0",
    async (signal) => {
      const { running, answer, untilClosed, release } = await startBusyServer(await good());
      const exit = running.stop(signal);
      await untilClosed();
      await release();
      expect((await answer).status).toBeLessThan(300);
      expect((await exit).code).toBe(0);
    },
  );

  test("C-CLI-6 R-ADM-4 a second signal ends the process at once, and a line reports the aborted requests", async () => {
    const { running, answer, untilClosed, release } = await startBusyServer(await good());
    void running.stop();
    await untilClosed();
    const { code, stderr } = await running.stop();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      / warn a second signal ends the server at once: requests in progress get no response \{"count":1\}\n/,
    );
    await expect(answer).rejects.toThrow();
    await release();
  });

  test("C-CLI-4 a reader that closes the pipe causes no error", async () => {
    const environment = await good();
    for (const words of [["types"], ["openapi"], ["schema"]]) {
      const running = start(words, environment);
      running.hangUp();
      const { code, stderr } = await running.end();
      expect([code, stderr]).toEqual([0, ""]);
    }
  });

  test("C-EXP-1 explain reads stdin", async () => {
    const running = start(["explain", "-", "--json"], await good());
    running.write("/ports?select=id");
    const { code, stdout } = await running.end();
    expect([code, JSON.parse(stdout).statements.length]).toEqual([0, 1]);
  });

  test("C-CLI-4 stdout has only the requested output", async () => {
    const environment = { ...(await good()), ANON_ROLE: "nobody_here", JWT_SECERT: "x" };
    expect(JSON.parse((await relapi(["openapi"], environment)).stdout).swagger).toBe("2.0");
    expect(JSON.parse((await relapi(["doctor", "--json"], environment)).stdout)).toEqual(expect.any(Array));
  });

  test("C-CLI-5 a port in use ends the start with advice", async () => {
    const environment = await good();
    const port = await takenPort();
    const second = await relapi(["-p", String(port)], environment);
    expect([second.code, second.stderr]).toEqual([1, portMessage(port)]);
  });

  test("C-CLI-4 live-triggers prints SQL", async () => {
    const { code, stdout } = await relapi(["live-triggers"], { DATABASE_URL: await url(), DB_SCHEMAS: "sea" });
    expect(code).toBe(0);
    expect(stdout).toContain("create or replace trigger");
  });

  test("C-CLI-4 live-triggers reports an error of its query, after the schema was loaded", async () => {
    const database = await testDatabase();
    await database.query("revoke select on pg_catalog.pg_policy from public");
    onTestFinished(async () => {
      await database.query("grant select on pg_catalog.pg_policy to public");
    });
    const environment = { DATABASE_URL: database.urlAs("sea_login"), DB_SCHEMAS: "sea" };
    const stderr = "relapi: permission denied for table pg_policy\n";
    expect(await relapi(["live-triggers"], environment)).toEqual({ code: 1, stdout: "", stderr });
  });
});
