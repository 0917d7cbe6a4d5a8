/** Options of a preset: core's settings in camelCase, and those of plugins, which add theirs to `ResolvedOptions`. */
import type { Duplex } from "node:stream";
import type { ValuesOf } from "./define-setting.ts";
import type { Limits } from "./limits.ts";
import type { coreSettings } from "./settings.ts";

/** From which level on messages are logged. */
export type LogLevel = ValuesOf<typeof coreSettings>["logLevel"];

/** Where log lines go. The second argument holds structured fields. */
export interface Logger {
  error(message: string, facts?: Readonly<Record<string, unknown>>): void;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
  info(message: string, facts?: Readonly<Record<string, unknown>>): void;
  debug(message: string, facts?: Readonly<Record<string, unknown>>): void;
  /** The request log (R-ADM-3): one line, as it is. */
  access(line: string, status: number): void;
  /** The same as fields (X-LOG-1). Absent: requests are logged as lines. */
  readonly request?: ((fields: Readonly<Record<string, unknown>>, status: number) => void) | undefined;
}

type WithFields = (fields: object, message: string) => void;

/** A logger that takes fields before the message, as those of pino do. */
export interface FieldsFirstLogger {
  readonly error: WithFields;
  readonly warn: WithFields;
  readonly info: WithFields;
  readonly debug: WithFields;
}

/** A database that is reached through streams instead of a connection string (the embedded one). */
export interface DatabaseSource {
  readonly stream: () => Duplex;
  readonly ready?: Promise<void>;
  close?(): Promise<void>;
}

/** What no environment variable can hold. */
interface Objects {
  readonly database?: DatabaseSource | undefined;
  readonly logger?: Logger | undefined;
  /** The connection string as it is now, asked for with each connection, for passwords that rotate; `index`: of an option
   *  that is a list. Undefined: that of the option. */
  readonly freshUrl?: ((option: string, index?: number) => string | undefined) | undefined;
  /** `app.settings.<name>` in SQL. */
  readonly appSettings?: Readonly<Record<string, string>> | undefined;
  /** Settings of plugins that are no options of their own, by name. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

/** The current options, with every default filled in. Plugins add theirs. */
export interface ResolvedOptions extends ValuesOf<typeof coreSettings>, Limits, Objects {
  readonly appSettings: Readonly<Record<string, string>>;
}

/** Options of a preset: those of docs/reference/settings.md in camelCase. */
export type RelApiOptions = { readonly [Each in keyof ResolvedOptions]?: ResolvedOptions[Each] | undefined };
