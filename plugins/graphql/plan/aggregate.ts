/** `{ aggregate { count sum { sold } } nodes { id } }`: plans aggregates with the rows that they summarize. @rule
 *  G-AGG-1 … G-AGG-7 */
import type { GraphQLObjectType } from "graphql";
import type { Expression, Output, Read, ReadFrom } from "../../../core/index.ts";
import { getFieldPart } from "../plan-parts.ts";
import { readBoolean, readEnum, visitInputItems } from "./input.ts";
import { getRowLimit, type ListArguments } from "./list-arguments.ts";
import type { Planner, SelectedField } from "./planner.ts";
import { isStringified, planComputedOperand } from "./row-values.ts";
import { visitArguments, visitSelections, checkSubselection } from "./selection.ts";

/** Plans a field of type `T_aggregate`. */
export const planAggregate = (
  planner: Planner,
  selectedField: SelectedField,
  from: ReadFrom,
  list: ListArguments,
): Read => ({
  kind: "read",
  from,
  shape: "aggregate",
  output: planLevel(planner, selectedField, (field) => {
    if (field.part?.kind === "nodes") {
      const row = checkSubselection(field) as GraphQLObjectType; // `nodes` is a list of rows
      return {
        kind: "nodes",
        as: field.as,
        outputs: planner.planRow(planner, row, field),
        ...getRowLimit(planner),
      };
    }
    return { kind: "object", as: field.as, outputs: planAggregateFields(planner, field) };
  }),
  ...list,
});

/** Plans a field of aggregates, such as `{ count sum { sold } }`. */
export const planAggregateFields = (planner: Planner, selectedField: SelectedField): readonly Output[] =>
  planLevel(planner, selectedField, (field) => planAggregateField(planner, field));

/** Plans the fields of an object on one level, including `__typename`. */
const planLevel = (
  planner: Planner,
  selectedField: SelectedField,
  plan: (field: SelectedField) => Output,
): readonly Output[] => {
  const outputs: Output[] = [];
  // `T_aggregate`, `T_aggregate_fields`, `T_sum_fields` are objects.
  const type = checkSubselection(selectedField) as GraphQLObjectType;
  visitSelections(planner, type, selectedField, (selection) => {
    outputs.push(
      selection.kind === "typename" ? { kind: "constant", as: selection.as, value: selection.value } : plan(selection),
    );
  });
  return outputs;
};

const planAggregateField = (planner: Planner, selectedField: SelectedField): Output => {
  const { part, as } = selectedField;
  if (part?.kind === "count") return planCount(planner, selectedField);
  if (part?.kind !== "aggregate-function")
    throw new TypeError(`an aggregate field stands for ${part?.kind ?? "nothing"}`);
  const { fn } = part;
  return {
    kind: "object",
    as,
    outputs: planLevel(planner, selectedField, (column) => planAggregatedColumn(planner, column, fn)),
  };
};

const planAggregatedColumn = (planner: Planner, selectedField: SelectedField, fn: string): Output => {
  const { part, as } = selectedField;
  if (part?.kind === "column") {
    visitArguments(planner, selectedField, () => {});
    checkSubselection(selectedField);
    return buildAggregateOutput(as, fn, { kind: "column", name: part.column.name }, isStringified(planner, part.value));
  }
  if (part?.kind !== "computed") throw new TypeError(`an aggregated field stands for ${part?.kind ?? "nothing"}`);
  const expression = planComputedOperand(planner, selectedField, part);
  checkSubselection(selectedField);
  return buildAggregateOutput(as, fn, expression, part.value !== undefined && isStringified(planner, part.value));
};

const buildAggregateOutput = (as: string, fn: string, expression: Expression, isText: boolean): Output => ({
  kind: "aggregate",
  as,
  fn,
  expressions: [expression],
  ...(isText ? { cast: "text" } : {}),
});

/** Plans `count` with its columns. @rule G-AGG-3 */
const planCount = (planner: Planner, selectedField: SelectedField): Output => {
  let expressions: readonly Expression[] = [];
  let isDistinct = false;
  visitArguments(planner, selectedField, (argument) => {
    const { part } = argument;
    if (part?.kind !== "argument") return;
    if (part.name === "distinct") isDistinct = readBoolean(planner, argument);
    if (part.name !== "columns") return;
    expressions = visitInputItems(planner, argument).flatMap((item): Expression[] => {
      const column = getFieldPart(readEnum(planner, item));
      return column?.kind === "column" ? [{ kind: "column", name: column.column.name }] : [];
    });
  });
  checkSubselection(selectedField);
  return {
    kind: "aggregate",
    as: selectedField.as,
    fn: "count",
    expressions,
    ...(isDistinct && expressions.length > 0 ? { distinct: true } : {}),
  };
};
