/** `OPTIONS /vessels`: the methods that the caller's role may use, derived only from the schema. */
import {
  findColumn,
  definePlugin,
  takesValues,
  getVisibility,
  type Answer,
  type Relation,
  type Routine,
  type Visibility,
} from "../../core/index.ts";
import { buildAnswer } from "./answer/headers.ts";
import type { RestTarget } from "./api.ts";
import { routineNotFound } from "./errors.ts";
import { createTargetHandler, requireRest, withMethods } from "./routes.ts";
import { isCallable } from "./plan/overload.ts";
import type { RestRequest } from "./request.ts";

/** The methods in the order of `Allow`. @rule R-OPT-6 */
const RELATION_METHODS = ["OPTIONS", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
/** @rule R-OPT-7 */
const ROUTINE_METHODS = ["OPTIONS", "POST", "GET", "HEAD"];
/** @rule R-OPT-8 */
const ROOT_METHODS = ["OPTIONS", "GET", "HEAD"];

interface Rights {
  readonly select: boolean;
  readonly insert: boolean;
  readonly update: boolean;
  readonly delete: boolean;
}

const findGrantedRights = (visibility: Visibility, relation: Relation): Rights => ({
  select: visibility.mayPerform(relation, "select"),
  insert: visibility.mayPerform(relation, "insert"),
  update: visibility.mayPerform(relation, "update"),
  delete: visibility.mayPerform(relation, "delete"),
});

const intersect = (a: Rights, b: Rights): Rights => ({
  select: a.select && b.select,
  insert: a.insert && b.insert,
  update: a.update && b.update,
  delete: a.delete && b.delete,
});

/** Removes the rights to writes that rules turn into no operation. */
const removeUselessRights = (rights: Rights, { rules = {} }: Relation): Rights => ({
  select: rights.select,
  insert: rights.insert && rules.insert !== "nothing",
  update: rights.update && rules.update !== "nothing",
  delete: rights.delete && rules.delete !== "nothing",
});

/**
 * The rights on a relation: grants for tables, updatability for views, both for foreign tables. Metadata permissions
 * apply to all. @rule R-OPT-3 R-OPT-4
 */
const findRights = (sight: Visibility, relation: Relation): Rights => {
  const possible: Rights = { select: true, ...relation.writable };
  switch (relation.kind) {
    case "table":
    case "partitioned":
      return findGrantedRights(sight, relation);
    case "foreign":
      return intersect(possible, findGrantedRights(sight, relation));
    case "view":
    case "materialized":
      return sight.isByGrants ? possible : intersect(possible, findGrantedRights(sight, relation));
  }
};

/** @rule R-OPT-2 R-OPT-3 R-OPT-5 */
const findRelationMethods = (sight: Visibility, relation: Relation): ReadonlySet<string> => {
  const rights = removeUselessRights(findRights(sight, relation), relation);
  const methods = new Set(["OPTIONS"]);
  if (rights.select) methods.add("GET").add("HEAD");
  if (rights.insert) methods.add("POST");
  if (rights.update) methods.add("PATCH");
  if (rights.delete) methods.add("DELETE");
  if (rights.insert && rights.update && mayPut(relation)) methods.add("PUT");
  return methods;
};

/** Whether the key can be written, and rules leave the written rows available for checks. @rule R-OPT-5 R-OPT-9 */
const mayPut = (relation: Relation): boolean => {
  const { primaryKey, rules = {} } = relation;
  if (primaryKey.length === 0 || rules.insert === "separate" || rules.update === "separate") return false;
  return primaryKey.every((name) => {
    const column = findColumn(relation, name);
    return column !== undefined && takesValues(column) && column.isBaseGenerated !== true;
  });
};

/** The methods that at least one overload offers. @rule R-OPT-7 */
const findRoutineMethods = (routines: readonly Routine[]): ReadonlySet<string> =>
  new Set(routines.some((routine) => routine.volatility !== "volatile") ? ROUTINE_METHODS : ["OPTIONS", "POST"]);

/** The methods that the target offers the role, in the order of `Allow`. @throws RelApiError `routine-not-found` */
const findOfferedMethods = (
  { rest, model, schema, name, exchange }: RestRequest,
  target: RestTarget,
): readonly string[] => {
  // without a database role, a session uses the login role
  const sight = getVisibility(model, exchange.session, "rest");
  switch (target.kind) {
    case "root":
      return ROOT_METHODS;
    case "relation": {
      const methods = findRelationMethods(sight, target.relation);
      return RELATION_METHODS.filter((method) => methods.has(method));
    }
    case "routine": {
      const callable = target.routines.filter((routine) => isCallable(model, routine));
      if (callable.length === 0)
        throw routineNotFound(schema, name, { names: [] }, rest.findSuggestions()?.routine(model, schema, name));
      const shown = sight.isByGrants ? callable : callable.filter((routine) => sight.mayCall(routine));
      if (shown.length === 0) return ["OPTIONS"];
      const methods = findRoutineMethods(shown);
      return ROUTINE_METHODS.filter((method) => methods.has(method));
    }
  }
};

/** @rule R-OPT-1 */
const answerOptions = (request: RestRequest, target: RestTarget): Answer => {
  // lists only methods that a plugin serves
  const { methods } = request.rest.findRoute(request.model, request.schema, target);
  const allowed = findOfferedMethods(request, target).filter((method) => methods.has(method));
  // adds methods of other plugins, which PostgREST does not know
  allowed.push(...[...methods.keys()].filter((method) => !RELATION_METHODS.includes(method)));
  return buildAnswer(request, {
    status: 200,
    body: "",
    headers: [
      ["Allow", allowed.join(",")],
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
