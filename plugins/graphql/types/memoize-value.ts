/** Computes a value on first use and caches it, because most roles use few tables of a large schema. */
export const memoizeValue = <Value>(make: () => Value): (() => Value) => {
  let memo: { readonly value: Value } | undefined;
  return () => (memo ??= { value: make() }).value;
};
