/** The rows and columns that errors name, limited to what this caller may see. */
import {
  columnOf,
  relationOf,
  RelApiError,
  routinesOf,
  type Json,
  type Model,
  type Relation,
  type Visibility,
} from "../../../core/index.ts";
import { relationshipAmbiguous, type Way } from "../errors.ts";

/** Errors whose hints name things that the request did not. */
const SUGGESTING: ReadonlySet<string> = new Set(["relation-not-found", "relationship-not-found", "routine-not-found"]);

/** The caller's rights decide what is shown of suggested names, of ambiguous relationships (which are described by
 *  their columns), of integrity constraints, and of rows that a view's CHECK OPTION rejects, unless a function raised
 *  the error itself. */
export const dependsOnRights = ({ code, details, hint, facts: { sqlstate, isRaised } }: RelApiError): boolean =>
  SUGGESTING.has(code)
    ? hint !== null
    : details !== null &&
      (code === "relationship-ambiguous" ||
        (isRaised !== true && typeof sqlstate === "string" && (sqlstate.startsWith("23") || sqlstate === "44000")));

/** Details of a constraint error; null if the caller may not see all of them, or if that is unknown. Under grants,
 *  PostgreSQL itself hides values; under metadata permissions, statements run as the login role. @rule R-NAM-4 */
const shownDetails = (error: RelApiError, model: Model, sight: Visibility): Json => {
  const { code, details, facts } = error;
  const relation = relationOfError(error, model);
  if (code === "23503" || code === "23001")
    return relation !== undefined && showsForeignKey(model, sight, relation, facts["constraint"]) ? details : null;
  if (sight.isByGrants) return details;
  return relation !== undefined && showsRow(sight, relation, code, facts["constraint"]) ? details : null;
};

/** Relationships of hidden columns are left out. @rule R-NAM-3 */
const shownWays = (error: RelApiError, model: Model, sight: Visibility): RelApiError => {
  if (sight.isByGrants) return error;
  const { source, target, ways } = error.facts as {
    readonly source: string;
    readonly target: string;
    readonly ways: readonly Way[];
  }; // of its maker
  const isKnown = ([schema, name, column]: Way["columns"][number]): boolean => {
    const relation = relationOf(model, { schema, name });
    const found = relation && columnOf(relation, column);
    return relation !== undefined && found !== undefined && sight.knows(relation, found);
  };
  return relationshipAmbiguous(
    source,
    target,
    ways.filter(({ columns }) => columns.every(isKnown)),
  );
};

/** As in PostgREST grants hide no names; permissions of the metadata do. @rule R-NAM-3 */
const isSuggestionShown = (
  { code, facts: { schema, suggestion } }: RelApiError,
  model: Model,
  sight: Visibility,
): boolean => {
  if (sight.isByGrants) return true;
  const name = { schema: String(schema), name: String(suggestion) };
  if (code === "routine-not-found") return routinesOf(model, name).some((routine) => sight.calls(routine));
  const relation = relationOf(model, name);
  return relation !== undefined && sight.knowsRelation(relation);
};

/** Of an error that depends on rights. */
export const shownError = (error: RelApiError, model: Model, sight: Visibility): RelApiError => {
  if (SUGGESTING.has(error.code))
    return isSuggestionShown(error, model, sight)
      ? error
      : new RelApiError({ ...error, message: error.message, hint: null });
  if (error.code === "relationship-ambiguous") return shownWays(error, model, sight);
  const details = shownDetails(error, model, sight);
  return details === error.details ? error : new RelApiError({ ...error, message: error.message, details });
};

const relationOfError = ({ facts: { schema, table } }: RelApiError, model: Model): Relation | undefined =>
  typeof schema === "string" && typeof table === "string" ? relationOf(model, { schema, name: table }) : undefined;

const readsAll = (sight: Visibility, relation: Relation, names: readonly string[]): boolean =>
  names.every((name) => {
    const column = columnOf(relation, name);
    return column !== undefined && sight.readsAlways(relation, column);
  });

/** `Key (name)=(Oslo) already exists.`: values of the key. `Failing row contains (…)`: of every column. */
const showsRow = (sight: Visibility, relation: Relation, sqlstate: string, constraint: Json | undefined): boolean => {
  if (sqlstate === "23502" || sqlstate === "23514")
    return relation.columns.every((column) => sight.readsAlways(relation, column));
  const key = relation.uniqueKeys.find((one) => one.name === constraint);
  return key !== undefined && readsAll(sight, relation, key.columns);
};

/** `Key (id)=(1) is still referenced from table "vessels".`: the error names the side that refers, whichever was
 *  written. */
const showsForeignKey = (
  model: Model,
  sight: Visibility,
  relation: Relation,
  constraint: Json | undefined,
): boolean => {
  const key = relation.foreignKeys.find((one) => one.name === constraint);
  const target = key && relationOf(model, key.target);
  if (key === undefined || target === undefined || !sight.knowsRelation(relation) || !sight.knowsRelation(target))
    return false;
  return sight.isByGrants || (readsAll(sight, relation, key.columns) && readsAll(sight, target, key.targetColumns));
};
