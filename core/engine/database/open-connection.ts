/** Opens one connection to PostgreSQL. */
import type { Address, Connection, ConnectionOptions } from "./connection.ts";

/** @throws the error of connecting */
export const openConnection = async (
  to: Address,
  timeoutMs: number,
  kind: ConnectionOptions = {},
): Promise<Connection> => {
  // loads pg too, only when it is needed
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
