/** Opens connections that accept commands of the replication protocol. Plugins define the commands. */
import { connectionFailed, compileSql, type Sql } from "../../../core/index.ts";
import { convertStatementError } from "../../../core/database/pg-errors.ts";
import type { ReplicationConnection } from "../../../core/database/connector.ts";
import { openTarget, type Target } from "./open-target.ts";

const CONNECT_MS = 10_000;

/** Writes a command without parameters, which the replication protocol does not have. */
const compileCommand = (command: Sql): string => {
  const { text, slots } = compileSql(command);
  if (slots.length > 0)
    throw new TypeError("a replication command cannot have slots: use quoteIdentifier() and trustedSql()");
  return text;
};

/** Opens a connection for replication commands. @throws RelApiError if the connection fails */
export const openReplication = async (target: Target): Promise<ReplicationConnection> => {
  if ("stream" in target)
    throw connectionFailed("the embedded database has no logical replication", undefined, { sqlstate: "0A000" });
  const connection = await openTarget(target, CONNECT_MS, { replicates: true, purpose: "replication" });
  // Newer servers would create a slot on a standby, which waits for a write of the primary.
  if (connection.getServerState()?.isStandby === true) {
    void connection.end();
    throw connectionFailed("the server is a standby", undefined, { sqlstate: "25006" });
  }
  return {
    command: async <Row>(command: Sql) => {
      try {
        return await connection.query<Row>(compileCommand(command), []);
      } catch (error) {
        throw convertStatementError(error);
      }
    },
    copy: (command, take) => connection.copyBoth(compileCommand(command), take),
    send: connection.sendCopy,
    onEnd: connection.onEnd,
    end: connection.end,
  };
};
