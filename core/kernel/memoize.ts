/** Computes the value of an object once, and keeps it for as long as the object lives. `compute` must read nothing but
 *  the object, and the object must not change: then the value that it computed first is the value for ever. */
export const memoize = <Source extends object, Value>(
  compute: (source: Source) => Value,
): ((source: Source) => Value) => {
  const values = new WeakMap<Source, Value>();
  return (source) => {
    const known = values.get(source);
    if (known !== undefined || values.has(source)) return known as Value; // the value may be undefined
    const value = compute(source);
    values.set(source, value);
    return value;
  };
};
