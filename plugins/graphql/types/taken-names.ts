/** Tracks the names of types and root fields that tables have taken. @rule G-NAM-3 G-NAM-6 */

export interface TakenNames {
  /** Takes the names of a table. Returns false if one of them is taken. `roots` has the names of its root fields. */
  take(type: string, roots: readonly string[]): boolean;
  hasRoot(name: string): boolean;
}

/** `ownTypes` has the names of types that belong to no table. */
export const createTakenNames = (ownTypes: readonly string[]): TakenNames => {
  const types = new Set(ownTypes);
  const taken = new Set<string>();
  return {
    hasRoot: (name) => taken.has(name),
    take: (type, roots) => {
      if (types.has(type) || roots.some((name) => taken.has(name))) return false;
      types.add(type);
      for (const name of roots) taken.add(name);
      return true;
    },
  };
};
