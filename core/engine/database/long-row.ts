/** The interfaces between a connection, a long row that arrives on it, and the consumer of a value in the row. */

/** The consumer of a value. */
export interface ValueTaker {
  /** Returns false to pause the database until `resume` is called. The buffer is not reused, so it need not be copied. */
  write(bytes: Buffer): boolean;
  /** Called when the value is complete. */
  end(): void;
  /** Called if the value can never be completed. */
  fail(): void;
}

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
  readonly left: number | undefined;
  /** Called if the connection has ended. */
  fail(): void;
}
