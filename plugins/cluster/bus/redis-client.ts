/** Opens connections to Redis. */
import type { RedisClientType } from "@redis/client";
import { importPackage } from "../../../core/index.ts";

/** The type of a client without modules, scripts or functions. */
export type Redis = RedisClientType;

const CONNECT_MS = 5000;
const MAX_PAUSE_MS = 1000;
/** The interval of pings. A server that is silent for `SILENCE_MS` in spite of them counts as lost. */
const PING_MS = 2000;
const SILENCE_MS = 5000;

/** Creates a client that reconnects by itself. Commands fail while it is disconnected. `readUrl` is called for each
 *  connection, because credentials may rotate. */
export const createRedisClient = async (readUrl: () => string, name: string, plugin: string): Promise<Redis> => {
  const { createClient } = (await importPackage("@redis/client", plugin)) as typeof import("@redis/client");
  const { url, hasCredentials } = removeCredentials(readUrl());
  const client = createClient({
    url,
    ...(hasCredentials
      ? {
          credentialsProvider: {
            type: "async-credentials-provider",
            credentials: async () => readCredentials(readUrl()),
          },
        }
      : {}),
    name,
    disableOfflineQueue: true,
    pingInterval: PING_MS,
    socket: {
      connectTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, MAX_PAUSE_MS),
    },
  });
  return client as Redis; // no modules are configured
};

/** Removes the credentials of the URL, which would otherwise take precedence over the provider. */
const removeCredentials = (url: string): { readonly url: string; readonly hasCredentials: boolean } => {
  const bare = new URL(url);
  const hasCredentials = bare.username !== "" || bare.password !== "";
  bare.username = "";
  bare.password = "";
  return { url: bare.href, hasCredentials };
};

const readCredentials = (url: string): { readonly username?: string; readonly password?: string } => {
  const { username, password } = new URL(url);
  return {
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
  };
};
