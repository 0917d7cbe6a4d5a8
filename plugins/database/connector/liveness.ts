/** Detects dead connections on which a statement runs. A network that drops packets is as silent as a long statement,
 *  so a query on another connection reads the states of the backends. */
import { connectionLost } from "../../../core/index.ts";
import type { Connection, WatchedPool } from "../../../core/database/connection.ts";
import { isPgError, TIMED_OUT } from "../../../core/database/pg-errors.ts";

interface LivenessParts extends WatchedPool {
  /** The silence of a statement after which the state of its backend is read. */
  readonly checkMs: number;
  /** The maximum silence of a statement. */
  readonly limitMs: number;
  /** Returns whether no other host can serve requests. */
  readonly isOnlyHost: () => boolean;
  readonly warn: (message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

interface SilentConnection {
  readonly bytes: number;
  readonly sinceMs: number;
  /** The last time at which the server was known to work on the statement. */
  lastAliveMs: number;
}

const SAMPLE_MS = 500;
/** The time limit of one attempt to read the states. */
const ATTEMPT_MS = 2000;
/** The maximum number of consecutive attempts. */
const MAX_ATTEMPTS = 2;
/** The time for which a backend must have been idle, so that its response should have arrived. */
const STABLE_SECONDS = 2;

/** Selects the states of the backends. `own` detects a pooler, which reports process ids of its own. */
const STATES_QUERY = `select activity.pid, activity.state, extract(epoch from pg_catalog.clock_timestamp() - activity.state_change)::float8 as seconds, pg_catalog.pg_backend_pid() as own
from (select) one left join pg_catalog.pg_stat_activity activity on activity.pid = any ($1::int4[])`;

interface StateRow {
  readonly pid: number | null;
  readonly state: string | null;
  readonly seconds: number | null;
  readonly own: number;
}

/** Watches connections and ends dead connections. Returns a function that stops watching. @rule R-HST-9 R-HST-10 */
export const watchLiveness = (parts: LivenessParts): (() => void) => {
  const { connections, checkMs, limitMs, onLost, isOnlyHost, warn } = parts;
  const attemptMs = Math.min(checkMs, ATTEMPT_MS);
  let silentConnections = new Map<Connection, SilentConnection>();
  let isChecking = false;

  const killConnections = (dead: readonly Connection[], reason: string, isUnreachable: boolean): void => {
    if (dead.length === 0) return;
    warn("connections to the database are dead: replacing them", { count: dead.length, reason });
    for (const connection of dead) connection.kill(connectionLost(reason, undefined, { isUnreachable }));
    onLost(isUnreachable);
  };

  /** Returns the state of connections to one server, by process id. Returns undefined if the server rejects or a pooler
   *  answers. @throws RelApiError if the connection cannot be opened or the statement fails */
  const loadStates = async (
    silent: readonly Connection[],
  ): Promise<ReadonlyMap<number | null, StateRow> | undefined> => {
    const endMs = performance.now() + attemptMs;
    const probe = await (silent[0] as Connection).reopen(attemptMs); // there is at least one
    const limit = setTimeout(() => probe.kill(connectionLost(TIMED_OUT)), Math.max(0, endMs - performance.now()));
    try {
      const rows = await probe.query<StateRow>(STATES_QUERY, [silent.map(({ processId }) => processId)]);
      return rows[0]?.own === probe.processId ? new Map(rows.map((row) => [row.pid, row])) : undefined;
    } finally {
      clearTimeout(limit);
      void probe.end();
    }
  };

  const checkConnections = async (silent: readonly Connection[]): Promise<void> => {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      try {
        const states = await loadStates(silent);
        const isDead = ({ processId }: Connection): boolean => {
          if (states === undefined) return false;
          const state = states.get(processId);
          return (
            state === undefined || (state.state?.startsWith("idle") === true && (state.seconds ?? 0) > STABLE_SECONDS)
          );
        };
        const dead = silent.filter(isDead);
        for (const connection of silent) if (!dead.includes(connection)) markAlive(connection);
        return killConnections(dead.filter(isStillSilent), "the server does not run the statement", false);
      } catch (error) {
        // The server itself has responded.
        if (isPgError(error)) return silent.forEach(markAlive);
      }
    }
    const dead = silent.filter(isStillSilent);
    killConnections(dead, "the server can no longer be reached", isOnlyHost());
  };

  const markAlive = (connection: Connection): void => {
    const silence = silentConnections.get(connection);
    if (silence !== undefined) silence.lastAliveMs = performance.now();
  };

  const isStillSilent = (connection: Connection): boolean =>
    connection.isAwaitingResponse() && silentConnections.get(connection)?.bytes === connection.getReceivedBytes();

  const sample = (): void => {
    const nowMs = performance.now();
    const silentNow = new Map<Connection, SilentConnection>();
    for (const connection of connections()) {
      if (!connection.isAwaitingResponse()) continue;
      const bytes = connection.getReceivedBytes();
      const silentConnection = silentConnections.get(connection);
      silentNow.set(
        connection,
        silentConnection?.bytes === bytes ? silentConnection : { bytes, sinceMs: nowMs, lastAliveMs: nowMs },
      );
    }
    silentConnections = silentNow;
    const silent: Connection[] = [];
    for (const [connection, { sinceMs, lastAliveMs }] of silentNow) {
      if (nowMs - sinceMs >= limitMs) {
        warn("the database sent no message for a running statement: the statement counts as failed", {
          seconds: Math.round(limitMs / 1000),
        });
        void connection.cancel();
        connection.kill(
          connectionLost("The database sent no message for the running statement in time.", undefined, {
            isFinal: true,
          }),
        );
      } else if (nowMs - lastAliveMs >= checkMs) silent.push(connection);
    }
    if (isChecking || silent.length === 0) return;
    isChecking = true;
    void checkAll(silent).finally(() => {
      isChecking = false;
    });
  };

  const checkAll = async (silent: readonly Connection[]): Promise<void> => {
    const byHost = new Map<string, Connection[]>();
    for (const connection of silent)
      byHost.set(connection.hostAndPort, [...(byHost.get(connection.hostAndPort) ?? []), connection]);
    for (const hostConnections of byHost.values()) await checkConnections(hostConnections);
  };

  const timer = setInterval(sample, Math.min(SAMPLE_MS, checkMs / 2, limitMs / 2));
  timer.unref();
  return () => clearInterval(timer);
};
