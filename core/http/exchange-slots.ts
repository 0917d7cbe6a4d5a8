/** Values that plugins store for a request. */
import type { Credentials } from "../kernel/session.ts";

/** The exchange of a request, or its credentials. All operations of a WebSocket have the same credentials. */
type SlotHolder = Pick<Credentials, "slots">;

/** The value that one plugin stores for each request. @experimental */
export interface ExchangeSlot<Value> {
  get(holder: SlotHolder): Value | undefined;
  set(holder: SlotHolder, value: Value): void;
}

let count = 0;

/** Creates a slot, which is a place in the list of each exchange: no other plugin reads or writes it. */
export const createExchangeSlot = <Value>(): ExchangeSlot<Value> => {
  const index = count++;
  return {
    get: ({ slots }) => slots?.[index] as Value | undefined, // only `set` of this slot writes the value
    set: (holder, value) => {
      (holder.slots ??= [])[index] = value;
    },
  };
};
