/** Certificates between the API and the database are replaced while both run. */
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startPrimary, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { until } from "../support/until.ts";
import { createShop, keepAsking, untilAllAsked } from "./failures.ts";
import { startStandalone, type Standalone } from "./standalone.ts";
import { folderFor, has } from "./support.ts";

/** Certificates made by `openssl`, in one folder that the database may read. */
const authorityIn = (folder: string) => {
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): void => void execFileSync("openssl", args, { stdio: "ignore" });
  const { uid, gid } = statSync(folder);
  return {
    at,
    makeAuthority: (name: string): void =>
      openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        `/CN=${name}`,
        "-keyout",
        at(`${name}.key`),
        "-out",
        at(`${name}.pem`),
      ),
    /** Makes a server's certificate if `place` is given, otherwise a client's. */
    makeCertificate: (name: string, authority: string, subject: string, place?: string): void => {
      const request = at(`${name}.csr`);
      openssl(
        "req",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-subj",
        `/CN=${subject}`,
        "-keyout",
        at(`${name}.key`),
        "-out",
        request,
      );
      writeFileSync(at("extensions"), place === undefined ? "" : `subjectAltName=IP:${place}\n`);
      openssl(
        "x509",
        "-req",
        "-in",
        request,
        "-CA",
        at(`${authority}.pem`),
        "-CAkey",
        at(`${authority}.key`),
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        at("extensions"),
        "-out",
        at(`${name}.pem`),
      );
      chmodSync(at(`${name}.key`), 0o600);
      chownSync(at(`${name}.key`), uid, gid);
    },
    /** Replaces a file atomically, as for a mounted secret. */
    put: (name: string, ...texts: readonly string[]): void => {
      writeFileSync(at(`${name}.new`), texts.map((source) => readFileSync(at(source), "utf8")).join(""), {
        mode: 0o600,
      });
      chownSync(at(`${name}.new`), uid, gid);
      renameSync(at(`${name}.new`), at(name));
    },
  };
};

describe.skipIf(!hasPostgres || !has("openssl"))("certificates that rotate", () => {
  let files: ReturnType<typeof authorityIn>;
  let database: Server;

  beforeAll(async () => {
    files = authorityIn(folderFor("tls"));
    for (const name of ["old", "new"]) {
      files.makeAuthority(name);
      files.makeCertificate(`server-${name}`, name, "127.0.0.1", "127.0.0.1");
      files.makeCertificate(`client-${name}`, name, "keyed");
    }
    files.put("server.pem", "server-old.pem");
    files.put("server.key", "server-old.key");
    files.put("clients.pem", "old.pem");
    database = await startPrimary([
      "ssl = on",
      `ssl_cert_file = '${files.at("server.pem")}'`,
      `ssl_key_file = '${files.at("server.key")}'`,
      `ssl_ca_file = '${files.at("clients.pem")}'`,
    ]);
    await createShop(database);
    await database.query("create role api login superuser; create role keyed login superuser");
    await database.setAccess(
      "hostssl all api 127.0.0.1/32 trust\nhostssl all keyed 127.0.0.1/32 cert\nhost all postgres 127.0.0.1/32 trust\n",
    );
  });

  const start = (user: string, query: string, { waits = true, patience = "0" } = {}): Promise<Standalone> =>
    startStandalone(
      {
        DATABASE_URL: `${database.url.replace("postgres@", `${user}@`)}?${query}`,
        DB_SCHEMAS: "public",
        ANON_ROLE: "shop_anon",
        DB_LOGIN_PATIENCE: patience,
        DB_SCHEMA_POLL_INTERVAL: "0", // a schema poll beside a request would open a connection
      },
      { waits },
    );
  const fetchStatus = async ({ url }: Standalone): Promise<number> => (await fetch(`${url}/api/crate?limit=1`)).status;
  const isAnswered = (server: Standalone) => async (): Promise<boolean> => (await fetchStatus(server)) === 200;
  /** Makes later requests connect again with the current files. */
  const reconnect = async (user: string): Promise<void> => {
    await database.reload();
    await database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${user}' and pid <> pg_backend_pid()`,
    );
  };
  const countEncrypted = async (user: string): Promise<number> => {
    const [row] = await database.query<{ n: number }>(
      `select count(*)::int as n from pg_stat_ssl join pg_stat_activity using (pid) where usename = '${user}' and ssl`,
    );
    return row?.n ?? 0;
  };

  test("C-SET-8 a new certificate authority is accepted without a restart, and a removed one is rejected", async () => {
    files.put("root.pem", "old.pem");
    const server = await start("api", `sslmode=verify-full&sslrootcert=${encodeURIComponent(files.at("root.pem"))}`);
    expect([await fetchStatus(server), (await countEncrypted("api")) > 0]).toEqual([200, true]);
    files.put("root.pem", "new.pem");
    expect(await fetchStatus(server)).toBe(200); // existing connections stay open

    // The correct procedure: both authorities are known while the server's certificate changes, so no request fails.
    files.put("root.pem", "old.pem", "new.pem");
    files.put("server.pem", "server-new.pem");
    files.put("server.key", "server-new.key");
    const load = keepAsking(async () => ({ status: await fetchStatus(server) }));
    await untilAllAsked([load]);
    await reconnect("api");
    await until(async () => (await countEncrypted("api")) > 0, "a connection with the new certificate");
    await untilAllAsked([load]);
    expect(await load.stop()).toMatchObject({ failedCount: 0 });

    // The authority of the server's certificate is removed.
    files.put("root.pem", "old.pem");
    await reconnect("api");
    await until(async () => (await fetchStatus(server)) === 503, "requests are rejected");
    for (let i = 0; i < 5; i++) expect(await fetchStatus(server)).toBe(503);
    expect(server.output()).toMatch(/self-signed certificate|unable to (get local issuer|verify)/);
    expect((await server.ready())[0]).toBe(503);

    // The authority is restored.
    files.put("root.pem", "new.pem");
    await until(isAnswered(server), "requests are answered");
    await until(async () => (await server.ready())[0] === 200, "the server is ready");
    expect(await server.stop()).toBe(0);
  });

  test("C-SET-5 a server certificate of another authority is logged for each attempt and ends the start in time", async () => {
    files.put("server.pem", "server-new.pem");
    files.put("server.key", "server-new.key");
    files.put("root.pem", "old.pem");
    await reconnect("api");
    const query = `sslmode=verify-full&sslrootcert=${encodeURIComponent(files.at("root.pem"))}`;
    const readLines = ({ output }: Standalone): readonly string[] =>
      output()
        .split("\n")
        .filter((line) => line !== "");
    const patient = await start("api", query, { waits: false, patience: "3600" });
    await until(() => readLines(patient).length > 2, "three attempts have failed");
    await patient.stop("SIGKILL");
    const impatient = await start("api", query, { waits: false, patience: "1" });
    expect(await impatient.exitCode).toBe(1);
    expect(readLines(impatient).length).toBeGreaterThan(0);
    for (const line of [...readLines(patient), ...readLines(impatient)])
      expect(line).toMatch(/self-signed certificate|unable to (get local issuer|verify)/);
  });

  test("C-SET-8 a changed client certificate and key are used by the next connection", async () => {
    files.put("root.pem", "old.pem", "new.pem");
    files.put("client.pem", "client-old.pem");
    files.put("client.key", "client-old.key");
    const query = [
      "sslmode=verify-full",
      `sslrootcert=${encodeURIComponent(files.at("root.pem"))}`,
      `sslcert=${encodeURIComponent(files.at("client.pem"))}`,
      `sslkey=${encodeURIComponent(files.at("client.key"))}`,
    ].join("&");
    const server = await start("keyed", query);
    expect(await fetchStatus(server)).toBe(200);
    // The database accepts only clients of the new authority.
    files.put("clients.pem", "new.pem");
    await reconnect("keyed");
    await until(async () => (await fetchStatus(server)) === 503, "requests are rejected");
    files.put("client.key", "client-new.key");
    files.put("client.pem", "client-new.pem");
    await until(isAnswered(server), "requests are answered");
    expect(await server.stop()).toBe(0);
  });
});
