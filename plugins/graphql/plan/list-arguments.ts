/** Plans the arguments of fields that return a list of rows: `where`, `order_by`, `distinct_on`, `limit`, `offset`.
 *  @rule G-ROOT-5 G-ROOT-7 G-PAG G-DIS */
import { type Expression, type Json, type Read, type ValueRef } from "../../../core/index.ts";
import { parseDecimal, isFloatLiteral, getNumberText } from "../values/numbers.ts";
import { describeValue } from "../values/leaf.ts";
import { valueUnexpected, validationFailed } from "../errors.ts";
import {
  checkInteger,
  describeInput,
  isNull,
  openVariable,
  readEnum,
  visitInputItems,
  type LocatedInput,
} from "./input.ts";
import { planOrderBy } from "./order.ts";
import { bindLeaf, type Planner, type SelectedField } from "./planner.ts";
import { visitArguments, type GivenArgument } from "./selection.ts";
import { omitTrue, planWhere } from "./where.ts";
import { getFieldPart } from "../plan-parts.ts";

export type ListArguments = Pick<Read, "where" | "orderBy" | "distinctOn" | "having" | "limit" | "offset">;

/** Returns the row limit of a list. @rule G-PAG-3 */
export const getRowLimit = ({ schema }: Planner): { readonly cap?: number } =>
  schema.options.dbMaxRows === undefined ? {} : { cap: schema.options.dbMaxRows };

/** Plans the arguments of a list. `handleArgument` receives the arguments that do not belong to a list. */
export const planListArguments = (
  planner: Planner,
  selectedField: SelectedField,
  handleArgument: (argument: GivenArgument) => void = () => {},
): ListArguments => {
  const list: { -readonly [Key in keyof ListArguments]: ListArguments[Key] } = {};
  visitArguments(planner, selectedField, (argument) => {
    const { part } = argument;
    if (part?.kind !== "argument") {
      handleArgument(argument);
      return;
    }
    switch (part.name) {
      case "where":
        if (!isNull(openVariable(planner, argument))) list.where = omitTrue(planWhere(planner, argument));
        return;
      case "having":
        if (!isNull(openVariable(planner, argument))) list.having = omitTrue(planWhere(planner, argument));
        return;
      case "order_by": {
        const terms = planOrderBy(planner, argument);
        if (terms.length > 0) list.orderBy = terms;
        return;
      }
      case "distinct_on": {
        const columns = planDistinct(planner, argument);
        if (columns.length > 0) list.distinctOn = columns;
        return;
      }
      case "limit":
        list.limit = bindUnlessNull(planner, argument, encodeLimit);
        return;
      case "offset":
        list.offset = bindUnlessNull(planner, argument, encodeOffset);
        return;
      default:
        handleArgument(argument);
    }
  });
  checkDistinct(list, selectedField.path);
  return {
    ...(list.where && { where: list.where }),
    ...(list.orderBy && { orderBy: list.orderBy }),
    ...(list.distinctOn && { distinctOn: list.distinctOn }),
    ...(list.having && { having: list.having }),
    ...(list.limit && { limit: list.limit }),
    ...(list.offset && { offset: list.offset }),
  };
};

const bindUnlessNull = (
  planner: Planner,
  locatedInput: LocatedInput,
  write: (value: Json, actual: string, path: string) => string,
): ValueRef | undefined => {
  const { input, path } = locatedInput;
  const isVariable = input.kind === "variable" || input.node.kind === "Variable";
  // A null in the document counts as omitted; a null in a variable is bound, and the database accepts it.
  if (!isVariable && isNull(input)) return undefined;
  const param = bindLeaf(planner, locatedInput, false, (value) =>
    value === null ? null : write(value, isVariable ? describeValue(value) : describeInput(input), path),
  );
  return { param };
};

/** Encodes the number of rows for the bound limit. @rule G-PAG-1 */
const encodeLimit = (value: Json, word: string, path: string): string => {
  const text = getNumberText(value);
  const error =
    text === undefined || isFloatLiteral(value) || (parseDecimal(text).isNegative && parseDecimal(text).digits !== "");
  if (error) throw valueUnexpected("a non-negative 32-bit integer", "Int", word, path);
  return checkInteger(text, 32, path);
};

/** Encodes the number of skipped rows for the bound offset. @rule G-PAG-2 */
const encodeOffset = (value: Json, word: string, path: string): string => {
  const text =
    typeof value === "string" && /^-?\d+$/.test(value)
      ? value
      : isFloatLiteral(value)
        ? undefined
        : getNumberText(value);
  if (text === undefined)
    throw valueUnexpected("a 32-bit integer, or a 64-bit integer represented as a string", "Int", word, path);
  return checkInteger(text, 64, path);
};

/** Plans `distinct_on`. @rule G-DIS-2 */
const planDistinct = (planner: Planner, locatedInput: LocatedInput): readonly Expression[] => {
  if (isNull(openVariable(planner, locatedInput))) return [];
  const columns = new Map<string, Expression>();
  for (const item of visitInputItems(planner, locatedInput)) {
    const part = getFieldPart(readEnum(planner, item));
    if (part?.kind === "column") columns.set(part.column.name, { kind: "column", name: part.column.name });
  }
  return [...columns.values()];
};

/** Checks that `order_by` begins with the columns of `distinct_on`. @rule G-DIS-1 */
const checkDistinct = ({ distinctOn = [], orderBy = [] }: ListArguments, path: string): void => {
  if (distinctOn.length === 0 || orderBy.length === 0) return;
  const initial = orderBy
    .slice(0, distinctOn.length)
    .map(({ expression }) => (expression.kind === "column" ? expression.name : undefined));
  const isMatch =
    distinctOn.every((column) => column.kind === "column" && initial.includes(column.name)) &&
    !initial.includes(undefined);
  if (!isMatch) throw validationFailed('"distinct_on" columns must match initial "order_by" columns', `${path}.args`);
};
