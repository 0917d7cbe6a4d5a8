/** Makes requests and claims readable for SQL: `current_setting('request.headers', true)::json ->> 'x-tenant'`. */
import {
  parseCookies,
  definePlugin,
  hasNulEscape,
  nulCharacterInvalid,
  decodeUtf8Header,
  type RequestSettings,
  type Session,
} from "../../core/index.ts";

const encodeCookies = (header: string): string => {
  const cookies = new Map<string, string>();
  for (const [name, value] of parseCookies(header))
    if (name !== "") cookies.set(decodeUtf8Header(name), decodeUtf8Header(value));
  return JSON.stringify(Object.fromEntries(cookies));
};

/** Encodes the headers as JSON. If a header is repeated, its last value counts. */
const encodeHeaders = (rawHeaders: readonly string[], hiddenHeaders: ReadonlySet<string>): string => {
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const [name, value] = rawHeaders.slice(i, i + 2) as [string, string]; // both are within its length
    if (!hiddenHeaders.has(name.toLowerCase())) headers.set(name.toLowerCase(), decodeUtf8Header(value));
  }
  return JSON.stringify(Object.fromEntries(headers));
};

/** Returns the settings of a request. The setting `request.headers` omits cookies, which have their own setting. */
const createRequestSettings = (secret: readonly string[]): RequestSettings => {
  const hiddenHeaders = new Set(["cookie", ...secret]);
  return ({ method, headers, rawHeaders }, path) => [
    ["request.method", method ?? "GET"],
    ["request.path", path],
    ["request.headers", encodeHeaders(rawHeaders, hiddenHeaders)],
    ["request.cookies", headers.cookie === undefined ? "{}" : encodeCookies(headers.cookie)],
  ];
};

/** Encodes the claims as JSON for row policies. PostgreSQL accepts no NUL in them. @throws RelApiError `22021` */
const encodeClaims = ({ claims, claimsText, role }: Session): string => {
  const text = claimsText ?? JSON.stringify({ ...claims, role });
  if (hasNulEscape(text)) throw nulCharacterInvalid();
  return text;
};

/** Makes requests and claims readable for SQL. @rule R-TX-1 R-TX-6 G-SES-3 G-SES-10 */
export const requestSettings = definePlugin({
  name: "request-settings",
  sessions: [
    {
      name: "request-settings",
      isForUserCode: true,
      settings: (session) => [["request.jwt.claims", encodeClaims(session)]],
      createRequestSettings,
      optionSettings: ({ appSettings }) =>
        Object.entries(appSettings).map(([name, value]) => [`app.settings.${name}`, value]),
    },
  ],
});
