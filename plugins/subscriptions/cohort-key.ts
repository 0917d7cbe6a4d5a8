/** Which live queries one statement answers: those with the same key, which consists of exactly what it runs with.
 *  @rule G-SUB-6 G-SUB-10 */
import { memoize, type Program, type Session } from "../../core/index.ts";
import type { LiveQuery } from "./api.ts";
import type { CohortFacts } from "./runner.ts";

/** `isRow`: it is a row of a statement over all of them. */
export type KeyOf = (query: LiveQuery, isRow: boolean, isShared: boolean, followsClock: boolean) => string;

/** Thousands subscribe with the same program, session and settings. */
export const createCohortKeys = (): KeyOf => {
  let lastNumber = 0;
  const numberOf = memoize((_program: Program) => ++lastNumber);
  const textOf = memoize((part: object) => JSON.stringify(part));
  const textOfOthers = memoize((session: Session) => JSON.stringify(othersOf(session)));

  return (
    { session, schema, keepsLoginPath = false, settings = NO_SETTINGS, isolation, programs },
    isRow,
    isShared,
    followsClock,
  ) => {
    const caller = isShared ? textOfOthers(session) : textOf(session);
    const of = JSON.stringify([
      programs.map(({ program }) => numberOf(program)),
      isRow,
      followsClock,
      schema,
      keepsLoginPath,
      isolation,
    ]);
    return `${of}${caller}${textOf(settings)}`;
  };
};

const NO_SETTINGS: NonNullable<LiveQuery["settings"]> = [];

/** Without all that may differ between callers who share a statement: its proof says that it reads nothing of these. */
const othersOf = (session: Session): object => ({
  ...session,
  claims: undefined,
  claimsText: undefined,
  variables: undefined,
  expiresAtMs: undefined,
});

const NOTHING: ReadonlySet<string> = new Set();

export const factsOf = (
  key: string,
  query: LiveQuery,
  isShared: boolean,
  followsClock: boolean,
): Omit<CohortFacts, "conditions"> => {
  const { session, schema, keepsLoginPath = false, settings, isolation, programs } = query;
  return {
    key,
    session,
    isShared,
    access: {
      schema,
      keepsLoginPath,
      ...(settings === undefined ? {} : { settings }),
      ...(isolation === undefined ? {} : { isolation }),
    },
    relations:
      programs.length === 1
        ? (programs[0]?.program.relations ?? NOTHING)
        : new Set(programs.flatMap(({ program }) => [...program.relations])),
    isOpenEnded: followsClock || programs.some(({ program }) => program.isOpenEnded),
  };
};
