/** Names that tables have taken: those of their types and root fields. @rule G-NAM-3 G-NAM-6 */

export interface TakenNames {
  /** Takes the names of a table; false: one of them is taken. `roots`: those of its root fields. */
  take(type: string, roots: readonly string[]): boolean;
  hasRoot(name: string): boolean;
}

/** `ownTypes`: names of types that belong to no table. */
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
