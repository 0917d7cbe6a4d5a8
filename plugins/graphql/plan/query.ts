/** Plans the root fields of queries and subscriptions as one statement. @rule G-ROOT-1 … G-ROOT-7 G-FN-3 G-FN-5
 *  G-FN-7 */
import {
  getQualifiedName,
  type BundleField,
  type Expression,
  type Predicate,
  type Relation,
} from "../../../core/index.ts";
import { planAggregate } from "./aggregate.ts";
import { planArguments } from "./computed-fields.ts";
import { planCustomRead } from "./plugin-root-fields.ts";
import type { LocatedInput } from "./input.ts";
import { getRowLimit, planListArguments, type ListArguments } from "./list-arguments.ts";
import { bindColumn, type Planner, type SelectedField } from "./planner.ts";
import { planRows } from "./row-selection.ts";
import { visitArguments, type GivenArgument } from "./selection.ts";
import { combinePredicates } from "./where.ts";
import type { GqlPart } from "../plan-parts.ts";

/** Plans a field that reads. Returns undefined for other parts. */
export const planReadField = (planner: Planner, selectedField: SelectedField): BundleField | undefined => {
  const { part, as } = selectedField;
  switch (part?.kind) {
    case "list": {
      const list = planListArguments(planner, selectedField);
      return {
        as,
        read: planRows(
          planner,
          selectedField,
          { relation: getQualifiedName(part.relation) },
          { ...list, ...getRowLimit(planner) },
        ),
      };
    }
    case "aggregate": {
      const list = planListArguments(planner, selectedField);
      return {
        as,
        read: planAggregate(planner, selectedField, { relation: getQualifiedName(part.relation) }, list),
      };
    }
    case "by-pk": {
      const where = planPrimaryKey(planner, selectedField);
      return {
        as,
        read: planRows(planner, selectedField, { relation: getQualifiedName(part.relation) }, { where }),
        isOne: true,
      };
    }
    case "function":
      return planFunction(planner, selectedField, part);
    case "custom":
      return planCustomRead(planner, selectedField, part);
    default:
      return undefined;
  }
};

/** Returns the predicate for the key in the arguments. */
export const planPrimaryKey = (planner: Planner, selectedField: SelectedField): Predicate => {
  const parts: Predicate[] = [];
  visitArguments(planner, selectedField, (argument) => parts.push(...planKeyColumn(planner, argument, argument.part)));
  return combinePredicates(parts);
};

/** Returns the predicate for a column of the key. The result is empty for other parts. */
export const planKeyColumn = (
  planner: Planner,
  locatedInput: LocatedInput,
  part: GqlPart | undefined,
): readonly Predicate[] => {
  if (part?.kind !== "column") return [];
  const operand = bindColumn(planner, locatedInput, { ...part.value, isNullable: false });
  return [{ kind: "compare", left: { kind: "column", name: part.column.name }, operator: "eq", operand }];
};

type FunctionPart = Extract<GqlPart, { readonly kind: "function" }>;

const planFunction = (planner: Planner, selectedField: SelectedField, part: FunctionPart): BundleField => {
  const { routine, relation, sessionArgument } = part;
  let args: GivenArgument | undefined;
  const list = planListArguments(planner, selectedField, (argument) => {
    if (argument.part?.kind === "argument" && argument.part.name === "args") args = argument;
  });
  const fixedArguments = sessionArgument === undefined ? {} : { session: sessionArgument };
  const call = {
    routine: getQualifiedName(routine),
    oid: routine.oid,
    arguments: planArguments(planner, routine, fixedArguments, args, `${selectedField.path}.args.args`),
  };
  const { as } = selectedField;
  if (routine.returns.isSet) {
    return part.isAggregate
      ? { as, read: planAggregate(planner, selectedField, { call }, list) }
      : { as, read: planRows(planner, selectedField, { call }, { ...list, ...getRowLimit(planner) }) };
  }
  const listArguments: ListArguments = {
    ...list,
    where:
      list.where === undefined ? buildRowExists(relation) : combinePredicates([buildRowExists(relation), list.where]),
  };
  return part.isAggregate
    ? { as, read: planAggregate(planner, selectedField, { call }, listArguments) }
    : { as, read: planRows(planner, selectedField, { call }, listArguments), isOne: true };
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
