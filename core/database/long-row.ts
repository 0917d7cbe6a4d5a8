/** Defines the interfaces between a connection and a plugin that reads a long row while it arrives. */

/** Reads the long rows of one batch while they arrive. @experimental */
export interface LongRows {
  /** The size above which `open` is called for a row. */
  readonly aboveBytes: number;
  /** Returns the long row, or undefined if pg should read the row as usual. `statement` is the index of the row's
   *  statement in the batch. */
  open(statement: number, bytes: number, reader: RowReader): LongRow | undefined;
}

/** The connection on which a row arrives. @experimental */
export interface RowReader {
  /** Passes messages to pg. */
  forwardToPg(bytes: Buffer): void;
  pause(): void;
  resume(): void;
  kill(error: Error): void;
}

/** A row that is arriving. @experimental */
export interface LongRow {
  /** Reads the chunk from the position `at`. Returns the number of bytes of the chunk that belong to the row. */
  readChunk(chunk: Buffer, at: number): number;
  /** The number of bytes of the row's message that pg still has to read. Undefined before the end of the row. */
  readonly remainingBytes: number | undefined;
  /** Called if the connection has ended. */
  fail(): void;
}
