/** Orders the test files, the slowest first, because the last one to end determines the total time. */
import { chosenSeed, createRandom } from "./random.ts";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files of more than 20 seconds on a server, the longest first. Without earlier runs, vitest starts with the largest
 * files, which are not the slowest ones.
 */
const SLOW_FILES = [
  // These mostly wait.
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
  // These use the processor.
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

/** The position in the list, or the one after its end. */
const getRank = ({ moduleId }: TestSpecification): number => {
  const place = SLOW_FILES.findIndex((name) => moduleId.includes(name));
  return place === -1 ? SLOW_FILES.length : place;
};

/** Returns whether the file shares its process. Such files come last, so that each process runs them in one
 *  sequence. */
const isShared = ({ project }: TestSpecification): boolean => project.config.isolate === false;

/** The sequencer. TEST_ORDER `random` (by SEED) or `reverse` verifies that no file depends on the order. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byPath = files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    const order = process.env["TEST_ORDER"];
    if (order === "random") return createRandom(chosenSeed()).shuffle(byPath);
    if (order === "reverse") return byPath.reverse();
    const sortedFiles = await super.sort(files);
    return sortedFiles.sort((a, b) => Number(isShared(a)) - Number(isShared(b)) || getRank(a) - getRank(b));
  }
}
