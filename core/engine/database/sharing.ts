/** Connections through a pooler in transaction mode. Such a connection is shared: each transaction may run on another
 *  backend, on which others ran before and will run after. So nothing is prepared, and what a transaction must not find
 *  or leave behind is removed by the transaction itself. */
/** `auto`: asked of each connection when it is opened. `session`: a pooler, if there is one, keeps to one backend for as
 *  long as the connection lives. */
export type PoolerMode = "auto" | "session" | "transaction";

/** What the statements that remove the traces of user code depend on. One object per combination, so that it can be compared. */
export interface Sharing {
  /** Nobody has set `jit`, so each transaction switches it off. */
  readonly setsJit: boolean;
  /** The login role may use PL/pgSQL, to undo what only dynamic SQL can. */
  readonly hasPlpgsql: boolean;
}

const all: readonly Sharing[] = [false, true].flatMap((setsJit) =>
  [false, true].map((hasPlpgsql) => ({ setsJit, hasPlpgsql })),
);

const sharingWith = (setsJit: boolean, hasPlpgsql: boolean): Sharing =>
  all.find((each) => each.setsJit === setsJit && each.hasPlpgsql === hasPlpgsql) as Sharing; // all of them are there

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

/** The one backend of an embedded database. */
export const EMBEDDED_BACKEND: Backend = {
  isShared: false,
  hasNoJit: false,
  sharing: sharingWith(false, true),
};

/** `row` undefined: a server that does not know the question. */
export const backendOf = (row: BackendRow | undefined, mode: PoolerMode): Backend => {
  const isShared = row === undefined ? mode === "transaction" : !row.isOwn;
  const setsJit = row?.isJitUnset ?? false;
  const hasPlpgsql = row?.hasPlpgsql ?? false;
  return {
    isShared,
    hasNoJit: !isShared && setsJit,
    sharing: sharingWith(setsJit, hasPlpgsql),
  };
};

/** Undefined: it has a backend of its own. */
export const sharingOf = ({ backend }: { readonly backend: Backend }): Sharing | undefined =>
  backend.isShared ? backend.sharing : undefined;
