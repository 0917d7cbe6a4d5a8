/** Prints how long each test file takes until its first test begins: process, imports, database and API. */
import type { Reporter, TestCase, TestModule } from "vitest/node";

const median = (sortedValues: readonly number[]): number => sortedValues[Math.floor(sortedValues.length / 2)] ?? 0;

export default class WaitReporter implements Reporter {
  readonly #queuedAtMs = new Map<string, number>();
  readonly #waits = new Map<string, number>();

  onTestModuleQueued({ id }: TestModule): void {
    this.#queuedAtMs.set(id, Date.now());
  }

  /** The test process records when the test began. Its report arrives up to 100 ms later. */
  onTestCaseResult(test: TestCase): void {
    const { module } = test;
    const queuedAtMs = this.#queuedAtMs.get(module.id);
    const beganAtMs = test.diagnostic()?.startTime;
    if (queuedAtMs === undefined || beganAtMs === undefined || this.#waits.has(module.id)) return;
    this.#waits.set(module.id, beganAtMs - queuedAtMs);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const waits = modules
      .flatMap((module) => {
        const ms = this.#waits.get(module.id);
        return ms === undefined ? [] : [{ ms, name: `${module.relativeModuleId} (${module.project.name})` }];
      })
      .sort((a, b) => b.ms - a.ms);
    console.log("\nTime before the first test of each file:");
    for (const { ms, name } of waits) console.log(`${ms.toFixed(0).padStart(7)} ms  ${name}`);
    console.log(
      `${median(waits.map(({ ms }) => ms))
        .toFixed(0)
        .padStart(7)} ms  median`,
    );
  }
}
