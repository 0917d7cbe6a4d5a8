/** Opens connections to PostgreSQL, and detects poolers. */
import { wantedChannels } from "./channels.ts";
import type { Connection, ConnectionKind, Target } from "./connection.ts";
import { fromConnecting, isFatal, isPgError, TIMED_OUT } from "./pg-errors.ts";
import { BACKEND_QUESTION, backendOf, expectedProcessId } from "./sharing.ts";

/** @throws RelApiError `connection-failed` */
export const openConnection = async (
  target: Target,
  timeoutMs: number,
  kind: ConnectionKind = {},
): Promise<Connection> => {
  try {
    if ("stream" in target) {
      await Promise.all([target.ready, import("./client.ts")]);
      return await connect(target, "", timeoutMs, kind);
    }
    const { openOneOf } = await import("./open-host.ts");
    return await openOneOf(target, timeoutMs, (url, limitMs) => connect(target, url, limitMs, kind));
  } catch (error) {
    throw fromConnecting(error);
  }
};

/** `url` names one host; it is empty for a stream. @throws the error of connecting */
const connect = async (target: Target, url: string, timeoutMs: number, kind: ConnectionKind): Promise<Connection> => {
  const { createClient, wrap } = await import("./client.ts"); // loads pg too, only when it is needed
  const { replicates = false } = kind;
  const client = createClient(target, url, timeoutMs, kind);
  const wantedHere = "stream" in target ? () => wantedChannels(target.stream) : undefined;
  const connection = wrap(client, wantedHere, kind, (limitMs) => connect(target, url, limitMs, kind));
  if ("stream" in target) {
    await client.connect();
    return connection;
  }
  // pg's own timeout ends after the login
  const limit = setTimeout(() => client.connection.stream.destroy(new Error(TIMED_OUT)), timeoutMs);
  try {
    await client.connect();
    if (replicates) return connection;
    const expected = expectedProcessId(target.pooler, client.processID);
    // a server that rejects the question keeps its defaults
    const answer = await client.query(BACKEND_QUESTION, [expected]).catch((error: unknown) => {
      if (connection.isEnded || !isPgError(error) || isFatal(error)) throw error;
    });
    connection.backend = backendOf(answer?.rows[0], target.pooler);
    return connection;
  } finally {
    clearTimeout(limit);
  }
};
