/** Tables of cases: a request in, an answer out (docs/design.md section 11). */
import { expect, test } from "vitest";
import type { Answer, HeaderValues, TestApi } from "./api.ts";
import { adminSecret, bearer } from "./tokens.ts";

type LazyApi = TestApi | (() => TestApi);

interface CaseParts {
  /** Begins with the rule id. */
  readonly title: string;
  /** Skips the case when false: `when: capabilities.postgis`. */
  readonly when?: boolean;
  readonly headers?: HeaderValues;
}

export interface Case extends CaseParts {
  /** `GET /vessels?select=name`; blanks and other alphabets may stand as they are. */
  readonly request: string;
  readonly body?: unknown;
  /** Shorthand for a token with this role. */
  readonly role?: string;
  /** When absent any 2xx will do. */
  readonly status?: number;
  readonly statusText?: string;
  /** The body as parsed JSON. Strings may be asymmetric matchers (`expect.stringContaining`). */
  readonly answer?: unknown;
  /** The body to the byte. */
  readonly bytes?: string | Uint8Array;
  /** Values to the letter, a pattern, or null: the header is absent. */
  readonly responseHeaders?: Readonly<Record<string, string | RegExp | null>>;
  /** What the rest cannot say. */
  readonly check?: (answer: Answer) => void | Promise<void>;
}

export interface GqlCase extends CaseParts {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Shorthand for `X-Session-Role`. */
  readonly role?: string;
  /** Shorthand for `X-Session-<name>` headers. */
  readonly session?: Readonly<Record<string, string>>;
  /** The expected `data`; there must be no `errors`. */
  readonly data?: unknown;
  /** The one expected error; there must be no `data`. `internal` is compared only when given. */
  readonly error?: {
    readonly message: unknown;
    readonly path?: unknown;
    readonly code?: unknown;
    readonly internal?: unknown;
  };
  /** The body to the byte. */
  readonly bytes?: string;
}

const apiOf = (api: LazyApi): TestApi => (typeof api === "function" ? api() : api);

const expectHeaders = (answer: Answer, wanted: NonNullable<Case["responseHeaders"]>): void => {
  for (const [name, header] of Object.entries(wanted)) {
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
  const shown = answer.text.slice(0, 2000); // in the message of a wrong status: the answer says why
  if (row.status !== undefined) expect(answer.status, shown).toBe(row.status);
  else expect(answer.status >= 200 && answer.status < 300, `status ${answer.status}: ${shown}`).toBe(true);
  if (row.statusText !== undefined) expect(answer.statusText).toBe(row.statusText);
  if (row.answer !== undefined) expect(answer.json()).toEqual(row.answer);
  if (typeof row.bytes === "string") expect(answer.text).toBe(row.bytes);
  else if (row.bytes !== undefined) expect([...answer.bytes]).toEqual([...row.bytes]);
  if (row.responseHeaders !== undefined) expectHeaders(answer, row.responseHeaders);
  await row.check?.(answer);
};

/** One test per row. `api`, or a function that gives it once the tests run. */
export const cases = (api: LazyApi, rows: readonly Case[]): void => {
  for (const row of rows) {
    if (!/^[A-Z]+ \//.test(row.request))
      throw new Error(`case "${row.title}": the request must read like "GET /vessels"`);
    if (!hasExpectation(row)) throw new Error(`case "${row.title}" expects nothing`);
    test.skipIf(row.when === false)(row.title, () => runCase(apiOf(api), row));
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

/** One test per row, as administrator unless `role`, `session` or `headers` say otherwise. */
export const gqlCases = (api: LazyApi, rows: readonly GqlCase[]): void => {
  for (const row of rows) {
    if (row.data === undefined && row.error === undefined && row.bytes === undefined)
      throw new Error(`case "${row.title}" expects nothing`);
    test.skipIf(row.when === false)(row.title, () => runGqlCase(apiOf(api), row));
  }
};
