/** Compiles values that are computed from the current row. */
import { columnUnknown, orderByEmbedImpossible, orderingUnknown } from "../kernel/errors.ts";
import { findRowRoutine } from "../model/computed-fields.ts";
import { findSystemColumnType } from "../model/system-columns.ts";
import {
  findBaseType,
  findColumn,
  findRelation,
  type Column,
  type Model,
  type PgType,
  type Routine,
} from "../model/model.ts";
import { findClosestNames } from "../kernel/did-you-mean.ts";
import { matchesType } from "../model/type-groups.ts";
import type { Expression, PathKey, Predicate, Read, ValueRef } from "../plan/plan.ts";
import { compileAggregateCall } from "./aggregate-call.ts";
import { quoteIdentifier, joinSql, sql, type Sql } from "./fragment.ts";
import { rejectColumn } from "./names.ts";
import { compileRoutineArguments } from "./call.ts";
import { compileRelatedRows, type RelatedRows } from "./related-rows.ts";
import {
  openScope,
  planInvalid,
  quoteQualifiedName,
  compileRow,
  type CompiledValue,
  type Compiler,
  type Scope,
} from "./scope.ts";
import { applyFunction, compileValue, compileTypeName } from "./value.ts";
import { memoize } from "../kernel/memoize.ts";

const indexTypes = memoize(({ types }: Model): ReadonlyMap<string, PgType> => {
  const typesByName = new Map<string, PgType>();
  for (const type of types.values()) {
    typesByName.set(type.sqlName, type);
    if (type.schema === "pg_catalog" || !typesByName.has(type.name)) typesByName.set(type.name, type);
  }
  return typesByName;
});

const findType = ({ model }: Compiler, name: string): PgType | undefined => indexTypes(model).get(name);

const ARROWS = { "->": sql`->`, "->>": sql`->>`, "#>": sql`#>` } as const;

/** Compiles a path of `->` and `->>`. Values of json and jsonb are read directly, other values through `to_jsonb`.
 *  @rule R-SEL-6 */
const followPath = (
  compiler: Compiler,
  start: Sql,
  type: PgType | undefined,
  declaredColumn: Column | undefined,
  path: readonly PathKey[],
): CompiledValue => {
  // A domain over json needs `to_jsonb` too, so the declared type decides.
  const declaredType = declaredColumn === undefined ? type : compiler.model.types.get(declaredColumn.type);
  const isJson =
    declaredType?.schema === "pg_catalog" && (declaredType.name === "json" || declaredType.name === "jsonb");
  const steps = path.map(({ arrow, key }) => sql`${ARROWS[arrow]}${compileValue(compiler, key)}`);
  const last = path[path.length - 1];
  return {
    sql: sql`(${isJson ? start : sql`pg_catalog.to_jsonb(${start})`}${joinSql(steps, "")})`,
    type: findType(compiler, last?.arrow === "->>" ? "text" : isJson ? declaredType.name : "jsonb"),
    column: undefined,
  };
};

/** Returns the row, cast to the row type that the function takes, because several ancestors of the relation may have
 *  functions of one name. @rule R-CMP-1 */
const castRowToAncestor = ({ model }: Compiler, scope: Scope, routine: Routine | undefined): Sql => {
  const ancestor = routine?.parameters.find(({ type }) => scope.relation?.ancestorTypes?.includes(type) === true);
  const type = ancestor === undefined ? undefined : model.types.get(ancestor.type);
  const isOwn = routine?.parameters.some(({ type }) => type === scope.relation?.rowType) === true;
  return type === undefined || isOwn
    ? compileRow(scope)
    : sql`(${compileRow(scope)})::${quoteIdentifier(type.schema, type.name)}`;
};

/** Returns whether the expression has bound path keys. PostgreSQL uses an index on the expression only if the planner
 *  knows the path keys. @rule X-PLN-6 */
export const hasPath = (expression: Expression): boolean =>
  (expression.kind === "column" || expression.kind === "computed") && expression.path !== undefined;

/** Compiles an expression over the row of the scope, with its base type. @throws RelApiError 42703 for an unknown
 *  column @rule R-NAM-1 */
export const compileExpression = (compiler: Compiler, expression: Expression, scope: Scope): CompiledValue => {
  switch (expression.kind) {
    case "column": {
      const columnScope = expression.scope === "root" ? (scope.root ?? scope) : scope;
      if (expression.isUnknown === true) return rejectColumn(compiler, columnScope, expression.name);
      const declaredColumn =
        columnScope.relation === undefined ? undefined : findColumn(columnScope.relation, expression.name);
      const oid =
        declaredColumn?.type ??
        (columnScope.relation === undefined ? columnScope.columns?.get(expression.name) : undefined);
      if (oid === undefined) {
        const system = findSystemColumnType(columnScope.relation, expression.name);
        if (
          system === undefined ||
          (columnScope.systemColumns !== "all" && columnScope.systemColumns?.includes(expression.name) !== true)
        )
          return rejectColumn(compiler, columnScope, expression.name);
        const type = findType(compiler, system);
        const column = quoteIdentifier(columnScope.row, expression.name);
        return expression.path === undefined || expression.path.length === 0
          ? { sql: column, type, column: undefined }
          : followPath(compiler, column, type, undefined, expression.path);
      }
      const type = findBaseType(compiler.model, oid);
      const column = quoteIdentifier(columnScope.row, expression.name);
      if (expression.path !== undefined && expression.path.length > 0)
        return followPath(compiler, column, type, declaredColumn, expression.path);
      return { sql: column, type, column: declaredColumn, representedType: oid };
    }
    case "computed": {
      compiler.dependencies.isOpenEnded = true;
      const row = scope.relation ?? (scope.routine && { rowType: scope.routine.returns.type });
      const routine = findRowRoutine(compiler.model, expression.routine, row);
      const args = compileRoutineArguments(
        compiler,
        expression.arguments ?? [],
        castRowToAncestor(compiler, scope, routine),
      );
      const call = sql`${quoteQualifiedName(expression.routine)}(${args})`;
      const type = routine === undefined ? undefined : findBaseType(compiler.model, routine.returns.type);
      const [first] = expression.path ?? [];
      if (expression.path === undefined || first === undefined)
        return { sql: call, type, column: undefined, representedType: routine?.returns.type };
      // The arrows of a URL treat a computed field as any value that is not a plain json column (R-SEL-6).
      return followPath(compiler, call, first.arrow === "#>" ? type : undefined, undefined, expression.path);
    }
    case "cast":
      return {
        sql: sql`cast(${compileExpression(compiler, expression.value, scope).sql} as ${compileTypeName(compiler, expression.type)})`,
        type: findType(compiler, expression.type),
        column: undefined,
      };
    case "apply": {
      const argument = compileExpression(compiler, expression.value, scope).sql;
      const operands = (expression.operands ?? []).map((operand) =>
        "expression" in operand
          ? compileExpression(compiler, operand.expression, scope).sql
          : compileValue(compiler, operand),
      );
      return {
        sql: applyFunction(compiler, argument, expression.function, operands),
        type: undefined,
        column: undefined,
      };
    }
    case "ordering": {
      const inner = compileExpression(compiler, expression.value, scope);
      const specs = compiler.registry.orderings.filter(({ name }) => name === expression.ordering);
      const [first] = specs;
      if (first === undefined) throw planInvalid(`no plugin declares the ordering "${expression.ordering}"`);
      const spec = specs.find((candidate) => matchesType(candidate, inner.type));
      if (spec === undefined && inner.type !== undefined)
        throw orderingUnknown(expression.ordering, inner.type.sqlName, new Set(specs.flatMap(({ types }) => types)));
      const operands = expression.operands.map((ref, i) => {
        const { type } = (spec ?? first).operands[i] ?? {};
        const operandType = type === undefined ? inner.type : findType(compiler, type);
        // TypeScript cannot see that a reference with an additional `type` remains a reference.
        return compileValue(compiler, { type: operandType?.sqlName ?? type, ...ref } as ValueRef);
      });
      return {
        sql: (spec ?? first).compile(inner.sql, operands, compiler.model),
        type: undefined,
        column: undefined,
      };
    }
    case "aggregate": {
      const operands = expression.expressions.map((operand) => compileExpression(compiler, operand, scope));
      const values = operands.map((operand) => operand.sql);
      const call = compileAggregateCall(compiler, expression.fn, values, expression.distinct === true);
      return { sql: call, type: findAggregateType(compiler, expression.fn, operands[0]?.type), column: undefined };
    }
    case "masked": {
      const inner = compileExpression(compiler, expression.value, scope);
      return {
        ...inner,
        sql: sql`case when ${compiler.compilePredicate(expression.when, scope)} then ${inner.sql} end`,
        column: undefined,
      };
    }
    case "related": {
      if (scope.compileGroupKey !== undefined) return scope.compileGroupKey(expression);
      const target = compileRelatedRows(compiler, scope, expression.relationship);
      const inner = compileExpression(compiler, expression.value, target.scope);
      const value = sql`(select ${inner.sql} from ${target.from} where ${compileRelatedWhere(compiler, target, expression.where)} limit 1)`;
      return { ...inner, sql: value, column: undefined };
    }
    case "related-aggregate": {
      const target = compileRelatedRows(compiler, scope, expression.relationship);
      const operands = expression.expressions.map((operand) => compileExpression(compiler, operand, target.scope));
      const values = operands.map((operand) => operand.sql);
      const call = compileAggregateCall(compiler, expression.fn, values, expression.distinct === true);
      return {
        sql: sql`(select ${call} from ${target.from} where ${compileRelatedWhere(compiler, target, expression.where)})`,
        type: findAggregateType(compiler, expression.fn, operands[0]?.type),
        column: undefined,
      };
    }
    case "computed-aggregate": {
      compiler.dependencies.isOpenEnded = true;
      const inner = openScope(compiler, scope, expression.target);
      const operands = expression.expressions.map((operand) => compileExpression(compiler, operand, inner).sql);
      const call = compileAggregateCall(compiler, expression.fn, operands, false);
      const where =
        expression.where === undefined ? sql`` : sql` where ${compiler.compilePredicate(expression.where, inner)}`;
      return {
        sql: sql`(select ${call} from ${quoteQualifiedName(expression.routine)}(${compileRoutineArguments(compiler, expression.arguments ?? [], compileRow(scope))}) as ${quoteIdentifier(inner.row)}${where})`,
        type: undefined,
        column: undefined,
      };
    }
    case "output":
      throw planInvalid(`no output "${expression.as}" to order groups by`);
    case "embedded": {
      const embed = scope.embeds?.get(expression.embed);
      if (embed === undefined) throw planInvalid(`no embed "${expression.embed}" to order by`);
      if (embed.row === undefined) throw orderByEmbedImpossible(expression.embed);
      if (!embed.keys.includes(expression.name))
        throw columnUnknown(
          expression.row ?? expression.embed,
          expression.name,
          findClosestNames(expression.name, embed.keys),
        );
      let result = sql`${embed.row}.${quoteIdentifier(expression.name)}`;
      // The path applies to the value directly, without to_jsonb (R-ORD-4).
      for (const step of expression.path ?? []) {
        const key = compileValue(compiler, step.key);
        result = step.arrow === "->>" ? sql`${result}->>${key}` : sql`${result}->${key}`;
      }
      const type = expression.path === undefined ? findKeyType(compiler, embed.read, expression.name) : undefined;
      return { sql: result, type, column: undefined };
    }
  }
};

/** Returns the type of the column that an output key of an embed's rows shows. Returns undefined if the value is
 *  computed, or has a JSON representation. */
const findKeyType = (
  { model, showsStored }: Compiler,
  { from, output: outputs }: Read,
  key: string,
): PgType | undefined => {
  const relation = "relation" in from ? findRelation(model, from.relation) : undefined;
  const keyOutput = outputs.find((output) => "as" in output && output.as === key);
  const name =
    keyOutput === undefined
      ? key // the key is a column of `*`
      : keyOutput.kind === "value" && keyOutput.value.kind === "column" && keyOutput.value.path === undefined
        ? keyOutput.value.name
        : undefined;
  const column = relation && name !== undefined ? findColumn(relation, name) : undefined;
  const isShown =
    showsStored !== true && column !== undefined && model.representations.get(column.type)?.toJson !== undefined;
  return column === undefined || isShown ? undefined : findBaseType(model, column.type);
};

const compileRelatedWhere = (compiler: Compiler, { on, scope }: RelatedRows, where: Predicate | undefined): Sql =>
  where === undefined ? on : sql`${on} and ${compiler.compilePredicate(where, scope)}`;

const findAggregateType = (compiler: Compiler, fn: string, operandType: PgType | undefined): PgType | undefined => {
  const returns = compiler.registry.aggregates.get(fn)?.returns;
  return returns === undefined ? undefined : returns === "argument" ? operandType : findType(compiler, returns);
};

/** Returns whether the value is certainly not null, so that its order needs no `nulls first` or `nulls last`. An
 *  explicit position of nulls excludes indexes with another position. NOT NULL is not reliable for domains, foreign
 *  tables and child tables. @rule X-PLN-1 */
export const isNeverNull = ({ model }: Compiler, { column }: CompiledValue, { relation, isStored }: Scope): boolean =>
  isStored === true &&
  column?.notNull === true &&
  (relation?.kind === "table" || relation?.kind === "partitioned") &&
  relation.mayHideNulls !== true &&
  model.types.get(column.type)?.kind !== "domain";
