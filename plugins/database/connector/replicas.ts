/** Determines which replicas may serve reads. The position of each is checked regularly on a separate connection, and
 *  replicas that are unreachable, slow or behind are excluded. */
import { getErrorMessage, RelApiError, type Logger } from "../../../core/index.ts";
import type { Connection } from "../../../core/database/connection.ts";
import type { Replicas } from "../../../core/database/connector.ts";
import { openTarget, type Target } from "./open-target.ts";
import { isPgError, classifyLoginError } from "../../../core/database/pg-errors.ts";
import type { Pool } from "../../../core/database/pool.ts";
import { formatCount } from "../../shared/plural.ts";

interface ReplicasParts {
  readonly primary: Target;
  readonly replicas: readonly { readonly target: Target; readonly pool: Pool }[];
  readonly maxLagMs: number;
  readonly logger: Logger;
}

interface Replica {
  readonly pool: Pool;
  /** The write position that the replica has reached. */
  position: bigint;
  /** Undefined until the replica was checked once. */
  isUsable: boolean | undefined;
}

/** The pause between two checks of a server. */
const CHECK_PAUSE_MS = 200;
/** A rejected login is retried after a longer pause, because the server logs each attempt. */
const REJECTED_PAUSE_MS = 5000;
/** The time after which a replica without a response may be unreachable, so a new connection is tried. */
const RECHECK_MS = 200;
/** The time after which a replica without a response counts as slow. */
const RESPONSE_TIMEOUT_MS = 500;
/** The timeout for reaching a silent replica, after which its statements fail. Together with `CHECK_PAUSE_MS`
 *  and `RECHECK_MS`, it is less than a second. */
const CONNECT_TIMEOUT_MS = 500;
/** The largest difference of the two functions for the end of the WAL, which is a page header. */
const PAGE_HEADER_BYTES = 40n;

const POSITION_QUERY = `select (case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn() else pg_catalog.pg_current_wal_flush_lsn() end)::text as position`;

/** Parses a write position: `16/B374D848`. */
const parsePosition = (text: string): bigint => {
  const [high = "0", low = "0"] = text.split("/");
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
};

/** Checks one server repeatedly. `onFailure` is called with the error, and with whether the server is unreachable. */
const createWatch = (
  target: Target,
  onPosition: (position: bigint) => void,
  onFailure: (error: unknown, isUnreachable: boolean) => void,
): { start(): void; close(): void } => {
  let connection: Connection | undefined;
  let responseCount = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Checks whether a silent server is unreachable, or only slow. */
  const checkReachable = async (): Promise<void> => {
    const previousResponseCount = responseCount;
    try {
      void (await openTarget(target, CONNECT_TIMEOUT_MS, { purpose: "replica check" })).end();
    } catch (error) {
      const hasResponded = error instanceof RelApiError && isPgError(error.cause);
      if (!isClosed && responseCount === previousResponseCount && !hasResponded) onFailure(error, true);
    }
  };

  const checkPosition = async (): Promise<void> => {
    let isUnreachable = connection === undefined;
    let pauseMs = CHECK_PAUSE_MS;
    let recheck: NodeJS.Timeout | undefined;
    let limit: NodeJS.Timeout | undefined;
    try {
      connection ??= await openTarget(target, CONNECT_TIMEOUT_MS, { purpose: "replica check" });
      isUnreachable = false;
      const checkedConnection = connection;
      recheck = setTimeout(() => void checkReachable(), RECHECK_MS);
      limit = setTimeout(() => void checkedConnection.end(), RESPONSE_TIMEOUT_MS);
      const [row] = await checkedConnection.query<{ position: string }>(POSITION_QUERY, []);
      responseCount++;
      onPosition(parsePosition(row?.position ?? "0/0"));
    } catch (error) {
      void connection?.end();
      const wasOpen = connection !== undefined;
      connection = undefined;
      if (isClosed) return;
      onFailure(error, isUnreachable);
      if (classifyLoginError(error) !== undefined) pauseMs = REJECTED_PAUSE_MS;
      if (wasOpen) return void checkPosition();
    } finally {
      clearTimeout(recheck);
      clearTimeout(limit);
    }
    if (isClosed) return void connection?.end();
    timer = setTimeout(() => void checkPosition(), pauseMs);
    timer.unref();
  };

  return {
    start: () => void checkPosition(),
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      void connection?.end();
    },
  };
};

/** Creates the list of replicas that follow one primary, and checks all of them. @rule R-HST-8 */
export const createReplicas = ({
  primary,
  replicas,
  maxLagMs,
  logger,
}: ReplicasParts): Replicas & { readonly close: () => void } => {
  const replicaStates = replicas.map(({ pool }): Replica => ({ pool, position: 0n, isUsable: undefined }));
  /** The past positions of the primary, the oldest first: all within the permitted lag, and one earlier position. */
  let history: { readonly atMs: number; readonly position: bigint }[] = [];
  let lastIndex = 0;
  let isStarted = false;
  let settle: () => void = () => undefined;
  const firstCheck = new Promise<void>((resolve) => {
    settle = resolve;
  });

  const updateReplica = (replica: Replica, number: number, reason: string | undefined): void => {
    const wasUsable = replica.isUsable;
    replica.isUsable = reason === undefined;
    if (replica.isUsable === wasUsable) return;
    if (reason !== undefined) logger.warn("a replica is left out of reads", { replica: number, reason });
    else if (wasUsable !== undefined) logger.info("a replica serves reads again", { replica: number });
    if (replicaStates.every(({ isUsable }) => isUsable !== undefined)) settle();
  };

  const watches = replicas.map(({ target, pool }, i) => {
    const replica = replicaStates[i] as Replica; // both lists have the same length
    return createWatch(
      target,
      (position) => {
        replica.position = position;
        const requiredPosition = history.findLast(({ atMs }) => atMs <= performance.now() - maxLagMs);
        const isBehind = requiredPosition !== undefined && position + PAGE_HEADER_BYTES < requiredPosition.position;
        updateReplica(
          replica,
          i + 1,
          isBehind ? `it is more than ${formatCount(maxLagMs / 1000, "second")} behind` : undefined,
        );
      },
      (error, isUnreachable) => {
        updateReplica(replica, i + 1, describeError(error));
        if (isUnreachable) pool.abandon();
      },
    );
  });
  const watchPrimary = createWatch(
    primary,
    (position) => {
      const nowMs = performance.now();
      if (history.at(-1)?.position !== position) history.push({ atMs: nowMs, position });
      const from = history.findLastIndex(({ atMs }) => atMs <= nowMs - maxLagMs);
      if (from > 0) history = history.slice(from);
    },
    () => undefined, // requests report these errors
  );

  return {
    firstCheck,
    choose: (position) => {
      const minPosition = position === undefined ? 0n : parsePosition(position);
      for (let i = 0; i < replicaStates.length; i++) {
        lastIndex = (lastIndex + 1) % replicaStates.length;
        const replica = replicaStates[lastIndex];
        if (replica?.isUsable === true && replica.position >= minPosition) return replica.pool;
      }
      return undefined;
    },
    start: () => {
      if (isStarted) return;
      isStarted = true;
      watchPrimary.start();
      for (const watch of watches) watch.start();
      setTimeout(settle, RESPONSE_TIMEOUT_MS).unref();
    },
    close: () => {
      for (const watch of [watchPrimary, ...watches]) watch.close();
    },
  };
};

const describeError = (error: unknown): string => {
  if (error instanceof RelApiError && typeof error.details === "string") return error.details;
  const text = getErrorMessage(error);
  return text === "Connection terminated" ? `it took longer than ${RESPONSE_TIMEOUT_MS} ms to respond` : text;
};
