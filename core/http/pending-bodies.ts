/** Limits the memory of the bodies of all unanswered requests. */

export interface PendingBodies {
  /** Registers a request. */
  open(): PendingBody;
  /** The bytes of all requests in total. */
  readonly bytes: number;
}

export interface PendingBody {
  /** Adds to the size of the body. Returns false if the body exceeds the limit. */
  reserveBytes(bytes: number): boolean;
  /** Frees the bytes once the request is answered. */
  release(): void;
}

/** A body up to this size is always accepted, so that large bodies cannot exclude small ones. */
const SMALL_BYTES = 64 * 1024;

/** Creates the limit. A single pending body is accepted even if it exceeds `maxBytes`. @rule R-BND-7 */
export const createPendingBodies = (maxBytes: number): PendingBodies => {
  let total = 0;
  return {
    open: () => {
      let bodyBytes = 0;
      return {
        reserveBytes: (bytes) => {
          bodyBytes += bytes;
          total += bytes;
          return bodyBytes <= SMALL_BYTES || total <= maxBytes || total === bodyBytes;
        },
        release: () => {
          total -= bodyBytes;
          bodyBytes = 0;
        },
      };
    },
    get bytes() {
      return total;
    },
  };
};
