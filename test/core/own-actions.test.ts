/** Actions that functions of the application answer. */
import { expect, test } from "vitest";
import { z } from "zod";
import { compose, RelApiError, type Plugin, type RelApiOptions } from "../../core/index.ts";
import { actions, type Action } from "../../plugins/services/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type TestApi } from "../support/api.ts";
import { readError } from "../support/cases.ts";

const serve = (plugin: Plugin): Promise<TestApi> =>
  startApi(forGraphql({ preset: (options: RelApiOptions) => compose(fullCompat(options), plugin) }));

const serveActions = (definitions: Readonly<Record<string, Action>>, types?: string): Promise<TestApi> =>
  serve(actions(definitions, types));
const TYPES = "type Token { value: String! level: Level } enum Level { low high } input Login { name: String! }";

test("X-ACT-9 a function answers the field, with the arguments and the session", async () => {
  const target = await serveActions(
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
  const target = await serveActions({
    reject: {
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
  expect(readError(await target.gql("mutation { reject }"))).toEqual({
    message: "no",
    extensions: { code: "no", why: 1 },
  });
  for (const field of ["fail", "misfit"])
    expect(readError(await target.gql(`mutation { ${field} }`))).toMatchObject({ message: "internal error" });
});

test("X-ACT-16 a schema of zod checks and converts the arguments, and types the input of the function", async () => {
  const target = await serve(
    actions({
      greet: {
        args: "name: String!, born: String",
        inputSchema: z.object({
          name: z.string().trim().min(2),
          born: z.iso.date().transform((text) => new Date(text)),
        }),
        output: "String!",
        run: ({ input: { name, born } }) => `${name.toUpperCase()} ${born.getUTCFullYear()}`,
      },
      echo: { args: "name: String", output: "String", run: ({ input }) => input["name"] ?? null },
    }),
  );
  expect((await target.gql('mutation { greet(name: " Ada ", born: "1815-12-10") echo(name: "b") }')).data).toEqual({
    greet: "ADA 1815",
    echo: "b",
  });
  const rejection = await target.gql('mutation { greet(name: "A", born: "x") }');
  expect(readError(rejection)).toEqual({
    message: "name: Too small: expected string to have >=2 characters; born: Invalid ISO date",
    extensions: { code: "validation-failed", path: "$.selectionSet.greet" },
  });
});

test("X-ACT-16 a schema may be asynchronous and have issues without a path, and its exceptions are logged", async () => {
  const notEqual = z.object({ a: z.int(), b: z.int() }).refine(async ({ a, b }) => a !== b, "a equals b");
  const failing = z.int().refine(() => {
    throw new Error("secret");
  });
  const args = "a: Int!, b: Int!";
  const target = await serve(
    actions({
      add: { args, inputSchema: notEqual, output: "Int!", run: ({ input: { a, b } }) => a + b },
      fail: { args, inputSchema: z.object({ a: failing }), output: "Int!", run: ({ input: { a } }) => a },
    }),
  );
  expect((await target.gql("mutation { add(a: 1, b: 2) }")).data).toEqual({ add: 3 });
  expect(readError(await target.gql("mutation { add(a: 1, b: 1) }"))).toMatchObject({ message: "a equals b" });
  expect(readError(await target.gql("mutation { fail(a: 1, b: 1) }"))).toMatchObject({ message: "internal error" });
});

test.each([
  [{ output: "Nothing" }, "", 'actions: a: output type: there is no type "Nothing"'],
  [{ output: "Int", args: "x" }, "", "actions: a: Syntax Error"],
  [{ output: "Int", args: "x: Int = 1" }, "", "actions: a: x: default values are not supported"],
  [{ output: "Int" }, "type T { a: Nothing }", 'actions: types: T: a: there is no type "Nothing"'],
  [{ output: "Int" }, "union U = A", "actions: types: UnionTypeDefinition is not a type of an action"],
])("X-ACT-9 a mistake in the SDL is found at the start, %#", async (definition, types, message) => {
  await expect(serveActions({ a: { ...definition, run: () => 1 } }, types)).rejects.toThrow(message);
});

const run = (): number => 1;

test.each<[string, unknown]>([
  ["the first argument is not an object of actions", undefined],
  ["a: it has no function run", { a: null }],
  ["a: it has no function run", { a: { output: "Int" } }],
  ["a: its kind is unknown", { a: { output: "Int", run, kind: true } }],
  ["a: its type is neither query nor mutation", { a: { output: "Int", run, type: "subscription" } }],
  ['a: it has an unknown option "role"', { a: { output: "Int", run, role: ["reader"] } }],
  ['a: it has an unknown option "timeoutSeconds"', { a: { output: "Int", run, timeoutSeconds: 1 } }],
  ["a: its output is not a string of SDL", { a: { run } }],
  ["a: its args are not a string of SDL", { a: { output: "Int", run, args: {} } }],
  ["a: its inputSchema does not implement Standard Schema", { a: { output: "Int", run, inputSchema: {} } }],
  ["a: its inputSchema does not implement Standard Schema", { a: { output: "Int", run, inputSchema: null } }],
  ["a: its roles are no list of names", { a: { output: "Int", run, roles: "reader" } }],
  ["a: its description is not a string", { a: { output: "Int", run, description: 1 } }],
])("X-ACT-9 X-ACT-16 options that do not fit are rejected: %s", (message, definitions) => {
  const typedDefinitions = definitions as Readonly<Record<string, Action>>; // the types reject them too
  expect(() => actions(typedDefinitions)).toThrow(`actions: ${message}`);
});

test("X-ACT-9 types that are not text, and SDL with a second field, are rejected", async () => {
  expect(() => actions({}, {} as string)).toThrow("actions: the second argument is not a string of SDL");
  await expect(serveActions({ a: { output: "Int b: Int", run } })).rejects.toThrow(
    "actions: a: its args and output declare another field",
  );
});
