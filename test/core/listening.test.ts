/** Nothing that is notified of is lost, however late the connection for notifications is. */
import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { startApi, forGraphql } from "../support/api.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { initiated, subscribe } from "../support/live.ts";
import { startProxy } from "../support/proxy.ts";
import { until } from "../support/until.ts";
import { logOf } from "../production/failures.ts";
import { buildLiveTriggers } from "../../presets/live-triggers.ts";

const database = await testDatabase();
const HOUR_MS = 3_600_000;

/** A connection string to the database through a network that takes its time. */
const slowUrl = async (delayMs: number): Promise<string> => {
  const url = new URL(database.urlAs("postgres"));
  const proxy = await startProxy(Number(url.port));
  proxy.delay(delayMs);
  url.host = proxy.place;
  return url.href;
};

// half a second is what the first load waits for
test.skipIf(!capabilities.realServer).each([10, 200])(
  "R-SC-5 a change that is notified of once, right after the start, is served: %d ms",
  async (delayMs) => {
    const table = `told_${delayMs}`;
    const api = await startApi({ databaseDirectUrl: await slowUrl(delayMs) });
    await database.query(`create table sea.${table} (id int); grant select on sea.${table} to sea_anon; notify pgrst`);
    await until(async () => (await api.get(`/${table}`)).status === 200, "the api serves the new table");
    await api.close();
  },
);

test.skipIf(!capabilities.realServer)(
  "G-SUB-13 a change after the first answer is heard, though the server does not listen yet",
  async () => {
    await database.query(await buildLiveTriggers({ databaseUrl: database.urlAs("postgres"), dbSchemas: ["public"] }));
    const api = await startApi(
      forGraphql({
        databaseDirectUrl: await slowUrl(200),
        liveQueryInterval: HOUR_MS,
        parts: [without("replication-changes")],
      }),
    );
    const socket = await initiated(api);
    subscribe(socket, "1", "subscription { studio_by_pk(id: 1) { name } }");
    await socket.next();
    await database.query("update studio set name = 'changed once' where id = 1");
    expect((await socket.next()).payload.data).toEqual({ studio_by_pk: { name: "changed once" } });
    await socket.close();
    await api.close();
  },
);

test.skipIf(!capabilities.realServer)("R-SC-10 a DATABASE_DIRECT_URL whose login is refused is warned of", async () => {
  const { lines, logger } = logOf();
  const api = await startApi({ databaseDirectUrl: database.urlAs("listening_nobody"), logger });
  await until(
    () => lines.some(({ level, message }) => level === "warn" && message === "failed to connect for notifications"),
    "the warning",
  );
  await api.close();
});
