/** Bounds the number of values of a label, because the values come from clients. */
import type { Model, PluginContext, Session } from "../../../core/index.ts";

const MAX_VALUES = 100;
const OTHER_LABEL = "other";

/** Creates a function that returns the value, or `other` if it has seen too many values. */
export const createBoundedLabel = (): ((value: string) => string) => {
  const knownValues = new Set<string>();
  return (value) => {
    if (knownValues.has(value)) return value;
    if (knownValues.size >= MAX_VALUES) return OTHER_LABEL;
    knownValues.add(value);
    return value;
  };
};

export type RoleLabel = (session: Pick<Session, "role" | "isAdmin"> | undefined, surface: string) => string;

/** Creates a function that labels only roles of the database or the metadata, because a token may name any role. @rule
 *  X-MET-2 */
export const createRoleLabel = (context: PluginContext): RoleLabel => {
  let model: Model | undefined;
  context.onModel((loadedModel) => {
    model = loadedModel;
  });
  const boundLabel = createBoundedLabel();
  return (session, surface) => {
    if (session === undefined) return "none";
    const { role, isAdmin } = session;
    const isKnown = isAdmin || model?.roles.has(role) === true || model?.loginRoles?.get(surface)?.has(role) === true;
    return isKnown ? boundLabel(role) : OTHER_LABEL;
  };
};
