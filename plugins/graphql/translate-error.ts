/** Translates errors of the database, of core and of plugins to the codes, messages and statuses of the GraphQL
 *  surface. */
import { RelApiError } from "../../core/index.ts";
import { formatCount } from "../shared/plural.ts";

/** An error as a client of the GraphQL surface sees it. */
interface TranslatedError {
  readonly code: string;
  readonly message: string;
  /** The status of the error on `/v1alpha1/graphql` (G-HTTP-3). */
  readonly status: number;
  /** True if the error is from the database. Administrators also see the original message (G-ERR-7). */
  readonly isDatabase: boolean;
  /** True if the error is a plugin's own. Its status is sent on every path (G-ERR-9). */
  readonly isForeign?: boolean;
}

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

const VIOLATIONS: Readonly<Record<string, readonly [code: string, prefix: string]>> = {
  "23505": ["constraint-violation", "Uniqueness violation. "],
  "23503": ["constraint-violation", "Foreign key violation. "],
  "23502": ["constraint-violation", "Not-NULL violation. "],
  "23001": ["constraint-violation", "Can not delete or update due to data being referred. "],
  "23P01": ["constraint-violation", "Exclusion violation. "],
  "23514": ["permission-error", "Check constraint violation. "],
};

/** Translates a SQLSTATE and its message. @rule G-DBE-1 … G-DBE-15 */
const translateDatabaseError = (sqlState: string, message: string): Omit<TranslatedError, "isDatabase"> => {
  const violation = VIOLATIONS[sqlState];
  if (violation !== undefined) return { code: violation[0], message: violation[1] + message, status: 400 };
  if (sqlState.startsWith("23")) return { code: "constraint-violation", message, status: 400 };
  if (sqlState === "22025") return { code: "bad-request", message, status: 400 };
  if (sqlState.startsWith("22")) return { code: "data-exception", message, status: 400 };
  if (sqlState === "42704") return { code: "constraint-error", message, status: 400 };
  if (sqlState === "42P10")
    return {
      code: "constraint-error",
      message: "there is no unique or exclusion constraint on target column(s)",
      status: 400,
    };
  if (sqlState === "42501") return { code: "permission-error", message, status: 400 };
  if (sqlState === "53300") return MAX_CONNECTIONS;
  return { code: "unexpected", message: "database query error", status: 500 };
};

const MAX_CONNECTIONS = {
  code: "postgres-max-connections-error",
  message: "max connections reached on postgres",
  status: 503,
} as const;

const CONNECTION_ERROR = { code: "postgres-error", message: "connection error", status: 500 } as const;

/** The errors of core that have another code, message or status on this surface. */
const CORE_ERRORS: Readonly<
  Record<
    string,
    {
      readonly code: string;
      readonly message?: string | ((facts: RelApiError["facts"]) => string);
      readonly status: number;
    }
  >
> = {
  "connection-failed": CONNECTION_ERROR,
  "connection-lost": CONNECTION_ERROR,
  "model-not-loaded": CONNECTION_ERROR,
  "pool-timeout": MAX_CONNECTIONS,
  // Other auth schemes have their own messages.
  "token-refused": { code: "access-denied", status: 401 },
  "anonymous-refused": { code: "access-denied", message: "Anonymous access is disabled", status: 401 },
  "admin-secret-refused": { code: "access-denied", status: 401 },
  // These are errors of the authentication webhook. @rule X-HOOK-7
  "auth-hook-failed": { code: "unexpected", status: 500 },
  "auth-hook-role-missing": { code: "invalid-params", status: 400 },
  "missing-session-variable": {
    code: "not-found",
    message: ({ variable }) => `missing session variable: "${String(variable)}"`,
    status: 400,
  },
  "permission-check-failed": {
    code: "permission-error",
    message: "check constraint of an insert/update permission has failed",
    status: 400,
  },
  "step-wrote-nothing": { code: "not-supported", status: 400 },
  "step-refused": { code: "validation-failed", status: 400 },
  // A result of the database exceeds its limit. @rule G-DBE-16
  "result-too-large": { code: "unexpected", status: 500 },
  // The live queries exceed their limit. @rule G-SUB-12
  "live-queries-too-large": { code: "bad-request", status: 503 },
  "body-too-deep": { code: "validation-failed", status: 400 },
  // These are errors of the request body. @rule G-HTTP-15
  "body-too-large": { code: "bad-request", status: 413 },
  "body-late": { code: "bad-request", status: 408 },
  "body-encoding-unknown": { code: "bad-request", status: 415 },
  "body-unreadable": { code: "bad-request", status: 400 },
  "url-too-long": { code: "bad-request", status: 414 },
};

/** Returns the message of an error on this surface. */
export const getMessage = ({ code, message, facts }: RelApiError): string => {
  const template = CORE_ERRORS[code]?.message ?? message;
  return typeof template === "string" ? template : template(facts);
};

/** The codes of the contract, which errors of this surface have from the start. */
const OWN_CODES: ReadonlySet<string> = new Set([
  "validation-failed",
  "parse-failed",
  "not-supported",
  "bad-request",
  "not-found",
  "permission-error",
  "unexpected-payload",
  "invalid-json",
  "start-failed",
  "access-denied",
  "invalid-headers",
  "invalid-jwt",
  "jwt-invalid-claims",
  "jwt-missing-role-claims",
  "PERSISTED_QUERY_NOT_FOUND",
  "method-not-allowed",
  "unfiltered-write",
  "depth-limit-exceeded",
  "node-limit-exceeded",
  "batch-limit-exceeded",
  "root-field-limit-exceeded",
  "alias-limit-exceeded",
  "cost-limit-exceeded",
  "time-limit-exceeded",
]);

/** Errors of core whose details clients do not see. */
const HIDDEN_ERRORS: ReadonlySet<string> = new Set(["internal", "preset", "request-cancelled", "function-failed"]);

/** The SQLSTATE of a statement that exceeded its time limit. */
export const QUERY_CANCELED = "57014";

const timeExceeded = (seconds: number): Omit<TranslatedError, "isDatabase"> => ({
  code: "time-limit-exceeded",
  message: `the operation took longer than ${formatCount(seconds, "second")}`,
  status: 400,
});

/** The SQLSTATEs with which extensions report values that they cannot read. */
const UNREADABLE: ReadonlySet<string> = new Set(["XX000", "42601"]);

/** Translates any error to its code, message and status on this surface. @rule G-DBE-1 … G-DBE-15 G-ERR-9 */
export const translateError = (error: unknown): TranslatedError => {
  if (!(error instanceof RelApiError))
    return { code: "unexpected", message: "internal error", status: 500, isDatabase: false };
  const { limit, seconds } = error.facts;
  // A plugin has set this time limit of statements.
  if (error.code === QUERY_CANCELED && limit !== undefined)
    return { ...timeExceeded(Number(seconds)), isDatabase: true };
  if (error.facts["isOfValue"] === true && UNREADABLE.has(error.code))
    return { code: "data-exception", message: error.message, status: 400, isDatabase: true };
  if (isSqlState(error.code)) return { ...translateDatabaseError(error.code, error.message), isDatabase: true };
  const core = CORE_ERRORS[error.code];
  if (core !== undefined)
    return { code: core.code, message: getMessage(error), status: core.status, isDatabase: false };
  if (error.code === "function-refused")
    return { code: String(error.facts["code"]), message: error.message, status: error.status, isDatabase: false };
  if (OWN_CODES.has(error.code))
    return { code: error.code, message: error.message, status: error.status, isDatabase: false };
  if (!HIDDEN_ERRORS.has(error.code))
    return { code: error.code, message: error.message, status: error.status, isDatabase: false, isForeign: true };
  return { code: "unexpected", message: "internal error", status: 500, isDatabase: false };
};
