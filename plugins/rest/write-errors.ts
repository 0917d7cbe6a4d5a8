/** Errors of bodies and writes. */
import { limitExceeded, RelApiError, type Limits } from "../../core/index.ts";

const bodyError = (message: string): RelApiError => new RelApiError({ code: "bad-body", status: 400, message });

/** @rule R-BODY-2 PGRST102 */
export const jsonError = (): RelApiError => bodyError("Empty or invalid json");
/** @rule R-BODY-2 PGRST102 */
export const keysError = (): RelApiError => bodyError("All object keys must match");
/** @rule R-BODY-6 PGRST102 */
export const csvFieldsError = (): RelApiError => bodyError("All lines must have same number of fields");
/** `text`: the reader's. @rule R-BODY-8 PGRST102 */
export const csvError = (text: string): RelApiError => bodyError(text);
/** @rule R-BODY-1 PGRST102 */
export const contentTypeError = (type: string): RelApiError => bodyError(`Content-Type not acceptable: ${type}`);

/** @rule R-LIM-2 PGRST102 */
export const bodyTooDeep = ({ maxJsonDepth }: Limits): RelApiError =>
  limitExceeded("maxJsonDepth", { code: "bad-body", message: `The body is nested deeper than ${maxJsonDepth} levels` });
/** @rule R-LIM-3 PGRST102 */
export const tooManyColumns = ({ maxColumns }: Limits): RelApiError =>
  limitExceeded("maxColumns", { code: "bad-body", message: `The body names more than ${maxColumns} columns` });

/** A key of the payload or a listed column that the relation lacks. @rule R-BODY-5 PGRST204 */
export const columnNotFound = (column: string, relation: string): RelApiError =>
  new RelApiError({
    code: "column-not-found",
    status: 400,
    message: `Could not find the '${column}' column of '${relation}' in the schema cache`,
  });

/** @rule R-PUT-1 PGRST105 */
export const putFiltersInvalid = (): RelApiError =>
  new RelApiError({
    code: "put-filters-invalid",
    status: 405,
    message: "Filters must include all and only primary key columns with 'eq' operators",
  });

/** @rule R-PUT-3 PGRST115 */
export const putKeyMismatch = (): RelApiError =>
  new RelApiError({
    code: "put-key-mismatch",
    status: 400,
    message: "Payload values do not match URL in primary key column(s)",
  });

/** A key column that a PUT's payload lacks, in the words of the database. @rule R-PUT-3 */
export const putKeyMissing = (column: string): RelApiError =>
  new RelApiError({ code: "42703", status: 400, message: `column "${column}" does not exist in the payload` });

/** @rule R-PRF-5 PGRST124 */
export const maxAffectedExceeded = (rows: number): RelApiError =>
  new RelApiError({
    code: "max-affected-exceeded",
    status: 400,
    message: "Query result exceeds max-affected preference constraint",
    details: `The query affects ${rows} rows`,
  });
