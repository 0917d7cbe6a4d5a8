/** What a plugin keeps for a request. */
import type { IncomingMessage } from "node:http";

export interface Kept<Value> {
  of(request: IncomingMessage): Value | undefined;
  keep(request: IncomingMessage, value: Value): void;
}

/** A property of the request: a WeakMap costs more to fill, and the garbage collector more to look through. */
export const createKept = <Value>(name: string): Kept<Value> => {
  const key = Symbol(name);
  const place = (request: IncomingMessage) => request as unknown as Record<symbol, Value | undefined>; // nobody else has the symbol
  return {
    of: (request) => place(request)[key],
    keep: (request, value) => {
      place(request)[key] = value;
    },
  };
};
