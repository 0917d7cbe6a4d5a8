/** Plans comparisons such as `{ _gt: 1, _in: [2, 3] }` on any operand. @rule G-BEXP-3 … G-BEXP-7 G-OP-1 … G-OP-36 */
import { getNamedType, isInputObjectType, type GraphQLInputObjectType } from "graphql";
import {
  encodeArrayLiteral,
  type Expression,
  type Json,
  type Operand,
  type Predicate,
  type ValueRef,
} from "../../../core/index.ts";
import { coerceColumn, findInputFunction, shareListText } from "../values/columns.ts";
import { listMissing, graphqlLimitExceeded } from "../errors.ts";
import { getFieldPart, type GqlPart } from "../plan-parts.ts";
import type { GqlValueType } from "../value-types.ts";
import {
  checkCount,
  isNull,
  openVariable,
  readBoolean,
  visitInputItems,
  visitInputFields,
  type FieldInput,
  type LocatedInput,
} from "./input.ts";
import { bindColumn, bindLeaf, isJsonValue, type Planner } from "./planner.ts";

/** Rejects an operation with too many conditions. @rule G-LIM-4 */
export const checkConditions = ({ budget, schema }: Planner, count: number): void => {
  if (count > budget.conditions) throw graphqlLimitExceeded(schema.options, "maxFilters", "conditions");
};

/** Counts a condition against the limit of the request. */
export const countCondition = (planner: Planner): void => {
  checkConditions(planner, 1);
  planner.budget.conditions--;
};

/** Plans the conditions of a comparison object on `leftOperand`, which must all hold. `value` is the type of `leftOperand`. */
export const planComparison = (
  planner: Planner,
  locatedInput: LocatedInput,
  leftOperand: Expression,
  value: GqlValueType,
): readonly Predicate[] => {
  const predicates: Predicate[] = [];
  visitInputFields(planner, locatedInput, (member) => {
    const part = getFieldPart(member.field);
    // With `v1BooleanNullCollapse`, a null comparison counts as omitted. @rule G-BEXP-6
    if (planner.schema.options.v1BooleanNullCollapse && isNull(openVariable(planner, member))) return;
    if (part?.kind === "cast") predicates.push(...planCast(planner, member, leftOperand));
    else if (part?.kind === "operator") predicates.push(planOperator(planner, member, part, leftOperand, value));
  });
  return predicates;
};

/** Plans `_cast`, whose comparisons apply to the cast value. @rule G-OP-17 G-OP-28 */
const planCast = (planner: Planner, locatedInput: LocatedInput, leftOperand: Expression): readonly Predicate[] => {
  const predicates: Predicate[] = [];
  visitInputFields(planner, locatedInput, (member) => {
    const part = getFieldPart(member.field);
    if (part?.kind !== "cast-to") return;
    predicates.push(
      ...planComparison(
        planner,
        member,
        { kind: "cast", value: leftOperand, type: part.value.type.sqlName },
        part.value,
      ),
    );
  });
  return predicates;
};

const planOperator = (
  planner: Planner,
  member: FieldInput,
  part: Extract<GqlPart, { readonly kind: "operator" }>,
  leftOperand: Expression,
  value: GqlValueType,
): Predicate => {
  countCondition(planner);
  const { operator } = part;
  const compare = (operand: Operand): Predicate => ({
    kind: "compare",
    left: leftOperand,
    operator: operator.name,
    operand,
  });
  switch (operator.operand) {
    case "keyword": {
      const keyword = String(readBoolean(planner, member));
      return {
        kind: "compare",
        left: leftOperand,
        operator: operator.name,
        keyword: part.keywords?.[keyword] ?? keyword,
      };
    }
    case "fields":
      return compare({ fields: planOperandFields(planner, member) });
    case "list":
      return planList(planner, member, part.value ?? value, leftOperand, operator.name);
    default:
      return compare(
        bindColumn(planner, member, { ...(part.value ?? value), isNullable: operator.takesNull === true }),
      );
  }
};

/** Plans a list as one array parameter, so the statement does not depend on its length. Values that are not text
 *  (arrays, geometries) are compared one by one. @rule G-OP-3 G-OP-32 */
const planList = (
  planner: Planner,
  locatedInput: LocatedInput,
  value: GqlValueType,
  leftOperand: Expression,
  operator: string,
): Predicate => {
  const item = { ...value, isNullable: false };
  if (value.element !== undefined || findInputFunction(value) !== undefined) {
    const items = visitInputItems(planner, locatedInput, (count) => checkConditions(planner, count));
    const refs = items.map((element) => bindColumn(planner, element, item));
    const predicate: Predicate = {
      kind: "or",
      predicates: refs.map((operand) => ({ kind: "compare", left: leftOperand, operator: "eq", operand })),
    };
    return operator === "nin" ? { kind: "not", predicate } : predicate;
  }
  const ref = bindList(planner, locatedInput, item);
  return { kind: "compare", left: leftOperand, operator, operand: ref };
};

/** Binds a list of values as one array. */
export const bindList = (planner: Planner, locatedInput: LocatedInput, item: GqlValueType): ValueRef => {
  const { path } = locatedInput;
  rejectStringItems(planner, locatedInput, item);
  const param = bindLeaf(planner, locatedInput, isJsonValue(item), (json) => {
    if (json === null) throw listMissing(path);
    const items = Array.isArray(json) ? json : [json];
    checkCount(planner, items.length, path);
    return shareListText(items, `items ${item.scalar} ${item.type.name}`, () =>
      encodeArrayLiteral(coerceItems(item, items, path), item.type.name),
    );
  });
  return { param, type: `${item.type.sqlName}[]` };
};

/** Coerces all items. Only rejected items need their paths, so other paths are not built. */
const coerceItems = (item: GqlValueType, items: readonly Json[], path: string): readonly (string | null)[] => {
  const texts: (string | null)[] = [];
  try {
    for (const value of items) texts.push(coerceColumn(item, value, path));
  } catch {
    const at = texts.length;
    // The coercion throws the same error again, now with the path.
    texts.push(coerceColumn(item, items[at] as Json, `${path}[${at}]`));
  }
  return texts;
};

/** Rejects string literals of enum types. @rule G-COE-7 */
const rejectStringItems = (planner: Planner, locatedInput: LocatedInput, item: GqlValueType): void => {
  const { input } = locatedInput;
  if (item.enumTable === undefined || input.kind !== "literal" || input.node.kind === "Variable") return;
  for (const element of visitInputItems(planner, locatedInput)) {
    if (element.input.kind === "literal" && element.input.node.kind === "StringValue")
      bindColumn({ ...planner, sources: [] }, element, item);
  }
};

/** Plans the members of an operand object. @rule G-OP-26 G-OP-27 G-OP-30 G-OP-31 */
const planOperandFields = (planner: Planner, locatedInput: LocatedInput): Readonly<Record<string, Operand>> => {
  const fields = new Map<string, Operand>();
  visitInputFields(planner, locatedInput, (member) => {
    const part = getFieldPart(member.field);
    if (part?.kind === "operand-field") fields.set(part.name, bindColumn(planner, member, part.value));
  });
  const type = getNamedType(locatedInput.position.type);
  for (const field of isInputObjectType(type) ? Object.values((type as GraphQLInputObjectType).getFields()) : []) {
    const part = getFieldPart(field);
    if (part?.kind !== "operand-field" || fields.has(part.name) || field.defaultValue === undefined) continue;
    fields.set(part.name, { constant: String(field.defaultValue), type: part.value.cast });
  }
  return Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : 1)));
};
