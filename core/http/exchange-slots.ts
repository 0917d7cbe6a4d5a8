/** Values that plugins store for a request. */
import type { OpenExchange } from "./exchange.ts";

/** The value that one plugin stores for each request. @experimental */
export interface ExchangeSlot<Value> {
  get(exchange: OpenExchange): Value | undefined;
  set(exchange: OpenExchange, value: Value): void;
}

let count = 0;

/** Creates a slot, which is a place in the list of each exchange: no other plugin reads or writes it. */
export const createExchangeSlot = <Value>(): ExchangeSlot<Value> => {
  const index = count++;
  return {
    get: ({ slots }) => slots?.[index] as Value | undefined, // only `set` of this slot writes the value
    set: (exchange, value) => {
      (exchange.slots ??= [])[index] = value;
    },
  };
};
