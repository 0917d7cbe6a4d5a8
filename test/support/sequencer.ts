/** The order of the test files: those that take longest first, since the last one decides when a run ends. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** More than half a minute, as measured: where vitest knows of no run before, it takes the largest first, and these are
 *  none of them. */
const LONG = [
  "cli/C-CHK",
  "cli/C-CLI",
  "cli/C-EXP",
  "cli/C-PKG",
  "cli/C-SET",
  "live/G-WS",
  "live/oracle",
  "live/touched",
  "oracle/oracle",
  "pages/features",
  "plugins/reload-poll",
  "production/",
  "security/bounds",
  "security/key-rotation",
  "security/memory",
].map((name) => `/test/${name}`);

const isLong = ({ moduleId }: TestSpecification): boolean => LONG.some((name) => moduleId.includes(name));

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
