/** `albums_aggregate: { count: { predicate: { _gt: 1 } } }`: conditions on a whole related set. @rule G-AGP-1 … G-AGP-7
 *  */
import { type Expression, type Predicate } from "../../../core/index.ts";
import { validationFailed } from "../errors.ts";
import {
  itemPlace,
  placeOf,
  readBoolean,
  readEnum,
  readList,
  readObject,
  type FieldInput,
  type Input,
  type Place,
} from "./input.ts";
import type { Planner } from "./planner.ts";
import { allOf, narrowed, planComparison, planWhere } from "./where.ts";
import { gqlPart } from "../parts.ts";

export const planAggregatePredicate = (
  planner: Planner,
  input: Input,
  place: Place,
  relationship: string,
  path: string,
): Predicate => {
  const given: FieldInput[] = [];
  readObject(planner, input, place, path, (field) => given.push(field));
  const [one] = given;
  const part = one && gqlPart(one.field);
  if (one === undefined || given.length > 1 || part?.kind !== "predicate")
    throw validationFailed("exactly one predicate should be specified", path);

  let of: readonly Expression[] = [];
  let isDistinct = false;
  let where: Predicate | undefined;
  let compare: ((left: Expression) => readonly Predicate[]) | undefined;
  readObject(planner, one.input, placeOf(one.field), one.path, ({ field, input: value, path: at }) => {
    const name = gqlPart(field);
    if (name?.kind !== "argument") return;
    if (name.name === "arguments") of = planColumns(planner, value, placeOf(field), at, part.columns);
    else if (name.name === "distinct") isDistinct = readBoolean(planner, value, placeOf(field), at);
    else if (name.name === "filter") where = narrowed(planWhere(planner, value, placeOf(field), at));
    // the last of the four in name order, so that the left side is complete
    else if (name.name === "predicate")
      compare = (left) => planComparison(planner, value, placeOf(field), left, part.value, at);
  });
  const left: Expression = {
    kind: "related-aggregate",
    relationship,
    fn: part.fn,
    of,
    ...(isDistinct ? { distinct: true } : {}),
    ...(where === undefined ? {} : { where }),
  };
  return allOf(compare?.(left) ?? []);
};

/** A list of columns where any are taken, one column, or X and Y. */
const planColumns = (
  planner: Planner,
  input: Input,
  place: Place,
  path: string,
  columns: "any" | 1 | 2,
): readonly Expression[] => {
  const columnOf = (value: Input, at: Place, where: string): Expression[] => {
    const part = gqlPart(readEnum(planner, value, at, where));
    return part?.kind === "column" ? [{ kind: "column", name: part.column.name }] : [];
  };
  if (columns === "any")
    return readList(planner, input, place, path).flatMap((item) => columnOf(item.input, itemPlace(place), item.path));
  if (columns === 1) return columnOf(input, place, path);
  const both: Expression[] = [];
  readObject(planner, input, place, path, ({ field, input: value, path: at }) =>
    both.push(...columnOf(value, placeOf(field), at)),
  );
  return both;
};
