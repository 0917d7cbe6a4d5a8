/** Reads the input of `relapi explain`: a REST path or a GraphQL document, and the caller. */
import { readFileSync } from "node:fs";
import {
  presetError,
  collectSettings,
  resolveOptions,
  type Caller,
  type Json,
  type Model,
  type RelApiOptions,
} from "../../../core/index.ts";
import { readClaimedCaller } from "../../../plugins/auth/claimed-caller.ts";
import { getRestPrefixes } from "../../../plugins/rest/syntax/resolve-target.ts";
import { fullCompat } from "../../full-compat.ts";
import { buildCaller } from "../documents-command.ts";
import { readStdin, type Terminal } from "../terminal.ts";

export interface RequestOptions {
  readonly method?: string;
  readonly body?: string;
  readonly header?: readonly string[];
  readonly variables?: string;
  readonly operation?: string;
  readonly role?: string;
  readonly claims?: string;
}

export type ExplainRequest =
  | {
      readonly kind: "rest";
      readonly method: string;
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  | {
      readonly kind: "graphql";
      readonly query: string;
      readonly variables?: Readonly<Record<string, unknown>>;
      readonly operationName?: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** Returns the content of the file for `@file`, the standard input for `-`, and any other text unchanged. @throws
 *  RelApiError `preset` */
const readTextOrFile = async (textOrPath: string, terminal: Terminal): Promise<string> => {
  if (textOrPath === "-") return readStdin(terminal);
  if (!textOrPath.startsWith("@")) return textOrPath;
  const file = textOrPath.slice(1);
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw presetError(`cannot read "${file}": ${(error as Error).message}`);
  }
};

const readJsonArgument = async (
  option: string,
  text: string,
  terminal: Terminal,
): Promise<Readonly<Record<string, Json>>> => {
  let content: unknown;
  try {
    content = JSON.parse(await readTextOrFile(text, terminal));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw presetError(`${option} is not JSON: ${error.message}`);
  }
  if (typeof content !== "object" || content === null || Array.isArray(content))
    throw presetError(`${option} must be a JSON object`);
  return content as Readonly<Record<string, Json>>;
};

const parseHeaders = (headerLines: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    headerLines.map((line) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw presetError(`--header "${line}" is not "Name: value"`);
      return [name.toLowerCase(), value.trimStart()];
    }),
  );

/** Returns the path below the prefix. Users may write the target with or without address and prefix. */
const removePrefix = (target: string, options: RelApiOptions): string => {
  const path = target.replace(/^https?:\/\/[^/?]*(?=[/?]|$)/, "") || "/";
  const prefix = getRestPrefixes(options).find(
    (candidate) =>
      candidate !== "" && (path === candidate || path.startsWith(`${candidate}/`) || path.startsWith(`${candidate}?`)),
  );
  const pathBelowPrefix = prefix === undefined ? path : path.slice(prefix.length);
  return pathBelowPrefix.startsWith("/") ? pathBelowPrefix : `/${pathBelowPrefix}`;
};

const METHODS = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"];

/** Reads the request. @throws RelApiError `preset` for options that exclude each other */
export const readRequest = async (
  claimsText: string,
  words: RequestOptions,
  options: RelApiOptions,
  terminal: Terminal,
): Promise<ExplainRequest> => {
  const headers = parseHeaders(words.header ?? []);
  const text = (await readTextOrFile(claimsText, terminal)).trim();
  // The command accepts "POST /films" as well as "/films" with --method.
  const [, first = "", target = text] = /^([A-Za-z]+)\s+((?:\/|https?:\/\/)\S*)$/s.exec(text) ?? [];
  if (/^(?:\/|https?:\/\/)/.test(target)) {
    if (words.variables !== undefined || words.operation !== undefined)
      throw presetError("--variables and --operation are for GraphQL documents; a REST request has --body");
    const body = words.body === undefined ? undefined : await readTextOrFile(words.body, terminal);
    const method = (words.method ?? (first || (body === undefined ? "GET" : "POST"))).toUpperCase();
    if (!METHODS.includes(method))
      throw presetError(`unknown method "${method}": expected one of ${METHODS.join(", ")}`);
    const typedHeaders =
      body === undefined || "content-type" in headers ? headers : { "content-type": "application/json", ...headers };
    return {
      kind: "rest",
      method,
      path: removePrefix(target, options),
      headers: typedHeaders,
      ...(body === undefined ? {} : { body }),
    };
  }
  if (words.method !== undefined || words.body !== undefined)
    throw presetError("--method and --body are for REST paths, which begin with /; a GraphQL document has --variables");
  return {
    kind: "graphql",
    query: text,
    headers,
    ...(words.variables === undefined
      ? {}
      : { variables: await readJsonArgument("--variables", words.variables, terminal) }),
    ...(words.operation === undefined ? {} : { operationName: words.operation }),
  };
};

/** Reads the caller, by default the administrator. @throws RelApiError `preset` @rule C-EXP-4 */
export const readCaller = async (
  { role, claims: givenClaims }: Pick<RequestOptions, "role" | "claims">,
  options: RelApiOptions,
  model: Model,
  terminal: Terminal,
): Promise<Caller> => {
  if (givenClaims === undefined)
    return role === undefined ? { role: "admin", isAdmin: true } : buildCaller(model, role);
  const claims = await readJsonArgument("--claims", givenClaims, terminal);
  const claimedCaller = readClaimedCaller(claims, resolveOptions(options, collectSettings(fullCompat(options))));
  const roleName = role ?? claimedCaller.role ?? options.anonRole;
  if (roleName === undefined) throw presetError("--claims contains no role: add one, or use --role");
  return { ...buildCaller(model, roleName), claims, variables: claimedCaller.buildVariables(roleName) };
};
