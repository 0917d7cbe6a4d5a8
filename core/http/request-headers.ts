/** Parts of a request's headers as they were sent. */
import type { IncomingMessage } from "node:http";

/** Node reads the bytes of headers as Latin-1; clients send UTF-8. */
export const utf8Text = (sent: string): string =>
  /[\u0080-\u00ff]/.test(sent) ? Buffer.from(sent, "latin1").toString("utf8") : sent;

/** Lower-case names; the first of a name counts. */
export function* firstHeaders(rawHeaders: readonly string[]): Iterable<readonly [name: string, value: string]> {
  const seen = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase(); // i is within its length
    if (seen.has(name)) continue;
    seen.add(name);
    yield [name, rawHeaders[i + 1] as string];
  }
}

/** From a `Cookie` header; quotes around a value are removed. */
function* cookiesOf(header: string | undefined): Iterable<readonly [name: string, value: string]> {
  for (const part of header?.split(";") ?? []) {
    const equals = part.indexOf("=");
    if (equals !== -1)
      yield [
        part.slice(0, equals).trim(),
        part
          .slice(equals + 1)
          .trim()
          .replace(/^"(.*)"$/, "$1"),
      ];
  }
}

/** The first of the name. */
export const cookieOf = (header: string | undefined, name: string): string | undefined => {
  for (const [sent, value] of cookiesOf(header)) if (sent === name) return value;
  return undefined;
};

const MAX_MEMBERS = 1000;
const MAX_MEMBER_LENGTH = 64;

// JSON has it as it is
const PLAIN = /^[ !#-[\]-~]*$/;

/** More headers are looked through by a map. */
const MAX_LOOKED_THROUGH = 40;

/** Headers as one JSON text, without the hidden ones. */
const createHeaderEncoder = (hidden: ReadonlySet<string>): ((rawHeaders: readonly string[]) => string) => {
  /** `"x-tenant":` by name: the same few names come with every request. */
  const members = new Map<string, string>();

  /** "": hidden. */
  const memberOf = (name: string): string => {
    let member = members.get(name);
    if (member === undefined) {
      const key = name.toLowerCase();
      member = hidden.has(key) ? "" : `${JSON.stringify(key)}:`;
      if (name.length <= MAX_MEMBER_LENGTH && members.size < MAX_MEMBERS) members.set(name, member);
    }
    return member;
  };

  const encodeRepeated = (rawHeaders: readonly string[]): string => {
    const headers = new Map<string, string>();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const member = memberOf(rawHeaders[i] as string); // i is within its length
      if (member !== "") headers.set(member, JSON.stringify(utf8Text(rawHeaders[i + 1] as string)));
    }
    return `{${Array.from(headers, ([member, value]) => member + value).join(",")}}`;
  };

  return (rawHeaders) => {
    const names: string[] = [];
    let text = "";
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const member = memberOf(rawHeaders[i] as string); // i is within its length
      if (member === "") continue;
      if (i > MAX_LOOKED_THROUGH * 2 || names.includes(member)) return encodeRepeated(rawHeaders);
      names.push(member);
      const value = rawHeaders[i + 1] as string;
      text += `${text === "" ? "" : ","}${member}${PLAIN.test(value) ? `"${value}"` : JSON.stringify(utf8Text(value))}`;
    }
    return `{${text}}`;
  };
};

const encodeCookies = (header: string): string => {
  const cookies = new Map<string, string>();
  for (const [name, value] of cookiesOf(header)) if (name !== "") cookies.set(utf8Text(name), utf8Text(value));
  return JSON.stringify(Object.fromEntries(cookies));
};

export type RequestSettings = (
  request: Pick<IncomingMessage, "method" | "headers" | "rawHeaders">,
  path: string,
) => readonly (readonly [name: string, value: string])[];

/** What SQL can read of a request: `current_setting('request.headers', true)::json ->> 'x-tenant'`. The last of a name
 *  counts. `secret`: headers that it never sees; cookies have a setting of their own. `path`: as SQL is to see it.
 *  @rule R-TX-6 G-SES-10 */
export const createRequestSettings = (secret: readonly string[]): RequestSettings => {
  const encodeHeaders = createHeaderEncoder(new Set(["cookie", ...secret]));
  return ({ method, headers, rawHeaders }, path) => [
    ["request.method", method ?? "GET"],
    ["request.path", path],
    ["request.headers", encodeHeaders(rawHeaders)],
    ["request.cookies", headers.cookie === undefined ? "{}" : encodeCookies(headers.cookie)],
  ];
};

/** `/db`: where an application has mounted the api; "": nowhere, or at its root. */
export const mountOf = (request: Pick<IncomingMessage, "url">): string => {
  const { originalUrl, baseUrl, url = "" } = request as MountedRequest; // set by Express and its like
  if (baseUrl !== undefined) return baseUrl;
  return originalUrl?.endsWith(url) === true ? originalUrl.slice(0, originalUrl.length - url.length) : "";
};

interface MountedRequest {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly url?: string;
}
