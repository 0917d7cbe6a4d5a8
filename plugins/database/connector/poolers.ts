/** Detects connection poolers in transaction mode. */
import type { Connection } from "../../../core/database/connection.ts";
import { isFatal, isPgError } from "../../../core/database/pg-errors.ts";
import { findSharing, type Backend } from "../../../core/database/sharing.ts";

/** With `auto`, each new connection is checked. With `session`, a pooler, if any, keeps one backend for the lifetime of
 *  the connection. */
export type PoolerMode = "auto" | "session" | "transaction";

interface BackendRow {
  readonly isOwn: boolean;
  readonly isJitUnset: boolean;
  readonly hasPlpgsql: boolean;
}

/** Detects a pooler, which gives a new client an invented process id instead of the backend's own. The query also
 *  switches `jit` off. The planner overestimates statements with many nested rows, whose compilation takes several
 *  times as long as their execution. A value that is set for the server, database, role or connection stays. On a
 *  shared backend `jit` is unchanged, because the setting would affect other clients. @rule R-TX-8 R-TX-15 */
const BACKEND_QUERY = `select backend.own as "isOwn",
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

const NO_PROCESS_ID = -1;

/** Returns the parameter of the query: the expected process id of the backend, or null if any id is right. `processId`
 *  is the id that was reported when the connection was opened; PostgreSQL always reports an id. */
const chooseProcessId = (mode: PoolerMode, processId: number | null): number | null =>
  mode === "session" ? null : mode === "auto" ? (processId ?? NO_PROCESS_ID) : NO_PROCESS_ID;

/** Returns the facts about a backend. `row` is undefined if the server rejected the query. */
const buildBackend = (row: BackendRow | undefined, mode: PoolerMode): Backend => {
  const isShared = row === undefined ? mode === "transaction" : !row.isOwn;
  const setsJit = row?.isJitUnset ?? false;
  const hasPlpgsql = row?.hasPlpgsql ?? false;
  return {
    isShared,
    hasNoJit: !isShared && setsJit,
    sharing: findSharing(setsJit, hasPlpgsql),
  };
};

/** Queries the facts about the backend of a new connection. @throws the error of the connection */
export const loadBackend = async (connection: Connection, mode: PoolerMode): Promise<Backend> => {
  const expectedProcessId = chooseProcessId(mode, connection.processId);
  // A server that rejects the query keeps its defaults.
  const rows = await connection.query<BackendRow>(BACKEND_QUERY, [expectedProcessId]).catch((error: unknown) => {
    if (connection.isEnded || !isPgError(error) || isFatal(error)) throw error;
  });
  return buildBackend(rows?.[0], mode);
};

/** Returns whether the connection still has the backend that the server reported when it was opened. A lost connection
 *  also counts as unchanged, because its backend is unknown. @rule R-TX-15 */
export const hasOwnBackend = (connection: Connection): Promise<boolean> =>
  connection.query<{ readonly id: number }>("select pg_catalog.pg_backend_pid() as id", []).then(
    ([row]) => row?.id === connection.processId,
    () => true,
  );
