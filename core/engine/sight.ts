import type { Model } from "./model/model.ts";
import { grantSight } from "./model/privileges.ts";
import type { Sight } from "./model/sight.ts";
import type { Session } from "../kernel/session.ts";

/** What the caller may see on a surface: by metadata if that defines the role, otherwise by grants. */
export const sightOf = (model: Model, session: Session, surface: string): Sight => {
  if (session.databaseRole !== undefined) return grantSight(model, session.databaseRole);
  if (session.isAdmin && session.role === "admin") return grantSight(model, model.loginRole);
  // a role whose rights a reload removed sees nothing: no role is named ""
  return model.loginRoles?.get(surface)?.get(session.role) ?? grantSight(model, "");
};
