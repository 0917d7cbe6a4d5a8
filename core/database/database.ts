/** Creates the database interface of core: transactions of requests, and queries of core itself. */
import type { CacheManager } from "../kernel/cache.ts";
import type { CurrentState } from "../kernel/current-state.ts";
import type { Logger } from "../settings/options.ts";
import { createSignal, type Signal } from "../kernel/token.ts";
import { createHealthProblems, type HealthProblems } from "../kernel/health-problems.ts";
import type { SessionSpec } from "../plugin.ts";
import { compileSql, type BoundValue, type Sql, type Slot } from "../sql/fragment.ts";
import { RelApiError } from "../kernel/errors.ts";
import { createExecutor, type Execute, type Executor } from "./execute.ts";
import { convertStatementError, isPgError } from "./pg-errors.ts";
import type { Connection, DatabaseServer, ScriptResult } from "./connection.ts";
import type { Connector, ReplicationConnection } from "./connector.ts";
import { runScript, type ScriptOptions } from "./script.ts";
import { rejectInvalidText } from "../values/invalid-text.ts";
import { createPool, type Pool, type PoolCounts } from "./pool.ts";
import { PARSED_MULTIPLE } from "./prepared-statements.ts";
import { buildFullCleaning } from "./cleaning.ts";
import { getSharing } from "./sharing.ts";
import { planUnprepared } from "./wire.ts";

export type Query = <Row>(statement: Sql) => Promise<readonly Row[]>;

export interface Database {
  readonly execute: Execute;
  readonly runTransaction: Executor["runTransaction"];
  readonly transactionSender: Executor["transactionSender"];
  /** Runs one statement as the login role, outside requests. All slots of the statement must be `fixed`. */
  readonly query: Query;
  script(statement: Sql, options: ScriptOptions): Promise<readonly ScriptResult[]>;
  /** Runs several statements in one read-only transaction with one snapshot, and with an empty search path. Statements
   *  of `afterwards` run after `work`, whose result does not wait for them. @rule R-SC-1 */
  snapshot<Result>(work: (query: Query, queryLater: Query) => Promise<Result>): Promise<Result>;
  /** Opens a connection outside the pools. @throws RelApiError */
  openReplication(): Promise<ReplicationConnection>;
  /** Replaces each pooled connection once it is idle. */
  renew(): void;
  counts(): PoolCounts;
  /** Closes the connections, after a wait of up to `patienceMs` for connections in use. */
  close(patienceMs: number): Promise<void>;
}

const SECOND_MS = 1000;
/** Begins the transaction and applies its settings in one round trip. Just-in-time compilation is off: the planner
 *  overestimates the cost of catalog queries, and compiling one takes ten times as long as running it. Parallel workers
 *  are off, because they would take processors from requests. */
const BEGIN_SNAPSHOT =
  "begin isolation level repeatable read read only; select pg_catalog.set_config('search_path', '', true), pg_catalog.set_config('jit', 'off', true), pg_catalog.set_config('max_parallel_workers_per_gather', '0', true)";

/** Creates the database, which connects at first use. */
export const createDatabase = (
  current: CurrentState,
  logger: Logger,
  caches: CacheManager,
  sessions: readonly SessionSpec[],
  connector: Connector,
  endedSignal: Signal<unknown> = createSignal(),
  healthProblems: HealthProblems = createHealthProblems(),
): Database => {
  // These options are read once, because reloads do not change the options of connections.
  const { options } = current;
  const warn: Logger["warn"] = (message, fields) => logger.warn(message, fields);
  const pools: Pool[] = [];
  const openPool = (server: DatabaseServer): Pool => {
    const pool = createPool({
      server,
      maxCount: Math.min(options.dbPool, server.maxCount ?? options.dbPool),
      acquisitionMs: options.dbPoolAcquisitionTimeout * SECOND_MS,
      lifetimeMs: options.dbPoolMaxLifetime * SECOND_MS,
      idleMs: options.dbPoolMaxIdletime * SECOND_MS,
      maxResultBytes: options.maxResultBytes,
      maxParsedBytes: options.dbMaxPreparedBytes * PARSED_MULTIPLE,
      warn,
    });
    pools.push(pool);
    return pool;
  };
  const primary = openPool(connector.primary);
  const replicas = connector.openReplicas(openPool);
  const logStatement = options.logQuery ? (text: string): void => logger.info(text) : undefined;

  const withConnection = async <Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> => {
    const connection = await primary.acquire();
    let isClean = false;
    try {
      const result = await work(connection);
      isClean = true;
      return result;
    } catch (error) {
      throw isPgError(error) || (connection.isEnded && !(error instanceof RelApiError))
        ? convertStatementError(error)
        : error;
    } finally {
      primary.release(connection, isClean);
    }
  };

  /** Cleans a shared connection at the end of a transaction in which user-defined code may have run. The next
   *  transaction may use another backend. */
  const cleanSharedConnection = async (connection: Connection): Promise<void> => {
    const sharing = getSharing(connection);
    if (sharing === undefined) return;
    for (const { text } of buildFullCleaning(sharing)) await connection.query(text, []);
  };

  /** Cleans a connection after a transaction in which user-defined code may have run. */
  const cleanConnection = async (connection: Connection): Promise<void> => {
    if (connection.isEnded || connection.backend.isShared) return;
    await connection.run(planUnprepared([]), "all");
    if ((await connection.cleaner.lastCleaning) === false) await connection.end();
  };

  const executor = createExecutor({
    caches,
    sessions,
    current,
    primary,
    replicas,
    warn,
    healthProblems,
    logStatement,
    endedSignal,
  });
  return {
    execute: executor.execute,
    runTransaction: executor.runTransaction,
    transactionSender: executor.transactionSender,
    query: (statement) => withConnection((connection) => runStatement(connection, statement)),
    script: (statement, options) =>
      withConnection(async (connection) => {
        try {
          return await runScript(connection, buildScriptText(statement), options, () =>
            cleanSharedConnection(connection),
          );
        } finally {
          await cleanConnection(connection);
        }
      }),
    snapshot: (work) => {
      replicas?.start();
      return new Promise((resolve, reject) => {
        const workResult = withConnection(async (connection) => {
          await connection.query(BEGIN_SNAPSHOT, []);
          let last: Promise<unknown> = Promise.resolve();
          const queryInOrder: Query = <Row>(statement: Sql) => {
            const rows = last.then(() => runStatement<Row>(connection, statement));
            last = rows.catch(() => undefined); // the caller that awaits the rows gets the error
            return rows;
          };
          const deferredQueries: (() => void)[] = [];
          const queryLater: Query = <Row>(statement: Sql) =>
            new Promise<readonly Row[]>((take) => deferredQueries.push(() => take(queryInOrder(statement))));
          resolve(await work(queryInOrder, queryLater));
          for (const startQuery of deferredQueries) startQuery();
          await last;
          // Cleaning is necessary, because the function of `dbPreConfig` is user-defined code.
          await cleanSharedConnection(connection);
          await connection.query("commit", []);
          await cleanConnection(connection);
        });
        // Only reads ran, so the error does not affect a result that was already returned.
        workResult.catch(reject);
      });
    },
    openReplication: () => connector.openReplication(primary.sharing !== undefined),
    renew: () => {
      for (const pool of pools) pool.renew();
    },
    counts: primary.counts,
    close: async (patienceMs) => {
      await Promise.all([...pools.map((pool) => pool.close(patienceMs)), connector.close()]);
      await options.database?.close?.();
    },
  };
};

const buildScriptText = (statement: Sql): string => {
  const { text, slots } = compileSql(statement);
  if (slots.length > 0) throw new TypeError("a script cannot have slots: use quoteIdentifier() and trustedSql()");
  return text;
};

const runStatement = <Row>(connection: Connection, statement: Sql): Promise<readonly Row[]> => {
  const { text, slots } = compileSql(statement);
  return connection.query<Row>(text, slots.map(readFixedValue));
};

const readFixedValue = (slot: Slot): BoundValue => {
  if ("fixed" in slot) {
    rejectInvalidText(slot.fixed);
    return slot.fixed;
  }
  throw new TypeError("a statement outside a request cannot have slots for request values: use value()");
};
