/** Plans of rows as they were. */
import {
  mapPlan,
  relationshipOf,
  RelApiError,
  visitPlan,
  type BundleField,
  type Comparison,
  type Expression,
  type Model,
  type Output,
  type Plan,
  type Predicate,
  type QualifiedName,
  type Read,
  type Relation,
  type ValueRef,
} from "../../../core/index.ts";
import { FROM, historyOf, keptColumns, TO } from "./histories.ts";

const both = (one: Predicate, other: Predicate | undefined): Predicate =>
  other === undefined ? one : { kind: "and", of: [one, other] };

/** Marks a read for the tap, which comes after the permissions of the table and takes the mark away again. */
export const AS_OF = "as-of";
export const marked = (read: Read, at: ValueRef): Read => ({
  ...read,
  where: both(
    { kind: "compare", left: { kind: "embedded", embed: AS_OF, name: AS_OF }, operator: AS_OF, operand: at },
    read.where,
  ),
});

const isMark = (predicate: Predicate): predicate is Comparison =>
  predicate.kind === "compare" && predicate.operator === AS_OF;

/** @rule P-HIS-2 */
const validAt = (operand: ValueRef): Predicate => {
  const compare = (name: string, operator: string): Predicate => ({
    kind: "compare",
    left: { kind: "column", name },
    operator,
    operand,
  });
  const isNow: Predicate = { kind: "compare", left: { kind: "column", name: TO }, operator: "is", keyword: "null" };
  return { kind: "and", of: [compare(FROM, "lte"), { kind: "or", of: [isNow, compare(TO, "gt")] }] };
};

/** @rule P-HIS-4 P-HIS-5 */
export const notKept = (what: string): RelApiError =>
  new RelApiError({ code: "history-not-kept", status: 400, message: `${what} has no history`, path: "$" });

/** The read of the histories of what it reads. @throws RelApiError `history-not-kept` @rule P-HIS-3 P-HIS-4 */
const asItWas = (read: Read, model: Model, at: ValueRef): Read => {
  const named = (name: QualifiedName | undefined): QualifiedName | undefined => name && historyOf(model, name);
  const valid = <Node extends { readonly where?: Predicate }>(node: Node, history: QualifiedName | undefined): Node =>
    history === undefined ? node : { ...node, where: both(validAt(at), node.where) };
  /** Ways lead from history to history; from a table without one they lead to rows of now. */
  const along = (from: Relation | undefined, id: string): QualifiedName | undefined => {
    const relationship = from && relationshipOf(from, id);
    if (relationship?.routine !== undefined) throw notKept(`the function ${relationship.routine.name}`);
    const history = named(relationship?.target);
    if (from !== undefined && history !== undefined && named(from) === undefined) throw notKept(from.name);
    return history;
  };
  const refuseComputed = (expression: Expression | Predicate, relation: Relation | undefined): void => {
    if ("routine" in expression && named(relation) !== undefined)
      throw notKept(`the function ${expression.routine.name}`);
  };
  return mapPlan(read, model, {
    read: (one, { relation }) => {
      const history = named(relation);
      if (relation === undefined || history === undefined || !("relation" in one.from)) return one;
      const all = (): readonly Output[] =>
        keptColumns(model, relation, history).map((name) => ({
          kind: "value",
          as: name,
          value: { kind: "column", name },
        }));
      const output = one.output.flatMap((each) => (each.kind === "all" ? all() : [each]));
      return valid({ ...one, from: { relation: history }, output }, history);
    },
    embed: (embed, { relation }) => {
      if ("relationship" in embed.via) along(relation, embed.via.relationship);
      else if (named(relation) !== undefined) throw notKept(`the function ${embed.via.routine.name}`);
      return embed;
    },
    predicate: (predicate, { relation }) => {
      if (isMark(predicate)) return { kind: "and", of: [] };
      refuseComputed(predicate, relation);
      if (predicate.kind === "related") return valid(predicate, along(relation, predicate.relationship));
      if (predicate.kind !== "exists") return predicate;
      const history = named(predicate.from);
      return valid({ ...predicate, from: history ?? predicate.from }, history);
    },
    expression: (expression, { relation }) => {
      refuseComputed(expression, relation);
      return expression.kind === "related" || expression.kind === "related-aggregate"
        ? valid(expression, along(relation, expression.relationship))
        : expression;
    },
  });
};

const unmarked = (read: Read, model: Model): Read => {
  let at: ValueRef | undefined;
  visitPlan(read, model, {
    predicate: (predicate) => {
      if (isMark(predicate)) at = predicate.operand as ValueRef; // as `marked` writes it
    },
  });
  return at === undefined ? read : asItWas(read, model, at);
};

/** The plan with the reads that are marked, each for its own time. */
export const asOfMarks = <P extends Plan>(plan: P, model: Model): P => {
  if (plan.kind === "read") return unmarked(plan, model) as P; // of the same kind
  if (plan.kind !== "bundle") return plan;
  const fields = plan.fields.map((one): BundleField => {
    if ("read" in one) return { ...one, read: unmarked(one.read, model) };
    return "bundle" in one ? { ...one, bundle: asOfMarks(one.bundle, model) } : one;
  });
  return { ...plan, fields };
};
