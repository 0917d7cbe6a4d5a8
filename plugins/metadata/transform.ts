/** Applies permissions to plans. Filters, checks, presets and limits hold wherever a relation is read or written. @rule
 *  G-PRM-7 … G-PRM-12 G-PRE-1 … G-PRE-4 */
import {
  findColumn,
  findSystemColumnType,
  mapPlan,
  buildNameKey,
  findRelation,
  findRelationship,
  findRoutines,
  type Assignment,
  type Cell,
  type Expression,
  type Insert,
  type Model,
  type Output,
  type Plan,
  type Predicate,
  type QualifiedName,
  type Read,
  type Relation,
  type Relationship,
  type RoutineCall,
  type Update,
} from "../../core/index.ts";
import { permissionDenied } from "./errors.ts";
import type { SelectPermission, TablePermissions, WritePermission } from "./permissions.ts";
import type { MayCall } from "./role-access.ts";

const joinDefined = (...parts: readonly (Predicate | undefined)[]): Predicate | undefined => {
  const predicates = parts.filter((part) => part !== undefined);
  return predicates.length <= 1 ? predicates[0] : { kind: "and", predicates };
};

const addFilter = <Node extends { readonly where?: Predicate }>(node: Node, filter: Predicate | undefined): Node =>
  filter === undefined ? node : { ...node, where: joinDefined(filter, node.where) };

const NO_ROWS: Predicate = { kind: "or", predicates: [] };

const isAlwaysTrue = (predicate: Predicate): boolean => predicate.kind === "and" && predicate.predicates.length === 0;

interface PermissionScope {
  readonly model: Model;
  readonly findPermissions: (name: QualifiedName) => Readonly<TablePermissions> | undefined;
  readonly isBackend: boolean;
  /** True if columns and relationships are checked here, because the schema of the surface does not depend on
   *  permissions. */
  readonly checksNames: boolean;
  /** True if checks of writes run in a statement of their own. */
  readonly checksAfterStatement: boolean;
  /** The key columns of the written row that the response contains. */
  readonly location: readonly string[];
  readonly mayCall: MayCall;
  /** Returns whether the metadata names the relationship on its source, for any role. */
  readonly isNamed: (relationship: Relationship) => boolean;
}

/** Returns the plan with the permissions of the caller's role. */
export const applyPermissions = <P extends Plan>(plan: P, parts: PermissionScope): P => {
  const { model, findPermissions, checksNames } = parts;
  const findSelectPermission = (name: QualifiedName): SelectPermission | undefined => findPermissions(name)?.select;
  /** Returns the filter of the role. Without a permission, no row is visible. */
  const findRowFilter = (name: QualifiedName): Predicate | undefined => {
    const select = findSelectPermission(name);
    return select === undefined ? NO_ROWS : select.filter;
  };
  const findTargetFilter = (relation: Relation | undefined, id: string): Predicate | undefined => {
    if (checksNames) checkRelationship(relation, id);
    const target = relation && findRelationship(relation, id)?.target;
    return target === undefined ? NO_ROWS : findRowFilter(target);
  };
  const requireWritePermission = (name: QualifiedName, operation: "insert" | "update" | "delete"): WritePermission => {
    const permission = findPermissions(name)?.[operation];
    if (permission === undefined || (permission.isBackendOnly && !parts.isBackend))
      throw permissionDenied("table", name.name);
    return permission;
  };
  const checkColumns = (
    names: readonly string[],
    allowedColumns: ReadonlySet<string>,
    relation: QualifiedName,
  ): void => {
    if (checksNames && names.some((name) => !allowedColumns.has(name))) throw permissionDenied("table", relation.name);
  };
  /** Returns the columns whose values the role can read in every visible row. */
  const findUnmaskedColumns = (name: QualifiedName): ReadonlySet<string> => {
    const select = findSelectPermission(name);
    return new Set([...(select?.columns ?? [])].filter((column) => select?.maskConditions?.has(column) !== true));
  };
  const mayUseRoutine = (relation: Relation, routine: QualifiedName): boolean =>
    [...(findSelectPermission(relation)?.routines.values() ?? [])].includes(buildNameKey(routine));

  /** Checks the join columns, because joined rows reveal their values. The role must be able to read them, unless the
   *  metadata names the relationship. @rule R-NAM-6 */
  const checkJoinColumns = (relationship: Relationship): void => {
    if (parts.isNamed(relationship)) return;
    const { source, target, columns, junction } = relationship;
    const check = (name: QualifiedName, keys: readonly string[]): void =>
      checkColumns(keys, findUnmaskedColumns(name), name);
    check(
      source,
      [...columns, ...(junction?.source ?? [])].map(([key]) => key),
    );
    check(target, [...columns.map(([, key]) => key), ...(junction?.target ?? []).map(([key]) => key)]);
    if (junction !== undefined)
      check(
        junction.relation,
        [...junction.source, ...junction.target].map(([, key]) => key),
      );
  };

  /** Checks a relationship with its intermediate rows: the rows of a junction, or the rows that a function returns. */
  function checkRelationship(relation: Relation | undefined, id: string): void {
    const relationship = relation && findRelationship(relation, id);
    if (relation === undefined || relationship === undefined) return;
    const { junction, routine } = relationship;
    if (routine !== undefined && !mayUseRoutine(relation, routine)) throw permissionDenied("function", routine.name);
    checkJoinColumns(relationship);
    if (junction === undefined) return;
    const select = findSelectPermission(junction.relation);
    // A filter on the rows of the junction would have to be part of the join.
    if (select === undefined || select.filter !== undefined) throw permissionDenied("table", junction.relation.name);
  }

  const permitRead = (read: Read, relation: Relation | undefined, isOne: boolean): Read => {
    if (relation === undefined) return read;
    const select = findSelectPermission(relation);
    const isWritten = "written" in read.from;
    if (select === undefined) {
      // A caller may count the rows that it has written without reading them.
      if (isWritten && !checksNames) return read;
      throw permissionDenied("table", relation.name);
    }
    if (read.groupBy !== undefined && checksNames && !select.mayAggregate)
      throw permissionDenied("table", relation.name);
    const outputs = read.output.flatMap((output): readonly Output[] => {
      if (output.kind === "all" && checksNames)
        return relation.columns.flatMap((column): readonly Output[] =>
          select.columns.has(column.name)
            ? [
                {
                  kind: "value",
                  as: column.name,
                  value: permitExpression({ kind: "column", name: column.name }, relation),
                  isOfAll: true,
                },
              ]
            : [],
        );
      if (output.kind === "aggregate" && checksNames && !select.mayAggregate)
        throw permissionDenied("table", relation.name);
      if (output.kind === "nodes" && select.limit !== undefined && !isWritten)
        return [{ ...output, cap: Math.min(output.cap ?? select.limit, select.limit) }];
      return [output];
    });
    const next: Read = { ...read, output: outputs };
    if (isWritten) return next; // the filter and the limit do not apply to written rows (G-INS-5)
    // A limit applies to lists (G-PRM-8).
    const cappedRead: Read =
      select.limit === undefined || read.shape === "aggregate" || isOne
        ? next
        : { ...next, cap: Math.min(read.cap ?? select.limit, select.limit) };
    return addFilter(cappedRead, select.filter);
  };

  /** Returns the name of the computed field that calls the function. */
  const findComputedField = (routine: QualifiedName, select: SelectPermission): string | undefined => {
    const key = buildNameKey(routine);
    for (const [field, routineKey] of select.routines) if (routineKey === key) return field;
    return undefined;
  };

  const mayReadAllColumns = (relation: Relation): boolean => {
    const readable = findUnmaskedColumns(relation);
    return relation.columns.every((column) => readable.has(column.name));
  };

  /** Applies the permissions to an expression. A name that the relation lacks stays unknown, even if a later tap takes
   *  the rows from another relation. @rule R-NAM-1 R-NAM-8 */
  const permitExpression = (expression: Expression, relation: Relation | undefined): Expression => {
    if (relation === undefined || (expression.kind !== "column" && expression.kind !== "computed")) return expression;
    const select = findSelectPermission(relation);
    if (select === undefined) {
      if (checksNames) throw permissionDenied("table", relation.name);
      return expression;
    }
    if (expression.kind === "column" && findColumn(relation, expression.name) === undefined) {
      const isSystem = findSystemColumnType(relation, expression.name) !== undefined;
      if (isSystem && mayReadAllColumns(relation)) return expression;
      if (isSystem && checksNames) throw permissionDenied("table", relation.name);
      return { ...expression, isUnknown: true };
    }
    const name = expression.kind === "column" ? expression.name : findComputedField(expression.routine, select);
    const isAllowed =
      name !== undefined && (expression.kind === "column" ? select.columns : select.computedFields).has(name);
    if (checksNames && !isAllowed) throw permissionDenied("table", relation.name);
    const when = name === undefined ? undefined : select.maskConditions?.get(name);
    return when === undefined || isAlwaysTrue(when) ? expression : { kind: "masked", value: expression, when };
  };

  const checkCall = (call: RoutineCall): RoutineCall => {
    if (!checksNames) return call;
    const routine = findRoutines(model, call.routine).find((candidate) => candidate.oid === call.oid);
    const returnedRelation = routine?.returns.relation;
    const isOfTable = returnedRelation !== undefined && findRelation(model, returnedRelation) !== undefined;
    if (!parts.mayCall(call.routine, isOfTable, routine?.volatility === "volatile"))
      throw permissionDenied("function", call.routine.name);
    return call;
  };

  const buildPresetAssignments = (cells: readonly Cell[]): readonly Assignment[] =>
    cells.flatMap((cell) =>
      cell.value === undefined ? [] : [{ column: cell.column, operator: "set", operand: cell.value }],
    );

  /** Checks the key columns in the response, because they count as read. @rule R-NAM-5 */
  const checkLocation = (name: QualifiedName): void => checkColumns(parts.location, findUnmaskedColumns(name), name);

  /** Checks the columns of the conflict target, which is by default the primary key. @rule R-NAM-2 */
  const checkConflictTarget = (columns: readonly string[], permission: WritePermission, name: QualifiedName): void => {
    const relation = findRelation(model, name);
    const allowedColumns = new Set([
      ...permission.columns,
      ...permission.presets.map((cell) => cell.column),
      ...(findSelectPermission(name)?.columns ?? []),
      ...(relation?.primaryKey ?? []),
    ]);
    checkColumns(
      columns.filter((column) => relation !== undefined && findColumn(relation, column) !== undefined),
      allowedColumns,
      name,
    );
  };

  const permitInsert = (insert: Insert): Insert => {
    const permission = requireWritePermission(insert.into, "insert");
    checkColumns(
      "cells" in insert.rows
        ? insert.rows.cells.map((cell) => cell.column)
        : insert.rows.columns.map((column) => column.name),
      permission.columns,
      insert.into,
    );
    checkLocation(insert.into);
    const check = joinDefined(insert.check, permission.check);
    const set = [...(insert.set ?? []), ...permission.presets];
    const next: Insert = { ...insert, ...(check === undefined ? {} : { check }), ...(set.length === 0 ? {} : { set }) };
    const { onConflict } = insert;
    if (onConflict !== undefined && "columns" in onConflict.target)
      checkConflictTarget(onConflict.target.columns, permission, insert.into);
    if (onConflict === undefined || onConflict.update.length === 0) return next;
    const update = requireWritePermission(insert.into, "update");
    checkColumns(onConflict.update, update.columns, insert.into);
    const where = joinDefined(update.filter, onConflict.where);
    const updateSet = [...(onConflict.set ?? []), ...update.presets];
    return {
      ...next,
      onConflict: {
        ...onConflict,
        ...(where === undefined ? {} : { where }),
        ...(updateSet.length === 0 ? {} : { set: updateSet }),
        ...(update.check === undefined ? {} : { check: update.check }),
      },
    };
  };

  const permitUpdate = (update: Update): Update => {
    const permission = requireWritePermission(update.relation, "update");
    checkColumns(
      [
        ...(update.payload?.columns ?? []).map((column) => column.name),
        ...(update.assignments ?? []).map((assignment) => assignment.column),
      ],
      permission.columns,
      update.relation,
    );
    const check = joinDefined(update.check, permission.check);
    const assignments = [...(update.assignments ?? []), ...buildPresetAssignments(permission.presets)];
    const next: Update = {
      ...update,
      ...(check === undefined ? {} : { check }),
      ...(assignments.length === 0 ? {} : { assignments }),
    };
    return addFilter(next, permission.filter);
  };

  const markChecksAfter = <Node extends Insert | Update>(node: Node): Node =>
    parts.checksAfterStatement ? { ...node, checksAfter: true } : node;

  return mapPlan(plan, model, {
    read: (read, { relation, isOne }) => permitRead(read, relation, isOne === true),
    call: checkCall,
    embed: (embed, { relation }) => {
      if (checksNames && "relationship" in embed.via) checkRelationship(relation, embed.via.relationship);
      if (
        checksNames &&
        "routine" in embed.via &&
        relation !== undefined &&
        !mayUseRoutine(relation, embed.via.routine)
      )
        throw permissionDenied("function", embed.via.routine.name);
      return embed;
    },
    predicate: (predicate, { relation }) => {
      if (predicate.kind === "related") return addFilter(predicate, findTargetFilter(relation, predicate.relationship));
      return predicate.kind === "computed-rows" ? addFilter(predicate, findRowFilter(predicate.target)) : predicate;
    },
    expression: (expression, { relation, root }) => {
      if (expression.kind === "related" || expression.kind === "related-aggregate")
        return addFilter(expression, findTargetFilter(relation, expression.relationship));
      if (expression.kind === "computed-aggregate") return addFilter(expression, findRowFilter(expression.target));
      return permitExpression(
        expression,
        expression.kind === "column" && expression.scope === "root" ? root : relation,
      );
    },
    insert: (insert) => markChecksAfter(permitInsert(insert)),
    update: (update) => markChecksAfter(permitUpdate(update)),
    delete: (remove) => addFilter(remove, requireWritePermission(remove.from, "delete").filter),
  });
};
