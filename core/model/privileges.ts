/** Determines the rights that the grants of the database give. */
import type { AclItem, Column, Model, Relation, Routine } from "./model.ts";
import type { Visibility } from "./visibility.ts";

/** A privilege of `GRANT`. @experimental */
export type Privilege = "select" | "insert" | "update" | "delete" | "execute" | "usage";

/** The letters of privileges in an ACL. */
const LETTERS: Readonly<Record<Privilege, RegExp>> = {
  select: /r/,
  insert: /a/,
  update: /w/,
  delete: /d/,
  execute: /X/,
  usage: /U/,
};

const ANY_PRIVILEGE = /[^*]/;
/** Matches the privileges that columns can have: SELECT, INSERT, UPDATE and REFERENCES. All others apply only to whole
 *  relations. */
const COLUMN_PRIVILEGES = /[rawx]/;

/** Returns whether the role has one of the privileges. Ownership, membership, PUBLIC and superuser count. */
const hasPrivilege = (
  model: Model,
  roleName: string,
  owner: string,
  acl: readonly AclItem[],
  letters: RegExp,
): boolean => {
  const role = model.roles.get(roleName);
  if (role === undefined) return false;
  return (
    role.isSuperuser ||
    role.inherits.includes(owner) ||
    acl.some((item) => letters.test(item.privileges) && (item.grantee === "" || role.inherits.includes(item.grantee)))
  );
};

/** Returns whether the role has the privilege on the whole relation. */
export const mayUseRelation = (model: Model, role: string, relation: Relation, privilege: Privilege): boolean =>
  hasPrivilege(model, role, relation.owner, relation.acl, LETTERS[privilege]);

/** Returns whether the role has the privilege on one column, by table or column grant. */
export const mayUseColumn = (
  model: Model,
  role: string,
  relation: Relation,
  column: Column,
  privilege: Privilege,
): boolean =>
  mayUseRelation(model, role, relation, privilege) ||
  hasPrivilege(model, role, relation.owner, column.acl, LETTERS[privilege]);

/** Returns whether the role has a privilege on the column, or a privilege on the whole relation that columns can have
 *  too. @rule R-OAS-2 */
const hasRightOnColumn = (model: Model, role: string, relation: Relation, column: Column): boolean =>
  hasPrivilege(model, role, relation.owner, relation.acl, COLUMN_PRIVILEGES) ||
  hasPrivilege(model, role, relation.owner, column.acl, ANY_PRIVILEGE);

/** Returns whether the role has any privilege on the relation or one of its columns. @rule R-OAS-2 */
const hasRightOnRelation = (model: Model, role: string, relation: Relation): boolean =>
  hasPrivilege(model, role, relation.owner, relation.acl, ANY_PRIVILEGE) ||
  relation.columns.some((column) => hasPrivilege(model, role, relation.owner, column.acl, ANY_PRIVILEGE));

/** Returns whether the role has the privilege on the relation or at least one of its columns. @rule R-OPT-3 */
export const mayUseAnyColumn = (model: Model, role: string, relation: Relation, privilege: Privilege): boolean =>
  mayUseRelation(model, role, relation, privilege) ||
  relation.columns.some((column) => hasPrivilege(model, role, relation.owner, column.acl, LETTERS[privilege]));

/** Returns whether the role has EXECUTE on the function. */
export const mayExecute = (model: Model, role: string, routine: Routine): boolean =>
  hasPrivilege(model, role, routine.owner, routine.acl, LETTERS.execute);

/** Returns whether the role has USAGE on the schema. A schema that the model does not list is not checked. */
export const mayUseSchema = (model: Model, role: string, schema: string): boolean => {
  const entry = model.schemaAcls.get(schema);
  return entry === undefined || hasPrivilege(model, role, entry.owner, entry.acl, LETTERS.usage);
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
