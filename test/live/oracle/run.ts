/**
 * Runs steps on a world, and finds faults: a subscriber whose last result differs from a fresh query, a result older
 * than an earlier one, a hidden row.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestApi } from "../../support/api.ts";
import { openDatabase, testDatabase } from "../../support/database.ts";
import { graphqlText, restPath } from "./wording.ts";
import { createOrder, createTimeline } from "./rights.ts";
import { getCapacity, startServers, stringify, type Servers } from "./servers.ts";
import type { Step, SubscribeStep } from "./steps.ts";
import { createSubscribing, type LiveRequest, type SubscriberEvent } from "./subscribers.ts";
import { FIRST_IDS, worldSql, type World } from "./world.ts";
import { createWriters, type Writers } from "./writers.ts";

export interface Fault {
  readonly kind: "stale" | "backwards" | "leak" | "ended";
  readonly text: string;
  /** The number of steps that had begun when the fault appeared. */
  readonly stepCount: number;
}

export interface Outcome {
  readonly fault: Fault | undefined;
  readonly settledCount: number;
  readonly messageCount: number;
  readonly committedCount: number;
  readonly comparedCount: number;
  /** The number of results that are not errors. */
  readonly fineCount: number;
}

/** A deadline that only ends a run that would hang. */
const DEADLINE_MS = 120_000;
/**
 * The maximum number of event loop turns that a message needs from its run to the client in the same process. Turns
 * take longer on a busy machine.
 */
const WAY_TURNS = 50;
const TURN_MS = 20;
/** The pause before a client reconnects. */
const RECONNECT_MS = 15;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Live {
  readonly step: SubscribeStep;
  readonly liveRequest: LiveRequest;
  /** The fresh query of the same rows. */
  readonly question: LiveRequest;
  last: string | undefined;
  lastEventId: string | undefined;
  /** The reason why it ended. */
  endedBy: string | undefined;
  leave: () => void;
}

/** Runs the steps. `deadlineMs` limits how long subscribers may lack the result of a fresh query. */
export const runSteps = async (world: World, steps: readonly Step[], deadlineMs = DEADLINE_MS): Promise<Outcome> => {
  const capacity = getCapacity();
  const database = capacity.isServer ? await openDatabase() : await testDatabase();
  const folder = await mkdtemp(join(tmpdir(), "live-oracle-"));
  const writers = createWriters(database);
  let servers: Servers | undefined;
  try {
    await database.query(worldSql(world, FIRST_IDS));
    servers = await startServers(world, database, join(folder, "metadata.json"), capacity);
    return await run(world, servers, writers, steps, deadlineMs);
  } finally {
    await writers.close();
    await servers?.close();
    await rm(folder, { recursive: true });
    if (capacity.isServer) await database.close();
  }
};

const run = async (
  world: World,
  servers: Servers,
  writers: Writers,
  steps: readonly Step[],
  deadlineMs: number,
): Promise<Outcome> => {
  const timeline = createTimeline(world);
  const subscribing = createSubscribing();
  const lives = new Map<number, Live>();
  let fault: Fault | undefined;
  let isOver = false;
  let stepCount = 0;
  const counts = { settledCount: 0, messageCount: 0, committedCount: 0, comparedCount: 0, fineCount: 0 };
  /** The start times of recent event loop turns, the oldest first. */
  const turns = [performance.now()];
  const turnTimer = setInterval(() => {
    turns.push(performance.now());
    if (turns.length > WAY_TURNS) turns.shift();
  }, TURN_MS);
  /** True if the schema, the metadata or the servers have changed since the last settling. */
  let isUnsettled = false;

  const reportFault = (kind: Fault["kind"], live: Live, text: string): void => {
    const { number, transport, caller, api } = live.step;
    const requestText =
      typeof live.liveRequest === "string"
        ? decodeURIComponent(live.liveRequest)
        : `${live.liveRequest.query} ${stringify(live.liveRequest.variables)}`;
    const subscriberText = `subscriber ${number}, ${transport} of server ${api}, ${caller.role ?? "admin"} ${caller.user}`;
    fault ??= { kind, text: `${subscriberText}\n  ${requestText}\n  ${text}\n  last result: ${live.last}`, stepCount };
  };

  const handleEvent = (live: Live, isOlder: ReturnType<typeof createOrder>, message: SubscriberEvent): void => {
    if (isOver || lives.get(live.step.number) !== live) return;
    counts.messageCount++;
    if (message.kind === "ended") {
      live.endedBy = message.text;
      // The connection was lost.
      if (message.text === "") setTimeout(() => live.endedBy === "" && reopen(live), RECONNECT_MS);
      return;
    }
    live.lastEventId = message.id;
    live.last = message.kind === "error" ? message.text : stringify(message.value);
    if (message.kind === "error") return;
    const nowMs = performance.now();
    const sentMs = turns[0] ?? nowMs;
    const fromMs = Math.min(servers.runningSince(sentMs) ?? sentMs, sentMs);
    const leak = timeline.judge(live.step.caller, message.value, fromMs, nowMs);
    if (leak !== undefined) reportFault("leak", live, leak);
    const older = isOlder(message.value);
    if (older !== undefined) reportFault("backwards", live, older);
  };

  // Steps are drawn for this number of servers.
  const getApi = ({ step }: Live): TestApi => servers.apis[step.api] as TestApi;

  const reopen = (live: Live): void => {
    if (isOver || lives.get(live.step.number) !== live) return;
    live.leave();
    live.endedBy = undefined;
    const isOlder = createOrder();
    live.leave = subscribing.open({
      ...live.step,
      api: getApi(live),
      liveRequest: live.liveRequest,
      lastEventId: live.last === undefined ? undefined : live.lastEventId,
      onEvent: (message) => handleEvent(live, isOlder, message),
    });
  };

  const subscribe = (step: SubscribeStep): void => {
    const requestFor = (operation: "query" | "subscription"): LiveRequest =>
      step.transport === "rest" ? restPath(step.query) : graphqlText(step.query, operation, servers.findType);
    const live: Live = {
      step,
      liveRequest: requestFor("subscription"),
      question: requestFor("query"),
      last: undefined,
      lastEventId: undefined,
      endedBy: undefined,
      leave: () => undefined,
    };
    lives.set(step.number, live);
    reopen(live);
  };

  const isRight = (live: Live, expected: string): boolean =>
    live.endedBy === undefined ? live.last === expected : expected.startsWith("error ") && live.endedBy === expected;

  const askAll = async (): Promise<ReadonlyMap<Live, string>> => {
    if (isUnsettled) await servers.reloadAsked();
    const answers = new Map<string, Promise<string>>();
    const expectedResults = new Map<Live, string>();
    for (const live of lives.values()) {
      const { caller } = live.step;
      const key = stringify([caller, live.question]);
      const answer = answers.get(key) ?? servers.ask(caller, live.question);
      answers.set(key, answer);
      expectedResults.set(live, await answer);
    }
    return expectedResults;
  };

  const settle = async (): Promise<void> => {
    const expectedResults = await askAll();
    const endMs = performance.now() + deadlineMs;
    for (;;) {
      const wrong = [...expectedResults].filter(([live, answer]) => !isRight(live, answer));
      const [first] = wrong;
      if (first === undefined || fault !== undefined) break;
      const isLate = performance.now() > endMs;
      if (isLate) reportFault("stale", first[0], `a fresh query: ${first[1]}\n  ended by: ${first[0].endedBy}`);
      for (const [live, answer] of wrong) {
        if (live.endedBy === undefined || live.endedBy === "") continue;
        if (!isUnsettled) reportFault("ended", live, `ended by: ${live.endedBy}\n  a fresh query: ${answer}`);
        // Clients would reconnect too.
        else reopen(live);
      }
      await pause(20);
    }
    counts.settledCount++;
    counts.comparedCount += expectedResults.size;
    counts.fineCount += [...expectedResults.values()].filter((answer) => !answer.startsWith("error ")).length;
    isUnsettled = false;
  };

  const take = async (step: Step): Promise<void> => {
    stepCount++;
    const live = "number" in step ? lives.get(step.number) : undefined;
    switch (step.do) {
      case "transaction": {
        const endChange = timeline.begin(step.rights);
        const isMade = await writers.transact(step.lane, step.sql, step.end);
        if (isMade) counts.committedCount++;
        return endChange(isMade);
      }
      case "schema": {
        isUnsettled = true;
        const endChange = timeline.begin(step.rights);
        const isMade = await writers.transact(-1, [step.sql], "commit");
        endChange(isMade);
        return isMade ? servers.tellOfSchema() : undefined;
      }
      case "metadata": {
        isUnsettled = true;
        const endChange = timeline.begin(step.rights);
        await servers.setMetadata(step.closedTables);
        return endChange(true);
      }
      case "subscribe":
        return subscribe(step);
      case "leave":
        live?.leave();
        return void lives.delete(step.number);
      case "reconnect":
        return live === undefined ? undefined : reopen(live);
      case "cut":
        if (live !== undefined) subscribing.cut({ ...live.step, api: getApi(live) });
        return;
      case "lose feed":
        isUnsettled = true;
        return writers.loseFeed();
      case "lose connections":
        isUnsettled = true;
        return writers.loseConnections();
      case "restart":
        isUnsettled = true;
        return servers.restart(step.api);
      case "pause":
        return pause(step.ms);
      case "settle":
        return settle();
    }
  };

  /** Runs each lane in sequence, and all lanes concurrently. */
  const takeRound = async (round: readonly Step[]): Promise<void> => {
    const lanes = new Map<string, Step[]>();
    for (const step of round) {
      const name = step.do === "transaction" ? String(step.lane) : "main";
      lanes.set(name, [...(lanes.get(name) ?? []), step]);
    }
    await Promise.all(
      [...lanes.values()].map(async (lane) => {
        for (const step of lane) await take(step);
      }),
    );
  };

  try {
    for (let from = 0; from < steps.length && fault === undefined;) {
      const next = steps.findIndex((step, index) => index >= from && step.do === "settle");
      const end = next === -1 ? steps.length : next;
      await takeRound(steps.slice(from, end));
      await take({ do: "settle" });
      from = end + 1;
    }
    return { fault, ...counts };
  } finally {
    isOver = true;
    clearInterval(turnTimer);
    subscribing.close();
  }
};
