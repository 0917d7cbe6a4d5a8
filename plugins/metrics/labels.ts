/** Labels whose values come from outside: a bounded number of them. */
import type { Model, Session } from "../../core/index.ts";

const MAX_VALUES = 100;
const OTHER = "other";

/** The value, as long as there are not too many of them. */
export const createBounded = (): ((value: string) => string) => {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= MAX_VALUES) return OTHER;
    known.add(value);
    return value;
  };
};

export type RoleLabel = (session: Pick<Session, "role" | "isAdmin"> | undefined, surface: string) => string;

/** A role that the database or the metadata has; a token may name any. @rule X-MET-2 */
export const createRoleLabel = (model: () => Model | undefined): RoleLabel => {
  const bounded = createBounded();
  return (session, surface) => {
    if (session === undefined) return "none";
    const { role, isAdmin } = session;
    const known = model();
    const isKnown = isAdmin || known?.roles.has(role) === true || known?.loginRoles?.get(surface)?.has(role) === true;
    return isKnown ? bounded(role) : OTHER;
  };
};
