/** Subscribers over WebSockets, in separate processes. */
import { fork, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";

/** A clock that all processes of a machine share. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** The results that have arrived: row, value and time. */
export interface Arrivals {
  readonly ids: number[];
  readonly ns: number[];
  readonly atMs: number[];
}

/** An order to a process of subscribers. */
export type Order =
  | {
      readonly do: "open";
      readonly port: number;
      readonly localAddress: string;
      readonly count: number;
      /** The row of the first subscriber. The others have the rows after it, unless the row is shared. */
      readonly firstId: number;
      readonly isShared: boolean;
      /** True if all subscribers connect concurrently and subscribe immediately. */
      readonly subscribing: boolean;
      readonly query: string;
      readonly patienceMs: number;
    }
  | { readonly do: "subscribe"; readonly patienceMs: number }
  | { readonly do: "expect"; readonly n: number; readonly count: number; readonly patienceMs: number }
  | { readonly do: "report" }
  | { readonly do: "record" }
  | { readonly do: "recorded" };

export interface Report {
  /** The number of opened connections or received results. */
  readonly count: number;
  /** The arrival time of each result. */
  readonly times?: readonly number[];
  readonly arrivals?: Arrivals;
  /** The number of errors and lost connections so far. */
  readonly faults: number;
  readonly lastFault: string;
  /** The number of connections that were rejected or timed out and were opened again. */
  readonly returns: number;
}

/** The limit per process, because descriptors of a process and ports of an address are limited. */
const MOST_OF_ONE = 15_500;
/** The time in which all connections must open, on a busy machine. */
const PATIENCE_MS = 100_000;

export interface Swarm {
  /** Opens the connections of all subscribers. @throws Error if not all subscribers connect in time */
  open(isShared?: boolean, subscribing?: boolean): Promise<{ readonly tookMs: number; readonly returns: number }>;
  /** Opens all subscriptions concurrently, and returns the time of each until its first result. */
  subscribe(): Promise<readonly number[]>;
  /** Runs `change`, and returns the time from its start until each subscriber's result has `n`. */
  after(
    n: number,
    concernedCount: number,
    patienceMs: number,
    change: (starts: () => void) => Promise<void>,
  ): Promise<readonly number[]>;
  record(): Promise<void>;
  readArrivals(): Promise<Arrivals>;
  stop(): void;
}

const ask = (child: ChildProcess, order: Order): Promise<Report> =>
  new Promise((resolve, reject) => {
    const rejectOnExit = (code: number | null): void => reject(new Error(`the subscribers ended with ${code}`));
    child.once("exit", rejectOnExit);
    child.once("message", (report) => {
      child.off("exit", rejectOnExit);
      resolve(report as Report);
    });
    child.send(order);
  });

export const createSwarm = (port: number, count: number, query: string): Swarm => {
  const processes = Math.ceil(count / MOST_OF_ONE);
  const share = Math.ceil(count / processes);
  const children = Array.from({ length: processes }, () =>
    fork(fileURLToPath(new URL("./live-swarm-process.js", import.meta.url)), [], { serialization: "advanced" }),
  );
  const countSubscribers = (i: number): number => Math.min(share, count - i * share);
  const all = async (order: (i: number) => Order): Promise<readonly Report[]> => {
    const reports = await Promise.all(children.map((child, i) => ask(child, order(i))));
    const [bad] = reports.filter(({ faults }) => faults > 0);
    if (bad !== undefined) throw new Error(`${bad.faults} subscribers failed: ${bad.lastFault}`);
    return reports;
  };
  return {
    open: async (isShared = false, subscribing = false) => {
      const startedAtMs = nowMs();
      const reports = await all((i) => ({
        do: "open",
        port,
        localAddress: `127.0.0.${i + 2}`,
        count: countSubscribers(i),
        firstId: isShared ? 1 : i * share + 1,
        isShared,
        subscribing,
        query,
        patienceMs: PATIENCE_MS,
      }));
      const connectedCount = reports.reduce((sum, report) => sum + report.count, 0);
      if (connectedCount < count) throw new Error(`${connectedCount} of ${count} subscribers are connected`);
      return { tookMs: nowMs() - startedAtMs, returns: reports.reduce((sum, report) => sum + report.returns, 0) };
    },
    subscribe: async () => {
      const startedAtMs = nowMs();
      const reports = await all(() => ({ do: "subscribe", patienceMs: PATIENCE_MS }));
      const times = reports.flatMap((report) => report.times ?? []);
      if (times.length < count) throw new Error(`${times.length} of ${count} subscribers have an answer`);
      return times.map((atMs) => atMs - startedAtMs);
    },
    after: async (n, concernedCount, patienceMs, change) => {
      const countConcerned = (i: number): number =>
        Math.max(0, Math.min(countSubscribers(i), concernedCount - i * share));
      await all((i) => ({ do: "expect", n, count: countConcerned(i), patienceMs }));
      let startedAtMs = 0;
      await change(() => (startedAtMs = nowMs()));
      const reports = await all(() => ({ do: "report" }));
      return reports.flatMap((report) => report.times ?? []).map((atMs) => atMs - startedAtMs);
    },
    record: async () => void (await all(() => ({ do: "record" }))),
    readArrivals: async () => {
      const reports = await all(() => ({ do: "recorded" }));
      const allArrivals = reports.map(({ arrivals }) => arrivals ?? { ids: [], ns: [], atMs: [] });
      return {
        ids: allArrivals.flatMap((arrivals) => arrivals.ids),
        ns: allArrivals.flatMap((arrivals) => arrivals.ns),
        atMs: allArrivals.flatMap((arrivals) => arrivals.atMs),
      };
    },
    stop: () => {
      for (const child of children) child.kill("SIGKILL");
    },
  };
};
