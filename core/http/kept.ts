/** What a plugin keeps for a request. */
import type { OpenExchange } from "./exchange.ts";

export interface Kept<Value> {
  of(exchange: OpenExchange): Value | undefined;
  keep(exchange: OpenExchange, value: Value): void;
}

let count = 0;

/** A place in the exchange's list: a WeakMap costs more to fill, and the garbage collector more to look through, and a
 *  property would make exchanges of several kinds for all code that reads them. */
export const createKept = <Value>(): Kept<Value> => {
  const place = count++;
  return {
    of: ({ kept }) => kept?.[place] as Value | undefined, // nobody else has the place
    keep: (exchange, value) => {
      (exchange.kept ??= [])[place] = value;
    },
  };
};
