/** Reads the response of the webhook, such as
 *  `{"X-Hasura-Role":"user","X-Hasura-User-Id":"7","Cache-Control":"max-age=600"}`. */
import { isJsonObject, VARIABLE_PREFIX, type Json } from "../../../core/index.ts";
import { hookAnswerInvalid, hookRoleMissing } from "./errors.ts";

export interface HookResponse {
  readonly role: string;
  /** The session variables by lower-case name, including the role. */
  readonly variables: Readonly<Record<string, string>>;
  readonly expiresAtMs?: number;
  /** The name of a member with an expiry that cannot be read. */
  readonly unreadableExpiry?: string;
}

const ROLE = `${VARIABLE_PREFIX}role`;

/** Names that control the session and are not session variables. */
const CONTROL_NAMES = new Set([`${VARIABLE_PREFIX}admin-secret`, `${VARIABLE_PREFIX}use-backend-only-permissions`]);

/** Reads session variables and expiry. @throws RelApiError `auth-hook-failed`, `auth-hook-role-missing` @rule X-HOOK-5
 *  X-HOOK-7 */
export const readHookResponse = (text: string, nowMs: number): HookResponse => {
  const members = readMembers(text);
  const variables: Record<string, string> = {};
  for (const [name, value] of members) {
    const variable = name.replace(/^x-hasura-/, VARIABLE_PREFIX);
    if (!variable.startsWith(VARIABLE_PREFIX) || CONTROL_NAMES.has(variable)) continue;
    // If both prefixes are present for one variable, `x-session-` takes precedence.
    if (variable !== name && members.has(variable)) continue;
    variables[variable] = value;
  }
  const role = variables[ROLE];
  if (role === undefined || role === "") throw hookRoleMissing();
  return { role, variables, ...readExpiry(members, nowMs) };
};

/** Reads the members by lower-case name. Every value has to be a string, as in Hasura. */
const readMembers = (text: string): ReadonlyMap<string, string> => {
  const responseObject = parseObject(text);
  const members = new Map<string, string>();
  for (const [name, value] of Object.entries(responseObject)) {
    if (typeof value !== "string")
      throw hookAnswerInvalid(
        `Error in $[${JSON.stringify(name).replace(/^"|"$/g, "'")}]: parsing Text failed, expected String, but encountered ${nameKind(value)}`,
      );
    members.set(name.toLowerCase(), value);
  }
  return members;
};

const parseObject = (text: string): Readonly<Record<string, Json>> => {
  let body: Json;
  try {
    body = JSON.parse(text) as Json; // JSON.parse returns JSON
  } catch {
    throw hookAnswerInvalid("Error in $: the body is not JSON");
  }
  if (!isJsonObject(body))
    throw hookAnswerInvalid(`Error in $: parsing HashMap failed, expected Object, but encountered ${nameKind(body)}`);
  return body;
};

const nameKind = (value: Json): string => {
  if (value === null) return "Null";
  if (Array.isArray(value)) return "Array";
  const kind = typeof value;
  return kind[0]?.toUpperCase() + kind.slice(1); // for example `Number`
};

type Expiry = Pick<HookResponse, "expiresAtMs" | "unreadableExpiry">;

/** Reads the expiry of the session. `Cache-Control` wins over `Expires` if it is valid. @rule X-HOOK-9 */
const readExpiry = (members: ReadonlyMap<string, string>, nowMs: number): Expiry => {
  const control = members.get("cache-control");
  const maxAge = /(?:^|,)\s*max-age="?(\d{1,10})"?\s*(?:,|$)/i.exec(control ?? "")?.[1]; // `private, max-age=600`
  if (maxAge !== undefined) return { expiresAtMs: nowMs + Number(maxAge) * 1000 };
  const expires = members.get("expires");
  const expiresAtMs = Date.parse(expires ?? "");
  if (!Number.isNaN(expiresAtMs)) return { expiresAtMs };
  const unreadableExpiry = expires !== undefined ? "Expires" : control !== undefined ? "Cache-Control" : undefined;
  return unreadableExpiry === undefined ? {} : { unreadableExpiry };
};
