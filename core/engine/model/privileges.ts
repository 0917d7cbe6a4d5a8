/** Rights that the grants of the database give. */
import type { AclItem, Column, Model, Relation, Routine } from "./model.ts";
import type { Visibility } from "./visibility.ts";

/** A privilege of `GRANT`. */
export type Privilege = "select" | "insert" | "update" | "delete" | "execute" | "usage";

const LETTERS: Readonly<Record<Privilege, string>> = {
  select: "r",
  insert: "a",
  update: "w",
  delete: "d",
  execute: "X",
  usage: "U",
};

const hasPrivilege = (
  model: Model,
  roleName: string,
  owner: string,
  acl: readonly AclItem[],
  privilege: Privilege,
): boolean => {
  const role = model.roles.get(roleName);
  if (role === undefined) return false;
  if (role.isSuperuser || role.inherits.includes(owner)) return true;
  const letter = LETTERS[privilege];
  return acl.some(
    (item) => (item.grantee === "" || role.inherits.includes(item.grantee)) && item.privileges.includes(letter),
  );
};

/** Returns whether the role has the privilege on the whole relation. Ownership, membership, PUBLIC and superuser
 *  count. */
export const mayUseRelation = (model: Model, role: string, relation: Relation, privilege: Privilege): boolean =>
  hasPrivilege(model, role, relation.owner, relation.acl, privilege);

/** Returns whether the role has the privilege on one column, by table or column grant. */
export const mayUseColumn = (
  model: Model,
  role: string,
  relation: Relation,
  column: Column,
  privilege: Privilege,
): boolean =>
  mayUseRelation(model, role, relation, privilege) || hasPrivilege(model, role, relation.owner, column.acl, privilege);

/** Returns whether the role has one of these privileges. */
const hasAnyPrivilege = (
  model: Model,
  roleName: string,
  owner: string,
  acl: readonly AclItem[],
  privileges: RegExp = EVERY_PRIVILEGE,
): boolean => {
  const role = model.roles.get(roleName);
  if (role === undefined) return false;
  return (
    role.isSuperuser ||
    role.inherits.includes(owner) ||
    acl.some(
      (item) => privileges.test(item.privileges) && (item.grantee === "" || role.inherits.includes(item.grantee)),
    )
  );
};

const EVERY_PRIVILEGE = /[^*]/;
/** SELECT, INSERT, UPDATE and REFERENCES. All others apply only to whole relations. */
const COLUMN_PRIVILEGES = /[rawx]/;

/** Returns whether the role has a privilege on the column, or one on the whole relation that columns can have too.
 *  @rule R-OAS-2 */
export const hasRightOnColumn = (model: Model, role: string, relation: Relation, column: Column): boolean =>
  hasAnyPrivilege(model, role, relation.owner, relation.acl, COLUMN_PRIVILEGES) ||
  hasAnyPrivilege(model, role, relation.owner, column.acl);

/** Returns whether the role has any privilege on the relation or one of its columns. @rule R-OAS-2 */
export const hasRightOnRelation = (model: Model, role: string, relation: Relation): boolean =>
  hasAnyPrivilege(model, role, relation.owner, relation.acl) ||
  relation.columns.some((column) => hasAnyPrivilege(model, role, relation.owner, column.acl));

/** Returns whether the role has the privilege on the relation or at least one of its columns. @rule R-OPT-3 */
export const mayUseAnyColumn = (model: Model, role: string, relation: Relation, privilege: Privilege): boolean =>
  mayUseRelation(model, role, relation, privilege) ||
  relation.columns.some((column) => hasPrivilege(model, role, relation.owner, column.acl, privilege));

/** Returns whether the role has EXECUTE on the function. Ownership, membership, PUBLIC and superuser count. */
export const mayExecute = (model: Model, role: string, routine: Routine): boolean =>
  hasPrivilege(model, role, routine.owner, routine.acl, "execute");

/** Returns whether the role has USAGE on the schema. A schema that the model does not list is not checked. */
export const mayUseSchema = (model: Model, role: string, schema: string): boolean => {
  const entry = model.schemaAcls.get(schema);
  return entry === undefined || hasPrivilege(model, role, entry.owner, entry.acl, "usage");
};

/** Returns the visibility of a role by the grants of the database. */
export const buildGrantVisibility = (model: Model, role: string): Visibility => {
  const reads = (relation: Relation, column: Column): boolean =>
    mayUseSchema(model, role, relation.schema) && mayUseColumn(model, role, relation, column, "select");
  return {
    isByGrants: true,
    mayRead: reads,
    mayReadEveryRow: reads,
    mayNameColumn: (relation, column) => hasRightOnColumn(model, role, relation, column),
    mayNameRelation: (relation) => hasRightOnRelation(model, role, relation),
    mayPerform: (relation, operation) =>
      operation === "delete"
        ? mayUseRelation(model, role, relation, "delete")
        : mayUseAnyColumn(model, role, relation, operation),
    mayCall: (routine) => mayExecute(model, role, routine),
  };
};
