/** Prepares requests: parses and plans each and compiles its program, once for all equal requests. Every read of a
 *  request is a question whose answer becomes part of the cache key. */
import {
  membersOf,
  observeSession,
  planKey,
  visibilityOf,
  type Ask,
  type Cache,
  type Question,
  type Relation,
} from "../../../core/index.ts";
import type { Payload } from "../api.ts";
import type { InputShape, ParsedRequest, PlannedRequest, Prepared, RequestSource, Rest } from "../request.ts";
import { isReading, parse } from "../syntax/parse-request.ts";

/** The body of a write or a call without its text: the values in it are bound. */
export type PayloadShape = Omit<Payload, "text">;

/** What planning sees of a request. */
export interface Planning extends ParsedRequest {
  /** Execution plans name whatever the statement touches: columns too that a permission of the metadata hides. @rule
   *  R-MED-7 */
  readonly maySeePlans: boolean;
  /** The header. */
  readonly accept: string | undefined;
  /** The relation of a read or a write. */
  readonly relation: Relation;
  readonly payload: PayloadShape | undefined;
  /** The arguments of a call. */
  readonly input: InputShape;
}

const ACCEPT: Question<RequestSource, string | undefined> = {
  name: "accept",
  of: ({ exchange }) => exchange.header("accept"),
};
const MAY_SEE_PLANS: Question<RequestSource, boolean> = {
  name: "may see plans",
  of: ({ model, session }) => visibilityOf(model, session, "rest").isByGrants,
};
const RELATION = membersOf<RequestSource>()("relation");

const inputQuestion = (
  hasColumns: boolean,
): Question<
  RequestSource,
  { readonly shape: InputShape; readonly payload?: PayloadShape | undefined } | undefined
> => ({
  name: "input",
  of: ({ input }) => {
    const { shape, payload } = input?.(hasColumns) ?? {};
    return shape && { shape, payload: payload && withoutText(payload) };
  },
  key: (input) => input && planKey(input),
});

const withoutText = ({ shape, keys, isEmpty, isUninspected, isText }: Payload): PayloadShape => ({
  shape,
  keys,
  isEmpty,
  isUninspected,
  ...(isText && { isText }),
});

const INPUT = inputQuestion(false);
const INPUT_OF_COLUMNS = inputQuestion(true);

/** Whether the query names the columns of the body. */
export const hasColumns = ({ query, method }: Pick<ParsedRequest, "query" | "method">): boolean =>
  query.columns !== undefined && method !== "PUT";

const requireAnswer = <Answer>(answer: Answer | undefined, what: string): Answer => {
  if (answer === undefined) throw new Error(`planned without ${what}`); // a fault of the handler
  return answer;
};

const planningOf = (parsed: ParsedRequest, ask: Ask<RequestSource>): Planning => {
  const isRead = parsed.kind === "relation" && isReading(parsed.method);
  const input = isRead ? undefined : ask(hasColumns(parsed) ? INPUT_OF_COLUMNS : INPUT);
  return {
    ...parsed,
    get maySeePlans() {
      return ask(MAY_SEE_PLANS);
    },
    get accept() {
      return ask(ACCEPT);
    },
    get relation() {
      return requireAnswer(ask(RELATION), "a relation");
    },
    payload: input?.payload,
    get input() {
      return requireAnswer(input, "arguments").shape;
    },
  };
};

/** An estimate of the memory of a prepared request for each character of its parameters. */
const BYTES_PER_CHARACTER = 60;

/** Caches the requests of a handler. @rule R-CAC-1 */
export const prepareRequests = <Made extends PlannedRequest>(
  rest: Rest,
  name: string,
  plan: (planning: Planning) => Made,
): Cache<RequestSource, Prepared<Made>> =>
  rest.context.caches.create({
    name,
    make: (ask: Ask<RequestSource>) => {
      const parsed = parse(rest, ask);
      const planned = plan(planningOf(parsed, ask));
      return { parsed, planned, program: rest.context.prepare(planned, observeSession(ask), "rest") };
    },
    bytesOf: ({ parsed: { query } }) =>
      query.pairs.reduce((bytes, [key, text = ""]) => bytes + (key.length + text.length) * BYTES_PER_CHARACTER, 7000),
  });
