/** The filter language of permissions, from JSON to a predicate. @rule G-FIL-1 … G-FIL-11 */
import {
  baseTypeOf, columnOf, graphqlNameOf, matchesType, nameKey, relationOf, relationshipOf, routinesOf,
  type Expression, type GqlTableEntry, type Model, type Operand, type OperatorSpec, type PgType, type Predicate, type Registry, type Relation, type ValueRef,
} from "../../core/index.ts";
import { nameOf } from "./document.ts";
import { isObject, type Raw } from "./load.ts";

/** What makes a permission inconsistent; caught where the permission is built. */
export class Inconsistent extends Error {}

export interface FilterReader {
  /** @throws Inconsistent */
  read(raw: Raw, relation: Relation): Predicate;
  /** A preset or operand for a column. @throws Inconsistent */
  value(raw: Raw, type: PgType): ValueRef;
}

const SESSION = /^x-(?:session|hasura)-(.+)$/i;

/** `X-Hasura-User-Id` → `x-session-user-id`; undefined: an ordinary text. */
export const sessionVariable = (raw: Raw): string | undefined => {
  const name = typeof raw === "string" ? SESSION.exec(raw)?.[1] : undefined;
  return name === undefined ? undefined : `x-session-${name.toLowerCase()}`;
};

const GEO_INPUT: Readonly<Record<string, string>> = { geometry: "from-geojson", geography: "from-geojson", raster: "from-hexwkb" };

const COLUMN_OPERATORS: Readonly<Record<string, string>> = { _ceq: "eq", _cneq: "neq", _cne: "neq", _cgt: "gt", _cgte: "gte", _clt: "lt", _clte: "lte" };

/** `$eq` and `_ne` are other spellings. */
const spelled = (key: string): string => {
  const name = key.startsWith("$") ? `_${key.slice(1)}` : key;
  return name === "_ne" ? "_neq" : name;
};

const arrayLiteral = (items: readonly string[]): string => `{${items.map((item) => `"${item.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;

const literalText = (raw: Raw, type: PgType): string | null => {
  if (type.name === "json" || type.name === "jsonb") return JSON.stringify(raw);
  if (raw === null) return null;
  if (Array.isArray(raw) && type.kind === "array") return arrayLiteral(raw.map((item) => (typeof item === "string" ? item : JSON.stringify(item))));
  return typeof raw === "string" ? raw : JSON.stringify(raw);
};

const and = (parts: readonly Predicate[]): Predicate => (parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "and", of: parts });

export const createFilterReader = (model: Model, registry: Registry, entryOf: (relation: Relation) => GqlTableEntry | undefined): FilterReader => {
  const typesByName = new Map<string, PgType>();
  const arrays = new Map<number, PgType>();
  for (const type of model.types.values()) {
    if (!typesByName.has(type.name) || type.schema === "pg_catalog") typesByName.set(type.name, type);
    if (type.kind === "array" && type.element !== undefined) arrays.set(type.element, type);
  }
  const typeNamed = (name: string): PgType => typesByName.get(name) ?? { oid: 0, schema: "pg_catalog", name, sqlName: name.startsWith("_") ? `${name.slice(1)}[]` : name, kind: name.startsWith("_") ? "array" : "base", category: "U" };
  const arrayType = (type: PgType): string => arrays.get(type.oid)?.sqlName ?? `${type.sqlName}[]`;

  const value = (raw: Raw, type: PgType): ValueRef => {
    const apply = GEO_INPUT[type.name];
    const session = sessionVariable(raw);
    if (session !== undefined) return apply === undefined ? { session, type: type.sqlName } : { session, apply };
    if (apply !== undefined) return { constant: typeof raw === "string" ? raw : JSON.stringify(raw), apply };
    return { constant: literalText(raw, type), type: type.sqlName };
  };

  const listOperand = (raw: Raw, type: PgType): Operand => {
    const session = sessionVariable(raw);
    if (session !== undefined) return { session, type: arrayType(type) };
    if (!Array.isArray(raw)) throw new Inconsistent(`a list is expected, not ${JSON.stringify(raw)}`);
    if (raw.some((item) => sessionVariable(item) !== undefined)) return { items: raw.map((item) => value(item, type)) };
    return { constant: arrayLiteral(raw.map((item) => literalText(item, type) ?? "")), type: arrayType(type) };
  };

  /** The left side of comparisons and the type they compare. */
  interface Left {
    readonly expression: Expression;
    readonly declared: PgType;
    readonly base: PgType;
  }

  const operatorNamed = (name: string, base: PgType): OperatorSpec => {
    const found = registry.operators.find((spec) => graphqlNameOf(spec) === name && matchesType(spec, base));
    if (found === undefined) throw new Inconsistent(`operator "${name}" does not exist for type ${base.name}`);
    return found;
  };

  const compare = (name: string, raw: Raw, left: Left, relation: Relation, root: Relation): Predicate => {
    const columnOperator = COLUMN_OPERATORS[name];
    if (columnOperator !== undefined) return compareColumns(columnOperator, raw, left, relation, root);
    if (name === "_eq" || name === "_neq") {
      // null-safe in filters (G-FIL-4)
      const distinct: Predicate = { kind: "compare", left: left.expression, operator: "isdistinct", operand: value(raw, left.declared) };
      return name === "_eq" ? { kind: "not", of: distinct } : distinct;
    }
    if (name === "_cast") return castPredicate(raw, left, relation, root);
    const spec = operatorNamed(name, left.base);
    if (spec.operand === "keyword") {
      const keywords = typeof spec.graphql === "object" ? spec.graphql.keywords : {};
      const keyword = keywords[String(raw)];
      if (keyword === undefined) throw new Inconsistent(`${name} takes ${Object.keys(keywords).join(" or ")}, not ${JSON.stringify(raw)}`);
      return { kind: "compare", left: left.expression, operator: spec.name, keyword };
    }
    const type = spec.operandType === undefined ? left.declared : typeNamed(spec.operandType);
    if (spec.operand === "list") return { kind: "compare", left: left.expression, operator: spec.name, operand: listOperand(raw, type) };
    if (spec.operand === "fields") return { kind: "compare", left: left.expression, operator: spec.name, operand: fieldsOperand(raw, spec) };
    return { kind: "compare", left: left.expression, operator: spec.name, operand: value(raw, type) };
  };

  const SCALARS: Readonly<Record<string, string>> = { Int: "int4", Float: "float8", Boolean: "bool", String: "text" };

  const fieldsOperand = (raw: Raw, spec: OperatorSpec): Operand => {
    if (!isObject(raw)) throw new Inconsistent(`an object is expected, not ${JSON.stringify(raw)}`);
    const fields: Record<string, Operand> = {};
    for (const [name, declared] of Object.entries(spec.input?.fields ?? {})) {
      const [type = "", standard] = declared.split("=").map((part) => part.trim());
      const scalar = type.replace("!", "");
      const given = raw[name] ?? (standard === undefined ? undefined : (JSON.parse(standard) as Raw));
      if (given === undefined) {
        if (type.endsWith("!")) throw new Inconsistent(`"${name}" is missing`);
        continue;
      }
      fields[name] = value(given, typeNamed(SCALARS[scalar] ?? scalar));
    }
    return { fields };
  };

  const castPredicate = (raw: Raw, left: Left, relation: Relation, root: Relation): Predicate => {
    if (!isObject(raw)) throw new Inconsistent("_cast takes an object");
    return and(
      Object.entries(raw).map(([target, comparisons]) => {
        const type = typeNamed(SCALARS[target] ?? target);
        return readComparisons(comparisons, { expression: { kind: "cast", of: left.expression, type: type.sqlName }, declared: type, base: type }, relation, root);
      }),
    );
  };

  /** @rule G-FIL-8 */
  const compareColumns = (operator: string, raw: Raw, left: Left, relation: Relation, root: Relation): Predicate => {
    const path = Array.isArray(raw) ? raw : [raw];
    const isRoot = path[0] === "$" && path.length > 1;
    const name = path[path.length - 1];
    const side = isRoot ? root : relation;
    const column = typeof name === "string" ? columnOf(side, name) : undefined;
    if (column === undefined) throw new Inconsistent(`column ${JSON.stringify(name)} does not exist in table "${side.name}"`);
    if (baseTypeOf(model, column.type)?.oid !== left.base.oid) throw new Inconsistent(`the types of the columns compared differ ("${column.name}")`);
    const operand: Operand = { expression: { kind: "column", name: column.name, ...(isRoot ? { of: "root" as const } : {}) } };
    if (operator === "eq" || operator === "neq") {
      const distinct: Predicate = { kind: "compare", left: left.expression, operator: "isdistinct", operand };
      return operator === "eq" ? { kind: "not", of: distinct } : distinct;
    }
    return { kind: "compare", left: left.expression, operator, operand };
  };

  const readComparisons = (raw: Raw, left: Left, relation: Relation, root: Relation): Predicate => {
    // `column: value` is short for `_eq`; a document is one unless it holds operators
    const isComparisons = isObject(raw) && Object.keys(raw).every((key) => key.startsWith("_") || key.startsWith("$"));
    if (!isComparisons) return compare("_eq", raw, left, relation, root);
    return and(Object.entries(raw as { readonly [key: string]: Raw }).map(([key, operand]) => compare(spelled(key), operand, left, relation, root)));
  };

  const readAny = (raw: Raw, relation: Relation, root: Relation): Predicate => {
    if (Array.isArray(raw)) return and(raw.map((item) => readAny(item, relation, root)));
    if (!isObject(raw)) throw new Inconsistent(`a filter is an object, not ${JSON.stringify(raw)}`);
    return and(Object.entries(raw).map(([key, part]) => readEntry(key, part, relation, root)));
  };

  const readEntry = (key: string, raw: Raw, relation: Relation, root: Relation): Predicate => {
    switch (spelled(key)) {
      case "_and":
      case "_or": {
        const parts = Array.isArray(raw) ? raw : [raw];
        return { kind: spelled(key) === "_and" ? "and" : "or", of: parts.map((part) => readAny(part, relation, root)) };
      }
      case "_not":
        return { kind: "not", of: readAny(raw, relation, root) };
      case "_exists":
        return readExists(raw, root);
    }
    const column = columnOf(relation, key);
    if (column !== undefined) {
      const declared = model.types.get(column.type);
      const base = baseTypeOf(model, column.type);
      if (declared === undefined || base === undefined) throw new Inconsistent(`the type of column "${key}" is unknown`);
      return readComparisons(raw, { expression: { kind: "column", name: key }, declared, base }, relation, root);
    }
    const entry = entryOf(relation);
    const relationship = entry?.relationships.find((one) => one.name === key);
    if (relationship !== undefined) {
      const target = relationshipTarget(relation, relationship.relationship);
      return { kind: "related", relationship: relationship.relationship, where: readAny(raw, target, root) };
    }
    const aggregate = key.endsWith("_aggregate") ? entry?.relationships.find((one) => `${one.name}_aggregate` === key) : undefined;
    if (aggregate !== undefined) return readAggregate(raw, relation, aggregate.relationship, root);
    const computed = entry?.computedFields.find((one) => one.name === key);
    if (computed !== undefined) {
      const routine = routinesOf(model, computed.routine).find((one) => one.parameters.some((parameter) => parameter.type === relation.rowType));
      if (routine === undefined) throw new Inconsistent(`computed field "${key}" has no function`);
      if (routine.returns.relation !== undefined) {
        const target = relationOf(model, routine.returns.relation);
        if (target === undefined) throw new Inconsistent(`computed field "${key}" returns rows of an unknown table`);
        return { kind: "computed-rows", routine: computed.routine, target: routine.returns.relation, where: readAny(raw, target, root) };
      }
      const type = model.types.get(routine.returns.type);
      const base = baseTypeOf(model, routine.returns.type);
      if (type === undefined || base === undefined) throw new Inconsistent(`the type of computed field "${key}" is unknown`);
      const session = computed.sessionArgument === undefined ? [] : [{ name: computed.sessionArgument, value: { session: true, type: "json" } as const }];
      const expression: Expression = { kind: "computed", routine: computed.routine, ...(session.length === 0 ? {} : { arguments: session }) };
      return readComparisons(raw, { expression, declared: type, base }, relation, root);
    }
    throw new Inconsistent(`"${key}" is neither a column nor a relationship nor a computed field of table "${relation.name}"`);
  };

  const relationshipTarget = (relation: Relation, id: string): Relation => {
    const name = relationshipOf(relation, id)?.target;
    const target = name && model.relations.get(nameKey(name));
    if (target === undefined) throw new Inconsistent(`relationship "${id}" leads nowhere`);
    return target;
  };

  /** @rule G-FIL-9 */
  const readExists = (raw: Raw, root: Relation): Predicate => {
    const name = isObject(raw) ? nameOf(raw["_table"]) : undefined;
    const from = name && relationOf(model, name);
    if (!isObject(raw) || name === undefined || from === undefined) throw new Inconsistent("_exists names no table that exists");
    return { kind: "exists", from: name, where: readAny(raw["_where"] ?? {}, from, root) };
  };

  /** @rule G-AGP-1 */
  const readAggregate = (raw: Raw, relation: Relation, id: string, root: Relation): Predicate => {
    if (!isObject(raw)) throw new Inconsistent("an aggregate predicate is an object");
    const target = relationshipTarget(relation, id);
    return and(
      Object.entries(raw).map(([fn, part]) => {
        if (!isObject(part)) throw new Inconsistent(`the predicate of ${fn} is an object`);
        const named = part["arguments"] === undefined ? [] : Array.isArray(part["arguments"]) ? part["arguments"] : [part["arguments"]];
        const of = named.map((name): Expression => {
          if (typeof name !== "string" || columnOf(target, name) === undefined) throw new Inconsistent(`column ${JSON.stringify(name)} does not exist in table "${target.name}"`);
          return { kind: "column", name };
        });
        const type = typeNamed(fn === "count" ? "int8" : fn.startsWith("bool_") ? "bool" : "float8");
        const left: Expression = {
          kind: "related-aggregate",
          relationship: id,
          fn,
          of,
          ...(part["distinct"] === true ? { distinct: true } : {}),
          ...(part["filter"] === undefined ? {} : { where: readAny(part["filter"], target, root) }),
        };
        return readComparisons(part["predicate"] ?? {}, { expression: left, declared: type, base: type }, relation, root);
      }),
    );
  };

  return { read: (raw, relation) => readAny(raw, relation, relation), value };
};
