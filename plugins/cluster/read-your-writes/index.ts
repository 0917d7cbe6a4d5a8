/** Adds the write position to the response to a write, in the header `X-Write-Position: 0/3000148`. A read that sends
 *  the position back runs on a server that has the write. A cookie with the same value needs no support by the
 *  client. */
import {
  createExchangeSlot,
  definePlugin,
  findCookie,
  type Execution,
  type Headers,
  type OpenExchange,
  type PluginContext,
} from "../../../core/index.ts";
import { sql } from "../../../core/sql/fragment.ts";
import { readYourWritesSettings } from "../settings.ts";

const HEADER = "X-Write-Position";
const COOKIE = "relapi_write_position";

/** The end of the primary's WAL, which is after all earlier commits. */
const POSITION = sql`select pg_catalog.pg_current_wal_insert_lsn()::text as position`;

/** A position that no replica reaches, so that reads run on the primary. */
const LAST_POSITION = "FFFFFFFF/FFFFFFFF";

const isPosition = (text: string | undefined): text is string =>
  text !== undefined && /^[0-9a-f]{1,8}\/[0-9a-f]{1,8}$/i.test(text);

const NO_HEADERS: Headers = [];

/** The time after the largest permitted lag, within which every replica that serves reads has the write. */
const MARGIN_SECONDS = 5;

/** Runs a read on a server that has the previous writes of its caller. @rule R-RYW-1 … R-RYW-3 */
export const readYourWrites = definePlugin({
  name: "read-your-writes",
  requires: ["connector"],
  settings: readYourWritesSettings,
  apply: (_hooks, context) => {
    const { readYourWrites: mode, databaseReplicaUrls, databaseReplicaMaxLag, database } = context.options;
    // Without replicas there is only one server to read from.
    if (mode === "off" || database !== undefined || databaseReplicaUrls.length === 0) return;
    const [usesHeader, usesCookie] = [mode !== "cookie", mode !== "header"];
    // The operations of a WebSocket have the same credentials, so they find the position of earlier ones.
    const positionSlot = createExchangeSlot<string>();

    const readPosition = (exchange: OpenExchange): string | undefined => {
      const writtenPosition = positionSlot.get(exchange.credentials);
      if (writtenPosition !== undefined) return writtenPosition;
      const header = usesHeader ? exchange.header(HEADER.toLowerCase()) : undefined;
      if (isPosition(header)) return header;
      const cookie = usesCookie ? findCookie(exchange.header("cookie"), COOKIE) : undefined;
      return isPosition(cookie) ? cookie : undefined;
    };

    context.wrap({
      execute: (next) => async (execution) => {
        const { exchange } = execution;
        if (exchange === undefined) return next(execution);
        if (execution.openTransaction !== undefined) {
          // The position of the commit is not known here, so reads must use the primary.
          if (isWrite(execution)) positionSlot.set((exchange.parent ?? exchange).credentials, LAST_POSITION);
          return next(execution);
        }
        if (isWrite(execution)) {
          const rows = await next(execution);
          positionSlot.set(exchange.credentials, await loadPosition(context));
          return rows;
        }
        const minWritePosition = execution.mayUseReplica === true ? readPosition(exchange) : undefined;
        return next(minWritePosition === undefined ? execution : { ...execution, minWritePosition });
      },
    });

    context.addStep({
      name: "read-your-writes",
      headers: (exchange) => {
        const position = positionSlot.get(exchange.credentials);
        if (position === undefined) return NO_HEADERS;
        const seconds = databaseReplicaMaxLag + MARGIN_SECONDS;
        return [
          ...(usesHeader ? [[HEADER, position] as const] : []),
          ...(usesHeader && exchange.header("origin") !== undefined
            ? [["Access-Control-Expose-Headers", HEADER] as const]
            : []),
          ...(usesCookie
            ? [["Set-Cookie", `${COOKIE}=${position}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax`] as const]
            : []),
        ];
      },
    });
  },
});

const isWrite = ({ access, end }: Execution): boolean => access === "read write" && end === "commit";

/** Returns the position after a write. Errors are ignored, because the write is committed; without a position, reads
 *  must use the primary. */
const loadPosition = async (context: PluginContext): Promise<string> => {
  try {
    const [row] = await context.query<{ position: string }>(POSITION);
    return row?.position ?? LAST_POSITION;
  } catch {
    return LAST_POSITION;
  }
};
