/** What planning sees of a request: every read is a question whose answer becomes part of the plan's cache key. */
import {
  membersIn,
  membersOf,
  planKey,
  questionsAbout,
  visibilityOf,
  type Ask,
  type Model,
  type Question,
  type Relation,
} from "../../../core/index.ts";
import type { ParsedQuery, Preferences, Rest, RestRequest, Window } from "../request.ts";
import type { Payload } from "../api.ts";

/** The body of a write or a call without its text: the values in it are bound. */
export type PayloadShape = Omit<Payload, "text">;

/** Where a call's arguments come from, if that affects the plan. */
export type InputShape =
  | { readonly kind: "query" }
  /** a form: text, in order, names possibly repeated */
  | { readonly kind: "form"; readonly pairs: readonly (readonly [name: string, value: string])[] }
  /** a JSON body or the rows of a CSV body. `isPlain`: its values are there as texts */
  | { readonly kind: "payload"; readonly isJson: boolean; readonly isPlain?: true }
  | { readonly kind: "raw"; readonly type: "text" | "xml" | "bytea" };

/** What plans are made from. */
export interface PlanSource {
  readonly request: RestRequest;
  /** Of reads and writes. */
  readonly relation?: Relation;
  readonly payload?: Payload | undefined;
  /** Of calls. */
  readonly input?: InputShape;
}

export interface Planning {
  readonly rest: Rest;
  readonly model: Model;
  readonly method: string;
  readonly schema: string;
  readonly name: string;
  readonly query: ParsedQuery;
  /** The query contains marks in place of values. */
  readonly hasMarks: boolean;
  readonly window: Window;
  readonly preferences: Preferences;
  /** Execution plans name whatever the statement touches: columns too that a permission of the metadata hides. @rule
   *  R-MED-7 */
  readonly maySeePlans: boolean;
  /** The header. */
  readonly accept: string | undefined;
  /** Of reads and writes. */
  readonly relation: Relation;
  readonly payload: PayloadShape | undefined;
  /** Of calls. */
  readonly input: InputShape;
}

const question = questionsAbout(({ request }: PlanSource) => request);
const ofRequest = membersIn<PlanSource>()("request");
const member = membersOf<PlanSource>();

/** All that it says and that does not stand in one of the others; and the model, the settings and the method. */
const PARSED = ofRequest("parsed");
const HAS_LIMIT = ofRequest("hasLimit");
const HAS_OFFSET = ofRequest("hasOffset");
const ACCEPT = ofRequest("accept");
const MAY_SEE_PLANS = question(
  "may see plans",
  ({ model, exchange }) => visibilityOf(model, exchange.session, "rest").isByGrants,
);

const given = <Answer>(answer: Answer | undefined, what: string): Answer => {
  if (answer === undefined) throw new Error(`planned without ${what}`); // a fault of the handler
  return answer;
};

const RELATION = member("relation");

const PAYLOAD: Question<PlanSource, PayloadShape | undefined> = {
  name: "payload",
  of: ({ payload }) =>
    payload && {
      shape: payload.shape,
      keys: payload.keys,
      isEmpty: payload.isEmpty,
      isUninspected: payload.isUninspected,
      ...(payload.isText && { isText: payload.isText }),
    },
  key: (shape) => shape && planKey(shape),
};

const INPUT = member("input", planKey);

export const planningOf = (ask: Ask<PlanSource>): Planning => {
  const { rest, model, method, schema, name, query, hasMarks, preferences } = ask(PARSED);
  return {
    rest,
    model,
    method,
    schema,
    name,
    query,
    hasMarks,
    preferences,
    window: {
      get hasLimit() {
        return ask(HAS_LIMIT);
      },
      get hasOffset() {
        return ask(HAS_OFFSET);
      },
    },
    get maySeePlans() {
      return ask(MAY_SEE_PLANS);
    },
    get accept() {
      return ask(ACCEPT);
    },
    get relation() {
      return given(ask(RELATION), "a relation");
    },
    get payload() {
      return ask(PAYLOAD);
    },
    get input() {
      return given(ask(INPUT), "arguments");
    },
  };
};
