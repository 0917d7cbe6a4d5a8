/** Plans fields of rows that a plugin's function resolves for all rows at once. The plan reads the required columns
 *  under the field's name, and the function's results replace them. @rule X-GQL-6 */
import type { Bundle, Json, Output, Plan } from "../../../core/index.ts";
import { writeJson } from "../coerce/numbers.ts";
import type { VariableValues } from "../document/variables.ts";
import type { GqlLoadTree, GqlLoads, GqlStep } from "../operations.ts";
import { computeArguments, planFunctionField } from "./call.ts";
import type { LoadTemplate, CustomPartWith, StepLoads } from "./function-field.ts";
import type { Planner } from "./planner.ts";
import type { SelectedField } from "./selection.ts";
import { formatCount } from "../../shared/plural.ts";

type LoadPart = CustomPartWith<"load">;

export const planLoad = (planner: Planner, selected: SelectedField, part: LoadPart): Output => {
  const output: Output = {
    kind: "object",
    as: selected.as,
    of: part.columns.map((name) => ({ kind: "value", as: name, value: { kind: "column", name } })),
  };
  planner.loads.set(output, { field: planFunctionField(planner, selected, part), load: part.load });
  return output;
};

type Loads = Planner["loads"];

const buildOutputTree = (outputs: readonly Output[], loads: Loads, found: LoadTemplate[]): GqlLoadTree => {
  const tree = new Map<string, GqlLoadTree | number>();
  for (const output of outputs) {
    const load = loads.get(output);
    if (load !== undefined && "as" in output) {
      tree.set(output.as, found.push(load) - 1);
      continue;
    }
    const inner =
      output.kind === "object" || output.kind === "nodes"
        ? output.of
        : output.kind === "embed"
          ? output.read.output
          : undefined;
    const below = inner && buildOutputTree(inner, loads, found);
    if (below !== undefined && below.size > 0 && "as" in output) tree.set(output.as, below);
  }
  return tree;
};

const buildBundleTree = ({ fields }: Bundle, loads: Loads, found: LoadTemplate[]): GqlLoadTree => {
  const tree = new Map<string, GqlLoadTree | number>();
  for (const field of fields) {
    const below =
      "read" in field
        ? buildOutputTree(field.read.output, loads, found)
        : "bundle" in field
          ? buildBundleTree(field.bundle, loads, found)
          : undefined;
    if (below !== undefined && below.size > 0) tree.set(field.as, below);
  }
  return tree;
};

const buildPlanTree = (plan: Plan, loads: Loads, found: LoadTemplate[]): GqlLoadTree => {
  switch (plan.kind) {
    case "bundle":
      return buildBundleTree(plan, loads, found);
    case "read":
      return buildOutputTree(plan.output, loads, found);
    case "sequence":
      return buildOutputTree(plan.result.output, loads, found);
    case "insert":
    case "update":
    case "delete":
      return buildOutputTree(plan.returning?.output ?? [], loads, found);
    default:
      return new Map();
  }
};

export const collectLoads = ({ loads }: Planner, steps: readonly Pick<GqlStep, "planned">[]): readonly StepLoads[] =>
  loads.size === 0
    ? []
    : steps.flatMap(({ planned }, step): readonly StepLoads[] => {
        const fields: LoadTemplate[] = [];
        const tree = buildPlanTree(planned.plan, loads, fields);
        return fields.length === 0 ? [] : [{ step, tree, fields }];
      });

export const fillLoads = ({ step, tree, fields }: StepLoads, variables: VariableValues): GqlLoads => ({
  step,
  tree,
  fields: fields.map(({ field, load }) => {
    const args = computeArguments(field, variables);
    const selection = field.selection(variables);
    return {
      origin: field.origin,
      path: field.path,
      key: JSON.stringify([field.origin, field.path, writeJson(args), writeJson(selection as unknown as Json)]), // the selection contains only JSON
      run: async (rows, context) => {
        const results = await load(rows, { ...context, arguments: args, selection });
        if (!Array.isArray(results) || results.length !== rows.length)
          throw new TypeError(`it was given ${formatCount(rows.length, "row")} and must return as many results`);
        return results.map((result) => field.text(result));
      },
    };
  }),
});
