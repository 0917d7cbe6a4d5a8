/** Parses the output of `explain (format json)` into an estimated cost and an estimated number of rows. */

/** The members of a plan node that the estimate depends on. */
interface PlanNode {
  readonly "Node Type"?: string;
  readonly "Parent Relationship"?: string;
  readonly "Total Cost"?: number;
  readonly "Plan Rows"?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface Estimate {
  /** The cost in the planner's unit, which is about one page that is read sequentially. */
  readonly cost: number;
  /** The rows of the largest step, multiplied by its repetitions. */
  readonly rows: number;
}

/** Node types that read all rows of their input, even if only a few are needed. */
const FULL_INPUT_NODE_TYPES: ReadonlySet<string> = new Set([
  "Aggregate",
  "Hash",
  "Incremental Sort",
  "Materialize",
  "SetOp",
  "Sort",
  "WindowAgg",
]);

/** Returns the number of rows of the largest step among the node and its descendants. `loops` is the number of times
 *  that the node runs. `share` is the fraction of its rows that a LIMIT above the node needs. */
const estimateMaxRows = (node: PlanNode, loops: number, share: number): number => {
  const { "Node Type": type = "", "Plan Rows": planRows = 0, Plans: children = [] } = node;
  const ownRows = planRows * loops * share;
  const [outer] = children;
  let maxRows = ownRows;
  for (const child of children) {
    const relationship = child["Parent Relationship"];
    let childLoops = loops;
    let childShare = FULL_INPUT_NODE_TYPES.has(type) ? 1 : share;
    if (relationship === "InitPlan") [childLoops, childShare] = [1, 1];
    else if (relationship === "SubPlan") [childLoops, childShare] = [Math.max(loops, ownRows), 1];
    else if (type === "Limit") childShare = share * Math.min(1, planRows / Math.max(1, child["Plan Rows"] ?? 1));
    else if (type === "Nested Loop" && child !== outer)
      [childLoops, childShare] = [Math.max(1, loops * share * (outer?.["Plan Rows"] ?? 1)), 1];
    maxRows = Math.max(maxRows, estimateMaxRows(child, childLoops, childShare));
  }
  return maxRows;
};

/** Parses the text that the EXPLAIN statement returned. */
export const parseEstimate = (text: string): Estimate => {
  // PostgreSQL writes the text, so its shape is known.
  const [{ Plan: plan } = {}] = JSON.parse(text) as readonly { readonly Plan?: PlanNode }[];
  return plan === undefined
    ? { cost: 0, rows: 0 }
    : { cost: plan["Total Cost"] ?? 0, rows: Math.round(estimateMaxRows(plan, 1, 1)) };
};
