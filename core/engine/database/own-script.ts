/** Runs statements that somebody has written, several in one text. */
import type { Connection } from "./connection.ts";
import type { ScriptOptions, ScriptResult } from "./script-result.ts";

/** In one transaction, unless the script ends it. `leave`: called before that is committed. @throws what the server says, with the transaction undone */
export const runScript = async (
  connection: Connection,
  text: string,
  { access, onGone }: ScriptOptions,
  leave: () => Promise<void>,
): Promise<readonly ScriptResult[]> => {
  await connection.query(`begin ${access}`, []);
  const stop = onGone?.(() => void connection.cancel());
  try {
    const results = await connection.script(text);
    await leave();
    await connection.query("commit", []);
    return results;
  } catch (error) {
    if (!connection.isEnded) await connection.query("rollback", []).catch(() => undefined); // the first error counts
    throw error;
  } finally {
    stop?.();
  }
};
