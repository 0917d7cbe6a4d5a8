/** What streamed answers are to the surfaces: types and tokens. */
import { defineService, type Answer, type LongBody, type ResultRow } from "../../core/index.ts";

/** What is written with a body. */
export interface Around {
  readonly before: Buffer;
  readonly after: Buffer;
  /** All of it is compressed, so that its length is not known. */
  readonly isZipped: boolean;
}

/** Long bodies, which arrive when their answers have begun. */
export interface StreamedAnswers extends LongBody {
  /** The answer that is made of a row whose body is still to come, with its body. */
  withBody(row: ResultRow, answer: Answer, around?: Around): Answer;
}

/** Offered by the plugin `streamed-answers`. */
export const streamedAnswersService = defineService<StreamedAnswers>("streamed-answers");
