/** A program of tests: delivers inserts into `public.clocked` at the second attempt, and runs the schedule `clocked`.
 *  It prints a line for each call. */
import { relApi, compose } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { eventHandlers, schedules } from "../../plugins/services/index.ts";

const print = (...words: readonly unknown[]): void => void process.stdout.write(`${words.join(" ")}\n`);

const api = relApi(
  compose(
    plus({ databaseUrl: process.env["DATABASE_URL"], logLevel: "error" }),
    eventHandlers({
      "public.clocked": {
        insert: {
          intervalSeconds: 1,
          handle: ({ row, attempt }) => {
            print("event", row["id"], attempt);
            if (attempt === 1) throw new Error("not yet");
          },
        },
      },
    }),
    schedules({
      clocked: {
        cron: process.env["CRON"] ?? "",
        toleranceSeconds: 3600,
        handle: ({ scheduledAt }) => print("schedule", scheduledAt.toISOString()),
      },
    }),
  ),
);
await api.ready;
print("ready", new Date().getUTCFullYear());
