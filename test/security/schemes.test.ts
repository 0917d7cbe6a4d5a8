/** Third-party auth schemes, written as in docs/guides/write-an-auth-scheme.md. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { definePlugin, quoteLiteral, RelApiError, sql, Stage, tokenRejected, without } from "../../core/index.ts";
import type { TokenRules } from "../../plugins/auth/api.ts";
import { forGraphql, startApi, type TestApi } from "../support/api.ts";
import {
  callGraphql,
  callRest,
  gqlError,
  installCallerSettings,
  readGraphqlSettings,
  readRestSettings,
} from "../support/caller-settings.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret, bearer, signToken } from "../support/tokens.ts";
import { createLogger } from "../support/logger.ts";

/** `X-Api-Key: …`: the role is looked up by the SHA-256 of the key. */
export const apiKeys = (roleOfKey: ReadonlyMap<string, string>) =>
  definePlugin({
    name: "api-keys",
    stage: Stage.early,
    apply: (hooks) => {
      hooks.authorize.tap("api-keys", (credentials) => {
        const key = credentials.header("x-api-key");
        if (key === undefined) return undefined; // the scheme does not apply, so the next one runs
        const role = roleOfKey.get(createHash("sha256").update(key).digest("hex"));
        if (role === undefined) throw tokenRejected("unknown API key");
        return { role, databaseRole: role, isAdmin: false, claims: { role }, variables: { "x-session-role": role } };
      });
    },
  });

const keys = new Map([[createHash("sha256").update("open sesame").digest("hex"), "music_reader"]]);

describe("an auth scheme of a plugin", () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(forGraphql({ anonRole: "music_nobody", parts: [apiKeys(keys)] }));
    await installCallerSettings(api);
  });

  test("R-AUT-6 G-AUTH-6 callers of the scheme have their role on both surfaces", async () => {
    const headers = { "X-Api-Key": "open sesame" };
    for (const callerSettings of [
      readRestSettings(await callRest(api, headers)),
      readGraphqlSettings(await callGraphql(api, headers)),
    ])
      expect(callerSettings).toMatchObject({
        current_user: "music_reader",
        "session.role": "music_reader",
        "session.variables": '{"x-session-role":"music_reader"}',
        "request.jwt.claims": '{"role":"music_reader"}',
      });
  });
  test("R-AUT-9 G-AUTH-6 an invalid credential of the scheme is rejected, also beside a valid token", async () => {
    const headers = { "X-Api-Key": "guess", ...bearer({ role: "music_reader" }) };
    const onRest = await callRest(api, headers);
    expect(onRest.status).toBe(401);
    expect(onRest.json()).toEqual({ code: "PGRST301", details: null, hint: null, message: "unknown API key" });
    expect(onRest.headers["www-authenticate"]).toBe(
      'Bearer error="invalid_token", error_description="unknown API key"',
    );
    expect(gqlError(await callGraphql(api, headers))).toEqual({
      message: "unknown API key",
      code: "access-denied",
      path: "$",
    });
    expect((await callGraphql(api, headers, [], "/v1alpha1/graphql")).status).toBe(401);
  });
  test("R-AUT-6 G-AUTH-7 the other auth schemes work as before", async () => {
    expect(readRestSettings(await callRest(api)).current_user).toBe("music_nobody");
    expect(readRestSettings(await callRest(api, bearer({ role: "music_editor" }))).current_user).toBe("music_editor");
    expect(readGraphqlSettings(await callGraphql(api, { "x-session-admin-secret": adminSecret })).current_user).toBe(
      "postgres",
    );
  });
  test("X-AUTH-1 the guide contains the scheme of this test", () => {
    const schemeIn = (path: string): string =>
      /export const apiKeys[^]*?\n {2}\}\);\n/.exec(readFileSync(new URL(path, import.meta.url), "utf8"))?.[0] ?? path;
    expect(schemeIn("../../docs/guides/write-an-auth-scheme.md")).toBe(schemeIn("./schemes.test.ts"));
  });
});

describe("each scheme is a plugin of its own", () => {
  test("R-AUT-6 without jwt-tokens a token is not a credential", async () => {
    const api = await startApi(forGraphql({ anonRole: "music_nobody", parts: [without("jwt-tokens")] }));
    await installCallerSettings(api);
    expect(readRestSettings(await callRest(api, bearer({ role: "music_editor" }))).current_user).toBe("music_nobody");
    expect(readGraphqlSettings(await callGraphql(api, { authorization: "Bearer nonsense" })).current_user).toBe(
      "music_nobody",
    );
  });
  test("G-AUTH-5 without jwt-tokens the error requires the admin secret even if jwtSecret is set", async () => {
    const api = await startApi(forGraphql({ anonRole: undefined, parts: [without("jwt-tokens")] }));
    expect(gqlError(await callGraphql(api)).message).toBe("x-session-admin-secret required, but not found");
  });
  test("R-AUT-8 without admin-secret no caller is administrator", async () => {
    const api = await startApi(forGraphql({ anonRole: "music_nobody", parts: [without("admin-secret")] }));
    await installCallerSettings(api);
    expect(readRestSettings(await callRest(api, { "x-session-admin-secret": adminSecret })).current_user).toBe(
      "music_nobody",
    );
  });
  test("R-AUT-6 without anonymous a caller without a credential is rejected", async () => {
    const api = await startApi(forGraphql({ anonRole: "music_nobody", parts: [without("anonymous")] }));
    const answer = await callRest(api);
    expect([answer.status, answer.json().code]).toEqual([401, "PGRST302"]);
    expect(gqlError(await callGraphql(api))).toMatchObject({ code: "access-denied" });
  });
  test("R-AUT-6 an auth scheme may call another service and be slow", async () => {
    const slowScheme = definePlugin({
      name: "slow-scheme",
      stage: Stage.early,
      apply: (hooks) => {
        hooks.authorize.tapPromise("slow-scheme", async (credentials) => {
          const name = credentials.cookie("who");
          await new Promise((resolve) => setTimeout(resolve, 5));
          if (name === "teapot") throw new RelApiError({ code: "teapot", status: 418, message: "short and stout" });
          return name === undefined
            ? undefined
            : {
                role: name,
                databaseRole: name,
                isAdmin: false,
                claims: { role: name },
                variables: { "x-session-role": name },
              };
        });
      },
    });
    const api = await startApi(forGraphql({ anonRole: "music_nobody", parts: [slowScheme] }));
    await installCallerSettings(api);
    expect(readRestSettings(await callRest(api, { cookie: "a=b; who=music_reader" })).current_user).toBe(
      "music_reader",
    );
    expect(readGraphqlSettings(await callGraphql(api, {})).current_user).toBe("music_nobody");
    expect((await callRest(api, { cookie: "who=teapot" })).status).toBe(418);
  });
});

describe("a scheme that queries the database", () => {
  const lookUp = (text: ReturnType<typeof sql>) =>
    definePlugin({
      name: "look-up",
      stage: Stage.early,
      apply: (hooks, context) => {
        hooks.authorize.tapPromise("look-up", async (credentials) => {
          if (credentials.header("x-api-key") === undefined) return undefined;
          await context.query(text);
          throw tokenRejected("unknown API key");
        });
      },
    });
  const headers = { "X-Api-Key": "any" };
  const withScheme = (text: ReturnType<typeof sql>, lines: string[] = []): Promise<TestApi> =>
    startApi(
      forGraphql({
        anonRole: "music_nobody",
        parts: [lookUp(text)],
        logger: createLogger({ error: (message, fields) => void lines.push(`${message} ${JSON.stringify(fields)}`) }),
      }),
    );
  const statements: readonly (readonly [string, ReturnType<typeof sql>])[] = [
    ["a table that does not exist", sql`select 1 from no_such_keys`],
    ["an invalid value", sql`select 'x'::int`],
    ["an error that a function raises", sql`select public.raise_state('28000', 'secret words')`],
    ["a privilege that a function lacks", sql`select public.raise_state('42501', 'secret words')`],
    ["a duplicate key", sql`select public.raise_state('23505', 'secret words')`],
  ];

  test.each(statements)(
    "R-AUT-13 G-AUTH-21 G-WS-21 X-FLT-1 the auth scheme fails as an error of the server: %s",
    async (_title, text) => {
      const lines: string[] = [];
      const api = await withScheme(text, lines);
      const onRest = await callRest(api, headers);
      expect([onRest.status, onRest.json()]).toEqual([
        500,
        { code: "PGRSTX00", details: null, hint: null, message: "internal error" },
      ]);
      expect(onRest.headers["www-authenticate"]).toBeUndefined();
      expect(gqlError(await callGraphql(api, headers))).toEqual({
        message: "internal error",
        code: "unexpected",
        path: "$",
      });
      expect((await callGraphql(api, headers, [], "/v1alpha1/graphql")).status).toBe(500);
      const errorLines = lines.filter((line) => line.startsWith("database error in an auth scheme"));
      expect(errorLines).toHaveLength(3);
      for (const line of errorLines) expect(line).toContain('"plugin":"look-up","hook":"authorize"');
      const socket = await openSocket(api);
      socket.send({ type: "connection_init", payload: headers });
      expect(await socket.closed).toEqual({ code: 4500, reason: "Internal server error" });
      await api.close();
    },
  );

  test("X-AUTH-3 only an SQLSTATE of clientSqlstates is passed on, on both surfaces", async () => {
    const states = definePlugin({ name: "states", clientSqlstates: /^AB/ });
    for (const [sqlstate, restMessage, graphqlMessage] of [
      ["AB001", "secret words", "database query error"],
      ["AC001", "internal error", "internal error"],
    ] as const) {
      const api = await startApi(
        forGraphql({
          anonRole: "music_nobody",
          parts: [lookUp(sql`select public.raise_state(${quoteLiteral(sqlstate)}, 'secret words')`), states],
          logger: createLogger({}),
        }),
      );
      expect((await callRest(api, headers)).json().message).toBe(restMessage);
      expect(gqlError(await callGraphql(api, headers)).message).toBe(graphqlMessage);
      await api.close();
    }
  });

  test("R-AUT-13 an auth scheme whose database is unavailable is 503", async () => {
    const api = await withScheme(sql`select public.raise_state('57P01', 'gone')`);
    const answer = await callRest(api, headers);
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"]);
    await api.close();
  });

  test("R-AUT-13 an error that SQL raises for the client, and a rejection of the scheme, are passed on", async () => {
    const raisingApi = await withScheme(sql`select public.raise_state('PT402', 'pay first')`);
    expect((await callRest(raisingApi, headers)).status).toBe(402);
    await raisingApi.close();
    const rejectingApi = await withScheme(sql`select 1`);
    expect((await callRest(rejectingApi, headers)).status).toBe(401);
    const socket = await openSocket(rejectingApi);
    socket.send({ type: "connection_init", payload: headers });
    expect((await socket.closed).code).toBe(4403);
    await rejectingApi.close();
  });
});

describe("a surface with credential rules of its own", () => {
  const createSoapError = (message: string): RelApiError =>
    new RelApiError({ code: "soap-refused", status: 402, message });

  /** `Authorization: Soap eyJ…`, the role in the claim `soap`. */
  const rules: TokenRules = {
    readBearer: (value) => /^Soap (.*)$/.exec(value)?.[1],
    createFailureError: ({ kind }) => createSoapError(`failed: ${kind}`),
    createSeveralTokensError: () => createSoapError("several"),
    createUnknownIssuerError: () => createSoapError("strange"),
    checkClaims: ({ audiences }) => {
      if (audiences === "wrong") throw createSoapError("no audience");
    },
    grant: ({ claims }) => ({
      defaultRole: String(claims["soap"]),
      allowedRoles: undefined,
      claims: new Map([["x-session-brand", "Marseille"]]),
    }),
    chooseRole: ({ defaultRole }) => defaultRole,
    createMissingCredentialError: ({ acceptsTokens }) => createSoapError(`nobody, tokens ${acceptsTokens}`),
  };
  const soap = definePlugin({
    name: "soap",
    before: ["rest"],
    apply: (_hooks, context) =>
      context.addSurface({
        name: "soap",
        credentialRules: rules,
        match: (path) => path === "/soap",
        handle: ({ session }) => ({
          status: 200,
          headers: [],
          body: `${session.role} ${session.variables["x-session-brand"]}`,
        }),
        encodeError: ({ status, code, message }) => ({ status, headers: [], body: `${code}: ${message}` }),
      }),
  });

  test("X-AUTH-2 a surface reads and rejects its own credentials by its own rules, and others by theirs", async () => {
    const api = await startApi(forGraphql({ anonRole: undefined, parts: [soap] }));
    const ask = async (authorization?: string): Promise<readonly [number, string]> => {
      const answer = await api.get("/soap", { headers: authorization === undefined ? {} : { authorization } });
      return [answer.status, answer.text];
    };
    const claims = { soap: "music_reader", role: "music_writer" };
    expect(await ask(`Soap ${signToken(claims)}`)).toEqual([200, "music_reader Marseille"]);
    expect(await ask(`Soap ${signToken({ ...claims, aud: 1 })}`)).toEqual([402, "soap-refused: no audience"]);
    expect(await ask("Soap x.y.z")).toEqual([402, "soap-refused: failed: undecodable"]);
    expect(await ask(`Bearer ${signToken(claims)}`)).toEqual([402, "soap-refused: nobody, tokens true"]);
    expect(await ask()).toEqual([402, "soap-refused: nobody, tokens true"]);
    expect((await api.get("/artist?limit=1", { headers: { authorization: "Bearer x.y.z" } })).json().code).toBe(
      "PGRST301",
    );
    expect(gqlError(await callGraphql(api, { authorization: "Soap x" })).code).toBe("invalid-headers");
    await api.close();
  });
});
