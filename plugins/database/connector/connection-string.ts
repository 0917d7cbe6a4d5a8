/** Converts libpq connection strings for pg: URLs or `host=… dbname=…`. */

/** Returns URLs to try in order. The next one is tried if the previous one may have failed because of encryption
 *  (`mayConcernEncryption`). @throws Error on a text that is neither form */
export const buildConnectionUrls = (
  text: string,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): readonly string[] => {
  const url = convertToUrl(text);
  const given = /[?&]sslmode=([^&]*)/.exec(url)?.[1];
  const setSslMode = (mode: string): string => {
    const bare = url.replace(/([?&])sslmode=[^&]*/, "$1");
    return `${bare}${bare.includes("?") ? "&" : "?"}sslmode=${mode}&uselibpqcompat=true`;
  };
  switch (given) {
    case undefined:
      // encryption is configured elsewhere, or the connection is a local socket
      if (/[?&]ssl[a-z]*=/.test(url) || environment["PGSSLMODE"] !== undefined || /[?&]host=(%2f|\/)/i.test(url))
        return [url];
      return [url, setSslMode("require")];
    case "allow":
      return [setSslMode("disable"), setSslMode("require")];
    case "prefer":
      return [setSslMode("require"), setSslMode("disable")];
    default:
      return [/[?&]uselibpqcompat=/.test(url) || given === "no-verify" ? url : `${url}&uselibpqcompat=true`];
  }
};

/** Returns whether an error may concern encryption. `code` is the SQLSTATE if the server itself refused. The text
 *  matters because servers use their own words to require encryption, or to say that they have none. */
export const mayConcernEncryption = (message: string, code: string | undefined): boolean =>
  code === "28000" || /\b(ssl|tls)\b|encrypt|insecure/i.test(message);

/** @throws Error on a text that is neither form */
export const convertToUrl = (text: string): string =>
  /^[a-z]+:\/\//i.test(text.trim()) ? text.trim() : convertKeywordsToUrl(text);

/** @throws Error on a string that is not a list of `name=value` */
const convertKeywordsToUrl = (text: string): string => {
  const parts = new Map<string, string>();
  // host=/tmp password='it\'s'
  const pair = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\[^])*)'|((?:[^\s'\\]|\\[^])*))/gy;
  let at = 0;
  for (let match = pair.exec(text); match !== null && match[0] !== ""; match = pair.exec(text)) {
    parts.set(match[1] as string, (match[2] ?? match[3] ?? "").replace(/\\(.)/g, "$1"));
    at = pair.lastIndex;
  }
  if (at < text.trimEnd().length || parts.size === 0)
    throw new Error("the connection string is neither a postgres:// URL nor a list of name=value");
  const takeParameter = (name: string): string => {
    const found = parts.get(name) ?? "";
    parts.delete(name);
    return encodeURIComponent(found);
  };
  const [user, password, database, hostAddress, host, port] = [
    "user",
    "password",
    "dbname",
    "hostaddr",
    "host",
    "port",
  ].map(takeParameter) as [string, string, string, string, string, string];
  const address = hostAddress || host;
  const hasSeveralHosts = address.includes("%2C");
  const credentials = user === "" && password === "" ? "" : `${user}${password === "" ? "" : `:${password}`}@`;
  const query = [...parts].map(([name, setting]) => `${name}=${encodeURIComponent(setting)}`);
  const isFolder = address.startsWith("%2F");
  const isHostInQuery = isFolder || hasSeveralHosts;
  if (isHostInQuery) query.unshift(`host=${address}`);
  if (isHostInQuery && port !== "") query.unshift(`port=${port}`);
  return `postgres://${credentials}${isHostInQuery ? "localhost" : address}${port === "" || isHostInQuery ? "" : `:${port}`}/${database}${query.length === 0 ? "" : `?${query.join("&")}`}`;
};
