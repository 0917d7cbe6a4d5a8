/** Derives the conditions under which a row concerns a live query from its plan, for `where: {user_id: {_eq: $me}}`. A
 *  row that fails the conditions of every read of its relation cannot change the result. Conditions may be weaker than
 *  the plan, never stronger. @rule G-SUB-14 */
import {
  findColumn,
  findRelation,
  findRelationship,
  visitPlan,
  type Comparison,
  type Expression,
  type Model,
  type Operand,
  type Output,
  type Plan,
  type PlanScope,
  type PlanSource,
  type Predicate,
  type QualifiedName,
  type Read,
  type Relation,
  type ValueRef,
} from "../../../core/index.ts";
import {
  joinAllByAnd,
  ANY_ROW,
  joinByAnd,
  joinByOr,
  isAnyRow,
  type Alternatives,
  type ColumnTerms,
  type Condition,
  type Term,
} from "./row-alternatives.ts";
import { findColumnKind, findTypeKind, type ComparableKind } from "./comparable-types.ts";

/** The alternatives for each relation, by `schema.name`. One alternative must hold for a row of the relation. Undefined
 *  if any row matches. */
export type Conditions = ReadonlyMap<string, readonly Condition[] | undefined>;

/** Thrown for a plan whose conditions cannot be derived. */
class UnreadablePlanError extends Error {}

/** Derives the conditions of a plan. Undefined if nothing is known about the rows. */
export const deriveConditions = (plan: Plan, model: Model): Conditions | undefined => {
  try {
    return collectConditions(plan, model);
  } catch (error) {
    if (error instanceof UnreadablePlanError) return undefined;
    throw error;
  }
};

type ColumnPairs = readonly (readonly [from: string, to: string])[];

const reversePairs = (pairs: ColumnPairs): ColumnPairs => pairs.map(([from, to]) => [to, from]);

const collectConditions = (plan: Plan, model: Model): Conditions => {
  const conditionsByTable = new Map<string, readonly Condition[] | undefined>();

  const requireRelation = (name: QualifiedName): Relation => {
    const relation = findRelation(model, name);
    if (relation === undefined) throw new UnreadablePlanError();
    return relation;
  };

  const findKind = (relation: Relation, name: string): ComparableKind | undefined => {
    const column = findColumn(relation, name);
    return column && findColumnKind(model, column);
  };

  /** Translates a condition on rows of `from` to the joined rows of `to`. */
  const translateAlong = (
    alternatives: Alternatives,
    pairs: ColumnPairs,
    from: Relation,
    to: Relation,
  ): Alternatives => {
    const targetAlternatives = alternatives.map((condition) => {
      const next = new Map<string, ColumnTerms>();
      for (const [source, target] of pairs) {
        const terms = condition.get(source);
        if (terms !== undefined && findKind(from, source) === findKind(to, target)) next.set(target, terms);
      }
      return next;
    });
    return isAnyRow(targetAlternatives) ? ANY_ROW : targetAlternatives;
  };

  const record = (relation: Relation, alternatives: Alternatives): void => {
    const name = `${relation.schema}.${relation.name}`;
    const conditions = conditionsByTable.get(name);
    if (isAnyRow(alternatives)) conditionsByTable.set(name, undefined);
    else if (!conditionsByTable.has(name)) conditionsByTable.set(name, alternatives);
    else if (conditions !== undefined) conditionsByTable.set(name, [...conditions, ...alternatives]);
  };

  const buildTerm = (ref: ValueRef, kind: ComparableKind, isList: boolean): Term | undefined => {
    if ("step" in ref || ("session" in ref && ref.session === true) || ref.apply !== undefined) return undefined;
    if (ref.type !== undefined) {
      const name = isList && ref.type.endsWith("[]") ? ref.type.slice(0, -2) : ref.type;
      if (findTypeKind(model, name) !== kind) return undefined;
    }
    if ("param" in ref) return { slot: { param: ref.param }, isList };
    if ("constant" in ref) return { slot: { fixed: ref.constant }, isList };
    return { slot: { session: ref.session, optional: ref.missing === "null" }, isList };
  };

  const buildTerms = (operand: Operand, kind: ComparableKind, isList: boolean): readonly Term[] | undefined => {
    if ("expression" in operand || "fields" in operand) return undefined;
    if ("items" in operand) {
      if (!isList) return undefined;
      const terms = operand.items.map((item) => buildTerms(item, kind, false));
      return terms.includes(undefined) ? undefined : terms.flatMap((itemTerms) => itemTerms ?? []);
    }
    const term = buildTerm(operand, kind, isList);
    return term && [term];
  };

  const KEYWORDS: Readonly<Record<string, Term>> = {
    null: { isNull: true },
    true: { text: "t" },
    false: { text: "f" },
    unknown: { isNull: true },
  };

  const deriveFromComparison = (
    { left: leftOperand, operator, operand, keyword, quantifier }: Comparison,
    relation: Relation,
  ): Alternatives => {
    if (leftOperand.kind !== "column" || leftOperand.scope !== undefined || (leftOperand.path?.length ?? 0) > 0)
      return ANY_ROW;
    const kind = findKind(relation, leftOperand.name);
    if (kind === undefined) return ANY_ROW;
    let terms: readonly Term[] | undefined;
    if (operator === "is") {
      const term = KEYWORDS[keyword ?? "null"];
      terms = term && [term];
    } else if (operand !== undefined && (operator === "in" || (operator === "eq" && quantifier !== "all")))
      terms = buildTerms(operand, kind, operator === "in" || quantifier === "any");
    return terms === undefined ? ANY_ROW : [new Map([[leftOperand.name, { kind, terms }]])];
  };

  const deriveFromPredicate = (predicate: Predicate | undefined, relation: Relation): Alternatives => {
    switch (predicate?.kind) {
      case "and":
        return joinAllByAnd(predicate.predicates.map((part) => deriveFromPredicate(part, relation)));
      case "or":
        return joinByOr(predicate.predicates.map((part) => deriveFromPredicate(part, relation)));
      case "compare":
        return deriveFromComparison(predicate, relation);
      case "related":
        return deriveThroughRelated(relation, predicate.relationship, (target) =>
          deriveFromPredicate(predicate.where, target),
        );
      default:
        return ANY_ROW;
    }
  };

  /** Derives the condition on a row that has a related row with the given condition. */
  const deriveThroughRelated = (
    relation: Relation,
    id: string,
    deriveTargetConditions: (target: Relation) => Alternatives,
  ): Alternatives => {
    const relationship = findRelationship(relation, id);
    if (relationship === undefined || relationship.routine !== undefined || relationship.junction !== undefined)
      return ANY_ROW;
    const target = requireRelation(relationship.target);
    return translateAlong(deriveTargetConditions(target), reversePairs(relationship.columns), target, relation);
  };

  /** Derives the condition on a row of the read from the filter of the read. */
  const deriveFromRead = ({ where, output }: Read, relation: Relation): Alternatives => {
    const inner = output.map((item) =>
      item.kind === "embed" && item.join === "inner" && "relationship" in item.via
        ? deriveThroughRelated(relation, item.via.relationship, (target) => deriveFromRead(item.read, target))
        : ANY_ROW,
    );
    return joinAllByAnd([deriveFromPredicate(where, relation), ...inner]);
  };

  const recordAndReturn = (alternatives: Alternatives, relation: Relation): Alternatives => {
    record(relation, alternatives);
    return alternatives;
  };

  /** Records the condition on rows of the relationship. `deriveTargetConditions` returns the condition of the
   *  target. */
  const recordRelated = (
    { relation, alternatives: outer }: ConditionScope,
    id: string,
    deriveTargetConditions: (target: Relation) => Alternatives,
  ): Alternatives => {
    const relationship = relation && findRelationship(relation, id);
    if (relation === undefined || relationship === undefined || relationship.routine !== undefined)
      throw new UnreadablePlanError();
    const target = requireRelation(relationship.target);
    const inner = deriveTargetConditions(target);
    if (relationship.junction === undefined)
      return recordAndReturn(joinByAnd(inner, translateAlong(outer, relationship.columns, relation, target)), target);
    const junction = requireRelation(relationship.junction.relation);
    const link = joinByAnd(
      translateAlong(outer, relationship.junction.source, relation, junction),
      translateAlong(inner, relationship.junction.target, target, junction),
    );
    record(junction, link);
    return recordAndReturn(
      joinByAnd(inner, translateAlong(link, reversePairs(relationship.junction.target), junction, target)),
      target,
    );
  };

  const recordSource = (source: PlanSource, outerScope: ConditionScope | undefined): Alternatives => {
    if (source.kind === "read" && "relation" in source.from) {
      const relation = requireRelation(source.from.relation);
      return recordAndReturn(deriveFromRead(source, relation), relation);
    }
    if (source.kind === "exists") {
      const relation = requireRelation(source.from);
      return recordAndReturn(deriveFromPredicate(source.where, relation), relation);
    }
    if (outerScope === undefined) throw new UnreadablePlanError();
    if (source.kind === "embed" && "relationship" in source.via)
      return recordRelated(outerScope, source.via.relationship, (target) => deriveFromRead(source.read, target));
    if (source.kind === "related" || source.kind === "related-aggregate")
      return recordRelated(outerScope, source.relationship, (target) => deriveFromPredicate(source.where, target));
    throw new UnreadablePlanError();
  };

  const rejectOtherKinds =
    (kinds: ReadonlySet<string>) =>
    ({ kind }: { readonly kind: string }): void => {
      if (!kinds.has(kind)) throw new UnreadablePlanError();
    };

  if (plan.kind !== "read" && plan.kind !== "bundle") throw new UnreadablePlanError();
  visitPlan<ConditionScope>(plan, model, {
    extendScope: (rows, source, outerScope) => ({ ...rows, alternatives: recordSource(source, outerScope) }),
    expression: rejectOtherKinds(EXPRESSIONS),
    predicate: rejectOtherKinds(PREDICATES),
    output: rejectOtherKinds(OUTPUTS),
    statement: () => {
      throw new UnreadablePlanError();
    },
  });
  return conditionsByTable;
};

// A plan is unreadable if it has parts of kinds that these three lists do not contain.
const EXPRESSIONS: ReadonlySet<string> = new Set<Expression["kind"]>([
  "column",
  "embedded",
  "apply",
  "cast",
  "ordering",
  "masked",
  "related",
  "related-aggregate",
]);
const PREDICATES: ReadonlySet<string> = new Set<Predicate["kind"]>([
  "and",
  "or",
  "not",
  "compare",
  "keyset",
  "related",
  "exists",
  "embedded",
]);
const OUTPUTS: ReadonlySet<string> = new Set<Output["kind"]>([
  "all",
  "value",
  "constant",
  "aggregate",
  "object",
  "nodes",
  "embed",
  "total",
]);

/** The scope of a relation, with the condition that holds for its row. */
interface ConditionScope extends PlanScope {
  readonly alternatives: Alternatives;
}
