/** Opens one connection to PostgreSQL. */
import type { Address, Connection, ConnectionOptions } from "./connection.ts";

/** Opens a connection to the address. @throws the error of connecting */
export const openConnection = async (to: Address, timeoutMs: number, kind: ConnectionOptions): Promise<Connection> => {
  // this import also loads pg, which is not needed before the first connection
  const [{ createClient, wrapClient: wrap }] = await Promise.all([
    import("./client.ts"),
    "stream" in to ? to.ready : undefined,
  ]);
  const client = createClient(to, timeoutMs, kind);
  const connection = wrap(client, "stream" in to ? to.channels : undefined, kind, (limitMs) =>
    openConnection(to, limitMs, kind),
  );
  await client.connect();
  return connection;
};
