/** Computed on first use and then cached: most roles use few tables of a large schema. */
export const once = <Value>(make: () => Value): (() => Value) => {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
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
