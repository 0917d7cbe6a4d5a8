/** What a fault is. To add one: copy a file of this folder, say what is arranged, harmed and mended, and list it in
 *  `all.ts`. `npm run faults -- <part of its name>` runs it alone; `npm run faults` writes the table of
 *  docs/reliability.md. */
import type { Server } from "../../support/postgres-server.ts";
import type { Standalone } from "../standalone.ts";

/** Something that stands and is asked. Whatever it opened is closed by itself (`atFileEnd`). */
export interface Scene {
  /** Where the requests go. */
  readonly url: string;
  /** Where the written rows are looked for, past relapi. */
  readonly database: Pick<Server, "query">;
  /** Sent with each request. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Its words stand in the output of a fault that fails. */
  readonly servers: readonly Standalone[];
}

export interface Fault<Arranged extends Scene = Scene> {
  /** As the table has it. */
  readonly name: string;
  /** Programs of Debian that it needs; where one is missing, the fault is skipped. */
  readonly needs?: readonly string[];
  /** How long the harm lasts before it is mended; 5000 where nothing is said. */
  readonly harmMs?: number;
  /** The relation `shelf` with the columns `id` and `n`, which callers without a credential may read and write. */
  readonly arrange: () => Promise<Arranged>;
  readonly harm: (scene: Arranged) => Promise<unknown> | unknown;
  readonly mend: (scene: Arranged) => Promise<unknown> | unknown;
  /** Nothing may fail later than so long after it was mended. */
  readonly recoversWithinMs?: number;
  /** What else has to be true in the end, when nothing is sent any more. @returns what is not */
  readonly check?: (scene: Arranged) => Promise<string | undefined> | string | undefined;
}

/** So that faults of different scenes stand in one list. */
export const fault = <Arranged extends Scene>(one: Fault<Arranged>): Fault => one as unknown as Fault; // run.ts hands a scene only to its own fault
