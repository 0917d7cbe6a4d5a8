/** Tables of test cases, each with a request and its expected response (docs/design/house-rules.md). */
import { expect, test } from "vitest";
import type { Answer, HeaderValues, TestApi } from "./api.ts";
import { adminSecret, bearer } from "./tokens.ts";

type LazyApi = TestApi | (() => TestApi);

interface CaseParts {
  /** The title, which begins with the rule id. */
  readonly title: string;
  /** Skips the case when false: `when: capabilities.postgis`. */
  readonly when?: boolean;
  readonly headers?: HeaderValues;
}

export interface Case extends CaseParts {
  /** The request: `GET /vessels?select=name`. Blanks and other alphabets need no escaping. */
  readonly request: string;
  readonly body?: unknown;
  /** A role for which a token is signed. */
  readonly role?: string;
  /** The expected status. Any 2xx is accepted if absent. */
  readonly status?: number;
  readonly statusText?: string;
  /** The expected body as parsed JSON. Strings may be asymmetric matchers (`expect.stringContaining`). */
  readonly answer?: unknown;
  /** The exact body. */
  readonly bytes?: string | Uint8Array;
  /** The exact header value, a pattern, or null for an absent header. */
  readonly responseHeaders?: Readonly<Record<string, string | RegExp | null>>;
  /** A check that the other members cannot express. */
  readonly check?: (answer: Answer) => void | Promise<void>;
}

export interface GqlCase extends CaseParts {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** The value of `X-Session-Role`. */
  readonly role?: string;
  /** The values of `X-Session-<name>` headers. */
  readonly session?: Readonly<Record<string, string>>;
  /** The expected `data`; there must be no `errors`. */
  readonly data?: unknown;
  /** The single expected error, without `data`. `internal` is compared only if given. */
  readonly error?: {
    readonly message: unknown;
    readonly path?: unknown;
    readonly code?: unknown;
    readonly internal?: unknown;
  };
  /** The exact body. */
  readonly bytes?: string;
}

/** The body of a GraphQL response with one error and no data. */
export const buildGqlErrorBody = (message: unknown, code: string, path = "$") => ({
  errors: [{ message, extensions: { path, code } }],
});

/** The first error of a GraphQL response. */
export const readError = ({ errors }: any): unknown => errors[0];

/** The request line of a read of the ids that a filter selects. */
export const buildFilterRequest = (relation: string, filter: string): string =>
  `GET /${relation}?select=id&order=id&${filter}`;

const resolveApi = (api: LazyApi): TestApi => (typeof api === "function" ? api() : api);

const expectHeaders = (answer: Answer, expected: NonNullable<Case["responseHeaders"]>): void => {
  for (const [name, header] of Object.entries(expected)) {
    const actual = answer.headers[name.toLowerCase()];
    if (header === null) expect(actual, `header ${name}`).toBeUndefined();
    else if (header instanceof RegExp) expect(actual ?? "(absent)", `header ${name}`).toMatch(header);
    else expect(actual, `header ${name}`).toBe(header);
  }
};

const hasExpectation = (row: Case): boolean =>
  [row.status, row.statusText, row.answer, row.bytes, row.responseHeaders, row.check].some(
    (part) => part !== undefined,
  );

const runCase = async (api: TestApi, row: Case): Promise<void> => {
  const space = row.request.indexOf(" ");
  const answer = await api.request(row.request.slice(0, space), row.request.slice(space + 1), {
    headers: { ...(row.role === undefined ? {} : bearer({ role: row.role })), ...row.headers },
    body: row.body,
  });
  const excerpt = answer.text.slice(0, 2000); // shown in the message of a wrong status, because the body explains it
  if (row.status !== undefined) expect(answer.status, excerpt).toBe(row.status);
  else expect(answer.status >= 200 && answer.status < 300, `status ${answer.status}: ${excerpt}`).toBe(true);
  if (row.statusText !== undefined) expect(answer.statusText).toBe(row.statusText);
  if (row.answer !== undefined) expect(answer.json()).toEqual(row.answer);
  if (typeof row.bytes === "string") expect(answer.text).toBe(row.bytes);
  else if (row.bytes !== undefined) expect([...answer.bytes]).toEqual([...row.bytes]);
  if (row.responseHeaders !== undefined) expectHeaders(answer, row.responseHeaders);
  await row.check?.(answer);
};

/** Defines one test per row. `api` may be a function that is called when the tests run. */
export const cases = (api: LazyApi, rows: readonly Case[]): void => {
  for (const row of rows) {
    if (!/^[A-Z]+ \//.test(row.request))
      throw new Error(`case "${row.title}": the request must read like "GET /vessels"`);
    if (!hasExpectation(row)) throw new Error(`case "${row.title}" expects nothing`);
    test.skipIf(row.when === false)(row.title, () => runCase(resolveApi(api), row));
  }
};

const sessionHeaders = (session: Readonly<Record<string, string>> = {}): HeaderValues =>
  Object.fromEntries(Object.entries(session).map(([name, text]) => [`x-session-${name}`, text]));

const runGqlCase = async (api: TestApi, row: GqlCase): Promise<void> => {
  const answer = await api.post("/v1/graphql", {
    headers: {
      "x-session-admin-secret": adminSecret,
      "x-session-role": row.role,
      ...sessionHeaders(row.session),
      ...row.headers,
    },
    body: { query: row.query, variables: row.variables },
  });
  if (row.bytes !== undefined) expect(answer.text).toBe(row.bytes);
  if (row.data !== undefined) expect(answer.json()).toEqual({ data: row.data });
  if (row.error !== undefined) {
    const body = answer.json();
    expect(body, answer.text).not.toHaveProperty("data");
    expect(body.errors, answer.text).toHaveLength(1);
    const { message, path, code, internal } = row.error;
    const { extensions } = body.errors[0];
    expect({ message: body.errors[0].message, path: extensions.path, code: extensions.code }).toEqual({
      message,
      path: path ?? extensions.path,
      code: code ?? extensions.code,
    });
    if (internal !== undefined) expect(extensions.internal).toEqual(internal);
  }
};

/** Defines one test per row, as administrator unless `role`, `session` or `headers` are given. */
export const gqlCases = (api: LazyApi, rows: readonly GqlCase[]): void => {
  for (const row of rows) {
    if (row.data === undefined && row.error === undefined && row.bytes === undefined)
      throw new Error(`case "${row.title}" expects nothing`);
    test.skipIf(row.when === false)(row.title, () => runGqlCase(resolveApi(api), row));
  }
};
