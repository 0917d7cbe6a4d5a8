import { atOnce, type Pieces } from "../../../core/index.ts";

/** Computed on first use and then cached: most roles use few tables of a large schema. */
export const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
};

/** What may be made in pieces before it is needed. */
export interface InPieces<Value> {
  get(): Value;
  pieces(): Pieces<Value>;
}

export const onceInPieces = <Value>(make: () => Pieces<Value>): InPieces<Value> => {
  let made: { readonly value: Value } | undefined;
  const pieces = function* (): Pieces<Value> {
    if (made === undefined) {
      const value = yield* make();
      made ??= { value };
    }
    return made.value;
  };
  return { pieces, get: () => atOnce(pieces()) };
};

/** One value per owner, for as long as the owner lives. */
export const onceFor = <Owner extends object, Value>(make: (owner: Owner) => Value): ((owner: Owner) => Value) => {
  const known = new WeakMap<Owner, { readonly value: Value }>();
  return (owner) => {
    let found = known.get(owner);
    if (found === undefined) known.set(owner, (found = { value: make(owner) }));
    return found.value;
  };
};
