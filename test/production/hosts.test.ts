/** Several hosts: a primary is really killed and a standby promoted, and a standby serves without a primary. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { initSocket, subscribe } from "../support/live.ts";
import { startPrimary, startStandby } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { until } from "../support/until.ts";
import { createShop, keepAsking, createLog, startShop } from "./failures.ts";

describe.skipIf(!hasPostgres)("several hosts", () => {
  test("R-HST-5 after the promotion of a standby no write is lost, reads and writes work, and live queries catch up", async () => {
    // Writes of the API wait for the first standby, writes of the test do not.
    const primary = await startPrimary(["synchronous_standby_names = 'FIRST 1 (s1)'"]);
    await createShop(primary);
    const firstStandby = await startStandby(primary, "s1", ["synchronous_standby_names = ''"]);
    const secondStandby = await startStandby(primary, "s2");
    const synchronous = `options=${encodeURIComponent("-c synchronous_commit=on")}`;
    const places = [primary, firstStandby, secondStandby].map(({ place }) => place).join(",");
    const log = createLog();
    const api = await startShop(
      `postgres://postgres@${places}/postgres?target_session_attrs=read-write&${synchronous}`,
      {
        logger: log.logger,
      },
    );
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { crate(where: { id: { _eq: 1 } }) { n } }");
    await socket.next();
    await until(
      () => log.lines.some(({ message }) => message.includes("by logical replication")),
      "the api follows changes by replication",
    );

    const acknowledgedLabels = new Set<string>();
    const writer = keepAsking(async (i) => {
      const answer = await api.post("/crate", { body: JSON.stringify({ label: `w${i}` }) });
      if (answer.status === 201) acknowledgedLabels.add(`w${i}`);
      return answer;
    });
    const reader = keepAsking(() => api.get("/crate?id=eq.1"));
    await until(() => acknowledgedLabels.size > 20, "twenty writes are acknowledged");
    await primary.kill();
    await until(
      () => writer.requestCounts.failedCount > 0 && reader.requestCounts.failedCount > 0,
      "both clients meet the loss",
    );
    const before = acknowledgedLabels.size;
    await firstStandby.promote();
    await until(async () => (await api.get("/crate?id=eq.1")).status === 200, "a read is answered");
    await until(() => acknowledgedLabels.size > before + 20, "twenty more writes are acknowledged");
    await firstStandby.query("update crate set n = 77 where id = 1");
    await socket.next((message) => message.payload?.data?.crate?.[0]?.n === 77);
    const [requestCounts] = [await writer.stop(), await reader.stop()];
    for (const status of requestCounts.statuses.keys()) expect(status).toBe(503);
    const storedLabels = new Set(
      (await firstStandby.query<{ label: string }>("select label from crate")).map(({ label }) => label),
    );
    expect([...acknowledgedLabels].filter((label) => !storedLabels.has(label))).toEqual([]);
    // Replication and notifications work again on the new primary.
    await until(async () => {
      const [row] = await firstStandby.query<{ n: number }>(
        "select count(*)::int as n from pg_stat_activity where application_name in ('relapi listener', 'relapi replication')",
      );
      return row?.n === 2;
    }, "the api listens and replicates at the new primary");
    await firstStandby.query(
      "create table public.later (id int); grant select on public.later to shop_anon; notify pgrst",
    );
    await until(async () => (await api.get("/later")).status === 200, "the api knows the new table");
    await socket.close();
    await api.close();
  });

  test("R-HST-6 a hot standby as the only server serves reads and live queries with few log lines", async () => {
    const primary = await startPrimary();
    await createShop(primary);
    const standby = await startStandby(primary, "s1");
    await primary.query(
      "create function relapi_notify_change() returns trigger language plpgsql as $$ begin return null; end $$",
    );
    await primary.query(
      "create trigger relapi_notify_change after update on crate for each statement execute function relapi_notify_change()",
    );
    const [{ at } = { at: "" }] = await primary.query<{ at: string }>("select pg_current_wal_lsn()::text as at");
    await until(async () => {
      const [row] = await standby.query<{ is: boolean }>(`select pg_last_wal_replay_lsn() >= '${at}' as is`);
      return row?.is === true;
    }, "the standby has replayed the log");
    const log = createLog();
    const api = await startShop(standby.url, { logger: log.logger });
    const socket = await initSocket(api);
    subscribe(socket, "1", "subscription { crate(where: { id: { _eq: 1 } }) { n } }");
    await socket.next();
    for (let n = 1; n <= 3; n++) {
      await primary.query(`update crate set n = ${n} where id = 1`);
      await socket.next((message) => message.payload?.data?.crate?.[0]?.n === n);
    }
    expect((await api.get("/crate?id=eq.1&select=n")).json()).toEqual([{ n: 3 }]);
    expect((await api.post("/crate", { body: '{"label":"x"}' })).status).toBe(405);
    // The API checks again whether the server can listen by now.
    const attempts = (): number =>
      readFileSync(standby.logFile, "utf8").split("cannot execute LISTEN during recovery").length - 1;
    await until(() => attempts() > 1, "the api tries to listen a second time");
    expect(log.lines.filter(({ level }) => level !== "info")).toEqual([]);
    expect(log.lines.filter(({ message }) => message.includes("no notifications"))).toHaveLength(1);
    expect(await primary.query("select 1 from pg_replication_slots")).toEqual([]);
    expect(await standby.query("select 1 from pg_replication_slots")).toEqual([]);
    // A promoted standby is an ordinary server.
    await standby.promote();
    await standby.query("create table public.later (id int); grant select on public.later to shop_anon");
    await until(async () => (await api.get("/later")).status === 200, "the api reads the schema again");
    expect((await api.post("/crate", { body: '{"label":"x"}' })).status).toBe(201);
    await standby.query("update crate set n = 50 where id = 1");
    await socket.next((message) => message.payload?.data?.crate?.[0]?.n === 50);
    await socket.close();
    await api.close();
  });
});
