/** Traverses plans to inspect or change them. Only code that computes something from the parts of each node, such as the
 *  compiler, has its own recursion. The functions track the relation of each node, because relationship ids are
 *  unique only within a relation. */
import {
  buildNameKey,
  findRelation,
  findRelationship,
  findRoutines,
  type Model,
  type QualifiedName,
  type Relation,
} from "../model/model.ts";
import { resolveLookup, type Lookup } from "./lookups.ts";
import type {
  Bundle,
  BundleField,
  Call,
  Cell,
  Delete,
  Embed,
  Expression,
  Insert,
  OnConflict,
  Operand,
  OrderBy,
  Output,
  PathKey,
  Plan,
  Predicate,
  Read,
  RoutineArgument,
  RoutineCall,
  SequenceStep,
  Update,
  ValueRef,
  WriteRows,
} from "./plan.ts";
import { mapOptional, mapRecord, mapList, withChanges } from "./structural-sharing.ts";

/** The position of a node in a plan. @experimental */
export interface PlanScope {
  /** The relation of the current row. Undefined if the row belongs to no relation. */
  readonly relation: Relation | undefined;
  /** The relation of the outermost predicate's row (`scope: "root"`). */
  readonly root: Relation | undefined;
  /** True if the read returns one row (by key, or along a to-one relationship), not a list. */
  readonly isOne?: boolean;
  /** The path to the rows of an embed's read. Undefined for other reads. */
  readonly path?: PlanPath;
}

/** A path from a row to rows of another relation: along a relationship, or by a function of the row. @experimental */
export interface PlanPath {
  readonly from: Relation;
  /** The function of the row, including the function of a computed relationship. */
  readonly routine?: QualifiedName;
}

/** The node that a scope belongs to. @experimental */
export type PlanSource = Read | Insert | Update | Delete | Embed | Lookup;

/** The field of a bundle that a declared statement answers. */
type StatementField = Extract<BundleField, { readonly statement: string }>;

/** Functions that replace nodes. Each function is called after the parts of its node have been mapped. */
interface PlanMapper<Scope extends PlanScope = PlanScope> {
  /** Extends the scope of the rows that a node reads, before they are traversed. `outerScope` is the scope of the node
   *  itself. Undefined for outermost reads and writes. Required if `Scope` extends `PlanScope`. */
  readonly extendScope?: (rows: PlanScope, node: PlanSource, outerScope: Scope | undefined) => Scope;
  /** Replaces a read. `scope.relation` is the relation of the read's rows. */
  readonly read?: (read: Read, scope: Scope) => Read;
  readonly insert?: (insert: Insert, scope: Scope) => Insert;
  readonly update?: (update: Update, scope: Scope) => Update;
  readonly delete?: (remove: Delete, scope: Scope) => Delete;
  readonly call?: (call: RoutineCall) => RoutineCall;
  /** Replaces an embed. `scope.relation` is the parent's relation. */
  readonly embed?: (embed: Embed, scope: Scope) => Embed;
  readonly predicate?: (predicate: Predicate, scope: Scope) => Predicate;
  readonly expression?: (expression: Expression, scope: Scope) => Expression;
  readonly output?: (output: Output, scope: Scope) => Output;
  readonly statement?: (field: StatementField) => StatementField;
  readonly value?: (ref: ValueRef) => ValueRef;
}

/** Functions that inspect nodes. Unlike the functions of `PlanMapper`, they do not replace nodes. */
type PlanVisitor<Scope extends PlanScope = PlanScope> = Pick<PlanMapper<Scope>, "extendScope"> & {
  readonly [Node in Exclude<keyof PlanMapper, "extendScope">]?: (
    ...parts: Parameters<NonNullable<PlanMapper<Scope>[Node]>>
  ) => void;
};

/** Returns the plan with nodes replaced. Unchanged parts remain the same objects. */
export const mapPlan = <P extends Plan, Scope extends PlanScope = PlanScope>(
  plan: P,
  model: Model,
  mapper: PlanMapper<Scope>,
): P =>
  // The casts are safe: a mapper keeps the kind of a node, and takes only scopes that its own `extendScope` returns.
  mapAny(plan, { model, mapper: mapper as unknown as PlanMapper }) as P;

/** Calls the visitor for each node, after the node's parts. */
export const visitPlan = <Scope extends PlanScope = PlanScope>(
  plan: Plan,
  model: Model,
  { extendScope, ...visitor }: PlanVisitor<Scope>,
): void => {
  const mapper: Record<string, unknown> = { extendScope };
  for (const [name, visit] of Object.entries(visitor) as [
    string,
    ((node: unknown, scope: unknown) => void) | undefined,
  ][]) {
    if (visit === undefined) continue;
    mapper[name] = (node: unknown, scope: unknown): unknown => {
      visit(node, scope);
      return node;
    };
  }
  // The functions have the same names and arguments, and return the node itself.
  mapPlan(plan, model, mapper as PlanMapper);
};

interface Walk {
  readonly model: Model;
  readonly mapper: PlanMapper;
}

const mapAny = (plan: Plan, walk: Walk): Plan => {
  switch (plan.kind) {
    case "read":
      return mapRead(plan, walk);
    case "insert":
    case "update":
    case "delete":
      return mapWrite(plan, walk);
    case "call":
      return mapCall(plan, walk);
    case "bundle":
      return mapBundle(plan, walk);
    case "sequence":
      return withChanges(plan, {
        steps: mapList(plan.steps, (step): SequenceStep => withChanges(step, { write: mapStep(step.write, walk) })),
        result: mapRead(plan.result, walk),
      });
  }
};

/** Maps the write of a step. Limits do not apply to the rows that a step finds, so these rows do not count as a
 *  list. */
const mapStep = (write: SequenceStep["write"], walk: Walk): SequenceStep["write"] =>
  write.kind === "read" ? mapRead(write, walk, { isOne: true }) : mapWrite(write, walk);

const mapCall = (plan: Call, walk: Walk): Call =>
  withChanges(plan, {
    call: mapRoutineCall(plan.call, walk),
    result: mapOptional(plan.result, (result) => mapRead(result, walk)),
  });

const mapBundle = (bundle: Bundle, walk: Walk): Bundle =>
  withChanges(bundle, {
    fields: mapList(bundle.fields, (field): BundleField => {
      if ("read" in field)
        return withChanges(field, { read: mapRead(field.read, walk, { isOne: field.isOne === true }) });
      if ("bundle" in field) return withChanges(field, { bundle: mapBundle(field.bundle, walk) });
      if (!("statement" in field)) return field;
      const next = withChanges(field, { arguments: mapRecord(field.arguments, (ref) => mapValue(ref, walk)) });
      return walk.mapper.statement?.(next) ?? next;
    }),
  });

/** Maps a read. `embed` is the embed that the read belongs to, and the scope around that embed. */
const mapRead = (
  read: Read,
  walk: Walk,
  position: Pick<PlanScope, "isOne" | "path"> = {},
  embed?: { readonly node: Embed; readonly outerScope: PlanScope },
): Read => {
  const relation = findReadRelation(read, walk.model);
  const scope = buildScope({ relation, root: relation }, embed?.node ?? read, embed?.outerScope, walk);
  const from = "call" in read.from ? withChanges(read.from, { call: mapRoutineCall(read.from.call, walk) }) : read.from;
  const next = withChanges(read, {
    from,
    output: mapList(read.output, (output) => mapOutput(output, scope, walk)),
    where: mapWhere(read.where, scope, walk),
    orderBy: mapOptional(read.orderBy, (terms) => mapOrder(terms, scope, walk)),
    distinctOn: mapOptional(read.distinctOn, (list) => mapExpressions(list, scope, walk)),
    groupBy: mapOptional(read.groupBy, (list) => mapExpressions(list, scope, walk)),
    having: mapWhere(read.having, scope, walk),
    limit: mapOptional(read.limit, (ref) => mapValue(ref, walk)),
    offset: mapOptional(read.offset, (ref) => mapValue(ref, walk)),
    notes: mapOptional(read.notes, (notes) => mapRecord(notes, (ref) => mapValue(ref, walk))),
  });
  return walk.mapper.read?.(next, { ...scope, isOne: false, ...position }) ?? next;
};

const mapOrder = (terms: readonly OrderBy[], scope: PlanScope, walk: Walk): readonly OrderBy[] =>
  mapList(terms, (term): OrderBy => withChanges(term, { expression: mapExpression(term.expression, scope, walk) }));

/** Returns the relation of a read's rows. A function that returns a relation's row type counts as that relation. */
export const findReadRelation = (read: Read, model: Model): Relation | undefined => {
  if ("relation" in read.from) return findRelation(model, read.from.relation);
  if ("written" in read.from) return findRelation(model, read.from.written);
  const { routine: name, oid } = read.from.call;
  const returnedName = findRoutines(model, name).find((routine) => routine.oid === oid)?.returns.relation;
  return returnedName && findRelation(model, returnedName);
};

const mapWrite = (write: Insert | Update | Delete, walk: Walk): Insert | Update | Delete => {
  const name = write.kind === "insert" ? write.into : write.kind === "update" ? write.relation : write.from;
  const relation = walk.model.relations.get(buildNameKey(name));
  const scope = buildScope({ relation, root: relation }, write, undefined, walk);
  const check = mapWhere(write.check, scope, walk);
  const returning = mapOptional(write.returning, (read) => mapRead(read, walk));
  const { mapper } = walk;
  if (write.kind === "insert") {
    const next = withChanges(write, {
      check,
      returning,
      rows: mapRows(write.rows, walk),
      set: mapOptional(write.set, (cells) => mapCells(cells, walk)),
      onConflict: mapOptional(write.onConflict, (conflict) => mapConflict(conflict, scope, walk)),
      onlyKeys: mapOptional(write.onlyKeys, (keys) =>
        mapList(keys, (key) => withChanges(key, { value: mapValue(key.value, walk) })),
      ),
    });
    return mapper.insert?.(next, scope) ?? next;
  }
  const where = mapWhere(write.where, scope, walk);
  if (write.kind === "delete") {
    const next = withChanges(write, { check, returning, where });
    return mapper.delete?.(next, scope) ?? next;
  }
  const next = withChanges(write, {
    check,
    returning,
    where,
    payload: mapOptional(write.payload, (rows) => mapPayload(rows, walk)),
    assignments: mapOptional(write.assignments, (list) =>
      mapList(list, (assignment) => withChanges(assignment, { operand: mapValue(assignment.operand, walk) })),
    ),
  });
  return mapper.update?.(next, scope) ?? next;
};

/** The rows of a write that come from a payload. */
export type PayloadRows = Extract<WriteRows, { readonly payload: ValueRef }>;

const mapRows = (rows: WriteRows, walk: Walk): WriteRows =>
  "cells" in rows ? withChanges(rows, { cells: mapCells(rows.cells, walk) }) : mapPayload(rows, walk);

const mapPayload = (rows: PayloadRows, walk: Walk): PayloadRows =>
  withChanges(rows, { payload: mapValue(rows.payload, walk) });

const mapCells = (cells: readonly Cell[], walk: Walk): readonly Cell[] =>
  mapList(cells, (cell) => withChanges(cell, { value: mapOptional(cell.value, (ref) => mapValue(ref, walk)) }));

const mapConflict = (conflict: OnConflict, scope: PlanScope, walk: Walk): OnConflict =>
  withChanges(conflict, {
    set: mapOptional(conflict.set, (cells) => mapCells(cells, walk)),
    where: mapWhere(conflict.where, scope, walk),
    check: mapWhere(conflict.check, scope, walk),
  });

const mapRoutineCall = (call: RoutineCall, walk: Walk): RoutineCall => {
  const next = withChanges(call, {
    arguments: mapArguments(call.arguments, walk),
    payload: mapOptional(call.payload, (payload) => withChanges(payload, { json: mapValue(payload.json, walk) })),
  });
  return walk.mapper.call?.(next) ?? next;
};

const mapArguments = (list: readonly RoutineArgument[], walk: Walk): readonly RoutineArgument[] =>
  mapList(list, (argument) => withChanges(argument, { value: mapValue(argument.value, walk) }));

const mapOutput = (output: Output, scope: PlanScope, walk: Walk): Output => {
  const next = mapOutputParts(output, scope, walk);
  return walk.mapper.output?.(next, scope) ?? next;
};

const mapOutputParts = (output: Output, scope: PlanScope, walk: Walk): Output => {
  switch (output.kind) {
    case "value":
      return withChanges(output, { value: mapExpression(output.value, scope, walk) });
    case "aggregate":
      return withChanges(output, {
        expressions: mapOptional(output.expressions, (list) => mapExpressions(list, scope, walk)),
      });
    case "object":
    case "nodes":
      return withChanges(output, { outputs: mapList(output.outputs, (part) => mapOutput(part, scope, walk)) });
    case "embed":
      return mapEmbed(output, scope, walk);
    case "all":
    case "constant":
    case "affected":
    case "total":
      return output;
  }
};

const mapEmbed = (embed: Embed, scope: PlanScope, walk: Walk): Embed => {
  const { via } = embed;
  const pathSource = "routine" in via ? via : scope.relation && findRelationship(scope.relation, via.relationship);
  const next = withChanges(embed, {
    via:
      "routine" in via
        ? withChanges(via, { arguments: mapOptional(via.arguments, (list) => mapArguments(list, walk)) })
        : via,
    read: mapRead(
      embed.read,
      walk,
      {
        isOne: pathSource?.isToOne === true,
        path: scope.relation && { from: scope.relation, routine: pathSource?.routine },
      },
      { node: embed, outerScope: scope },
    ),
  });
  return walk.mapper.embed?.(next, scope) ?? next;
};

const mapWhere = (where: Predicate | undefined, scope: PlanScope, walk: Walk): Predicate | undefined =>
  mapOptional(where, (predicate) => mapPredicate(predicate, scope, walk));

const mapPredicate = (predicate: Predicate, scope: PlanScope, walk: Walk): Predicate => {
  const next = mapPredicateParts(predicate, scope, walk);
  return walk.mapper.predicate?.(next, scope) ?? next;
};

const mapPredicateParts = (predicate: Predicate, scope: PlanScope, walk: Walk): Predicate => {
  switch (predicate.kind) {
    case "and":
    case "or": {
      const innerScope = predicate.isRoot === true ? { ...scope, root: scope.relation } : scope;
      return withChanges(predicate, {
        predicates: mapList(predicate.predicates, (part) => mapPredicate(part, innerScope, walk)),
      });
    }
    case "not":
      return withChanges(predicate, { predicate: mapPredicate(predicate.predicate, scope, walk) });
    case "compare":
      return withChanges(predicate, {
        left: mapExpression(predicate.left, scope, walk),
        operand: mapOptional(predicate.operand, (operand) => mapOperand(operand, scope, walk)),
        option: mapOptional(predicate.option, (ref) => mapValue(ref, walk)),
      });
    case "related":
    case "exists":
      return withChanges(predicate, {
        where: mapWhere(predicate.where, buildLookupScope(predicate, scope, walk), walk),
      });
    case "computed-rows":
      return withChanges(predicate, {
        arguments: mapOptional(predicate.arguments, (list) => mapArguments(list, walk)),
        where: mapWhere(predicate.where, buildLookupScope(predicate, scope, walk), walk),
      });
    case "keyset":
      return withChanges(predicate, {
        order: mapOrder(predicate.order, scope, walk),
        values: mapList(predicate.values, (ref) => ref && mapValue(ref, walk)),
      });
    case "keys":
      return withChanges(predicate, {
        values: mapList(predicate.values, (key) => mapList(key, (ref) => mapValue(ref, walk))),
      });
    case "embedded":
    case "written":
      return predicate;
  }
};

const mapOperand = (operand: Operand, scope: PlanScope, walk: Walk): Operand => {
  if ("expression" in operand)
    return withChanges(operand, { expression: mapExpression(operand.expression, scope, walk) });
  if ("items" in operand)
    return withChanges(operand, { items: mapList(operand.items, (item) => mapOperand(item, scope, walk)) });
  if (!("fields" in operand)) return mapValue(operand, walk);
  return withChanges(operand, { fields: mapRecord(operand.fields, (part) => mapOperand(part, scope, walk)) });
};

const mapExpressions = (list: readonly Expression[], scope: PlanScope, walk: Walk): readonly Expression[] =>
  mapList(list, (expression) => mapExpression(expression, scope, walk));

const mapExpression = (expression: Expression, scope: PlanScope, walk: Walk): Expression => {
  const next = mapExpressionParts(expression, scope, walk);
  return walk.mapper.expression?.(next, scope) ?? next;
};

const mapExpressionParts = (expression: Expression, scope: PlanScope, walk: Walk): Expression => {
  switch (expression.kind) {
    case "output":
      return expression;
    case "column":
    case "embedded":
      return withChanges(expression, { path: mapPath(expression.path, walk) });
    case "computed":
      return withChanges(expression, {
        arguments: mapOptional(expression.arguments, (list) => mapArguments(list, walk)),
        path: mapPath(expression.path, walk),
      });
    case "cast":
      return withChanges(expression, { value: mapExpression(expression.value, scope, walk) });
    case "apply":
      return withChanges(expression, {
        value: mapExpression(expression.value, scope, walk),
        operands: mapOptional(expression.operands, (list) =>
          mapList(list, (operand) =>
            "expression" in operand
              ? withChanges(operand, { expression: mapExpression(operand.expression, scope, walk) })
              : mapValue(operand, walk),
          ),
        ),
      });
    case "ordering":
      return withChanges(expression, {
        value: mapExpression(expression.value, scope, walk),
        operands: mapList(expression.operands, (ref) => mapValue(ref, walk)),
      });
    case "aggregate":
      return withChanges(expression, { expressions: mapExpressions(expression.expressions, scope, walk) });
    case "masked":
      return withChanges(expression, {
        value: mapExpression(expression.value, scope, walk),
        when: mapPredicate(expression.when, scope, walk),
      });
    case "related": {
      const target = buildLookupScope(expression, scope, walk);
      return withChanges(expression, {
        where: mapWhere(expression.where, target, walk),
        value: mapExpression(expression.value, target, walk),
      });
    }
    case "related-aggregate": {
      const target = buildLookupScope(expression, scope, walk);
      return withChanges(expression, {
        where: mapWhere(expression.where, target, walk),
        expressions: mapExpressions(expression.expressions, target, walk),
      });
    }
    case "computed-aggregate": {
      const target = buildLookupScope(expression, scope, walk);
      return withChanges(expression, {
        arguments: mapOptional(expression.arguments, (list) => mapArguments(list, walk)),
        where: mapWhere(expression.where, target, walk),
        expressions: mapExpressions(expression.expressions, target, walk),
      });
    }
  }
};

const mapPath = (path: readonly PathKey[] | undefined, walk: Walk): readonly PathKey[] | undefined =>
  mapOptional(path, (steps) => mapList(steps, (step) => withChanges(step, { key: mapValue(step.key, walk) })));

const mapValue = (ref: ValueRef, walk: Walk): ValueRef => walk.mapper.value?.(ref) ?? ref;

const buildLookupScope = (node: Lookup, scope: PlanScope, walk: Walk): PlanScope => {
  const { target } = resolveLookup(node, scope.relation);
  return buildScope({ relation: target && findRelation(walk.model, target), root: scope.root }, node, scope, walk);
};

const buildScope = (rows: PlanScope, node: PlanSource, parent: PlanScope | undefined, { mapper }: Walk): PlanScope =>
  mapper.extendScope?.(rows, node, parent) ?? rows;
