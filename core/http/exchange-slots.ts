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

/** Creates a slot. A slot is an index into the list of values of each exchange, and no other plugin uses that index. */
export const createExchangeSlot = <Value>(): ExchangeSlot<Value> => {
  const index = count++;
  return {
    get: ({ slots }) => slots?.[index] as Value | undefined, // only `set` of this slot writes the value
    set: (holder, value) => {
      (holder.slots ??= [])[index] = value;
    },
  };
};
