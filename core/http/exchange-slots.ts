/** Values that plugins store for a request. */
import type { OpenExchange } from "./exchange.ts";

/** The value that one plugin stores for each request. @experimental */
export interface ExchangeSlot<Value> {
  get(exchange: OpenExchange): Value | undefined;
  set(exchange: OpenExchange, value: Value): void;
}

let count = 0;

/** Creates a slot. A slot is an index into the list of values of each exchange, and no other plugin uses that index. */
export const createExchangeSlot = <Value>(): ExchangeSlot<Value> => {
  const index = count++;
  return {
    get: ({ slots }) => slots?.[index] as Value | undefined, // only `set` of this slot writes the value
    set: (exchange, value) => {
      (exchange.slots ??= [])[index] = value;
    },
  };
};
