/** PgBouncer in front of a server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import { folderFor, freePort, has, getProgramPath, startProgram, type Program } from "./support.ts";

/** The kinds of transaction poolers that the installed version supports. */
export const poolerKinds = (): readonly (readonly [name: string, settings: readonly string[]])[] => {
  const version = has("pgbouncer") ? execFileSync(getProgramPath("pgbouncer"), ["--version"]).toString() : "";
  const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(version) ?? [];
  const keepsPrepared = Number(major) > 1 || Number(minor) >= 21;
  return [
    ["as it comes", []],
    ["that cleans after each transaction", ["server_reset_query_always = 1"]],
    ["with one backend", ["default_pool_size = 1"]],
    ...(keepsPrepared ? ([["that keeps prepared statements", ["max_prepared_statements = 100"]]] as const) : []),
  ];
};

export interface Pooler extends Program {
  readonly port: number;
  /** The connection string through the pooler. */
  through(url: string): string;
}

/** Starts a pooler. `users` may log in without a password; `settings` are added to those of a distribution. */
export const startPgBouncer = async (
  server: string,
  {
    mode = "transaction",
    users = ["postgres"],
    settings = [],
    port: requestedPort,
  }: {
    readonly mode?: "session" | "transaction";
    readonly users?: readonly string[];
    readonly settings?: readonly string[];
    /** The port, by default a free one. */
    readonly port?: number;
  } = {},
): Promise<Pooler> => {
  const port = requestedPort ?? (await freePort());
  const folder = folderFor("pgbouncer");
  const { hostname, port: serverPort } = new URL(server);
  const file = join(folder, "pgbouncer.ini");
  const userFile = join(folder, "users.txt");
  writeFileSync(userFile, users.map((user) => `"${user}" ""\n`).join(""));
  writeFileSync(
    file,
    [
      "[databases]",
      `* = host=${hostname} port=${serverPort === "" ? 5432 : serverPort}`,
      "[pgbouncer]",
      "listen_addr = 127.0.0.1",
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = trust",
      `auth_file = ${userFile}`,
      `pool_mode = ${mode}`,
      `default_pool_size = ${mode === "session" ? 40 : 4}`,
      "max_client_conn = 500",
      ...settings,
      "",
    ].join("\n"),
  );
  const program = await startProgram("pgbouncer", [file], { port });
  return {
    ...program,
    port,
    through: (url) => {
      const poolerUrl = new URL(url);
      poolerUrl.host = `127.0.0.1:${port}`;
      return poolerUrl.href;
    },
  };
};
