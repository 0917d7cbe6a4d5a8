/** Collects the names of triggers or schedules that a later model of the process no longer declares. */

export interface RemovedNames {
  /** The names that were removed and not declared again. The owner clears it after it has changed the database. */
  readonly names: Set<string>;
  /** Compares the names of the next model with those of the last one. */
  update(declaredNames: ReadonlySet<string>): void;
}

/** `installs` is false for a process that may not change the database. It collects no names. */
export const createRemovedNames = (installs: boolean): RemovedNames => {
  let lastDeclared: ReadonlySet<string> = new Set();
  const names = new Set<string>();
  return {
    names,
    update: (declaredNames) => {
      for (const name of declaredNames) names.delete(name);
      if (installs) for (const name of lastDeclared) if (!declaredNames.has(name)) names.add(name);
      lastDeclared = declaredNames;
    },
  };
};
