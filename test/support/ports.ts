/** Ports for programs that cannot choose and report one themselves. */
import { randomInt } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The first port, below the range that systems use for outgoing connections. */
const FIRST_PORT = 15_000;
const LAST_PORT = 30_000;

const canListen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
};

/** The files of the ports that this process has reserved. They are removed when it ends. */
const reservedFiles: string[] = [];

/** A file per port keeps the processes of all test runs on this machine from taking the same one. */
const reserve = (port: number): boolean => {
  const path = join(tmpdir(), `relapi-port-${port}`);
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" });
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
    const owner = Number(readFileSync(path, "utf8"));
    if (owner > 0 && !isAlive(owner)) rmSync(path, { force: true }); // the next attempt can take the port
    return false;
  }
  if (reservedFiles.length === 0)
    process.once("exit", () => reservedFiles.forEach((file) => rmSync(file, { force: true })));
  reservedFiles.push(path);
  return true;
};

/** A port that nothing listens on, reserved until this process ends. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (reserve(port) && (await canListen(port))) return port;
  }
};
