/** No notification is lost, however late the connection for notifications opens. */
import { expect, test } from "vitest";
import { startApi } from "../support/api.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { startLive } from "../support/live.ts";
import { startDatabaseProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";
import { createLog } from "../production/failures.ts";

const database = await testDatabase();

/** A connection string to the database through a slow network. */
const slowUrl = async (delayMs: number): Promise<string> => {
  const proxy = await startDatabaseProxy(database);
  proxy.delay(delayMs);
  return proxy.url;
};

test.skipIf(!capabilities.realServer).each([10, 200])(
  "R-SC-5 a change that is notified once, right after the start, is served: %d ms",
  async (delayMs) => {
    const table = `told_${delayMs}`;
    const api = await startApi({ databaseDirectUrl: await slowUrl(delayMs) });
    await database.query(`create table sea.${table} (id int); grant select on sea.${table} to sea_anon; notify pgrst`);
    await until(async () => (await api.get(`/${table}`)).status === 200, "the api serves the new table");
    await api.close();
  },
);

test.skipIf(!capabilities.realServer)(
  "G-SUB-13 a late listener is notified when the server listens, and gets every later notification",
  async () => {
    const api = await startLive({ databaseDirectUrl: await slowUrl(50) });
    const events: string[] = [];
    api.context.listen(
      "later",
      (payload) => events.push(payload),
      (reason) => events.push(reason),
    );
    await until(() => events.length > 0, "the server listens");
    await database.query("notify later, 'heard'");
    await until(() => events.includes("heard"), "the notification arrives");
    expect(events).toEqual(["late", "heard"]);
    await api.close();
  },
);

test.skipIf(!capabilities.realServer)(
  "R-SC-10 a DATABASE_DIRECT_URL with a rejected login causes a warning",
  async () => {
    const { lines, logger } = createLog();
    const api = await startApi({ databaseDirectUrl: database.urlAs("listening_nobody"), logger });
    await until(
      () => lines.some(({ level, message }) => level === "warn" && message === "failed to connect for notifications"),
      "the warning",
    );
    await api.close();
  },
);
