/** The interfaces between a connection and a plugin that reads a long row while it arrives. */

/** Reads the long rows of one batch while they arrive. */
export interface LongRows {
  /** The size above which `open` is called for a row. */
  readonly aboveBytes: number;
  /** Returns the row, or undefined if it is read as usual. `statement` is the index of its statement in the batch. */
  open(statement: number, bytes: number, reader: RowReader): LongRow | undefined;
}

/** The connection on which a row arrives. */
export interface RowReader {
  /** Passes messages to pg. */
  pass(bytes: Buffer): void;
  pause(): void;
  resume(): void;
  kill(error: Error): void;
}

/** A row that is arriving. */
export interface LongRow {
  /** Returns the number of bytes of the chunk that belong to the row. */
  take(chunk: Buffer, at: number): number;
  /** Defined at the end of the row: the bytes of its message that are still to be passed to pg. */
  readonly remainingBytes: number | undefined;
  /** Called if the connection has ended. */
  fail(): void;
}
