/** The types and the service of streamed answers, for the surfaces. */
import { defineService, type Answer, type Execution, type ResultRow } from "../../core/index.ts";

/** The receiver of a value. @experimental */
export interface ValueReceiver {
  /** Returns false to pause the database until `resume` is called. The buffer is not reused, so it need not be
   *  copied. */
  write(bytes: Buffer): boolean;
  /** Called when the value is complete. */
  end(): void;
  /** Called if the value can never be completed. */
  fail(): void;
}

/** Streams the body of a read-only transaction with one row, so that the row need not hold the body in memory.
 *  @experimental */
export interface LongBodyHandler {
  /** The size above which a body is streamed. Shorter bodies are returned with their row. */
  readonly aboveBytes: number;
  /** Called at most once, before the body arrives, unless a column after it has a value. `row` lacks the body. If a
   *  receiver is returned, `execute` resolves with `row` at once, and the transaction ends when the body has been
   *  read. If undefined is returned, the body is buffered. */
  onBody(row: ResultRow, body: ArrivingBody): ValueReceiver | undefined;
}

/** A body that is arriving from the database. @experimental */
export interface ArrivingBody {
  readonly bytes: number;
  readonly execution: Execution;
  /** Continues after `write` has returned false. */
  resume(): void;
  /** Discards the remainder of the body. */
  discard(): void;
}

/** The bytes before and after a body. @experimental */
export interface BodyFrame {
  readonly before: Buffer;
  readonly after: Buffer;
  /** True if the body is compressed together with these bytes, so that its length is unknown. */
  readonly isZipped?: boolean;
}

/** A long body on its way to the client. @experimental */
export interface StreamedBody {
  readonly receiver: ValueReceiver;
  /** Returns the answer with this body, between the bytes of `frame`. */
  attachTo(answer: Answer, frame?: BodyFrame): Answer;
}

/** The streaming of long bodies, for the surfaces. @experimental */
export interface StreamedAnswers {
  /** The size above which a body is streamed. */
  readonly aboveBytes: number;
  /** Opens a streamed body. Returns undefined if the body has to be buffered. */
  openBody(body: ArrivingBody): StreamedBody | undefined;
  /** Returns the reader of an execution whose body goes to `body` if it is long. */
  createRowReader(body: LongBodyHandler): Execution["longRows"];
}

/** The service by which surfaces stream long bodies. Offered by the plugin `streamed-answers`. @experimental */
export const streamedAnswersService = defineService<StreamedAnswers>("streamed-answers");
