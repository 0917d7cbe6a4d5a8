/** What `explain (format json)` says of a statement, as two numbers. */

/** A node of a plan, as far as it is read. */
interface PlanNode {
  readonly "Node Type"?: string;
  readonly "Parent Relationship"?: string;
  readonly "Total Cost"?: number;
  readonly "Plan Rows"?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface Estimate {
  /** In the planner's unit: about one page read in a row. */
  readonly cost: number;
  /** Of the step with most of them, its repetitions counted. */
  readonly rows: number;
}

/** These take all rows that there are, however few are wanted of them. */
const TAKES_ALL: ReadonlySet<string> = new Set([
  "Aggregate",
  "Hash",
  "Incremental Sort",
  "Materialize",
  "SetOp",
  "Sort",
  "WindowAgg",
]);

/** `loops`: how often the node runs. `share`: of its rows that are wanted, with a LIMIT above it. */
const rowsOf = (node: PlanNode, loops: number, share: number): number => {
  const { "Node Type": type = "", "Plan Rows": each = 0, Plans: parts = [] } = node;
  const own = each * loops * share;
  const [outer] = parts;
  let most = own;
  for (const part of parts) {
    const relationship = part["Parent Relationship"];
    let partLoops = loops;
    let partShare = TAKES_ALL.has(type) ? 1 : share;
    if (relationship === "InitPlan") [partLoops, partShare] = [1, 1];
    else if (relationship === "SubPlan") [partLoops, partShare] = [Math.max(loops, own), 1];
    else if (type === "Limit") partShare = share * Math.min(1, each / Math.max(1, part["Plan Rows"] ?? 1));
    else if (type === "Nested Loop" && part !== outer)
      [partLoops, partShare] = [Math.max(1, loops * share * (outer?.["Plan Rows"] ?? 1)), 1];
    most = Math.max(most, rowsOf(part, partLoops, partShare));
  }
  return most;
};

/** `text`: what PostgreSQL answered. */
export const readEstimate = (text: string): Estimate => {
  const [{ Plan: plan } = {}] = JSON.parse(text) as readonly { readonly Plan?: PlanNode }[]; // of PostgreSQL
  return plan === undefined
    ? { cost: 0, rows: 0 }
    : { cost: plan["Total Cost"] ?? 0, rows: Math.round(rowsOf(plan, 1, 1)) };
};
