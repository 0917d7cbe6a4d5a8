/** Many short texts as bytes, outside of the heap: to join so many strings takes ten times as long. */

const SLAB_BYTES = 256 * 1024;
const MAX_BYTES_PER_CHARACTER = 3;

export interface Slabs {
  write(text: string): Buffer;
  /** The same, for who needs but the whole: the objects of tens of thousands of pieces take long too. */
  add(text: string): void;
  /** All that was written, as it followed. */
  whole(): readonly Buffer[];
}

export const createSlabs = (): Slabs => {
  const full: Buffer[] = [];
  let slab = Buffer.alloc(0);
  let at = 0;
  let from = 0;
  const add = (text: string): void => {
    const most = text.length * MAX_BYTES_PER_CHARACTER;
    if (at + most > slab.length) {
      full.push(slab.subarray(0, at));
      slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, most));
      at = 0;
    }
    from = at;
    at += slab.write(text, at);
  };
  return {
    write: (text) => {
      add(text);
      return slab.subarray(from, at);
    },
    add,
    whole: () => [...full, slab.subarray(0, at)],
  };
};
