/** The disk of the embedded database is full. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import { canMount } from "./faults/files.ts";
import { startStandalone } from "./standalone.ts";

const MEGABYTE = 1024 * 1024;

describe.skipIf(!canMount)("a full disk", () => {
  test("R-ADM-7 of the embedded database: writes are refused with 503, reads go on, and writes too once there is room", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relapi-disk-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=60m", "tmpfs", folder]);
    atFileEnd(async () => {
      execFileSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true });
    });
    const secret = "administrator of the disk";
    const server = await startStandalone({ DATA_DIR: join(folder, "data"), ADMIN_SECRET: secret, LOG_LEVEL: "silent" });
    const get = async (): Promise<number> => (await fetch(`${server.url}/api/genre?limit=1`)).status;
    const post = async (first: number, count: number): Promise<Response> =>
      fetch(`${server.url}/api/genre`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-session-admin-secret": secret },
        body: JSON.stringify(
          Array.from({ length: count }, (_, i) => ({
            genre_id: first + i,
            name: `${first + i} ${"x".repeat(200)}`,
            path: `music.n${first + i}`,
          })),
        ),
      });
    const filler = join(folder, "filler");
    expect(() => writeFileSync(filler, Buffer.alloc(64 * MEGABYTE))).toThrow("ENOSPC");
    const refused = await post(1000, 3000);
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ code: "53100", hint: "Check free disk space." }),
    ]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect([await get(), (await server.ready())[0]]).toEqual([200, 200]);
    rmSync(filler);
    expect([(await post(5000, 10)).status, await get()]).toEqual([201, 200]);
    expect(await server.stop()).toBe(0);
  }, 90_000);
});
