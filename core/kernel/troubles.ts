/** What is wrong while the api goes on as well as it can, by what it is about: readiness tells it (R-ADM-1). */
export interface Troubles {
  /** `reason`: undefined once it is over. Nothing in it is a secret. */
  set(about: string, reason: string | undefined): void;
  /** `schema: …`, a line each. */
  list(): readonly string[];
}

export const createTroubles = (): Troubles => {
  const reasons = new Map<string, string>();
  return {
    set: (about, reason) => {
      if (reason === undefined) reasons.delete(about);
      else reasons.set(about, reason.replaceAll("\n", " "));
    },
    list: () => [...reasons].map(([about, reason]) => `${about}: ${reason}`),
  };
};
