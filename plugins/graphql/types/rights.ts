/** Computes the rights of a role from the grants of the database. The administrator reads everything, and writes with
 *  the grants of the login role. @rule G-GEN-3 G-GEN-7 G-GEN-12 G-PRM-1 G-PRM-2 G-PRM-4 */
import { GQL_METADATA } from "../api.ts";
import {
  mayExecute,
  mayUseColumn,
  mayUseRelation,
  mayUseSchema,
  memoize,
  memoizeValue,
  listWritableColumns,
  type Column,
  type Model,
  type Privilege,
  type Relation,
  type Session,
} from "../../../core/index.ts";
import type { GqlComputedField } from "../value-types.ts";
import { type GqlMetadata, type GqlRoleAccess, type GqlTable, type GqlTableRights } from "../catalog-types.ts";

const NO_RIGHTS: GqlTableRights = {};

/** Returns the names of the columns. The result is cached per list, because similar tables share a list. */
const collectNames = memoize(
  (columns: readonly Column[]): ReadonlySet<string> => new Set(columns.map(({ name }) => name)),
);

/** Returns the columns with the privilege. A privilege on the relation includes all columns. */
const listColumnsWithPrivilege = (
  model: Model,
  role: string,
  relation: Relation,
  privilege: Privilege,
  columns: readonly Column[],
): readonly Column[] =>
  mayUseRelation(model, role, relation, privilege)
    ? columns
    : columns.filter((column) => mayUseColumn(model, role, relation, column, privilege));

const buildWriteRights = (model: Model, role: string, relation: Relation): GqlTableRights => {
  if (!mayUseSchema(model, role, relation.schema)) return NO_RIGHTS;
  const { writable } = relation;
  const columns = writable.insert || writable.update ? listWritableColumns(relation) : [];
  const insertable = writable.insert ? listColumnsWithPrivilege(model, role, relation, "insert", columns) : [];
  const updatable = writable.update ? listColumnsWithPrivilege(model, role, relation, "update", columns) : [];
  const mayInsert = writable.insert && (insertable.length > 0 || mayUseRelation(model, role, relation, "insert"));
  return {
    ...(mayInsert ? { insert: { columns: collectNames(insertable), readsConflicts: true as const } } : {}),
    ...(updatable.length > 0 ? { update: { columns: collectNames(updatable) } } : {}),
    ...(writable.delete && mayUseRelation(model, role, relation, "delete") ? { delete: true as const } : {}),
  };
};

/** Builds the right to select. Computed fields are looked up when a document first uses the table. */
const buildSelectRights = (
  columns: readonly Column[],
  listComputedFields: () => readonly GqlComputedField[],
): NonNullable<GqlTableRights["select"]> => {
  const computedFields = memoizeValue(() => new Set(listComputedFields().map(({ name }) => name)));
  return {
    columns: collectNames(columns),
    get computedFields() {
      return computedFields();
    },
    mayAggregate: true,
  };
};

const createAdminAccess = (model: Model): GqlRoleAccess => ({
  role: "admin",
  isAdmin: true,
  rights: (table) => ({
    ...buildWriteRights(model, model.loginRole, table.relation),
    select: buildSelectRights(table.relation.columns, () => table.computedFields),
  }),
  mayCall: () => true,
});

const createAccessByGrants = (model: Model, role: string): GqlRoleAccess => {
  const findReadableColumns = (table: GqlTable): readonly Column[] =>
    mayUseSchema(model, role, table.relation.schema)
      ? listColumnsWithPrivilege(model, role, table.relation, "select", table.relation.columns)
      : [];
  return {
    role,
    databaseRole: role,
    rights: (table) => {
      const readable = findReadableColumns(table);
      if (readable.length === 0) return buildWriteRights(model, role, table.relation);
      // The function receives the whole row, which PostgreSQL passes only if the role may read all of it.
      const mayPassRow = readable.length === table.relation.columns.length;
      const mayRun = ({ routine }: GqlComputedField): boolean =>
        mayPassRow && mayExecute(model, role, routine) && mayUseSchema(model, role, routine.schema);
      return {
        ...buildWriteRights(model, role, table.relation),
        select: buildSelectRights(readable, () => table.computedFields.filter(mayRun)),
      };
    },
    mayCall: ({ routine }) => mayExecute(model, role, routine) && mayUseSchema(model, role, routine.schema),
  };
};

/** The access of a role that neither the metadata nor the database knows. */
const noAccess: GqlRoleAccess = { role: "", rights: () => NO_RIGHTS, mayCall: () => false };

/** Returns the access of the session's role. It reads only `role`, `isAdmin` and `isBackend`, because the access for
 *  the next model is made from these members. */
export const findAccess = (model: Model, session: Session): GqlRoleAccess => {
  if (session.isAdmin && session.role === "admin") return createAdminAccess(model);
  // Only the metadata plugin writes this part.
  const metadata = model.pluginFacts[GQL_METADATA] as GqlMetadata | undefined;
  const accessByMetadata = metadata?.findAccess(session);
  if (accessByMetadata !== undefined) return accessByMetadata;
  const isClosed = metadata?.introspectionClosedFor?.has(session.role) === true;
  const accessByGrants =
    model.roles.get(session.role)?.isAssumable === true ? createAccessByGrants(model, session.role) : noAccess;
  return isClosed ? { ...accessByGrants, isIntrospectionClosed: true, role: session.role } : accessByGrants;
};
