/** Translates the filters of permissions from JSON to predicates. @rule G-FIL-1 … G-FIL-11 */
import {
  isJsonObject,
  findBaseType,
  findColumn,
  matchesType,
  buildNameKey,
  findRelation,
  findRelationship,
  findRoutines,
  writeJson,
  type Column,
  type Expression,
  type Model,
  type Operand,
  type OperatorSpec,
  type PgType,
  type Predicate,
  type Registry,
  type Relation,
  type RoutineArgument,
  type ValueRef,
} from "../../core/index.ts";
import { createValueReader, InconsistentMetadata, parseSessionVariable } from "./values.ts";
import type { GqlTableEntry } from "../graphql/api.ts";
import { readQualifiedName, type RawValue } from "./raw-values.ts";

export interface FilterReader {
  /** Reads a filter of the relation. @throws InconsistentMetadata */
  read(rawValue: RawValue, relation: Relation): Predicate;
  /** Reads the preset of a column. */
  readValue(rawValue: RawValue, type: PgType): ValueRef;
}

const COLUMN_OPERATORS: Readonly<Record<string, string>> = {
  _ceq: "eq",
  _cneq: "neq",
  _cne: "neq",
  _cgt: "gt",
  _cgte: "gte",
  _clt: "lt",
  _clte: "lte",
};

/** Returns the canonical name of an operator: `_eq` for `$eq`, and `_neq` for `_ne`. */
const normalizeOperator = (key: string): string => {
  const name = key.startsWith("$") ? `_${key.slice(1)}` : key;
  return name === "_ne" ? "_neq" : name;
};

const buildConjunction = (parts: readonly Predicate[]): Predicate =>
  parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "and", predicates: parts };

const formatRawValue = (rawValue: RawValue | undefined): string =>
  rawValue === undefined ? "nothing" : writeJson(rawValue);

/** The types of GraphQL scalars whose names differ from the names of their types. */
const SCALARS: Readonly<Record<string, string>> = { Int: "int4", Float: "float8", Boolean: "bool", String: "text" };

/** Returns the GraphQL name of an operator, which filters use even without a GraphQL surface. */
const buildOperatorName = ({ name, graphql = `_${name.replaceAll("-", "_")}` }: OperatorSpec): string | false =>
  typeof graphql === "object" ? graphql.name : graphql;

/** The position of a part of a filter. */
interface FilterPosition {
  readonly relation: Relation;
  /** The table of the permission, to which `$` refers. */
  readonly root: Relation;
  /** True if the part is under a `_not`, where NULL and false give different results. */
  readonly isNegated: boolean;
}

/** The left side of comparisons, with its type. */
interface LeftSide {
  readonly expression: Expression;
  readonly declaredType: PgType;
  readonly base: PgType;
  readonly column?: Column;
}

/** Creates a reader of the filters in permissions. */
export const createFilterReader = (
  model: Model,
  registry: Registry,
  findEntry: (relation: Relation) => GqlTableEntry | undefined,
): FilterReader => {
  const values = createValueReader(model);
  /** True if the current filter refers to a column of the permission's own table. */
  let refersToRoot = false;

  const findOperator = (name: string, base: PgType): OperatorSpec => {
    const operatorSpec = registry.operators.find((spec) => buildOperatorName(spec) === name && matchesType(spec, base));
    if (operatorSpec === undefined)
      throw new InconsistentMetadata(`operator "${name}" does not exist for type ${base.name}`);
    return operatorSpec;
  };

  /** Builds an equality that treats two NULLs as equal. If there is no difference, it uses plain `=`, which can use
   *  indexes. @rule G-FIL-4 */
  const buildEquality = (isEqual: boolean, leftOperand: Expression, operand: Operand, isPlain: boolean): Predicate => {
    if (isPlain) return { kind: "compare", left: leftOperand, operator: isEqual ? "eq" : "neq", operand };
    const distinct: Predicate = { kind: "compare", left: leftOperand, operator: "isdistinct", operand };
    return isEqual ? { kind: "not", predicate: distinct } : distinct;
  };

  const compare = (name: string, rawValue: RawValue, leftSide: LeftSide, position: FilterPosition): Predicate => {
    const columnOperator = COLUMN_OPERATORS[name];
    if (columnOperator !== undefined) return compareColumns(columnOperator, rawValue, leftSide, position);
    if (name === "_cast") return readCast(rawValue, leftSide, position);
    const spec = findOperator(name, leftSide.base);
    if (name === "_eq" || name === "_neq") {
      const isEqual = name === "_eq";
      const isPlain = rawValue !== null && (leftSide.column?.notNull === true || (isEqual && !position.isNegated));
      return buildEquality(
        isEqual,
        leftSide.expression,
        rawValue === null
          ? { constant: null, type: leftSide.declaredType.sqlName }
          : values.readValue(rawValue, leftSide.declaredType),
        isPlain,
      );
    }
    if (spec.operand === "keyword") {
      const keyword =
        typeof spec.graphql === "object" && typeof rawValue === "boolean"
          ? spec.graphql.keywords[String(rawValue)]
          : undefined;
      if (keyword === undefined)
        throw new InconsistentMetadata(`${name} requires true or false, not ${formatRawValue(rawValue)}`);
      return { kind: "compare", left: leftSide.expression, operator: spec.name, keyword };
    }
    const type = spec.operandType === undefined ? leftSide.declaredType : values.findType(spec.operandType);
    const buildComparison = (operand: Operand): Predicate => ({
      kind: "compare",
      left: leftSide.expression,
      operator: spec.name,
      operand,
    });
    if (spec.operand === "fields") return buildComparison(readFieldsOperand(rawValue, spec));
    if (rawValue === null) throw new InconsistentMetadata(`${name} does not accept null`);
    if (spec.operand !== "list") return buildComparison(values.readValue(rawValue, type));
    // PostgreSQL has no arrays of arrays, and would compare the elements.
    if (
      leftSide.base.kind === "array" &&
      type === leftSide.declaredType &&
      Array.isArray(rawValue) &&
      parseSessionVariable(rawValue) === undefined
    )
      return compareWithArrays(name, rawValue as readonly RawValue[], leftSide, position);
    return buildComparison(values.readList(rawValue, type));
  };

  const compareWithArrays = (
    name: string,
    rawValues: readonly RawValue[],
    leftSide: LeftSide,
    position: FilterPosition,
  ): Predicate => {
    const parts = rawValues.map((item) => compare(name === "_in" ? "_eq" : "_neq", item, leftSide, position));
    return { kind: name === "_in" ? "or" : "and", predicates: parts };
  };

  const readFieldsOperand = (rawValue: RawValue, spec: OperatorSpec): Operand => {
    if (!isJsonObject(rawValue))
      throw new InconsistentMetadata(`an object is expected, not ${formatRawValue(rawValue)}`);
    const fields: Record<string, Operand> = {};
    for (const [name, declaration] of Object.entries(spec.input?.fields ?? {})) {
      const [type = "", defaultValue] = declaration.split("=").map((part) => part.trim());
      const scalar = type.replace("!", "");
      // The operator declares its default as valid JSON.
      const value = rawValue[name] ?? (defaultValue === undefined ? undefined : (JSON.parse(defaultValue) as RawValue));
      if (value !== undefined) fields[name] = values.readValue(value, values.findType(SCALARS[scalar] ?? scalar));
      else if (type.endsWith("!")) throw new InconsistentMetadata(`"${name}" is missing`);
    }
    return { fields };
  };

  const readCast = (rawValue: RawValue, leftSide: LeftSide, position: FilterPosition): Predicate => {
    if (!isJsonObject(rawValue)) throw new InconsistentMetadata("_cast requires an object");
    return buildConjunction(
      Object.entries(rawValue).map(([target, comparisons]) => {
        const type = values.findType(SCALARS[target] ?? target);
        return readComparisons(
          comparisons,
          {
            expression: { kind: "cast", value: leftSide.expression, type: type.sqlName },
            declaredType: type,
            base: type,
          },
          position,
        );
      }),
    );
  };

  /** Compares a column with another column of the row, or of the permission's own table. @rule G-FIL-8 */
  const compareColumns = (
    operator: string,
    rawValue: RawValue,
    leftSide: LeftSide,
    position: FilterPosition,
  ): Predicate => {
    const path: readonly RawValue[] = Array.isArray(rawValue) ? rawValue : [rawValue];
    const isRoot = path.length === 2 && path[0] === "$";
    const name = path[path.length - 1];
    const side = isRoot ? position.root : position.relation;
    const column = typeof name === "string" && (isRoot || path.length === 1) ? findColumn(side, name) : undefined;
    if (column === undefined)
      throw new InconsistentMetadata(`column ${formatRawValue(rawValue)} does not exist in table "${side.name}"`);
    if (findBaseType(model, column.type)?.oid !== leftSide.base.oid)
      throw new InconsistentMetadata(`the types of the columns compared differ ("${column.name}")`);
    if (isRoot) refersToRoot = true;
    const operand: Operand = {
      expression: { kind: "column", name: column.name, ...(isRoot ? { scope: "root" as const } : {}) },
    };
    if (operator !== "eq" && operator !== "neq")
      return { kind: "compare", left: leftSide.expression, operator, operand };
    const areNotNull = leftSide.column?.notNull === true && column.notNull;
    const isOneNotNull = leftSide.column?.notNull === true || column.notNull;
    return buildEquality(
      operator === "eq",
      leftSide.expression,
      operand,
      areNotNull || (operator === "eq" && isOneNotNull && !position.isNegated),
    );
  };

  const readComparisons = (rawValue: RawValue, leftSide: LeftSide, position: FilterPosition): Predicate => {
    // `column: value` is short for `_eq`; an object is a value unless all its keys are operators.
    const isComparisons =
      isJsonObject(rawValue) && Object.keys(rawValue).every((key) => key.startsWith("_") || key.startsWith("$"));
    if (!isComparisons) return compare("_eq", rawValue, leftSide, position);
    return buildConjunction(
      Object.entries(rawValue).map(([key, operand]) => compare(normalizeOperator(key), operand, leftSide, position)),
    );
  };

  const readAny = (rawValue: RawValue, at: FilterPosition): Predicate => {
    if (!isJsonObject(rawValue))
      throw new InconsistentMetadata(`a filter is an object, not ${formatRawValue(rawValue)}`);
    return buildConjunction(Object.entries(rawValue).map(([key, part]) => readEntry(key, part, at)));
  };

  /** Reads a condition on other rows. A test for existence does not distinguish NULL from false. */
  const readRows = (rawValue: RawValue, relation: Relation, at: FilterPosition): Predicate =>
    readAny(rawValue, { relation, root: at.root, isNegated: false });

  const readEntry = (key: string, rawValue: RawValue, position: FilterPosition): Predicate => {
    const { relation } = position;
    switch (normalizeOperator(key)) {
      case "_and":
      case "_or": {
        const parts: readonly RawValue[] = Array.isArray(rawValue) ? rawValue : [rawValue];
        return {
          kind: normalizeOperator(key) === "_and" ? "and" : "or",
          predicates: parts.map((part) => readAny(part, position)),
        };
      }
      case "_not":
        return { kind: "not", predicate: readAny(rawValue, { ...position, isNegated: true }) };
      case "_exists":
        return readExists(rawValue, position);
    }
    const column = findColumn(relation, key);
    if (column !== undefined)
      return readComparisons(
        rawValue,
        { ...findType(column.type, `column "${key}"`), expression: { kind: "column", name: key }, column },
        position,
      );
    const entry = findEntry(relation);
    const relationship = entry?.relationships.find((candidate) => candidate.name === key);
    if (relationship !== undefined)
      return {
        kind: "related",
        relationship: relationship.relationship,
        where: readRows(rawValue, findTarget(relation, relationship.relationship), position),
      };
    const aggregate = key.endsWith("_aggregate")
      ? entry?.relationships.find((candidate) => `${candidate.name}_aggregate` === key)
      : undefined;
    if (aggregate !== undefined) return readAggregate(rawValue, aggregate.relationship, position);
    const field = entry?.computedFields.find((computedField) => computedField.name === key);
    if (field !== undefined) return readComputed(rawValue, field, position);
    throw new InconsistentMetadata(
      `"${key}" is neither a column nor a relationship nor a computed field of table "${relation.name}"`,
    );
  };

  const findType = (oid: number, subject: string): Pick<LeftSide, "declaredType" | "base"> => {
    const declaredType = model.types.get(oid);
    const base = findBaseType(model, oid);
    if (declaredType === undefined || base === undefined)
      throw new InconsistentMetadata(`the type of ${subject} is unknown`);
    return { declaredType, base };
  };

  /** Reads a condition on a computed field. @rule G-CF-5 */
  const readComputed = (
    rawValue: RawValue,
    field: GqlTableEntry["computedFields"][number],
    position: FilterPosition,
  ): Predicate => {
    const { relation } = position;
    const routine = findRoutines(model, field.routine).find((candidate) =>
      candidate.parameters.some((parameter) => parameter.type === relation.rowType),
    );
    if (routine === undefined) throw new InconsistentMetadata(`computed field "${field.name}" has no function`);
    const rowIndex =
      field.tableArgument === undefined
        ? 0
        : routine.parameters.findIndex((parameter) => parameter.name === field.tableArgument);
    const args = routine.parameters.map((parameter, index): RoutineArgument => {
      if (index === rowIndex) return { value: { constant: null }, isRow: true };
      if (parameter.name !== field.sessionArgument)
        throw new InconsistentMetadata(`computed field "${field.name}" has arguments`);
      return { value: { session: true, type: parameter.sqlType } };
    });
    // The compiler adds the row as the first argument.
    const argumentsWithoutRow = rowIndex === 0 ? args.slice(1) : args;
    const call = {
      routine: field.routine,
      ...(argumentsWithoutRow.length === 0 ? {} : { arguments: argumentsWithoutRow }),
    };
    const { returns } = routine;
    if (returns.relation === undefined)
      return readComparisons(
        rawValue,
        { ...findType(returns.type, `computed field "${field.name}"`), expression: { kind: "computed", ...call } },
        position,
      );
    const target = findRelation(model, returns.relation);
    if (target === undefined)
      throw new InconsistentMetadata(`computed field "${field.name}" returns rows of an unknown table`);
    return { kind: "computed-rows", ...call, target: returns.relation, where: readRows(rawValue, target, position) };
  };

  const findTarget = (relation: Relation, id: string): Relation => {
    const name = findRelationship(relation, id)?.target;
    const target = name && model.relations.get(buildNameKey(name));
    if (target === undefined) throw new InconsistentMetadata(`relationship "${id}" has no target table`);
    return target;
  };

  /** Reads `_exists`, a condition on the rows of any table. @rule G-FIL-9 */
  const readExists = (rawValue: RawValue, position: FilterPosition): Predicate => {
    const name = isJsonObject(rawValue) ? readQualifiedName(rawValue["_table"]) : undefined;
    const from = name && findRelation(model, name);
    if (!isJsonObject(rawValue) || name === undefined || from === undefined)
      throw new InconsistentMetadata("_exists names no table that exists");
    return { kind: "exists", from: name, where: readRows(rawValue["_where"] ?? null, from, position) };
  };

  /** Reads a condition on aggregates of related rows. @rule G-AGP-1 G-AGP-2 */
  const readAggregate = (rawValue: RawValue, id: string, position: FilterPosition): Predicate => {
    const entries = isJsonObject(rawValue) ? Object.entries(rawValue) : [];
    const [entry] = entries;
    if (entry === undefined || entries.length > 1)
      throw new InconsistentMetadata("exactly one predicate should be specified");
    const [fn, part] = entry;
    if (!isJsonObject(part)) throw new InconsistentMetadata(`the predicate of ${fn} is an object`);
    const target = findTarget(position.relation, id);
    const columnNames: readonly RawValue[] =
      part["arguments"] === undefined ? [] : Array.isArray(part["arguments"]) ? part["arguments"] : [part["arguments"]];
    const columns = columnNames.map((name): Expression => {
      if (typeof name !== "string" || findColumn(target, name) === undefined)
        throw new InconsistentMetadata(`column ${formatRawValue(name)} does not exist in table "${target.name}"`);
      return { kind: "column", name };
    });
    const spec = [...registry.aggregates.values()].find(({ name, graphql = name }) => graphql === fn);
    if (spec?.predicate === undefined) throw new InconsistentMetadata(`aggregate "${fn}" does not exist`);
    const { returns, predicate } = spec;
    const comparedType = returns === undefined || returns === "argument" ? predicate.result : returns;
    const type = values.findType(SCALARS[comparedType] ?? comparedType);
    const expression: Expression = {
      kind: "related-aggregate",
      relationship: id,
      fn: spec.name,
      expressions: columns,
      ...(part["distinct"] === true ? { distinct: true } : {}),
      ...(part["filter"] === undefined ? {} : { where: readRows(part["filter"], target, position) }),
    };
    return readComparisons(part["predicate"] ?? {}, { expression, declaredType: type, base: type }, position);
  };

  return {
    read: (rawValue, relation) => {
      refersToRoot = false;
      const predicate = readAny(rawValue, { relation, root: relation, isNegated: false });
      return refersToRoot ? { kind: "and", predicates: [predicate], isRoot: true } : predicate;
    },
    readValue: values.readValue,
  };
};
