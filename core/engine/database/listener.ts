/** The one connection that listens: open while a channel is needed, reopened when it is lost. */
import type { Logger } from "../../kernel/options.ts";
import { ident, sql, toStatement } from "../sql/fragment.ts";
import { openConnection, type Connection, type Target } from "./connection.ts";
import { createBackoff } from "./backoff.ts";
import { sqlstateOf } from "./pg-errors.ts";
import { wantChannels } from "./channels.ts";

export interface Listener {
  /** Returns how to stop. `missed`: called when notifications may have been lost. */
  listen(channel: string, heard: (payload: string) => void, missed?: () => void): () => void;
  /** The database can be reached: what waits for that need not wait longer. */
  wake(): void;
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;
/** A hot standby has no notifications, until it is promoted. */
const STANDBY_MS = 5000;
const STANDBY_STATE = "25006";

/** `isLoaded`: until the schema is, its loader says why the database cannot be reached. @rule R-SC-5 */
export const createListener = (target: Target, logger: Logger, isLoaded: () => boolean): Listener => {
  const channels = new Map<string, Set<(payload: string) => void>>();
  const reconnected = new Set<() => void>();
  const stopWanting = "stream" in target ? wantChannels(target.stream, channels) : undefined;
  const backoff = createBackoff();
  let connection: Connection | undefined;
  let isConnecting = false;
  let wasLost = false;
  let isStandby = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  const run = (to: Connection, command: "listen" | "unlisten", channel: string): Promise<unknown> => {
    const statement = command === "listen" ? sql`listen ${ident(channel)}` : sql`unlisten ${ident(channel)}`;
    return to.query(toStatement(statement).text, []);
  };

  const lost = (): void => {
    if (isClosed) return;
    connection = undefined;
    wasLost = true;
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
      const opened = await openConnection(target, CONNECT_MS);
      opened.onNotification((channel, payload) => {
        for (const heard of channels.get(channel) ?? []) heard(payload);
      });
      try {
        for (const channel of channels.keys()) await run(opened, "listen", channel);
      } catch (error) {
        await opened.end();
        throw error;
      }
      if (isClosed) return void (await opened.end());
      connection = opened;
      opened.onEnd(lost);
      backoff.reset();
      isStandby = false;
      for (const channel of channels.keys()) await run(opened, "listen", channel); // channels requested meanwhile
      if (wasLost) for (const listener of reconnected) listener();
      wasLost = false;
    } catch (error) {
      if (isClosed || connection !== undefined) return; // `lost` has taken care
      if (sqlstateOf(error) === STANDBY_STATE) {
        if (!isStandby) logger.info("the server is a standby, which has no notifications: waiting for its promotion");
        isStandby = wasLost = true;
        return retry(STANDBY_MS);
      }
      if (isLoaded())
        logger.warn("failed to connect for notifications", {
          reason: error instanceof Error ? ((error as { details?: unknown }).details ?? error.message) : String(error),
        });
      wasLost = true;
      retry();
    } finally {
      isConnecting = false;
    }
  };

  return {
    listen: (channel, heard, missed) => {
      if (missed !== undefined) reconnected.add(missed);
      let listeners = channels.get(channel);
      if (listeners === undefined) {
        listeners = new Set();
        channels.set(channel, listeners);
        if (connection === undefined) void connect();
        else run(connection, "listen", channel).catch(() => connection?.end());
      }
      listeners.add(heard);
      return () => {
        if (missed !== undefined) reconnected.delete(missed);
        listeners.delete(heard);
        if (listeners.size > 0 || channels.get(channel) !== listeners) return;
        channels.delete(channel);
        if (connection !== undefined) run(connection, "unlisten", channel).catch(() => connection?.end());
      };
    },
    wake: () => {
      if (timer !== undefined && !isStandby) void connect();
    },
    close: async () => {
      isClosed = true;
      stopWanting?.();
      clearTimeout(timer);
      await connection?.end();
    },
  };
};
