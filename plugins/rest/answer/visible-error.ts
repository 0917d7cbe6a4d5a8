/** Removes from errors the rows and columns that the caller may not see. */
import {
  findColumn,
  findRelation,
  RelApiError,
  findRoutines,
  type Json,
  type Model,
  type Relation,
  type Visibility,
} from "../../../core/index.ts";
import { relationshipAmbiguous, type RelationshipCandidate } from "../errors.ts";

/** Errors whose hints name objects that the request did not name. */
const ERRORS_WITH_SUGGESTIONS: ReadonlySet<string> = new Set([
  "relation-not-found",
  "relationship-not-found",
  "routine-not-found",
]);

/** Returns whether the error depends on the caller's rights. Such an error contains suggested names, columns of
 *  relationships, values of integrity constraints, or rows that a view's CHECK OPTION rejects. Errors raised by
 *  functions do not count. */
export const dependsOnRights = ({ code, details, hint, facts: { sqlstate, isRaised } }: RelApiError): boolean =>
  ERRORS_WITH_SUGGESTIONS.has(code)
    ? hint !== null
    : details !== null &&
      (code === "relationship-ambiguous" ||
        (isRaised !== true && typeof sqlstate === "string" && (sqlstate.startsWith("23") || sqlstate === "44000")));

/**
 * Returns the details of a constraint error, or null if the caller may not see all of them, or if their visibility is
 * unknown. PostgreSQL itself hides values under grants, but with metadata permissions statements run as the login role.
 * @rule R-NAM-4
 */
const findVisibleDetails = (error: RelApiError, model: Model, visibility: Visibility): Json => {
  const { code, details, facts } = error;
  const relation = findRelationOfError(error, model);
  if (code === "23503" || code === "23001")
    return relation !== undefined && isForeignKeyVisible(model, visibility, relation, facts["constraint"])
      ? details
      : null;
  if (visibility.isByGrants) return details;
  return relation !== undefined && isRowVisible(visibility, relation, code, facts["constraint"]) ? details : null;
};

/** Removes relationships of hidden columns from the error. @rule R-NAM-3 */
const removeInvisibleCandidates = (error: RelApiError, model: Model, visibility: Visibility): RelApiError => {
  if (visibility.isByGrants) return error;
  const { source, target, candidates } = error.facts as {
    readonly source: string;
    readonly target: string;
    readonly candidates: readonly RelationshipCandidate[];
  }; // the function that creates the error sets facts of this type
  const isKnown = ([schema, name, column]: RelationshipCandidate["columns"][number]): boolean => {
    const relation = findRelation(model, { schema, name });
    const requestedColumn = relation && findColumn(relation, column);
    return (
      relation !== undefined && requestedColumn !== undefined && visibility.mayNameColumn(relation, requestedColumn)
    );
  };
  return relationshipAmbiguous(
    source,
    target,
    candidates.filter(({ columns }) => columns.every(isKnown)),
  );
};

/**
 * Returns whether the suggested name may be shown. As in PostgREST, grants hide no names; metadata permissions do.
 * @rule R-NAM-3
 */
const isSuggestionVisible = (
  { code, facts: { schema, suggestion } }: RelApiError,
  model: Model,
  visibility: Visibility,
): boolean => {
  if (visibility.isByGrants) return true;
  const name = { schema: String(schema), name: String(suggestion) };
  if (code === "routine-not-found") return findRoutines(model, name).some((routine) => visibility.mayCall(routine));
  const relation = findRelation(model, name);
  return relation !== undefined && visibility.mayNameRelation(relation);
};

/** Limits an error that depends on rights to visible facts. */
export const removeInvisibleFacts = (error: RelApiError, model: Model, visibility: Visibility): RelApiError => {
  if (ERRORS_WITH_SUGGESTIONS.has(error.code))
    return isSuggestionVisible(error, model, visibility)
      ? error
      : new RelApiError({ ...error, message: error.message, hint: null });
  if (error.code === "relationship-ambiguous") return removeInvisibleCandidates(error, model, visibility);
  const details = findVisibleDetails(error, model, visibility);
  return details === error.details ? error : new RelApiError({ ...error, message: error.message, details });
};

const findRelationOfError = ({ facts: { schema, table } }: RelApiError, model: Model): Relation | undefined =>
  typeof schema === "string" && typeof table === "string" ? findRelation(model, { schema, name: table }) : undefined;

const mayReadColumns = (visibility: Visibility, relation: Relation, names: readonly string[]): boolean =>
  names.every((name) => {
    const column = findColumn(relation, name);
    return column !== undefined && visibility.mayReadEveryRow(relation, column);
  });

/**
 * Returns whether all shown values are visible. `Key (name)=(Oslo) already exists.` shows the key, `Failing row
 * contains (…)` every column.
 */
const isRowVisible = (
  visibility: Visibility,
  relation: Relation,
  sqlstate: string,
  constraint: Json | undefined,
): boolean => {
  if (sqlstate === "23502" || sqlstate === "23514")
    return relation.columns.every((column) => visibility.mayReadEveryRow(relation, column));
  const key = relation.uniqueKeys.find((uniqueKey) => uniqueKey.name === constraint);
  return key !== undefined && mayReadColumns(visibility, relation, key.columns);
};

/**
 * Returns whether the foreign key error is visible. `Key (id)=(1) is still referenced from table "vessels".` names the
 * referencing side, whichever side was written.
 */
const isForeignKeyVisible = (
  model: Model,
  visibility: Visibility,
  relation: Relation,
  constraint: Json | undefined,
): boolean => {
  const key = relation.foreignKeys.find((foreignKey) => foreignKey.name === constraint);
  const target = key && findRelation(model, key.target);
  if (
    key === undefined ||
    target === undefined ||
    !visibility.mayNameRelation(relation) ||
    !visibility.mayNameRelation(target)
  )
    return false;
  return (
    visibility.isByGrants ||
    (mayReadColumns(visibility, relation, key.columns) && mayReadColumns(visibility, target, key.targetColumns))
  );
};
