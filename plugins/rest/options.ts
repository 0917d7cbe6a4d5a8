/** `OPTIONS /vessels`: the methods that the caller's role may use, derived only from the schema. */
import {
  isView,
  findColumn,
  definePlugin,
  takesValues,
  getVisibility,
  type Answer,
  type Relation,
  type Visibility,
} from "../../core/index.ts";
import { buildAnswer } from "./answer/headers.ts";
import type { RestTarget } from "./api.ts";
import { routineNotFound } from "./errors.ts";
import { createTargetHandler, RELATION_METHODS, requireRest, withMethods } from "./routes.ts";
import { isCallable } from "./plan/overload.ts";
import type { RestRequest } from "./request.ts";

/** The methods of a function. @rule R-OPT-7 */
const ROUTINE_METHODS = ["OPTIONS", "POST", "GET", "HEAD"];
/** The methods of the root. @rule R-OPT-8 */
const ROOT_METHODS = ["OPTIONS", "GET", "HEAD"];

/** Returns whether the role may perform the action on the relation. Grants decide for all relations except views,
 *  metadata permissions for all. The relation may not be writable, or its rules may discard the write. @rule R-OPT-3
 *  R-OPT-4 */
const mayPerform = (
  visibility: Visibility,
  relation: Relation,
  action: "select" | "insert" | "update" | "delete",
): boolean => {
  const { rules = {}, writable } = relation;
  if (!(isView(relation) && visibility.isByGrants) && !visibility.mayPerform(relation, action)) return false;
  return action === "select" || (writable[action] && rules[action] !== "nothing");
};

/** Returns the methods that the caller may use on a relation. @rule R-OPT-2 R-OPT-3 R-OPT-5 */
const findRelationMethods = (visibility: Visibility, relation: Relation): ReadonlySet<string> => {
  const mayInsert = mayPerform(visibility, relation, "insert");
  const mayUpdate = mayPerform(visibility, relation, "update");
  const methods = new Set(["OPTIONS"]);
  if (mayPerform(visibility, relation, "select")) methods.add("GET").add("HEAD");
  if (mayInsert) methods.add("POST");
  if (mayUpdate) methods.add("PATCH");
  if (mayPerform(visibility, relation, "delete")) methods.add("DELETE");
  if (mayInsert && mayUpdate && mayPut(relation)) methods.add("PUT");
  return methods;
};

/** Returns whether the key can be written, and rules leave the written rows available for checks. @rule R-OPT-5
 *  R-OPT-9 */
const mayPut = (relation: Relation): boolean => {
  const { primaryKey, rules = {} } = relation;
  if (primaryKey.length === 0 || rules.insert === "separate" || rules.update === "separate") return false;
  return primaryKey.every((name) => {
    const column = findColumn(relation, name);
    return column !== undefined && takesValues(column) && column.isBaseGenerated !== true;
  });
};

/** Returns the methods that the target offers the role, in the order of `Allow`. @throws RelApiError
 *  `routine-not-found` */
const findOfferedMethods = (
  { rest, model, schema, name, exchange }: RestRequest,
  target: RestTarget,
): readonly string[] => {
  // Without a database role, a session uses the login role.
  const visibility = getVisibility(model, exchange.session, "rest");
  switch (target.kind) {
    case "root":
      return ROOT_METHODS;
    case "relation": {
      const methods = findRelationMethods(visibility, target.relation);
      return RELATION_METHODS.filter((method) => methods.has(method));
    }
    case "routine": {
      const callable = target.routines.filter((routine) => isCallable(model, routine));
      if (callable.length === 0)
        throw routineNotFound(schema, name, { names: [] }, rest.findSuggestions()?.routine(model, schema, name));
      const visibleRoutines = visibility.isByGrants
        ? callable
        : callable.filter((routine) => visibility.mayCall(routine));
      if (visibleRoutines.length === 0) return ["OPTIONS"];
      // One overload that does not write is sufficient for GET.
      return visibleRoutines.some((routine) => routine.volatility !== "volatile")
        ? ROUTINE_METHODS
        : ["OPTIONS", "POST"];
    }
  }
};

/** Answers an OPTIONS request. @rule R-OPT-1 */
const answerOptions = (request: RestRequest, target: RestTarget): Answer => {
  // The header lists only methods that a plugin serves.
  const { methods } = request.rest.findRoute(request.model, request.schema, target);
  const allowedMethods = findOfferedMethods(request, target).filter((method) => methods.has(method));
  // Methods of other plugins follow, which PostgREST does not know.
  allowedMethods.push(...[...methods.keys()].filter((method) => !RELATION_METHODS.includes(method)));
  return buildAnswer(request, {
    status: 200,
    body: "",
    headers: [
      ["Allow", allowedMethods.join(",")],
      ["Access-Control-Allow-Origin", "*"],
    ],
  });
};

/** Answers OPTIONS for all targets. */
export const restOptions = definePlugin({
  name: "rest-options",
  requires: ["rest"],
  apply: (hooks, context) => {
    const handler = createTargetHandler(requireRest(context), answerOptions);
    hooks.buildRestRoute.tap("rest-options", (route) => withMethods(route, [["OPTIONS", handler]]));
  },
});
