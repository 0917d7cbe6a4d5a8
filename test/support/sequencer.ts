/** The order of the test files: those that take longest first, since the last one decides when all are done. */
import { chosenSeed, createRandom } from "./random.ts";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** More than 20 seconds, as measured on a server, the longest first: where vitest knows of no run before, it takes the
 *  largest files first, and these are none of them. */
const LONG = [
  // those that mostly wait
  "live/oracle",
  "production/workers",
  "production/bus",
  "live/touched",
  "production/network",
  "live/G-WS",
  "plugins/reload-poll",
  "security/key-rotation",
  "live/neighbours",
  "live/sources",
  "production/rotation",
  "production/large-schema",
  "production/disk",
  "production/poolers",
  // the others
  "production/rolling",
  "security/bounds",
  "cli/C-CLI",
  "oracle/oracle",
  "cli/C-CHK",
  "cli/C-EXP",
  "core/package",
  "core/settings",
  "security/memory",
  "pages/features",
  "cli/C-SET",
  "cli/C-PKG",
  "cli/C-INI",
  "clients/browser",
  "core/embedded",
].map((name) => `/test/${name}`);

/** Its place among them, or the one behind all. */
const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONG.findIndex((name) => moduleId.includes(name));
  return place === -1 ? LONG.length : place;
};

/** Files that share a process come last, so that each process has one run of them. */
const isShared = ({ project }: TestSpecification): boolean => project.config.isolate === false;

/** TEST_ORDER: `random` (by SEED) or `reverse` shows that no file depends on the order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byPath = files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    const order = process.env["TEST_ORDER"];
    if (order === "random") return createRandom(chosenSeed()).shuffled(byPath);
    if (order === "reverse") return byPath.reverse();
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => Number(isShared(a)) - Number(isShared(b)) || placeOf(a) - placeOf(b));
  }
}
