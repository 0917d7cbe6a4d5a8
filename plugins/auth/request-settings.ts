/** Makes requests and claims readable for SQL: `current_setting('request.headers', true)::json ->> 'x-tenant'`. */
import {
  parseCookies,
  definePlugin,
  hasNulEscape,
  nulCharacter,
  decodeUtf8Header,
  type RequestSettings,
  type Session,
} from "../../core/index.ts";

const MAX_CACHED_NAMES = 1000;
const MAX_CACHED_NAME_LENGTH = 64;

// matches texts that JSON leaves unescaped
const PLAIN_HEADER_TEXT = /^[ !#-[\]-~]*$/;

/** With more headers than this, duplicates are found with a Map. */
const MAX_SCANNED_HEADERS = 40;

/** Encodes headers as one JSON text, without the hidden ones. */
const createHeaderEncoder = (hidden: ReadonlySet<string>): ((rawHeaders: readonly string[]) => string) => {
  /** `"x-tenant":` by name. It is cached because the same few names occur in every request. */
  const members = new Map<string, string>();

  /** Returns the empty string for hidden headers. */
  const encodeName = (name: string): string => {
    let member = members.get(name);
    if (member === undefined) {
      const key = name.toLowerCase();
      member = hidden.has(key) ? "" : `${JSON.stringify(key)}:`;
      if (name.length <= MAX_CACHED_NAME_LENGTH && members.size < MAX_CACHED_NAMES) members.set(name, member);
    }
    return member;
  };

  const encodeRepeated = (rawHeaders: readonly string[]): string => {
    const headers = new Map<string, string>();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const member = encodeName(rawHeaders[i] as string); // i is within its length
      if (member !== "") headers.set(member, JSON.stringify(decodeUtf8Header(rawHeaders[i + 1] as string)));
    }
    return `{${Array.from(headers, ([member, value]) => member + value).join(",")}}`;
  };

  return (rawHeaders) => {
    const names: string[] = [];
    let text = "";
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const member = encodeName(rawHeaders[i] as string); // i is within its length
      if (member === "") continue;
      if (i > MAX_SCANNED_HEADERS * 2 || names.includes(member)) return encodeRepeated(rawHeaders);
      names.push(member);
      const value = rawHeaders[i + 1] as string;
      text += `${text === "" ? "" : ","}${member}${PLAIN_HEADER_TEXT.test(value) ? `"${value}"` : JSON.stringify(decodeUtf8Header(value))}`;
    }
    return `{${text}}`;
  };
};

const encodeCookies = (header: string): string => {
  const cookies = new Map<string, string>();
  for (const [name, value] of parseCookies(header))
    if (name !== "") cookies.set(decodeUtf8Header(name), decodeUtf8Header(value));
  return JSON.stringify(Object.fromEntries(cookies));
};

/** The last of repeated headers counts, and cookies have their own setting. */
const createRequestSettings = (secret: readonly string[]): RequestSettings => {
  const encodeHeaders = createHeaderEncoder(new Set(["cookie", ...secret]));
  return ({ method, headers, rawHeaders }, path) => [
    ["request.method", method ?? "GET"],
    ["request.path", path],
    ["request.headers", encodeHeaders(rawHeaders)],
    ["request.cookies", headers.cookie === undefined ? "{}" : encodeCookies(headers.cookie)],
  ];
};

/** @throws RelApiError `22021`, because row policies read the claims as JSON */
const encodeClaims = ({ claims, claimsText, role }: Session): string => {
  const text = claimsText ?? JSON.stringify({ ...claims, role });
  if (hasNulEscape(text)) throw nulCharacter();
  return text;
};

/** @rule R-TX-1 R-TX-6 G-SES-3 G-SES-10 */
export const requestSettings = definePlugin({
  name: "request-settings",
  sessions: [
    {
      name: "request-settings",
      isForUserCode: true,
      settings: (session) => [["request.jwt.claims", encodeClaims(session)]],
      createRequestSettings: createRequestSettings,
      optionSettings: ({ appSettings }) =>
        Object.entries(appSettings).map(([name, value]) => [`app.settings.${name}`, value]),
    },
  ],
});
