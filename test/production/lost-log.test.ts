/** A log whose destination fails does not end the server. */
import { openSync } from "node:fs";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { program } from "./standalone.ts";
import { until } from "../support/until.ts";
import { freePort } from "./support.ts";

/** Writes to `/dev/full` always fail with "no space left on device". */
describe.skipIf(!existsSync("/dev/full") || !capabilities.realServer)("C-CLI-8 an unwritable log", async () => {
  const database = await testDatabase();

  const start = async (stdio: readonly ("pipe" | number)[]) => {
    const [port, adminPort] = [await freePort(), await freePort()];
    const child = spawn(process.execPath, [program], {
      env: {
        PATH: process.env["PATH"],
        DATABASE_URL: database.options.databaseUrl,
        ANON_ROLE: "sea_anon",
        DB_SCHEMAS: "sea",
        HOST: "127.0.0.1",
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
      },
      stdio: ["ignore", ...stdio],
    });
    let code: number | null | undefined;
    child.on("exit", (exitCode) => {
      code = exitCode;
    });
    atFileEnd(async () => void child.kill("SIGKILL"));
    const get = async (): Promise<number> =>
      (await fetch(`http://127.0.0.1:${port}/api/ports?limit=1`).catch(() => ({ status: 0 }))).status;
    const ready = async (): Promise<string> => (await fetch(`http://127.0.0.1:${adminPort}/ready`)).text();
    await until(async () => (await get()) === 200, "the server answers");
    return { child, get, ready, code: () => code };
  };

  test("C-CLI-8 the server continues on a full disk, and /ready reports the log", async () => {
    const full = openSync("/dev/full", "w");
    const { child, get, ready, code } = await start([full, full]);
    for (let i = 0; i < 20; i++) expect(await get()).toBe(200);
    expect(await ready()).toContain("log on stdout: it cannot be written: ENOSPC\n");
    child.kill("SIGTERM");
    await until(() => code() !== undefined, "the server has ended");
    expect(code()).toBe(0);
  });

  test("C-CLI-8 the server continues after the reader of its log has ended", async () => {
    const { child, get, ready, code } = await start(["pipe", "pipe"]);
    child.stdout?.destroy();
    child.stderr?.destroy();
    for (let i = 0; i < 20; i++) expect(await get()).toBe(200);
    expect(await ready()).toContain("log on stdout: it cannot be written: EPIPE\n");
    child.kill("SIGTERM");
    await until(() => code() !== undefined, "the server has ended");
    expect(code()).toBe(0);
  });
});
