/** Reads the files of libpq: passwords (`.pgpass`) and services (`pg_service.conf`). The files are read for each new
 *  connection, so that changed passwords take effect immediately. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the text, or undefined if the file does not exist. */
const readTextFile = (file: string): string | undefined => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
};

const findHomeFile = (environment: Environment, name: string): string | undefined => {
  const home = environment["HOME"] ?? "";
  return home === "" ? undefined : join(home, name);
};

interface PasswordKey {
  /** A name, an address, or the directory of a socket. */
  readonly host: string;
  readonly port: string;
  readonly database: string;
  readonly user: string;
}

const GROUP_OR_WORLD = 0o077;

/** Finds a password. `file` is the file that the connection string names. Like libpq, the function ignores a file that
 *  other users may read. @rule R-HST-4 */
export const findPasswordInFile = (
  { host, port, database, user }: PasswordKey,
  file: string | undefined,
  environment: Environment,
): string | undefined => {
  const path = file ?? environment["PGPASSFILE"] ?? findHomeFile(environment, ".pgpass");
  const text = path === undefined ? undefined : readTextFile(path);
  if (path === undefined || text === undefined) return undefined;
  if (process.platform !== "win32" && (statSync(path).mode & GROUP_OR_WORLD) !== 0) return undefined;
  const hosts = host.startsWith("/") ? [host, "localhost"] : [host];
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#")) continue;
    // `db.example:5432:*:api:it\:s`
    const fields = line.match(/(?:\\.|[^:\\])*(?::|$)/gy)?.map((field) => field.replace(/:$/, "")) ?? [];
    const [hostField = "", portField = "", databaseField = "", userField = ""] = fields.map(removeEscapes);
    const matchesField = (field: string, ...values: readonly string[]): boolean =>
      field === "*" || values.includes(field);
    if (
      matchesField(hostField, ...hosts) &&
      matchesField(portField, port) &&
      matchesField(databaseField, database) &&
      matchesField(userField, user)
    )
      return fields[4] === undefined ? undefined : removeEscapes(fields[4]);
  }
  return undefined;
};

const removeEscapes = (field: string): string => field.replace(/\\(.)/g, "$1");

/** Returns the parameters of a service. @throws Error if no file contains it */
export const readService = (name: string, environment: Environment): ReadonlyMap<string, string> => {
  const systemFolder = environment["PGSYSCONFDIR"];
  const files = [
    environment["PGSERVICEFILE"] ?? findHomeFile(environment, ".pg_service.conf"),
    systemFolder === undefined ? undefined : join(systemFolder, "pg_service.conf"),
  ];
  for (const file of files) {
    const lines = file === undefined ? [] : (readTextFile(file) ?? "").split(/\r?\n/).map((line) => line.trim());
    const from = lines.indexOf(`[${name}]`);
    if (from === -1) continue;
    const serviceValues = new Map<string, string>();
    for (const line of lines.slice(from + 1)) {
      if (line.startsWith("[")) break;
      const at = line.indexOf("=");
      if (at > 0 && !line.startsWith("#")) serviceValues.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
    }
    return serviceValues;
  }
  throw new Error(`no service file has the service "${name}": check service, PGSERVICE and PGSERVICEFILE`);
};
