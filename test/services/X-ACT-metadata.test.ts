/** Actions and types of the metadata that do not fit, projects of Hasura's command line, and the metadata API. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { asAdmin } from "../support/api.ts";
import { collectWarnings, buildMetadataDocument, table, type Entry } from "../support/metadata-document.ts";
import { runCommand } from "../support/metadata-commands.ts";
import { temporaryFile, temporaryFolder } from "../support/temporary-files.ts";
import {
  argument,
  buildDocument,
  CUSTOM_TYPES,
  definition,
  LOGIN,
  startActionHook,
  WEATHER,
} from "./action-metadata.ts";
import { json } from "./hook-server.ts";
import { startWithWebhooks } from "./start.ts";

const hook = await startActionHook();

const reader = asAdmin("reader");
const LOG_IN = 'mutation { login(login: {name: "Ada"}) { value } }';

beforeEach(() => void (hook.answer = json({ value: "t" })));

describe("metadata that does not fit", () => {
  const collectProblems = async (metadata: Entry): Promise<readonly string[]> => {
    const warnings = collectWarnings();
    await startWithWebhooks({ metadata, logger: warnings.logger });
    return warnings.all();
  };
  const action = (definitionKeys: Entry, actionKeys: Entry = {}): Entry => ({
    ...LOGIN,
    ...actionKeys,
    definition: definition(definitionKeys),
  });

  test("X-ACT-8 each action that does not fit is left out with its reason", async () => {
    const faulty: readonly (readonly [action: Entry, reason: string])[] = [
      [action({ kind: "asynchronous", type: "query" }), "only mutations can be asynchronous"],
      [action({ kind: "asynchronous" }, { name: "Token" }), "a type has that name in GraphQL"],
      [action({ kind: "later" }), "its kind is unknown"],
      [
        action({ request_transform: { version: 2, method: "TRACE" } }),
        "request_transform.method is not one of GET, POST, PUT, PATCH, DELETE",
      ],
      [action({ type: "subscription" }), 'its type is "subscription", not query or mutation'],
      [action({ handler: "{{NOWHERE}}/login" }), "the environment variable NOWHERE is not set"],
      [action({ handler: "login" }), "its handler is not an http or https URL"],
      [action({ handler: null }), "it has no handler"],
      [action({ output_type: undefined }), "it has no output type"],
      [action({ output_type: "Tok en" }), 'output type: "Tok en" is not a GraphQL type'],
      [action({ output_type: "Nothing" }), 'output type: there is no type "Nothing"'],
      [action({ output_type: "Login" }), 'output type: "Login" is an input type'],
      [action({ arguments: [argument("a", "Token")] }), 'a: "Token" is no input type'],
      [action({ arguments: [argument("a", "Int"), argument("a", "Int")] }), "a: the name is taken"],
      [action({ arguments: [argument("a b", "Int")] }), '"a b" is not a valid GraphQL name'],
      [action({ headers: [{ name: "a", value_from_env: "NOWHERE" }] }), "the environment variable NOWHERE is not set"],
      [action({ headers: [{ name: "a" }] }), "headers[0] needs either value or value_from_env"],
      [action({ headers: [{ name: "a b", value: "c" }] }), "headers[0] is a header that HTTP cannot send"],
      [
        action({ headers: [{ name: "a", value_from_env: "ACTION_BROKEN" }] }),
        'the header "a" of the webhook cannot be sent',
      ],
      [action({ forward_client_headers: "yes" }), "its forward_client_headers is neither true nor false"],
      [action({}, { permissions: "reader" }), "permissions is not a list"],
      [action({ arguments: "name" }), "arguments is not a list"],
      [action({ timeout: -1 }), "its timeout is not a number of seconds up to 3600"],
    ];
    // Each has a name of its own, unless the name is the mistake.
    const distinctActions = faulty.map(([entry, reason], i) => {
      const name = entry["name"] === LOGIN.name ? `login_${i}` : String(entry["name"]);
      return [{ ...entry, name }, `action ${name}: ${reason}; ignored`] as const;
    });
    const expected = distinctActions.map(([, message]) => message);
    process.env["ACTION_BROKEN"] = "a\nb";
    onTestFinished(() => void delete process.env["ACTION_BROKEN"]);
    expect(await collectProblems(buildDocument([...distinctActions.map(([entry]) => entry), WEATHER]))).toEqual(
      expected,
    );
  });

  test("X-ACT-8a unknown keys are in the log, and the action is served", async () => {
    const warnings = collectWarnings();
    const misspelt = action({ timout: 5 }, { permission: [] });
    const api = await startWithWebhooks({ metadata: buildDocument([misspelt, WEATHER]), logger: warnings.logger });
    expect(warnings.all()).toEqual([
      "action login: permission is unknown; ignored",
      "action login: definition.timout is unknown; ignored",
    ]);
    expect((await api.gql(LOG_IN, {}, reader)).data).toEqual({ login: { value: "t" } });
  });

  test("X-ACT-8 lists of types that are not lists are reported", async () => {
    const types = { ...CUSTOM_TYPES, scalars: "Anything", enums: {} };
    expect((await collectProblems(buildDocument([], types))).slice(0, 2)).toEqual([
      "custom type enums: it is not a list; ignored",
      "custom type scalars: it is not a list; ignored",
    ]);
  });

  test("X-ACT-8 names of tables are taken, and so are names of other actions", async () => {
    expect(await collectProblems(buildDocument([action({}, { name: "artist" }), LOGIN, LOGIN, WEATHER]))).toEqual([
      "action artist: a table or function has that name in GraphQL; ignored",
      "action login: the name is taken; ignored",
    ]);
  });

  test("X-ACT-8 types that do not fit are left out, with the types and actions that need them", async () => {
    const types = {
      objects: [
        { name: "Token", fields: [argument("value", "Value")] },
        { name: "artist", fields: [argument("a", "Int")] },
        { name: "Empty", fields: [] },
      ],
      input_objects: [
        { name: "Login", fields: [argument("name", "String")] },
        { name: "Int", fields: [argument("a", "Int")] },
      ],
      enums: [{ name: "Value", values: [] }],
      scalars: [{ name: "Anything" }],
    };
    expect(await collectProblems(buildDocument([LOGIN, WEATHER], types))).toEqual([
      "custom type artist: a table or function has that name in GraphQL; ignored",
      "custom type Empty: it has no fields; ignored",
      "custom type Int: the name is taken; ignored",
      "custom type Value: it has no values; ignored",
      'custom type Token: value: there is no type "Value"; ignored',
      'action login: output type: there is no type "Token"; ignored',
    ]);
  });
});

describe("a project of Hasura's command line", () => {
  test("X-ACT-2 actions.graphql completes actions.yaml", async () => {
    const sdl = `
        type Mutation { "Logs in." login(login: Login!, since: timestamptz): Token }
        extend type Query { weather: [String!] }
        input Login { name: String! level: Level }
        "Proves a login." type Token { value: String! }
        enum Level { low high }
        scalar Anything`;
    const handler = { kind: "synchronous", handler: "{{ACTION_BASE}}/login" };
    const yaml = {
      actions: [
        { name: "login", definition: handler, permissions: [{ role: "reader" }] },
        { name: "weather", definition: { ...handler, kind: "" }, permissions: [{ role: "reader" }] },
      ],
      custom_types: {
        enums: [{ name: "Level" }],
        input_objects: [{ name: "Login" }],
        objects: [{ name: "Token" }],
        scalars: [{ name: "Anything" }],
      },
    };
    const folder = temporaryFolder({
      "version.yaml": "version: 3\n",
      "databases/databases.yaml": "- name: default\n  kind: postgres\n  tables: []\n",
      "actions.graphql": sdl,
      "actions.yaml": JSON.stringify(yaml),
    });
    const warnings = collectWarnings();
    const otherApi = await startWithWebhooks({ metadata: folder, logger: warnings.logger });
    expect(warnings.all()).toEqual([]);
    expect((await otherApi.gql(LOG_IN, {}, reader)).data).toEqual({ login: { value: "t" } });
    hook.answer = json(["rain"]);
    expect((await otherApi.gql("{ weather }", {}, reader)).data).toEqual({ weather: ["rain"] });
    await writeFile(join(folder, "actions.graphql"), "\n# no actions");
    await writeFile(join(folder, "actions.yaml"), "actions: []\ncustom_types:\n  objects: []\n");
    await startWithWebhooks({ metadata: folder, logger: warnings.logger });
    expect(warnings.all()).toEqual([]);
    await writeFile(join(folder, "actions.graphql"), "type Mutation {\n  login(: Int }");
    await expect(startWithWebhooks({ metadata: folder })).rejects.toThrow(
      /metadata .*actions\.graphql:2:9 cannot be read: Syntax Error/,
    );
  });
});

describe("the metadata API", () => {
  test("X-ACT-10 its commands create, change and drop actions, permissions and types", async () => {
    const file = temporaryFile("metadata.json", JSON.stringify(buildMetadataDocument([table("artist")])));
    const otherApi = await startWithWebhooks({ metadata: file });
    const run = (type: string, args: unknown): Promise<any> => runCommand(otherApi, type, args);
    const success = { message: "success" };
    expect(await run("create_action", { name: "login", definition: definition() })).toMatchObject({
      code: "invalid-configuration",
    });
    expect(await run("set_custom_types", { objects: "Token" })).toEqual({
      path: "$.args.objects",
      error: "expected a list",
      code: "parse-failed",
    });
    expect(await run("set_custom_types", { scalars: [{ name: "Anything" }, "Token"] })).toEqual({
      path: "$.args.scalars[1]",
      error: "expected an object",
      code: "parse-failed",
    });
    expect(await run("set_custom_types", CUSTOM_TYPES)).toEqual(success);
    expect(await run("create_action", { name: "login", definition: definition(), comment: "Logs in." })).toEqual(
      success,
    );
    expect(await run("create_action", { name: "login", definition: definition() })).toMatchObject({
      code: "already-exists",
    });
    expect((await otherApi.gql(LOG_IN, {}, reader)).errors).toHaveLength(1);
    expect(await run("create_action_permission", { action: "login", role: "reader" })).toEqual(success);
    expect(await run("create_action_permission", { action: "login", role: "reader" })).toMatchObject({
      code: "already-exists",
    });
    expect((await otherApi.gql(LOG_IN, {}, reader)).data).toEqual({ login: { value: "t" } });
    expect(await run("update_action", { name: "login", definition: definition({ output_type: "Anything" }) })).toEqual(
      success,
    );
    expect((await otherApi.gql('mutation { login(login: {name: "a"}) }', {}, reader)).data).toEqual({
      login: { value: "t" },
    });
    expect(await run("drop_action_permission", { action: "login", role: "reader" })).toEqual(success);
    expect(await run("drop_action", { name: "login" })).toEqual(success);
    expect(await run("drop_action", { name: "login" })).toMatchObject({ code: "not-exists" });
    expect(await run("create_action_permission", { action: "login", role: "reader" })).toMatchObject({
      code: "not-exists",
    });
  });
});
