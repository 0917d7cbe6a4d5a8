/** Prepares requests. Equal requests are parsed, planned and compiled only once. Every read of a request is a question
 *  whose answer becomes part of the cache key. */
import {
  defineCacheQuestion,
  observeSession,
  planKey,
  getVisibility,
  type Ask,
  type Cache,
  type CacheQuestion,
  type Relation,
} from "../../../core/index.ts";
import type { Payload } from "../api.ts";
import type {
  InputShape,
  ParsedRequest,
  PlannedRequest,
  PreparedRequest,
  RequestSource,
  RestSurface,
} from "../request.ts";
import { isReading, parseForPlan } from "../syntax/parse-request.ts";

/** The body of a write or a call without its text, whose values are bound. */
export type PayloadShape = Omit<Payload, "text">;

/** The parts of a request that planning uses. */
export interface PlanInput extends ParsedRequest {
  /** True if execution plans may be shown. Execution plans name all used columns, even columns that metadata
   *  permissions hide. @rule R-MED-7 */
  readonly maySeePlans: boolean;
  readonly accept: string | undefined;
  /** The relation of a read or a write. */
  readonly relation: Relation;
  readonly payload: PayloadShape | undefined;
  /** The arguments of a call. */
  readonly input: InputShape;
}

const ACCEPT = defineCacheQuestion("accept", ({ exchange }: RequestSource) => exchange.header("accept"));
const MAY_SEE_PLANS = defineCacheQuestion(
  "may see plans",
  ({ model, session }: RequestSource) => getVisibility(model, session, "rest").isByGrants,
);
const RELATION = defineCacheQuestion("relation", ({ relation }: RequestSource) => relation);

const createInputQuestion = (
  hasColumns: boolean,
): CacheQuestion<
  RequestSource,
  { readonly shape: InputShape; readonly payload: PayloadShape | undefined } | undefined
> =>
  defineCacheQuestion(
    "input",
    ({ input }) => {
      const { shape, payload } = input?.(hasColumns) ?? {};
      return shape && { shape, payload: payload && removeText(payload) };
    },
    (input) => input && planKey(input),
  );

const removeText = ({ shape, keys, isEmpty, isUninspected, isText }: Payload): PayloadShape => ({
  shape,
  keys,
  isEmpty,
  isUninspected,
  ...(isText && { isText }),
});

const INPUT = createInputQuestion(false);
const INPUT_WITH_COLUMNS = createInputQuestion(true);

/** Returns whether the query names the columns of the body. */
export const namesColumns = ({ query, method }: Pick<ParsedRequest, "query" | "method">): boolean =>
  query.columns !== undefined && method !== "PUT";

const requireFact = <Answer>(answer: Answer | undefined, fact: string): Answer => {
  if (answer === undefined) throw new Error(`planned without ${fact}`); // only a bug of the handler causes this error
  return answer;
};

const createPlanInput = (parsedRequest: ParsedRequest, ask: Ask<RequestSource>): PlanInput => {
  const isRead = parsedRequest.kind === "relation" && isReading(parsedRequest.method);
  const input = isRead ? undefined : ask(namesColumns(parsedRequest) ? INPUT_WITH_COLUMNS : INPUT);
  return {
    ...parsedRequest,
    get maySeePlans() {
      return ask(MAY_SEE_PLANS);
    },
    get accept() {
      return ask(ACCEPT);
    },
    get relation() {
      return requireFact(ask(RELATION), "a relation");
    },
    payload: input?.payload,
    get input() {
      return requireFact(input, "arguments").shape;
    },
  };
};

/** An estimate of the memory of a prepared request for each character of its parameters. */
const BYTES_PER_CHARACTER = 60;

/** Caches the requests of a handler. @rule R-CAC-1 */
export const createRequestCache = <Planned extends PlannedRequest>(
  rest: RestSurface,
  name: string,
  plan: (planInput: PlanInput) => Planned,
): Cache<RequestSource, PreparedRequest<Planned>> =>
  rest.context.caches.create({
    name,
    make: (ask: Ask<RequestSource>) => {
      const parsedRequest = parseForPlan(rest, ask);
      const plannedRequest = plan(createPlanInput(parsedRequest, ask));
      return {
        parsedRequest,
        plannedRequest,
        program: rest.context.prepare(plannedRequest, observeSession(ask), "rest"),
      };
    },
    estimateBytes: ({ parsedRequest: { query } }) =>
      query.pairs.reduce((bytes, [key, text = ""]) => bytes + (key.length + text.length) * BYTES_PER_CHARACTER, 7000),
  });
