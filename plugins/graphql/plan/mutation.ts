/** Plans the root fields of mutations as one step each, in the order of the document. @rule G-TX-1 G-TX-2 G-TX-5 */
import type { StepTemplate } from "./function-field.ts";
import type { GraphQLObjectType } from "graphql";
import { getQualifiedName, type Predicate, type Relation } from "../../../core/index.ts";
import { planInsert } from "./insert.ts";
import { countWrites, openStep, type Planner, type SelectedField, type SelectionSets } from "./planner.ts";
import { planPrimaryKey, planReadField } from "./query.ts";
import { visitArguments, visitSelections, checkSubselection } from "./selection.ts";
import { planUpdate, planUpdateMany } from "./update.ts";
import { isCall, planCall, type OperationParts } from "./operation-parts.ts";
import { planCustomField } from "./plugin-root-fields.ts";
import { omitTrue, planWhere } from "./where.ts";
import { planOneRow, planResponse, planWriteStep } from "./writes.ts";
import type { GqlOutput } from "../operations.ts";

/** Adds the steps of a root or namespace, and returns the outputs for their results. */
export const planMutationFields = (
  planner: Planner,
  type: GraphQLObjectType,
  selections: SelectionSets,
  parts: OperationParts,
): readonly GqlOutput[] => {
  const outputs: GqlOutput[] = [];
  visitSelections(planner, type, selections, (selection) => {
    if (selection.kind === "typename") outputs.push({ as: selection.as, text: JSON.stringify(selection.value) });
    else outputs.push(planField(planner, selection, parts));
  });
  return outputs;
};

const planField = (planner: Planner, selectedField: SelectedField, parts: OperationParts): GqlOutput => {
  const { part, as } = selectedField;
  const { steps } = parts;
  if (isCall(selectedField)) return planCall(planner, selectedField, selectedField.part, parts);
  const addStep = (step: StepTemplate | string): GqlOutput =>
    typeof step === "string" ? { as, text: step } : { as, step: steps.push(step) - 1 };
  const stepPlanner = openStep(planner);
  switch (part?.kind) {
    case "namespace":
      return {
        as,
        outputs: planMutationFields(
          planner,
          checkSubselection(selectedField) as GraphQLObjectType,
          selectedField,
          parts,
        ),
      }; // a namespace is an object
    case "insert":
      return addStep(planInsert(stepPlanner, selectedField, part.relation, false));
    case "insert-one":
      return addStep(planInsert(stepPlanner, selectedField, part.relation, true));
    case "update":
    case "update-by-pk":
      return addStep(planUpdate(stepPlanner, selectedField, part.relation));
    case "update-many":
      return {
        as,
        list: planUpdateMany(stepPlanner, selectedField, part.relation).map((step) => steps.push(step) - 1),
      };
    case "delete":
    case "delete-by-pk":
      return addStep(planDelete(stepPlanner, selectedField, part.relation));
    default: {
      const field =
        part?.kind === "custom" && "plan" in part
          ? planCustomField(stepPlanner, selectedField, part)
          : planReadField(stepPlanner, selectedField);
      if (field !== undefined && "planned" in field) return addStep(field);
      if (field === undefined)
        throw new TypeError(`no plan for a mutation field of the kind ${part?.kind ?? "undefined"}`);
      const plan = { kind: "bundle", fields: [field] } as const;
      return { bundle: steps.push({ planned: { plan, envelope: {} }, sources: stepPlanner.sources, path: "$" }) - 1 };
    }
  }
};

/** Plans `delete_T` and `delete_T_by_pk`. @rule G-DEL-1 G-DEL-2 G-DEL-3 */
const planDelete = (planner: Planner, selectedField: SelectedField, relation: Relation): StepTemplate => {
  const isOne = selectedField.part?.kind === "delete-by-pk";
  countWrites(planner);
  let where: Predicate | undefined;
  if (isOne) where = planPrimaryKey(planner, selectedField);
  else {
    visitArguments(planner, selectedField, (argument) => {
      if (argument.part?.kind === "argument" && argument.part.name === "where")
        where = omitTrue(planWhere(planner, argument));
    });
  }
  const result = isOne ? planOneRow(planner, selectedField) : planResponse(planner, selectedField);
  return planWriteStep(
    planner,
    { kind: "delete", from: getQualifiedName(relation), ...(where && { where }) },
    result,
    "$",
  );
};
