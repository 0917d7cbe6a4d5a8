/** Compiles writes. Each write is a CTE whose rows the statement reads. */
import { findColumn, type Model, type Relation } from "../model/model.ts";
import { findSystemColumnType } from "../model/system-columns.ts";
import type {
  Cell,
  Delete,
  Insert,
  OnConflict,
  Predicate,
  Read,
  SequenceStep,
  Update,
  ValueRef,
} from "../plan/plan.ts";
import { createPlannerLevel } from "./exists.ts";
import { trustedSql, empty, quoteIdentifier, isEmpty, joinSql, quoteLiteral, sql, type Sql } from "./fragment.ts";
import { rejectTargetColumn } from "./names.ts";
import { findNeededColumns, type NeededColumns } from "./returning-columns.ts";
import type { PayloadRows } from "../plan/walk.ts";
import { compileGivenRows, compilePayloadRows } from "./payload-rows.ts";
import { compilePredicate, compileTextAsType } from "./predicate.ts";
import { findAndRecordRelation, planInvalid, quoteQualifiedName, type Compiler, type Scope } from "./scope.ts";
import { compileWroteRows } from "./step-rows.ts";
import { compileValue } from "./value.ts";
import { compileChecks, NO_CHECK, type WriteChecks } from "./write-checks.ts";

export interface CompiledWrite extends WriteChecks {
  /** The CTE of the write, such as `_written as (…)`, without the keyword `with`. */
  readonly cte: Sql;
  readonly name: Sql;
  /** The write as a statement of its own that returns no rows. Undefined if nothing is written. */
  readonly standalone?: Sql;
  readonly relation: Relation;
  /** The columns of the written rows. By default, all columns of the relation. */
  readonly returnedColumns?: readonly string[];
  /** The name of the CTE with the updated rows before the update. */
  readonly rowsBefore?: Sql;
}

interface WriteUse {
  /** The columns that the result needs besides the columns of `returning`. */
  readonly columns?: readonly string[];
  /** True if the write is a sequence step, so that later steps use whole rows. */
  readonly isStep?: boolean;
  readonly countInserted?: boolean;
  /** True if an update also returns its rows as they were before the update. */
  readonly wantsBefore?: boolean;
  /** The steps whose rows an insert uses. Without those rows, the insert writes nothing, and a later check reports the
   *  reason (G-NST-6). */
  readonly requires?: readonly number[];
  /** Compiles the FROM item with the payload's rows, if they are not JSON. */
  readonly rowsFrom?: (row: Sql) => Sql;
}

/** The setting that counts inserted rows separately from updated ones. Unlike `xmax`, the setting also works on views
 *  and partitions. */
export const INSERTED_COUNT = "relapi.inserted";

const DEFAULT_KEYWORD = "default";

/** Returns a scope with the relation's own name as alias, because messages of the database contain the alias. */
const createTargetScope = (relation: Relation): Scope => ({
  row: relation.name,
  relation,
  systemColumns: "all",
  level: createPlannerLevel(),
});

const NO_NEEDS: NeededColumns = { columns: new Set(), isWholeRow: false };

const listColumnNames = ({ columns }: Relation): readonly string[] => columns.map(({ name }) => name);

const listSystemColumns = (relation: Relation, names: readonly string[] = []): readonly string[] =>
  names.filter((name) => findSystemColumnType(relation, name) !== undefined);

/** Returns the names of the returned columns, or undefined for the whole row. System columns follow the columns of the
 *  relation. @rule R-NAM-7 */
const listReturnedColumns = (
  model: Model,
  relation: Relation,
  plan: Insert | Update | Delete,
  use: WriteUse,
): readonly string[] | undefined => {
  if (use.isStep === true) return undefined;
  const { columns, isWholeRow } =
    plan.returning === undefined ? NO_NEEDS : findNeededColumns(relation, plan.returning, model);
  const isChecked = plan.check !== undefined || (plan.kind === "insert" && plan.onConflict?.check !== undefined);
  if (!isWholeRow && !isChecked) return [...new Set([...columns, ...(use.columns ?? [])])];
  const system = listSystemColumns(relation, [...columns]);
  return system.length === 0 ? undefined : [...listColumnNames(relation), ...system];
};

/** Returns the rows with only the columns of the relation. */
const selectWholeRows = (relation: Relation, name: Sql, returnedColumns: readonly string[] | undefined): Sql =>
  returnedColumns === undefined
    ? name
    : sql`(select ${joinSql(listColumnNames(relation).map((columnName) => quoteIdentifier(columnName)))} from ${name})`;

const compileReturning = (relation: Relation, names: readonly string[] | undefined): Sql => {
  if (names === undefined) return sql`${quoteIdentifier(relation.name)}.*`;
  return names.length === 0 ? sql`1` : joinSql(names.map((name) => quoteIdentifier(relation.name, name)));
};

const compileCounter = (step: "+ 1" | "- 1"): Sql =>
  sql`pg_catalog.set_config(${quoteLiteral(INSERTED_COUNT)}, (coalesce(nullif(pg_catalog.current_setting(${quoteLiteral(INSERTED_COUNT)}, true), '')::int, 0) ${trustedSql(step)})::text, true) is not null`;

/** The setting that records for each row whether it was updated, for relations without `xmax`. */
const UPDATED_MARK = "relapi.updated";

const compileUpdatedMark = (flag: "0" | "1"): Sql =>
  sql`pg_catalog.set_config(${quoteLiteral(UPDATED_MARK)}, ${quoteLiteral(flag)}, true) is not null`;

/** Returns whether the write can read system columns, which views and tables with partitions do not allow. */
const hasSystemColumns = (relation: Relation): boolean => relation.kind === "table";

const compileCell = (compiler: Compiler, relation: Relation, cell: Cell): Sql => {
  if (cell.value === undefined) return trustedSql(DEFAULT_KEYWORD);
  // The type has no length limit, because a cast would truncate a long text, which an assignment rejects.
  const oid = findColumn(relation, cell.column)?.type;
  const type = oid === undefined ? undefined : compiler.model.types.get(oid)?.sqlName;
  const isBare = cell.value.type === undefined && !("apply" in cell.value && cell.value.apply !== undefined);
  // TypeScript cannot see that a reference with an additional `type` remains a reference.
  return compileValue(compiler, isBare && type !== undefined ? ({ ...cell.value, type } as ValueRef) : cell.value);
};

/** Compiles the value that all rows must have in a key column. */
const compileKey = (compiler: Compiler, relation: Relation, column: string, ref: ValueRef): Sql =>
  compileTextAsType(compiler, findColumn(relation, column)?.type ?? 0, ref) ?? compileValue(compiler, ref);

const compileInsert = (compiler: Compiler, plan: Insert, use: WriteUse): CompiledWrite => {
  const relation = findAndRecordRelation(compiler, plan.into);
  if (relation === undefined) throw planInvalid(`no relation ${plan.into.name}`);
  compiler.alias(relation.name); // the target of the insert reserves this alias
  const presets = new Map((plan.set ?? []).map((cell) => [cell.column, cell]));
  const returnedColumns = listReturnedColumns(compiler.model, relation, plan, use);
  const returning = compileReturning(relation, returnedColumns);
  const { onConflict, onlyKeys, rows: writeRows } = plan;
  if (relation.rejectsConflict === true && onConflict !== undefined && onlyKeys !== undefined && "payload" in writeRows)
    return compileUpdateOrInsert(
      compiler,
      { ...plan, onConflict, onlyKeys, rows: writeRows },
      relation,
      presets,
      returnedColumns,
      use,
    );
  const isChecked = plan.check !== undefined || plan.onConflict?.check !== undefined;
  const marksNewRows = isChecked && plan.onConflict !== undefined && plan.onConflict.update.length > 0;
  const marksUpdated = marksNewRows && !hasSystemColumns(relation);
  // For each row, the source clears the mark, an update sets it, and RETURNING reads it.
  const rows = compileInsertRows(compiler, relation, plan, presets, use, marksUpdated ? [compileUpdatedMark("0")] : []);
  const conflict =
    plan.onConflict === undefined
      ? empty
      : compileConflict(compiler, relation, plan.onConflict, use.countInserted === true, marksUpdated);
  const isNew = marksUpdated
    ? sql`pg_catalog.current_setting(${quoteLiteral(UPDATED_MARK)}) = '0'`
    : sql`${quoteIdentifier(relation.name)}.xmax = 0`;
  const clause = marksNewRows ? sql`${returning}, (${isNew}) as "_is_new"` : returning;
  const name = quoteIdentifier(compiler.alias("_written"));
  const plainRows = marksNewRows
    ? sql`(select ${joinSql((returnedColumns ?? listColumnNames(relation)).map((columnName) => quoteIdentifier(columnName)))} from ${name})`
    : undefined;
  const statement = sql`insert into ${quoteQualifiedName(relation)}${rows}${conflict}`;
  return {
    cte: sql`${name} as (${statement} returning ${clause})`,
    name: plainRows ?? name,
    standalone: statement,
    relation,
    returnedColumns,
    ...(marksNewRows
      ? compileChecks(compiler, relation, name, plan, { check: plan.onConflict?.check })
      : compileChecks(compiler, relation, selectWholeRows(relation, name, returnedColumns), plan)),
  };
};

type UpsertRows = Insert & Required<Pick<Insert, "onConflict" | "onlyKeys">> & { readonly rows: PayloadRows };

/** Compiles an update, and an insert that runs if the update has found no row. @rule R-PUT-6 */
const compileUpdateOrInsert = (
  compiler: Compiler,
  plan: UpsertRows,
  relation: Relation,
  presets: ReadonlyMap<string, Cell>,
  returnedColumns: readonly string[] | undefined,
  use: WriteUse,
): CompiledWrite => {
  const [updatedRows, insertedRows, name] = ["_updated", "_inserted", "_written"].map((aliasName) =>
    quoteIdentifier(compiler.alias(aliasName)),
  ) as [Sql, Sql, Sql];
  const { onConflict, onlyKeys } = plan;
  const returning = compileReturning(relation, returnedColumns);
  const source = compilePayloadRows(compiler, relation, plan.rows, false);
  const assignments = compileConflictAssignments(compiler, relation, onConflict, source.compileColumnValue);
  const conditions = [
    ...onlyKeys.flatMap(({ column, value }) => {
      const payloadValue = source.compileColumnValue(column);
      return [
        sql`${quoteIdentifier(relation.name, column)} = ${payloadValue}`,
        sql`${payloadValue} = ${compileKey(compiler, relation, column, value)}`,
      ];
    }),
    ...(onConflict.where === undefined
      ? []
      : [compilePredicate(compiler, onConflict.where, createTargetScope(relation))]),
  ];
  const rows = compileInsertRows(compiler, relation, plan, presets, use, [
    sql`not exists (select from ${updatedRows})`,
  ]);
  const isChecked = plan.check !== undefined || onConflict.check !== undefined;
  const branches = [
    [updatedRows, sql`false`],
    [insertedRows, sql`true`],
  ].map(([from, isNew]) => sql`select *${isChecked ? sql`, ${isNew as Sql} as "_is_new"` : empty} from ${from as Sql}`);
  const columns = joinSql(
    (returnedColumns ?? listColumnNames(relation)).map((columnName) => quoteIdentifier(columnName)),
  );
  return {
    cte: sql`${updatedRows} as (update ${quoteQualifiedName(relation)} set ${joinSql(assignments)} from ${source.from} where ${joinSql(conditions, " and ")} returning ${returning}), ${insertedRows} as (insert into ${quoteQualifiedName(relation)}${rows} returning ${returning}), ${name} as (${joinSql(branches, " union all ")})`,
    name: isChecked ? sql`(select ${columns} from ${name})` : name,
    relation,
    returnedColumns,
    ...(isChecked ? compileChecks(compiler, relation, name, plan, { check: onConflict.check }) : NO_CHECK),
  };
};

const compileInsertRows = (
  compiler: Compiler,
  relation: Relation,
  plan: Insert,
  presets: ReadonlyMap<string, Cell>,
  use: WriteUse,
  marks: readonly Sql[],
): Sql => {
  const requirements = [...[...new Set(use.requires ?? [])].map((step) => compileWroteRows(compiler, step)), ...marks];
  if ("cells" in plan.rows) {
    const cells = [...plan.rows.cells.filter((cell) => !presets.has(cell.column)), ...presets.values()];
    const columns = cells.length === 0 ? empty : sql` (${joinSql(cells.map((cell) => quoteIdentifier(cell.column)))})`;
    if (requirements.length > 0)
      return sql`${columns} select ${joinSql(cells.map((cell) => compileCell(compiler, relation, cell)))} where ${joinSql(requirements, " and ")}`;
    if (cells.length === 0) return sql` default values`;
    return sql`${columns} values (${joinSql(cells.map((cell) => compileCell(compiler, relation, cell)))})`;
  }
  const source =
    use.rowsFrom === undefined
      ? compilePayloadRows(compiler, relation, plan.rows, false)
      : compileGivenRows(compiler, use.rowsFrom);
  const payloadValues = plan.rows.columns
    .filter((column) => !presets.has(column.name))
    .map((column) => ({ name: column.name, sql: source.compileColumnValue(column.name) }));
  const allValues = [
    ...payloadValues,
    ...[...presets.values()].map((cell) => ({ name: cell.column, sql: compileCell(compiler, relation, cell) })),
  ];
  const conditions = (plan.onlyKeys ?? []).map(
    ({ column, value }) => sql`${source.compileColumnValue(column)} = ${compileKey(compiler, relation, column, value)}`,
  );
  conditions.push(...requirements);
  if (use.countInserted === true) conditions.push(compileCounter("+ 1"));
  const where = conditions.length === 0 ? empty : sql` where ${joinSql(conditions, " and ")}`;
  const from = isEmpty(source.from) ? empty : sql` from ${source.from}`;
  if (allValues.length > 0)
    return sql` (${joinSql(allValues.map((column) => quoteIdentifier(column.name)))}) select ${joinSql(allValues.map((column) => column.sql))}${from}${where}`;
  // Without columns, the rows consist only of defaults.
  const [first] = relation.columns;
  if ((plan.rows.shape === "object" && requirements.length === 0) || first === undefined) return sql` default values`;
  return sql` select${from}${where}`;
};

/** Compiles the conflict target: a unique index with these columns, or the columns themselves. @rule R-UPS-6 */
const compileConflictTarget = ({ conflictTargets = [] }: Relation, columns: readonly string[]): Sql => {
  const names = new Set(columns);
  const conflictTarget = conflictTargets.find(
    (target) => target.columns.length === names.size && target.columns.every((column) => names.has(column)),
  );
  if (conflictTarget === undefined) return sql`(${joinSql(columns.map((column) => quoteIdentifier(column)))})`;
  const { expressions, predicate } = conflictTarget;
  return sql`(${joinSql(expressions.map(trustedSql))})${predicate === undefined ? empty : sql` where ${trustedSql(predicate)}`}`;
};

/** Compiles the assignments that an upsert makes to an existing row. */
const compileConflictAssignments = (
  compiler: Compiler,
  relation: Relation,
  { update, set = [] }: OnConflict,
  compileColumnValue: (column: string) => Sql,
): readonly Sql[] => {
  const presets = new Map(set.map((cell) => [cell.column, cell]));
  return [
    ...update
      .filter((column) => !presets.has(column))
      .map((column) => sql`${quoteIdentifier(column)} = ${compileColumnValue(column)}`),
    ...[...presets.values()].map(
      (cell) => sql`${quoteIdentifier(cell.column)} = ${compileCell(compiler, relation, cell)}`,
    ),
  ];
};

const compileConflict = (
  compiler: Compiler,
  relation: Relation,
  conflict: OnConflict,
  countInserted: boolean,
  marksUpdated: boolean,
): Sql => {
  const unknown =
    "columns" in conflict.target
      ? conflict.target.columns.find((name) => findColumn(relation, name) === undefined)
      : undefined;
  if (unknown !== undefined) rejectTargetColumn(compiler, relation, unknown);
  const target =
    "constraint" in conflict.target
      ? sql`on constraint ${quoteIdentifier(conflict.target.constraint)}`
      : compileConflictTarget(relation, conflict.target.columns);
  if (conflict.update.length === 0) return sql` on conflict ${target} do nothing`;
  const assignments = compileConflictAssignments(
    compiler,
    relation,
    conflict,
    (column) => sql`excluded.${quoteIdentifier(column)}`,
  );
  // The counter comes first, because a row that the condition skips was not inserted either.
  const conditions = countInserted ? [compileCounter("- 1")] : [];
  if (conflict.where !== undefined)
    conditions.push(compilePredicate(compiler, conflict.where, createTargetScope(relation)));
  if (marksUpdated) {
    const condition = joinSql(conditions.length === 0 ? [sql`true`] : conditions, " and ");
    return sql` on conflict ${target} do update set ${joinSql(assignments)} where case when ${condition} then ${compileUpdatedMark("1")} else false end`;
  }
  return sql` on conflict ${target} do update set ${joinSql(assignments)}${conditions.length === 0 ? empty : sql` where ${joinSql(conditions, " and ")}`}`;
};

const compileWhere = (compiler: Compiler, relation: Relation, where: Predicate | undefined): Sql => {
  if (where === undefined) return empty;
  return sql` where ${compilePredicate(compiler, where, createTargetScope(relation))}`;
};

/** Compiles a read of rows for later steps. @rule X-SEQ-2 */
const compileStepRead = (
  compiler: Compiler,
  relation: Relation,
  name: Sql,
  where: Predicate | undefined,
  lock = empty,
): CompiledWrite => ({
  cte: sql`${name} as (select ${quoteIdentifier(relation.name)}.* from ${quoteQualifiedName(relation)}${compileWhere(compiler, relation, where)}${lock})`,
  name,
  relation,
  check: undefined,
});

/** Compiles an update, whose values come from a payload or from assignments. @rule R-SQL-13 R-UPD-1 G-UPD-1a */
const compileUpdate = (compiler: Compiler, plan: Update, use: WriteUse): CompiledWrite => {
  const relation = findAndRecordRelation(compiler, plan.relation);
  if (relation === undefined) throw planInvalid(`no relation ${plan.relation.name}`);
  compiler.alias(relation.name);
  const returnedColumns = listReturnedColumns(compiler.model, relation, plan, use);
  const returning = compileReturning(relation, returnedColumns);
  const name = quoteIdentifier(compiler.alias("_written"));
  const assignments: Sql[] = [];
  let from = empty;
  let bodyClause = empty;
  if (plan.payload !== undefined && plan.payload.columns.length > 0) {
    const { columns, missing } = plan.payload;
    const source = compilePayloadRows(compiler, relation, plan.payload, true);
    if (missing === "null") {
      from = sql` from ${source.from}`;
      for (const { name: column } of columns)
        assignments.push(sql`${quoteIdentifier(column)} = ${source.compileColumnValue(column)}`);
    } else {
      // A CTE computes each default only once, whatever the number of updated rows.
      const body = compiler.alias("_b");
      bodyClause = sql`with ${quoteIdentifier(body)} as (select ${joinSql(columns.map(({ name: column }) => sql`${source.compileColumnValue(column)} as ${quoteIdentifier(column)}`))} from ${source.from}) `;
      from = sql` from ${quoteIdentifier(body)}`;
      for (const { name: column } of columns)
        assignments.push(sql`${quoteIdentifier(column)} = ${quoteIdentifier(body, column)}`);
    }
  }
  for (const assignment of plan.assignments ?? []) {
    const operator = compiler.registry.updateOperators.find((spec) => spec.name === assignment.operator);
    if (operator === undefined) throw planInvalid(`no plugin declares the update operator "${assignment.operator}"`);
    assignments.push(
      sql`${quoteIdentifier(assignment.column)} = ${operator.compile(quoteIdentifier(relation.name, assignment.column), compileValue(compiler, assignment.operand))}`,
    );
  }
  if (assignments.length === 0 && plan.locks === true && use.isStep === true) {
    return { ...compileLocked(compiler, relation, name, plan.where), ...compileChecks(compiler, relation, name, plan) };
  }
  const system = listSystemColumns(relation, returnedColumns);
  // Without assignments, the statement touches no row and needs no right (R-UPD-2).
  const beforeAlias = use.wantsBefore === true ? quoteIdentifier(compiler.alias("_before")) : undefined;
  const where = compileWhere(compiler, relation, plan.where);
  const standalone =
    assignments.length === 0
      ? undefined
      : sql`${bodyClause}update ${quoteQualifiedName(relation)} set ${joinSql(assignments)}${from}${beforeAlias === undefined ? where : lockBeforeUpdate(where, beforeAlias)}`;
  const cte =
    standalone === undefined
      ? sql`${name} as (select ${joinSql([sql`(null::${quoteQualifiedName(relation)}).*`, ...system.map((columnName) => sql`null::text as ${quoteIdentifier(columnName)}`)])} where false)`
      : sql`${name} as (${standalone} returning ${returning})`;
  return {
    cte:
      beforeAlias === undefined ? cte : sql`${compileLocked(compiler, relation, beforeAlias, plan.where).cte}, ${cte}`,
    name,
    rowsBefore: beforeAlias,
    standalone,
    relation,
    returnedColumns:
      standalone === undefined && system.length > 0
        ? [...listColumnNames(relation), ...system]
        : standalone && returnedColumns,
    ...compileChecks(compiler, relation, selectWholeRows(relation, name, standalone && returnedColumns), plan),
  };
};

/** Adds a condition that names no column of the row. PostgreSQL evaluates such a condition before any update, so the
 *  lock finds the rows as they were. */
const lockBeforeUpdate = (where: Sql, before: Sql): Sql =>
  sql`${isEmpty(where) ? sql` where ` : sql`${where} and `}(select count(*) from ${before}) >= 0`;

/** Compiles a read of the rows that an update with the same condition would find. Rows of views are not locked, because
 *  not every view supports locks. */
const compileLocked = (
  compiler: Compiler,
  relation: Relation,
  name: Sql,
  where: Predicate | undefined,
): CompiledWrite =>
  compileStepRead(compiler, relation, name, where, relation.kind === "view" ? empty : trustedSql(" for no key update"));

const compileDelete = (compiler: Compiler, plan: Delete, use: WriteUse): CompiledWrite => {
  const relation = findAndRecordRelation(compiler, plan.from);
  if (relation === undefined) throw planInvalid(`no relation ${plan.from.name}`);
  compiler.alias(relation.name);
  const returnedColumns = listReturnedColumns(compiler.model, relation, plan, use);
  const returning = compileReturning(relation, returnedColumns);
  const name = quoteIdentifier(compiler.alias("_written"));
  const standalone = sql`delete from ${quoteQualifiedName(relation)}${compileWhere(compiler, relation, plan.where)}`;
  return {
    cte: sql`${name} as (${standalone} returning ${returning})`,
    name,
    standalone,
    relation,
    returnedColumns,
    check: undefined,
  };
};

const compileFind = (compiler: Compiler, plan: Read): CompiledWrite => {
  const relation = "relation" in plan.from ? findAndRecordRelation(compiler, plan.from.relation) : undefined;
  if (relation === undefined) throw planInvalid("a step that reads finds rows of a relation");
  compiler.alias(relation.name);
  return compileStepRead(compiler, relation, quoteIdentifier(compiler.alias("_written")), plan.where);
};

/** Compiles the write of a plan, or the read of a sequence step, to a CTE. @throws Error if the relation is unknown */
export const compileWrite = (compiler: Compiler, plan: SequenceStep["write"], use: WriteUse): CompiledWrite => {
  if (plan.kind === "read") return compileFind(compiler, plan);
  if (plan.kind === "insert") return compileInsert(compiler, plan, use);
  return plan.kind === "update" ? compileUpdate(compiler, plan, use) : compileDelete(compiler, plan, use);
};
