/** PgBouncer in front of a server. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderFor, freePort, startProgram, type Program } from "./support.ts";

export interface Pooler extends Program {
  readonly port: number;
  /** The same connection string, through the pooler. */
  through(url: string): string;
}

/** `users`: who may log in, without a password. `settings`: beside what a distribution ships. */
export const startPgBouncer = async (
  server: string,
  {
    mode = "transaction",
    users = ["postgres"],
    settings = [],
  }: {
    readonly mode?: "session" | "transaction";
    readonly users?: readonly string[];
    readonly settings?: readonly string[];
  } = {},
): Promise<Pooler> => {
  const port = await freePort();
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
      const changed = new URL(url);
      changed.host = `127.0.0.1:${port}`;
      return changed.href;
    },
  };
};
