/** Converts parsed fields, conditions and trees to parts of a plan. Values are collected in a separate list. */
import {
  findBaseType,
  findColumn,
  findComputedField,
  matchesType,
  type BoundValue,
  type Comparison,
  type Expression,
  type Model,
  type OperatorSpec,
  type PathKey,
  type PgType,
  type Predicate,
  type Relation,
  type Routine,
} from "../../../core/index.ts";
import type { Condition, Field, JsonPathKey, LogicTree } from "../request.ts";

/** A row of a composite type. */
interface CompositeType {
  readonly rowType: number;
  readonly columns: readonly string[];
}

/** The row that fields and conditions refer to. */
export interface RowScope {
  readonly model: Model;
  readonly relation: Relation | undefined;
  /** The composite type of rows that a function returns and that belong to no relation. */
  readonly composite?: CompositeType | undefined;
  /** The schemas in which computed fields are looked up. */
  readonly searchPath: readonly string[];
  readonly values: BoundValue[];
  /** Returns the id of the embed with that target name, whose null filters test the embed (R-EMB-15). */
  readonly findEmbed: (name: string) => string | undefined;
}

/** Binds a value without a type, which the database infers from its position. @rule R-FLT-3 */
export const bind = (values: BoundValue[], value: BoundValue): { readonly param: number } => ({
  param: values.push(value) - 1,
});

/** Builds a JSON path, whose keys are bound. @rule R-SEL-5 R-LEX-6 */
export const buildPath = (values: BoundValue[], path: readonly JsonPathKey[]): readonly PathKey[] =>
  path.map(({ arrow, key, isIndex }) => ({
    arrow,
    key: isIndex ? { ...bind(values, key), type: "integer" } : bind(values, key),
  }));

/** Returns the computed field of that name, unless the name is a column. */
const findFieldRoutine = (
  { model, relation, composite, searchPath }: Omit<RowScope, "findEmbed" | "values">,
  name: string,
): Routine | undefined => {
  const row = relation ?? composite;
  const isColumn =
    relation === undefined ? composite?.columns.includes(name) === true : findColumn(relation, name) !== undefined;
  return row === undefined || isColumn ? undefined : findComputedField(model, row, name, searchPath);
};

/** Finds a column or a computed field. Other names are rejected when the plan is compiled. @rule R-CMP-1 R-NAM-1 */
export const buildField = (scope: Omit<RowScope, "findEmbed">, { name, path }: Field): Expression => {
  const steps = path.length === 0 ? {} : { path: buildPath(scope.values, path) };
  const routine = findFieldRoutine(scope, name);
  return routine === undefined
    ? { kind: "column", name, ...steps }
    : { kind: "computed", routine: { schema: routine.schema, name }, ...steps };
};

/** Finds the field of a condition. A function that returns a set cannot be compared, so its name is unknown here. @rule
 *  R-CMP-1c */
const buildComparedField = (row: RowScope, field: Field): Expression =>
  findFieldRoutine(row, field.name)?.returns.isSet === true
    ? { kind: "column", name: field.name }
    : buildField(row, field);

/** Builds the predicate of a condition, including its negation. @rule R-FLT-1 R-FLT-2 */
const buildCondition = (row: RowScope, condition: Condition): Predicate => {
  const { field, specs, isNegated } = condition;
  const embed = isNullFilter(condition) ? row.findEmbed(field.name) : undefined;
  if (embed !== undefined) return { kind: "embedded", embed, isNull: !isNegated };
  return buildOperation(row.values, buildComparedField(row, field), {
    ...condition,
    specs: [chooseOperator(row, field, specs)],
  });
};

/** Returns the condition on a value, by the first of its operators. The database checks its type. */
export const buildOperation = (
  values: BoundValue[],
  leftOperand: Expression,
  { specs, isNegated, value, keyword, quantifier, option }: Omit<Condition, "field">,
): Predicate => {
  const comparison: Comparison = {
    kind: "compare",
    left: leftOperand,
    operator: (specs[0] as OperatorSpec).name, // in the grammar, every name has an operator
    operand: value === undefined ? undefined : bind(values, value),
    keyword,
    quantifier,
    option: option === undefined ? undefined : bind(values, option),
  };
  return isNegated ? { kind: "not", predicate: comparison } : comparison;
};

/** Returns whether the condition is exactly `is.null` on a bare name. @rule R-EMB-15 */
const isNullFilter = ({ field, operator, keyword }: Condition): boolean =>
  operator === "is" && keyword === "null" && field.path.length === 0;

/**
 * Returns the operator for the column's type if several share a name, otherwise the first. The database rejects a wrong
 * type.
 */
const chooseOperator = (row: RowScope, field: Field, specs: readonly OperatorSpec[]): OperatorSpec => {
  const matchingSpec =
    specs.length === 1 ? undefined : specs.find((spec) => matchesType(spec, findFieldType(row, field)));
  return matchingSpec ?? (specs[0] as OperatorSpec); // in the grammar, every name has an operator
};

const findFieldType = ({ model, relation }: RowScope, { name, path }: Field): PgType | undefined => {
  const column = relation && findColumn(relation, name);
  const type = column && findBaseType(model, column.type);
  const last = path.at(-1);
  if (last === undefined || (last.arrow === "->" && type?.name === "json")) return type;
  const typeName = last.arrow === "->>" ? "text" : "jsonb";
  return [...model.types.values()].find((pgType) => pgType.schema === "pg_catalog" && pgType.name === typeName);
};

/** Builds the predicate of a logic tree. @rule R-LOG-1 R-LOG-2 R-LOG-4 */
const buildTree = (row: RowScope, tree: LogicTree): Predicate => {
  if (tree.kind === "condition") return buildCondition(row, tree.condition);
  const group: Predicate = { kind: tree.kind, predicates: tree.members.map((part) => buildTree(row, part)) };
  return tree.isNegated ? { kind: "not", predicate: group } : group;
};

/** Returns the filters and trees of one level, joined by AND. @rule R-LOG-5 */
export const buildWhere = (
  row: RowScope,
  filters: readonly Condition[],
  logic: readonly LogicTree[],
): Predicate | undefined => {
  const predicates = [
    ...filters.map((condition) => buildCondition(row, condition)),
    ...logic.map((tree) => buildTree(row, tree)),
  ];
  return predicates.length < 2 ? predicates[0] : { kind: "and", predicates };
};
