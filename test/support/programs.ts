/** Programs of this machine that tests start for real. */
import { existsSync, readdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";

export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as AddressInfo; // listening on TCP
      probe.close(() => resolve(port));
    });
  });

const ROOT = "/usr/lib/postgresql";
const versions = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a)) : [];

/** The folder of the newest server's programs; undefined: none is installed. */
export const postgresPrograms: string | undefined = versions
  .map((version) => join(ROOT, version, "bin"))
  .find((folder) => existsSync(join(folder, "initdb")));

export const hasPostgres = postgresPrograms !== undefined;
