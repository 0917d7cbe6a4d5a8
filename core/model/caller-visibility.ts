import type { Model } from "./model.ts";
import { buildGrantVisibility } from "./privileges.ts";
import type { Visibility } from "./visibility.ts";
import type { Session } from "../kernel/session.ts";

/** Returns the visibility of the caller on a surface. Metadata determines the visibility of a role that it defines.
 *  Otherwise, the grants of the database do. @experimental */
export const getVisibility = (model: Model, session: Session, surface: string): Visibility => {
  if (session.databaseRole !== undefined) return buildGrantVisibility(model, session.databaseRole);
  if (session.isAdmin && session.role === "admin") return buildGrantVisibility(model, model.loginRole);
  // A role whose rights a reload removed sees nothing, because no role is named "".
  return model.loginRoles?.get(surface)?.get(session.role) ?? buildGrantVisibility(model, "");
};
