/** Makes requests wait until a test releases them. */
import type { TestDatabase } from "./database.ts";
import { until } from "./until.ts";

/**
 * Makes statements that read the table wait until the returned function is called. On the embedded database, with its
 * single backend, all statements wait.
 */
export const lockTable = async (database: TestDatabase, table: string): Promise<() => Promise<void>> => {
  const client = await database.connect();
  await client.query("begin");
  await client.query(`lock table ${table} in access exclusive mode`);
  return async () => {
    await client.query("rollback");
    await client.end();
  };
};

/** Waits until a statement waits for a lock. Real server only. */
export const untilLocked = (database: TestDatabase): Promise<void> =>
  until(
    async () =>
      (
        await database.query(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).length > 0,
    "a statement waits for a lock",
  );
