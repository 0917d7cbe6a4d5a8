/** Manages the connection for notifications, which is open while a channel is in use, and is reopened after a loss. */
import { quoteIdentifier, sql, compileSql, type Logger } from "../../../core/index.ts";
import type { Connection } from "../../../core/database/connection.ts";
import type { Connector, MissedReason } from "../../../core/database/connector.ts";
import { untilAborted } from "../../shared/abort.ts";
import { openTarget, type Target } from "./open-target.ts";
import { createBackoff } from "../../../core/database/backoff.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { classifyLoginError, readSqlstate } from "../../../core/database/pg-errors.ts";
import { registerChannels } from "./channels.ts";

export interface Listener extends Pick<Connector, "listen" | "close"> {
  /** Resolves after the first attempt to connect, or after `limitMs`. Listeners may miss notifications before they are
   *  connected. */
  waitForFirstAttempt(limitMs: number): Promise<void>;
  /** Retries now, because another connection was opened successfully. */
  retryNow(): void;
}

const CONNECT_MS = 10_000;
/** The pause between attempts on a hot standby, which has no notifications until it is promoted. */
const STANDBY_RETRY_MS = 5000;
const STANDBY_SQLSTATE = "25006";

/** The reasons why notifications do not arrive. A pooler is a configuration error; a standby may be promoted. */
const PROBLEMS = {
  pooler:
    "notifications do not arrive through a connection pooler: set DATABASE_DIRECT_URL to a connection string that leads to the server itself, or DATABASE_POOLER=session if the pooler is in session mode",
  standby:
    "the server is a standby, which has no notifications: waiting for its promotion, unless DATABASE_DIRECT_URL leads to the primary",
} as const;

interface ChannelEntry {
  readonly onMessage: (payload: string) => void;
  readonly onMissed: ((reason: MissedReason) => void) | undefined;
  readonly onFailure: (() => void) | undefined;
  /** The reason why notifications were lost, until `onMissed` reports it. Undefined if none were lost. */
  unreportedLoss: MissedReason | undefined;
}

/** Creates the listener of a target. Until `isLoaded` returns true, the loader of the schema logs connection errors.
 *  With `isDirect`, no other connection uses this target, so the listener logs a rejected login. @rule R-SC-5 R-SC-10 */
export const createListener = (
  target: Target,
  logger: Logger,
  isLoaded: () => boolean,
  isDirect: boolean,
): Listener => {
  const channels = new Map<string, Set<ChannelEntry>>();
  const unregisterChannels = "stream" in target ? registerChannels(target.stream, channels) : undefined;
  const backoff = createBackoff();
  let connection: Connection | undefined;
  let check: (() => void) | undefined;
  let isConnecting = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let currentProblem: keyof typeof PROBLEMS | undefined;
  let endFirstAttempt: () => void;
  const firstAttempt = new Promise<void>((resolve) => {
    endFirstAttempt = resolve;
  });

  const listEntries = (): readonly ChannelEntry[] => [...channels.values()].flatMap((entries) => [...entries]);

  const markLost = (): void => {
    for (const entry of listEntries()) entry.unreportedLoss = "lost";
  };

  /** Calls `onMissed` after the server has confirmed `LISTEN` for the channel. */
  const callMissed = (channel: string): void => {
    const missedEntries = [...(channels.get(channel) ?? [])].filter(
      ({ unreportedLoss }) => unreportedLoss !== undefined,
    );
    for (const entry of missedEntries) {
      const reason = entry.unreportedLoss;
      entry.unreportedLoss = undefined;
      if (reason !== undefined) entry.onMissed?.(reason);
    }
  };

  /** Logs the reason once, because the state lasts and is not a failure. */
  const reportProblem = (problem: keyof typeof PROBLEMS): void => {
    markLost();
    if (problem === "standby") retry(STANDBY_RETRY_MS);
    if (currentProblem === problem) return;
    currentProblem = problem;
    if (problem === "pooler") logger.warn(PROBLEMS[problem]);
    else logger.info(PROBLEMS[problem]);
    for (const { onFailure } of listEntries()) onFailure?.();
  };

  const runCommand = (to: Connection, command: "listen" | "unlisten", channel: string): Promise<unknown> => {
    const statement =
      command === "listen" ? sql`listen ${quoteIdentifier(channel)}` : sql`unlisten ${quoteIdentifier(channel)}`;
    return to.query(compileSql(statement).text, []);
  };

  const onConnectionLost = (): void => {
    if (isClosed) return;
    connection = undefined;
    markLost();
    logger.warn("lost the connection for notifications");
    retry();
  };

  const retry = (pauseMs = backoff.next()): void => {
    timer = setTimeout(() => void connect(), pauseMs);
  };

  const connect = async (): Promise<void> => {
    if (isConnecting || connection !== undefined || isClosed) return;
    clearTimeout(timer);
    timer = undefined;
    isConnecting = true;
    try {
      const openedConnection = await openTarget(target, CONNECT_MS, { purpose: "listener" });
      if (openedConnection.backend.isShared) {
        await openedConnection.end();
        return reportProblem("pooler");
      }
      openedConnection.onNotification((channel, payload) => {
        for (const { onMessage } of channels.get(channel) ?? []) onMessage(payload);
      });
      try {
        for (const channel of channels.keys()) await runCommand(openedConnection, "listen", channel);
      } catch (error) {
        await openedConnection.end();
        if (readSqlstate(error) === STANDBY_SQLSTATE) return reportProblem("standby");
        throw error;
      }
      if (isClosed) return void (await openedConnection.end());
      connection = openedConnection;
      currentProblem = undefined;
      openedConnection.onEnd(onConnectionLost);
      // Listeners with `onFailure` depend on notifications, so the connection is checked more often.
      if ("url" in target)
        check = startHeartbeat(openedConnection, () => listEntries().every(({ onFailure }) => onFailure === undefined));
      backoff.reset();
      const channelNames = [...channels.keys()]; // channels may have been added while the connection was opened
      for (const channel of channelNames) await runCommand(openedConnection, "listen", channel);
      channelNames.forEach(callMissed);
    } catch (error) {
      if (isClosed || connection !== undefined) return; // `onConnectionLost` handles this
      if (isLoaded() && (isDirect || classifyLoginError(error) === undefined))
        logger.warn("failed to connect for notifications", {
          reason: error instanceof Error ? ((error as { details?: unknown }).details ?? error.message) : String(error),
        });
      markLost();
      retry();
    } finally {
      isConnecting = false;
      endFirstAttempt();
    }
  };

  return {
    listen: (channel, onMessage, onMissed, onFailure) => {
      const unreportedLoss = isLoaded() ? "late" : undefined;
      const entry: ChannelEntry = { onMessage, onMissed, onFailure, unreportedLoss };
      let listeners = channels.get(channel);
      if (listeners === undefined) {
        listeners = new Set();
        channels.set(channel, listeners);
        if (connection !== undefined)
          runCommand(connection, "listen", channel).then(
            () => callMissed(channel),
            () => connection?.end(),
          );
        else if (currentProblem === undefined) void connect();
      }
      listeners.add(entry);
      if (currentProblem !== undefined) onFailure?.();
      return () => {
        listeners.delete(entry);
        if (listeners.size > 0 || channels.get(channel) !== listeners) return;
        channels.delete(channel);
        if (connection !== undefined) runCommand(connection, "unlisten", channel).catch(() => connection?.end());
      };
    },
    waitForFirstAttempt: async (limitMs) => {
      await untilAborted(firstAttempt, AbortSignal.timeout(limitMs));
      if (connection === undefined) for (const entry of listEntries()) entry.unreportedLoss ??= "late";
    },
    retryNow: () => {
      // A problem of another connection may affect this connection too.
      if (connection !== undefined) {
        if (!connection.isAwaitingResponse()) check?.();
      } else if (timer !== undefined && currentProblem === undefined) void connect();
    },
    close: async () => {
      isClosed = true;
      unregisterChannels?.();
      clearTimeout(timer);
      await connection?.end();
    },
  };
};
