/** Plans `on_conflict`. @rule G-UPS-1 G-UPS-2 G-UPS-3 G-UPS-5 G-UPS-7 */
import { type OnConflict, type Predicate } from "../../../core/index.ts";
import { validationFailed } from "../errors.ts";
import {
  getItemPosition,
  getPosition,
  readEnum,
  readList,
  readObject,
  type Input,
  type InputPosition,
} from "./input.ts";
import type { Planner } from "./planner.ts";
import { omitTrue, planWhere } from "./where.ts";
import { getFieldPart } from "../parts.ts";

export const planConflict = (planner: Planner, input: Input, position: InputPosition, path: string): OnConflict => {
  let constraint = "";
  let update: readonly string[] = [];
  let where: Predicate | undefined;
  readObject(planner, input, position, path, ({ field, input: value, path: at }) => {
    const part = getFieldPart(field);
    if (part?.kind !== "argument") return;
    if (part.name === "constraint") {
      const enumPart = getFieldPart(readEnum(planner, value, getPosition(field), at));
      if (enumPart?.kind === "constraint") constraint = enumPart.name;
    } else if (part.name === "update_columns") {
      update = planColumns(planner, value, getPosition(field), at, path);
    } else if (part.name === "where") {
      where = omitTrue(planWhere(planner, value, getPosition(field), at));
    }
  });
  return { target: { constraint }, update, ...(where && { where }) };
};

const planColumns = (
  planner: Planner,
  input: Input,
  position: InputPosition,
  path: string,
  conflictPath: string,
): readonly string[] => {
  const columns = new Set<string>();
  for (const item of readList(planner, input, position, path)) {
    const part = getFieldPart(readEnum(planner, item.input, getItemPosition(position), item.path));
    if (part?.kind === "placeholder") throw validationFailed("erroneous column name", conflictPath);
    if (part?.kind === "column") columns.add(part.column.name);
  }
  return [...columns];
};
