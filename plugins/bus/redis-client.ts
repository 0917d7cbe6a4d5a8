/** Connections to Redis. */
import type { RedisClientType } from "@redis/client";
import { loadPackage } from "./load-package.ts";

/** Of the plain kind: no modules, scripts or functions. */
export type Redis = RedisClientType;

const CONNECT_MS = 5000;
const LONGEST_PAUSE_MS = 1000;
/** A server that has said nothing for so long, pings included, is gone. */
const PING_MS = 2000;
const SILENCE_MS = 5000;

/** Connects by itself, again and again. What is sent while it is away fails. */
export const openRedis = async (url: string, name: string): Promise<Redis> => {
  const { createClient } = await loadPackage("@redis/client", () => import("@redis/client"));
  const client = createClient({
    url,
    name,
    disableOfflineQueue: true,
    pingInterval: PING_MS,
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, LONGEST_PAUSE_MS),
    },
  });
  return client as Redis; // its type lists no modules
};
