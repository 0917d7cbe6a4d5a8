/** `on_conflict`. @rule G-UPS-1 G-UPS-2 G-UPS-3 G-UPS-5 G-UPS-7 */
import { type OnConflict, type Predicate } from "../../../core/index.ts";
import { validationFailed } from "../errors.ts";
import { itemPosition, positionOf, readEnum, readList, readObject, type Input, type InputPosition } from "./input.ts";
import type { Planner } from "./planner.ts";
import { withoutTrue, planWhere } from "./where.ts";
import { gqlPart } from "../parts.ts";

export const planConflict = (planner: Planner, input: Input, place: InputPosition, path: string): OnConflict => {
  let constraint = "";
  let update: readonly string[] = [];
  let where: Predicate | undefined;
  readObject(planner, input, place, path, ({ field, input: value, path: at }) => {
    const part = gqlPart(field);
    if (part?.kind !== "argument") return;
    if (part.name === "constraint") {
      const chosen = gqlPart(readEnum(planner, value, positionOf(field), at));
      if (chosen?.kind === "constraint") constraint = chosen.name;
    } else if (part.name === "update_columns") {
      update = planColumns(planner, value, positionOf(field), at, path);
    } else if (part.name === "where") {
      where = withoutTrue(planWhere(planner, value, positionOf(field), at));
    }
  });
  return { target: { constraint }, update, ...(where && { where }) };
};

const planColumns = (
  planner: Planner,
  input: Input,
  place: InputPosition,
  path: string,
  conflictPath: string,
): readonly string[] => {
  const columns = new Set<string>();
  for (const item of readList(planner, input, place, path)) {
    const part = gqlPart(readEnum(planner, item.input, itemPosition(place), item.path));
    if (part?.kind === "placeholder") throw validationFailed("erroneous column name", conflictPath);
    if (part?.kind === "column") columns.add(part.column.name);
  }
  return [...columns];
};
