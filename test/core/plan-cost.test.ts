/** The figures of a plan that the limits on estimated cost use. */
import { expect, test } from "vitest";
import { parseEstimate } from "../../plugins/limits/plan-cost.ts";

test("R-LIM-8 a LIMIT costs its share of the plan, nodes that read everything cost all of it, loops multiply", () => {
  const rows = (plan: object): number => parseEstimate(JSON.stringify([{ Plan: plan }])).rows;
  const scan = { "Node Type": "Seq Scan", "Plan Rows": 1000 };
  expect(rows({ "Node Type": "Limit", "Plan Rows": 10, Plans: [scan] })).toBe(10);
  const sort = { "Node Type": "Sort", "Plan Rows": 1000, Plans: [scan] };
  expect(rows({ "Node Type": "Limit", "Plan Rows": 10, Plans: [sort] })).toBe(1000);
  const inner = { "Node Type": "Index Scan", "Plan Rows": 50 };
  expect(rows({ "Node Type": "Nested Loop", "Plan Rows": 5, Plans: [scan, inner] })).toBe(50_000);
  const sub = { ...inner, "Parent Relationship": "SubPlan" };
  expect(rows({ "Node Type": "Seq Scan", "Plan Rows": 20, Plans: [sub] })).toBe(1000);
  const initPlan = { ...inner, "Parent Relationship": "InitPlan" };
  expect(rows({ "Node Type": "Seq Scan", "Plan Rows": 20, Plans: [initPlan] })).toBe(50);
  expect(parseEstimate("[]")).toEqual({ cost: 0, rows: 0 });
});
