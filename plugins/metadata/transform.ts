/** Permissions written into plans: filters, checks, presets and limits hold wherever a relation is read or written. @rule G-PRM-7 … G-PRM-12 G-PRE-1 … G-PRE-4 */
import {
  mapPlan, nameKey, relationshipOf, RelApiError,
  type Assignment, type Cell, type Expression, type Insert, type Model, type Output, type Plan, type Predicate, type QualifiedName, type Read, type Relation, type Update,
} from "../../core/index.ts";
import type { SelectPermission, TablePermissions, WritePermission } from "./permissions.ts";

const allOf = (...parts: readonly (Predicate | undefined)[]): Predicate | undefined => {
  const given = parts.filter((part) => part !== undefined);
  return given.length <= 1 ? given[0] : { kind: "and", of: given };
};

const withWhere = <Node extends { readonly where?: Predicate }>(node: Node, filter: Predicate | undefined): Node =>
  filter === undefined ? node : { ...node, where: allOf(filter, node.where) };

/** The caller has no such right; said in PostgreSQL's words, so that both surfaces answer as for a grant. */
const denied = (what: string, relation: QualifiedName): RelApiError =>
  new RelApiError({ code: "42501", status: 403, message: `permission denied for ${what} ${relation.name}` });

export interface TransformParts {
  readonly model: Model;
  readonly ofTable: (name: QualifiedName) => Readonly<TablePermissions> | undefined;
  readonly isBackend: boolean;
  /** The surface's schema does not know the permissions, so names are checked here. */
  readonly checksNames: boolean;
}

export const applyPermissions = <P extends Plan>(plan: P, parts: TransformParts): P => {
  const { model, ofTable, checksNames } = parts;
  const selectOf = (name: QualifiedName | undefined): SelectPermission | undefined => (name === undefined ? undefined : ofTable(name)?.select);
  const filterAlong = (relation: Relation | undefined, id: string): Predicate | undefined => {
    const target = relation && relationshipOf(relation, id)?.target;
    return visibleRows(target);
  };
  /** No right: no row. */
  const visibleRows = (name: QualifiedName | undefined): Predicate | undefined => {
    if (name === undefined) return undefined;
    const select = selectOf(name);
    return select === undefined ? { kind: "or", of: [] } : select.filter;
  };
  const writeOf = (name: QualifiedName, operation: "insert" | "update" | "delete"): WritePermission => {
    const permission = ofTable(name)?.[operation];
    if (permission === undefined || (permission.isBackendOnly && !parts.isBackend)) throw denied("table", name);
    return permission;
  };
  const checkColumns = (names: readonly string[], allowed: ReadonlySet<string>, relation: QualifiedName): void => {
    if (checksNames && names.some((name) => !allowed.has(name))) throw denied("table", relation);
  };

  const permitRead = (read: Read, relation: Relation | undefined): Read => {
    if (relation === undefined) return read;
    const select = selectOf(relation);
    const isWritten = "written" in read.from;
    if (select === undefined) {
      // what was written may be counted by a caller who may not look at it
      if (isWritten && !checksNames) return read;
      throw denied("table", relation);
    }
    const outputs = read.output.flatMap((output): readonly Output[] => {
      if (output.kind === "all" && checksNames)
        return relation.columns.flatMap((column): readonly Output[] => (select.columns.has(column.name) ? [{ kind: "value", as: column.name, value: permitted({ kind: "column", name: column.name }, relation) }] : []));
      if (output.kind === "nodes" && select.limit !== undefined) return [{ ...output, cap: Math.min(output.cap ?? select.limit, select.limit) }];
      return [output];
    });
    const next: Read = { ...read, output: outputs };
    if (isWritten) return next; // rows are answered though the filter would hide them (G-INS-5)
    const capped: Read = select.limit === undefined || read.shape === "aggregate" ? next : { ...next, cap: Math.min(read.cap ?? select.limit, select.limit) };
    return withWhere(capped, select.filter);
  };

  const permitted = (expression: Expression, relation: Relation | undefined): Expression => {
    if (relation === undefined || (expression.kind !== "column" && expression.kind !== "computed")) return expression;
    const name = expression.kind === "column" ? expression.name : expression.routine.name;
    const select = selectOf(relation);
    if (checksNames && select !== undefined && !select.columns.has(name) && !select.computedFields.has(name)) throw denied("table", relation);
    const when = select?.masked?.get(name);
    return when === undefined ? expression : { kind: "masked", of: expression, when };
  };

  const presetAssignments = (cells: readonly Cell[]): readonly Assignment[] =>
    cells.flatMap((cell) => (cell.value === undefined ? [] : [{ column: cell.column, operator: "set", operand: cell.value }]));

  return mapPlan(plan, model, {
    read: (read, { relation }) => permitRead(read, relation),
    predicate: (predicate, { relation }) => {
      if (predicate.kind === "related") return withWhere(predicate, filterAlong(relation, predicate.relationship));
      return predicate.kind === "computed-rows" ? withWhere(predicate, visibleRows(predicate.target)) : predicate;
    },
    expression: (expression, { relation }) => {
      if (expression.kind === "related" || expression.kind === "related-aggregate") return withWhere(expression, filterAlong(relation, expression.relationship));
      if (expression.kind === "computed-aggregate") return withWhere(expression, visibleRows(expression.target));
      return permitted(expression, relation);
    },
    insert: (insert) => permitInsert(insert),
    update: (update) => permitUpdate(update),
    delete: (remove) => {
      const permission = writeOf(remove.from, "delete");
      return withWhere(remove, permission.filter);
    },
  });

  function permitInsert(insert: Insert): Insert {
    const permission = writeOf(insert.into, "insert");
    checkColumns("cells" in insert.rows ? insert.rows.cells.map((cell) => cell.column) : insert.rows.columns.map((column) => column.name), permission.columns, insert.into);
    const check = allOf(insert.check, permission.check);
    const set = [...(insert.set ?? []), ...permission.presets];
    const next: Insert = { ...insert, ...(check === undefined ? {} : { check }), ...(set.length === 0 ? {} : { set }) };
    const { onConflict } = insert;
    if (onConflict === undefined || onConflict.update.length === 0) return next;
    const update = ofTable(insert.into)?.update;
    if (update === undefined) throw denied("table", insert.into);
    checkColumns(onConflict.update, update.columns, insert.into);
    const where = allOf(onConflict.where, update.filter);
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
  }

  function permitUpdate(update: Update): Update {
    const permission = writeOf(update.relation, "update");
    checkColumns([...(update.payload?.columns ?? []).map((column) => column.name), ...(update.assignments ?? []).map((one) => one.column)], permission.columns, update.relation);
    const check = allOf(update.check, permission.check);
    const assignments = [...(update.assignments ?? []), ...presetAssignments(permission.presets)];
    const next: Update = { ...update, ...(check === undefined ? {} : { check }), ...(assignments.length === 0 ? {} : { assignments }) };
    return withWhere(next, permission.filter);
  }
};

export const permissionsOf = (tables: ReadonlyMap<string, Readonly<TablePermissions>>) => (name: QualifiedName): Readonly<TablePermissions> | undefined => tables.get(nameKey(name));

