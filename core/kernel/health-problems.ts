/** Problems that do not stop the api, by topic. The readiness check reports them (R-ADM-1). @experimental */
export interface HealthProblems {
  /** Sets or, with `reason` undefined, clears the problem of a topic. The reason must not contain a secret. */
  set(subject: string, reason: string | undefined): void;
  /** Returns one line per problem, `schema: …`. */
  list(): readonly string[];
}

/** Creates the list of health problems of one api. */
export const createHealthProblems = (): HealthProblems => {
  const reasons = new Map<string, string>();
  return {
    set: (subject, reason) => {
      if (reason === undefined) reasons.delete(subject);
      else reasons.set(subject, reason.replaceAll("\n", " "));
    },
    list: () => [...reasons].map(([subject, reason]) => `${subject}: ${reason}`),
  };
};
