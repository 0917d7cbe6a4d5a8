/** Builds the keys of cohorts. Live queries with the same key are answered by one statement, so the key consists of
 *  exactly the parameters of that run. @rule G-SUB-6 G-SUB-10 */
import { memoize, type Program, type Session } from "../../../core/index.ts";
import type { LiveQuery } from "../api.ts";
import type { CohortProperties } from "./runner.ts";

/** Builds the key of a live query. `isRow` says that the query is one row of a statement over many subscribers. */
type BuildCohortKey = (query: LiveQuery, isRow: boolean, isShared: boolean, followsClock: boolean) => string;

/** Creates the builder of keys, which numbers programs. */
export const createCohortKeyBuilder = (): BuildCohortKey => {
  let lastNumber = 0;
  const numberProgram = memoize((_program: Program) => ++lastNumber);
  return (
    { session, schema, keepsLoginPath = false, settings = [], isolation, programs },
    isRow,
    isShared,
    followsClock,
  ) =>
    JSON.stringify([
      programs.map(({ program }) => numberProgram(program)),
      isRow,
      followsClock,
      schema,
      keepsLoginPath,
      isolation,
      isShared ? withoutCallerMembers(session) : session,
      settings,
    ]);
};

/** Returns the session without the members in which callers of one statement may differ. The statement is proven not to
 *  read these members. */
const withoutCallerMembers = (session: Session): object => ({
  ...session,
  claims: undefined,
  claimsText: undefined,
  variables: undefined,
  expiresAtMs: undefined,
});

const NO_NAMES: ReadonlySet<string> = new Set();

export const buildCohortProperties = (
  key: string,
  query: LiveQuery,
  isShared: boolean,
  followsClock: boolean,
): Omit<CohortProperties, "conditions"> => {
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
        ? (programs[0]?.program.relations ?? NO_NAMES)
        : new Set(programs.flatMap(({ program }) => [...program.relations])),
    isOpenEnded: followsClock || programs.some(({ program }) => program.isOpenEnded),
  };
};
