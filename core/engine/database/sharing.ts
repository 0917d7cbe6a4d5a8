/** Connections through a pooler in transaction mode. Such a connection is shared: each transaction may run on another
 *  backend, on which others ran before and will run after. So nothing is prepared, and what a transaction must not find
 *  or leave behind is removed by the transaction itself. */
import { sql, toStatement, type Sql } from "../sql/fragment.ts";
import { plain, ROLLBACK } from "./statements.ts";
import type { WireStatement } from "./wire.ts";

/** `auto`: asked of each connection when it is opened. `session`: a pooler, if there is one, keeps to one backend for as
 *  long as the connection lives. */
export type PoolerMode = "auto" | "session" | "transaction";

/** What transactions on shared connections need. One object per combination, so that it can be compared. */
export interface Sharing {
  /** Nobody has set `jit`, so each transaction switches it off. */
  readonly setsJit: boolean;
  /** The login role may use PL/pgSQL, to undo what only dynamic SQL can. */
  readonly hasPlpgsql: boolean;
}

const all: readonly Sharing[] = [false, true].flatMap((setsJit) =>
  [false, true].map((hasPlpgsql) => ({ setsJit, hasPlpgsql })),
);

/** What was found out about the backend of a new connection. */
export interface Backend {
  readonly isShared: boolean;
  /** `jit` was switched off for the connection. */
  readonly hasNoJit: boolean;
  /** What its transactions need if it is shared, or turns out to be. */
  readonly sharing: Sharing;
}

interface BackendRow {
  readonly isOwn: boolean;
  readonly isJitUnset: boolean;
  readonly hasPlpgsql: boolean;
}

/** A pooler answers a new client itself, with a process id that it makes up: the backend's own is another.
 *
 *  Statements of many nested rows look dear to the planner, and compiling them takes several times as long as running
 *  them. Who has set it (for the server, the database, the role, the connection) has it their way. On a backend that is
 *  shared it is left alone: the setting would stay there for others.
 *  @rule R-TX-8 R-TX-15 */
export const BACKEND_QUESTION = `select backend.own as "isOwn",
  jit.unset as "isJitUnset",
  case when backend.own and jit.unset then pg_catalog.set_config('jit', 'off', false) end,
  exists (
    select
    from pg_catalog.pg_language language
    where language.lanname = 'plpgsql'
      and pg_catalog.has_language_privilege(language.oid, 'usage')
  ) as "hasPlpgsql"
from (select coalesce($1::pg_catalog.int4 = pg_catalog.pg_backend_pid(), true)) backend (own),
  (select exists (select from pg_catalog.pg_settings where name = 'jit' and source = 'default')) jit (unset)`;

const NOBODY = -1;

/** Its parameter: the process id that the backend should have; null: whatever it has is right. `processId`: what was
 *  said when the connection was opened; PostgreSQL always says one. */
export const expectedProcessId = (mode: PoolerMode, processId: number | null): number | null =>
  mode === "session" ? null : mode === "auto" ? (processId ?? NOBODY) : NOBODY;

/** `row` undefined: a server that does not know the question. */
export const backendOf = (row: BackendRow | undefined, mode: PoolerMode): Backend => {
  const isShared = row === undefined ? mode === "transaction" : !row.isOwn;
  const setsJit = row?.isJitUnset ?? false;
  const hasPlpgsql = row?.hasPlpgsql ?? false;
  return {
    isShared,
    hasNoJit: !isShared && setsJit,
    sharing: all.find((each) => each.setsJit === setsJit && each.hasPlpgsql === hasPlpgsql) as Sharing, // all of them are there
  };
};

const wire = (statement: Sql): WireStatement => plain(toStatement(statement).text);

/** Before user code: plans that functions made for another role, and values of sequences that others took. @rule R-TX-14
 *  R-TX-15 */
export const FORGET_OTHERS: readonly WireStatement[] = [wire(sql`discard plans`), wire(sql`discard sequences`)];

/** Not part of any transaction: they stay when it is rolled back. Prepared by SQL are the functions' own statements; a
 *  pooler's are prepared by the protocol. */
const stays = ({ hasPlpgsql }: Sharing): readonly WireStatement[] => [
  wire(sql`select pg_catalog.pg_advisory_unlock_all(), pg_catalog.set_config('role', 'none', false)`),
  ...(hasPlpgsql
    ? [
        wire(sql`do language plpgsql $$
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

const leaving = new WeakMap<Sharing, readonly WireStatement[]>();

/** After user code, in front of the end: what was deferred to the end runs first, with the settings that it needs.
 *  @rule R-TX-13 R-TX-15 */
export const leaveNothing = (sharing: Sharing): readonly WireStatement[] => {
  let list = leaving.get(sharing);
  if (list === undefined) {
    list = [
      wire(sql`set constraints all immediate`),
      wire(sql`reset all`),
      wire(sql`discard temp`),
      wire(sql`close all`),
      wire(sql`unlisten *`),
      wire(sql`set session authorization default`),
      ...stays(sharing),
    ];
    leaving.set(sharing, list);
  }
  return list;
};

/** Instead of `rollback`, where user code ran: the backend stays ours until it has answered all of it. */
export const rollBackAll = (sharing: Sharing): readonly WireStatement[] => [...ROLLBACK, ...stays(sharing)];
