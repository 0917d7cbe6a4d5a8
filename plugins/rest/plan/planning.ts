/** What planning sees of a request: every read is a question whose answer becomes part of the plan's cache key. */
import {
  planKey,
  questionsAbout,
  sightOf,
  type Ask,
  type Model,
  type Question,
  type Relation,
} from "../../../core/index.ts";
import type { ParsedQuery, Preferences, QueryKind, Rest, RestRequest, Window } from "../request.ts";
import type { Payload } from "../api.ts";

/** The body of a write or a call without its text: the values in it are bound. */
export type PayloadShape = Omit<Payload, "text">;

/** Where a call's arguments come from, if that affects the plan. */
export type InputShape =
  | { readonly kind: "query" }
  /** a form: text, in order, names possibly repeated */
  | { readonly kind: "form"; readonly pairs: readonly (readonly [name: string, value: string])[] }
  /** a JSON body or the rows of a CSV body */
  | { readonly kind: "payload"; readonly isJson: boolean }
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

/** Each look at a preference is a question of its own. */
export type ObservedPreferences = Omit<Preferences, "given"> & {
  readonly given: { get(name: string): string | undefined };
};

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
  readonly preferences: ObservedPreferences;
  /** Execution plans name whatever the statement touches: columns too that a permission of the metadata hides. @rule
   *  R-MED-7 */
  readonly maySeePlans: boolean;
  /** First value of a request header, lower-case name. */
  header(name: string): string | undefined;
  /** Of reads and writes. */
  readonly relation: Relation;
  readonly payload: PayloadShape | undefined;
  /** Of calls. */
  readonly input: InputShape;
}

const question = questionsAbout(({ request }: PlanSource) => request);

const REST = question("rest", ({ rest }) => rest);
const MODEL = question("model", ({ model }) => model);
const METHOD = question("method", ({ method }) => method);
const SCHEMA = question("schema", ({ schema }) => schema);
const NAME = question("name", ({ name }) => name);
const QUERY_TEXT = question("query", ({ queryText }) => queryText);
const QUERY_KIND = question<QueryKind>("query kind", ({ queryKind }) => queryKind);
const HAS_MARKS = question("marks are there", ({ filterValues }) => filterValues.length > 0);
const MAY_SEE_PLANS = question(
  "may see plans",
  ({ model, exchange }) => sightOf(model, exchange.session, "rest").isByGrants,
);
const HAS_LIMIT = question("limit is there", ({ range }) => range.limit !== undefined);
const HAS_OFFSET = question("offset is there", ({ range }) => range.offset !== 0n);
const INVALID = question<readonly string[]>("invalid preferences", ({ preferences }) => preferences.invalid, planKey);

type PreferenceName = Exclude<keyof Preferences, "invalid" | "given">;

const PREFERENCES = Object.fromEntries(
  (
    [
      "resolution",
      "missing",
      "return",
      "count",
      "tx",
      "handling",
      "timezone",
      "maxAffected",
    ] as const satisfies readonly PreferenceName[]
  ).map((name) => [name, question(`preference ${name}`, ({ preferences }) => preferences[name])]),
) as { readonly [Name in PreferenceName]: Question<PlanSource, Preferences[Name]> };

const given = <Answer>(answer: Answer | undefined, what: string): Answer => {
  if (answer === undefined) throw new Error(`planned without ${what}`); // a fault of the handler
  return answer;
};

const RELATION: Question<PlanSource, Relation> = {
  name: "relation",
  of: ({ relation }) => given(relation, "a relation"),
};

const PAYLOAD: Question<PlanSource, PayloadShape | undefined> = {
  name: "payload",
  of: ({ payload }) =>
    payload && {
      shape: payload.shape,
      keys: payload.keys,
      isEmpty: payload.isEmpty,
      isUninspected: payload.isUninspected,
    },
  key: (shape) => shape && planKey(shape),
};

const INPUT: Question<PlanSource, InputShape> = {
  name: "input",
  of: ({ input }) => given(input, "arguments"),
  key: planKey,
};

/** The preferences a plan may look at, one by one. */
const observedPreferences = (ask: Ask<PlanSource>): ObservedPreferences =>
  Object.defineProperties(
    {
      get invalid() {
        return ask(INVALID);
      },
      given: {
        get: (name: string) => ask(question(`given ${name}`, ({ preferences }) => preferences.given.get(name))),
      },
    },
    Object.fromEntries(
      Object.entries(PREFERENCES).map(([name, asked]) => [name, { get: () => ask<unknown>(asked), enumerable: true }]),
    ),
  );

export const planningOf = (ask: Ask<PlanSource>): Planning => ({
  get rest() {
    return ask(REST);
  },
  get model() {
    return ask(MODEL);
  },
  get method() {
    return ask(METHOD);
  },
  get schema() {
    return ask(SCHEMA);
  },
  get name() {
    return ask(NAME);
  },
  get query() {
    return ask(REST).parseQuery(ask(QUERY_TEXT), ask(QUERY_KIND));
  },
  get hasMarks() {
    return ask(HAS_MARKS);
  },
  window: {
    get hasLimit() {
      return ask(HAS_LIMIT);
    },
    get hasOffset() {
      return ask(HAS_OFFSET);
    },
  },
  preferences: observedPreferences(ask),
  get maySeePlans() {
    return ask(MAY_SEE_PLANS);
  },
  header: (name) => ask(question(`header ${name}`, ({ exchange }) => exchange.header(name))),
  get relation() {
    return ask(RELATION);
  },
  get payload() {
    return ask(PAYLOAD);
  },
  get input() {
    return ask(INPUT);
  },
});
