/** Connections that change the database concurrently. */
import type { TestDatabase } from "../../support/database.ts";

type Client = Awaited<ReturnType<TestDatabase["connect"]>>;

export interface Writers {
  /** Runs a transaction, and returns whether it was committed. An error rolls it back. */
  transact(lane: number, statements: readonly string[], end: "commit" | "rollback"): Promise<boolean>;
  loseFeed(): Promise<void>;
  /** Terminates the connections of the servers. */
  loseConnections(): Promise<void>;
  close(): Promise<void>;
}

export const createWriters = (database: TestDatabase): Writers => {
  const connections = new Map<number, Promise<Client>>();

  const open = async (): Promise<Client> => {
    const client = await database.connect();
    client.on("error", () => undefined);
    await client.query("set deadlock_timeout = '50ms'");
    await client.query("set lock_timeout = '2s'");
    return client;
  };

  const getConnection = (lane: number): Promise<Client> => {
    let connection = connections.get(lane);
    if (connection === undefined) connections.set(lane, (connection = open()));
    return connection;
  };

  return {
    transact: async (lane, statements, end) => {
      const client = await getConnection(lane);
      try {
        await client.query("begin");
        for (const text of statements) await client.query(text);
        await client.query(end);
        return end === "commit";
      } catch {
        await client.query("rollback").catch(() => undefined);
        return false;
      }
    },
    loseFeed: async () => {
      await database.query(
        "select pg_terminate_backend(active_pid) from pg_replication_slots where database = current_database() and active_pid is not null",
      );
    },
    loseConnections: async () => {
      await database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'relapi%'",
      );
    },
    close: async () => {
      for (const connection of connections.values()) await (await connection).end();
    },
  };
};
