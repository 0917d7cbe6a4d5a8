/** Plans `on_conflict`. @rule G-UPS-1 G-UPS-2 G-UPS-3 G-UPS-5 G-UPS-7 */
import { type OnConflict, type Predicate } from "../../../core/index.ts";
import { validationFailed } from "../errors.ts";
import { readEnum, visitInputItems, visitInputFields, type LocatedInput } from "./input.ts";
import type { Planner } from "./planner.ts";
import { omitTrue, planWhere } from "./where.ts";
import { getFieldPart } from "../plan-parts.ts";

/** Plans the argument `on_conflict`. */
export const planConflict = (planner: Planner, locatedInput: LocatedInput): OnConflict => {
  let constraint = "";
  let update: readonly string[] = [];
  let where: Predicate | undefined;
  visitInputFields(planner, locatedInput, (argument) => {
    const part = getFieldPart(argument.field);
    if (part?.kind !== "argument") return;
    if (part.name === "constraint") {
      const enumPart = getFieldPart(readEnum(planner, argument));
      if (enumPart?.kind === "constraint") constraint = enumPart.name;
    } else if (part.name === "update_columns") {
      update = planColumns(planner, argument, locatedInput.path);
    } else if (part.name === "where") {
      where = omitTrue(planWhere(planner, argument));
    }
  });
  return { target: { constraint }, update, ...(where && { where }) };
};

const planColumns = (planner: Planner, locatedInput: LocatedInput, conflictPath: string): readonly string[] => {
  const columns = new Set<string>();
  for (const item of visitInputItems(planner, locatedInput)) {
    const part = getFieldPart(readEnum(planner, item));
    if (part?.kind === "placeholder") throw validationFailed("erroneous column name", conflictPath);
    if (part?.kind === "column") columns.add(part.column.name);
  }
  return [...columns];
};
