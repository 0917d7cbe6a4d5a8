/** Transforms of Hasura metadata: actions send the changed request to a real HTTP server, and change its answer. */
import { beforeEach, describe, expect, test } from "vitest";
import { asAdmin, type TestApi } from "../support/api.ts";
import { collectWarnings, buildMetadataDocument, table, type Entry } from "../support/metadata-document.ts";
import { argument, startActionHook } from "./action-metadata.ts";
import { json } from "./hook-server.ts";
import { startWithWebhooks } from "./start.ts";

const hook = await startActionHook();

const buildAction = (name: string, transforms: Entry): Entry => ({
  name,
  definition: {
    handler: "{{ACTION_BASE}}/first?from=handler",
    type: "mutation",
    arguments: [argument("of", "Anything")],
    output_type: "Anything",
    headers: [{ name: "X-Fixed", value: "fixed" }],
    ...transforms,
  },
  permissions: [{ role: "reader" }],
});

/** Starts an api with an action for each of the transforms: `action_0`, `action_1` … */
const start = (transforms: readonly Entry[], warnings = collectWarnings()): Promise<TestApi> =>
  startWithWebhooks({
    logger: warnings.logger,
    metadata: buildMetadataDocument([table("artist")], {
      actions: transforms.map((transform, i) => buildAction(`action_${i}`, transform)),
      custom_types: { scalars: [{ name: "Anything" }] },
    }),
  });

const reader = asAdmin("reader", { "user-id": "7" });

const INPUT = {
  name: "Ada & Bo",
  count: 7,
  isNew: true,
  nothing: null,
  list: [{ id: 1 }, { id: 2 }],
  "a key": { deep: "é" },
};

const run = (api: TestApi, index: number): Promise<any> =>
  api.gql(`mutation ($of: Anything) { action_${index}(of: $of) }`, { of: INPUT }, reader);

beforeEach(() => {
  hook.requests.length = 0;
  hook.answer = json({});
});

interface ExpectedRequest {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Transforms of requests, with the requests that they make. */
const REQUESTS: readonly (readonly [title: string, transform: Entry, expected: ExpectedRequest])[] = [
  ["the method", { method: "patch" }, { method: "PATCH", url: "/first?from=handler" }],
  [
    "the URL",
    { url: "{{$base_url}}&name={{escapeUri $body.input.of.name}}" },
    { method: "POST", url: "/first?from=handler&name=Ada%20%26%20Bo" },
  ],
  [
    "the parameters",
    { query_params: { "a b": "{{$body.input.of['a key'].deep}}", gone: "{{$body.input.of.nothing}}", bare: null } },
    { url: "/first?a%20b=%C3%A9&bare" },
  ],
  ["the query", { query_params: "x={{$body.input.of.count}}" }, { url: "/first?x=7" }],
  ["the query by the first one", { query_params: { old: "{{$query_params[0][1]}}" } }, { url: "/first?old=handler" }],
  [
    "the headers",
    {
      request_headers: {
        add_headers: {
          "x-name": "{{$body.input.of['a key'].deep}}",
          "x-user": '{{getSessionVariable "X-Hasura-User-Id"}}',
        },
        remove_headers: ["x-fixed"],
      },
    },
    {
      headers: {
        "x-name": Buffer.from("é").toString("latin1"),
        "x-user": "7",
        "x-fixed": expect.not.stringContaining(""),
      },
    },
  ],
  ["the body to none", { body: { action: "remove" } }, { body: "" }],
  [
    "the body to a form",
    {
      body: {
        action: "x_www_form_urlencoded",
        form_template: { name: "{{$body.input.of.name}}", "n[]": "{{$body.input.of.count}}" },
      },
    },
    { body: "name=Ada%20%26%20Bo&n%5B%5D=7", headers: { "content-type": "application/x-www-form-urlencoded" } },
  ],
  [
    "the content type",
    { content_type: "x-www-form-urlencoded" },
    { headers: { "content-type": "application/x-www-form-urlencoded", "x-fixed": "fixed" } },
  ],
  ["the body by version 1", { version: 1, body: "{{$body.action}}" }, { body: '{"name":"action_9"}' }],
];

/** Templates of bodies, with their values. */
const TEMPLATES: readonly (readonly [template: string, body: string])[] = [
  ["{{$body.input.of.list[1].id}}", "2"],
  ["{{ $body.input.of?.absent.more }}", "null"],
  ['{{$body.input.of.list?[5].id ?? "none"}}', '"none"'],
  ["{{$body.input.of.nothing ?? $body.input.of?.absent ?? 1.50}}", "1.50"],
  [
    ' { "who" : "{{$body.input.of.name}}, {{$body.input.of.isNew}} {x} \\u0041", "b": [ ], "c": {}, "d": [1, -2, false, null] } ',
    '{"who":"Ada & Bo, true {x} A","b":[],"c":{},"d":[1,-2,false,null]}',
  ],
  ["{{toLower(escapeUri($body.input.of.name))}}", '"ada%20%26%20bo"'],
  ["{{$session_variables['x-hasura-role']}}", '"reader"'],
  ['{"a":{"b":[{{$body.input.of.count}},{{$body.input.of.list}}]}}', '{"a":{"b":[7,[{"id":1},{"id":2}]]}}'],
];

describe("requests", async () => {
  const api = await start([
    ...REQUESTS.map(([, transform]) => ({ request_transform: { version: 2, ...transform } })),
    ...TEMPLATES.map(([template]) => ({
      request_transform: { version: 2, template_engine: "Kriti", body: { action: "transform", template } },
    })),
  ]);

  test.each(REQUESTS.map(([title, , expected], i) => [title, expected, i] as const))(
    "X-HTTP-7 X-ACT-13 a transform changes %s",
    async (_title, { headers = {}, ...expected }, i) => {
      expect(await run(api, i)).toEqual({ data: { [`action_${i}`]: {} } });
      const [request] = hook.requests;
      expect(request).toMatchObject(expected);
      for (const [name, value] of Object.entries(headers))
        if (typeof value === "string") expect(request?.headers[name]).toBe(value);
        else expect(request?.headers).not.toHaveProperty(name);
    },
  );

  test.each(TEMPLATES.map(([template, body], i) => [template, body, i] as const))(
    "X-HTTP-8 %s becomes %s",
    async (_template, body, i) => {
      await run(api, REQUESTS.length + i);
      expect(hook.requests.map((request) => request.body)).toEqual([body]);
    },
  );
});

describe("answers", async () => {
  const buildResponseTransform = (template: string): Entry => ({
    response_transform: { version: 2, body: { action: "transform", template } },
  });
  const api = await start([
    buildResponseTransform("{{$body.data[0]}}"),
    buildResponseTransform(
      '{"status": {{$response.status}}, "asked": {{$request.body.input.of.count}}, "at": {{$request.query_params}}}',
    ),
    buildResponseTransform('{"message": "{{$body.reason}}", "code": "rejected"}'),
    buildResponseTransform("{{$body.absent}}"),
    { response_transform: { version: 2, body: { action: "remove" } } },
    { request_transform: { version: 2, url: "{{$body.input.of.list}}" } },
    { request_transform: { version: 2, url: "/{{$body.input.of.count}}" } },
  ]);

  test("X-ACT-13 the answer of the webhook becomes the value of the template", async () => {
    hook.answer = json({ data: ["first"] });
    expect(await run(api, 0)).toEqual({ data: { action_0: "first" } });
    expect(await run(api, 1)).toEqual({
      data: { action_1: { status: 200, asked: 7, at: [["from", "handler"]] } },
    });
    expect(await run(api, 4)).toEqual({ data: { action_4: null } });
  });

  test("X-ACT-13 the answer of a rejection becomes an error with its message", async () => {
    hook.answer = json({ reason: "closed" }, 403);
    const { errors } = await run(api, 2);
    expect(errors).toEqual([
      expect.objectContaining({ message: "closed", extensions: expect.objectContaining({ code: "rejected" }) }),
    ]);
  });

  test.each([
    [3, "Response Transformation Failed", 1],
    [5, "Request Transformation Failed", 0],
    [6, "Request Transformation Failed", 0],
  ])("X-ACT-13 a transform without a value is an error, %#", async (index, message, requestCount) => {
    const { errors } = await run(api, index);
    expect(errors).toEqual([
      expect.objectContaining({ message, extensions: expect.objectContaining({ code: "unexpected" }) }),
    ]);
    expect(hook.requests).toHaveLength(requestCount);
  });
});

/** Transforms that are rejected, with the reasons. */
const REJECTED_TRANSFORMS: readonly (readonly [transform: Entry, reason: string])[] = [
  [{ version: 3 }, "version is neither 1 nor 2"],
  [{ template_engine: "Jinja" }, "template_engine is not Kriti"],
  [{ timeout: 3 }, "timeout is not supported"],
  [{ method: "TRACE" }, "method is not one of GET, POST, PUT, PATCH, DELETE"],
  [{ url: 7 }, "url is not a string"],
  [{ url: "{{$base_url" }, "url: character 12: }} is expected"],
  [{ url: "{{SECRET}}" }, "url: character 3: SECRET is not supported"],
  [{ url: "{{$base_url == 1}}" }, "url: character 13: }} is expected"],
  [{ url: "{{}}" }, "url: character 3: a variable is expected"],
  [{ query_params: { a: 7 } }, "query_params.a is not a string"],
  [{ query_params: [] }, "query_params is not an object"],
  [
    { request_headers: { add_headers: { a: "{{$x}}" } } },
    "request_headers.add_headers.a: character 3: $x is not supported",
  ],
  [{ request_headers: { remove_headers: "a" } }, "request_headers.remove_headers is not a list of names"],
  [{ content_type: "text/xml" }, "content_type is neither application/json nor application/x-www-form-urlencoded"],
  [{ body: { action: "drop" } }, "body.action is not one of transform, remove, x_www_form_urlencoded"],
  [{ body: { action: "transform" } }, "body.template is not a string"],
  ...(
    [
      ["{{range _, x := $body.a}} {{x}} {{end}}", "character 3: range is not supported"],
      ["{{if true}} 1 {{else}} 2 {{end}}", "character 3: if is not supported"],
      ["{{$body.a[b]}}", "character 11: an index or a name in ' is expected"],
      ["{{$body.}}", "character 9: the name of a member is expected"],
      ['{"a": 1 "b": 2}', "character 9: , is expected"],
      ['{"{{$body.a}}": 1}', "character 3: the name of a member cannot be computed"],
      ['{"a": "b', 'character 9: " is expected'],
      ['"\\x"', "character 4: a string is not valid"],
      ["1 2", "character 3: the end is expected"],
      ["[".repeat(200), "character 102: it is nested too deeply"],
      ["{{".concat("(".repeat(200)), "character 103: it is nested too deeply"],
      ["", "character 1: a variable is expected"],
    ] as const
  ).map(([template, reason]) => [{ body: template }, `body: ${reason}`] as const),
];

test("X-HTTP-7 X-HTTP-8 X-ACT-8 a transform that cannot be served is reported with its location", async () => {
  const warnings = collectWarnings();
  await start(
    REJECTED_TRANSFORMS.map(([transform]) => ({ request_transform: transform })),
    warnings,
  );
  expect(warnings.all()).toEqual(
    REJECTED_TRANSFORMS.map(([, reason], i) => `action action_${i}: request_transform.${reason}; ignored`),
  );
});
