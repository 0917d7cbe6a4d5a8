/** `where: {user_id: {_eq: $me}}`: what a row must be like to concern a live query, read off its plan. A row that fails
 *  the condition of every place where its relation is read adds nothing there, so that the answer is the same with it
 *  and without it. Conditions may be weaker than the plan, never stronger. @rule G-SUB-14 */
import {
  columnOf,
  relationOf,
  relationshipOf,
  type Bundle,
  type Comparison,
  type Expression,
  type Model,
  type Operand,
  type Output,
  type Plan,
  type Predicate,
  type QualifiedName,
  type Read,
  type Relation,
  type ValueRef,
} from "../../core/index.ts";
import {
  allOf,
  ANY,
  both,
  either,
  isAny,
  type Choice,
  type ColumnTerms,
  type Condition,
  type Term,
} from "./choices.ts";
import { kindOfColumn, kindOfName, type Kind } from "./comparable.ts";

/** By `schema.name`: one of the conditions holds; undefined: any row. */
export type Conditions = ReadonlyMap<string, readonly Condition[] | undefined>;

/** A plan that cannot be read so. */
class Unreadable extends Error {}

/** Undefined: nothing is known of any row. */
export const conditionsOf = (plan: Plan, model: Model): Conditions | undefined => {
  try {
    return readConditions(plan, model);
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
};

type Pairs = readonly (readonly [from: string, to: string])[];

const turned = (pairs: Pairs): Pairs => pairs.map(([from, to]) => [to, from]);

const readConditions = (plan: Plan, model: Model): Conditions => {
  const found = new Map<string, readonly Condition[] | undefined>();

  const named = (name: QualifiedName): Relation => {
    const relation = relationOf(model, name);
    if (relation === undefined) throw new Unreadable();
    return relation;
  };

  const kindOf = (relation: Relation, name: string): Kind | undefined => {
    const column = columnOf(relation, name);
    return column && kindOfColumn(model, column);
  };

  /** What holds for the rows of `from` holds for the joined rows of `to`. */
  const along = (choice: Choice, pairs: Pairs, from: Relation, to: Relation): Choice => {
    const passed = choice.map((condition) => {
      const next = new Map<string, ColumnTerms>();
      for (const [source, target] of pairs) {
        const known = condition.get(source);
        if (known !== undefined && kindOf(from, source) === kindOf(to, target)) next.set(target, known);
      }
      return next;
    });
    return isAny(passed) ? ANY : passed;
  };

  const record = (relation: Relation, choice: Choice): void => {
    const name = `${relation.schema}.${relation.name}`;
    const known = found.get(name);
    if (isAny(choice)) found.set(name, undefined);
    else if (!found.has(name)) found.set(name, choice);
    else if (known !== undefined) found.set(name, [...known, ...choice]);
  };

  // --- what a condition says of the row at hand ---------------------------------------------------------------------

  const slotOf = (ref: ValueRef, kind: Kind, isList: boolean): Term | undefined => {
    if ("step" in ref || ("session" in ref && ref.session === true) || ref.apply !== undefined) return undefined;
    if (ref.type !== undefined) {
      const name = isList && ref.type.endsWith("[]") ? ref.type.slice(0, -2) : ref.type;
      if (kindOfName(model, name) !== kind) return undefined;
    }
    if ("param" in ref) return { slot: { param: ref.param }, isList };
    if ("constant" in ref) return { slot: { fixed: ref.constant }, isList };
    return { slot: { session: ref.session, optional: ref.missing === "null" }, isList };
  };

  const termsOf = (operand: Operand, kind: Kind, isList: boolean): readonly Term[] | undefined => {
    if ("expression" in operand || "fields" in operand) return undefined;
    if ("items" in operand) {
      if (!isList) return undefined;
      const terms = operand.items.map((item) => termsOf(item, kind, false));
      return terms.includes(undefined) ? undefined : terms.flatMap((one) => one ?? []);
    }
    const term = slotOf(operand, kind, isList);
    return term && [term];
  };

  const KEYWORDS: Readonly<Record<string, Term>> = {
    null: { isNull: true },
    true: { text: "t" },
    false: { text: "f" },
    unknown: { isNull: true },
  };

  const compared = ({ left, operator, operand, keyword, quantifier }: Comparison, relation: Relation): Choice => {
    if (left.kind !== "column" || left.of !== undefined || (left.path?.length ?? 0) > 0) return ANY;
    const kind = kindOf(relation, left.name);
    if (kind === undefined) return ANY;
    let terms: readonly Term[] | undefined;
    if (operator === "is") {
      const term = KEYWORDS[keyword ?? "null"];
      terms = term && [term];
    } else if (operand !== undefined && (operator === "in" || (operator === "eq" && quantifier !== "all")))
      terms = termsOf(operand, kind, operator === "in" || quantifier === "any");
    return terms === undefined ? ANY : [new Map([[left.name, { kind, terms }]])];
  };

  const holding = (predicate: Predicate | undefined, relation: Relation): Choice => {
    switch (predicate?.kind) {
      case "and":
        return allOf(predicate.of.map((part) => holding(part, relation)));
      case "or":
        return either(predicate.of.map((part) => holding(part, relation)));
      case "compare":
        return compared(predicate, relation);
      case "related":
        return throughRelated(relation, predicate.relationship, (target) => holding(predicate.where, target));
      default:
        return ANY;
    }
  };

  /** Of a row that has a related row like this. */
  const throughRelated = (relation: Relation, id: string, of: (target: Relation) => Choice): Choice => {
    const way = relationshipOf(relation, id);
    if (way === undefined || way.routine !== undefined || way.junction !== undefined) return ANY;
    const target = named(way.target);
    return along(of(target), turned(way.columns), target, relation);
  };

  /** Of a row of the read, by its own filter. */
  const ofRead = ({ where, output }: Read, relation: Relation): Choice => {
    const inner = output.map((one) =>
      one.kind === "embed" && one.join === "inner" && "relationship" in one.via
        ? throughRelated(relation, one.via.relationship, (target) => ofRead(one.read, target))
        : ANY,
    );
    return allOf([holding(where, relation), ...inner]);
  };

  // --- every place where rows are read ------------------------------------------------------------------------------

  /** Rows of the relationship, which `own` holds for. */
  const related = (relation: Relation, id: string, outer: Choice, own: (target: Relation) => Choice): Place => {
    const way = relationshipOf(relation, id);
    if (way === undefined || way.routine !== undefined) throw new Unreadable();
    const target = named(way.target);
    const inner = own(target);
    if (way.junction === undefined) {
      const choice = both(inner, along(outer, way.columns, relation, target));
      record(target, choice);
      return { relation: target, choice };
    }
    const through = named(way.junction.relation);
    const link = both(
      along(outer, way.junction.source, relation, through),
      along(inner, way.junction.target, target, through),
    );
    record(through, link);
    const choice = both(inner, along(link, turned(way.junction.target), through, target));
    record(target, choice);
    return { relation: target, choice };
  };

  const expression = (given: Expression, { relation, choice }: Place): void => {
    switch (given.kind) {
      case "column":
      case "embedded":
        return;
      case "apply":
        for (const one of given.operands ?? []) operand(one, { relation, choice });
        return expression(given.of, { relation, choice });
      case "cast":
      case "ordering":
        return expression(given.of, { relation, choice });
      case "masked":
        expression(given.of, { relation, choice });
        return condition(given.when, { relation, choice });
      case "related": {
        const place = related(relation, given.relationship, choice, (target) => holding(given.where, target));
        condition(given.where, place);
        return expression(given.value, place);
      }
      case "related-aggregate": {
        const place = related(relation, given.relationship, choice, (target) => holding(given.where, target));
        condition(given.where, place);
        return given.of.forEach((one) => expression(one, place));
      }
      default:
        throw new Unreadable();
    }
  };

  const operand = (given: Operand | undefined, place: Place): void => {
    if (given === undefined) return;
    if ("expression" in given) expression(given.expression, place);
    else if ("items" in given) for (const item of given.items) operand(item, place);
    else if ("fields" in given) for (const field of Object.values(given.fields)) operand(field, place);
  };

  const condition = (given: Predicate | undefined, place: Place): void => {
    switch (given?.kind) {
      case undefined:
      case "embedded":
        return;
      case "and":
      case "or":
        return given.of.forEach((part) => condition(part, place));
      case "not":
        return condition(given.of, place);
      case "compare":
        expression(given.left, place);
        return operand(given.operand, place);
      case "beyond":
        return given.order.forEach(({ by }) => expression(by, place));
      case "related":
        return condition(
          given.where,
          related(place.relation, given.relationship, place.choice, (target) => holding(given.where, target)),
        );
      case "exists": {
        const relation = named(given.from);
        const choice = holding(given.where, relation);
        record(relation, choice);
        return condition(given.where, { relation, choice });
      }
      default:
        throw new Unreadable();
    }
  };

  const output = (given: Output, place: Place): void => {
    switch (given.kind) {
      case "all":
      case "constant":
      case "total":
        return;
      case "value":
        return expression(given.value, place);
      case "aggregate":
        return (given.of ?? []).forEach((one) => expression(one, place));
      case "object":
      case "nodes":
        return given.of.forEach((one) => output(one, place));
      case "embed": {
        if (!("relationship" in given.via)) throw new Unreadable();
        const { relationship } = given.via;
        return rows(
          given.read,
          related(place.relation, relationship, place.choice, (target) => ofRead(given.read, target)),
        );
      }
      default:
        throw new Unreadable();
    }
  };

  const rows = (given: Read, place: Place): void => {
    for (const one of given.output) output(one, place);
    condition(given.where, place);
    for (const { by } of given.orderBy ?? []) expression(by, place);
    for (const one of given.distinctOn ?? []) expression(one, place);
    for (const one of given.groupBy ?? []) expression(one, place);
    condition(given.having, place);
  };

  const read = (given: Read): void => {
    if (!("relation" in given.from)) throw new Unreadable();
    const relation = named(given.from.relation);
    const choice = ofRead(given, relation);
    record(relation, choice);
    rows(given, { relation, choice });
  };

  const bundle = ({ fields }: Bundle): void => {
    for (const field of fields)
      if ("read" in field) read(field.read);
      else if ("bundle" in field) bundle(field.bundle);
      else if (!("value" in field)) throw new Unreadable();
  };

  if (plan.kind === "read") read(plan);
  else if (plan.kind === "bundle") bundle(plan);
  else throw new Unreadable();
  return found;
};

/** Whose row is at hand, and what holds for it. */
interface Place {
  readonly relation: Relation;
  readonly choice: Choice;
}
