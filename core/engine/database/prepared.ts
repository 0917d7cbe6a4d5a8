/** What is prepared on a connection. The server stores text, parse tree and plan of each statement, many times the size
 *  of its text. */

export class PreparedStatements {
  size = 0;
  /** Bytes of their SQL. */
  bytes = 0;
  /** Bytes of all SQL parsed on the connection, prepared or not. */
  parsedBytes = 0;
  private readonly sizes = new Map<string, number>();

  has(name: string): boolean {
    return this.sizes.has(name);
  }

  /** The text goes out, prepared or not. */
  parsed(text: string): void {
    this.parsedBytes += text.length;
  }

  /** It is used again, or for the first time. */
  use(name: string, text: string): void {
    const size = this.sizes.get(name) ?? Buffer.byteLength(text);
    this.delete(name);
    this.sizes.set(name, size); // as the youngest
    this.size++;
    this.bytes += size;
  }

  delete(name: string): void {
    const size = this.sizes.get(name);
    if (size === undefined) return;
    this.sizes.delete(name);
    this.size--;
    this.bytes -= size;
  }

  clear(): void {
    this.sizes.clear();
    this.size = this.bytes = 0;
  }

  /** The longest unused first. */
  names(): Iterable<string> {
    return this.sizes.keys();
  }
}

/** The server keeps the type of every row that it has ever put together, for as long as the connection lives: it is
 *  replaced when so many times the bytes that may be prepared have been read on it. @rule R-BND-6 */
export const PARSED_SHARE = 16;

export interface PreparedLimits {
  readonly maxCount: number;
  readonly maxBytes: number;
}

/** Which statements are worth preparing: those used before that leave room for others. Shared by all connections of an
 *  api. @rule R-BND-6 */
export interface Worth {
  isWorth(name: string, text: string): boolean;
}

const MAX_NAMES = 20_000;
/** Of all that may be prepared, for one text. */
const LARGEST_SHARE = 1 / 8;

export const createWorth = ({ maxBytes }: PreparedLimits): Worth => {
  const usedOnce = new Set<string>();
  return {
    isWorth: (name, text) => {
      if (text.length > maxBytes * LARGEST_SHARE) return false;
      if (usedOnce.has(name)) return true;
      if (usedOnce.size >= MAX_NAMES) usedOnce.clear();
      usedOnce.add(name);
      return false;
    },
  };
};
