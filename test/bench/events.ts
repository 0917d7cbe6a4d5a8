/** Measures the time from the commit of a change to the arrival of its event at a webhook, at a constant rate. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";

/** The processes that share the events. */
const WORKERS = 4;
const EVENTS_PER_MINUTE = 10_000;
const INTERVAL_MS = 60_000 / EVENTS_PER_MINUTE;
/** The number of connections that insert rows. */
const WRITERS = 4;
const WARM_UP_EVENTS = 200;
/** The time after the last insert in which its event has to arrive. */
const LIMIT_MS = 30_000;

export const EVENTS_SQL = "create table public.delivery (id int primary key)";

interface EventFigures {
  readonly events: number;
  /** The times from the commit to the arrival at the webhook, in milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** The mean number of processes of the machine that wanted to run in the last minute. */
  readonly load: number;
}

interface Body {
  readonly event: { readonly data: { readonly new: { readonly id: number } } };
}

const SERVER = fileURLToPath(new URL("./events-server.js", import.meta.url));

const waitFor = async (hasArrived: () => boolean): Promise<void> => {
  const deadlineMs = performance.now() + LIMIT_MS;
  while (!hasArrived()) {
    if (performance.now() > deadlineMs) throw new Error(`events have not arrived within ${LIMIT_MS / 1000} s`);
    await sleep(10);
  }
};

/** Measures how fast changes of rows reach the webhooks of event triggers. @throws Error if an event does not arrive */
export const measureEvents = async (databaseUrl: string, seconds: number): Promise<EventFigures> => {
  const arrivedMs = new Map<number, number>();
  const servers: ChildProcess[] = [];
  const pool = new pg.Pool({ connectionString: databaseUrl, max: WRITERS });
  const insert = async (id: number): Promise<number> => {
    await pool.query("insert into public.delivery values ($1)", [id]);
    return performance.now();
  };
  const webhook = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      const { id } = (JSON.parse(body) as Body).event.data.new;
      if (!arrivedMs.has(id)) arrivedMs.set(id, performance.now());
      response.end();
    });
  });
  webhook.listen(0, "127.0.0.1");
  await once(webhook, "listening");
  const { port } = webhook.address() as AddressInfo; // a listening server has an address
  try {
    for (let i = 0; i < WORKERS; i++) {
      const server = fork(SERVER, [databaseUrl, `http://127.0.0.1:${port}/`]);
      servers.push(server);
      await once(server, "message");
    }
    await waitForTrigger(pool);
    for (let i = 1; i <= WARM_UP_EVENTS; i++) await insert(-i);
    await waitFor(() => arrivedMs.size === WARM_UP_EVENTS);
    const count = Math.round((seconds * 1000) / INTERVAL_MS);
    const commits: Promise<number>[] = [];
    const startedAtMs = performance.now();
    while (commits.length < count) {
      const due = Math.min(count, Math.floor((performance.now() - startedAtMs) / INTERVAL_MS) + 1);
      while (commits.length < due) commits.push(insert(commits.length));
      await sleep(1);
    }
    const committedMs = await Promise.all(commits);
    await waitFor(() => arrivedMs.size === WARM_UP_EVENTS + count);
    // An event may arrive before the writer has the answer of its commit.
    const times = committedMs
      .map((ms, id) => Math.max(0, (arrivedMs.get(id) ?? Number.NaN) - ms))
      .sort((a, b) => a - b);
    const quantile = (share: number): number => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
    const [load = Number.NaN] = loadavg();
    return { events: count, p50: quantile(0.5), p99: quantile(0.99), longest: quantile(1), load };
  } finally {
    for (const server of servers) server.kill();
    webhook.close();
    await pool.end();
  }
};

/** Waits until inserts make events, which begins after the start of the first server. */
const waitForTrigger = async (pool: pg.Pool): Promise<void> => {
  let isInstalled = false;
  while (!isInstalled) {
    const { rowCount } = await pool.query("select from pg_trigger where tgrelid = 'public.delivery'::regclass");
    isInstalled = rowCount === 1;
    await sleep(10);
  }
};

export const printEvents = ({ events, p50, p99, longest, load }: EventFigures): void =>
  void process.stdout.write(
    `\n| ${EVENTS_PER_MINUTE} events a minute, ${WORKERS} processes | events | p50 ms | p99 ms | longest ms | load |\n|${"---|".repeat(6)}\n` +
      `| from the commit to the webhook | ${events} | ${p50.toFixed(0)} | ${p99.toFixed(0)} | ${longest.toFixed(0)} | ${load.toFixed(1)} |\n`,
  );
