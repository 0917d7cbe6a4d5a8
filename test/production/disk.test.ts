/** The disk of the database is full. */
import { execFileSync } from "node:child_process";
import { chownSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startPrimary } from "../support/postgres-server.ts";
import { hasPostgres, serverFolder, serverUser } from "../support/postgres-programs.ts";
import { atFileEnd } from "../support/file-end.ts";
import { until } from "../support/until.ts";
import { canMount } from "./faults/files.ts";
import { startStandalone } from "./standalone.ts";

const MEGABYTE = 1024 * 1024;

/** A separate file system that is soon full. */
const smallDisk = (size: string): string => {
  const folder = serverFolder("disk");
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  if (serverUser !== undefined) chownSync(folder, serverUser.uid, serverUser.gid);
  atFileEnd(async () => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true });
  });
  return folder;
};

describe.skipIf(!canMount)("a full disk", () => {
  test("R-ADM-7 the embedded database on a full disk rejects writes with 503, serves reads, and accepts writes again with room", async () => {
    const folder = smallDisk("60m");
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
    const rejection = await post(1000, 3000);
    expect([rejection.status, await rejection.json()]).toEqual([
      503,
      expect.objectContaining({ code: "53100", hint: "Check free disk space." }),
    ]);
    expect(rejection.headers.get("retry-after")).toBe("1");
    expect([await get(), (await server.ready())[0]]).toEqual([200, 200]);
    rmSync(filler);
    expect([(await post(5000, 10)).status, await get()]).toEqual([201, 200]);
    expect(await server.stop()).toBe(0);
  });

  test.skipIf(!hasPostgres)(
    "R-ADM-7 X-MET-2 PostgreSQL on a full disk rejects writes and serves reads, and /ready and the metrics report it",
    async () => {
      const folder = smallDisk("8m");
      const database = await startPrimary();
      await database.query(`create tablespace small location '${folder}'`);
      await database.query(
        `create role disk_anon nologin;
         create table stone (id bigint generated always as identity primary key, text text) tablespace small;
         insert into stone (text) values ('first');
         grant select, insert on stone to disk_anon`,
      );
      const server = await startStandalone({ DATABASE_URL: database.url, ANON_ROLE: "disk_anon", LOG_LEVEL: "warn" });
      const json = { "content-type": "application/json" };
      const post = (path: string, body: unknown): Promise<Response> =>
        fetch(server.url + path, { method: "POST", headers: json, body: JSON.stringify(body) });
      const write = (bytes: number): Promise<Response> => post("/api/stone", { text: "x".repeat(bytes) });
      const filler = join(folder, "filler");
      expect(() => writeFileSync(filler, Buffer.alloc(9 * MEGABYTE))).toThrow("ENOSPC");
      const rows = Array.from({ length: 100 }, () => ({ text: "x".repeat(1000) }));
      const rejection = await post("/api/stone", rows);
      expect([rejection.status, rejection.headers.get("retry-after"), await rejection.json()]).toEqual([
        503,
        "1",
        expect.objectContaining({ code: "53100", hint: "Check free disk space." }),
      ]);
      const mutation = await post("/v1/graphql", {
        query: "mutation ($rows: [stone_insert_input!]!) { insert_stone(objects: $rows) { affected_rows } }",
        variables: { rows },
      });
      expect([mutation.status, await mutation.json()]).toEqual([
        200,
        {
          errors: [
            {
              message: "database query error",
              extensions: { path: "$.selectionSet.insert_stone.args.objects", code: "unexpected" },
            },
          ],
        },
      ]);
      for (let i = 0; i < 5; i++) {
        expect((await fetch(`${server.url}/api/stone?id=eq.1`)).status).toBe(200);
        expect(await (await post("/v1/graphql", { query: "{ stone_by_pk(id: 1) { text } }" })).json()).toEqual({
          data: { stone_by_pk: { text: "first" } },
        });
        expect((await post("/api/stone", rows)).status).toBe(503);
      }
      expect(await server.ready()).toEqual([200, "database: its disk is full, writes are rejected\n"]);
      expect(server.output().match(/the disk of the database is full/g)).toHaveLength(1);
      const errorCount = (surface: string, code: string): Promise<number | undefined> =>
        server.metric(
          `relapi_request_errors_total{surface="${surface}",operation="${surface === "rest" ? "insert" : "mutation"}",code="${code}"}`,
        );
      expect([await errorCount("rest", "53100"), await errorCount("graphql", "unexpected")]).toEqual([6, 1]);
      rmSync(filler);
      expect((await write(10)).status).toBe(201);
      await until(async () => (await server.ready())[1] === "", "/ready tells of nothing");
      expect(await server.stop()).toBe(0);
    },
  );
});
