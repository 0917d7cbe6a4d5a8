/** Reads the servers of a connection string as libpq does: several hosts, the required kind of session, and values from
 *  the environment and from files. */
import { userInfo } from "node:os";
import {
  addEncryption,
  buildUrl,
  isUrl,
  parseConnectionString,
  type HostAddress,
  type UrlParts,
} from "./connection-string.ts";
import { findPasswordInFile, readService, type Environment } from "./libpq-files.ts";
import { formatCount } from "../../shared/plural.ts";

const SESSION_KINDS = ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"] as const;

/** The required kind of session (`target_session_attrs`). */
export type SessionKind = (typeof SESSION_KINDS)[number];

interface Hosts {
  /** The URLs of each host, in order. The URLs of one host differ in encryption. */
  readonly urls: readonly (readonly string[])[];
  readonly sessionKind: SessionKind;
  /** True if each connection tries the hosts in random order. */
  readonly isShuffled: boolean;
  /** The timeout for reaching one of the hosts. */
  readonly connectMs: number | undefined;
}

const SECOND_MS = 1000;
/** The shortest timeout in libpq, which is also the default for each of several hosts. */
const MIN_CONNECT_MS = 2 * SECOND_MS;

/** The variables of parameters. pg itself reads `PGOPTIONS`, `PGAPPNAME`, and the variables of user, password and
 *  database. */
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

type ParameterReader = (name: string) => string | undefined;

/** Reads the lists of hosts and ports: one port per host, one port for all hosts, or no port. `getOwn` reads the
 *  connection string only. @throws Error */
const parseAddresses = ({ hosts }: UrlParts, getOwn: ParameterReader, get: ParameterReader): readonly HostAddress[] => {
  const ports = get("port")?.split(",") ?? [];
  const hostList =
    getOwn("hostaddr") ?? getOwn("host") ?? (hosts === "" ? (get("hostaddr") ?? get("host")) : undefined);
  const urlAddresses = hosts.split(",").map((hostText): HostAddress => {
    const [, address, name = "", port = ""] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d*))?$/.exec(hostText) ?? [
      undefined,
      undefined,
      hostText,
    ];
    return { host: address ?? decodeURIComponent(name), port };
  });
  const hostAddresses = hostList?.split(",").map((host): HostAddress => ({ host, port: "" })) ?? urlAddresses;
  if (ports.length > 1 && ports.length !== hostAddresses.length)
    throw new Error(
      `the connection string has ${formatCount(hostAddresses.length, "host")} and ${formatCount(ports.length, "port")}`,
    );
  return hostAddresses.map(({ host, port }, i) => ({ host, port: port === "" ? (ports[i] ?? ports[0] ?? "") : port }));
};

/** Reads the hosts of a connection string. @throws Error on a string that is neither a URL nor a list of `name=value`,
 *  or that contradicts itself @rule R-HST-1 R-HST-2 R-HST-3 */
export const parseHosts = (text: string, environment: Environment = process.env): Hosts => {
  const urlParts = parseConnectionString(text);
  const readParameter: ParameterReader = (name) => urlParts.query.find(([key]) => key === name)?.[1] || undefined;
  const service = readParameter("service") ?? environment["PGSERVICE"] ?? "";
  const serviceParameters = service === "" ? undefined : readService(service, environment);
  const findValue: ParameterReader = (name) =>
    readParameter(name) ??
    serviceParameters?.get(name) ??
    (environment[ENVIRONMENT_VARIABLES[name] ?? ""] || undefined);
  const sessionKind = SESSION_KINDS.find((kind) => kind === (findValue("target_session_attrs") ?? "any"));
  if (sessionKind === undefined)
    throw new Error(
      `target_session_attrs is "${findValue("target_session_attrs")}": expected one of ${SESSION_KINDS.join(", ")}`,
    );
  const balancing = findValue("load_balance_hosts") ?? "disable";
  if (balancing !== "disable" && balancing !== "random")
    throw new Error(`load_balance_hosts is "${balancing}": expected disable or random`);
  const addresses = parseAddresses(urlParts, readParameter, findValue);
  const addedParameters = collectAddedParameters(urlParts, serviceParameters, environment);
  const parts: UrlParts = {
    ...urlParts,
    ...readCredentials(urlParts, serviceParameters, findValue),
    query: [...urlParts.query, ...addedParameters].filter(([name]) => !(name in ENVIRONMENT_VARIABLES)),
  };
  const isCompleteUrl =
    isUrl(text) &&
    addresses.length === 1 &&
    serviceParameters === undefined &&
    addedParameters.length === 0 &&
    (["user", "password", "database"] as const).every((name) => urlParts[name] === parts[name]) &&
    namesHost(urlParts, addresses[0]);
  const seconds = Number(findValue("connect_timeout") ?? 0);
  return {
    urls: addresses.map((address) => {
      const completeParts = {
        ...parts,
        password: parts.password || findPassword(parts, address, findValue, environment),
      };
      const keepsText = isCompleteUrl && completeParts.password === parts.password;
      return addEncryption(keepsText ? text.trim() : buildUrl(completeParts, address));
    }),
    sessionKind,
    isShuffled: balancing === "random",
    connectMs:
      seconds > 0 ? Math.max(seconds * SECOND_MS, MIN_CONNECT_MS) : addresses.length > 1 ? MIN_CONNECT_MS : undefined,
  };
};

/** Returns the parameters that the string does not set: other parameters of the service, and the encryption parameters
 *  of the environment. A socket needs no encryption. */
const collectAddedParameters = (
  parts: UrlParts,
  serviceParameters: ReadonlyMap<string, string> | undefined,
  environment: Environment,
): UrlParts["query"] => {
  const ignoresEnvironment = parts.query.some(
    ([name, value]) => name === "ssl" || (name === "host" && value.startsWith("/")),
  );
  const environmentParameters = Object.entries(ENCRYPTION_VARIABLES).flatMap(([name, variable]): [string, string][] => {
    const value = environment[variable] ?? "";
    return value === "" || ignoresEnvironment || serviceParameters?.has(name) === true ? [] : [[name, value]];
  });
  return [...(serviceParameters ?? []), ...environmentParameters].filter(
    ([name]) => !(name in ENVIRONMENT_VARIABLES) && !parts.query.some(([key]) => key === name),
  );
};

const readCredentials = (
  parts: UrlParts,
  serviceParameters: ReadonlyMap<string, string> | undefined,
  get: ParameterReader,
): Pick<UrlParts, "user" | "password" | "database"> => {
  // The package pg itself reads the credentials of the environment.
  const encodeUrlParameter = (name: string): string =>
    serviceParameters?.has(name) === true || parts.query.some(([key]) => key === name)
      ? encodeURIComponent(get(name) ?? "")
      : "";
  return {
    user: parts.user || encodeUrlParameter("user"),
    password: parts.password || encodeUrlParameter("password"),
    database: parts.database || encodeUrlParameter("dbname"),
  };
};

const findPassword = (
  { user, database }: UrlParts,
  { host, port }: HostAddress,
  get: ParameterReader,
  environment: Environment,
): string => {
  if (get("password") !== undefined) return "";
  const name = decodeURIComponent(user) || get("user") || environment["USER"] || userInfo().username;
  const password = findPasswordInFile(
    {
      host: host || "localhost",
      port: port || "5432",
      database: decodeURIComponent(database) || get("dbname") || name,
      user: name,
    },
    get("passfile"),
    environment,
  );
  return password === undefined ? "" : encodeURIComponent(password);
};

/** Returns whether the URL itself names the host in a form that pg reads. */
const namesHost = (parts: UrlParts, address: HostAddress | undefined): boolean =>
  !parts.query.some(([name]) => name === "hostaddr") &&
  (parts.hosts !== "" || parts.query.some(([name]) => name === "host") || address?.host === "");
