/** Compiles conditions that some rows exist. */
import { sql, type Sql } from "./fragment.ts";

/** The relations that PostgreSQL plans together. */
export interface PlannerLevel {
  /** The number of conditions that have become joins. */
  joins: number;
  /** The number of enclosing levels whose conditions PostgreSQL plans in two ways each. */
  readonly depth: number;
}

/** Creates the counters of one level of a statement, which has no joins yet. */
export const createPlannerLevel = (): PlannerLevel => ({ joins: 0, depth: 0 });

/** The largest number of conditions that become joins of one level. The planner tries every order, so each additional join
 *  multiplies the planning time by two to three. */
const MAX_JOINS = 6;
/** The limit on nested conditions that are not joins. PostgreSQL plans each condition both as a look-up per row and as
 *  a hash of all rows, which doubles the planning time of nested ones. Deeper conditions are planned only as
 *  look-ups. */
const MAX_DUPLICATED_LEVELS = 8;

/** The row that the condition applies to. */
interface SubqueryPosition {
  readonly level?: PlannerLevel | undefined;
  /** True if the condition is below an `or`, where no condition becomes a join. */
  readonly isBelowOr?: true | undefined;
}

/** Adds a join to the level. Returns false if the level has reached its limit. */
export const tryAddJoin = (level: PlannerLevel): boolean => {
  if (level.joins >= MAX_JOINS) return false;
  level.joins++;
  return true;
};

/** Compiles `exists (…)` in a form that keeps planning short. Conditions beyond the limit on joins become `(exists (…))
 *  is true`, which PostgreSQL does not turn into a join. `select` compiles the rows for the given planner level. With
 *  `isCut`, the rows have a limit or offset. @rule X-PLN-5 */
export const compileExists = (position: SubqueryPosition, select: (level: PlannerLevel) => Sql, isCut = false): Sql => {
  const level = position.level ?? createPlannerLevel();
  if (position.isBelowOr !== true && tryAddJoin(level)) {
    return sql`exists (${select(level)})`;
  }
  const depth = level.depth + 1;
  const rows = select({ joins: 0, depth });
  if (depth > MAX_DUPLICATED_LEVELS) return isCut ? sql`exists (${rows})` : sql`exists (${rows} offset 0)`;
  return position.isBelowOr === true ? sql`exists (${rows})` : sql`(exists (${rows})) is true`;
};
