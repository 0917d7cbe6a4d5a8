/**
 * The parts that tests of failing servers share: a small schema, an API on a connection string, clients that send
 * requests continuously.
 */
import type { RelApiOptions } from "../../core/index.ts";
import { startApi, type StartOptions, type TestApi } from "../support/api.ts";
import type { Server } from "../support/postgres-server.ts";
import { until } from "../support/until.ts";
import { createLogger } from "../support/logger.ts";

/** A table that all roles may read and write, and a slow function. */
export const createShop = (server: Server): Promise<unknown> =>
  server.query(`
    create role shop_anon nologin;
    create table public.crate (id bigint generated always as identity primary key, label text not null unique, n int not null default 0);
    insert into public.crate (label) values ('first'), ('second');
    create table public.entry (label text not null);
    grant select, insert, update, delete on public.crate, public.entry to shop_anon;
    create function public.slow(seconds float) returns int language plpgsql stable as $$ begin perform pg_sleep(seconds); return 1; end $$;
  `);

/** Starts an API on these servers. `url` is its connection string. */
export const startShop = (url: string, options: StartOptions = {}): Promise<TestApi> => {
  const ownOptions: RelApiOptions = {
    dbSchemas: ["public"],
    anonRole: "shop_anon",
    databaseUrl: url,
    liveQueryInterval: 200,
  };
  return startApi({
    on: {
      options: { databaseUrl: url },
      urlAs: () => url,
      query: () => Promise.reject(new Error("ask the server")),
      connect: () => Promise.reject(new Error("ask the server")),
      close: () => Promise.resolve(),
    },
    ...ownOptions,
    ...options,
  });
};

export interface Line {
  readonly level: "error" | "warn" | "info";
  readonly message: string;
  readonly fields: unknown;
}

/** Collects the log of an API. */
export const createLog = (): { readonly lines: Line[]; readonly logger: NonNullable<RelApiOptions["logger"]> } => {
  const lines: Line[] = [];
  const take =
    (level: Line["level"]) =>
    (message: string, fields?: unknown): void =>
      void lines.push({ level, message, fields });
  return {
    lines,
    logger: createLogger({ error: take("error"), warn: take("warn"), info: take("info") }),
  };
};

export interface RequestCounts {
  sentCount: number;
  /** The number of finished requests, which succeeded or were sent twice. */
  finishedCount: number;
  /** The number of requests that failed at first. */
  failedCount: number;
  /** The number of requests that failed a second time. */
  failedTwiceCount: number;
  /** The number of failures by status. */
  readonly statuses: Map<number, number>;
  /** The failed responses. */
  readonly failures: string[];
}

interface RepeatingClient {
  readonly requestCounts: RequestCounts;
  stop(): Promise<RequestCounts>;
}

/** Resolves when each client has sent a request after this call and finished it. */
export const untilAllAsked = async (clients: readonly RepeatingClient[]): Promise<void> => {
  // The pending request was sent before this call.
  const expected = clients.map(({ requestCounts }) => requestCounts.finishedCount + 2);
  await until(
    () => clients.every(({ requestCounts }, i) => requestCounts.finishedCount >= (expected[i] ?? 0)),
    "another request of each client",
  );
};

/** Sends requests one after the other until stopped. A request that fails with 5xx is sent once more. */
export const keepAsking = (
  ask: (i: number) => Promise<{ readonly status: number; readonly text?: string }>,
): RepeatingClient => {
  const requestCounts: RequestCounts = {
    sentCount: 0,
    finishedCount: 0,
    failedCount: 0,
    failedTwiceCount: 0,
    statuses: new Map(),
    failures: [],
  };
  let isOver = false;
  const run = async (): Promise<void> => {
    while (!isOver) {
      const i = requestCounts.sentCount++;
      const first = await ask(i);
      if (first.status >= 500) {
        requestCounts.failedCount++;
        requestCounts.failures.push(`${first.status} ${first.text ?? ""}`);
        requestCounts.statuses.set(first.status, (requestCounts.statuses.get(first.status) ?? 0) + 1);
        if ((await ask(i)).status >= 500) requestCounts.failedTwiceCount++;
      }
      requestCounts.finishedCount++;
    }
  };
  const running = run();
  return {
    requestCounts,
    stop: async () => {
      isOver = true;
      await running;
      return requestCounts;
    },
  };
};
