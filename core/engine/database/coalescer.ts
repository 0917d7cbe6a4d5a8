/** Reads of several requests in one round trip and one transaction. Why they may: each is proven to run no code of users
 *  (R-TX-10), so that it cannot tell in whose company it runs; nothing is set for it but what the frame says and the
 *  database role, of which the frame is made too; and each says with its answer whether the proof, which was made when
 *  the schema was loaded, still holds: PostgreSQL looks as it reads. What does not succeed is left to run by itself: it
 *  has no effect, so that it may run twice. */
import { membersOf, type Ask, type Cache, type Caches } from "../../kernel/cache.ts";
import { isRelApiError } from "../../kernel/errors.ts";
import type { Signal } from "../../kernel/signals.ts";
import type { CoalescedRead, CoalescedRun, Coalescer, Execution } from "../../plugin.ts";
import type { Current } from "../current.ts";
import { relationOf, type Model, type Relation } from "../model/model.ts";
import { ident, literal, toStatement } from "../sql/fragment.ts";
import type { Program } from "../sql/program.ts";
import type { Connection } from "./connection.ts";
import { isFatal, isTimedOut, isUnreachable } from "./pg-errors.ts";
import type { Pool } from "./pool.ts";
import { settle, type createBatchPlanner } from "./prepared.ts";
import { Ran } from "./results.ts";
import { ownedName } from "./statements.ts";
import { mergeRows, type Sending, type Transaction, type Transactions } from "./transaction.ts";
import type { WireResult, WireStatement } from "./wire.ts";

interface Parts {
  readonly caches: Caches;
  readonly current: Current;
  readonly primary: Pool;
  readonly hasReplicas: boolean;
  readonly transactions: Transactions;
  readonly planBatch: ReturnType<typeof createBatchPlanner>;
  readonly prepares: boolean;
  readonly ran: Signal<unknown>;
  readonly logStatement: ((text: string) => void) | undefined;
}

interface ReadyRead extends CoalescedRead {
  readonly settings: WireStatement;
  readonly statement: WireStatement;
  /** Index of the column that says whether the proof holds no more. */
  readonly doubt: number;
  readonly heard: Ran | undefined;
}

const NOTHING: CoalescedRun = { rows: [], failedAt: 0, isBroken: false, tookMs: 0 };
const SENDING: Sending = { prepares: true, sharing: undefined };

/** A table as the proof wants it (R-TX-10), of `schema.name` where it is certain which part is which. */
const tableNamed = (model: Model, text: string): Relation | undefined => {
  const found: Relation[] = [];
  for (let dot = text.indexOf("."); dot !== -1; dot = text.indexOf(".", dot + 1)) {
    const relation = relationOf(model, { schema: text.slice(0, dot), name: text.slice(dot + 1) });
    if (relation !== undefined) found.push(relation);
  }
  const [only, ...others] = found;
  // what is proven with the model before need not be with this one
  return others.length === 0 && only?.plain !== undefined ? only : undefined;
};

/** The statement with one more column: whether row policies have begun to count for one of its tables, or its name is
 *  another relation's by now. Undefined: not all are known as tables. */
const doubting = (text: string, { relations }: Program, model: Model): string | undefined => {
  const tables = [...relations].map((each) => tableNamed(model, each));
  if (!tables.every((table) => table !== undefined)) return undefined;
  const doubts = tables.map(({ schema, name, oid }) => {
    const named = `${toStatement(literal(toStatement(ident(schema, name)).text)).text}::pg_catalog.regclass`;
    return `pg_catalog.row_security_active(${named}) or ${named}::pg_catalog.oid operator(pg_catalog.<>) ${oid}::pg_catalog.oid`;
  });
  return `select _read.*, ${doubts.length === 0 ? "false" : doubts.join(" or ")} from (${text}) as _read`;
};

interface TextSource {
  readonly program: Program;
  /** In force, whatever the program was made of. */
  readonly model: Model;
  readonly role: string | undefined;
}

type Text = Pick<WireStatement, "text" | "name">;

const ofText = membersOf<TextSource>();
const PROGRAM = ofText("program");
const MODEL = ofText("model");
const ROLE = ofText("role");

/** Null: it has no company. */
const makeText = (ask: Ask<TextSource>): Text | null => {
  const program = ask(PROGRAM);
  const [only, ...others] = program.statements;
  if (only === undefined || others.length > 0 || only.isMultiRow === true) return null;
  const text = doubting(only.text, program, ask(MODEL));
  return text === undefined ? null : { text, name: ownedName(text, ask(ROLE)) };
};

const BYTES_PER_TEXT = 100;

/** @rule R-TX-17 */
export const createCoalescer = (parts: Parts): Coalescer => {
  const { caches, current, primary, hasReplicas, transactions, planBatch, prepares, ran, logStatement } = parts;
  const texts: Cache<TextSource, Text | null> = caches.create({
    name: "coalesced statements",
    make: makeText,
    bytesOf: (made) => BYTES_PER_TEXT + (made?.text.length ?? 0) * 2,
  });

  const ready = (execution: Execution): ReadyRead | undefined => {
    const program = execution.programs[0]?.program;
    const { model } = current;
    if (program === undefined || model === undefined || !prepares || primary.sharing !== undefined) return undefined;
    if (hasReplicas && execution.mayUseReplica === true) return undefined;
    const own = texts.take({ program, model, role: execution.session.databaseRole });
    if (own === null) return undefined;
    let transaction: Transaction;
    try {
      transaction = transactions.build(execution, SENDING, false, true);
    } catch {
      return undefined;
    }
    const { statements, frame } = transaction;
    const [settings, statement] = statements;
    if (frame === undefined || settings === undefined || statement === undefined) return undefined;
    const { text, name } = own;
    const doubt = program.statements[0]?.columns.length ?? 0;
    const heard = ran.isHeard ? new Ran(execution) : undefined;
    return { execution, frame, settings, statement: { text, name, values: statement.values }, doubt, heard };
  };

  return {
    ready,
    run: async (take, patienceMs, late) => {
      let connection: Connection;
      try {
        const acquired = primary.acquire();
        connection = acquired instanceof Promise ? await acquired : acquired;
      } catch (error) {
        take();
        const isFinal = isTimedOut(error) || (isRelApiError(error) && error.code === "pool-timeout");
        return isFinal ? { ...NOTHING, error } : NOTHING;
      }
      const reads = take() as readonly ReadyRead[]; // what `ready` has made
      const [first] = reads;
      if (first === undefined || connection.backend.isShared) {
        primary.release(connection, true);
        return NOTHING;
      }
      const statements: WireStatement[] = [first.settings];
      const beganAtMs = performance.now();
      for (const { statement, heard } of reads) {
        statements.push(statement);
        if (heard !== undefined) heard.beganAtMs = beganAtMs;
        logStatement?.(statement.text);
      }
      const batch = planBatch(connection.prepared, statements, true);
      let cancelling: Promise<void> | undefined;
      let isOver = false;
      const patience = setTimeout(() => {
        // answers that have come while the process was busy are read first
        setImmediate(() => {
          if (isOver) return;
          cancelling = connection.cancel();
          late();
        });
      }, patienceMs);
      let result: WireResult;
      try {
        result = await connection.run(batch);
      } catch {
        // it is unknown what was sent and what the connection still waits for
        primary.release(connection, false);
        return NOTHING;
      } finally {
        isOver = true;
        clearTimeout(patience);
      }
      const tookMs = performance.now() - beganAtMs;
      let failedAt = reads.length;
      let isReusable = !connection.isEnded;
      if ("error" in result) {
        settle(connection.prepared, batch, result);
        failedAt = Math.max(0, result.failedAt - 1); // the settings are the first
        isReusable &&= !isFatal(result.error);
      }
      // a pending cancel request must not hit the next user of the connection
      if (cancelling === undefined) primary.release(connection, isReusable);
      else void (cancelling as Promise<void>).then(() => primary.release(connection, isReusable));
      const rows = [];
      for (let i = 0; i < failedAt; i++) {
        const { execution, doubt, heard } = reads[i] as ReadyRead; // i is within its length
        const merged = result.rows[i + 1]?.[doubt] === "f" ? mergeRows(execution, result.rows, i + 1) : undefined;
        if (merged !== undefined) heard?.tell(ran, merged);
        rows.push(merged);
      }
      const error = "error" in result && isUnreachable(result.error) ? { error: result.error } : {};
      return { rows, failedAt, isBroken: cancelling !== undefined, tookMs, ...error };
    },
  };
};
