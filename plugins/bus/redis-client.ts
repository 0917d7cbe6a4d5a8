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

/** Connects by itself, again and again. What is sent while it is away fails. `urlOf`: asked for user and password with
 *  each connection, since they may rotate. */
export const openRedis = async (urlOf: () => string, name: string): Promise<Redis> => {
  const { createClient } = await loadPackage("@redis/client", () => import("@redis/client"));
  const { url, hasCredentials } = withoutCredentials(urlOf());
  const client = createClient({
    url,
    ...(hasCredentials
      ? { credentialsProvider: { type: "async-credentials-provider", credentials: async () => credentialsOf(urlOf()) } }
      : {}),
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

/** Those of a URL would go before the provider's. */
const withoutCredentials = (url: string): { readonly url: string; readonly hasCredentials: boolean } => {
  const bare = new URL(url);
  const hasCredentials = bare.username !== "" || bare.password !== "";
  bare.username = "";
  bare.password = "";
  return { url: bare.href, hasCredentials };
};

const credentialsOf = (url: string): { readonly username?: string; readonly password?: string } => {
  const { username, password } = new URL(url);
  return {
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
  };
};
