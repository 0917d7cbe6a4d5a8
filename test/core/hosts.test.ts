/** Connection strings of several hosts, on a primary with two standbys that are really promoted. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTarget } from "../../plugins/database/connector/open-target.ts";
import { parseHosts } from "../../plugins/database/connector/hosts.ts";
import { settingKinds } from "../../core/index.ts";
import { startPrimary, startStandby, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";

/** A long limit on opening a connection. No test depends on it. */
const PATIENCE_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), "relapi-hosts-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A file with this text, which other users may not read. */
const fileWith = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o600);
  return path;
};

const urls = (text: string, environment: Readonly<Record<string, string>> = {}): readonly string[] =>
  parseHosts(text, environment).urls.map(([first]) => first ?? "");

describe("connection strings", () => {
  test("R-HST-1 several hosts are tried in order, with their ports", () => {
    expect(urls("postgres://u:p@one:1,two,[::1]:3/d?application_name=a")).toEqual([
      "postgres://u:p@one:1/d?application_name=a",
      "postgres://u:p@two/d?application_name=a",
      "postgres://u:p@[::1]:3/d?application_name=a",
    ]);
    expect(urls("host=one,two port=1,2 dbname=d user=u")).toEqual(["postgres://u@one:1/d", "postgres://u@two:2/d"]);
    expect(urls("host=one,two port=7 dbname=d")).toEqual(["postgres://one:7/d", "postgres://two:7/d"]);
    expect(urls("postgres://u@/d?host=one,/run/pg&port=1,2")).toEqual([
      "postgres://u@one:1/d",
      "postgres://u@localhost/d?host=%2Frun%2Fpg&port=2",
    ]);
    expect(urls("host=one,two hostaddr=10.0.0.1,10.0.0.2")).toEqual(["postgres://10.0.0.1/", "postgres://10.0.0.2/"]);
    expect(() => urls("host=one,two port=1,2,3")).toThrow("2 hosts and 3 ports");
  });

  test("R-HST-1 a single host is unchanged", () => {
    for (const url of [
      "postgres://u:p@h/d",
      "postgres:///d?host=/tmp",
      "postgres://%2Ftmp/d",
      "postgres://u@[::1]:5/d",
    ])
      expect(urls(url)).toEqual([url]);
  });

  test("R-HST-1 commas separate connection strings, and the hosts of one", () => {
    const { parse } = settingKinds.databaseUrls;
    expect(parse("postgres://a,b:2/d?x=y,postgresql://c/d, host=d,e port=1,2")).toEqual([
      "postgres://a,b:2/d?x=y",
      "postgresql://c/d",
      "host=d,e port=1,2",
    ]);
    expect(parse("nonsense")).toBeUndefined();
    expect(parse("postgres://a/d,")).toBeUndefined();
  });

  test("R-HST-2 target_session_attrs and load_balance_hosts are read", () => {
    expect(parseHosts("postgres://a,b/d?target_session_attrs=read-write&load_balance_hosts=random", {})).toMatchObject({
      sessionKind: "read-write",
      isShuffled: true,
      connectMs: 2000,
    });
    expect(parseHosts("postgres://a/d", {})).toMatchObject({
      sessionKind: "any",
      isShuffled: false,
      connectMs: undefined,
    });
    expect(parseHosts("postgres://a/d?connect_timeout=5", {})).toMatchObject({ connectMs: 5000 });
    expect(() => parseHosts("postgres://a/d?target_session_attrs=readwrite", {})).toThrow(
      "expected one of any, read-write",
    );
    expect(() => parseHosts("postgres://a/d?load_balance_hosts=yes", {})).toThrow("expected disable or random");
  });

  test("R-HST-3 libpq's variables supply the missing parts of the string", () => {
    expect(urls("postgres://", { PGHOST: "one,two", PGPORT: "1,2" })).toEqual([
      "postgres://one:1/",
      "postgres://two:2/",
    ]);
    expect(urls("postgres://own/d", { PGHOST: "one" })).toEqual(["postgres://own/d"]);
    expect(urls("port=7 dbname=d", { PGHOST: "one" })).toEqual(["postgres://one:7/d"]);
    expect(urls("host=own", { PGHOSTADDR: "10.0.0.1" })).toEqual(["postgres://own/"]);
    expect(
      parseHosts("postgres://a,b/d", {
        PGTARGETSESSIONATTRS: "standby",
        PGLOADBALANCEHOSTS: "random",
        PGCONNECT_TIMEOUT: "4",
        PGSSLMODE: "verify-full",
        PGSSLROOTCERT: "/ca.pem",
      }),
    ).toMatchObject({
      sessionKind: "standby",
      isShuffled: true,
      connectMs: 4000,
      urls: ["a", "b"].map((host) => [
        `postgres://${host}/d?sslmode=verify-full&sslrootcert=%2Fca.pem&uselibpqcompat=true`,
      ]),
    });
  });

  test("R-HST-3 a service supplies parameters; the string overrides it, and it overrides the environment", () => {
    const PGSERVICEFILE = fileWith(
      "services",
      "[other]\nhost=x\n# it\n[shop]\nhost=one,two\nport=5\nuser=api\npassword=it's\ndbname=shop\nsslmode=disable\napplication_name=a\n",
    );
    expect(urls("service=shop", { PGSERVICEFILE, PGHOST: "three" })).toEqual(
      ["one", "two"].map((host) => expect.stringMatching(`^postgres://api:it's@${host}:5/shop\\?`)),
    );
    expect(urls("postgres://own/?service=shop", { PGSERVICEFILE })[0]).toMatch(/^postgres:\/\/api:it's@own:5\/shop\?/);
    expect(urls("postgres://", { PGSERVICEFILE, PGSERVICE: "other" })).toEqual(["postgres://x/"]);
    expect(() => urls("service=none", { PGSERVICEFILE })).toThrow('the service "none"');
  });

  test("R-HST-4 a password file has a password for each host; a file that others may read is ignored", () => {
    const PGPASSFILE = fileWith("passwords", "# all\none:1:d:u:first\n*:5432:*:u:a\\:b\\\\c\n");
    expect(urls("postgres://u@one:1,two,three:3/d", { PGPASSFILE })).toEqual([
      "postgres://u:first@one:1/d",
      "postgres://u:a%3Ab%5Cc@two/d",
      "postgres://u@three:3/d",
    ]);
    expect(urls("postgres://u:own@two/d", { PGPASSFILE })).toEqual(["postgres://u:own@two/d"]);
    expect(urls("postgres://u@two/d", { PGPASSFILE, PGPASSWORD: "x" })).toEqual(["postgres://u@two/d"]);
    expect(urls(`postgres://two/d?passfile=${encodeURIComponent(PGPASSFILE)}`, { PGUSER: "u" })[0]).toContain(":a%3Ab");
    chmodSync(PGPASSFILE, 0o644);
    expect(urls("postgres://u@two/d", { PGPASSFILE })).toEqual(["postgres://u@two/d"]);
  });
});

describe.skipIf(!hasPostgres)("a primary with two standbys", () => {
  let servers: readonly [Server, Server, Server];
  beforeAll(async () => {
    const primary = await startPrimary();
    servers = [primary, await startStandby(primary, "s1"), await startStandby(primary, "s2")];
  });

  /** The port of the server that the connection string reaches. */
  const reach = async (query: string, order: readonly number[] = [0, 1, 2]): Promise<number> => {
    const places = order.map((i) => (servers[i] as Server).place).join(",");
    const url = `postgres://postgres@${places}/postgres${query}`;
    const connection = await openTarget({ url, pooler: "session" }, PATIENCE_MS);
    const [row] = await connection.query<{ port: number }>("select current_setting('port')::int as port", []);
    await connection.end();
    return row?.port ?? 0;
  };

  test("R-HST-2 target_session_attrs chooses a server by its state", async () => {
    const [primary, firstStandby, secondStandby] = servers.map(({ port }) => port);
    expect(await reach("", [1, 0])).toBe(firstStandby);
    for (const state of ["read-write", "primary"])
      expect(await reach(`?target_session_attrs=${state}`, [1, 2, 0])).toBe(primary);
    for (const state of ["read-only", "standby", "prefer-standby"])
      expect(await reach(`?target_session_attrs=${state}`, [0, 2, 1])).toBe(secondStandby);
    expect(await reach("?target_session_attrs=prefer-standby", [0])).toBe(primary);
    await expect(reach("?target_session_attrs=standby", [0])).rejects.toMatchObject({
      code: "connection-failed",
      status: 503,
      details: expect.stringContaining("target_session_attrs=standby"),
    });
    expect(await reach("?target_session_attrs=read-only&options=-c%20default_transaction_read_only%3Don", [0])).toBe(
      primary,
    );
  });

  test("R-HST-2 load_balance_hosts=random connects to every host", async () => {
    const reachedPorts = new Set<number>();
    for (let i = 0; i < 40 && reachedPorts.size < 3; i++) reachedPorts.add(await reach("?load_balance_hosts=random"));
    expect(reachedPorts.size).toBe(3);
  });

  test("R-HST-4 the password of the file is accepted, and a changed one too", async () => {
    const [primary] = servers;
    await primary.query("create role keyed login password 'first'");
    await primary.setAccess(
      "host all keyed 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\nhost replication all 127.0.0.1/32 trust\n",
    );
    const file = fileWith("rotating", `127.0.0.1:${primary.port}:postgres:keyed:first\n`);
    const target = {
      url: `postgres://keyed@${primary.place}/postgres?passfile=${encodeURIComponent(file)}`,
      pooler: "session",
    } as const;
    await (await openTarget(target, PATIENCE_MS)).end();
    await primary.query("alter role keyed password 'second'");
    await expect(openTarget(target, PATIENCE_MS)).rejects.toMatchObject({
      details: expect.stringContaining("password"),
    });
    fileWith("rotating", `127.0.0.1:${primary.port}:postgres:keyed:second\n`);
    await (await openTarget(target, PATIENCE_MS)).end();
  });
});
