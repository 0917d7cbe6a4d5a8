/** Event triggers with handlers in TypeScript: real triggers, a real queue, and several servers. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { without } from "../../core/index.ts";
import { eventHandlers, type RowEvent, type TableEventHandlers } from "../../plugins/services/index.ts";
import { relapi, type Environment } from "../cli/run.ts";
import { asAdmin, capabilities, rolledBack, type StartOptions } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";
import { until } from "../support/until.ts";
import { temporaryFile } from "../support/temporary-files.ts";
import { startLogged, type LoggedApi } from "./start.ts";
import { createEventReader, EVENTS_OF_TABLE } from "./stored-events.ts";

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const database = await openDatabase();

  type Handlers = Readonly<Record<string, TableEventHandlers>>;

  /** Starts an api with the handlers, and waits for their triggers. */
  const start = (handlers: Handlers, extraOptions: StartOptions = {}): Promise<LoggedApi> =>
    startLogged({ on: database, parts: [eventHandlers(handlers)], ...extraOptions });

  const listTriggers = async (table: string): Promise<readonly string[]> => {
    const rows = await database.query<{ name: string }>(
      "select tgname::text as name from pg_trigger where tgrelid = $1::regclass and not tgisinternal order by 1",
      [`public.${table}`],
    );
    return rows.map(({ name }) => name);
  };

  /** Each test has a table of its own, because events of a table outlive their api. */
  const createTable = async (name: string): Promise<void> => {
    await database.query(`
      create table public.${name} (
        id int generated always as identity primary key, item text, price numeric, note json
      );
      grant all on public.${name} to music_editor`);
  };

  const { listEvents, untilEnded } = createEventReader(database, EVENTS_OF_TABLE);

  const editor = asAdmin("music_editor", { "user-id": "7" });

  describe("changes", () => {
    test("X-EVT-1 X-EVT-6 inserts, updates and deletes of all surfaces reach their handlers with the rows", async () => {
      await createTable("purchase");
      const received: RowEvent[] = [];
      const handler = (event: RowEvent): void => void received.push(event);
      const api = await start({ "public.purchase": { insert: handler, update: handler, delete: handler } });
      await api.post("/purchase", { headers: editor, body: { item: "tea", price: 2.5 } });
      await until(() => received.length === 1, "the insert arrived");
      await api.gql(`mutation { update_purchase(where: {}, _set: { item: "coffee" }) { affected_rows } }`, {}, editor);
      await until(() => received.length === 2, "the update arrived");
      await database.query("delete from public.purchase");
      await until(() => received.length === 3, "the delete arrived");
      const row = { id: 1, item: "tea", price: 2.5, note: null };
      const session = { "x-session-role": "music_editor", "x-session-user-id": "7" };
      const table = { schema: "public", name: "purchase" };
      expect(received).toEqual([
        expect.objectContaining({
          table,
          trigger: "public.purchase.insert",
          operation: "INSERT",
          row,
          old: undefined,
          session,
          attempt: 1,
        }),
        expect.objectContaining({ table, operation: "UPDATE", row: { ...row, item: "coffee" }, old: row, session }),
        expect.objectContaining({
          table,
          operation: "DELETE",
          row: { ...row, item: "coffee" },
          old: undefined,
          session: undefined,
        }),
      ]);
      await untilEnded("purchase", "delivered");
    });

    test("X-EVT-1 X-EVT-3c the first request causes an event with session variables, although its model is older", async () => {
      await createTable("early");
      const received: RowEvent[] = [];
      const api = await start({ "public.early": { insert: (event) => void received.push(event) } });
      await api.gql(`mutation { insert_early(objects: [{ item: "a" }]) { affected_rows } }`, {}, editor);
      await until(() => received.length === 1, "the insert arrived");
      expect(received[0]?.session).toMatchObject({ "x-session-user-id": "7" });
    });

    test("X-EVT-1 a change that is rolled back makes no event", async () => {
      await createTable("undone");
      const received: RowEvent[] = [];
      const api = await start({ "public.undone": { insert: (event) => void received.push(event) } });
      const undone = await api.post("/undone", { headers: { ...editor, ...rolledBack() }, body: { item: "undone" } });
      expect(undone.status).toBe(201);
      await api.post("/undone", { headers: editor, body: { item: "kept" } });
      await until(() => received.length > 0, "the second insert arrived");
      expect(received.map(({ row }) => row["item"])).toEqual(["kept"]);
      expect(await listEvents("undone")).toHaveLength(1);
    });

    test("X-EVT-1 a caller without rights on events writes rows, and reads no events", async () => {
      await createTable("foreign_order");
      const received: RowEvent[] = [];
      await start({ "public.foreign_order": { insert: (event) => void received.push(event) } });
      const client = await database.connect();
      onTestFinished(() => client.end());
      await client.query("set role music_editor");
      await client.query("insert into public.foreign_order (item) values ('a')");
      await expect(client.query("select from relapi.event")).rejects.toThrow("permission denied");
      await expect(
        client.query(
          "create temp table t (); create trigger t after insert on t for each row execute function relapi.record_event('x', '', 'a', 'b')",
        ),
      ).rejects.toThrow("permission denied");
      await until(() => received.length === 1, "the insert arrived");
    });

    test("X-EVT-2 an update is an event if a column of its list changes", async () => {
      await createTable("priced");
      const received: RowEvent[] = [];
      const handle = (event: RowEvent): void => void received.push(event);
      await start({ "public.priced": { update: { columns: ["price", "note"], handle } } });
      await database.query(`
        insert into public.priced (item, price, note) values ('a', 1, '{"a": 1}');
        update public.priced set item = 'b';
        update public.priced set price = 1, note = '{"a": 1}';
        update public.priced set note = '{"a": 2}';
        update public.priced set price = 2`);
      await until(() => received.length === 2, "both changes arrived");
      expect(await listEvents("priced")).toHaveLength(2);
      expect(new Set(received.map(({ row }) => row["price"]))).toEqual(new Set([1, 2]));
    });

    test("X-EVT-1 an update that changes no value causes no event", async () => {
      await createTable("unchanged");
      const received: RowEvent[] = [];
      await start({ "public.unchanged": { update: (event) => void received.push(event) } });
      await database.query(`
        insert into public.unchanged (item) values ('a');
        update public.unchanged set item = 'a';
        update public.unchanged set item = 'b'`);
      await until(() => received.length === 1, "the change arrived");
      expect(await listEvents("unchanged")).toHaveLength(1);
    });

    test("X-EVT-1 rows of a partition are changes of the table that has the trigger", async () => {
      await database.query(`
        create table public.parted (id int primary key, item text) partition by range (id);
        create table public.parted_1 partition of public.parted for values from (0) to (10)`);
      const received: RowEvent[] = [];
      const api = await start({ "public.parted": { insert: (event) => void received.push(event) } });
      await database.query("insert into public.parted_1 values (1, 'a')");
      await until(() => received.length === 1, "the insert arrived");
      expect(received[0]?.table).toEqual({ schema: "public", name: "parted" });
      expect(api.log.filter((line) => line.includes("are installed"))).toHaveLength(1);
    });
  });

  describe("the declaration", () => {
    const handle = (): void => undefined;

    test.each<[string, unknown, string]>([
      [
        "a table without schema",
        { order: { insert: handle } },
        '"order" is not a table with its schema, such as "public.order"',
      ],
      ["no handlers", { "public.order": null }, '"public.order" has no handlers: { insert: async ({ row }) => … }'],
      [
        "an unknown operation",
        { "public.order": { upsert: handle } },
        '"public.order".upsert is unknown: use insert, update or delete',
      ],
      [
        "no function",
        { "public.order": { insert: {} } },
        '"public.order".insert is neither a function nor an object with the function handle',
      ],
      [
        "an unknown option",
        { "public.order": { insert: { handle, retries: 1 } } },
        '"public.order".insert has an unknown option "retries"',
      ],
      [
        "a bad number",
        { "public.order": { insert: { handle, retryCount: 1.5 } } },
        '"public.order".insert has retryCount, which is not a whole number from 0 to 10000',
      ],
      [
        "no time",
        { "public.order": { insert: { handle, timeoutSeconds: 0 } } },
        '"public.order".insert has timeoutSeconds, which is not a whole number from 1 to 3600',
      ],
      [
        "columns of an insert",
        { "public.order": { insert: { handle, columns: ["a"] } } },
        '"public.order".insert has columns, which only update supports',
      ],
      [
        "no columns",
        { "public.order": { update: { handle, columns: [] } } },
        '"public.order".update has columns that are not a list of column names',
      ],
      [
        "a column that is no name",
        { "public.order": { update: { handle, columns: [1] } } },
        '"public.order".update has columns that are not a list of column names',
      ],
      [
        "a name of Object.prototype",
        { "public.order": { insert: { handle, constructor: 1 } } },
        '"public.order".insert has an unknown option "constructor"',
      ],
      ["no object", undefined, "the argument is not an object whose keys are tables"],
      ["a table with NUL", { "public.\u0000": { insert: handle } }, '"public.\u0000" is not a table with its schema'],
      [
        "an order that is no boolean",
        { "public.order": { update: { handle, ordered: 1 } } },
        '"public.order".update has a value of ordered that is neither true nor false',
      ],
    ])("X-EVT-2 %s is rejected", (_, handlers, message) => {
      expect(() => eventHandlers(handlers as Handlers)).toThrow(`eventHandlers: ${message}`);
    });

    test("X-EVT-1a a statement that changes many rows makes an event for each, also of inherited tables", async () => {
      await createTable("bulk_order");
      await createTable("bulk_child");
      await database.query(`
        alter table public.bulk_order drop column note;
        alter table public.bulk_child inherit public.bulk_order`);
      await createTable("bulk_alone");
      await database.query("alter table public.bulk_alone drop column price");
      const received: string[] = [];
      const handle = ({ operation, table, row }: RowEvent): void =>
        void received.push(`${operation} ${table.name} ${JSON.stringify(row)}`);
      const operations = { insert: { handle, ordered: true }, delete: handle };
      await start({ "public.bulk_alone": operations, "public.bulk_child": operations });
      await database.query(`
        insert into public.bulk_alone (item) values ('a'), ('b');
        insert into public.bulk_alone (item) select 'c' where false;
        insert into public.bulk_alone (id, item) overriding system value values (2, 'c'), (3, 'd')
          on conflict (id) do update set item = excluded.item;
        insert into public.bulk_child (item) values ('e');
        delete from public.bulk_order;
        delete from public.bulk_alone where id < 3`);
      await until(() => received.length === 7, "all events arrived");
      expect(received.toSorted()).toEqual([
        'DELETE bulk_alone {"id":1,"item":"a","note":null}',
        'DELETE bulk_alone {"id":2,"item":"c","note":null}',
        'DELETE bulk_child {"id":1,"item":"e","price":null,"note":null}',
        'INSERT bulk_alone {"id":1,"item":"a","note":null}',
        'INSERT bulk_alone {"id":2,"item":"b","note":null}',
        'INSERT bulk_alone {"id":3,"item":"d","note":null}',
        'INSERT bulk_child {"id":1,"item":"e","price":null,"note":null}',
      ]);
    });

    test("X-EVT-5 X-EVT-21 handlers of missing tables, columns and keys are reported, and the others work", async () => {
      await createTable("present");
      await database.query("create table public.keyless (id int)");
      const received: RowEvent[] = [];
      const api = await start({
        "public.absent": { insert: handle },
        "public.keyless": { insert: { handle, ordered: true } },
        "public.artist_total": { insert: handle },
        "public.present": { insert: (event) => void received.push(event), update: { columns: ["colour"], handle } },
      });
      await database.query("insert into public.present (item) values ('a')");
      await until(() => received.length === 1, "the insert arrived");
      const text = api.log.join("\n");
      expect(text).toContain('event trigger public.absent.insert: there is no table "public"."absent"; ignored');
      expect(text).toContain(
        'event trigger public.artist_total.insert: there is no table "public"."artist_total"; ignored',
      );
      expect(text).toContain("event trigger public.keyless.insert: ordered: the table has no primary key; ignored");
      expect(text).toContain('event trigger public.present.update: update: the table has no column "colour"; ignored');
    });
  });

  describe("the installation", () => {
    const nothing = (): void => undefined;

    test("X-EVT-3 a second start changes nothing, and a change of the handler replaces the trigger", async () => {
      await createTable("replaced");
      const handler = (columns?: string[]): Handlers => ({
        "public.replaced": { update: { handle: nothing, ...(columns && { columns }) } },
      });
      const first = await start(handler());
      await until(() => first.log.some((line) => line.startsWith("event triggers are installed")), "installed");
      await first.close();
      const version = (): Promise<unknown> =>
        database.query("select oid, xmin from pg_trigger where tgrelid = 'public.replaced'::regclass");
      const before = await version();
      const received: RowEvent[] = [];
      const second = await start({ "public.replaced": { update: (event) => void received.push(event) } });
      await database.query("insert into public.replaced (item) values ('a'); update public.replaced set item = 'b'");
      await until(() => received.length === 1, "the second server delivers");
      expect(await version()).toEqual(before);
      await second.close();
      const third = await start(handler(["price"]));
      await until(() => third.log.some((line) => line.startsWith("event triggers are installed")), "replaced");
      expect(await version()).not.toEqual(before);
      expect(await listTriggers("replaced")).toEqual(["relapi_event_public.replaced.update_update"]);
    });

    test("X-EVT-3c a start that installs triggers loads the model once", async () => {
      const ownDatabase = await openDatabase();
      await ownDatabase.query("create table public.counted (id int primary key)");
      const api = await start({ "public.counted": { insert: nothing } }, { on: ownDatabase });
      await api.gql("{ __typename }");
      expect(api.log.filter((line) => line.startsWith("schema loaded"))).toHaveLength(1);
    });

    test("X-EVT-1 X-EVT-3c a write that cascades to a table with a new trigger passes the session variables", async () => {
      const ownDatabase = await openDatabase();
      await ownDatabase.query(`
        create table public.parent_order (id int primary key);
        create table public.child_order (id int references public.parent_order on delete cascade);
        insert into public.parent_order values (1);
        insert into public.child_order values (1);
        grant all on public.parent_order, public.child_order to music_editor`);
      const received: RowEvent[] = [];
      const handlers: Handlers = { "public.child_order": { delete: (event) => void received.push(event) } };
      const api = await start(handlers, { on: ownDatabase });
      await api.delete("/parent_order?id=eq.1", { headers: asAdmin("music_editor", { "user-id": "7" }) });
      await until(() => received.length === 1, "the delete arrived");
      expect(received[0]?.session).toMatchObject({ "x-session-user-id": "7" });
    });

    test("X-EVT-3 with EVENTS_INSTALL=false the start changes nothing and says what is missing", async () => {
      await createTable("left_alone");
      const api = await start({ "public.left_alone": { insert: nothing } }, { eventsInstall: false });
      await until(() => api.log.some((line) => line.startsWith("event triggers do not work")), "the log says so");
      expect(api.log.join("\n")).toContain(
        'event triggers are not installed: public.left_alone.insert: run \\"relapi --preset plus events install\\"',
      );
      expect(await listTriggers("left_alone")).toEqual([]);
    });

    test("X-EVT-3 long names of triggers are shortened without a clash", async () => {
      const table = "t".repeat(63);
      await createTable(table);
      const received: RowEvent[] = [];
      const handle = (event: RowEvent): void => void received.push(event);
      await start({ [`public.${table}`]: { insert: handle, update: handle } });
      await database.query(`insert into public.${table} (item) values ('a'); update public.${table} set item = 'b'`);
      await until(() => received.length === 2, "both arrived");
    });

    test("X-EVT-3b status and remove of the command line", async () => {
      const ownDatabase = await openDatabase();
      const environment = { DATABASE_URL: ownDatabase.options.databaseUrl ?? "", DB_SCHEMAS: "public", PRESET: "plus" };
      expect(await relapi(["events", "status"], environment)).toMatchObject({ code: 0, stdout: "no event triggers\n" });
      expect(await relapi(["events", "remove"], environment)).toMatchObject({ code: 0, stdout: "nothing to remove\n" });
      await ownDatabase.query("create table public.listed (id int primary key)");
      const operations = { insert: nothing, delete: nothing };
      const api = await start({ "public.listed": operations }, { on: ownDatabase });
      await until(() => api.log.some((line) => line.startsWith("event triggers are installed")), "installed");
      await api.close();
      const line = (operation: string): string =>
        `public.listed.${operation}: unknown on public.listed; 0 pending, 0 delivered, 0 dead\n`;
      expect(await relapi(["events", "status"], environment)).toMatchObject({
        code: 0,
        stdout: line("delete") + line("insert"),
      });
      expect(await relapi(["events", "remove", "public.listed.delete", "a"], environment)).toMatchObject({
        code: 1,
        stderr: "relapi: the database has no event trigger a\n",
      });
      expect(await relapi(["events", "remove", "public.listed.delete"], environment)).toMatchObject({
        code: 0,
        stdout: "removed 1 trigger; the events stay in the schema relapi\n",
      });
      expect(await relapi(["events", "status"], environment)).toMatchObject({ code: 0, stdout: line("insert") });
      expect(await relapi(["events", "remove"], environment)).toMatchObject({
        code: 0,
        stdout: "removed 1 trigger; the events stay in the schema relapi\n",
      });
      expect(await ownDatabase.query("select from pg_trigger where tgname like 'relapi_event%'")).toEqual([]);
      const rejection = await relapi(["events", "status"], { ...environment, PRESET: "full-compat" });
      expect(rejection).toMatchObject({
        code: 1,
        stderr: "relapi: the preset has no event triggers: run relapi --preset plus events …\n",
      });
    });

    test("X-EVT-3 install of the command line reports the schemas and the triggers", async () => {
      const ownDatabase = await openDatabase();
      const environment = { DATABASE_URL: ownDatabase.options.databaseUrl ?? "", DB_SCHEMAS: "public", PRESET: "plus" };
      const installs = async (stdout: string, extraEnvironment: Environment = {}): Promise<void> =>
        expect(await relapi(["events", "install"], { ...environment, ...extraEnvironment })).toMatchObject({
          code: 0,
          stdout,
        });
      await installs("installed the schemas relapi and relapi_queue\n");
      await installs("nothing to install\n");
      await ownDatabase.query("create table public.announced (id int primary key)");
      const trigger = { name: "announced", webhook: "https://hook.example", definition: { insert: { columns: "*" } } };
      const metadata = buildMetadataDocument([table("announced", { event_triggers: [trigger] })]);
      const file = { METADATA: temporaryFile("metadata.json", JSON.stringify(metadata)) };
      await installs("installed 1 trigger\n", file);
      await ownDatabase.query("drop schema relapi cascade");
      await installs("installed the schemas relapi and relapi_queue, and 1 trigger\n", file);
    });

    test("X-EVT-4a a start names the triggers whose handlers are gone", async () => {
      await createTable("forgotten");
      await createTable("remembered");
      const first = await start({ "public.forgotten": { insert: nothing } });
      await first.close();
      const second = await start({ "public.remembered": { insert: nothing } });
      const isNamed = (line: string): boolean =>
        line.startsWith("event triggers without a handler") && line.includes("public.forgotten.insert");
      await until(() => second.log.some(isNamed), "the log names the trigger");
    });

    test("X-EVT-4 X-EVT-4a a role that may not install triggers says so, and installs them after it got the rights", async () => {
      const ownDatabase = await openDatabase();
      await ownDatabase.query(
        "create table public.guarded (id int primary key); grant all on public.guarded to sea_login",
      );
      const api = await start(
        { "public.guarded": { insert: nothing } },
        {
          on: { ...ownDatabase, options: { databaseUrl: ownDatabase.urlAs("sea_login") } },
        },
      );
      await until(() => api.log.some((line) => line.startsWith("event triggers do not work")), "the log says so");
      const lines = api.log.filter((line) => line.startsWith("event triggers do not work"));
      expect(lines).toEqual([
        expect.stringMatching(
          /the login role may not install event triggers and schedules \(permission denied for database \w+\): run \\"relapi --preset plus events install\\"/,
        ),
      ]);
      expect(lines[0]).not.toContain("sea_login:");
      expect((await api.gql("{ __typename }")).data).toEqual({ __typename: "query_root" });
      await ownDatabase.query(`
        do $$ begin execute format('grant create on database %I to sea_login', current_database()); end $$;
        alter table public.guarded owner to sea_login`);
      await api.reload();
      await until(() => api.log.some((line) => line.startsWith("event triggers are installed")), "installed");
    });

    test("X-EVT-4 later starts log a rejected installation and a queue that cannot start once", async () => {
      const ownDatabase = await openDatabase();
      await ownDatabase.query("create table public.owned (id int primary key)");
      const first = await start({ "public.owned": { insert: nothing } }, { on: ownDatabase });
      await until(() => first.log.some((line) => line.startsWith("event triggers are installed")), "installed");
      await first.close();
      await ownDatabase.query(
        "create table public.rejected (id int primary key); grant all on public.rejected to sea_login",
      );
      const api = await start(
        { "public.rejected": { insert: nothing } },
        {
          on: { ...ownDatabase, options: { databaseUrl: ownDatabase.urlAs("sea_login") } },
        },
      );
      const listReasons = (): readonly string[] => api.log.filter((line) => line.startsWith("event triggers do not"));
      await until(() => listReasons().length === 2, "the log has both reasons");
      await ownDatabase.query("grant usage on schema relapi_queue to sea_login");
      await until(() => listReasons().some((line) => line.includes("permission denied for table")), "another start");
      expect(listReasons()).toEqual([
        expect.stringContaining("may not install event triggers"),
        expect.stringContaining("permission denied for schema relapi_queue"),
        expect.stringContaining("permission denied for table"),
      ]);
    });
  });

  describe("the delivery", () => {
    /** Starts a process that delivers inserts into the table, and that the test kills. */
    const startServer = (table: string): ChildProcessByStdio<Writable, Readable, null> => {
      const child = spawn(process.execPath, ["dist/test/services/event-server.js"], {
        env: { ...process.env, DATABASE_URL: database.options.databaseUrl, TABLE: table },
        stdio: ["pipe", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      return child;
    };

    /** Ends the time in which only the killed process may end its attempt, which is longer than a test should last. */
    const endLease = (table: string): Promise<unknown> =>
      database.query("update relapi.event set locked_until = clock_timestamp() where table_name = $1", [table]);

    test("X-EVT-6 X-EVT-7 a failed attempt is repeated with the same id, and the log keeps each attempt", async () => {
      await createTable("flaky");
      const attempts: [string, number][] = [];
      const api = await start({
        "public.flaky": {
          insert: {
            intervalSeconds: 1,
            handle: ({ id, attempt }) => {
              attempts.push([id, attempt]);
              if (attempt < 3) throw new Error(`failure ${attempt}`);
            },
          },
        },
      });
      await database.query("insert into public.flaky (item) values ('a')");
      await untilEnded("flaky", "delivered");
      const [event] = await listEvents("flaky");
      expect(attempts).toEqual([1, 2, 3].map((attempt) => [event?.id, attempt]));
      const invocations = await database.query(
        "select error from relapi.event_invocation where event_id = $1 order by id",
        [event?.id],
      );
      expect(invocations).toEqual([{ error: "failure 1" }, { error: "failure 2" }, { error: null }]);
      expect(api.log.filter((line) => line.startsWith("an event was not delivered; it is tried again"))).toHaveLength(
        2,
      );
    });

    test("X-EVT-21 events of a row arrive one after another in order, also after failures, and other rows do not wait", async () => {
      await createTable("ordered_order");
      const received: [id: unknown, item: unknown][] = [];
      let isBroken = true;
      await start({
        "public.ordered_order": {
          update: {
            ordered: true,
            retryCount: 1000,
            intervalSeconds: 1,
            handle: ({ row }) => {
              if (row["id"] === 1 && isBroken) throw new Error("broken");
              received.push([row["id"], row["item"]]);
            },
          },
        },
      });
      await database.query("insert into public.ordered_order (item) values ('first'), ('second')");
      for (const item of ["a", "b", "c"]) await database.query(`update public.ordered_order set item = '${item}'`);
      await until(() => received.length === 3, "all events of the second row arrived");
      isBroken = false;
      await untilEnded("ordered_order", "delivered");
      expect(received).toEqual([2, 1].flatMap((id) => ["a", "b", "c"].map((item) => [id, item])));
    });

    /** Makes the clock of the database go back between the changes of a row, or stand still. */
    const changeTimes = (table: string, seconds: number): Promise<unknown> =>
      database.query(
        `update relapi.event set created_at = now() - make_interval(secs => $2 * (new_row ->> 'price')::int)
        where table_name = $1`,
        [table, seconds],
      );

    test.each([
      ["stood still", "still_order", 0],
      ["went back", "back_order", 60],
    ])("X-EVT-21a the order is that of the changes, although the clock %s", async (_, table, seconds) => {
      await createTable(table);
      const received: unknown[] = [];
      const handle = ({ row }: RowEvent): void => void received.push(row["price"]);
      const handlers: Handlers = { [`public.${table}`]: { update: { ordered: true, handle } } };
      const idle = await start(handlers, { eventsConcurrency: 0 });
      await database.query(`insert into public.${table} (price) values (0)`);
      const prices = Array.from({ length: 20 }, (_, i) => i + 1);
      for (const price of prices) await database.query(`update public.${table} set price = ${price}`);
      await changeTimes(table, seconds);
      await idle.close();
      await start(handlers);
      await untilEnded(table, "delivered");
      expect(received).toEqual(prices);
    });

    test("X-EVT-21a events of an older version keep their order", async () => {
      const ownDatabase = await openDatabase();
      await ownDatabase.query("create table public.aged_order (id int primary key, price int)");
      const received: unknown[] = [];
      const handle = ({ row }: RowEvent): void => void received.push(row["price"]);
      const handlers: Handlers = { "public.aged_order": { update: { ordered: true, handle } } };
      const idle = await start(handlers, { on: ownDatabase, eventsConcurrency: 0 });
      await ownDatabase.query("insert into public.aged_order values (1, 0)");
      const prices = Array.from({ length: 20 }, (_, i) => i + 1);
      for (const price of prices) await ownDatabase.query(`update public.aged_order set price = ${price}`);
      await idle.close();
      // The events of the older version lie in another order in the table, and had no positions.
      await ownDatabase.query(`
        alter table relapi.event drop column position;
        update relapi.event set tries = tries where (new_row ->> 'price')::int % 2 = 0;
        comment on function relapi.record_event() is 'relapi 0'`);
      await start(handlers, { on: ownDatabase });
      await until(() => received.length === prices.length, "all events arrived");
      expect(received).toEqual(prices);
    });

    test("X-EVT-21 a dead event delays no other", async () => {
      await createTable("unblocked");
      const received: unknown[] = [];
      const handle = ({ row }: RowEvent): void => {
        received.push(row["item"]);
        if (row["item"] === "a") throw new Error("broken");
      };
      await start({ "public.unblocked": { update: { ordered: true, retryCount: 0, handle } } });
      await database.query("insert into public.unblocked (item) values ('first')");
      await database.query("update public.unblocked set item = 'a'");
      await database.query("update public.unblocked set item = 'b'");
      await until(() => received.length === 2, "both events arrived");
      expect(received).toEqual(["a", "b"]);
    });

    test("X-EVT-7 an event whose attempts are used up is dead and kept", async () => {
      await createTable("dead_order");
      let count = 0;
      const fail = async (): Promise<never> => {
        count += 1;
        throw new Error("never");
      };
      const api = await start({ "public.dead_order": { insert: { retryCount: 1, intervalSeconds: 1, handle: fail } } });
      await database.query("insert into public.dead_order (item) values ('a')");
      await untilEnded("dead_order", "dead");
      expect(count).toBe(2);
      expect(await listEvents("dead_order")).toMatchObject([{ status: "dead", tries: 2 }]);
      expect(api.log.join("\n")).toContain("an event was not delivered, and its attempts are used up");
    });

    test("X-EVT-8 the time limit of an attempt aborts its signal", async () => {
      await createTable("slow_order");
      const reasons: unknown[] = [];
      const handle = ({ signal }: RowEvent): Promise<void> =>
        new Promise(() => signal.addEventListener("abort", () => reasons.push(String(signal.reason))));
      await start({ "public.slow_order": { insert: { retryCount: 0, timeoutSeconds: 1, handle } } });
      await database.query("insert into public.slow_order (item) values ('a')");
      await untilEnded("slow_order", "dead");
      expect(reasons).toEqual(["Error: no answer within 1 s"]);
    });

    test("X-EVT-9 two servers share the events, and each event has one attempt", async () => {
      await createTable("shared_order");
      const received: string[][] = [[], []];
      const server = (index: number): Promise<LoggedApi> =>
        start(
          { "public.shared_order": { insert: ({ id }) => void received[index]?.push(id) } },
          { eventsConcurrency: 2 },
        );
      await Promise.all([server(0), server(1)]);
      await database.query("insert into public.shared_order (item) select 'a' from generate_series(1, 200)");
      await untilEnded("shared_order", "delivered");
      const all = received.flat();
      expect(new Set(all).size).toBe(200);
      expect(all).toHaveLength(200);
    });

    test("X-EVT-9 many attempts at the same time cause no warning about listeners", async () => {
      await createTable("concurrent_order");
      const warnings: string[] = [];
      const note = ({ name }: Error): void => void warnings.push(name);
      process.on("warning", note);
      onTestFinished(() => void process.off("warning", note));
      let count = 0;
      let finish: () => void = () => undefined;
      const all = new Promise<void>((resolve) => (finish = resolve));
      const handle = (): Promise<void> => {
        count += 1;
        if (count === 20) finish();
        return all;
      };
      await start({ "public.concurrent_order": { insert: handle } }, { eventsConcurrency: 20 });
      await database.query("insert into public.concurrent_order (item) select 'a' from generate_series(1, 20)");
      await untilEnded("concurrent_order", "delivered");
      expect(warnings).not.toContain("MaxListenersExceededWarning");
    });

    test("X-EVT-9 a process with EVENTS_CONCURRENCY=0 or without the handler leaves the event to others", async () => {
      await createTable("handed_over");
      const received: RowEvent[] = [];
      const handlers: Handlers = { "public.handed_over": { insert: (event) => void received.push(event) } };
      const idle = await start(handlers, { eventsConcurrency: 0 });
      await createTable("not_handed_over");
      const otherEvents: RowEvent[] = [];
      await start({ "public.not_handed_over": { insert: (event) => void otherEvents.push(event) } });
      await database.query(
        "insert into public.handed_over (item) values ('a'); insert into public.not_handed_over (item) values ('a')",
      );
      await until(() => otherEvents.length === 1, "the other event arrived");
      expect(received).toEqual([]);
      await idle.close();
      await start(handlers);
      await until(() => received.length === 1, "the event arrived");
    });

    test("X-EVT-9 a connection string with several hosts leads the queue to the one that answers", async () => {
      await createTable("hosted");
      const received: RowEvent[] = [];
      const databaseUrl = (database.options.databaseUrl ?? "").replace(/@([^/]+)\//, "@127.0.0.1:1,$1/");
      const hostsDatabase = { ...database, options: { databaseUrl } };
      await start(
        { "public.hosted": { insert: (event) => void received.push(event) } },
        {
          on: hostsDatabase,
        },
      );
      await database.query("insert into public.hosted (item) values ('a')");
      await until(() => received.length === 1, "the insert arrived");
    });

    test("X-EVT-10 an event whose process was killed during its attempt is delivered again with the same id", async () => {
      await createTable("killed");
      const child = startServer("public.killed");
      await until(async () => (await listTriggers("killed")).length === 1, "the process has installed its trigger");
      await database.query("insert into public.killed (item) values ('a')");
      const [output] = (await once(child.stdout, "data")) as [Buffer];
      child.kill("SIGKILL");
      await once(child, "exit");
      await endLease("killed");
      const received: RowEvent[] = [];
      await start({ "public.killed": { insert: (event) => void received.push(event) } });
      await until(() => received.length === 1, "the event arrived again");
      expect(received[0]).toMatchObject({ id: output.toString().trim(), attempt: 1 });
    });

    test("X-EVT-10 an event whose process was killed before it stored the delivery arrives at another server again", async () => {
      await createTable("unacknowledged");
      const child = startServer("public.unacknowledged");
      await until(
        async () => (await listTriggers("unacknowledged")).length === 1,
        "the process has installed its trigger",
      );
      await database.query("insert into public.unacknowledged (item) values ('a')");
      const [output] = (await once(child.stdout, "data")) as [Buffer];
      const id = output.toString().trim();
      const client = await database.connect();
      onTestFinished(() => client.end());
      await client.query("begin");
      await client.query("select from relapi.event where id = $1 for update", [id]);
      child.stdin.write("continue\n");
      const waitingSessions = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await until(async () => {
        const rows = await database.query(`select ${waitingSessions} and query like '%delivered%'`);
        return rows.length === 1;
      }, "the process stores the delivery");
      child.kill("SIGKILL");
      await once(child, "exit");
      // The statement of a process that has ended would continue.
      await database.query(`select pg_terminate_backend(pid) ${waitingSessions}`);
      await client.query("rollback");
      await endLease("unacknowledged");
      const received: RowEvent[] = [];
      await start({ "public.unacknowledged": { insert: (event) => void received.push(event) } });
      await untilEnded("unacknowledged", "delivered");
      expect(received).toEqual([expect.objectContaining({ id, attempt: 1 })]);
    });

    test("X-EVT-9 a lost connection of the queue is a line of the log, and nothing is printed", async () => {
      await createTable("disconnected");
      const consoleSpies = (["trace", "error", "warn", "log"] as const).map((method) =>
        vi.spyOn(console, method).mockImplementation(() => undefined),
      );
      onTestFinished(() => consoleSpies.forEach((method) => method.mockRestore()));
      let finish: () => void = () => undefined;
      const received: unknown[] = [];
      const handle = async ({ row }: RowEvent): Promise<void> => {
        received.push(row["item"]);
        if (row["item"] === "a") await new Promise<void>((resolve) => (finish = resolve));
      };
      // The tasks of schedules would start the queue again.
      const parts = [eventHandlers({ "public.disconnected": { insert: handle } }), without("scheduled-events")];
      const api = await start({}, { parts });
      await database.query("insert into public.disconnected (item) values ('a')");
      await until(() => received.length === 1, "the attempt has begun");
      const client = await database.connect();
      onTestFinished(() => client.end());
      await client.query("begin");
      await client.query("select from relapi_queue._private_jobs for update");
      finish();
      const waitingSessions = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%_private_jobs%'`;
      await until(
        async () => (await database.query(`select ${waitingSessions}`)).length === 1,
        "the queue ends its job",
      );
      await database.query(`select pg_terminate_backend(pid) ${waitingSessions}`);
      await until(() => api.log.some((line) => line.startsWith("the job queue has stopped")), "the queue has stopped");
      await client.query("rollback");
      await database.query("insert into public.disconnected (item) values ('b')");
      await until(() => received.length === 2, "the next event arrives");
      expect(received).toEqual(["a", "b"]);
      expect(consoleSpies.flatMap(({ mock }) => mock.calls)).toEqual([]);
    });

    test("X-EVT-10 an event without a job gets one", async () => {
      await createTable("jobless");
      const received: RowEvent[] = [];
      const handlers: Handlers = { "public.jobless": { insert: (event) => void received.push(event) } };
      const first = await start(handlers, { eventsConcurrency: 0 });
      await database.query("insert into public.jobless (item) values ('a'); delete from relapi_queue._private_jobs");
      await first.close();
      await start(handlers);
      await until(() => received.length === 1, "the event arrived");
    });

    test("X-EVT-11 the end of a server waits for its attempts, and takes no more events", async () => {
      await createTable("finished");
      let finish: () => void = () => undefined;
      const running = new Promise<void>((resolve) => (finish = resolve));
      const received: string[] = [];
      const api = await start(
        {
          "public.finished": {
            insert: async ({ row }) => {
              received.push(String(row["item"]));
              await running;
            },
          },
        },
        { eventsConcurrency: 1 },
      );
      await database.query("insert into public.finished (item) values ('first')");
      await until(() => received.length === 1, "the first event arrived");
      const closed = api.close();
      await database.query("insert into public.finished (item) values ('second')");
      finish();
      await closed;
      expect(received).toEqual(["first"]);
      expect((await listEvents("finished")).map(({ status }) => status)).toEqual(["delivered", "pending"]);
    });

    test("X-EVT-11 an attempt that outlasts the grace of the end is given back, and does not count", async () => {
      await createTable("given_back");
      const reasons: string[] = [];
      const handle = ({ signal }: RowEvent): Promise<void> =>
        new Promise(() => signal.addEventListener("abort", () => reasons.push(String(signal.reason))));
      const api = await start({ "public.given_back": { insert: { retryCount: 0, handle } } }, { shutdownGrace: 1 });
      await database.query("insert into public.given_back (item) values ('a')");
      await until(async () => {
        const [row] = await database.query("select locked_until from relapi.event where table_name = 'given_back'");
        return row?.["locked_until"] !== null;
      }, "the attempt began");
      await api.close();
      expect(reasons).toEqual(["Error: the process ends"]);
      expect(await listEvents("given_back")).toMatchObject([{ status: "pending", tries: 0 }]);
      const received: RowEvent[] = [];
      await start({ "public.given_back": { insert: (event) => void received.push(event) } });
      await until(() => received.length === 1, "the event arrived at the next server");
      expect(received[0]?.attempt).toBe(1);
    });

    test("X-EVT-12 delivered events are deleted after EVENTS_RETENTION, and dead ones stay", async () => {
      await createTable("old_order");
      const handlers: Handlers = { "public.old_order": { insert: () => undefined } };
      const first = await start(handlers, { eventsRetention: 1 });
      await database.query("insert into public.old_order (item) values ('old'), ('dead'), ('new')");
      await untilEnded("old_order", "delivered");
      await first.close();
      await database.query(`
        update relapi.event set ended_at = now() - interval '2 hours', status = case new_row ->> 'item' when 'dead' then 'dead' else status end
        where table_name = 'old_order' and new_row ->> 'item' <> 'new'`);
      await start(handlers, { eventsRetention: 1 });
      await until(async () => (await listEvents("old_order")).length === 2, "the old event is deleted");
      expect((await listEvents("old_order")).map(({ status }) => status).toSorted()).toEqual(["dead", "delivered"]);
    });
  });
});
