/** Plans fields of rows that a plugin's function or another GraphQL schema resolves for all rows at once. The plan
 *  reads the required columns under the field's name, and the results replace them. @rule X-GQL-6 X-GQL-14 */
import type { Bundle, Json, Output, Plan } from "../../../core/index.ts";
import { writeJson } from "../values/numbers.ts";
import type { VariableValues } from "../document/variables.ts";
import type { GqlLoadTree, GqlLoads, GqlStep } from "../operations.ts";
import { computeArguments, planFunctionField } from "./call.ts";
import { checkResultCount, planDelegateLoad } from "./forward.ts";
import type { LoadTemplate, CustomPartWith, FindRead, StepLoads } from "./function-field.ts";
import type { Planner, SelectedField } from "./planner.ts";

/** Returns an object of the columns that the field needs. */
const buildColumns = ({ as }: SelectedField, columns: readonly string[]): Output => ({
  kind: "object",
  as,
  outputs: columns.map((name) => ({ kind: "value", as: name, value: { kind: "column", name } })),
});

/** Plans the columns that the function of a loaded field receives. */
export const planLoad = (planner: Planner, selectedField: SelectedField, part: CustomPartWith<"load">): Output => {
  const output = buildColumns(selectedField, part.columns);
  const field = planFunctionField(planner, selectedField, part);
  const { origin, path } = field;
  planner.loads.set(output, (variables) => {
    const args = computeArguments(field, variables);
    const selection = field.selection(variables);
    return {
      origin,
      path,
      // The selection contains only JSON.
      key: JSON.stringify([origin, path, writeJson(args), writeJson(selection as unknown as Json)]),
      run: async (rows, context) =>
        checkResultCount(rows, await part.load(rows, { ...context, arguments: args, selection })).map((result) =>
          field.text(result),
        ),
    };
  });
  return output;
};

/** Plans a field of another GraphQL schema. @throws RelApiError of the field's own check */
export const planDelegate = (
  planner: Planner,
  selectedField: SelectedField,
  part: CustomPartWith<"delegate">,
): Output => {
  const output = buildColumns(selectedField, part.columns);
  planner.loads.set(output, planDelegateLoad(planner, selectedField, part));
  return output;
};

type Loads = Planner["loads"];

const buildOutputTree = (outputs: readonly Output[], loads: Loads, templates: LoadTemplate[]): GqlLoadTree => {
  const tree = new Map<string, GqlLoadTree | number>();
  for (const output of outputs) {
    const load = loads.get(output);
    if (load !== undefined && "as" in output) {
      tree.set(output.as, templates.push(load) - 1);
      continue;
    }
    const inner =
      output.kind === "object" || output.kind === "nodes"
        ? output.outputs
        : output.kind === "embed"
          ? output.read.output
          : undefined;
    const subtree = inner && buildOutputTree(inner, loads, templates);
    if (subtree !== undefined && subtree.size > 0 && "as" in output) tree.set(output.as, subtree);
  }
  return tree;
};

const buildBundleTree = ({ fields }: Bundle, loads: Loads, templates: LoadTemplate[]): GqlLoadTree => {
  const tree = new Map<string, GqlLoadTree | number>();
  for (const field of fields) {
    const subtree =
      "read" in field
        ? buildOutputTree(field.read.output, loads, templates)
        : "bundle" in field
          ? buildBundleTree(field.bundle, loads, templates)
          : undefined;
    if (subtree !== undefined && subtree.size > 0) tree.set(field.as, subtree);
  }
  return tree;
};

const buildPlanTree = (plan: Plan, loads: Loads, templates: LoadTemplate[]): GqlLoadTree => {
  switch (plan.kind) {
    case "bundle":
      return buildBundleTree(plan, loads, templates);
    case "read":
      return buildOutputTree(plan.output, loads, templates);
    case "sequence":
      return buildOutputTree(plan.result.output, loads, templates);
    case "insert":
    case "update":
    case "delete":
      return buildOutputTree(plan.returning?.output ?? [], loads, templates);
    default:
      return new Map();
  }
};

/** Groups the loaded fields of an operation by its steps. */
export const collectLoads = ({ loads }: Planner, steps: readonly Pick<GqlStep, "planned">[]): readonly StepLoads[] =>
  loads.size === 0
    ? []
    : steps.flatMap(({ planned: plannedProgram }, step): readonly StepLoads[] => {
        const fields: LoadTemplate[] = [];
        const tree = buildPlanTree(plannedProgram.plan, loads, fields);
        return fields.length === 0 ? [] : [{ step, tree, fields }];
      });

/** Fills the loaded fields of a step with the variables of a request. */
export const fillLoads = (
  { step, tree, fields }: StepLoads,
  variables: VariableValues,
  findRead: FindRead,
): GqlLoads => ({
  step,
  tree,
  fields: fields.map((fill) => fill(variables, findRead)),
});
