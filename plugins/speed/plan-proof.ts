/** Proves from the model that the statement of a plan runs no user-defined code. Statements that are not proven are
 *  correct, but cost more: their connection is cleaned, they share no round trip, and no live result. The proof uses an
 *  allowlist, so anything that is not listed is not proven. */
import {
  findColumn,
  CORE_MEDIA,
  definePlugin,
  FIRST_USER_OID,
  KEYSET_COMPARISONS,
  memoize,
  findRelation,
  planProofService,
  findRelationship,
  usesOnlyBuiltIns,
  visitPlan,
  type Assignment,
  type BuiltIn,
  type Envelope,
  type Expression,
  type Model,
  type Output,
  type PathKey,
  type Plan,
  type PlanScope,
  type Predicate,
  type Registry,
  type RelApiHooks,
  type Relation,
  type ValueRef,
  type WriteRows,
} from "../../core/index.ts";

interface ProofContext {
  readonly model: Model;
  readonly hooks: RelApiHooks;
  readonly registry: Registry;
}

interface TappedHook {
  readonly taps: readonly object[];
}

/** The operators, functions and casts that core writes without a schema around columns of any type. A name whose
 *  operands always have built-in types (`text || text`) is not listed, because PostgreSQL can only choose its own
 *  operator. */
const UNQUALIFIED_NAMES: readonly string[] = [
  "::",
  "=",
  "#>>",
  "array_agg",
  "array_to_json",
  "cardinality",
  "count",
  "json_agg",
  "json_build_array",
  "min",
  "row_to_json",
  "to_json",
];

/** Type names that only SQL's grammar has. All other type names are in the catalog. */
const GRAMMAR_TYPES: readonly string[] = ["int", "decimal", "float"];

/** Returns whether PostgreSQL's own code reads, writes, compares and prints the values of the type. */
const isBuiltInType = (model: Model, oid: number): boolean => {
  const type = model.types.get(oid);
  switch (type?.kind) {
    case "base":
    case "range":
    case "multirange":
      return oid < FIRST_USER_OID && type.schema === "pg_catalog";
    case "array":
      return type.element !== undefined && isBuiltInType(model, type.element);
    case "enum":
      return true;
    default:
      return false;
  }
};

const listBuiltInTypeNames = memoize((model: Model): ReadonlySet<string> => {
  const names = new Set(GRAMMAR_TYPES);
  for (const type of model.types.values()) {
    if (!isBuiltInType(model, type.oid)) continue;
    names.add(type.sqlName);
    if (type.schema === "pg_catalog") names.add(type.name);
  }
  return names;
});

/** Matches lengths and precisions: `(20)`, `(10,2)`. */
const MODIFIER = /\(\d+(?:,-?\d+)?\)/;

/** Returns whether the plan runs no user-defined code. The result of a plan that only reads must also be the same for
 *  all callers of one database role, except for bound values. @rule R-TX-10 G-SUB-10 */
const isProvenPlan = (plan: Plan, envelope: Envelope, { model, hooks, registry }: ProofContext): boolean => {
  const isProvenPart = (part: BuiltIn | undefined): boolean => usesOnlyBuiltIns(part, model);
  /** Checks every tap that may compile the node. */
  const areTapsProven = (hook: TappedHook | undefined): boolean =>
    // The package tapable stores a tap's options with it.
    hook !== undefined && hook.taps.length > 0 && hook.taps.every((tap) => isProvenPart(tap as BuiltIn));
  const isProvenAggregate = (fn: string): boolean => isProvenPart(registry.aggregates.get(fn));

  const isProvenType = (name: string | undefined): boolean =>
    name === undefined || listBuiltInTypeNames(model).has(name.replace(MODIFIER, ""));
  const isProvenFunction = (name: string | undefined): boolean =>
    name === undefined || isProvenPart(registry.functions.get(name));
  const isProvenColumn = (relation: Relation | undefined, name: string): boolean => {
    const foundColumn = relation && findColumn(relation, name);
    return foundColumn !== undefined && isBuiltInType(model, foundColumn.type);
  };
  const areColumnsProven = (relation: Relation | undefined): boolean =>
    relation !== undefined && relation.columns.every(({ name }) => isProvenColumn(relation, name));

  const isProvenValue = (ref: ValueRef): boolean => {
    if ("step" in ref) return true; // the row of the step was written by a proven write
    return isProvenType(ref.type) && (!("apply" in ref) || isProvenFunction(ref.apply));
  };
  const isProvenPath = (steps: readonly PathKey[] = []): boolean =>
    steps.every(({ arrow }) => !model.shadowedNames.has(arrow));

  const isProvenRelationship = (relation: Relation | undefined, id: string): boolean => {
    const relationship = relation && findRelationship(relation, id);
    if (relationship === undefined || relationship.routine !== undefined) return false;
    const { columns, junction } = relationship;
    const target = findRelation(model, relationship.target);
    const areKeysProven = (from: Relation | undefined, to: Relation | undefined, pairs: typeof columns): boolean =>
      pairs.every(([source, targetColumn]) => isProvenColumn(from, source) && isProvenColumn(to, targetColumn));
    if (target?.provenAccess === undefined || !areKeysProven(relation, target, columns)) return false;
    if (junction === undefined) return true;
    const through = findRelation(model, junction.relation);
    return (
      through?.provenAccess !== undefined &&
      areKeysProven(relation, through, junction.source) &&
      areKeysProven(target, through, junction.target)
    );
  };

  const isProvenExpression = (expression: Expression, { relation, root }: PlanScope): boolean => {
    switch (expression.kind) {
      case "column":
        return (
          isProvenColumn(expression.scope === "root" ? root : relation, expression.name) &&
          isProvenPath(expression.path)
        );
      case "cast":
        return isProvenType(expression.type);
      case "apply":
        return isProvenFunction(expression.function);
      case "ordering": {
        const specs = registry.orderings.filter(({ name }) => name === expression.ordering);
        return (
          specs.length > 0 &&
          specs.every((spec) => isProvenPart(spec) && spec.operands.every((operand) => isProvenType(operand.type)))
        );
      }
      case "aggregate":
        return isProvenAggregate(expression.fn);
      case "masked":
        return true;
      case "related":
        return isProvenRelationship(relation, expression.relationship);
      case "related-aggregate":
        return isProvenRelationship(relation, expression.relationship) && isProvenAggregate(expression.fn);
      case "output":
        return true; // checked as an output
      case "embedded":
        return isProvenPath(expression.path); // the embed itself is checked as an output
      default:
        return false;
    }
  };

  const isProvenPredicate = (predicate: Predicate, { relation }: PlanScope): boolean => {
    switch (predicate.kind) {
      case "and":
      case "or":
      case "not":
      case "embedded":
      case "written":
        return true;
      case "compare":
        return areTapsProven(hooks.compileFilter.get(predicate.operator));
      case "related":
        return isProvenRelationship(relation, predicate.relationship);
      case "exists":
        return findRelation(model, predicate.from)?.provenAccess !== undefined;
      case "keyset":
        return KEYSET_COMPARISONS.every((name) => !model.shadowedNames.has(name));
      case "keys":
        return !model.shadowedNames.has("=") && predicate.columns.every((name) => isProvenColumn(relation, name));
      default:
        return false;
    }
  };

  const isProvenOutput = (output: Output, { relation }: PlanScope): boolean => {
    switch (output.kind) {
      case "all":
        return areColumnsProven(relation);
      case "aggregate":
        return isProvenAggregate(output.fn) && isProvenType(output.cast);
      case "embed":
        return (
          "relationship" in output.via &&
          isProvenRelationship(relation, output.via.relationship) &&
          areTapsProven(hooks.compileEmbed.get(output.mode))
        );
      case "value":
      case "constant":
      case "affected":
      case "total":
      case "object":
      case "nodes":
        return true;
      default:
        return false;
    }
  };

  // Constraints, keys and returned columns of a write use whole rows.
  const isProvenWrite = ({ relation }: PlanScope, rows: WriteRows | undefined): boolean =>
    relation?.provenAccess === "write" &&
    areColumnsProven(relation) &&
    (rows === undefined || "cells" in rows || rows.columns.every((column) => isProvenFunction(column.apply)));

  const isProvenUpdateOperator = ({ operator }: Assignment): boolean =>
    isProvenPart(registry.updateOperators.find(({ name }) => name === operator));

  const areNodesProven = (plan: Plan): boolean => {
    let isProven = true;
    const check = (isProvenNode: boolean): void => {
      isProven &&= isProvenNode;
    };
    visitPlan(plan, model, {
      value: (ref) => check(isProvenValue(ref)),
      expression: (expression, scope) => check(isProvenExpression(expression, scope)),
      predicate: (predicate, scope) => check(isProvenPredicate(predicate, scope)),
      output: (output, scope) => check(isProvenOutput(output, scope)),
      read: (_read, { relation }) => check(relation?.provenAccess !== undefined),
      insert: ({ rows }, scope) => check(isProvenWrite(scope, rows)),
      update: ({ payload, assignments = [] }, scope) =>
        check(isProvenWrite(scope, payload) && assignments.every(isProvenUpdateOperator)),
      delete: (_remove, scope) => check(isProvenWrite(scope, undefined)),
      call: () => check(false),
      statement: ({ statement }) => check(isProvenPart(registry.statements.get(statement))),
    });
    return isProven;
  };

  const { media, wrapper } = envelope;
  if (wrapper !== undefined && !isProvenPart(registry.wrappers.get(wrapper.name))) return false;
  const isDocument =
    plan.kind === "bundle" || plan.kind === "sequence" || (media !== undefined && CORE_MEDIA.has(media));
  if (!isDocument && !registry.resultColumns.every(isProvenPart)) return false;
  const isKnownMedia = media === undefined || CORE_MEDIA.has(media) || areTapsProven(hooks.compileMedia.get(media));
  return isKnownMedia && UNQUALIFIED_NAMES.every((name) => !model.shadowedNames.has(name)) && areNodesProven(plan);
};

/** Proves which statements run no user-defined code, so that they may share work between callers. */
export const planProof = definePlugin({
  name: "plan-proof",
  apply: (hooks, context) =>
    context.offer(planProofService, {
      isProven: (plan, envelope, model) => isProvenPlan(plan, envelope, { model, hooks, registry: context.registry }),
    }),
});
