/** Opens one connection to PostgreSQL. */
import type { Address, Connection, ConnectionOptions } from "./connection.ts";

/** Opens a connection to the address. @throws the error of connecting */
export const openConnection = async (
  address: Address,
  timeoutMs: number,
  kind: ConnectionOptions,
): Promise<Connection> => {
  // This import also loads pg, which is not needed before the first connection.
  const [{ createClient, wrapClient: wrap }] = await Promise.all([
    import("./client.ts"),
    "stream" in address ? address.ready : undefined,
  ]);
  const client = createClient(address, timeoutMs, kind);
  const connection = wrap(client, "stream" in address ? address.channels : undefined, kind, (limitMs) =>
    openConnection(address, limitMs, kind),
  );
  await client.connect();
  return connection;
};
