/** Many short texts as bytes, outside of the heap: to join so many strings takes ten times as long. */

const SLAB_BYTES = 512 * 1024;
const MAX_BYTES_PER_CHARACTER = 3;
export interface Slabs {
  write(text: string): Buffer;
}

export const createSlabs = (): Slabs => {
  let slab = Buffer.alloc(0);
  let at = 0;
  return {
    write: (text) => {
      const most = text.length * MAX_BYTES_PER_CHARACTER;
      if (at + most > slab.length) {
        slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, most));
        at = 0;
      }
      const from = at;
      at += slab.write(text, at);
      return slab.subarray(from, at);
    },
  };
};
