/** Settings of coalesced reads and streamed answers. */
import { defineSetting, settingKinds, type ValuesOf } from "../../core/index.ts";

const { wholeNumber } = settingKinds;

/** Settings of the plugin `coalesced-reads`. */
export const coalescedReadsSettings = [
  defineSetting({
    name: "maxCoalescedReads",
    environment: ["MAX_COALESCED_READS"],
    kind: wholeNumber(1),
    default: 16,
    description:
      "the largest number of concurrent reads that share one round trip to the database (R-TX-17); with 1, each has its own",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `streamed-answers`. */
export const streamSettings = [
  defineSetting({
    name: "streamAboveBytes",
    isFixed: true,
    environment: ["STREAM_ABOVE_BYTES"],
    kind: wholeNumber(1024),
    default: 1024 * 1024,
    description:
      "a longer body of a REST read, or a longer `data` of a GraphQL query, goes to the client while it arrives; the database waits for the client (R-STR)",
  }),
  defineSetting({
    name: "streamPatience",
    environment: ["STREAM_PATIENCE"],
    kind: wholeNumber(1),
    default: 60,
    unit: "seconds",
    description:
      "how long a client may keep the database waiting for it to read such a body; then what is left is read and held, and the connection is free",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof coalescedReadsSettings>, ValuesOf<typeof streamSettings> {}
}
