/** A program of tests: runs the schedule `killed`, and prints the id of an event while its function runs. */
import { relApi, compose } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { schedules } from "../../plugins/services/index.ts";

const hangingSchedule = {
  cron: process.env["CRON"] ?? "",
  handle: async ({ id }: { readonly id: string }) => {
    process.stdout.write(`${id}\n`);
    await new Promise(() => undefined);
  },
};

const api = relApi(
  compose(plus({ databaseUrl: process.env["DATABASE_URL"], logLevel: "warn" }), schedules({ killed: hangingSchedule })),
);
await api.ready;
