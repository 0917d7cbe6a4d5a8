/** Asynchronous actions that functions of the application answer. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { compose, RelApiError, type RelApiOptions } from "../../core/index.ts";
import { actions, type Action, type AsynchronousActionRequest } from "../../plugins/services/index.ts";
import { fullCompat, plus } from "../../presets/index.ts";
import { asAdmin, capabilities, forGraphql, startApi, type HeaderValues, type TestApi } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { openSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";
import { collectLines } from "../support/logger.ts";

const TYPES = "type Report { rows: bigint! name: String details: json }";
const asynchronous = { kind: "asynchronous", output: "Report!", run: () => ({ rows: 1 }) } as const;

const compile = (preset: typeof plus, definitions: unknown) => (presetOptions: RelApiOptions) =>
  compose(preset(presetOptions), actions(definitions as Readonly<Record<string, Action>>, TYPES));

test.each([
  [{ ...asynchronous, type: "query" }, plus, "actions: report: only mutations can be asynchronous"],
  [{ ...asynchronous, kind: "later" }, plus, "actions: report: its kind is unknown"],
  [{ ...asynchronous, timeoutSeconds: 0 }, plus, "actions: report: its timeout is not a number of seconds up to 3600"],
  [asynchronous, fullCompat, "actions: report: asynchronous actions need the plugin events"],
])("X-ACT-14 a mistake is found at the start, %#", async (action, preset, message) => {
  await expect(startApi(forGraphql({ preset: compile(preset, { report: action }) }))).rejects.toThrow(message);
});

test("X-ACT-14 the name of a type or a long name is rejected at the start", async () => {
  const longName = "r".repeat(101);
  await expect(startApi(forGraphql({ preset: compile(plus, { Report: asynchronous }) }))).rejects.toThrow(
    "actions: Report: a type has that name in GraphQL",
  );
  await expect(startApi(forGraphql({ preset: compile(plus, { [longName]: asynchronous }) }))).rejects.toThrow(
    `actions: ${longName}: its name has more than 100 characters`,
  );
});

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const database = await openDatabase();
  const reader: HeaderValues = asAdmin("music_reader", { "user-id": "7" });

  const start = async (run: (request: AsynchronousActionRequest) => any, overrides: Partial<Action> = {}) => {
    const report = {
      kind: "asynchronous",
      args: "year: bigint!",
      output: "Report!",
      roles: ["music_reader"],
      run,
      ...overrides,
    };
    const { logger, lines: log } = collectLines("error", "warn");
    const preset = compile(plus, { report, now: { type: "query", output: "Int", run: () => 1 } });
    const api = await startApi(forGraphql({ preset, on: database, logger, shutdownGrace: 0 }));
    onTestFinished(api.close);
    return { ...api, log };
  };

  const call = async (api: TestApi): Promise<string> =>
    (await api.gql('mutation { report(year: "12345678901234567890") }', {}, reader)).data.report;

  const find = async (api: TestApi, id: string, headers = reader): Promise<any> =>
    (await api.gql(`{ report(id: "${id}") { id created_at errors output { rows name } } }`, {}, headers)).data.report;

  const findEnded = async (api: TestApi, id: string): Promise<any> => {
    await until(async () => {
      const { errors, output } = await find(api, id);
      return errors !== null || output !== null;
    }, "the action has a result");
    return find(api, id);
  };

  test("X-ACT-14 the mutation returns an id, with which a query and a subscription have the result", async () => {
    let finish: (result: unknown) => void = () => undefined;
    const requests: AsynchronousActionRequest[] = [];
    const api = await start((request) => {
      requests.push(request);
      return new Promise((resolve) => (finish = resolve));
    });
    expect((await api.gql("{ now }")).data).toEqual({ now: 1 });
    const id = await call(api);
    await until(() => requests.length === 1, "the function runs");
    const waitingCall = await find(api, id);
    expect(waitingCall).toEqual({ id, created_at: expect.any(String), errors: null, output: null });
    expect(requests[0]).toEqual({
      id,
      createdAt: new Date(waitingCall.created_at),
      input: { year: "12345678901234567890" },
      session: { "x-session-role": "music_reader", "x-session-user-id": "7" },
      signal: expect.any(AbortSignal),
    });
    const socket = await openSocket(api);
    await socket.init({ headers: reader });
    const query = `subscription { report(id: "${id}") { output { rows } } }`;
    socket.send({ id: "1", type: "subscribe", payload: { query } });
    expect(await socket.next()).toMatchObject({ payload: { data: { report: { output: null } } } });
    finish({ rows: 3, name: "a" });
    expect(await socket.next()).toMatchObject({ payload: { data: { report: { output: { rows: 3 } } } } });
    await socket.close();
    expect(await find(api, id)).toMatchObject({ errors: null, output: { rows: 3, name: "a" } });
    expect(await find(api, id, asAdmin("music_reader", { "user-id": "8" }))).toBeNull();
    expect((await api.gql(`{ report(id: "${id}") { id } }`, {}, asAdmin("music_editor"))).errors).toHaveLength(1);
  });

  test("X-ACT-16 arguments that the schema rejects are an error of the mutation, and others are converted", async () => {
    const inputs: unknown[] = [];
    const inputSchema = z.object({ year: z.string().max(5).transform(Number) });
    const run = ({ input }: AsynchronousActionRequest): { readonly rows: number } => {
      inputs.push(input);
      return { rows: 1 };
    };
    const api = await start(run, { inputSchema });
    const rejection = await api.gql('mutation { report(year: "123456") }', {}, reader);
    expect(rejection.errors).toMatchObject([{ extensions: { code: "validation-failed" } }]);
    const id = (await api.gql('mutation { report(year: "12345") }', {}, reader)).data.report;
    expect(await findEnded(api, id)).toMatchObject({ errors: null, output: { rows: 1 } });
    expect(inputs).toEqual([{ year: 12345 }]);
  });

  const unexpectedError = { message: "internal error", extensions: { path: "$", code: "unexpected" } };

  test.each<[string, (request: AsynchronousActionRequest) => unknown, unknown, string]>([
    [
      "a RelApiError",
      () => {
        throw new RelApiError({ code: "empty", status: 400, message: "no rows" });
      },
      { message: "no rows", extensions: { path: "$", code: "empty" } },
      "",
    ],
    [
      "another exception",
      () => {
        throw new Error("a reason");
      },
      unexpectedError,
      "a reason",
    ],
    [
      "a result of another type",
      () => ({ rows: null }),
      unexpectedError,
      'expecting a value for \\"rows\\", but got null',
    ],
    ["a result that is no JSON", () => ({ rows: 1, details: 1n }), unexpectedError, "BigInt"],
    ["a function that does not end", () => new Promise(() => undefined), unexpectedError, "no result within 1 s"],
  ])("X-ACT-14a %s is an error, and the function is not called again", async (_, run, errors, logText) => {
    let count = 0;
    const api = await start(
      (request) => {
        count++;
        return run(request);
      },
      { timeoutSeconds: 1 },
    );
    expect(await findEnded(api, await call(api))).toMatchObject({ errors, output: null });
    expect(count).toBe(1);
    expect(api.log.join("\n")).toContain(logText);
  });

  test("X-ACT-14 a call whose process ends is made again with the same id", async () => {
    const first: AsynchronousActionRequest[] = [];
    const api = await start((request) => {
      first.push(request);
      return new Promise((_resolve, reject) =>
        request.signal.addEventListener("abort", () => reject(new Error("end"))),
      );
    });
    const id = await call(api);
    await until(() => first.length === 1, "the function runs");
    const next = await start(({ id: callId }) => ({ rows: 2, name: callId }));
    await api.close();
    expect(await findEnded(next, id)).toMatchObject({ errors: null, output: { rows: 2, name: id } });
  });

  test("X-ACT-12a before the installation the field is null", async () => {
    const preset = compile(plus, { report: asynchronous });
    const api = await startApi(forGraphql({ preset, on: await openDatabase(), eventsInstall: false }));
    onTestFinished(api.close);
    const query = `{ report(id: "00000000-0000-0000-0000-000000000000") { id } }`;
    expect(await api.gql(query)).toEqual({ data: { report: null } });
  });

  test("X-ACT-14 a call whose process was killed is made by another server with the same id", async () => {
    const child = spawn(process.execPath, ["dist/test/services/event-server.js"], {
      env: { ...process.env, DATABASE_URL: database.options.databaseUrl, TABLE: "public.artist" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const calls: string[] = [];
    const run = ({ id }: AsynchronousActionRequest): number => calls.push(id);
    const hold = { kind: "asynchronous", output: "Int", run };
    const open = (eventsConcurrency: number): Promise<TestApi> =>
      startApi(forGraphql({ preset: compile(plus, { hold }), on: database, eventsConcurrency }));
    const caller = await open(0);
    onTestFinished(caller.close);
    const id = (await caller.gql("mutation { hold }")).data.hold;
    const [output] = (await once(child.stdout, "data")) as [Buffer];
    expect(output.toString().trim()).toBe(id);
    child.kill("SIGKILL");
    await once(child, "exit");
    // Only the killed process may end the call before this time.
    await database.query("update relapi.event set locked_until = clock_timestamp() where new_row ->> 'id' = $1", [id]);
    expect(calls).toEqual([]);
    const otherApi = await open(1);
    onTestFinished(otherApi.close);
    const read = async (): Promise<unknown> => (await caller.gql(`{ hold(id: "${id}") { output } }`)).data.hold.output;
    await until(async () => (await read()) !== null, "the call has a result");
    expect(await read()).toBe(1);
    expect(calls).toEqual([id]);
  });
});
