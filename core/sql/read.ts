/** Compiles the rows of one level: `select … from … where … group by … order by … limit …`. */
import { columnUngrouped } from "../kernel/errors.ts";
import type { Registry } from "../plugin.ts";
import { findSystemColumnType } from "../model/system-columns.ts";
import { findRelation, type Relation } from "../model/model.ts";
import type { Embed, Expression, Output, Read } from "../plan/plan.ts";
import { compileAggregateCall } from "./aggregate-call.ts";
import { createPlannerLevel } from "./exists.ts";
import { compileExpression } from "./expression.ts";
import { empty, quoteIdentifier, inlineInteger, isEmpty, joinSql, quoteLiteral, sql, type Sql } from "./fragment.ts";
import { compileFromClause, type ReadOptions } from "./from-clause.ts";
import { compileJoinedValue, compileOrder, type JoinedRows } from "./order.ts";
import { findEmbeddedValue, isFlatEmbed, ordersByEmbed, splitPage, testsEmbed } from "./two-level-select.ts";
import { compilePredicate } from "./predicate.ts";
import { flattenGroups, hasObjects } from "./groups.ts";
import { buildObject, joinObject, UNNAMED_COLUMN } from "./json.ts";
import {
  planInvalid,
  hasExtraSystemColumns,
  quoteQualifiedName,
  type CompiledValue,
  type Compiler,
  type EmbeddedRead,
  type RelatedValue,
  type Scope,
  type StoredValue,
} from "./scope.ts";
import { compileValue, compileTypeName } from "./value.ts";

interface Item {
  readonly as: string;
  readonly sql: Sql;
  /** The stored value, which forms the groups. Undefined if the shown value is the same. */
  readonly storedValue?: StoredValue | undefined;
  readonly isAggregate: boolean;
}

export interface CompiledRows {
  /** The subquery, with one column per item. */
  readonly sql: Sql;
  /** The output names in order. Undefined if the subquery selects `*`, which hides the names. */
  readonly names: readonly string[] | undefined;
  /** The output names with `*` expanded. */
  readonly keys: readonly string[];
  /** The types of the columns to which an outer level adds the JSON representation. */
  readonly storedTypes: ReadonlyMap<string, number>;
}

/** Returns whether the outputs contain an aggregate, so that they group the rows of their level. @rule R-AGG-2
 *  R-AGG-6 */
const isGrouped = (registry: Registry, outputs: readonly Output[]): boolean =>
  outputs.some(
    (output) =>
      output.kind === "aggregate" ||
      (output.kind === "embed" && isFlatEmbed(registry, output) && isGrouped(registry, output.read.output)),
  );

/** Compiles the value of an output column: the JSON representation if the value's domain has one, otherwise the value
 *  itself. @rule R-REP-2 */
const compileShownValue = (compiler: Compiler, expression: Expression, scope: Scope, showsText?: boolean): Sql => {
  if (expression.kind === "cast")
    return sql`cast(${compileShownValue(compiler, expression.value, scope)} as ${compileTypeName(compiler, expression.type)})`;
  const compiledValue = compileExpression(compiler, expression, scope);
  return convertToShownValue(compiler, compiledValue.sql, compiledValue.representedType, showsText);
};

/** Converts a value of the type to the JSON representation of the type's domain, or to the text of that JSON. @rule
 *  R-REP-2 */
export const convertToShownValue = (
  compiler: Compiler,
  value: Sql,
  type: number | undefined,
  showsText = false,
): Sql => {
  const format =
    type === undefined || compiler.showsStored === true ? undefined : compiler.model.representations.get(type)?.toJson;
  if (format === undefined) return value;
  const json = sql`${quoteQualifiedName(format)}(${value})`;
  return showsText ? sql`(${json} #>> '{}')` : json;
};

/** Returns the columns of a relation as outputs, for grouping, representations and flat embeds. */
export const expandAll = (relation: Relation): Output[] =>
  relation.columns.map((column) => ({ kind: "value", as: column.name, value: { kind: "column", name: column.name } }));

const hasRepresentation = ({ showsStored, model }: Compiler, types: () => Iterable<number>): boolean =>
  showsStored !== true &&
  model.representations.size > 0 &&
  [...types()].some((type) => model.representations.get(type)?.toJson !== undefined);

const listColumnTypes =
  ({ relation, columns }: Pick<Scope, "relation" | "columns">) =>
  (): Iterable<number> =>
    relation?.columns.map(({ type }) => type) ?? columns?.values() ?? [];

/** Compiles the rows of a read with shape `rows`. With `isExistence`, only the existence of rows matters. */
export const compileRows = (
  compiler: Compiler,
  read: Read,
  options: ReadOptions,
  isExistence = false,
): CompiledRows => {
  const isGroupedRead = !isExistence && (read.groupBy !== undefined || isGrouped(compiler.registry, read.output));
  if (isGroupedRead && hasObjects(read)) return compileGroups(compiler, read, options);
  const twoLevels = isExistence || isGroupedRead ? undefined : compilePage(compiler, read, options);
  if (twoLevels !== undefined) return twoLevels;
  const level = compileFromClause(compiler, read.from, options);
  const outputs = isExistence ? read.output.filter((output) => output.kind === "embed") : read.output;
  const embeds = new Map<string, EmbeddedRead>();
  const scope: Scope = {
    ...level.scope,
    displayName: read.row,
    root: options.root,
    embeds,
    level: options.level ?? createPlannerLevel(),
  };
  const joins: Sql[] = [];
  const joinedRows: JoinedRows = { joins, scopes: new Map() };
  const relatedKeys = new Map<string, CompiledValue>();
  const valueScope: Scope = isGroupedRead ? { ...scope, compileGroupKey: compileRelatedKey } : scope;
  const conditions: Sql[] = level.on === undefined ? [] : [level.on];
  const items: Item[] = [];
  // An object with an empty key is built from the names of its members.
  const needsNames = read.output.some((output) => output.kind !== "all" && output.as === "");
  /** The position of each output, counted from 1. */
  const positions = new Map<Output, number>();
  for (const output of outputs) {
    positions.set(output, items.length + 1);
    addOutput(output);
  }

  if (read.where !== undefined) conditions.push(compilePredicate(compiler, read.where, scope));
  const distinctValues = new Map<string, Sql>();
  const embeddedKeys: Sql[] = [];
  const distinct = (read.distinctOn ?? []).map(compileDistinctValue);
  // Rows of a function are sorted after the call, so messages do not name the function's row.
  const orderScope = scope.routine === undefined ? valueScope : { ...valueScope, displayName: undefined };
  const order = (read.orderBy ?? [])
    .filter(() => !isExistence || read.limit !== undefined || read.offset !== undefined)
    .map((term) =>
      compileOrder(
        compiler,
        term,
        orderScope,
        distinctValues.get(JSON.stringify(term.expression)) ??
          findGroupedPosition(term.expression) ??
          compileEmbeddedKey(term.expression),
        joinedRows,
      ),
    );
  const names = items.some((item) => item.as === "*") ? undefined : items.map((item) => item.as);
  const selectValue = ({ sql: value, storedValue }: Item): Sql =>
    options.isStored === true ? (storedValue?.sql ?? value) : value;
  const select = isExistence
    ? []
    : items.map((item) =>
        item.as === "*"
          ? item.sql
          : sql`${selectValue(item)} as ${quoteIdentifier(item.as === "" ? UNNAMED_COLUMN : item.as)}`,
      );
  const columnNames = level.scope.relation?.columns.map((column) => column.name) ?? [
    ...(level.scope.columns?.keys() ?? []),
  ];
  // Groups refer to positions, because PostgreSQL does not recognise a repeated expression with parameters (R-SQL-15).
  const groups = isGroupedRead
    ? items.flatMap((item, i) => (item.isAggregate ? [] : [item.storedValue?.sql ?? inlineInteger(i + 1)]))
    : [];
  if (isGroupedRead)
    for (const expression of read.groupBy ?? []) groups.push(compileExpression(compiler, expression, valueScope).sql);
  groups.push(...embeddedKeys);
  const having =
    isGroupedRead && read.having !== undefined ? compilePredicate(compiler, read.having, scope) : undefined;
  return {
    sql: joinSql(
      [
        sql`select ${distinct.length === 0 ? empty : sql`distinct on (${joinSql(distinct)}) `}${select.length === 0 && (isExistence || distinct.length > 0) ? sql`1` : joinSql(select)} from ${level.from}`,
        ...joins,
        ...(conditions.length === 0 ? [] : [sql`where ${joinSql(conditions, " and ")}`]),
        ...(groups.length === 0 ? [] : [sql`group by ${joinSql(groups)}`]),
        ...(having === undefined ? [] : [sql`having ${having}`]),
        ...(order.length === 0 ? [] : [sql`order by ${joinSql(order)}`]),
        compileWindow(compiler, read),
      ].filter((part) => !isEmpty(part)),
      " ",
    ),
    names,
    keys: names ?? items.flatMap((item) => (item.as === "*" ? columnNames : [item.as])),
    storedTypes: new Map(
      items.flatMap(({ as, storedValue }) => (storedValue === undefined ? [] : [[as, storedValue.type] as const])),
    ),
  };

  /** Computes the value once under a name, because PostgreSQL does not recognise an expression with parameters as equal
   *  to that of ORDER BY. @rule G-DIS-1 */
  function compileDistinctValue(expression: Expression): Sql {
    const expressionSql = compileExpression(compiler, expression, scope).sql;
    if (expression.kind === "column" && expression.path === undefined) return expressionSql;
    const namedValue = nameValue(expressionSql);
    distinctValues.set(JSON.stringify(expression), namedValue);
    return namedValue;
  }

  /** Computes the value once under a name, because PostgreSQL does not recognise a repeated subquery. @rule P-GRP-7 */
  function compileRelatedKey(relatedValue: RelatedValue): CompiledValue {
    const key = JSON.stringify(relatedValue);
    let relatedKey = relatedKeys.get(key);
    if (relatedKey === undefined) {
      const compiledValue = compileJoinedValue(compiler, relatedValue, scope, joinedRows);
      relatedKeys.set(key, (relatedKey = { ...compiledValue, sql: nameValue(compiledValue.sql) }));
    }
    return relatedKey;
  }

  /** Computes the embed's value to sort groups by, and adds it to the group terms. It forms no additional groups, because
   *  the embed is a group term and contains the value. @rule R-AGG-5b */
  function compileEmbeddedKey(expression: Expression): Sql | undefined {
    const value = isGroupedRead ? findEmbeddedValue(expression) : undefined;
    if (value === undefined) return undefined;
    const expressionSql = compileExpression(compiler, expression, orderScope).sql;
    const isHidden = outputs.some(
      (output) => output.kind === "embed" && output.id === value.embed && output.isHidden === true,
    );
    if (isHidden) throw columnUngrouped(value.row ?? value.embed, value.name);
    const key = nameValue(expressionSql);
    embeddedKeys.push(key);
    return key;
  }

  function nameValue(value: Sql): Sql {
    const row = compiler.alias("_d");
    joins.push(sql`cross join lateral (select ${value} as "v") as ${quoteIdentifier(row)}`);
    return quoteIdentifier(row, "v");
  }

  /** Returns the position to sort by, because PostgreSQL does not recognise a repeated expression with parameters in
   *  ORDER BY. Outputs of the read take precedence over keys of its flat embeds. @rule R-AGG-5 R-AGG-5c */
  function findGroupedPosition(expression: Expression): Sql | undefined {
    if (expression.kind !== "output" || !isGroupedRead) return undefined;
    const output = outputs.filter(
      (candidate) => "as" in candidate && candidate.kind !== "embed" && candidate.as === expression.as,
    )[expression.nth ?? 0];
    const position = output ? positions.get(output) : items.findIndex(({ as }) => as === expression.as) + 1;
    return position ? inlineInteger(position) : undefined; // positions are counted from 1
  }

  function addOutput(output: Output, isMember = false): void {
    switch (output.kind) {
      case "all": {
        const isExpanded =
          needsNames || hasExtraSystemColumns(level.scope) || hasRepresentation(compiler, listColumnTypes(level.scope));
        if (level.scope.relation !== undefined && (isGroupedRead || isExpanded)) {
          for (const column of expandAll(level.scope.relation)) addOutput(column);
        } else if (level.scope.relation === undefined && isExpanded) {
          for (const name of level.scope.columns?.keys() ?? [])
            addOutput({ kind: "value", as: name, value: { kind: "column", name } });
        } else items.push({ as: "*", sql: sql`${quoteIdentifier(scope.row)}.*`, isAggregate: false });
        return;
      }
      case "value": {
        // Groups compare the stored value, because representations are json, which has no equality.
        const compiledValue =
          (isGroupedRead || options.isStored === true) && output.value.kind !== "cast"
            ? compileExpression(compiler, output.value, valueScope)
            : undefined;
        const value =
          compiledValue === undefined
            ? compileShownValue(compiler, output.value, valueScope, options.showsText)
            : convertToShownValue(compiler, compiledValue.sql, compiledValue.representedType, options.showsText);
        const type = value === compiledValue?.sql ? undefined : compiledValue?.representedType;
        const storedValue = compiledValue && type !== undefined ? { sql: compiledValue.sql, type } : undefined;
        items.push({ as: output.as, sql: value, storedValue, isAggregate: false });
        return;
      }
      case "constant":
        items.push({ as: output.as, sql: sql`${quoteLiteral(output.value)}::text`, isAggregate: false });
        return;
      case "aggregate": {
        const operands = (output.expressions ?? []).map(
          (expression) => compileExpression(compiler, expression, scope).sql,
        );
        // A subquery builds the object, and `count(*)` would count that subquery's own row.
        if (isMember && operands.length === 0) operands.push(sql`${quoteIdentifier(scope.row)}.*`);
        const call = compileAggregateCall(compiler, output.fn, operands, output.distinct === true);
        items.push({
          as: output.as,
          sql: output.cast === undefined ? call : sql`cast(${call} as ${compileTypeName(compiler, output.cast)})`,
          isAggregate: true,
        });
        return;
      }
      case "object": {
        // The other outputs of the same row become members of one value.
        const itemCount = items.length;
        for (const member of output.outputs) addOutput(member, true);
        const members = items.splice(itemCount);
        // The object is not a group term, because json has no equality and the members are aggregates or group terms.
        items.push({
          as: output.as,
          sql: isGroupedRead ? buildObject(members) : joinObject(compiler, joins, members),
          isAggregate: true,
        });
        return;
      }
      case "embed":
        addEmbed(output);
        return;
      default:
        throw planInvalid(`output "${output.kind}" in a read of rows`);
    }
  }

  function addEmbed(embed: Embed): void {
    const isTested = testsEmbed(read.where, embed.id);
    const needsJoin = ordersByEmbed(read.orderBy, embed.id);
    const compiledEmbed = compiler.compileEmbed(embed, scope, {
      isGrouped: isGroupedRead || options.isCompared === true,
      needsJoin,
      isLimited: read.limit !== undefined || read.cap !== undefined,
      isOutput: !isExistence && embed.isHidden !== true,
      showsText: options.showsText === true && isFlatEmbed(compiler.registry, embed),
    });
    if (compiledEmbed.join !== undefined) joins.push(compiledEmbed.join);
    if (embed.join === "inner" && !compiledEmbed.isInnerJoined) conditions.push(compiledEmbed.exists(scope));
    if (isTested || needsJoin || compiledEmbed.row !== undefined)
      embeds.set(embed.id, {
        exists: compiledEmbed.exists,
        row: compiledEmbed.row,
        keys: compiledEmbed.keys,
        read: embed.read,
      });
    if (isExistence || embed.isHidden === true) return;
    for (const column of compiledEmbed.columns)
      items.push({
        as: column.as,
        sql: column.value,
        storedValue: column.storedValue,
        isAggregate: column.isAggregate === true,
      });
  }
};

const compileGroups = (compiler: Compiler, read: Read, options: ReadOptions): CompiledRows => {
  const row = compiler.alias("_g");
  const joins: Sql[] = [];
  const { groups, members } = flattenGroups(read, row, (members) => joinObject(compiler, joins, members));
  const columns = joinSql(members.map((member) => sql`${member.sql} as ${quoteIdentifier(member.as)}`));
  const names = members.map(({ as }) => as);
  return {
    sql: joinSql(
      [
        sql`select ${columns} from (${compileRows(compiler, groups, options).sql}) as ${quoteIdentifier(row)}`,
        ...joins,
      ],
      " ",
    ),
    names,
    keys: names,
    storedTypes: new Map(),
  };
};

/** Compiles the rows of the page as a subquery, and the embeds and objects of these rows around that subquery. */
const compilePage = (compiler: Compiler, read: Read, options: ReadOptions): CompiledRows | undefined => {
  if (!("relation" in read.from)) return undefined;
  const relation = findRelation(compiler.model, read.from.relation);
  // Relationships compare stored values, but the first level would return representations.
  if (relation === undefined || hasRepresentation(compiler, listColumnTypes({ relation }))) return undefined;
  const isNested = options.relatedRows !== undefined || options.from !== undefined;
  const page = splitPage(compiler, relation, read, isNested);
  if (page === undefined) return undefined;
  const isWhole = page.rows.output.some(({ kind }) => kind === "all");
  if (isWhole && namesSystemColumns(page.outer, relation)) return undefined;
  const rows = compileRows(compiler, page.rows, options);
  const row = compiler.alias(relation.name);
  return compileRows(compiler, page.outer, {
    root: options.root,
    isCompared: options.isCompared,
    isStored: options.isStored,
    showsText: options.showsText,
    from: {
      from: sql`(${rows.sql}) as ${quoteIdentifier(row)}`,
      scope: { row, relation, isRecord: true, systemColumns: rows.keys },
    },
  });
};

/** Returns whether the read names system columns, which a subquery returns only by name. @rule R-NAM-7 */
const namesSystemColumns = ({ output: outputs, orderBy = [] }: Read, relation: Relation): boolean => {
  const namesSystemColumn = (expression: Expression): boolean =>
    expression.kind === "column"
      ? findSystemColumnType(relation, expression.name) !== undefined
      : (expression.kind === "cast" || expression.kind === "ordering" || expression.kind === "masked") &&
        namesSystemColumn(expression.value);
  return (
    outputs.some(
      (output) =>
        (output.kind === "value" && namesSystemColumn(output.value)) ||
        (output.kind === "aggregate" && (output.expressions ?? []).some(namesSystemColumn)),
    ) || orderBy.some(({ expression }) => namesSystemColumn(expression))
  );
};

/** Compiles `limit` and `offset`. */
export const compileWindow = (compiler: Compiler, read: Read): Sql => {
  const offset =
    read.offset === undefined ? [] : [sql`offset ${compileValue(compiler, { type: "bigint", ...read.offset })}`];
  return joinSql(
    [compileLimit(compiler, read), ...offset].filter((part) => !isEmpty(part)),
    " ",
  );
};

const compileLimit = (compiler: Compiler, read: Read): Sql => {
  const cap = read.shape === "rows" ? read.cap : undefined;
  if (read.limit === undefined) return cap === undefined ? empty : sql`limit ${inlineInteger(cap)}`;
  const limit = compileValue(compiler, { type: "bigint", ...read.limit });
  // The function `least` ignores NULL, which is the bound value if the request has no limit.
  return cap === undefined ? sql`limit ${limit}` : sql`limit least(${limit}, ${inlineInteger(cap)})`;
};

/** Compiles the rows that the count of a read counts: its root rows or groups, without limit and order. @rule R-CNT-1
 *  R-SQL-10 */
export const compileCountRows = (compiler: Compiler, read: Read, options: ReadOptions = {}): Sql => {
  if (read.groupBy !== undefined || isGrouped(compiler.registry, read.output)) {
    const { orderBy: _order, limit: _limit, offset: _offset, cap: _cap, ...groups } = read;
    return compileRows(compiler, groups, options).sql;
  }
  const outputs = read.output.filter(
    (output) => output.kind === "embed" && (output.join === "inner" || testsEmbed(read.where, output.id)),
  );
  const { from, row, where } = read;
  return compileRows(compiler, { kind: "read", from, row, shape: "rows", output: outputs, where }, options, true).sql;
};
