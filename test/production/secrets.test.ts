/** Secrets in files that are replaced while the server runs. */
import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { readEnvironment } from "../../presets/server/environment.ts";
import { serve, type StandaloneServer } from "../../presets/server/serve.ts";
import { atFileEnd } from "../support/file-end.ts";
import { startPrimary } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { signToken } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { keepAsking, untilAllAsked } from "./failures.ts";
import { freePort } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "relapi-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));
/** Replaces a file as Kubernetes does: it writes the new file, then changes the link. */
let count = 0;
const put = (name: string, text: string): string => {
  const file = join(folder, `${name}.${++count}`);
  writeFileSync(file, `${text}\n`);
  const link = join(folder, `${name}.link`);
  symlinkSync(file, link);
  renameSync(link, join(folder, name));
  return `@${join(folder, name)}`;
};

const secretA = "secret-a-of-thirty-two-bytes-or-more";
const secretB = "secret-b-of-thirty-two-bytes-or-more";

describe.skipIf(!hasPostgres)("C-SET-8 secrets in files", async () => {
  const postgres = hasPostgres ? await startPrimary([], "first") : undefined;
  let server: StandaloneServer;
  let admin = "";
  const postgresUrl = (password: string): string => (postgres?.url ?? "").replace("postgres@", `postgres:${password}@`);
  if (postgres !== undefined) {
    const superuser = new pg.Client({ connectionString: postgresUrl("first") });
    await superuser.connect();
    await superuser.query(
      "create role api login superuser password 'first'; create role web_anon; create table stone (id int); insert into stone values (1); grant select on stone to web_anon",
    );
    const adminPort = await freePort();
    admin = `http://127.0.0.1:${adminPort}`;
    server = await serve(
      readEnvironment({
        DATABASE_URL: put("database", postgres.url.replace("postgres@", "api:first@")),
        JWT_SECRET: put("jwt", secretA),
        ADMIN_SECRET: put("admin", "administrator-a"),
        ANON_ROLE: "web_anon",
        HOST: "127.0.0.1",
        PORT: "0",
        ADMIN_PORT: String(adminPort),
        LOG_LEVEL: "silent",
      }),
    );
    await server.api.ready;
    atFileEnd(async () => {
      await server.stop();
      await superuser.end();
      await postgres.stop();
    });

    test("C-SET-8 new connections to the database use the changed password, and no request fails", async () => {
      const statuses = new Set<number>();
      const load = keepAsking(async () => {
        const { status } = await fetch(`${server.address}/api/stone`);
        statuses.add(status);
        return { status };
      });
      await untilAllAsked([load]);
      const sessions = async (): Promise<readonly number[]> => {
        const { rows } = await superuser.query<{ pid: number }>(
          "select pid from pg_stat_activity where usename = 'api'",
        );
        return rows.map(({ pid }) => pid);
      };
      const before = await sessions();
      await superuser.query("alter role api password 'second'");
      put("database", postgres.url.replace("postgres@", "api:second@"));
      // Old connections end as soon as they are idle, so later requests log in again.
      await until(async () => {
        await superuser.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where pid = any ($1) and state = 'idle'",
          [before],
        );
        return !(await sessions()).some((pid) => before.includes(pid));
      }, "all earlier sessions have ended");
      await untilAllAsked([load]);
      await load.stop();
      expect([...statuses]).toEqual([200]);
      expect((await sessions()).length).toBeGreaterThan(0);
      expect(await (await fetch(`${admin}/ready`)).text()).toBe("");
    });
  }

  const fetchStatus = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${server.address}/api/stone`, { headers })).status;
  const byToken = (secret: string) =>
    fetchStatus({ authorization: `Bearer ${signToken({ role: "web_anon" }, { secret })}` });
  const byAdmin = (secret: string) => fetchStatus({ "x-session-admin-secret": secret });

  test("C-SET-8 changed keys of tokens and admin secrets take effect, and the old ones are rejected", async () => {
    expect([await byToken(secretA), await byToken(secretB)]).toEqual([200, 401]);
    expect([await byAdmin("administrator-a"), await byAdmin("administrator-b")]).toEqual([200, 401]);
    put("jwt", secretB);
    put("admin", "administrator-b");
    await until(
      async () => (await byToken(secretB)) === 200 && (await byAdmin("administrator-b")) === 200,
      "the new secrets are accepted",
    );
    expect([await byToken(secretA), await byAdmin("administrator-a")]).toEqual([401, 401]);
  });

  test("C-SET-8 a missing, empty or invalid file keeps the old secret, and /ready reports it", async () => {
    const ready = async (): Promise<string> => (await fetch(`${admin}/ready`)).text();
    put("jwt", "");
    await until(async () => (await ready()) !== "", "/ready reports the file");
    expect(await ready()).toMatch(
      /^secret files: JWT_SECRET: JWT_SECRET names the file ".*jwt", which is empty; keeping the previous one\n$/,
    );
    expect(await byToken(secretB)).toBe(200);
    unlinkSync(join(folder, "admin"));
    await until(async () => (await ready()).includes("ADMIN_SECRET"), "/ready reports the admin secret");
    expect(await byAdmin("administrator-b")).toBe(200);
    put("jwt", secretA);
    put("admin", "administrator-c");
    put("database", "nonsense");
    // The other files are read at their own intervals.
    const expectedProblem = /^secret files: DATABASE_URL: .*which does not contain a connection string.*\n$/;
    await until(async () => expectedProblem.test(await ready()), "/ready reports only the connection string");
    await until(
      async () => (await byToken(secretA)) === 200 && (await byAdmin("administrator-c")) === 200,
      "the other secrets are accepted",
    );
    expect(await ready()).not.toContain("nonsense");
    put("database", (postgres?.url ?? "").replace("postgres@", "api:second@"));
    await until(async () => (await ready()) === "", "/ready reports no problem");
  });

  test("C-SET-8 a secret that is too short is rejected, and the old one stays", async () => {
    put("jwt", "short");
    const ready = async (): Promise<string> => (await fetch(`${admin}/ready`)).text();
    await until(async () => (await ready()) !== "", "/ready reports the file");
    expect(await ready()).toBe(
      "token settings: jwtSecret (JWT_SECRET) is a secret of 5 bytes: 32 or more are required; keeping the previous settings\n",
    );
    expect(await byToken(secretA)).toBe(200);
    put("jwt", secretB);
    await until(async () => (await byToken(secretB)) === 200, "the new secret is accepted");
  });
});

test("C-SET-6 a file has the precedence of its variable, and the first of several names applies", () => {
  const { options, files } = readEnvironment({
    DATABASE_URL: "postgres://postgres@127.0.0.1/x",
    JWT_SECRET: secretA,
    PGRST_JWT_SECRET: put("unused", secretB),
    HASURA_GRAPHQL_ADMIN_SECRET: put("used", "administrator"),
  });
  expect([options.jwtSecret, options.adminSecret]).toEqual([secretA, "administrator"]);
  expect(files?.map(({ variable }) => variable)).toEqual(["HASURA_GRAPHQL_ADMIN_SECRET"]);
});
