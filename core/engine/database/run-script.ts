/** Runs a script of an administrator: several statements in one text. */
import type { Connection } from "./connection.ts";
import type { ScriptOptions, ScriptResult } from "./script-result.ts";

/** Runs the script in one transaction, unless the script ends it. Calls `leave` before the commit. @throws the error of
 *  the server, after a rollback */
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
    if (!connection.isEnded) await connection.query("rollback", []).catch(() => undefined); // the first error counts
    throw error;
  } finally {
    stop?.();
  }
};
