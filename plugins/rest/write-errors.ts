/** Errors of bodies and writes. */
import { RelApiError } from "../../core/index.ts";

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
