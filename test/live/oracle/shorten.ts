/** Reduces steps to those that show the same fault, and prints them. */
import { runSteps, type Fault } from "./run.ts";
import type { Step } from "./steps.ts";
import { graphqlText, restPath } from "./wording.ts";
import { worldSql, type World } from "./world.ts";

export interface Failure {
  readonly steps: readonly Step[];
  readonly fault: Fault;
}

/** While steps are reduced, a subscriber without the correct result for this time counts as stale. */
const STALE_MS = 10_000;

/** Removes halves, quarters and so on of the steps while a fault of the same kind appears, within the time limit. */
export const shorten = async (world: World, failure: Failure, withinMs: number): Promise<Failure> => {
  const endMs = performance.now() + withinMs;
  let best = failure;
  const fails = async (steps: readonly Step[]): Promise<boolean> => {
    const { fault } = await runSteps(world, steps, STALE_MS);
    if (fault?.kind !== failure.fault.kind) return false;
    best = { steps, fault };
    return true;
  };
  for (
    let size = Math.ceil(best.steps.length / 2);
    size >= 1 && performance.now() < endMs;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let index = 0; index < best.steps.length && performance.now() < endMs;) {
      const fewerSteps = [...best.steps.slice(0, index), ...best.steps.slice(index + size)];
      if (fewerSteps.length === 0 || !(await fails(fewerSteps))) index += size;
    }
  }
  return best;
};

const line = (step: Step): string => {
  switch (step.do) {
    case "transaction":
      return `connection ${step.lane}: begin; ${step.sql.join("; ")}; ${step.end}`;
    case "schema":
      return `schema: ${step.sql}`;
    case "metadata":
      return `metadata: closed ${JSON.stringify(step.closedTables)}`;
    case "subscribe": {
      const { query, variables } = graphqlText(step.query, "subscription", () => undefined);
      return `subscribe ${step.number}: ${step.transport} of server ${step.api}, ${step.caller.role ?? "admin"} ${step.caller.user}: ${
        step.transport === "rest" ? decodeURIComponent(restPath(step.query)) : `${query} ${JSON.stringify(variables)}`
      }`;
    }
    case "leave":
    case "reconnect":
    case "cut":
      return `${step.do} ${step.number}`;
    case "restart":
      return `restart server ${step.api}`;
    case "pause":
      return `pause ${step.ms} ms`;
    default:
      return step.do;
  }
};

export const failureText = (world: World, { steps, fault }: Failure): string =>
  [
    `changes by ${world.source}, schema by ${world.reload}, batches of ${world.batchSize}`,
    worldSql({ ...world }, 0),
    "",
    ...steps.map((step, index) => `${String(index + 1).padStart(3)} ${line(step)}`),
    "",
    `${fault.kind}: ${fault.text}`,
  ].join("\n");
