/** Values of metadata that name environment variables: `{{BASE_URL}}/login`, `value_from_env: API_KEY`. */
import { validateHeaderName, validateHeaderValue } from "node:http";
import { isJsonObject, type Json } from "../../../core/index.ts";
import { webhookHeaderInvalid, webhookVariableMissing } from "./errors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g; // `{{BASE_URL}}`

/** Returns the value of an environment variable. @throws RelApiError `webhook-variable-missing` @rule X-HTTP-5 */
export const readVariable = (name: string, environment: Environment = process.env): string => {
  const value = environment[name];
  if (value === undefined) throw webhookVariableMissing(name);
  return value;
};

/** Replaces `{{NAME}}` by the value of the environment variable. @throws RelApiError `webhook-variable-missing`
 *  @rule X-HTTP-5 */
export const expandTemplate = (text: string, environment: Environment = process.env): string =>
  text.replace(VARIABLE, (_, name: string) => readVariable(name, environment));

/** A header of the metadata: its value, or the environment variable that contains it. */
export interface HeaderTemplate {
  readonly name: string;
  readonly value?: string;
  readonly value_from_env?: string;
}

/** Returns whether HTTP can send the header: not `a b`, and no value with a line break. @rule X-HTTP-1 */
export const isSendable = (name: string, value: string): boolean => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
};

/** Reads `headers` of the metadata. `createError` makes the error from a reason. */
export const readHeaderTemplates = (
  rawValue: Json | undefined,
  createError: (reason: string) => Error,
): readonly HeaderTemplate[] => {
  if (rawValue === undefined || rawValue === null) return [];
  if (!Array.isArray(rawValue)) throw createError("headers is not a list");
  return (rawValue as readonly Json[]).map((header, i) => {
    const { name, value, value_from_env: variable } = isJsonObject(header) ? header : {};
    if (typeof name !== "string" || name === "") throw createError(`headers[${i}] has no name`);
    if (!isSendable(name, typeof value === "string" ? value : ""))
      throw createError(`headers[${i}] is a header that HTTP cannot send`);
    if (typeof value === "string" && (variable ?? null) === null) return { name, value };
    if (typeof variable === "string" && (value ?? null) === null) return { name, value_from_env: variable };
    throw createError(`headers[${i}] needs either value or value_from_env`);
  });
};

/** Returns headers by name. @throws RelApiError `webhook-variable-missing`, `webhook-failed` for a header that HTTP
 *  cannot send @rule X-HTTP-1 X-HTTP-5 */
export const expandHeaders = (
  headers: readonly HeaderTemplate[],
  environment: Environment = process.env,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    headers.map(({ name, value = "", value_from_env: variable }) => {
      const text = variable === undefined ? expandTemplate(value, environment) : readVariable(variable, environment);
      if (!isSendable(name, text)) throw webhookHeaderInvalid(name);
      return [name, text];
    }),
  );
