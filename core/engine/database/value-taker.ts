/** What is said between a connection, a long value that arrives on it, and whoever takes it. */

/** Who takes a value. */
export interface ValueTaker {
  /** False: the database waits until `resume` is called. The bytes stay as they are. */
  write(bytes: Buffer): boolean;
  /** It is complete. */
  end(): void;
  /** It never will be. */
  fail(): void;
}

/** What a connection looks out for during one batch. */
export interface LongValue {
  /** A shorter row is read as usual. */
  readonly aboveBytes: number;
  /** `statement`: index of the one in the batch whose row it is. Undefined: it is read as usual. */
  open(statement: number, bytes: number, reader: RowReader): LongRow | undefined;
}

/** The connection that a row arrives on. */
export interface RowReader {
  /** Hands messages to pg. */
  pass(bytes: Buffer): void;
  pause(): void;
  resume(): void;
  kill(error: Error): void;
}

/** A row that is arriving. */
export interface LongRow {
  /** Returns how many bytes of the chunk are its own. */
  take(chunk: Buffer, at: number): number;
  /** Set when it is over: bytes of its message that are still to be handed to pg. */
  readonly left: number | undefined;
  /** The connection has ended. */
  fail(): void;
}
