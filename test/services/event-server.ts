/** A program of tests: delivers events of `public.killed`, and prints the id of an event while its handler runs. */
import { relApi, compose } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { eventHandlers } from "../../plugins/services/index.ts";

const insert = {
  timeoutSeconds: 1,
  handle: async ({ id }: { readonly id: string }) => {
    process.stdout.write(`${id}\n`);
    await new Promise(() => undefined);
  },
};

const api = relApi(
  compose(
    plus({ databaseUrl: process.env["DATABASE_URL"], logLevel: "warn" }),
    eventHandlers({ "public.killed": { insert } }),
  ),
);
await api.ready;
