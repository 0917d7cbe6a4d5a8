/** Plans the root fields of queries and subscriptions as one statement. @rule G-ROOT-1 … G-ROOT-7 G-FN-3 G-FN-5
 *  G-FN-7 */
import type { GraphQLObjectType } from "graphql";
import type { BundleField, Expression, Predicate, Read, Relation, ReadFrom } from "../../../core/index.ts";
import { planAggregate } from "./aggregate.ts";
import { planArguments } from "./computed.ts";
import { planCustomRead } from "./plugin-root-fields.ts";
import { capOf, planListArguments, type ListArguments } from "./lists.ts";
import { bindColumn, type Planner } from "./planner.ts";
import { planRow } from "./rows.ts";
import { eachArgument, subselection, type GivenArgument, type SelectedField } from "./selection.ts";
import { allOf, nameOf } from "./where.ts";
import type { GqlPart } from "../parts.ts";

/** Plans a field that reads. Undefined for other parts. */
export const planReadField = (planner: Planner, selected: SelectedField): BundleField | undefined => {
  const { part, as } = selected;
  switch (part?.kind) {
    case "list": {
      const list = planListArguments(planner, selected);
      return {
        as,
        read: rowsOf(planner, selected, { relation: nameOf(part.relation) }, { ...list, ...capOf(planner) }),
      };
    }
    case "aggregate": {
      const list = planListArguments(planner, selected);
      return { as, read: planAggregate(planner, selected, { relation: nameOf(part.relation) }, list, planRow) };
    }
    case "by-pk": {
      const where = planKey(planner, selected);
      return { as, read: rowsOf(planner, selected, { relation: nameOf(part.relation) }, { where }), one: true };
    }
    case "function":
      return planFunction(planner, selected, part);
    case "custom":
      return planCustomRead(planner, selected, part);
    default:
      return undefined;
  }
};

export const rowsOf = (planner: Planner, selected: SelectedField, from: ReadFrom, list: Partial<Read>): Read => {
  const type = subselection(selected) as GraphQLObjectType; // root fields that read have rows
  return {
    kind: "read",
    from,
    shape: "rows",
    output: planRow(planner, type, selected.selections, selected.path),
    ...list,
  };
};

/** Returns the predicate for the key in the arguments. */
export const planKey = (planner: Planner, selected: SelectedField): Predicate => {
  const parts: Predicate[] = [];
  eachArgument(planner, selected, (argument) => parts.push(...keyPart(planner, argument)));
  return allOf(parts);
};

const keyPart = (planner: Planner, { part, input, place, path }: GivenArgument): readonly Predicate[] => {
  if (part?.kind !== "column") return [];
  const operand = bindColumn(planner, input, place, { ...part.value, isNullable: false }, path);
  return [{ kind: "compare", left: { kind: "column", name: part.column.name }, operator: "eq", operand }];
};

type FunctionPart = Extract<GqlPart, { readonly kind: "function" }>;

const planFunction = (planner: Planner, selected: SelectedField, part: FunctionPart): BundleField => {
  const { routine, relation, sessionArgument } = part;
  let args: GivenArgument | undefined;
  const list = planListArguments(planner, selected, (argument) => {
    if (argument.part?.kind === "argument" && argument.part.name === "args") args = argument;
  });
  const fixed = sessionArgument === undefined ? {} : { session: sessionArgument };
  const call = {
    routine: nameOf(routine),
    oid: routine.oid,
    arguments: planArguments(planner, routine, fixed, args, `${selected.path}.args.args`),
  };
  const { as } = selected;
  if (routine.returns.isSet) {
    return part.isAggregate
      ? { as, read: planAggregate(planner, selected, { call }, list, planRow) }
      : { as, read: rowsOf(planner, selected, { call }, { ...list, ...capOf(planner) }) };
  }
  const given: ListArguments = {
    ...list,
    where: list.where === undefined ? hasRow(relation) : allOf([hasRow(relation), list.where]),
  };
  return part.isAggregate
    ? { as, read: planAggregate(planner, selected, { call }, given, planRow) }
    : { as, read: rowsOf(planner, selected, { call }, given), one: true };
};

/** A row with only NULLs counts as no row. The test of a key is sufficient. @rule G-FN-3 */
const hasRow = (relation: Relation): Predicate => {
  const names =
    relation.primaryKey.length > 0 ? relation.primaryKey.slice(0, 1) : relation.columns.map((column) => column.name);
  const tests = names.map((name): Predicate => ({
    kind: "compare",
    left: { kind: "column", name } satisfies Expression,
    operator: "is",
    keyword: "not_null",
  }));
  return tests.length === 1 ? (tests[0] as Predicate) : { kind: "or", of: tests };
};
