/**
 * Serves the demo database as `npm start` does, on a free port, for third-party clients. It is closed with the file.
 */
import type { Server } from "node:http";
import type { RelApiOptions } from "../../core/index.ts";
import { serve } from "../../presets/server/serve.ts";
import { atFileEnd } from "../support/file-end.ts";
import { adminSecret } from "../support/tokens.ts";

interface Demo {
  readonly url: string;
  readonly graphqlUrl: string;
  readonly wsUrl: string;
  readonly port: number;
  readonly server: Server;
}

/** The header with the caller's role, in the words of the engine whose clients these are. */
export const secretHeader = { "x-hasura-admin-secret": adminSecret };

export const asShopper = (userId: number): Record<string, string> => ({
  ...secretHeader,
  "x-hasura-role": "shopper",
  "X-Hasura-User-Id": String(userId),
});

export const serveDemo = async (options: RelApiOptions = {}, preset?: "plus"): Promise<Demo> => {
  const demo = await serve({
    options: { adminSecret, liveQueryInterval: 50, logLevel: "silent", ...options },
    server: { host: "127.0.0.1", port: 0, unixSocketMode: 0o660, workers: 1, ...(preset && { preset }) },
  });
  atFileEnd(() => demo.stop());
  await demo.api.ready;
  const { address } = demo;
  return {
    url: address,
    graphqlUrl: `${address}/v1/graphql`,
    wsUrl: `${address.replace(/^http/, "ws")}/v1/graphql/ws`,
    port: Number(new URL(address).port),
    server: demo.server,
  };
};
