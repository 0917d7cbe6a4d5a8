/** A program of tests: delivers inserts into the table of `TABLE`, and calls of the action `hold`. It prints the id of
 *  an event or a call, and ends the attempt when it has read a line. */
import { relApi, compose } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { actions, eventHandlers } from "../../plugins/services/index.ts";

const handle = async ({ id }: { readonly id: string }): Promise<null> => {
  process.stdout.write(`${id}\n`);
  await new Promise((resolve) => process.stdin.once("data", resolve));
  return null;
};

const api = relApi(
  compose(
    plus({ databaseUrl: process.env["DATABASE_URL"], logLevel: "warn" }),
    eventHandlers({ [process.env["TABLE"] ?? "public.killed"]: { insert: handle } }),
    actions({ hold: { kind: "asynchronous", output: "Int", run: handle } }),
  ),
);
await api.ready;
