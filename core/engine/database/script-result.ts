/** Statements that somebody has written, several in one text: how they run, and what they return. */

/** What one statement of a script returns. */
export interface ScriptResult {
  /** `SELECT`, `CREATE`. */
  readonly command: string;
  /** Empty: it returns no rows. */
  readonly columns: readonly string[];
  /** Values as PostgreSQL writes them. */
  readonly rows: readonly (readonly (string | null)[])[];
}

/** How a script runs. */
export interface ScriptOptions {
  readonly access: "read only" | "read write";
  /** Registers a listener for the client's disconnection, which cancels it. */
  readonly onGone?: (listener: () => void) => () => void;
}
