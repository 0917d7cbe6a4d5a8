/** Plans the selection on rows: columns, computed fields, related rows. @rule G-OUT-1 G-REL-1 G-REL-2 G-CF-2 G-TYP-22
 *  G-TYP-30 */
import type { GraphQLObjectType } from "graphql";
import {
  getQualifiedName,
  type Embed,
  type EmbedSource,
  type Expression,
  type Output,
  type Read,
  type ReadFrom,
} from "../../../core/index.ts";
import type { GqlPart } from "../plan-parts.ts";
import { getTypeExtension } from "../field-types.ts";
import { planAggregate } from "./aggregate.ts";
import { findFixedArguments, planArguments } from "./computed-fields.ts";
import { fieldMisplaced, planOutput } from "./plugin-fields.ts";
import { getRowLimit, planListArguments } from "./list-arguments.ts";
import { planDelegate, planLoad } from "./loaded-fields.ts";
import type { Planner, PlanRow, SelectedField } from "./planner.ts";
import { planColumn, planComputedValue, type ComputedPart } from "./row-values.ts";
import { visitSelections, checkSubselection, type GivenArgument } from "./selection.ts";

/** Plans the outputs of a row. */
export const planRow: PlanRow = (planner, type, selections) => {
  const outputs: Output[] = [];
  visitSelections(planner, type, selections, (selection) => {
    if (selection.kind === "typename") outputs.push({ kind: "constant", as: selection.as, value: selection.value });
    else outputs.push(planRowField(planner, type, selection));
  });
  return outputs;
};

const planRowField = (planner: Planner, type: GraphQLObjectType, selectedField: SelectedField): Output => {
  const { part, as } = selectedField;
  switch (part?.kind) {
    case "column":
      return { kind: "value", as, value: planColumn(planner, selectedField, part) };
    case "computed":
      return part.value === undefined
        ? planComputedRows(planner, selectedField, part)
        : { kind: "value", as, value: planComputedValue(planner, selectedField, part, part.value) };
    case "relationship":
      return planRelationship(planner, selectedField, part);
    case "relationship-aggregate": {
      const list = planListArguments(planner, selectedField);
      const { target } = part;
      return buildEmbed(
        as,
        "aggregate",
        { relationship: part.relationship.id },
        planAggregate(planner, selectedField, { relation: getQualifiedName(target) }, list),
      );
    }
    case "custom":
      if ("output" in part) return planOutput(planner, selectedField, part, getTypeExtension(type)?.relation);
      if ("load" in part) return planLoad(planner, selectedField, part);
      if ("delegate" in part) return planDelegate(planner, selectedField, part);
      throw fieldMisplaced(part);
    default:
      throw new TypeError(`a field of a row stands for ${part?.kind ?? "nothing"}`);
  }
};

const buildEmbed = (as: string, mode: string, via: EmbedSource, read: Read): Embed => ({
  kind: "embed",
  as,
  id: as,
  mode,
  via,
  join: "left",
  read,
});

/** Plans a field that returns rows of a table. */
export const planRows = (planner: Planner, selectedField: SelectedField, from: ReadFrom, list: Partial<Read>): Read => {
  const type = checkSubselection(selectedField) as GraphQLObjectType; // rows are objects
  return {
    kind: "read",
    from,
    shape: "rows",
    output: planRow(planner, type, selectedField),
    ...list,
  };
};

const planRelationship = (
  planner: Planner,
  selectedField: SelectedField,
  part: Extract<GqlPart, { readonly kind: "relationship" }>,
): Output => {
  const list = planListArguments(planner, selectedField);
  const cappedList = part.relationship.isToOne ? list : { ...list, ...getRowLimit(planner) };
  return buildEmbed(
    selectedField.as,
    part.mode ?? "nest",
    { relationship: part.relationship.id },
    planRows(planner, selectedField, { relation: getQualifiedName(part.target) }, cappedList),
  );
};

const planComputedRows = (planner: Planner, selectedField: SelectedField, part: ComputedPart): Output => {
  const { field } = part;
  if (field.target === undefined) throw new TypeError(`computed field ${field.name} has neither a value nor rows`);
  let args: GivenArgument | undefined;
  const list = planListArguments(planner, selectedField, (argument) => {
    if (argument.part?.kind === "argument" && argument.part.name === "args") args = argument;
  });
  const routineArguments = planArguments(
    planner,
    field.routine,
    findFixedArguments(field),
    args,
    `${selectedField.path}.args.args`,
  );
  const via = {
    routine: getQualifiedName(field.routine),
    ...(routineArguments.length > 0 && { arguments: routineArguments }),
    isToOne: false,
  };
  return buildEmbed(
    selectedField.as,
    "nest",
    via,
    planRows(
      planner,
      selectedField,
      { relation: getQualifiedName(field.target) },
      { ...list, ...getRowLimit(planner) },
    ),
  );
};

/** Returns whether the result needs more than the written rows. Such results are read after the write. @rule G-INS-5 */
export const readsOtherRows = (outputs: readonly Output[]): boolean =>
  outputs.some((output) => {
    if (output.kind === "embed") return true;
    if (output.kind === "value") return isComputed(output.value);
    return (output.kind === "object" || output.kind === "nodes") && readsOtherRows(output.outputs);
  });

const isComputed = (value: Expression): boolean =>
  value.kind === "computed" || ((value.kind === "cast" || value.kind === "apply") && isComputed(value.value));
