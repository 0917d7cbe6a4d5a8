/** Reads the servers of a connection string like libpq: several hosts, the required kind of session, and the values
 *  from the environment and files. */
import { userInfo } from "node:os";
import { buildConnectionUrls, convertToUrl } from "./connection-string.ts";
import { findPasswordInFile, readService, type Environment } from "./libpq-files.ts";

const SESSION_KINDS = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;

/** The required kind of session (`target_session_attrs`). */
export type SessionKind = (typeof SESSION_KINDS)[number];

export interface Hosts {
  /** The URLs of each host, in order. URLs of one host differ in encryption. */
  readonly urls: readonly (readonly string[])[];
  readonly sessionKind: SessionKind;
  /** Each connection tries the hosts in random order. */
  readonly isShuffled: boolean;
  /** The timeout for reaching one of the hosts. */
  readonly connectMs: number | undefined;
}

const SECOND_MS = 1000;
/** The minimum in libpq. It is also the default for each of several hosts. */
const MIN_CONNECT_MS = 2 * SECOND_MS;

/** The driver itself reads the variables of user, password, database, `PGOPTIONS` and `PGAPPNAME`. */
const ENVIRONMENT_VARIABLES: Readonly<Record<string, string>> = {
  service: "PGSERVICE",
  host: "PGHOST",
  hostaddr: "PGHOSTADDR",
  port: "PGPORT",
  target_session_attrs: "PGTARGETSESSIONATTRS",
  load_balance_hosts: "PGLOADBALANCEHOSTS",
  connect_timeout: "PGCONNECT_TIMEOUT",
  user: "PGUSER",
  password: "PGPASSWORD",
  dbname: "PGDATABASE",
};

const ENCRYPTION_VARIABLES: Readonly<Record<string, string>> = {
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
};

/** The parts of a URL, still encoded. */
interface UrlParts {
  readonly scheme: string;
  readonly user: string;
  readonly password: string;
  /** The hosts and ports: `one:5432,two`. */
  readonly hosts: string;
  readonly database: string;
  readonly query: readonly (readonly [name: string, value: string])[];
}

interface HostAddress {
  readonly host: string;
  readonly port: string;
}

const parseUrl = (url: string): UrlParts => {
  // postgres://api:secret@one:5432,two/shop?sslmode=require
  const found = /^([a-z]+:\/\/)(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?/i.exec(url) ?? [];
  const [, scheme = "", userinfo = "", places = "", database = "", query = ""] = found;
  const colon = userinfo.indexOf(":");
  return {
    scheme,
    user: colon === -1 ? userinfo : userinfo.slice(0, colon),
    password: colon === -1 ? "" : userinfo.slice(colon + 1),
    hosts: places,
    database,
    query: query.split("&").flatMap((pair): [string, string][] => {
      const at = pair.indexOf("=");
      return at < 1 ? [] : [[pair.slice(0, at), decodeURIComponent(pair.slice(at + 1).replaceAll("+", " "))]];
    }),
  };
};

/** Writes a URL for pg, which accepts an IPv6 address in brackets, and the directory of a socket in the query. */
const buildUrl = ({ scheme, user, password, database, query }: UrlParts, { host, port }: HostAddress): string => {
  const isFolder = host.startsWith("/");
  const others = query.filter(([name]) => !(name in ENVIRONMENT_VARIABLES));
  const params = [...(isFolder ? [["host", host], ...(port === "" ? [] : [["port", port]])] : []), ...others];
  const credentials = user === "" && password === "" ? "" : `${user}${password === "" ? "" : `:${password}`}@`;
  const place = isFolder || host === "" ? "localhost" : host.includes(":") ? `[${host}]` : encodeURIComponent(host);
  const text = params.map(([name, value]) => `${name}=${encodeURIComponent(value ?? "")}`).join("&");
  return `${scheme}${credentials}${place}${isFolder || port === "" ? "" : `:${port}`}/${database}${text === "" ? "" : `?${text}`}`;
};

/** Reads the lists of hosts and ports: one port per host, one port for all of them, or none. @throws Error */
const parseAddresses = (parts: UrlParts, get: (name: string) => string | undefined): readonly HostAddress[] => {
  const ports = get("port")?.split(",") ?? [];
  const named = get("hostaddr") ?? get("host");
  const ofUrl = parts.hosts.split(",").map((place): HostAddress => {
    const [, address, name = "", port = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(place) ?? [
      undefined,
      undefined,
      place,
    ];
    return { host: address ?? decodeURIComponent(name), port };
  });
  const isOfUrl = parts.hosts !== "" && !parts.query.some(([name]) => name === "host" || name === "hostaddr");
  const found =
    isOfUrl || named === undefined ? ofUrl : named.split(",").map((host): HostAddress => ({ host, port: "" }));
  if (ports.length > 1 && ports.length !== found.length)
    throw new Error(`the connection string has ${found.length} hosts and ${ports.length} ports`);
  return found.map(({ host, port }, i) => ({ host, port: port === "" ? (ports[i] ?? ports[0] ?? "") : port }));
};

/** @throws Error on a string that is neither a URL nor a list of `name=value`, or that contradicts itself @rule R-HST-1
 *  R-HST-2 R-HST-3 */
export const parseHosts = (text: string, environment: Environment = process.env): Hosts => {
  const url = convertToUrl(text);
  const given = parseUrl(url);
  const readParameter = (name: string): string | undefined =>
    given.query.find(([own]) => own === name)?.[1] || undefined;
  const service = readParameter("service") ?? environment["PGSERVICE"] ?? "";
  const serviceParameters = service === "" ? undefined : readService(service, environment);
  const findValue = (name: string): string | undefined =>
    readParameter(name) ??
    serviceParameters?.get(name) ??
    (environment[ENVIRONMENT_VARIABLES[name] ?? ""] || undefined);
  const wanted = SESSION_KINDS.find((one) => one === (findValue("target_session_attrs") ?? "any"));
  if (wanted === undefined)
    throw new Error(
      `target_session_attrs is "${findValue("target_session_attrs")}": expected one of ${SESSION_KINDS.join(", ")}`,
    );
  const balance = findValue("load_balance_hosts") ?? "disable";
  if (balance !== "disable" && balance !== "random")
    throw new Error(`load_balance_hosts is "${balance}": expected disable or random`);
  const addresses = parseAddresses(given, findValue);
  const added = collectAddedParameters(given, serviceParameters, environment);
  const parts: UrlParts = {
    ...given,
    ...readCredentials(given, serviceParameters, findValue),
    query: [...given.query, ...added],
  };
  const isPlain =
    addresses.length === 1 &&
    serviceParameters === undefined &&
    isSameUrl(given, parts) &&
    namesHost(given, addresses[0]);
  const seconds = Number(findValue("connect_timeout") ?? 0);
  return {
    urls: addresses.map((place) => {
      const whole = { ...parts, password: parts.password || findPassword(parts, place, findValue, environment) };
      const isGiven = isPlain && whole.password === parts.password;
      return buildConnectionUrls(isGiven ? url : buildUrl(whole, place), environment);
    }),
    sessionKind: wanted,
    isShuffled: balance === "random",
    connectMs:
      seconds > 0 ? Math.max(seconds * SECOND_MS, MIN_CONNECT_MS) : addresses.length > 1 ? MIN_CONNECT_MS : undefined,
  };
};

/** Returns the other values of the service, and those of the environment for encryption, which the string does not set.
 *  A socket needs no encryption. */
const collectAddedParameters = (
  given: UrlParts,
  ofService: ReadonlyMap<string, string> | undefined,
  environment: Environment,
): UrlParts["query"] => {
  const isBare = given.query.some(([name, value]) => name === "ssl" || (name === "host" && value.startsWith("/")));
  const ofEnvironment = Object.entries(ENCRYPTION_VARIABLES).flatMap(([name, variable]): [string, string][] => {
    const value = environment[variable] ?? "";
    return value === "" || isBare || ofService?.has(name) === true ? [] : [[name, value]];
  });
  return [...(ofService ?? []), ...ofEnvironment].filter(
    ([name]) => !(name in ENVIRONMENT_VARIABLES) && !given.query.some(([own]) => own === name),
  );
};

const readCredentials = (
  given: UrlParts,
  ofService: ReadonlyMap<string, string> | undefined,
  get: (name: string) => string | undefined,
): Pick<UrlParts, "user" | "password" | "database"> => {
  // pg itself reads those of the environment
  const encodeValue = (name: string): string =>
    ofService?.has(name) === true || given.query.some(([own]) => own === name)
      ? encodeURIComponent(get(name) ?? "")
      : "";
  return {
    user: given.user || encodeValue("user"),
    password: given.password || encodeValue("password"),
    database: given.database || encodeValue("dbname"),
  };
};

const findPassword = (
  { user, database }: UrlParts,
  { host, port }: HostAddress,
  get: (name: string) => string | undefined,
  environment: Environment,
): string => {
  if (get("password") !== undefined) return "";
  const name = decodeURIComponent(user) || get("user") || environment["USER"] || userInfo().username;
  const found = findPasswordInFile(
    {
      host: host || "localhost",
      port: port || "5432",
      database: decodeURIComponent(database) || get("dbname") || name,
      user: name,
    },
    get("passfile"),
    environment,
  );
  return found === undefined ? "" : encodeURIComponent(found);
};

const isSameUrl = (a: UrlParts, b: UrlParts): boolean =>
  a.user === b.user && a.password === b.password && a.database === b.database && a.query.length === b.query.length;

/** Returns whether the URL itself names the host in a form that pg reads. */
const namesHost = (given: UrlParts, place: HostAddress | undefined): boolean =>
  !given.query.some(([name]) => name === "hostaddr") &&
  (given.hosts !== "" || given.query.some(([name]) => name === "host") || place?.host === "");
