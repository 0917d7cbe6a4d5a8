/** What streamed answers are to the surfaces: types and tokens. */
import { defineService, type Answer, type Execution, type LongBody } from "../../../core/index.ts";

/** The bytes that are written around a body. */
export interface Around {
  readonly before: Buffer;
  readonly after: Buffer;
  /** All of it is compressed, so that its length is not known. */
  readonly isZipped: boolean;
}

/** Takes the long body of one execution, which arrives when its answer has begun. */
export interface StreamedBody extends LongBody {
  /** The answer with the body that was taken; without one, the answer as it is. */
  addTo(answer: Answer, around?: Around): Answer;
}

export interface StreamedAnswers {
  readonly aboveBytes: number;
  /** For each execution. */
  open(): StreamedBody;
  /** Returns the reader of an execution whose body goes to `body` if it is long. */
  read(body: LongBody): Execution["longRows"];
}

/** Offered by the plugin `streamed-answers`. */
export const streamedAnswersService = defineService<StreamedAnswers>("streamed-answers");
