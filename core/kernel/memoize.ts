/** Computes a value once per object, and keeps it for the object's lifetime. `compute` must read only the object, and
 *  the object must not change, because the value is never computed again. @experimental */
export const memoize = <Source extends object, Value>(
  compute: (source: Source) => Value,
): ((source: Source) => Value) => {
  const values = new WeakMap<Source, Value>();
  return (source) => {
    const cachedValue = values.get(source);
    if (cachedValue !== undefined || values.has(source)) return cachedValue as Value; // the value may be undefined
    const value = compute(source);
    values.set(source, value);
    return value;
  };
};

/** Computes a value on first use and keeps it. */
export const memoizeValue = <Value>(compute: () => Value): (() => Value) => {
  let memo: { readonly value: Value } | undefined;
  return () => (memo ??= { value: compute() }).value;
};
