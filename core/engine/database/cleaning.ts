/** Cleaning, sent after a transaction's Sync in the same write, so that nothing it left on the connection reaches the
 *  next caller. It is not part of the transaction, whose end may run code that needs its settings (deferred triggers),
 *  and the response does not wait for it. Where no code of users runs, it may be the last statement in front of the
 *  Sync. */
import { createHash } from "node:crypto";
import { empty, ident, join, literal, sql, toStatement, type Sql } from "../sql/fragment.ts";
import { sqlstateOf } from "./pg-errors.ts";
import type { PreparedStatements } from "./prepared.ts";
import { FollowingBatch, type WirePlan, type WireRow, type WireStatement } from "./wire.ts";

/** `sequences`: no user code ran, but rows were written, so the sequence values they took stay readable (`lastval`). */
export type CleaningKind = "sequences" | "all";

export interface Cleaning {
  readonly kind: CleaningKind;
  /** Its statements are prepared. */
  readonly prepares: boolean;
}

/** Of a connection. */
export interface CleaningTraits {
  /** All connections share one backend, and with it what is listened to: the channels that are wanted there. */
  readonly wantedChannels: (() => readonly string[]) | undefined;
  /** `jit` was switched off when the connection was opened. */
  readonly hasNoJit: boolean;
}

/** Named by their text, as all statements are. */
const cleaner = (statement: Sql): WireStatement => {
  const { text } = toStatement(statement);
  return {
    text,
    name: `relapi_clean_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`,
    values: [],
  };
};

export const FORGET_SEQUENCES = cleaner(sql`discard sequences`);

/** Without what is dear and rare. Settings come first: what the last statement means must not depend on a search path.
 *  */
const FIRST: readonly WireStatement[] = [cleaner(sql`reset all`), cleaner(sql`discard temp`), FORGET_SEQUENCES];

/** Prepared by SQL, not by us: they hold what the functions' authors wrote, values of a caller included. */
const FOREIGN = sql`pg_catalog.pg_prepared_statement() as prepared where prepared.from_sql`;

/** Clears what functions usually leave behind, and looks for what is rare: channels listened to, open cursors, prepared
 *  statements, a changed user. */
const last = ({ hasNoJit }: Pick<CleaningTraits, "hasNoJit">, wanted: readonly string[]): WireStatement =>
  cleaner(sql`select
    exists (select from ${strangers(wanted)}),
    exists (select from pg_catalog.pg_cursor() as cursor where cursor.name operator(pg_catalog.<>) '') or exists (select from ${FOREIGN}),
    session_user,
    pg_catalog.pg_advisory_unlock_all(),
    pg_catalog.set_config('role', 'none', false)${hasNoJit ? sql`, pg_catalog.set_config('jit', 'off', false)` : empty}`);

/** Channels listened to that nobody of ours wants. */
const strangers = (wanted: readonly string[]): Sql =>
  wanted.length === 0
    ? sql`pg_catalog.pg_listening_channels() as channel (name)`
    : sql`pg_catalog.pg_listening_channels() as channel (name) where channel.name operator(pg_catalog.<>) all (array[${join(wanted.map((name) => literal(name)))}]::pg_catalog.text[])`;

const listFor = (
  traits: Pick<CleaningTraits, "hasNoJit">,
  wanted: readonly string[] = [],
): readonly WireStatement[] => [...FIRST, last(traits, wanted)];

const ALL = { withJit: listFor({ hasNoJit: false }), withoutJit: listFor({ hasNoJit: true }) };

/** What the cleaning of a connection prepares, at most. */
export const CLEANING_SIZE = {
  maxCount: ALL.withoutJit.length,
  maxBytes: ALL.withoutJit.reduce((bytes, { text }) => bytes + Buffer.byteLength(text), 0),
};

const cleaningOf = (kind: CleaningKind, traits: CleaningTraits): readonly WireStatement[] =>
  kind === "sequences"
    ? ONLY_SEQUENCES
    : traits.wantedChannels !== undefined
      ? listFor(traits, traits.wantedChannels())
      : traits.hasNoJit
        ? ALL.withoutJit
        : ALL.withJit;

const ONLY_SEQUENCES: readonly WireStatement[] = [FORGET_SEQUENCES];

/** States of statements that count as prepared and are not, or the other way round: a pooler in front, or a function
 *  that deallocates. */
const LOST: ReadonlySet<string | undefined> = new Set(["26000", "42P05"]);

/** `user`: who has logged in. */
const isLeftOver = (row: WireRow, user: string): boolean => row[0] !== "f" || row[1] !== "f" || row[2] !== user;

/** Its rows name what is to be undone one by one: `deallocate "a"; unlisten "b"`. */
const rareCleaning = (user: string, { wantedChannels }: CleaningTraits): string =>
  toStatement(
    sql`close all; set session authorization ${ident(user)};
    select pg_catalog.format('deallocate %I', prepared.name) as undo from ${FOREIGN}
    union all select pg_catalog.format('unlisten %I', channel.name) from ${strangers(wantedChannels?.() ?? [])}`,
  ).text;

export interface Cleaner {
  /** To be sent with the batch that ends the transaction. */
  follow(cleaning: Cleaning, user: string): FollowingBatch;
  /** Resolves when the last cleaning is done, with whether it succeeded. Undefined: none is running. */
  readonly cleaned: Promise<boolean> | undefined;
}

/** Of one connection. `prepared`: what is prepared on it, by the cleaning too. `query`: runs what the cleaner does not
 *  send along, and gives the rows of the last statement. @rule R-TX-13 */
export const createCleaner = (
  traits: CleaningTraits,
  prepared: PreparedStatements,
  query: (text: string) => Promise<readonly { readonly undo: string }[]>,
): Cleaner => {
  const self: { cleaned: Promise<boolean> | undefined; follow: Cleaner["follow"] } = {
    cleaned: undefined,
    follow: ({ kind, prepares }, user) => {
      const list = cleaningOf(kind, traits);
      const make = (): WirePlan => {
        if (!prepares)
          return {
            statements: list.map((statement) => ({ ...statement, name: "" })),
            parses: list.map(() => true),
            closes: [],
          };
        const closes: string[] = [];
        const parses = list.map(({ name, text }) => {
          const isKnown = prepared.has(name);
          if (!isKnown && prepared.doubtful.delete(name)) closes.push(name);
          prepared.use(name, text);
          return !isKnown;
        });
        return { statements: list, parses, closes };
      };
      let settle: (isClean: boolean) => void = () => undefined;
      const settled = new Promise<boolean>((resolve) => {
        settle = (isClean) => {
          if (self.cleaned === settled) self.cleaned = undefined;
          resolve(isClean);
        };
      });
      self.cleaned = settled;
      const cleanRare = async (before: readonly string[]): Promise<boolean> => {
        const left = await query([...before, rareCleaning(user, traits)].join("; "));
        if (left.length > 0) await query(left.map(({ undo }) => undo).join("; "));
        return true;
      };
      const settleRare = (before: readonly string[]): void => void cleanRare(before).then(settle, () => settle(false));
      return new FollowingBatch(make, (result) => {
        if ("error" in result) {
          if (prepares) prepared.doubtAll();
          if (LOST.has(sqlstateOf(result.error))) settleRare(cleaningOf("all", traits).map(({ text }) => text));
          else settle(false);
          return;
        }
        if (kind === "all" && result.row !== undefined && isLeftOver(result.row, user)) settleRare([]);
        else settle(true);
      });
    },
  };
  return self;
};
