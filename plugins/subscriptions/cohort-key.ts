/** Which live queries one statement answers: those with the same key, which consists of exactly what it runs with.
 *  @rule G-SUB-6 G-SUB-10 */
import type { Program, Session } from "../../core/index.ts";
import type { LiveQuery } from "./api.ts";
import type { CohortFacts } from "./runner.ts";

/** `isRow`: it is a row of a statement over all of them. */
export type KeyOf = (query: LiveQuery, isRow: boolean, isShared: boolean, followsClock: boolean) => string;

/** Texts are kept with what they are of: thousands subscribe with the same program, session and settings. */
export const createCohortKeys = (): KeyOf => {
  const numbers = new WeakMap<Program, number>();
  const own = new WeakMap<Session, string>();
  const shared = new WeakMap<Session, string>();
  const ofSettings = new WeakMap<object, string>();
  let lastNumber = 0;

  const numberOf = (program: Program): number => {
    let number = numbers.get(program);
    if (number === undefined) numbers.set(program, (number = ++lastNumber));
    return number;
  };

  const textOf = <Of extends object>(texts: WeakMap<Of, string>, of: Of, write: (of: Of) => object): string => {
    let text = texts.get(of);
    if (text === undefined) texts.set(of, (text = JSON.stringify(write(of))));
    return text;
  };

  return (
    { session, schema, keepsLoginPath = false, settings = NO_SETTINGS, isolation, programs },
    isRow,
    isShared,
    followsClock,
  ) => {
    const caller = isShared ? textOf(shared, session, othersOf) : textOf(own, session, itself);
    const of = JSON.stringify([
      programs.map(({ program }) => numberOf(program)),
      isRow,
      followsClock,
      schema,
      keepsLoginPath,
      isolation,
    ]);
    return `${of}${caller}${textOf(ofSettings, settings, itself)}`;
  };
};

const NO_SETTINGS: NonNullable<LiveQuery["settings"]> = [];

const itself = <Of>(of: Of): Of => of;

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
