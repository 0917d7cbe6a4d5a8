/** Calls of the api by the application itself, without HTTP. */
import express, { type ErrorRequestHandler } from "express";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { CallError } from "../../core/index.ts";
import type {} from "../../plugins/graphql/api.ts";
import type {} from "../../plugins/rest/api.ts";
import { capabilities, forGraphql, startApi } from "../support/api.ts";
import { atFileEnd } from "../support/file-end.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";

const { relApi: api, ...http } = await startApi({ restPath: "/api", compatMode: false });
const { relApi: music } = await startApi(forGraphql());

const admin = { role: "admin", isAdmin: true };

const catchError = (call: Promise<unknown>): Promise<CallError> =>
  call.then(
    () => expect.unreachable("it was answered"),
    (error: CallError) => error,
  );

describe("api.rest", () => {
  test("X-CALL-1 api.rest returns the same response as HTTP", async () => {
    const response = await api.rest({
      path: "/ports?select=id,name&order=id&limit=2",
      headers: { prefer: "count=exact" },
    });
    const answer = await http.get("/api/ports?select=id,name&order=id&limit=2", { headers: { prefer: "count=exact" } });
    expect(response.json()).toEqual(answer.json());
    expect(response.status).toBe(answer.status);
    expect(response.headers["content-range"]).toBe(answer.headers["content-range"]);
  });

  test("X-CALL-4 a call runs as the role of its session, or of its headers", async () => {
    const session = { role: "sea_clerk", claims: { sub: "7" }, variables: { "user-id": "7" } };
    await http.sql(`create function sea.caller() returns json language sql stable as $$ select json_build_object(
      'role', current_user, 'sub', current_setting('request.jwt.claims')::json ->> 'sub',
      'user', current_setting('session.user_id', true), 'method', current_setting('request.method')) $$`);
    await api.reload();
    expect((await api.rest({ path: "/rpc/caller", session })).json()).toEqual({
      role: "sea_clerk",
      sub: "7",
      user: "7",
      method: "GET",
    });
    expect((await api.rest({ path: "/rpc/caller" })).json().role).toBe("sea_anon");
    const headers = bearer({ role: "sea_auditor" });
    expect((await api.rest({ path: "/rpc/caller", headers })).json().role).toBe("sea_auditor");
  });

  test("X-CALL-1 a call takes bodies as values, as text and as bytes", async () => {
    await http.sql("create function sea.echo(said json) returns json language sql immutable as 'select said'");
    await api.reload();
    const call = (body: unknown, headers = {}) =>
      api.rest({ method: "POST", path: "/rpc/echo", body, headers, session: admin }).then((answer) => answer.json());
    expect(await call({ said: { a: 1 } })).toEqual({ a: 1 });
    expect(await call('{"said":[1]}', { "content-type": "application/json" })).toEqual([1]);
    expect(await call(Buffer.from('{"said":null}'), { "content-type": "application/json" })).toBeNull();
  });

  test("X-CALL-1a paths and headers of a call may contain any characters", async () => {
    const path = "/مو?select=اسم&اسم=eq.نجم";
    expect((await api.rest({ path, session: admin })).json()).toEqual([{ اسم: "نجم" }]);
    expect((await api.rest({ path: encodeURI(path), session: admin })).json()).toEqual([{ اسم: "نجم" }]);
    expect((await api.rest({ path: "/rpc/greet?name=Zoë", session: admin })).json()).toBe("Ahoy, Zoë");
    const headers = { "accept-profile": "Größe" };
    expect(await catchError(api.rest({ path: "/ports", headers, session: admin }))).toMatchObject({
      code: "PGRST106",
      message: "Invalid schema: Größe",
    });
  });

  test("X-CALL-3 a call rejects for an unknown path and an invalid session", async () => {
    expect(await catchError(api.rest({ path: "/nowhere" }))).toMatchObject({ status: 404, code: "PGRST205" });
    expect(await catchError(api.rest({ path: "/ports", session: { role: "nobody_at_all" } }))).toMatchObject({
      status: 401,
      code: "22023",
    });
  });

  test.skipIf(!capabilities.realServer)("X-CALL-1 a signal cancels the statement of a call", async () => {
    await http.sql("create function sea.nap() returns void language sql as 'select pg_sleep(600)'");
    await api.reload();
    const controller = new AbortController();
    const error = catchError(api.rest({ method: "POST", path: "/rpc/nap", signal: controller.signal, session: admin }));
    const sleeping = "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
    await until(async () => (await http.sql(sleeping)).length === 1, "the function sleeps");
    controller.abort();
    expect(await error).toBeInstanceOf(Error);
    await until(async () => (await http.sql(sleeping)).length === 0, "the function has been cancelled");
    await expect(api.rest({ path: "/ports", signal: controller.signal })).rejects.toThrow();
  });
});

describe("api.graphql", () => {
  test("X-CALL-2 api.graphql returns data under the permissions of the session", async () => {
    const query = "query ($id: Int!) { album_by_pk(id: $id) { id title } }";
    const { data, errors } = await music.graphql({ query, variables: { id: 1 }, session: admin });
    expect(errors).toBeUndefined();
    expect(data).toMatchObject({ album_by_pk: { id: 1 } });
    const rejection = await music.graphql({ query, variables: { id: 1 }, session: { role: "music_nobody" } });
    expect(rejection.errors?.[0]?.extensions.code).toBe("validation-failed");
  });

  test("X-CALL-2 api.graphql returns errors as a client gets them", async () => {
    const { errors } = await music.graphql({ query: "{ nothing }", session: admin });
    expect(errors).toEqual([
      {
        message: "field 'nothing' not found in type: 'query_root'",
        extensions: { path: "$.selectionSet.nothing", code: "validation-failed" },
      },
    ]);
  });
});

describe("a subscription", () => {
  const subscription = { query: "subscription { album_by_pk(id: 1) { id } }", session: admin };

  test("X-CALL-2 api.graphql rejects a subscription", async () => {
    expect(await music.graphql(subscription)).toEqual({
      errors: [
        {
          message: "subscriptions are not supported over HTTP, use websockets instead",
          extensions: { path: "$", code: "unexpected-payload" },
        },
      ],
    });
  });

  test("X-CALL-2 X-CALL-3 api.graphql rejects a subscription that asks for an event stream", async () => {
    const error = await catchError(music.graphql({ ...subscription, headers: { accept: "text/event-stream" } }));
    expect([error.status, error.code]).toEqual([406, "stream-not-callable"]);
  });
});

test("X-CALL-3 an error handler of Express answers with a call's status", async () => {
  const app = express();
  app.get("/one", async (_request, response) => {
    const headers = { accept: "application/vnd.pgrst.object+json" };
    response.json((await api.rest({ path: "/ports?id=eq.0", headers })).json());
  });
  const handledErrors: unknown[] = [];
  const note: ErrorRequestHandler = (error, _request, _response, next) => {
    handledErrors.push(error);
    next(error);
  };
  const server = app.use(note).listen(0, "127.0.0.1");
  atFileEnd(async () => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/one`);
  expect(answer.status).toBe(406);
  expect(handledErrors).toHaveLength(1);
  expect(handledErrors[0]).toBeInstanceOf(CallError);
  expect(handledErrors[0]).toMatchObject({ status: 406, statusCode: 406, code: "PGRST116" });
  expect(JSON.parse((handledErrors[0] as CallError).body)).toMatchObject({ code: "PGRST116" });
});
