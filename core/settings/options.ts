/** The options of a preset: core's settings in camelCase, and those that plugins add to `ResolvedOptions`. */
import type { Duplex } from "node:stream";
import type { ValuesOf } from "./define-setting.ts";
import type { RequestLimits } from "../kernel/limits.ts";
import type { coreSettings } from "./settings.ts";

/** The lowest level of messages that are logged. */
export type LogLevel = NonNullable<ValuesOf<typeof coreSettings>["logLevel"]>;

/** The target of log lines. The second parameter holds log fields. */
export interface Logger {
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void;
  /** Writes a line of the access log (R-ADM-3) unchanged. */
  access(line: string, status: number): void;
  /** Writes a request as log fields (X-LOG-1). If undefined, requests are logged with `access`. */
  readonly request?: ((fields: Readonly<Record<string, unknown>>, status: number) => void) | undefined;
}

type LogFunction = (fields: object, message: string) => void;

/** A logger that takes fields before the message, like pino. */
export interface FieldsFirstLogger {
  readonly error: LogFunction;
  readonly warn: LogFunction;
  readonly info: LogFunction;
  readonly debug: LogFunction;
}

/** The logger of an application: pino, winston, `console`, or any object with these methods. pino takes the fields
 *  before the message, all others after it. @rule X-LOG-2 */
export interface AppLogger {
  error(message: string, fields?: Readonly<Record<string, unknown>>): unknown;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): unknown;
  info(message: string, fields?: Readonly<Record<string, unknown>>): unknown;
  debug(message: string, fields?: Readonly<Record<string, unknown>>): unknown;
}

/** A database that is connected through streams instead of a connection string (the embedded one). */
export interface DatabaseSource {
  readonly stream: () => Duplex;
  readonly ready?: Promise<void>;
  close?(): Promise<void>;
}

/** The options whose values no environment variable can hold. */
interface ObjectOptions {
  /** A database in place of `databaseUrl`, such as `embedded()` of `relapi/plugins/database`. `api.close()` closes it.
   *  Unset: `databaseUrl` is required, except in the standalone server. */
  readonly database?: DatabaseSource | undefined;
  /** The target of log lines: pino, winston, `console`, or any object with their methods. Unset: stderr, and stdout for
   *  requests. */
  readonly logger?: Logger | AppLogger | undefined;
  /** Returns the current connection string of an option. It is called for each connection, so passwords can rotate.
   *  `index` is the position if the option is a list. If it returns undefined, the option's own value is used. */
  readonly freshUrl?: ((option: string, index?: number) => string | undefined) | undefined;
  /** Values for SQL. The session parts of plugins give them the names of settings. */
  readonly appSettings?: Readonly<Record<string, string>> | undefined;
}

/** The current options with all defaults. Plugins extend this type. */
export interface ResolvedOptions extends ValuesOf<typeof coreSettings>, RequestLimits, ObjectOptions {
  readonly appSettings: Readonly<Record<string, string>>;
}

/** The options of a preset: the settings of docs/reference/settings.md in camelCase. */
export type RelApiOptions = { readonly [Name in keyof ResolvedOptions]?: ResolvedOptions[Name] | undefined };
