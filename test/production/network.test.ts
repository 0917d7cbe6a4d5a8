/** Sessions that are killed, networks that swallow packets, logins that are refused. */
import { beforeAll, describe, expect, test } from "vitest";
import { hasPostgres, startPrimary, type Server } from "../support/cluster.ts";
import { createShop, isHere, keepAsking, pause, startShop } from "./failures.ts";

describe.skipIf(!isHere(hasPostgres))("sessions that are killed", () => {
  let server: Server;
  beforeAll(async () => {
    server = await startPrimary();
    await createShop(server);
  });

  test("R-HST-7 G-DBE-13 all of them every second: no read fails, and nothing fails twice", async () => {
    const api = await startShop(server.url, { adminSecret: undefined, dbPool: 6 });
    const rest = (path: string) => api.get(`/${path}`);
    const gql = async (query: string) => {
      const { text } = await api.post("/v1/graphql", { body: JSON.stringify({ query }) });
      return { status: text.startsWith('{"data":') ? 200 : 503 };
    };
    const reads = [
      keepAsking(() => rest("crate?id=eq.1")),
      keepAsking(() => rest("crate?select=label&limit=1")),
      keepAsking(() => rest("rpc/slow?seconds=0.3")),
      keepAsking(() => gql("{ crate { id label } }")),
      keepAsking(() => gql("{ crate_aggregate { aggregate { count } } }")),
    ];
    const acknowledged = new Map<string, number>();
    const write = async (who: string, i: number) => {
      const label = `${who}-${i}`;
      const answer = await api.post("/crate", { body: JSON.stringify({ label }) });
      if (answer.status === 201) acknowledged.set(label, (acknowledged.get(label) ?? 0) + 1);
      // the first attempt may have been committed: what is sent again meets it
      return answer.status === 409 ? { status: 200 } : answer;
    };
    const writes = ["a", "b"].map((who) => keepAsking((i) => write(who, i)));
    let killed = 0;
    for (let i = 0; i < 8; i++) {
      await pause(1000);
      const [row] = await server.query<{ n: number }>(
        "select count(pg_terminate_backend(pid))::int as n from pg_stat_activity where application_name = 'relapi'",
      );
      killed += row?.n ?? 0;
    }
    const ofReads = await Promise.all(reads.map((each) => each.stop()));
    const ofWrites = await Promise.all(writes.map((each) => each.stop()));
    expect(killed).toBeGreaterThan(16);
    for (const asked of ofReads) expect(asked).toMatchObject({ failed: 0, failedTwice: 0 });
    for (const asked of ofWrites) expect(asked.failedTwice).toBe(0);
    for (const asked of ofWrites) for (const status of asked.statuses.keys()) expect(status).toBe(503);
    // what was acknowledged is there, once
    const rows = await server.query<{ label: string }>("select label from crate");
    const found = new Set(rows.map(({ label }) => label));
    for (const label of acknowledged.keys()) expect(found.has(label)).toBe(true);
    await api.close();
  }, 60_000);
});
