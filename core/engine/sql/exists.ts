/** Conditions that there are some rows. */
import { sql, type Sql } from "./fragment.ts";

/** Relations that PostgreSQL plans together. */
export interface PlannerLevel {
  /** Conditions that have become joins of it so far. */
  joins: number;
  /** Levels around it whose conditions are planned in two ways each. */
  readonly depth: number;
}

export const newLevel = (): PlannerLevel => ({ joins: 0, depth: 0 });

/** Joins are planned in every order: with each more of them that takes two to three times as long. */
const MAX_JOINS = 6;
/** What is no join is planned both as a look-up for each row and as a hash of all rows, and so is all within it: twice
 *  as long for each of these levels. Below them it is a look-up. */
const MAX_DOUBLED = 8;

/** The row that the condition is about. */
interface Place {
  readonly level?: PlannerLevel | undefined;
  /** Below an `or`, where nothing becomes a join. */
  readonly isApart?: true | undefined;
}

/** Counts a further join of the level. False: it has enough of them. */
export const mayJoin = (level: PlannerLevel): boolean => {
  if (level.joins >= MAX_JOINS) return false;
  level.joins++;
  return true;
};

/** `exists (…)`, in the form that keeps planning short. `select`: the rows, planned in the given level. `isCut`: they
 *  have a limit or offset. @rule X-PLN-5 */
export const existsOf = (place: Place, select: (level: PlannerLevel) => Sql, isCut = false): Sql => {
  const level = place.level ?? newLevel();
  if (place.isApart !== true && mayJoin(level)) {
    return sql`exists (${select(level)})`;
  }
  const depth = level.depth + 1;
  const rows = select({ joins: 0, depth });
  if (depth > MAX_DOUBLED) return isCut ? sql`exists (${rows})` : sql`exists (${rows} offset 0)`;
  return place.isApart === true ? sql`exists (${rows})` : sql`(exists (${rows})) is true`;
};
