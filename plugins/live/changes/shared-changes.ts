/** One process reads the changes for all processes on the bus: the leader, which holds the advisory lock. It sends the
 *  changes to its followers, and one of them takes its place when it ends. Without a bus, each process reads the
 *  changes itself. @rule X-BUS-3 */
import { createHash } from "node:crypto";
import type { Bus } from "../../cluster/api.ts";
import type { ChangeFeed, TableChanges } from "../api.ts";
import { openChangeFeed, openLockedFeed, type ChangeHandlers, type LockedFeed } from "./change-feed.ts";
import { encodeChanges, encodeColumns, parseMessage, readTableChanges, type ChangeMessage } from "./change-messages.ts";
import {
  isStandbyError,
  isTemporary,
  describeError,
  type SharedChanges,
  type SharedChangesParts,
} from "./change-source.ts";
import { createFollowers, createChangeBatcher } from "./followers.ts";
import { createVisibilityDelay } from "./visible-commits.ts";

const TOPIC = "changes";
const TICK_MS = 500;
/** The period of a leader's heartbeat, in ticks. A leader that is silent for `SILENT_TICKS` counts as gone. */
const LEADER_HEARTBEAT_TICKS = 2;
const SILENT_TICKS = 5;
/** The period of a follower's heartbeat, in ticks. */
const FOLLOWER_HEARTBEAT_TICKS = 8;
/** The ticks during which a new leader may have unknown followers, which followed another leader before. */
const UNKNOWN_TICKS = 12;
/** The number of ticks after which a leader gives up the lead if it cannot reach the bus. */
const BUS_LOSS_TICKS = 6;
/** The time that a leader has to reply, before another process tries to get the lock. */
const LEADER_RESPONSE_MS = 100;
/** The time over which processes spread their attempts to get the lock. */
const SPREAD_MS = 200;
const RETRY_MS = 1000;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
/** The number of attempts without lock and leader after which a warning is logged. */
const ATTEMPTS_BEFORE_WARNING = 15;

/** Computes the 64-bit key of the advisory lock from the group of the bus. */
const computeLockKey = ({ group }: Bus): bigint =>
  createHash("sha256").update(`relapi changes ${group}`).digest().readBigInt64BE(0);

type ProcessRole = "idle" | "seeking" | "leading" | "following" | "rejected";

export const createSharedChanges = (parts: SharedChangesParts): SharedChanges => {
  const { context, bus, columns } = parts;
  const followers = createFollowers();
  let role: ProcessRole = "idle";
  let isWanted = false;
  let mayBePromoted = false;
  let isClosed = false;
  let feed: ChangeFeed | undefined;
  /** The number of the current attempt to open a feed. If an earlier attempt still opens a feed, the feed is closed. */
  let attemptNumber = 0;
  let failedAttemptCount = 0;
  let epoch = 0;
  let leader: { readonly sender: string; readonly epoch: number } | undefined;
  let silentTicks = 0;
  let unknownTicks = 0;
  /** Whether this leader has sent no message about a change, because it knew of no follower. */
  let hasUnsentChanges = false;
  let tickCount = 0;
  let retryMs = FIRST_RETRY_MS;
  let retryTimer: NodeJS.Timeout | undefined;
  let ticker: NodeJS.Timeout | undefined;
  let columnsTimer: NodeJS.Timeout | undefined;
  let leaveBus: (() => void) | undefined;

  const publish = (message: ChangeMessage): void => bus?.publish(TOPIC, JSON.stringify(message));
  const publishColumns = (): void => {
    clearTimeout(columnsTimer);
    columnsTimer = undefined;
    if (bus?.isUp === true) bus.publish(TOPIC, encodeColumns(columns, bus.maxBytes));
  };

  const isFollowed = (): boolean => bus !== undefined && (followers.count > 0 || unknownTicks > 0);

  const changeBatcher = createChangeBatcher((changes) => {
    if (bus === undefined || role !== "leading") return;
    for (const text of encodeChanges(epoch, changes, bus.maxBytes)) bus.publish(TOPIC, text);
  });

  const reportVisible = (changes: TableChanges): void => {
    if (role !== "leading") return;
    if (isFollowed()) changeBatcher.add(changes);
    else hasUnsentChanges = true;
    parts.onChanges(changes);
  };

  const createHandlers = (attempt: number): ChangeHandlers => ({
    committed: createVisibilityDelay(context, reportVisible),
    columns: (relation) => followers.mergeColumns(relation, columns.get(relation)),
    lost: (reason) => {
      if (attempt !== attemptNumber || role !== "leading") return;
      feed = undefined;
      publish(["end"]);
      restartElection(reason, retryMs);
    },
  });

  const open = async (attempt: number): Promise<LockedFeed | undefined> =>
    bus === undefined || bus.isMissing
      ? { feed: await openChangeFeed(context, createHandlers(attempt)), sinceMs: 0 }
      : openLockedFeed(context, createHandlers(attempt), computeLockKey(bus));

  const becomeLeader = (lockedFeed: LockedFeed): void => {
    feed = lockedFeed.feed;
    epoch = lockedFeed.sinceMs;
    hasUnsentChanges = false;
    role = "leading";
    retryMs = FIRST_RETRY_MS;
    failedAttemptCount = 0;
    silentTicks = 0;
    unknownTicks = UNKNOWN_TICKS;
    publish(["lead", epoch]);
    parts.onOpen(true);
    stopWhenUnwatched();
  };

  /** Stops when no process needs the feed. */
  const stopWhenUnwatched = (): void => {
    if (role === "leading" && !isWanted && followers.count === 0) void pause();
  };

  const giveUpLead = async (): Promise<void> => {
    const ending = feed;
    feed = undefined;
    attemptNumber++;
    await ending?.end();
    publish(["end"]);
  };

  const startElection = (waitMs: number): void => {
    role = "seeking";
    leader = undefined;
    clearTimeout(retryTimer);
    retryTimer = setTimeout(() => void tryElection(), waitMs);
  };

  const restartElection = (reason: string, waitMs: number): void => {
    startElection(waitMs);
    parts.onLost(reason);
  };

  const tryElection = async (): Promise<void> => {
    if (role !== "seeking" || isClosed) return;
    if (parts.isIdle()) return void pause();
    // The leader needs the bus, because followers would not receive the changes without it.
    if (bus?.isUp === false && !bus.isMissing) return startElection(RETRY_MS);
    const attempt = ++attemptNumber;
    const isOver = (): boolean => attempt !== attemptNumber || role !== "seeking" || isClosed;
    try {
      const lockedFeed = await open(attempt);
      if (isOver()) return void (await lockedFeed?.feed.end());
      if (lockedFeed !== undefined) return becomeLeader(lockedFeed);
      if (++failedAttemptCount === ATTEMPTS_BEFORE_WARNING)
        context.logger.warn(
          "another process leads the change feed but is silent on the bus; using another change source",
        );
      publishColumns();
      startElection(RETRY_MS * (0.5 + Math.random() / 2));
    } catch (error) {
      if (isOver()) return;
      if (!isTemporary(error)) {
        void pause();
        role = "rejected";
        mayBePromoted = isStandbyError(error);
        return parts.onRejected(describeError(error));
      }
      startElection(retryMs * (0.5 + Math.random() / 2));
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
    }
  };

  const follow = (sender: string, leaderEpoch: number): void => {
    // This process has lost its lock without noticing it yet.
    if (role === "leading" && leaderEpoch > epoch) {
      void giveUpLead();
      restartElection("another process reads them for all", RETRY_MS);
    }
    if (role !== "seeking" && role !== "following") return;
    // The message comes from an earlier leader that has lost its lock without noticing.
    if (leader !== undefined && leaderEpoch < leader.epoch) return;
    silentTicks = 0;
    if (leader?.sender === sender && leader.epoch === leaderEpoch) return;
    const wasFollowing = role === "following";
    role = "following";
    leader = { sender, epoch: leaderEpoch };
    failedAttemptCount = 0;
    retryMs = FIRST_RETRY_MS;
    clearTimeout(retryTimer);
    publishColumns();
    if (wasFollowing) parts.onMissed();
    else parts.onOpen(false);
  };

  const receiveMessage = (text: string, sender: string): void => {
    const message = parseMessage(text);
    if (message === undefined) return;
    switch (message[0]) {
      case "want":
        if (role !== "leading") return;
        followers.recordFollower(sender, message[2] ?? {});
        // The sender may have followed this leader before the unsent changes.
        if (hasUnsentChanges) epoch++;
        hasUnsentChanges = false;
        return publish(["lead", epoch]);
      case "leave":
        followers.forget(sender);
        return stopWhenUnwatched();
      case "lead":
        return follow(sender, message[1]);
      case "change":
        follow(sender, message[1]);
        if (leader?.sender === sender) parts.onChanges(readTableChanges(message));
        return;
      case "end":
        if (role === "following" && leader?.sender === sender)
          restartElection("the process that read the changes for all has ended", Math.random() * SPREAD_MS);
    }
  };

  const handleMissedMessages = (): void => {
    if (role === "following") parts.onMissed();
    if (role === "following" || role === "seeking") publishColumns();
  };

  /** Counts ticks instead of time, because a process that was suspended must not consider others silent. */
  const tick = (): void => {
    tickCount++;
    silentTicks++;
    if (role === "following") {
      if (tickCount % FOLLOWER_HEARTBEAT_TICKS === 0) publishColumns();
      if (silentTicks < SILENT_TICKS) return;
      restartElection("the leader of the change feed is silent on the bus", Math.random() * SPREAD_MS);
    } else if (role === "leading") {
      followers.tick();
      unknownTicks--;
      stopWhenUnwatched();
      if (role !== "leading") return;
      if (bus?.isUp === true || bus?.isMissing === true) silentTicks = 0;
      if (isFollowed() && tickCount % LEADER_HEARTBEAT_TICKS === 0) publish(["lead", epoch]);
      if (silentTicks < BUS_LOSS_TICKS) return;
      void giveUpLead();
      restartElection("the bus cannot be reached", RETRY_MS);
    }
  };

  const pause = async (): Promise<void> => {
    clearTimeout(retryTimer);
    clearTimeout(columnsTimer);
    clearInterval(ticker);
    const giveUpPromise = role === "leading" ? giveUpLead() : undefined;
    if (role === "seeking" || role === "following") publish(["leave"]);
    attemptNumber++;
    role = "idle";
    leader = undefined;
    followers.clear();
    leaveBus?.();
    leaveBus = undefined;
    await giveUpPromise;
  };

  const startReading = (): void => {
    isWanted = true;
    if (role !== "idle" || isClosed) return;
    leaveBus = bus?.subscribe(TOPIC, receiveMessage, handleMissedMessages);
    if (bus !== undefined) ticker = setInterval(tick, TICK_MS);
    publishColumns();
    startElection(bus === undefined ? 0 : LEADER_RESPONSE_MS + Math.random() * SPREAD_MS);
  };

  return {
    get isOpen() {
      return role === "leading" || role === "following";
    },
    get isRejected() {
      return role === "rejected";
    },
    start: startReading,
    stop: () => {
      isWanted = false;
      if (role === "leading") stopWhenUnwatched();
      else if (role !== "rejected") void pause();
    },
    databaseReached: () => {
      if (role === "seeking") return startElection(bus === undefined ? 0 : Math.random() * SPREAD_MS);
      if (role !== "rejected" || !mayBePromoted) return;
      role = "idle";
      if (isWanted) startReading();
    },
    columnsChanged: () => {
      if (role === "following") columnsTimer ??= setTimeout(publishColumns, LEADER_RESPONSE_MS);
    },
    close: async () => {
      isClosed = true;
      changeBatcher.close();
      await pause();
    },
  };
};
