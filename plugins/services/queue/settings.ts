/** Settings of `job-queue`. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

const { flag, wholeNumber } = settingKinds;

const MAX_WORKERS = 1000;
const MAX_HOURS = 87_600;

export const queueSettings = [
  defineSetting({
    name: "eventsInstall",
    environment: ["EVENTS_INSTALL"],
    kind: flag,
    default: true,
    description:
      "`false`: the start changes nothing in the database, and `relapi --preset plus events install` installs what event triggers and schedules need (X-EVT-3)",
    isFixed: true,
  }),
  defineSetting({
    name: "eventsConcurrency",
    environment: ["EVENTS_CONCURRENCY", "HASURA_GRAPHQL_EVENTS_HTTP_POOL_SIZE"],
    kind: wholeNumber(0, MAX_WORKERS),
    default: 10,
    description: "how many events a process delivers at the same time; 0: this process delivers none (X-EVT-9)",
    isFixed: true,
  }),
  defineSetting({
    name: "eventsRetention",
    environment: ["EVENTS_RETENTION"],
    kind: wholeNumber(0, MAX_HOURS),
    default: 168,
    unit: "hours",
    description:
      "how long delivered events of triggers and schedules are kept with their log; 0: they are kept for ever (X-EVT-12)",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof queueSettings> {}
}
