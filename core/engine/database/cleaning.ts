/** What user-defined code may leave on a backend, and the statements that remove it. On a connection with a backend of
 *  its own they follow the transaction's Sync in the same write: they are not part of the transaction, whose end may run
 *  code that needs its settings (deferred triggers), and the response does not wait for them. On a shared connection
 *  (sharing.ts) they are the last statements of the transaction. None of them is prepared: the code may have deallocated
 *  prepared statements. */
import { ident, sql, toStatement, type Sql } from "../sql/fragment.ts";
import type { Backend, Sharing } from "./sharing.ts";
import { plain, ROLLBACK } from "./statements.ts";
import { FollowingBatch, type WirePlan, type WireStatement } from "./wire.ts";

/** `sequences`: no user code ran, but rows were written, so the sequence values they took stay readable (`lastval`).
 *  `plans`: user code ran as a role that is not known, so the plans of functions are discarded too (R-TX-14). */
export type CleaningKind = "sequences" | "all" | "plans";

const unnamed = (statement: Sql): WireStatement => ({ text: toStatement(statement).text, name: "", values: [] });

/** Prepared, because the last statement of a transaction without user code may be this one. */
export const FORGET_SEQUENCES = plain("discard sequences");

const DISCARD_PLANS = unnamed(sql`discard plans`);

/** Before user code on a shared backend: plans that functions made for another role, and values of sequences that others
 *  took. @rule R-TX-14 R-TX-15 */
export const FORGET_OTHERS: readonly WireStatement[] = [DISCARD_PLANS, unnamed(sql`discard sequences`)];

/** What a rollback undoes as well. */
const TRANSACTIONAL: readonly WireStatement[] = [
  unnamed(sql`reset all`),
  unnamed(sql`discard temp`),
  unnamed(sql`close all`),
  unnamed(sql`unlisten *`),
  unnamed(sql`set session authorization default`),
];

/** A rollback leaves advisory locks and what functions have prepared by `PREPARE`; statements that the protocol has
 *  prepared are ours or a pooler's. */
const unlockAndDeallocate = (hasPlpgsql: boolean): readonly WireStatement[] => [
  unnamed(sql`select pg_catalog.pg_advisory_unlock_all(), pg_catalog.set_config('role', 'none', false)`),
  ...(hasPlpgsql
    ? [
        unnamed(sql`do language plpgsql $$
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

const withPlpgsql = [...TRANSACTIONAL, ...unlockAndDeallocate(true)];
const withoutPlpgsql = [...TRANSACTIONAL, ...unlockAndDeallocate(false)];

/** In front of the end of a transaction on a shared backend, whose deferred triggers run first, with the settings that
 *  they need. @rule R-TX-13 R-TX-15 */
export const leaveNothing = ({ hasPlpgsql }: Sharing): readonly WireStatement[] => [
  unnamed(sql`set constraints all immediate`),
  ...(hasPlpgsql ? withPlpgsql : withoutPlpgsql),
];

/** Instead of `rollback` on a shared backend, where user code ran: the backend stays ours until it has answered all of
 *  it. */
export const rollBackAll = ({ hasPlpgsql }: Sharing): readonly WireStatement[] => [
  ...ROLLBACK,
  ...unlockAndDeallocate(hasPlpgsql),
];

const WITHOUT_JIT = unnamed(sql`select pg_catalog.set_config('jit', 'off', false)`);

/** `channels`: those that connections of ours listen to on a backend that all of them share. */
const statementsFor = (
  kind: CleaningKind,
  { hasNoJit, sharing }: Backend,
  channels: readonly string[],
): readonly WireStatement[] =>
  kind === "sequences"
    ? [FORGET_SEQUENCES]
    : [
        ...(sharing.hasPlpgsql ? withPlpgsql : withoutPlpgsql),
        ...channels.map((channel) => unnamed(sql`listen ${ident(channel)}`)),
        FORGET_SEQUENCES,
        ...(hasNoJit ? [WITHOUT_JIT] : []),
        ...(kind === "plans" ? [DISCARD_PLANS] : []),
      ];

export interface Cleaner {
  /** To be sent with the batch that ends the transaction. */
  follow(kind: CleaningKind): FollowingBatch;
  /** Resolves when the last cleaning is done, with whether it succeeded. Undefined: none is running. */
  readonly cleaned: Promise<boolean> | undefined;
}

/** Cleans one connection. @rule R-TX-13 */
export const createCleaner = (backend: () => Backend, channels: () => readonly string[]): Cleaner => {
  let cleaned: Promise<boolean> | undefined;
  return {
    get cleaned() {
      return cleaned;
    },
    follow: (kind) => {
      let settle: (isClean: boolean) => void = () => undefined;
      const settled = new Promise<boolean>((resolve) => {
        settle = (isClean) => {
          if (cleaned === settled) cleaned = undefined;
          resolve(isClean);
        };
      });
      cleaned = settled;
      const encode = (): WirePlan => {
        const statements = statementsFor(kind, backend(), channels()).map((statement) => ({ ...statement, name: "" }));
        return { statements, parses: statements.map(() => true), closes: [] };
      };
      return new FollowingBatch(encode, (error) => settle(error === undefined));
    },
  };
};
