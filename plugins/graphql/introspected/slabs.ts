/** Many short texts as bytes, outside of the heap: to join so many strings takes ten times as long. */

const SLAB_BYTES = 512 * 1024;
const MAX_BYTES_PER_CHARACTER = 3;
/** Characters that are gathered before they are written: each time costs something, and longer strings too. */
const TOGETHER = 16 * 1024;

export interface Slabs {
  write(text: string): Buffer;
  /** The same, for who needs but the whole: the objects of tens of thousands of pieces take long too. Answers what is full,
   *  in the order that it was written in. */
  add(text: string): Buffer | undefined;
  /** What was added and not answered. */
  rest(): Buffer;
}

export const createSlabs = (): Slabs => {
  let slab = Buffer.alloc(0);
  let at = 0;
  let from = 0;
  let waiting = "";
  const put = (text: string): Buffer | undefined => {
    const most = text.length * MAX_BYTES_PER_CHARACTER;
    let full: Buffer | undefined;
    if (at + most > slab.length) {
      if (at > 0) full = slab.subarray(0, at);
      slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, most));
      at = 0;
    }
    from = at;
    at += slab.write(text, at);
    return full;
  };
  const putWaiting = (): Buffer | undefined => {
    const text = waiting;
    waiting = "";
    return put(text);
  };
  return {
    write: (text) => {
      put(text);
      return slab.subarray(from, at);
    },
    add: (text) => {
      waiting += text;
      return waiting.length < TOGETHER ? undefined : putWaiting();
    },
    rest: () => Buffer.concat([putWaiting() ?? Buffer.alloc(0), slab.subarray(0, at)]),
  };
};
