/** Secrets in files that are replaced while the server runs. */
import { mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, test } from "vitest";
import { readEnvironment } from "../../presets/environment.ts";
import { serve, type Served } from "../../presets/serve.ts";
import { atFileEnd } from "../support/file-end.ts";
import { startPrimary } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { signToken } from "../support/tokens.ts";
import { eventually, freePort } from "./support.ts";

const folder = mkdtempSync(join(tmpdir(), "relapi-secrets-"));
afterAll(() => rmSync(folder, { recursive: true }));
/** As Kubernetes does it: the new file is there first, then the link leads to it. */
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
  let served: Served;
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
    served = await serve(
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
    await served.api.ready;
    atFileEnd(async () => {
      await served.stop();
      await superuser.end();
      await postgres.stop();
    });

    test("C-SET-8 the password of the database: new connections have the new one, and no request fails", async () => {
      let isOver = false;
      const statuses: Record<number, number> = {};
      const load = (async () => {
        while (!isOver) {
          const { status } = await fetch(`${served.address}/api/stone`);
          statuses[status] = (statuses[status] ?? 0) + 1;
        }
      })();
      await superuser.query("alter role api password 'second'");
      put("database", postgres.url.replace("postgres@", "api:second@"));
      await eventually(async () => {
        const { rows } = await superuser.query<{ n: number }>(
          "select count(*)::int as n from pg_stat_activity where usename = 'api' and backend_start > now() - interval '1 second'",
        );
        return (rows[0]?.n ?? 0) > 0;
      }, 5000);
      // those of before end: whatever comes now logs in anew
      await superuser.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'api' and state = 'idle' and pid <> pg_backend_pid()",
      );
      await new Promise((resolve) => setTimeout(resolve, 1000));
      isOver = true;
      await load;
      expect(Object.keys(statuses)).toEqual(["200"]);
      expect(await (await fetch(`${admin}/ready`)).text()).toBe("");
    });
  }

  const statusOf = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${served.address}/api/stone`, { headers })).status;
  const byToken = (secret: string) =>
    statusOf({ authorization: `Bearer ${signToken({ role: "web_anon" }, { secret })}` });
  const byAdmin = (secret: string) => statusOf({ "x-session-admin-secret": secret });

  test("C-SET-8 tokens and the admin secret follow within 5 s: the new one is accepted, the old one refused", async () => {
    expect([await byToken(secretA), await byToken(secretB)]).toEqual([200, 401]);
    expect([await byAdmin("administrator-a"), await byAdmin("administrator-b")]).toEqual([200, 401]);
    put("jwt", secretB);
    put("admin", "administrator-b");
    await eventually(async () => (await byToken(secretB)) === 200 && (await byAdmin("administrator-b")) === 200, 5000);
    expect([await byToken(secretA), await byAdmin("administrator-a")]).toEqual([401, 401]);
  });

  test("C-SET-8 a file that is gone, empty or no secret leaves the old one, and /ready says so", async () => {
    const ready = async (): Promise<string> => (await fetch(`${admin}/ready`)).text();
    put("jwt", "");
    await eventually(async () => (await ready()) !== "", 5000);
    expect(await ready()).toMatch(
      /^secret files: JWT_SECRET: JWT_SECRET names the file ".*jwt", which is empty; keeping the previous one\n$/,
    );
    expect(await byToken(secretB)).toBe(200);
    unlinkSync(join(folder, "admin"));
    await eventually(async () => (await ready()).includes("ADMIN_SECRET"), 5000);
    expect(await byAdmin("administrator-b")).toBe(200);
    put("jwt", secretA);
    put("admin", "administrator-c");
    put("database", "nonsense");
    // the others are read again at their own moment
    await eventually(async () => (await ready()).startsWith("secret files: DATABASE_URL"), 5000);
    expect(await ready()).toMatch(/^secret files: DATABASE_URL: .*which does not hold a connection string.*\n$/);
    await eventually(async () => (await byToken(secretA)) === 200 && (await byAdmin("administrator-c")) === 200, 5000);
    expect(await ready()).not.toContain("nonsense");
    put("database", (postgres?.url ?? "").replace("postgres@", "api:second@"));
    await eventually(async () => (await ready()) === "", 5000);
  });

  test("C-SET-8 a secret that is too short is refused as at the start, and the old one stays", async () => {
    put("jwt", "short");
    const ready = async (): Promise<string> => (await fetch(`${admin}/ready`)).text();
    await eventually(async () => (await ready()) !== "", 5000);
    expect(await ready()).toBe(
      "token settings: jwtSecret (JWT_SECRET) is a secret of 5 bytes: it takes 32 or more; keeping the previous settings\n",
    );
    expect(await byToken(secretA)).toBe(200);
    put("jwt", secretB);
    await eventually(async () => (await byToken(secretB)) === 200, 5000);
  });
});

test("C-SET-6 a file counts where its variable does: of several names the first that is set", () => {
  const { options, files } = readEnvironment({
    DATABASE_URL: "postgres://postgres@127.0.0.1/x",
    JWT_SECRET: secretA,
    PGRST_JWT_SECRET: put("unused", secretB),
    HASURA_GRAPHQL_ADMIN_SECRET: put("used", "administrator"),
  });
  expect([options.jwtSecret, options.adminSecret]).toEqual([secretA, "administrator"]);
  expect(files?.map(({ variable }) => variable)).toEqual(["HASURA_GRAPHQL_ADMIN_SECRET"]);
});
