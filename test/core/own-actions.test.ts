/** Actions that functions of the application answer. */
import { expect, test } from "vitest";
import { compose, RelApiError, type RelApiOptions } from "../../core/index.ts";
import { actions, type Action } from "../../plugins/services/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type TestApi } from "../support/api.ts";

const base = await startApi(forGraphql());

const errorOf = ({ errors }: any): unknown => errors[0];

const own = (definitions: Readonly<Record<string, Action>>, types?: string): Promise<TestApi> =>
  startApi(
    forGraphql({
      on: base.database,
      preset: (given: RelApiOptions) => compose(fullCompat(given), actions(definitions, types)),
    }),
  );
const TYPES = "type Token { value: String! level: Level } enum Level { low high } input Login { name: String! }";

test("X-ACT-9 a function answers the field, with the arguments and the session", async () => {
  const target = await own(
    {
      login: {
        args: "login: Login!, times: Int",
        output: "Token!",
        roles: ["music_reader"],
        run: ({ input, session, signal }) => ({
          value: `${session.role} ${JSON.stringify(input)} ${signal.aborted}`,
          level: "high",
        }),
      },
      now: { type: "query", output: "timestamptz", run: () => "2026-01-01T00:00:00Z" },
    },
    TYPES,
  );
  const query = 'mutation { login(login: {name: "Ada"}) { value level } }';
  const { data } = await target.gql(query, {}, asAdmin("music_reader"));
  expect(data.login).toEqual({ value: 'music_reader {"login":{"name":"Ada"}} false', level: "high" });
  expect((await target.gql("{ now }")).data).toEqual({ now: "2026-01-01T00:00:00Z" });
  expect((await target.gql("{ now }", {}, asAdmin("music_reader"))).errors).toHaveLength(1);
});

test("X-ACT-9 errors that the function throws on purpose are shown, others are logged", async () => {
  const target = await own({
    refuse: {
      output: "Int",
      run: () => {
        throw new RelApiError({
          code: "no",
          status: 400,
          message: "no",
          facts: { extensions: { code: "no", why: 1 } },
        });
      },
    },
    fail: {
      output: "Int",
      run: () => {
        throw new Error("secret");
      },
    },
    misfit: { output: "Int", run: () => "text" },
  });
  expect(errorOf(await target.gql("mutation { refuse }"))).toEqual({
    message: "no",
    extensions: { code: "no", why: 1 },
  });
  for (const field of ["fail", "misfit"])
    expect(errorOf(await target.gql(`mutation { ${field} }`))).toMatchObject({ message: "internal error" });
});

test.each([
  [{ output: "Nothing" }, "", 'actions: a: output type: there is no type "Nothing"'],
  [{ output: "Int", args: "x" }, "", "actions: a: Syntax Error"],
  [{ output: "Int", args: "x: Int = 1" }, "", "actions: a: x: default values are not supported"],
  [{ output: "Int" }, "type T { a: Nothing }", 'actions: types: T: a: there is no type "Nothing"'],
  [{ output: "Int" }, "union U = A", "actions: types: UnionTypeDefinition is not a type of an action"],
])("X-ACT-9 a mistake in the SDL is found at the start, %#", async (given, types, message) => {
  await expect(own({ a: { ...given, run: () => 1 } }, types)).rejects.toThrow(message);
});
