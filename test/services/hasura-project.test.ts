/** A whole project as Hasura's command line exports it: 15 tables, with every kind of object that calls services. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { buildSchema } from "graphql";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { asAdmin, capabilities } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { runCommand } from "../support/metadata-commands.ts";
import { openSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";
import { json, startHook } from "./hook-server.ts";
import { startRemote } from "./remote-server.ts";
import { startWithWebhooks } from "./start.ts";
import { createLogger } from "../support/logger.ts";

const folder = fileURLToPath(new URL("project/", import.meta.url));

const PARCELS = `
  type Query { parcel(purchase_id: Int!): Parcel  position(parcel: Int!): String  secret: String }
  type Subscription { moved(purchase_id: Int!): Parcel }
  type Parcel { id: Int! weight: Float owner: String }
`;

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const database = await openDatabase();
  await database.query("drop schema public cascade; create schema public");
  await database.query(await readFile(`${folder}schema.sql`, "utf8"));
  const hook = await startHook();
  const shipping = buildSchema(PARCELS);
  shipping.getQueryType()!.getFields()["parcel"]!.resolve = (_root, { purchase_id: id }) => ({ id, weight: 1.5 });
  shipping.getQueryType()!.getFields()["position"]!.resolve = (_root, { parcel }) => `dock ${parcel}`;
  const { moved } = shipping.getSubscriptionType()!.getFields();
  moved!.subscribe = async function* (_root, { purchase_id: id }) {
    for (const weight of [1, 2]) yield { moved: { id, weight } };
  };
  const remote = await startRemote(shipping);
  const base = new URL("/", hook.url).href.slice(0, -1);
  const variables = {
    SHOP_HOOKS: base,
    SHOP_PURCHASE_HOOK: `${base}/purchase`,
    SHOP_KEY: "key-of-the-shop",
    SHOP_SHIPPING: remote.url,
  };
  Object.assign(process.env, variables);
  afterAll(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
  });
  const problems: string[] = [];
  const note = (line: string, fields?: unknown): void => {
    // A busy machine may miss the heartbeat of the connection.
    if (line !== "lost the connection for notifications") problems.push(`${line} ${JSON.stringify(fields)}`);
  };
  const api = await startWithWebhooks({
    on: database,
    metadata: `${folder}metadata`,
    logger: createLogger({ error: note, warn: note }),
  });

  const customer = asAdmin("customer", { "user-id": "1" });
  const anonymous = asAdmin("anonymous");
  const requestsTo = (path: string): readonly any[] =>
    hook.requests.filter(({ url }) => url === path).map(({ body, headers }) => ({ ...JSON.parse(body), headers }));

  beforeEach(() => {
    hook.requests.length = 0;
    hook.answer = json({});
  });

  test("G-MET-5 P-HAS-9 the project loads without a warning and without inconsistent objects", async () => {
    expect(problems).toEqual([]);
    expect(await runCommand(api, "get_inconsistent_metadata", {})).toEqual({
      is_consistent: true,
      inconsistent_objects: [],
    });
  });

  test("G-MET-5 columns, functions, inherited roles and REST endpoints work as the metadata says", async () => {
    const member = asAdmin("member", { "user-id": "1" });
    expect(await api.gql("{ customer { firstName full_name purchases { lines { quantity } } } }", {}, member)).toEqual({
      data: {
        customer: [
          { firstName: "Ada", full_name: "Ada Lopes", purchases: [{ lines: [{ quantity: 2 }, { quantity: 1 }] }] },
        ],
      },
    });
    expect(await api.gql('{ search_product(args: { search: "lamp" }) { name } }', {}, anonymous)).toEqual({
      data: { search_product: [{ name: "Lamp" }, { name: "Lampshade" }] },
    });
    expect((await api.get("/api/rest/products/1", { headers: asAdmin() })).json()).toEqual({
      product_by_pk: { name: "Lamp", price: 20 },
    });
  });

  test("X-ACT-1 X-ACT-4 a synchronous action calls its webhook, and its result is related to a table", async () => {
    hook.answer = json({ token: "t", customer_id: 1 });
    const login = 'mutation { login(email: "ada@example.org", password: "p") { token customer { full_name } } }';
    expect(await api.gql(login, {}, asAdmin())).toEqual({
      data: { login: { token: "t", customer: { full_name: "Ada Lopes" } } },
    });
    expect(requestsTo("/login")).toMatchObject([
      {
        action: { name: "login" },
        input: { email: "ada@example.org", password: "p" },
        session_variables: { "x-hasura-role": "admin" },
        headers: { "x-shop-key": "key-of-the-shop" },
      },
    ]);
  });

  test("X-ACT-12 the result of an asynchronous action arrives in a query", async () => {
    hook.answer = json({ url: "https://example.org/export" });
    const { data } = await api.gql("mutation { export_purchases(year: 2026) }", {}, customer);
    const read = `query ($id: uuid!) { export_purchases(id: $id) { id errors output { url } } }`;
    let result: any;
    await until(async () => {
      result = await api.gql(read, { id: data.export_purchases }, customer);
      return result.data.export_purchases.output !== null;
    }, "the action has a result");
    expect(result.data.export_purchases).toEqual({
      id: data.export_purchases,
      errors: null,
      output: { url: "https://example.org/export" },
    });
    expect(requestsTo("/export")).toMatchObject([{ action: { name: "export_purchases" }, input: { year: 2026 } }]);
  });

  test("X-RMT-13 a relationship to a remote schema answers for all rows in one request", async () => {
    remote.requests.length = 0;
    expect(
      await api.gql("{ purchase(order_by: { id: asc }, limit: 2) { id parcel { weight } } }", {}, asAdmin()),
    ).toEqual({
      data: {
        purchase: [
          { id: 1, parcel: { weight: 1.5 } },
          { id: 2, parcel: { weight: 1.5 } },
        ],
      },
    });
    expect(remote.requests).toHaveLength(1);
    expect(remote.requests[0]?.headers["x-shop-key"]).toBe("key-of-the-shop");
    const rejection = await api.gql("{ purchase { parcel { owner } } }", {}, customer);
    expect(rejection.errors[0].extensions.code).toBe("validation-failed");
  });

  test("X-RMT-14 types of a remote schema are related to a table and to a field of a remote schema", async () => {
    remote.requests.length = 0;
    const query =
      "{ one: parcel(purchase_id: 1) { ...parts } other: parcel(purchase_id: 2) { ...parts } } fragment parts on ShippingParcel { position purchase { id status } }";
    expect(await api.gql(query, {}, asAdmin())).toEqual({
      data: {
        one: { position: "dock 1", purchase: { id: 1, status: "open" } },
        other: { position: "dock 2", purchase: { id: 2, status: "open" } },
      },
    });
    const { data } = await api.gql("{ parcel(purchase_id: 2) { purchase { id } } }", {}, customer);
    expect(data).toEqual({ parcel: { purchase: null } });
    const rejection = await api.gql("{ parcel(purchase_id: 1) { position } }", {}, customer);
    expect(rejection.errors[0].extensions.code).toBe("validation-failed");
  });

  test("X-RMT-15 a subscription of a remote schema sends its events with rows of a table", async () => {
    const socket = await openSocket(api);
    await socket.init();
    const query = "subscription { moved(purchase_id: 2) { weight purchase { note } } }";
    socket.send({ id: "1", type: "subscribe", payload: { query } });
    for (const weight of [1, 2])
      expect((await socket.next()).payload).toEqual({ data: { moved: { weight, purchase: { note: "second" } } } });
    expect(await socket.next()).toEqual({ id: "1", type: "complete" });
    await socket.close();
  });

  test("X-EVT-13 X-EVT-15 changes of rows reach the webhooks with the session of the caller", async () => {
    const insert = 'mutation { insert_purchase_one(object: { note: "gift" }) { id customer_id } }';
    const { data } = await api.gql(insert, {}, customer);
    expect(data.insert_purchase_one.customer_id).toBe(1);
    await until(() => requestsTo("/purchase").length === 1, "the event arrives");
    expect(requestsTo("/purchase")[0]).toMatchObject({
      event: {
        op: "INSERT",
        data: { old: null, new: { id: data.insert_purchase_one.id, note: "gift", status: "open" } },
        session_variables: { "x-hasura-role": "customer", "x-hasura-user-id": "1" },
      },
      table: { schema: "public", name: "purchase" },
      trigger: { name: "purchase_changed" },
    });
    const { event_id } = await runCommand(api, "pg_invoke_event_trigger", {
      name: "payment_arrived",
      payload: { amount: 1 },
    });
    await until(() => requestsTo("/payment").length === 1, "the event of the administrator arrives");
    expect(requestsTo("/payment")[0]).toMatchObject({
      id: event_id,
      event: { op: "MANUAL", data: { new: { amount: 1 } } },
    });
  });

  test("X-SCH-9 X-SCH-12 cron triggers are listed, and a one-off event reaches its webhook", async () => {
    expect(await runCommand(api, "get_cron_triggers", {})).toMatchObject({
      cron_triggers: [{ name: "nightly_report", schedule: "0 3 * * *", payload: { kind: "sales" } }],
    });
    const { event_id } = await runCommand(api, "create_scheduled_event", {
      webhook: "{{SHOP_HOOKS}}/reminder",
      schedule_at: new Date().toISOString(),
      payload: { customer: 1 },
    });
    await until(() => requestsTo("/reminder").length === 1, "the scheduled event arrives");
    expect(requestsTo("/reminder")[0]).toMatchObject({ id: event_id, payload: { customer: 1 } });
  });
});
