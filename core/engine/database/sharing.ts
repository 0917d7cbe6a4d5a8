/** Connections through a pooler in transaction mode. Such a connection is shared: each transaction may run on another
 *  backend, on which other clients ran before and will run afterwards. So no statement is prepared, and each
 *  transaction removes earlier traces and its own. */
/** With `auto`, each new connection is checked. With `session`, a pooler, if any, keeps one backend for the lifetime of
 *  the connection. */
export type PoolerMode = "auto" | "session" | "transaction";

/** The facts on which the cleaning after user code depends. There is one object per combination, so they can be
 *  compared by identity. */
export interface Sharing {
  /** `jit` has its default, so each transaction switches it off. */
  readonly setsJit: boolean;
  /** The login role may use PL/pgSQL, which removes the traces that need dynamic SQL. */
  readonly hasPlpgsql: boolean;
}

const all: readonly Sharing[] = [false, true].flatMap((setsJit) =>
  [false, true].map((hasPlpgsql) => ({ setsJit, hasPlpgsql })),
);

const sharingWith = (setsJit: boolean, hasPlpgsql: boolean): Sharing =>
  all.find((each) => each.setsJit === setsJit && each.hasPlpgsql === hasPlpgsql) as Sharing; // it has all combinations

/** The facts about the backend of a new connection. */
export interface Backend {
  readonly isShared: boolean;
  /** `jit` was switched off for the connection. */
  readonly hasNoJit: boolean;
  /** The facts for its transactions if it is shared, or turns out to be. */
  readonly sharing: Sharing;
}

interface BackendRow {
  readonly isOwn: boolean;
  readonly isJitUnset: boolean;
  readonly hasPlpgsql: boolean;
}

/** Detects a pooler: it answers a new client itself with an invented process id, which differs from the backend's own.
 *  The question also switches `jit` off, because the planner overestimates statements with many nested rows, and
 *  compilation takes several times as long as their execution. A value that was set for the server, database, role or
 *  connection is kept. On a shared backend `jit` is unchanged, because the setting would affect other clients. @rule
 *  R-TX-8 R-TX-15 */
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

/** Returns the parameter of the question: the expected process id of the backend, or null if any is right. `processId`
 *  is the one reported when the connection was opened; PostgreSQL always reports one. */
export const expectedProcessId = (mode: PoolerMode, processId: number | null): number | null =>
  mode === "session" ? null : mode === "auto" ? (processId ?? NOBODY) : NOBODY;

/** The one backend of an embedded database. */
export const EMBEDDED_BACKEND: Backend = {
  isShared: false,
  hasNoJit: false,
  sharing: sharingWith(false, true),
};

/** Returns the facts about a backend. `row` is undefined if the server rejected the question. */
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

/** Returns undefined if the connection has its own backend. */
export const sharingOf = ({ backend }: { readonly backend: Backend }): Sharing | undefined =>
  backend.isShared ? backend.sharing : undefined;
