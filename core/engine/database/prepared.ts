/** What is prepared on a connection. The server stores text, parse tree and plan of each statement, many times the size
 *  of its text. */

export interface PreparedStatements {
  readonly size: number;
  /** Bytes of their SQL. */
  readonly bytes: number;
  /** Bytes of all SQL parsed on the connection, prepared or not. */
  readonly parsedBytes: number;
  has(name: string): boolean;
  /** The text goes out, prepared or not. */
  parsed(text: string): void;
  /** It is used again, or for the first time. */
  use(name: string, text: string): void;
  delete(name: string): void;
  clear(): void;
  /** The longest unused first. */
  names(): Iterable<string>;
}

export const createPrepared = (): PreparedStatements => {
  const sizes = new Map<string, number>();
  let bytes = 0;
  let parsedBytes = 0;
  const drop = (name: string): number | undefined => {
    const size = sizes.get(name);
    if (size !== undefined) bytes -= size;
    sizes.delete(name);
    return size;
  };
  return {
    get size() {
      return sizes.size;
    },
    get bytes() {
      return bytes;
    },
    get parsedBytes() {
      return parsedBytes;
    },
    has: (name) => sizes.has(name),
    parsed: (text) => {
      parsedBytes += text.length;
    },
    use: (name, text) => {
      const size = drop(name) ?? Buffer.byteLength(text);
      bytes += size;
      sizes.set(name, size); // as the youngest
    },
    delete: (name) => void drop(name),
    clear: () => {
      sizes.clear();
      bytes = 0;
    },
    names: () => sizes.keys(),
  };
};

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
