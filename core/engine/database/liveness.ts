/** Whether connections on which a statement runs still lead anywhere. A network that swallows packets says nothing, and
 *  neither does a long statement: the server is asked, on another connection, what it knows of them. */
import { connectionLost } from "../../kernel/errors.ts";
import type { Connection } from "./connection.ts";
import { isPgError } from "./pg-errors.ts";

export interface LivenessParts {
  /** Those that are open. */
  readonly connections: () => Iterable<Connection>;
  /** How long a statement may be silent before the server is asked. */
  readonly checkMs: number;
  /** How long it may be silent at all. */
  readonly limitMs: number;
  /** The others may be dead too. */
  readonly lost: () => void;
  readonly warn: (message: string, facts?: Readonly<Record<string, unknown>>) => void;
}

interface Silence {
  readonly bytes: number;
  readonly sinceMs: number;
}

const SAMPLE_MS = 1000;
/** In a row, without reaching the server. */
const MAX_FAILURES = 2;
/** An answer may be on its way. */
const SETTLED_SECONDS = 2;

/** What the server does for each of them. Where a pooler is in between, process ids are of its own making. */
const STATES = `select activity.pid, activity.state, extract(epoch from pg_catalog.clock_timestamp() - activity.state_change)::float8 as seconds, pg_catalog.pg_backend_pid() as own
from (select) one left join pg_catalog.pg_stat_activity activity on activity.pid = any ($1::int4[])`;

interface StateRow {
  readonly pid: number | null;
  readonly state: string | null;
  readonly seconds: number | null;
  readonly own: number;
}

/** Returns how to stop. @rule R-HST-9 R-HST-10 */
export const watchLiveness = ({ connections, checkMs, limitMs, lost, warn }: LivenessParts): (() => void) => {
  let silences = new Map<Connection, Silence>();
  let failures = 0;
  let isAsking = false;

  const end = (dead: readonly Connection[], reason: string): void => {
    if (dead.length === 0) return;
    warn("connections to the database are dead: replacing them", { count: dead.length, reason });
    for (const connection of dead) connection.kill(connectionLost(reason));
    lost();
  };

  /** Of those that lead to the same server. */
  const ask = async (silent: readonly Connection[]): Promise<void> => {
    const [first] = silent;
    if (first === undefined) return;
    let probe: Connection | undefined;
    let limit: NodeJS.Timeout | undefined;
    try {
      const opened = await first.reopen(checkMs);
      probe = opened;
      limit = setTimeout(() => opened.kill(connectionLost("timeout expired")), checkMs);
      const pids = silent.map(({ processId }) => processId);
      const rows = await opened.query<StateRow>(STATES, [pids]);
      failures = 0;
      if (rows[0]?.own !== opened.processId) return;
      const states = new Map(rows.map((row) => [row.pid, row]));
      const isDead = ({ processId }: Connection): boolean => {
        const state = states.get(processId);
        return (
          state === undefined || (state.state?.startsWith("idle") === true && (state.seconds ?? 0) > SETTLED_SECONDS)
        );
      };
      end(
        silent.filter((each) => isStillSilent(each) && isDead(each)),
        "the server knows nothing of the statement",
      );
    } catch (error) {
      // the server itself has answered
      if (isPgError(error)) return;
      failures++;
      if (failures < MAX_FAILURES) return;
      end(silent.filter(isStillSilent), "the server can no longer be reached");
    } finally {
      clearTimeout(limit);
      void probe?.end();
    }
  };

  const isStillSilent = (connection: Connection): boolean =>
    connection.isAwaiting() && silences.get(connection)?.bytes === connection.heardBytes();

  const sample = (): void => {
    const nowMs = performance.now();
    const found = new Map<Connection, Silence>();
    for (const connection of connections()) {
      if (!connection.isAwaiting()) continue;
      const bytes = connection.heardBytes();
      const known = silences.get(connection);
      found.set(connection, known?.bytes === bytes ? known : { bytes, sinceMs: nowMs });
    }
    silences = found;
    const silent: Connection[] = [];
    for (const [connection, { sinceMs }] of found) {
      if (nowMs - sinceMs >= limitMs) {
        warn("a statement was silent for too long: given up", { seconds: Math.round(limitMs / 1000) });
        void connection.cancel();
        connection.kill(connectionLost("The statement has said nothing for too long.", undefined, { isFinal: true }));
      } else if (nowMs - sinceMs >= checkMs) silent.push(connection);
    }
    if (silent.length === 0) failures = 0;
    if (isAsking || silent.length === 0) return;
    isAsking = true;
    void askAll(silent).finally(() => {
      isAsking = false;
    });
  };

  const askAll = async (silent: readonly Connection[]): Promise<void> => {
    const byPlace = new Map<string, Connection[]>();
    for (const connection of silent)
      byPlace.set(connection.place, [...(byPlace.get(connection.place) ?? []), connection]);
    for (const each of byPlace.values()) await ask(each);
  };

  const timer = setInterval(sample, Math.min(SAMPLE_MS, checkMs / 2, limitMs / 2));
  timer.unref();
  return () => clearInterval(timer);
};
