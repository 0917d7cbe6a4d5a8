/** Several hosts: a primary is killed and a standby promoted for real, and a standby serves on its own. */
import { describe, expect, test } from "vitest";
import { initiated, subscribe } from "../support/live.ts";
import { startPrimary, startStandby, type Server } from "../support/postgres-server.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { createShop, keepAsking, logOf, pause, startShop } from "./failures.ts";
import { eventually } from "./support.ts";

const start = async (): Promise<readonly [Server, Server, Server]> => {
  const primary = await startPrimary();
  await createShop(primary);
  return [primary, await startStandby(primary, "s1"), await startStandby(primary, "s2")];
};

describe.skipIf(!hasPostgres)("several hosts", () => {
  test("R-HST-5 a promoted standby takes over: no write is lost, reads are back within 2 s, live queries catch up", async () => {
    const [primary, one, two] = await start();
    await primary.query("alter system set synchronous_standby_names = 'FIRST 1 (s1)'");
    await primary.query("select pg_reload_conf()");
    const places = [primary, one, two].map(({ place }) => place).join(",");
    const log = logOf();
    const api = await startShop(`postgres://postgres@${places}/postgres?target_session_attrs=read-write`, {
      logger: log.logger,
    });
    const socket = await initiated(api);
    subscribe(socket, "1", "subscription { crate(where: { id: { _eq: 1 } }) { n } }");
    await socket.next();
    await eventually(() => log.lines.some(({ message }) => message.includes("by logical replication")), 5000);

    const acknowledged = new Set<string>();
    const ask = async (send: () => Promise<{ readonly status: number }>) => {
      const answer = await send();
      if (answer.status >= 500) await pause(20);
      return answer;
    };
    const writer = keepAsking((i) =>
      ask(async () => {
        const answer = await api.post("/crate", { body: JSON.stringify({ label: `w${i}` }) });
        if (answer.status === 201) acknowledged.add(`w${i}`);
        return answer;
      }),
    );
    const reader = keepAsking(() => ask(() => api.get("/crate?id=eq.1")));
    await pause(1000);
    await primary.kill();
    await pause(1500);
    const before = acknowledged.size;
    await one.promote();
    const readsMs = await eventually(async () => (await api.get("/crate?id=eq.1")).status === 200, 2000, "a read");
    const writesMs = await eventually(() => acknowledged.size > before, 2000, "a write");
    await one.query("update crate set n = 77 where id = 1");
    const liveSinceMs = performance.now();
    await socket.next((message) => message.payload?.data?.crate?.[0]?.n === 77, 3000);
    expect(performance.now() - liveSinceMs).toBeLessThan(3000);
    await pause(1000);
    const [asked] = [await writer.stop(), await reader.stop()];
    for (const status of asked.statuses.keys()) expect(status).toBe(503);
    const found = new Set((await one.query<{ label: string }>("select label from crate")).map(({ label }) => label));
    expect([...acknowledged].filter((label) => !found.has(label))).toEqual([]);
    expect(before).toBeGreaterThan(20);
    // replication and notifications are back, at the new primary; the connection that listens is asked `select`
    await eventually(async () => {
      const [row] = await one.query<{ n: number }>(
        "select count(*)::int as n from pg_stat_activity where application_name = 'relapi' and (query ilike 'listen%' or query = 'select' or backend_type = 'walsender')",
      );
      return row?.n === 2;
    }, 10_000);
    await one.query("create table public.later (id int); grant select on public.later to shop_anon; notify pgrst");
    await eventually(async () => (await api.get("/later")).status === 200, 3000, "a reload");
    expect(readsMs + writesMs).toBeLessThan(4000);
    await socket.close();
    await api.close();
  }, 60_000);

  test("R-HST-6 a hot standby as the only server: reads and live queries, and a quiet log", async () => {
    const [primary, standby] = await start();
    await primary.query(
      "create function relapi_notify_change() returns trigger language plpgsql as $$ begin return null; end $$",
    );
    await primary.query(
      "create trigger relapi_notify_change after update on crate for each statement execute function relapi_notify_change()",
    );
    const [{ at } = { at: "" }] = await primary.query<{ at: string }>("select pg_current_wal_lsn()::text as at");
    await eventually(async () => {
      const [row] = await standby.query<{ is: boolean }>(`select pg_last_wal_replay_lsn() >= '${at}' as is`);
      return row?.is === true;
    }, 5000);
    const log = logOf();
    const api = await startShop(standby.url, { logger: log.logger });
    const socket = await initiated(api);
    subscribe(socket, "1", "subscription { crate(where: { id: { _eq: 1 } }) { n } }");
    await socket.next();
    for (let n = 1; n <= 3; n++) {
      await primary.query(`update crate set n = ${n} where id = 1`);
      await socket.next((message) => message.payload?.data?.crate?.[0]?.n === n, 3000);
    }
    expect((await api.get("/crate?id=eq.1&select=n")).json()).toEqual([{ n: 3 }]);
    expect((await api.post("/crate", { body: '{"label":"x"}' })).status).toBe(405);
    await pause(7000);
    expect(log.lines.filter(({ level }) => level !== "info")).toEqual([]);
    expect(log.lines.filter(({ message }) => message.includes("no notifications"))).toHaveLength(1);
    expect(await primary.query("select 1 from pg_replication_slots")).toEqual([]);
    expect(await standby.query("select 1 from pg_replication_slots")).toEqual([]);
    // promoted, it is a server like any other
    await standby.promote();
    await standby.query("create table public.later (id int); grant select on public.later to shop_anon");
    await eventually(async () => (await api.get("/later")).status === 200, 8000, "a reload");
    expect((await api.post("/crate", { body: '{"label":"x"}' })).status).toBe(201);
    await standby.query("update crate set n = 50 where id = 1");
    await socket.next((message) => message.payload?.data?.crate?.[0]?.n === 50, 3000);
    await socket.close();
    await api.close();
  }, 60_000);
});
