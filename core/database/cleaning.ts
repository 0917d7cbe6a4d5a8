/** The statements that remove the traces of user-defined code from a backend. On a connection with its own backend,
 *  these statements follow the transaction's Sync in the same write. They are outside the transaction, because deferred
 *  triggers may need its settings and the response should not wait. On a shared connection (sharing.ts), they are the
 *  last statements of the transaction. The cleaning after user-defined code is not prepared, because that code may have
 *  deallocated prepared statements. */
import { quoteIdentifier, sql, compileSql } from "../sql/fragment.ts";
import type { Backend, Sharing } from "./sharing.ts";
import { createPlainStatement, ROLLBACK, createUnnamedStatement } from "./statements.ts";
import { FollowingBatch, planUnprepared, type WireStatement } from "./wire.ts";

/** The kinds of cleaning. `sequences`: no user-defined code ran, but written rows may leave sequence values that remain
 *  readable (`lastval`). `all`: user-defined code ran. `plans`: user-defined code ran as an unknown role, so the
 *  cleaning also discards the plans of functions (R-TX-14). */
export type CleaningKind = "sequences" | "all" | "plans";

/** Discards sequence values. The statement may be prepared, because it can be the last statement of a transaction
 *  without user-defined code. */
export const FORGET_SEQUENCES = createPlainStatement("discard sequences");

export const DISCARD_PLANS = createUnnamedStatement("discard plans");

/** Runs before user-defined code on a shared backend: discards the plans that functions made for another role, and the
 *  sequence values of other transactions. @rule R-TX-14 R-TX-15 */
export const DISCARD_FOREIGN_STATE: readonly WireStatement[] = [
  DISCARD_PLANS,
  createUnnamedStatement("discard sequences"),
];

/** The part of the cleaning that a rollback performs too. */
const TRANSACTIONAL: readonly WireStatement[] = [
  createUnnamedStatement("reset all"),
  createUnnamedStatement("discard temp"),
  createUnnamedStatement("close all"),
  createUnnamedStatement("unlisten *"),
  createUnnamedStatement("set session authorization default"),
];

/** Removes the traces that a rollback keeps: advisory locks, and statements that functions have prepared by `PREPARE`.
 *  Statements that the protocol has prepared remain, because they belong to relapi or to a pooler. */
const unlockAndDeallocate = (hasPlpgsql: boolean): readonly WireStatement[] => [
  createUnnamedStatement("select pg_catalog.pg_advisory_unlock_all(), pg_catalog.set_config('role', 'none', false)"),
  ...(hasPlpgsql
    ? [
        createUnnamedStatement(`do language plpgsql $$
declare
  undo text;
begin
  for undo in
    select pg_catalog.format('deallocate %I', prepared.name)
    from pg_catalog.pg_prepared_statement() prepared
    where prepared.from_sql
  loop
    execute undo;
  end loop;
end $$`),
      ]
    : []),
];

const CLEANING_WITH_PLPGSQL = [...TRANSACTIONAL, ...unlockAndDeallocate(true)];
const CLEANING_WITHOUT_PLPGSQL = [...TRANSACTIONAL, ...unlockAndDeallocate(false)];

/** Returns the cleaning at the end of a transaction on a shared backend. Deferred triggers run first, because they
 *  need the settings of the transaction. @rule R-TX-13 R-TX-15 */
export const buildFullCleaning = ({ hasPlpgsql }: Sharing): readonly WireStatement[] => [
  createUnnamedStatement("set constraints all immediate"),
  ...(hasPlpgsql ? CLEANING_WITH_PLPGSQL : CLEANING_WITHOUT_PLPGSQL),
];

/** Returns the statements that replace `rollback` on a shared backend after user-defined code. The pooler keeps the
 *  backend until all of these statements are answered. */
export const buildCleaningRollback = ({ hasPlpgsql }: Sharing): readonly WireStatement[] => [
  ...ROLLBACK,
  ...unlockAndDeallocate(hasPlpgsql),
];

const WITHOUT_JIT = createUnnamedStatement("select pg_catalog.set_config('jit', 'off', false)");

/** Returns the cleaning for a connection with its own backend. `channels` are the channels of relapi's own listeners,
 *  if all connections share one backend. */
const buildCleaning = (
  kind: CleaningKind,
  { hasNoJit, sharing }: Backend,
  channels: readonly string[],
): readonly WireStatement[] =>
  kind === "sequences"
    ? [FORGET_SEQUENCES]
    : [
        ...(sharing.hasPlpgsql ? CLEANING_WITH_PLPGSQL : CLEANING_WITHOUT_PLPGSQL),
        ...channels.map((channel) => createUnnamedStatement(compileSql(sql`listen ${quoteIdentifier(channel)}`).text)),
        FORGET_SEQUENCES,
        ...(hasNoJit ? [WITHOUT_JIT] : []),
        ...(kind === "plans" ? [DISCARD_PLANS] : []),
      ];

export interface Cleaner {
  /** Returns the batch to send after the one that ends the transaction. */
  createFollowingBatch(kind: CleaningKind): FollowingBatch;
  /** Resolves after the last cleaning, with whether it succeeded. Undefined if no cleaning is running. */
  readonly lastCleaning: Promise<boolean> | undefined;
}

/** Creates the cleaner of one connection. @rule R-TX-13 */
export const createCleaner = (backend: () => Backend, channels: () => readonly string[]): Cleaner => {
  let lastCleaning: Promise<boolean> | undefined;
  return {
    get lastCleaning() {
      return lastCleaning;
    },
    createFollowingBatch: (kind) => {
      let settle: (isClean: boolean) => void = () => undefined;
      const cleaning = new Promise<boolean>((resolve) => {
        settle = (isClean) => {
          if (lastCleaning === cleaning) lastCleaning = undefined;
          resolve(isClean);
        };
      });
      lastCleaning = cleaning;
      return new FollowingBatch(
        () => planUnprepared(buildCleaning(kind, backend(), channels())),
        (error) => settle(error === undefined),
      );
    },
  };
};
