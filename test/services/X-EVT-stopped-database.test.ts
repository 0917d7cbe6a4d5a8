/** Events that wait while their database is stopped. */
import { describe, expect, onTestFinished, test } from "vitest";
import { compose, relApi } from "../../core/index.ts";
import { eventHandlers } from "../../plugins/services/index.ts";
import { plus } from "../../presets/index.ts";
import { hasPostgres } from "../support/postgres-programs.ts";
import { startPrimary } from "../support/postgres-server.ts";
import { until } from "../support/until.ts";

describe.skipIf(!hasPostgres)("a database that is stopped abruptly", () => {
  test("X-EVT-6 X-EVT-9 waiting events, and later ones, arrive after the database has started again", async () => {
    const server = await startPrimary();
    await server.query("create table public.parcel (id int primary key)");
    const received = new Set<unknown>();
    let attempts = 0;
    let isBroken = true;
    const handle = ({ row }: { readonly row: Record<string, unknown> }): void => {
      attempts += 1;
      if (isBroken) throw new Error("broken");
      received.add(row["id"]);
    };
    const insert = { handle, retryCount: 1000, intervalSeconds: 1, timeoutSeconds: 1 };
    const preset = plus({ databaseUrl: server.url, anonRole: "postgres", logLevel: "error" });
    const api = relApi(compose(preset, eventHandlers({ "public.parcel": { insert } })));
    onTestFinished(api.close);
    await api.ready;
    await until(async () => {
      const triggers = await server.query("select from pg_trigger where tgname like 'relapi_event_%'");
      return triggers.length === 1;
    }, "the trigger is installed");
    await server.query("insert into public.parcel select generate_series(1, 20)");
    await until(() => attempts >= 20, "attempts have failed");
    await server.kill();
    isBroken = false;
    await server.start();
    await server.query("insert into public.parcel values (21)");
    await until(async () => {
      const rows = await server.query("select from relapi.event where status = 'delivered'");
      return rows.length === 21;
    }, "all events are delivered");
    expect(received.size).toBe(21);
  });
});
