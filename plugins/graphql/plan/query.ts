/** Plans the root fields of queries and subscriptions as one statement. @rule G-ROOT-1 … G-ROOT-7 G-FN-3 G-FN-5
 *  G-FN-7 */
import type { BundleField, Expression, Predicate, Relation } from "../../../core/index.ts";
import { planAggregate } from "./aggregate.ts";
import { planArguments } from "./computed-fields.ts";
import { planCustomRead } from "./plugin-root-fields.ts";
import type { LocatedInput } from "./input.ts";
import { getRowLimit, planListArguments, type ListArguments } from "./lists.ts";
import { bindColumn, type Planner, type SelectedField } from "./planner.ts";
import { planRows } from "./rows.ts";
import { visitArguments, type GivenArgument } from "./selection.ts";
import { combinePredicates, getQualifiedName } from "./where.ts";
import type { GqlPart } from "../parts.ts";

/** Plans a field that reads. Returns undefined for other parts. */
export const planReadField = (planner: Planner, selected: SelectedField): BundleField | undefined => {
  const { part, as } = selected;
  switch (part?.kind) {
    case "list": {
      const list = planListArguments(planner, selected);
      return {
        as,
        read: planRows(
          planner,
          selected,
          { relation: getQualifiedName(part.relation) },
          { ...list, ...getRowLimit(planner) },
        ),
      };
    }
    case "aggregate": {
      const list = planListArguments(planner, selected);
      return {
        as,
        read: planAggregate(planner, selected, { relation: getQualifiedName(part.relation) }, list),
      };
    }
    case "by-pk": {
      const where = planPrimaryKey(planner, selected);
      return {
        as,
        read: planRows(planner, selected, { relation: getQualifiedName(part.relation) }, { where }),
        isOne: true,
      };
    }
    case "function":
      return planFunction(planner, selected, part);
    case "custom":
      return planCustomRead(planner, selected, part);
    default:
      return undefined;
  }
};

/** Returns the predicate for the key in the arguments. */
export const planPrimaryKey = (planner: Planner, selected: SelectedField): Predicate => {
  const parts: Predicate[] = [];
  visitArguments(planner, selected, (argument) => parts.push(...planKeyColumn(planner, argument, argument.part)));
  return combinePredicates(parts);
};

/** Returns the predicate for a column of the key. The result is empty for other parts. */
export const planKeyColumn = (
  planner: Planner,
  located: LocatedInput,
  part: GqlPart | undefined,
): readonly Predicate[] => {
  if (part?.kind !== "column") return [];
  const operand = bindColumn(planner, located, { ...part.value, isNullable: false });
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
    routine: getQualifiedName(routine),
    oid: routine.oid,
    arguments: planArguments(planner, routine, fixed, args, `${selected.path}.args.args`),
  };
  const { as } = selected;
  if (routine.returns.isSet) {
    return part.isAggregate
      ? { as, read: planAggregate(planner, selected, { call }, list) }
      : { as, read: planRows(planner, selected, { call }, { ...list, ...getRowLimit(planner) }) };
  }
  const listArguments: ListArguments = {
    ...list,
    where:
      list.where === undefined ? buildRowExists(relation) : combinePredicates([buildRowExists(relation), list.where]),
  };
  return part.isAggregate
    ? { as, read: planAggregate(planner, selected, { call }, listArguments) }
    : { as, read: planRows(planner, selected, { call }, listArguments), isOne: true };
};

/** Builds a predicate that excludes a row with only NULLs, which counts as no row. If there is a primary key, a test of
 *  its first column is sufficient. @rule G-FN-3 */
const buildRowExists = (relation: Relation): Predicate => {
  const names =
    relation.primaryKey.length > 0 ? relation.primaryKey.slice(0, 1) : relation.columns.map((column) => column.name);
  const tests = names.map((name): Predicate => ({
    kind: "compare",
    left: { kind: "column", name } satisfies Expression,
    operator: "is",
    keyword: "not_null",
  }));
  return tests.length === 1 ? (tests[0] as Predicate) : { kind: "or", predicates: tests };
};
