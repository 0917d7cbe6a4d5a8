/** Errors of cursor pages. */
import { RelApiError } from "../../../core/index.ts";

/** Returns the error for a cursor that is not valid. @rule P-CUR-5 */
export const cursorInvalid = (details: string): RelApiError =>
  new RelApiError({
    code: "cursor-invalid",
    status: 400,
    message: "The cursor cannot be used",
    details,
    hint: "Start again with an empty cursor, and follow the links of each answer as they are",
  });

/** Returns the error for a read that cannot be split into pages. @rule P-CUR-4 */
export const pageImpossible = (details: string, hint?: string): RelApiError =>
  new RelApiError({
    code: "cursor-page-impossible",
    status: 400,
    message: "This request cannot be paged by a cursor",
    details,
    ...(hint === undefined ? {} : { hint }),
  });
