/** A server in a process of its own, with a request that does not end until the test releases it. */
import { connect } from "node:net";
import { testDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";
import { start, type Environment, type RunningProgram } from "./run.ts";

interface BusyServer {
  readonly running: RunningProgram;
  /** The response to the request, which waits for a lock of the test. */
  readonly answer: Promise<Response>;
  /** Resolves once the server accepts no more connections. */
  untilClosed(): Promise<void>;
  /** Releases the request. */
  release(): Promise<void>;
}

const isRejected = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(true)).once("connect", () => resolve(false));
    socket.once("close", () => resolve(true)).once("connect", () => socket.destroy());
  });

/** Sessions of the file's database that wait for a lock. */
export const waitingForLocks = async (): Promise<number> => {
  const database = await testDatabase();
  const statement = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await database.query(statement)).length;
};

/** Starts on port 0 of 127.0.0.1, with schema `sea`. */
export const startBusyServer = async (environment: Environment): Promise<BusyServer> => {
  const database = await testDatabase();
  const holder = await database.connect();
  await holder.query("begin; select from sea.ports where id = 1 for update");
  const running = start([], environment);
  const [, api = ""] = await running.untilPrinted(/REST +(http\S+)/);
  const answer = fetch(`${api}/ports?id=eq.1`, {
    method: "PATCH",
    body: '{"name": "Oslo"}',
    headers: { "content-type": "application/json" },
  });
  answer.catch(() => undefined); // the test awaits it later
  await until(async () => (await waitingForLocks()) > 0, "the request waits for the lock");
  const port = Number(new URL(api).port);
  return {
    running,
    answer,
    untilClosed: () => until(() => isRejected(port), "no connections are accepted"),
    release: () => holder.end(),
  };
};
