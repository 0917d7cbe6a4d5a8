/** The types of scripts: several statements of an administrator in one text. */

/** The result of one statement of a script. */
export interface ScriptResult {
  /** `SELECT`, `CREATE`. */
  readonly command: string;
  /** Empty if the statement returns no rows. */
  readonly columns: readonly string[];
  /** The values in PostgreSQL's text format. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** The options of a script. */
export interface ScriptOptions {
  readonly access: "read only" | "read write";
  /** Registers a listener for the client's disconnection, which cancels the script. */
  readonly onDisconnect?: (listener: () => void) => () => void;
}
