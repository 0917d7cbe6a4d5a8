/** What is known about a plan without asking the database: an allowlist, so anything that is not on it is not
 *  proven. */
import type { CoreHooks } from "../../hooks.ts";
import { COMPARISONS } from "./beyond.ts";
import { columnOf, relationOf, relationshipOf, type Model, type QualifiedName, type Relation } from "../model/model.ts";
import type {
  Bundle,
  Cell,
  Comparison,
  Delete,
  Embed,
  Envelope,
  Expression,
  Insert,
  Operand,
  Output,
  PathKey,
  Plan,
  Predicate,
  Read,
  Update,
  ValueRef,
  WriteRows,
} from "../plan/plan.ts";
import type { Registry } from "../../plugin.ts";
import type { BuiltIn } from "./built-in.ts";
import { memoize } from "../../kernel/memoize.ts";

interface Parts {
  readonly model: Model;
  readonly hooks: CoreHooks;
  readonly registry: Registry;
}

interface Tapped {
  readonly taps: readonly object[];
}

/** Media types that core compiles itself. */
export type OwnMedia = ReadonlySet<string>;

/** Casts, and what core writes by its bare name around whatever a column is. Where both sides have the types that
 *  PostgreSQL's own operator takes (`text || text`) there is nothing to choose. */
const WRITTEN_BY_CORE: readonly string[] = [
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

/** Oids from here on belong to objects created after the database. */
const FIRST_USER_OID = 16_384;

/** Type names of SQL's grammar; all others are names of the catalog. */
const GRAMMAR: readonly string[] = ["int", "decimal", "float"];

/** Values of the type are read, written, compared and printed by PostgreSQL's own code. */
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

const typeNamesOf = memoize((model: Model): ReadonlySet<string> => {
  const names = new Set(GRAMMAR);
  for (const type of model.types.values()) {
    if (!isBuiltInType(model, type.oid)) continue;
    names.add(type.sqlName);
    if (type.schema === "pg_catalog") names.add(type.name);
  }
  return names;
});

/** Lengths and precisions: `(20)`, `(10,2)`. */
const MODIFIER = /\(\d+(?:,-?\d+)?\)/;

/** The plan runs no user code; and if it only reads, its result is the same for all callers with the same database
 *  role, except for the values in its slots. @rule R-TX-10 G-SUB-10 */
export const isProvenPlan = (
  plan: Plan,
  envelope: Envelope,
  own: OwnMedia,
  { model, hooks, registry }: Parts,
): boolean => {
  const isKnown = (part: BuiltIn | undefined): boolean =>
    part?.builtIn?.every((name) => !model.rivals.has(name)) === true;
  /** Every tap that may compile it. */
  const areKnown = (hook: Tapped | undefined): boolean =>
    hook !== undefined && hook.taps.length > 0 && hook.taps.every((tap) => isKnown(tap as BuiltIn)); // tapable stores a tap's options with it
  const isAggregate = (fn: string): boolean => isKnown(registry.aggregates.get(fn));

  const type = (name: string | undefined): boolean =>
    name === undefined || typeNamesOf(model).has(name.replace(MODIFIER, ""));
  const applied = (name: string | undefined): boolean => name === undefined || isKnown(registry.functions.get(name));
  const column = (relation: Relation, name: string): boolean => {
    const found = columnOf(relation, name);
    return found !== undefined && isBuiltInType(model, found.type);
  };
  const allColumns = (relation: Relation): boolean => relation.columns.every(({ name }) => column(relation, name));

  const value = (ref: ValueRef | undefined): boolean => {
    if (ref === undefined || "step" in ref) return true; // a step's row is one that a proven write has left
    if (!type(ref.type)) return false;
    return "apply" in ref ? applied(ref.apply) : true;
  };
  const path = (steps: readonly PathKey[] = []): boolean =>
    steps.every(({ arrow, key }) => !model.rivals.has(arrow) && value(key));

  const readable = (name: QualifiedName): Relation | undefined => {
    const relation = relationOf(model, name);
    return relation?.plain === undefined ? undefined : relation;
  };
  const along = (relation: Relation, id: string): Relation | undefined => {
    const relationship = relationshipOf(relation, id);
    const target = relationship && readable(relationship.target);
    if (relationship === undefined || target === undefined || relationship.routine !== undefined) return undefined;
    const { columns, junction } = relationship;
    if (!columns.every(([source, other]) => column(relation, source) && column(target, other))) return undefined;
    if (junction === undefined) return target;
    const through = readable(junction.relation);
    if (through === undefined) return undefined;
    const isKnownWay =
      junction.source.every(([source, key]) => column(relation, source) && column(through, key)) &&
      junction.target.every(([other, key]) => column(target, other) && column(through, key));
    return isKnownWay ? target : undefined;
  };

  const expression = (given: Expression, row: Row): boolean => {
    switch (given.kind) {
      case "column":
        return column(given.of === "root" ? row.root : row.relation, given.name) && path(given.path);
      case "cast":
        return type(given.type) && expression(given.of, row);
      case "apply":
        return (
          applied(given.function) &&
          expression(given.of, row) &&
          (given.operands ?? []).every((one) => operand(one, row))
        );
      case "ordering": {
        const specs = registry.orderings.filter(({ name }) => name === given.ordering);
        return (
          specs.length > 0 &&
          specs.every((spec) => isKnown(spec) && spec.operands.every((one) => type(one.type))) &&
          given.operands.every(value) &&
          expression(given.of, row)
        );
      }
      case "aggregate":
        return isAggregate(given.fn) && given.of.every((one) => expression(one, row));
      case "masked":
        return expression(given.of, row) && predicate(given.when, row);
      case "related": {
        const target = along(row.relation, given.relationship);
        return (
          target !== undefined &&
          predicate(given.where, under(target, row)) &&
          expression(given.value, under(target, row))
        );
      }
      case "related-aggregate": {
        const target = along(row.relation, given.relationship);
        return (
          target !== undefined &&
          isAggregate(given.fn) &&
          predicate(given.where, under(target, row)) &&
          given.of.every((one) => expression(one, under(target, row)))
        );
      }
      case "output":
        return true; // checked as an output
      case "embedded":
        return path(given.path); // the embed itself is checked as an output
      default:
        return false;
    }
  };

  const operand = (given: Operand | undefined, row: Row): boolean => {
    if (given === undefined) return true;
    if ("expression" in given) return expression(given.expression, row);
    if ("items" in given) return given.items.every((item) => operand(item, row));
    if ("fields" in given) return Object.values(given.fields).every((field) => operand(field, row));
    return value(given);
  };

  const comparison = (given: Comparison, row: Row): boolean =>
    areKnown(hooks.compileFilter.get(given.operator)) &&
    expression(given.left, row) &&
    operand(given.operand, row) &&
    value(given.option);

  const predicate = (given: Predicate | undefined, row: Row): boolean => {
    if (given === undefined) return true;
    switch (given.kind) {
      case "and":
      case "or": {
        const within = given.isRoot === true ? { ...row, root: row.relation } : row;
        return given.of.every((part) => predicate(part, within));
      }
      case "not":
        return predicate(given.of, row);
      case "compare":
        return comparison(given, row);
      case "related": {
        const target = along(row.relation, given.relationship);
        return target !== undefined && predicate(given.where, under(target, row));
      }
      case "exists": {
        const target = readable(given.from);
        return target !== undefined && predicate(given.where, under(target, row));
      }
      case "beyond":
        return (
          COMPARISONS.every((name) => !model.rivals.has(name)) &&
          given.order.every(({ by }) => expression(by, row)) &&
          given.values.every((ref) => ref === null || value(ref))
        );
      case "keys":
        return (
          !model.rivals.has("=") &&
          row.relation !== undefined &&
          given.columns.every((name) => row.relation !== undefined && column(row.relation, name)) &&
          given.values.every((key) => key.every(value))
        );
      case "embedded":
      case "written":
        return true;
      default:
        return false;
    }
  };

  const output = (given: Output, row: Row): boolean => {
    switch (given.kind) {
      case "all":
        return allColumns(row.relation);
      case "value":
        return expression(given.value, row);
      case "constant":
      case "affected":
      case "total":
        return true;
      case "aggregate":
        return isAggregate(given.fn) && type(given.cast) && (given.of ?? []).every((one) => expression(one, row));
      case "object":
      case "nodes":
        return given.of.every((one) => output(one, row));
      case "embed":
        return embed(given, row.relation);
      default:
        return false;
    }
  };

  const embed = ({ mode, via, read: inner }: Embed, parent: Relation): boolean => {
    const target = "relationship" in via ? along(parent, via.relationship) : undefined;
    return target !== undefined && areKnown(hooks.compileEmbed.get(mode)) && rows(inner, target);
  };

  const rows = (given: Read, relation: Relation): boolean => {
    const row: Row = { relation, root: relation };
    return (
      given.output.every((one) => output(one, row)) &&
      predicate(given.where, row) &&
      (given.orderBy ?? []).every(({ by }) => expression(by, row)) &&
      (given.distinctOn ?? []).every((one) => expression(one, row)) &&
      (given.groupBy ?? []).every((one) => expression(one, row)) &&
      predicate(given.having, row) &&
      value(given.limit) &&
      value(given.offset)
    );
  };

  const read = (given: Read): boolean => {
    const relation =
      "relation" in given.from
        ? readable(given.from.relation)
        : "written" in given.from
          ? readable(given.from.written)
          : undefined;
    return relation !== undefined && rows(given, relation);
  };

  const cells = (given: readonly Cell[] = []): boolean => given.every((cell) => value(cell.value));
  const payload = (given: WriteRows | undefined): boolean => {
    if (given === undefined) return true;
    return "cells" in given
      ? cells(given.cells)
      : value(given.payload) && given.columns.every((one) => applied(one.apply));
  };

  const write = (given: Insert | Update | Delete): boolean => {
    const relation = relationOf(
      model,
      given.kind === "insert" ? given.into : given.kind === "update" ? given.relation : given.from,
    );
    // writes touch whole rows: constraints, keys, what is returned
    if (relation?.plain !== "write" || !allColumns(relation)) return false;
    const row: Row = { relation, root: relation };
    if (!predicate(given.check, row) || (given.returning !== undefined && !read(given.returning))) return false;
    switch (given.kind) {
      case "insert": {
        const { onConflict } = given;
        return (
          payload(given.rows) &&
          cells(given.set) &&
          (given.only ?? []).every((one) => value(one.value)) &&
          (onConflict === undefined ||
            (cells(onConflict.set) && predicate(onConflict.where, row) && predicate(onConflict.check, row)))
        );
      }
      case "update": {
        const operators = (given.assignments ?? []).map((one) =>
          registry.updateOperators.find(({ name }) => name === one.operator),
        );
        return (
          predicate(given.where, row) &&
          payload(given.payload) &&
          operators.every(isKnown) &&
          (given.assignments ?? []).every((one) => value(one.operand))
        );
      }
      case "delete":
        return predicate(given.where, row);
      default:
        return false;
    }
  };

  const bundle = ({ fields }: Bundle): boolean =>
    fields.every((field) => {
      if ("value" in field) return true;
      if ("bundle" in field) return bundle(field.bundle);
      if ("read" in field) return read(field.read);
      return isKnown(registry.statements.get(field.statement)) && Object.values(field.arguments).every(value);
    });

  const whole = (given: Plan): boolean => {
    switch (given.kind) {
      case "read":
        return read(given);
      case "bundle":
        return bundle(given);
      case "insert":
      case "update":
      case "delete":
        return write(given);
      case "sequence":
        return (
          given.steps.every((step) => (step.write.kind === "read" ? read(step.write) : write(step.write))) &&
          read(given.result)
        );
      default:
        return false;
    }
  };

  const { media, wrapper } = envelope;
  if (wrapper !== undefined && !isKnown(registry.wrappers.get(wrapper.name))) return false;
  const isDocument = plan.kind === "bundle" || plan.kind === "sequence" || (media !== undefined && own.has(media));
  if (!isDocument && !registry.resultColumns.every(isKnown)) return false;
  const isKnownMedia = media === undefined || own.has(media) || areKnown(hooks.compileMedia.get(media));
  return isKnownMedia && WRITTEN_BY_CORE.every((name) => !model.rivals.has(name)) && whole(plan);
};

/** Whose row is at hand, and that of the outermost predicate. */
interface Row {
  readonly relation: Relation;
  readonly root: Relation;
}

const under = (relation: Relation, { root }: Row): Row => ({ relation, root });
