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
      "the maximum number of concurrent reads that share one round trip to the database (R-TX-17); `1`: each read has its own",
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
    unit: "bytes",
    description:
      "the size above which a response is sent to the client while it arrives from the database: the body of a REST read, or the `data` of a GraphQL query (R-STR)",
  }),
  defineSetting({
    name: "streamPatience",
    environment: ["STREAM_PATIENCE"],
    kind: wholeNumber(1),
    default: 60,
    unit: "seconds",
    description:
      "the time for which the database may wait for a client that reads such a body slowly; then the rest is read into memory, and the connection is free for other requests",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof coalescedReadsSettings>, ValuesOf<typeof streamSettings> {}
}
