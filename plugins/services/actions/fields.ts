/** Adds the fields of actions to the root types of roles that may call them. */
import { memoize, type Model } from "../../../core/index.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields, GqlScope } from "../../graphql/api.ts";
import { mayCall, ROOTS, type ActionField, type CustomTypes } from "./definitions.ts";
import { createActionTypes } from "./graphql-types.ts";

/** An action that has a field in the schema. */
interface ServedAction {
  readonly field: ActionField;
  /** True if each root has a field of the action. */
  readonly isAsynchronous: boolean;
  /** Returns the plan of the field in a root. */
  readonly buildPlan: (scope: GqlScope) => GqlField["toPlan"];
}

interface ServedActions {
  readonly types: CustomTypes;
  readonly actions: readonly ServedAction[];
}

const isServedIn = (scope: GqlScope, { field, isAsynchronous }: ServedAction): boolean =>
  isAsynchronous ? ROOTS.has(scope) : scope === `${field.root}_root`;

/** Returns the function that builds the fields of a root for a role. `getActions` returns the actions of a model. */
export const createFieldBuilder = (
  getActions: (model: Model) => ServedActions,
): ((context: GqlFieldContext) => GqlFields) => {
  const getTypes = memoize((build: GqlBuild) => createActionTypes(build, getActions(build.schema.model).types));
  return ({ scope, model, build }) => {
    if (!ROOTS.has(scope)) return {};
    const fields: Record<string, GqlField> = {};
    for (const action of getActions(model).actions) {
      const { field, isAsynchronous, buildPlan } = action;
      if (!isServedIn(scope, action) || !mayCall(field, build.access)) continue;
      const types = getTypes(build);
      const config = isAsynchronous ? types.buildAsynchronousField(scope, field) : types.buildField(field);
      if (config !== undefined) fields[field.name] = { config, toPlan: buildPlan(scope) };
    }
    return fields;
  };
};
