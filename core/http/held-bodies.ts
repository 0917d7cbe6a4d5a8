/** Bodies of requests that are not answered yet: the process holds no more of them together than a limit, however many
 *  requests bring one. */

export interface HeldBodies {
  /** Of one request. */
  open(): HeldBody;
  /** Of all requests together. */
  readonly bytes: number;
}

export interface HeldBody {
  /** It has grown by so many bytes. False: there is no room for it. */
  grow(bytes: number): boolean;
  /** The request is answered. */
  release(): void;
}

/** A body up to this size is always taken, so that large ones cannot shut out the others. */
const SMALL_BYTES = 64 * 1024;

/** A body on its own is taken whatever `maxBytes` is. @rule R-BND-7 */
export const createHeldBodies = (maxBytes: number): HeldBodies => {
  let total = 0;
  return {
    open: () => {
      let own = 0;
      return {
        grow: (bytes) => {
          own += bytes;
          total += bytes;
          return own <= SMALL_BYTES || total <= maxBytes || total === own;
        },
        release: () => {
          total -= own;
          own = 0;
        },
      };
    },
    get bytes() {
      return total;
    },
  };
};
