/** Faults of files that cannot be read or written. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atFileEnd } from "../../support/file-end.ts";
import { until } from "../../support/until.ts";
import { fault } from "./fault.ts";
import { oneServer, ROLE, type OneServer } from "./scenes.ts";

const METADATA = `version: 3
sources:
  - name: default
    kind: postgres
    configuration: {}
    tables:
      - table: shelf
        select_permissions: [{ role: ${ROLE}, permission: { columns: "*", filter: {} } }]
`;

interface WithMetadata extends OneServer {
  readonly file: string;
  readyText: string;
}

export const metadataBroken = fault<WithMetadata>({
  name: "the metadata is broken, and read again",
  arrange: async () => {
    const folder = mkdtempSync(join(tmpdir(), "relapi-fault-"));
    atFileEnd(async () => rmSync(folder, { recursive: true }));
    const file = join(folder, "metadata.yaml");
    writeFileSync(file, METADATA);
    return { ...(await oneServer({ METADATA: file })), file, readyText: "" };
  },
  inject: async (scene) => {
    writeFileSync(scene.file, `${METADATA}  - [`);
    process.kill(scene.server.pid, "SIGUSR1");
    await until(async () => (scene.readyText = (await scene.server.ready())[1]) !== "", "/ready reports the metadata");
  },
  remove: ({ file, server }) => {
    writeFileSync(file, METADATA);
    process.kill(server.pid, "SIGUSR1");
  },
  check: ({ readyText }) => (readyText.startsWith("metadata: ") ? undefined : `/ready said "${readyText}"`),
});

interface WithDisk extends OneServer {
  readonly folder: string;
}

export const canMount = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
})();

export const diskFull = canMount
  ? fault<WithDisk>({
      name: "the disk of the log is full",
      arrange: async () => {
        const folder = mkdtempSync(join(tmpdir(), "relapi-disk-"));
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", folder]);
        atFileEnd(async () => {
          execFileSync("umount", ["-l", folder]);
          rmSync(folder, { recursive: true });
        });
        // At this level every request writes a line.
        return { ...(await oneServer({ LOG_LEVEL: "info" }, undefined, undefined, join(folder, "log"))), folder };
      },
      inject: ({ folder }) => {
        try {
          writeFileSync(join(folder, "rest"), Buffer.alloc(9 * 1024 * 1024));
        } catch {
          // The error is expected, because the file takes all remaining space.
        }
      },
      remove: ({ folder }) => rmSync(join(folder, "rest")),
    })
  : undefined;
