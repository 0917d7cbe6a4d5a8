/**
 * The bus between processes, with a transport of the test and with that of the database. test/production tests it with
 * programs.
 */
import { afterEach, describe, expect, test, vi } from "vitest";
import { definePlugin, without, type PluginContext, type ValueOf } from "../../core/index.ts";
import { busService, openBusHook } from "../../plugins/cluster/api.ts";
import { capabilities, forGraphql, type StartOptions, type TestApi } from "../support/api.ts";
import { startWithContext } from "../support/context.ts";
import { initSocket, subscribe, untilNoneIsDue } from "../support/live.ts";
import { until } from "../support/until.ts";
import { collectMessages } from "../support/logger.ts";

/** A transport that records all messages between the processes of a test, and drops those that are to be lost. */
const createLine = () => {
  const ends = new Set<{ readonly topics: Set<string>; readonly onMessage: (topic: string, text: string) => void }>();
  const connects = new Set<() => void>();
  const line = {
    isLost: (_topic: string, _text: string): boolean => false,
    say: (topic: string, text: string): void => {
      for (const { topics, onMessage } of ends) if (topics.has(topic)) onMessage(topic, text);
    },
    comeBack: (): void => {
      for (const onConnect of connects) onConnect();
    },
    plugin: definePlugin({
      name: "line-bus",
      requires: ["bus"],
      apply: (_hooks, context) => {
        context.use(openBusHook).tap("line-bus", (url, namespace, { onMessage, onConnect }) => {
          if (url !== "line://here") return undefined;
          expect(namespace).toMatch(/^[\w.-]+$/);
          const topics = new Set<string>();
          const end = { topics, onMessage };
          ends.add(end);
          connects.add(onConnect);
          queueMicrotask(onConnect);
          return {
            maxBytes: 500,
            publish: (topic, text) => queueMicrotask(() => line.isLost(topic, text) || line.say(topic, text)),
            subscribe: (topic) => void topics.add(topic),
            unsubscribe: (topic) => void topics.delete(topic),
            close: async () => {
              ends.delete(end);
              connects.delete(onConnect);
            },
          };
        });
      },
    }),
  };
  return line;
};

const warnings: string[] = [];
process.on("warning", ({ message }) => void warnings.push(message));

/** The interval with which polling finds no change during a test. */
const NEVER_MS = 10_000_000;

interface Process {
  readonly api: TestApi;
  readonly context: PluginContext;
  readonly lines: string[];
}

const start = async (options: StartOptions = {}): Promise<Process> => {
  const { logger, lines } = collectMessages("error", "warn", "info");
  const api = await startWithContext(forGraphql({ logger, ...options }));
  return { api, context: api.context, lines };
};

const getBus = ({ context }: Process): ValueOf<typeof busService> => {
  const bus = context.use(busService);
  if (bus === undefined) throw new Error("there is no bus");
  return bus;
};

/**
 * Resolves when `to` has received everything that `from` has published. Earlier messages are lost until `to` listens.
 */
const heardFrom = async (from: Process, to: Process): Promise<void> => {
  let isReceived = false;
  const stop = getBus(to).subscribe("marker", () => void (isReceived = true));
  await until(() => {
    getBus(from).publish("marker", "");
    return isReceived;
  }, "a message of the other process");
  stop();
};

test.skipIf(capabilities.realServer)("X-BUS-1 an embedded database has no bus and reloads without one", async () => {
  const serverProcess = await start();
  expect(serverProcess.context.use(busService)).toBeUndefined();
  const loads = serverProcess.context.counters.get("model-loads");
  await serverProcess.api.relApi.reloadAll();
  expect(serverProcess.context.counters.get("model-loads")).toBe(loads + 1);
});

describe.skipIf(!capabilities.realServer)("the bus", () => {
  const overLine = (line: ReturnType<typeof createLine>): StartOptions => ({
    busUrl: "line://here",
    parts: [line.plugin],
    liveQueryInterval: NEVER_MS,
  });

  test.each(["NOTIFY", "a transport of a plugin"])(
    "X-BUS-1 messages reach the other processes in order and never the sender: %s",
    async (kind) => {
      const line = createLine();
      const options = kind === "NOTIFY" ? {} : overLine(line);
      const [firstProcess, secondProcess] = [await start(options), await start(options)];
      await until(() => getBus(firstProcess).isUp && getBus(secondProcess).isUp, "both are on the bus");
      const messages: string[] = [];
      getBus(firstProcess).subscribe("numbers", (text) => void messages.push(`one ${text}`));
      const stop = getBus(secondProcess).subscribe("numbers", (text) => void messages.push(`two ${text}`));
      await heardFrom(firstProcess, secondProcess);
      const texts = Array.from({ length: 200 }, (_, i) => `${i} "it's" $1 \n é`);
      for (const text of texts) getBus(firstProcess).publish("numbers", text);
      getBus(firstProcess).publish("others", "nobody asked");
      await until(() => messages.length >= texts.length, "as many messages as were sent");
      await heardFrom(firstProcess, secondProcess);
      await heardFrom(secondProcess, firstProcess);
      expect(messages).toEqual(texts.map((text) => `two ${text}`));
      stop();
      getBus(firstProcess).publish("numbers", "late");
      await heardFrom(firstProcess, secondProcess);
      expect(messages).toHaveLength(200);
      expect(() => getBus(firstProcess).publish("a b", "")).toThrow(/has a blank/);
    },
  );

  test("X-BUS-1 a process that misses a message is notified, and no message arrives twice", async () => {
    const line = createLine();
    const [firstProcess, secondProcess] = [await start(overLine(line)), await start(overLine(line))];
    await until(() => getBus(firstProcess).isUp && getBus(secondProcess).isUp, "both are on the bus");
    const messages: string[] = [];
    getBus(secondProcess).subscribe(
      "numbers",
      (text) => void messages.push(text),
      () => void messages.push("missed"),
    );
    getBus(firstProcess).publish("numbers", "a");
    line.isLost = (_topic, text) => text.endsWith(" b");
    for (const text of ["b", "c"]) getBus(firstProcess).publish("numbers", text);
    await until(() => messages.length === 3, "what is left of the messages");
    expect(messages).toEqual(["a", "missed", "c"]);
    // These are duplicates, and messages that are not valid on a bus.
    for (const text of ["someone 7 x", "someone 7 x", "someone 6 w", "", "nonsense", "a b c", "  "])
      line.say("numbers", text);
    expect(messages).toEqual(["a", "missed", "c", "x"]);
    line.comeBack();
    expect(messages.slice(4)).toEqual(["missed"]);
  });

  test("X-BUS-2 a reload of one process reloads all, also if its message is lost", async () => {
    const line = createLine();
    const [firstProcess, secondProcess] = [await start(overLine(line)), await start(overLine(line))];
    await until(() => getBus(firstProcess).isUp && getBus(secondProcess).isUp, "both are on the bus");
    const loads = (): number => secondProcess.context.counters.get("model-loads");
    const before = loads();
    await firstProcess.api.relApi.reloadAll();
    await until(() => loads() > before, "the other one has loaded");
    let lostCount = 0;
    line.isLost = () => ++lostCount > 0;
    await firstProcess.api.relApi.reloadAll();
    await until(() => lostCount > 0, "the message is lost");
    const loadsBefore = loads();
    line.comeBack();
    await until(() => loads() > loadsBefore, "the other one has loaded what it missed");
  });

  test("X-BUS-4 without a plugin for its URL the bus is off, with a line in the log", async () => {
    const serverProcess = await start({ busUrl: "kafka://user:pa55word@nowhere" });
    await until(
      () => serverProcess.lines.some((text) => text.startsWith("no plugin of the preset opens this bus")),
      "a line in the log",
    );
    expect(serverProcess.lines.join()).not.toContain("pa55word");
    expect([getBus(serverProcess).isUp, getBus(serverProcess).isMissing]).toEqual([false, true]);
    expect(await serverProcess.api.gql("{ album_by_pk(id: 1) { id } }")).toEqual({ data: { album_by_pk: { id: 1 } } });
  });

  describe.skipIf(!capabilities.logicalReplication)("changes", () => {
    const follows = "live queries get their changes from the process that reads them for all";
    const leads = "live queries detect changes by logical replication";
    const slots = async ({ api }: Process): Promise<number> =>
      (await api.sql("select 1 from pg_replication_slots where database = current_database()")).length;

    /** Two processes, each with a subscriber of album 1. */
    const openPair = async (options: StartOptions) => {
      const processes = [await start(options), await start(options)] as const;
      const sockets = [await initSocket(processes[0].api), await initSocket(processes[1].api)] as const;
      for (const socket of sockets) {
        subscribe(socket, "1", "subscription { album_by_pk(id: 1) { sold } }");
        await socket.next();
      }
      return { processes, sockets };
    };

    test("X-BUS-3 one of two processes reads the changes, and lost or invalid messages cause another read", async () => {
      const line = createLine();
      const { processes, sockets } = await openPair(overLine(line));
      await until(
        () =>
          processes.some(({ lines }) => lines.includes(follows)) &&
          processes.some(({ lines }) => lines.includes(leads)),
        "one of them reads the changes and the other one follows it",
      );
      expect(await slots(processes[0])).toBe(1);
      let sold = 9000;
      const change = async (): Promise<void> => {
        sold++;
        await processes[0].api.sql("update album set sold = $1 where id = 1", [sold]);
      };
      const expectResults = async (): Promise<void> => {
        for (const socket of sockets) await socket.next((message) => message.payload?.data?.album_by_pk?.sold === sold);
      };
      // A rerun caused by the new watch would show the change too.
      for (const { context } of processes) await untilNoneIsDue(context);
      await change();
      await expectResults();
      let lostCount = 0;
      line.isLost = (_topic, text) => text.includes('["change"') && ++lostCount > 0;
      await change();
      await until(() => lostCount > 0, "the change is lost on the way");
      line.isLost = () => false;
      await expectResults();
      for (const text of [
        '["change",1,[["public.album"]]]',
        '["lead",1]',
        '["change",',
        "[]",
        '["lead","x"]',
        '["want",[1]]',
      ])
        line.say("changes", `stranger 1 ${text}`);
      await change();
      await expectResults();
      // These are unknown processes that lead and stay silent.
      line.say("changes", `stranger 2 ["lead",${Date.now() + 10_000_000}]`);
      await change();
      await expectResults();
      for (const socket of sockets) await socket.close();
    });

    afterEach(() => void vi.useRealTimers());

    test("X-BUS-3 a new leader passes the changes on before it knows who follows it", async () => {
      // A leader waits for its followers for a number of ticks, none of which passes here.
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      const line = createLine();
      const all = [await start(overLine(line)), await start(overLine(line)), await start(overLine(line))];
      const sockets = new Map<Process, Awaited<ReturnType<typeof initSocket>>>();
      for (const serverProcess of all) {
        const socket = await initSocket(serverProcess.api);
        subscribe(socket, "1", "subscription { album_by_pk(id: 1) { sold } }");
        await socket.next();
        sockets.set(serverProcess, socket);
      }
      await until(
        () => all.filter(({ lines }) => lines.includes(follows)).length === 2,
        "two of them follow the one that reads the changes",
      );
      const leader = all.find(({ lines }) => lines.includes(leads))!;
      const followers = all.filter((serverProcess) => serverProcess !== leader);
      line.isLost = (_topic, text) => text.includes('["want"');
      const before = followers.map(({ lines }) => lines.length);
      await leader.api.close();
      await until(
        () =>
          followers.every(({ lines }, i) => lines.slice(before[i]).some((text) => text === follows || text === leads)),
        "one of the others reads the changes and the last one follows it",
      );
      for (const { context } of followers) await untilNoneIsDue(context);
      await followers[0]!.api.sql("update album set sold = 777 where id = 1");
      for (const follower of followers)
        await sockets.get(follower)!.next((message) => message.payload?.data?.album_by_pk?.sold === 777);
      for (const follower of followers) await follower.api.close();
    });

    test("X-BUS-3a a follower that its leader does not know misses no change", async () => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      const tick = (count: number) => vi.advanceTimersByTimeAsync(count * 500);
      const line = createLine();
      const all = [await start(overLine(line)), await start(overLine(line)), await start(overLine(line))];
      const sockets = new Map<Process, Awaited<ReturnType<typeof initSocket>>>();
      for (const process of all) {
        const socket = await initSocket(process.api);
        subscribe(socket, "1", "subscription { album_by_pk(id: 1) { sold } }");
        await socket.next();
        sockets.set(process, socket);
      }
      const roleIn = ({ lines }: Process): string | undefined =>
        lines.findLast((text) => text === follows || text === leads);
      const countIn = (processes: readonly Process[], role: string): number =>
        processes.filter((process) => roleIn(process) === role).length;
      await until(() => countIn(all, follows) === 2, "two processes follow the leader");
      await tick(3); // followers write every 8 ticks, so the next time is 5 ticks after the start of the new leader
      const firstLeader = all.find((process) => roleIn(process) === leads)!;
      const others = all.filter((process) => process !== firstLeader);
      for (const { lines } of others) lines.length = 0;
      line.isLost = (_topic, text) => text.includes('["want"');
      await firstLeader.api.close();
      await until(() => countIn(others, leads) === 1 && countIn(others, follows) === 1, "there is a new leader");
      const leader = others.find((process) => roleIn(process) === leads)!;
      const follower = others.find((process) => process !== leader)!;
      for (const { context } of others) await untilNoneIsDue(context);
      await tick(12); // afterwards, the leader does not expect unknown followers
      await leader.api.sql("update album set sold = 888 where id = 1");
      const hasChange = (message: any): boolean => message.payload?.data?.album_by_pk?.sold === 888;
      await sockets.get(leader)!.next(hasChange);
      line.isLost = () => false;
      await tick(1); // the follower writes again
      await sockets.get(follower)!.next(hasChange);
      for (const { api } of others) await api.close();
    });

    test.each([[["bus", "nats-bus", "redis-bus", "notify-bus", "reload-all"]], [["notify-bus"]]])(
      "X-BUS-3 without %s each process reads the changes itself",
      async (names) => {
        const parts = names.map((name) => without(name));
        const { processes, sockets } = await openPair({ parts });
        await until(() => processes.every(({ lines }) => lines.includes(leads)), "each reads the changes");
        // The slots of the test before are dropped with their last subscriber.
        await until(async () => (await slots(processes[0])) === 2, "each has a slot");
        expect(processes[0].api.relApi.reloadAll === undefined).toBe(names.includes("reload-all"));
        for (const socket of sockets) await socket.close();
        for (const { api } of processes) await api.close();
      },
    );
  });
});

test.skipIf(!capabilities.realServer)(
  "X-BUS-1 messages that may be lost before the process listens to a topic cause another read",
  async () => {
    const serverProcess = await start();
    let missedCount = 0;
    const stop = getBus(serverProcess).subscribe(
      "late topic",
      () => undefined,
      () => void missedCount++,
    );
    await until(() => missedCount === 1, "the subscriber hears that messages may be lost");
    stop();
    await serverProcess.api.close();
  },
);

test("R-SC-5 the listening connection sends one statement at a time", () => {
  expect(warnings.filter((text) => text.includes("already executing a query"))).toEqual([]);
});
