/** Runs scripts of an administrator: several statements in one text. */
import type { Connection, ScriptResult } from "./connection.ts";

/** The options of a script. @experimental */
export interface ScriptOptions {
  readonly access: "read only" | "read write";
  /** Registers a listener for the client's disconnection, which cancels the script. */
  readonly onDisconnect?: (listener: () => void) => () => void;
}

/** Runs the script in one transaction, unless the script itself ends that transaction. Calls `cleanUp` before the
 *  commit. @throws the error of the server, after a rollback */
export const runScript = async (
  connection: Connection,
  text: string,
  { access, onDisconnect }: ScriptOptions,
  cleanUp: () => Promise<void>,
): Promise<readonly ScriptResult[]> => {
  await connection.query(`begin ${access}`, []);
  const stop = onDisconnect?.(() => void connection.cancel());
  try {
    const results = await connection.script(text);
    await cleanUp();
    await connection.query("commit", []);
    return results;
  } catch (error) {
    // The caller gets the first error, so an error of the rollback is ignored.
    if (!connection.isEnded) await connection.query("rollback", []).catch(() => undefined);
    throw error;
  } finally {
    stop?.();
  }
};
