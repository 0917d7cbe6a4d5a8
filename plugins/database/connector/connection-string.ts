/** Reads connection strings of libpq (URLs or `host=… dbname=…`), and writes URLs for pg. */

/** The parts of a connection string. All parts except the query are encoded as in a URL. */
export interface UrlParts {
  readonly scheme: string;
  readonly user: string;
  readonly password: string;
  /** The hosts and ports: `one:5432,two`. */
  readonly hosts: string;
  readonly database: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

export interface HostAddress {
  readonly host: string;
  readonly port: string;
}

export const isUrl = (text: string): boolean => /^\s*[a-z]+:\/\//i.test(text);

/** Reads a URL or a list of `name=value`. @throws Error on any other text */
export const parseConnectionString = (text: string): UrlParts =>
  isUrl(text) ? parseUrl(text.trim()) : parseKeywords(text);

const parseUrl = (url: string): UrlParts => {
  // `postgres://api:secret@one:5432,two/shop?sslmode=require`
  const match = /^([a-z]+:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?/i.exec(url) ?? [];
  const [, scheme = "", userinfo = "", hosts = "", database = "", query = ""] = match;
  const colon = userinfo.indexOf(":");
  return {
    scheme,
    user: colon === -1 ? userinfo : userinfo.slice(0, colon),
    password: colon === -1 ? "" : userinfo.slice(colon + 1),
    hosts,
    database,
    query: query.split("&").flatMap((pair): [string, string][] => {
      const at = pair.indexOf("=");
      return at < 1 ? [] : [[pair.slice(0, at), decodeURIComponent(pair.slice(at + 1).replaceAll("+", " "))]];
    }),
  };
};

/** Reads a list of `name=value`. @throws Error on any other text */
const parseKeywords = (text: string): UrlParts => {
  const parameters = new Map<string, string>();
  // `host=/tmp password='it\'s'`
  const pair = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\[^])*)'|((?:[^\s'\\]|\\[^])*))/gy;
  let position = 0;
  for (let match = pair.exec(text); match !== null && match[0] !== ""; match = pair.exec(text)) {
    parameters.set(match[1] as string, (match[2] ?? match[3] ?? "").replace(/\\(.)/g, "$1"));
    position = pair.lastIndex;
  }
  if (position < text.trimEnd().length || parameters.size === 0)
    throw new Error("the connection string is neither a postgres:// URL nor a list of name=value");
  return { scheme: "postgres://", user: "", password: "", hosts: "", database: "", query: [...parameters] };
};

/** Writes a URL for pg, which accepts an IPv6 address in brackets, and the directory of a socket in the query. */
export const buildUrl = (
  { scheme, user, password, database, query }: UrlParts,
  { host, port }: HostAddress,
): string => {
  const isFolder = host.startsWith("/");
  const params = [...(isFolder ? [["host", host], ...(port === "" ? [] : [["port", port]])] : []), ...query];
  const credentials = user === "" && password === "" ? "" : `${user}${password === "" ? "" : `:${password}`}@`;
  const urlHost = isFolder || host === "" ? "localhost" : host.includes(":") ? `[${host}]` : encodeURIComponent(host);
  const text = params.map(([name, value]) => `${name}=${encodeURIComponent(value ?? "")}`).join("&");
  return `${scheme}${credentials}${urlHost}${isFolder || port === "" ? "" : `:${port}`}/${database}${text === "" ? "" : `?${text}`}`;
};

/** Returns URLs to try in order. The next one is tried if the previous one may have failed because of encryption
 *  (`mayConcernEncryption`). */
export const addEncryption = (url: string): readonly string[] => {
  const sslMode = /[?&]sslmode=([^&]*)/.exec(url)?.[1];
  const setSslMode = (mode: string): string => {
    const bare = url.replace(/([?&])sslmode=[^&]*/, "$1");
    return `${bare}${bare.includes("?") ? "&" : "?"}sslmode=${mode}&uselibpqcompat=true`;
  };
  switch (sslMode) {
    case undefined:
      // Other parameters configure encryption, or the connection is a local socket.
      if (/[?&]ssl[a-z]*=/.test(url) || /[?&]host=(%2f|\/)/i.test(url)) return [url];
      return [url, setSslMode("require")];
    case "allow":
      return [setSslMode("disable"), setSslMode("require")];
    case "prefer":
      return [setSslMode("require"), setSslMode("disable")];
    default:
      return [/[?&]uselibpqcompat=/.test(url) || sslMode === "no-verify" ? url : `${url}&uselibpqcompat=true`];
  }
};

/** Returns whether an error may concern encryption. `code` is the SQLSTATE if the server itself rejected. The text
 *  matters because servers use their own words to require encryption, or to say that they have none. */
export const mayConcernEncryption = (message: string, code: string | undefined): boolean =>
  code === "28000" || /\b(ssl|tls)\b|encrypt|insecure/i.test(message);
