/** Live queries of one row, identified by its primary key: changes of other rows do not concern them. */
import {
  baseTypeOf,
  columnOf,
  relationOf,
  type BoundValue,
  type Model,
  type Plan,
  type Predicate,
  type Program,
  type Read,
} from "../../core/index.ts";

export interface RowKey {
  /** `schema.name` */
  readonly relation: string;
  readonly column: string;
  /** Index of the key among the values of the plan. */
  readonly param: number;
}

/** Types whose values have one text each, which the log prints too. */
const TEXTS: Readonly<Record<string, RegExp>> = {
  int2: /^(?:0|-?[1-9]\d*)$/,
  int4: /^(?:0|-?[1-9]\d*)$/,
  int8: /^(?:0|-?[1-9]\d*)$/,
  uuid: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
};

/** Undefined: the result may depend on other rows too. `transformPlan` only narrows a read, so the plan before it is
 *  sufficient. */
export const rowKeyOf = (plan: Plan | undefined, program: Program, model: Model): RowKey | undefined => {
  const read = readOf(plan);
  if (read === undefined || !("relation" in read.from) || program.isOpenEnded || program.relations.size !== 1)
    return undefined;
  const relation = relationOf(model, read.from.relation);
  const [column, ...others] = relation?.primaryKey ?? [];
  if (relation?.kind !== "table" || column === undefined || others.length > 0 || !isReadOnce(program, relation))
    return undefined;
  const declared = columnOf(relation, column);
  if (
    declared === undefined ||
    model.representations.has(declared.type) ||
    TEXTS[baseTypeOf(model, declared.type)?.name ?? ""] === undefined
  )
    return undefined;
  const param = paramOf(read.where, column);
  return param === undefined ? undefined : { relation: `${relation.schema}.${relation.name}`, column, param };
};

/** The key as the log prints it; undefined: written otherwise, so that it cannot be compared. */
export const keyText = (value: BoundValue | undefined): string | undefined =>
  typeof value === "string" && Object.values(TEXTS).some((pattern) => pattern.test(value)) ? value : undefined;

const readOf = (plan: Plan | undefined): Read | undefined => {
  if (plan?.kind === "read") return plan;
  if (plan?.kind !== "bundle" || plan.fields.length !== 1) return undefined;
  const [field] = plan.fields;
  return field !== undefined && "read" in field ? field.read : undefined;
};

/** An embed, a permission or a count that looks at the table again names it again. */
const isReadOnce = (
  { statements }: Program,
  { schema, name }: { readonly schema: string; readonly name: string },
): boolean => {
  const quoted = [schema, name].map((part) => `"${part.replaceAll('"', '""')}"`).join(".");
  return statements.length === 1 && statements[0]?.text.split(quoted).length === 2;
};

/** Of `key = $n` that every row must meet. */
const paramOf = (predicate: Predicate | undefined, column: string): number | undefined => {
  if (predicate?.kind === "and") {
    for (const part of predicate.of) {
      const found = paramOf(part, column);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (predicate?.kind !== "compare" || predicate.operator !== "eq" || predicate.quantifier !== undefined)
    return undefined;
  const { left, operand } = predicate;
  if (left.kind !== "column" || left.name !== column || (left.path?.length ?? 0) > 0 || left.of !== undefined)
    return undefined;
  return operand !== undefined && "param" in operand && operand.apply === undefined ? operand.param : undefined;
};
