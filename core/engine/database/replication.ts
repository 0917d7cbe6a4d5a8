/** Connections that accept commands of the replication protocol. Plugins define the commands. */
import { connectionFailed } from "../../kernel/errors.ts";
import { toStatement, type Sql } from "../sql/fragment.ts";
import { fromStatement } from "./pg-errors.ts";
import type { Target } from "./connection.ts";
import { openConnection } from "./open-connection.ts";

/** A connection that belongs to a plugin, which must close it. */
export interface ReplicationConnection {
  /** Runs `CREATE_REPLICATION_SLOT …`, or plain SQL, and returns its rows. @throws RelApiError of the server */
  command<Row = unknown>(command: Sql): Promise<readonly Row[]>;
  /** Runs `START_REPLICATION …`: a copy in both directions, which continues until the connection ends. Rejects if the
   *  server refuses or ends it. */
  copy(command: Sql, take: (bytes: Buffer) => void): Promise<void>;
  /** Sends data of the client within that copy. */
  send(bytes: Buffer): void;
  /** Registers a listener that is called once when either side ends the connection. */
  onEnd(listener: () => void): void;
  end(): Promise<void>;
}

const CONNECT_MS = 10_000;

/** The protocol has no parameters. */
const textOf = (command: Sql): string => {
  const { text, slots } = toStatement(command);
  if (slots.length > 0) throw new TypeError("a replication command cannot have slots: use ident() and catalogText()");
  return text;
};

/** @throws RelApiError of connecting */
export const openReplication = async (target: Target): Promise<ReplicationConnection> => {
  if ("stream" in target)
    throw connectionFailed("the embedded database has no logical replication", undefined, { sqlstate: "0A000" });
  const connection = await openConnection(target, CONNECT_MS, { replicates: true, purpose: "replication" });
  // newer servers would create a slot there, which waits for a write of the primary
  if (connection.session()?.isStandby === true) {
    void connection.end();
    throw connectionFailed("the server is a standby", undefined, { sqlstate: "25006" });
  }
  return {
    command: async <Row>(command: Sql) => {
      try {
        return await connection.query<Row>(textOf(command), []);
      } catch (error) {
        throw fromStatement(error);
      }
    },
    copy: (command, take) => connection.copyBoth(textOf(command), take),
    send: connection.sendCopy,
    onEnd: connection.onEnd,
    end: connection.end,
  };
};
