import { generateKeyPairSync } from "node:crypto";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { forGraphql, startApi, type HeaderValues, type StartOptions, type TestApi } from "../support/api.ts";
import { callGraphql, gqlError, installCallerSettings, readGraphqlSettings } from "../support/caller-settings.ts";
import { adminSecret, bearer, jwtSecret, signToken, type SignOptions } from "../support/tokens.ts";
import { startHttpServer } from "../support/http-server.ts";

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const ANON = { anonRole: "music_nobody" };
const NO_ANONYMOUS = { anonRole: undefined };
const HS = { type: "HS256", key: jwtSecret };
const READER = {
  "x-session-default-role": "music_reader",
  "x-session-allowed-roles": ["music_reader", "music_editor"],
  "x-session-user-id": "7",
};

/** A claim set that a configuration reads as READER's. */
type Claims = Readonly<Record<string, unknown>> | string;

const apis = new Map<string, Promise<TestApi>>();

/** Creates one API for each set of options. */
const withOptions = (options: StartOptions): Promise<TestApi> => {
  const key = JSON.stringify(options, (_, value: unknown) => value ?? null);
  let api = apis.get(key);
  if (api === undefined) apis.set(key, (api = startApi(forGraphql({ ...ANON, ...options }))));
  return api;
};

interface Row {
  readonly title: string;
  readonly options?: StartOptions;
  readonly claims?: Claims;
  readonly sign?: SignOptions;
  readonly headers?: HeaderValues;
  readonly path?: string;
}

interface GrantedCase extends Row {
  readonly role: string;
  /** The variables without `x-session-role`. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The expected `current_user`, if it is not the role. */
  readonly user?: string;
}

interface RejectedCase extends Row {
  readonly error: string | RegExp;
  readonly code: string;
  /** The status of `/v1alpha1/graphql`. */
  readonly status?: number;
}

const send = async ({ options = {}, claims, sign, headers }: Row, path = "/v1/graphql") => {
  const api = await withOptions(options);
  return callGraphql(api, { ...(claims === undefined ? {} : bearer(claims, sign)), ...headers }, [], path);
};

const testGranted = (rows: readonly GrantedCase[]): void => {
  for (const row of rows)
    test(row.title, async () => {
      const callerSettings = readGraphqlSettings(await send(row));
      expect({
        user: callerSettings.current_user,
        variables: JSON.parse(callerSettings["session.variables"] ?? ""),
      }).toEqual({
        user: row.user ?? row.role,
        variables: { "x-session-role": row.role, ...row.variables },
      });
    });
};

const testRejected = (rows: readonly RejectedCase[]): void => {
  for (const row of rows)
    test(row.title, async () => {
      const answer = await send(row);
      expect(answer.status).toBe(200);
      expect(gqlError(answer)).toEqual({
        message: typeof row.error === "string" ? row.error : expect.stringMatching(row.error),
        code: row.code,
        path: "$",
      });
      const old = await send(row, "/v1alpha1/graphql");
      expect(old.status, "status of /v1alpha1/graphql").toBe(row.status ?? 400);
      expect(old.text).toBe(answer.text);
    });
};

const secret = { "X-Session-Admin-Secret": adminSecret };

beforeAll(async () => {
  await installCallerSettings(await withOptions({}));
});

describe("the admin secret", () => {
  testGranted([
    { title: "G-AUTH-3 the admin secret makes an administrator", headers: secret, role: "admin", user: "postgres" },
    {
      title: "G-AUTH-3 the admin secret with the role admin makes an administrator",
      headers: { ...secret, "X-Session-Role": "admin" },
      role: "admin",
      user: "postgres",
    },
    {
      title: "G-AUTH-3 an administrator may act as a role, with session variables of any name",
      headers: { ...secret, "X-Session-Role": "music_reader", "X-Session-User-Id": "7", "x-session-Org": "o 1" },
      role: "music_reader",
      variables: { "x-session-user-id": "7", "x-session-org": "o 1" },
    },
    {
      title: "G-AUTH-3 an administrator without a role may have session variables",
      headers: { ...secret, "X-Session-User-Id": "7" },
      role: "admin",
      user: "postgres",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-3 a token beside the admin secret is ignored",
      headers: { ...secret, "X-Session-Role": "music_editor" },
      claims: READER,
      role: "music_editor",
    },
    {
      title: "G-AUTH-3 an invalid token beside the admin secret is ignored",
      headers: { ...secret, authorization: "Bearer bad" },
      role: "admin",
      user: "postgres",
    },
    {
      title: "G-AUTH-3 G-CON-2 headers of the prefix x-hasura are accepted",
      headers: { "X-Hasura-Admin-Secret": adminSecret, "X-Hasura-Role": "music_reader", "X-Hasura-User-Id": "7" },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-3 the prefix x-session overrides x-hasura in any order",
      headers: {
        "x-hasura-role": "music_editor",
        "x-hasura-user-id": "1",
        ...secret,
        "x-session-role": "music_reader",
        "x-session-user-id": "7",
      },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-3 header names are accepted in mixed case",
      headers: { "x-SESSION-admin-SECRET": adminSecret, "X-SeSsIoN-rOlE": "music_reader" },
      role: "music_reader",
    },
    {
      title: "G-AUTH-3 the first of repeated headers is used",
      headers: { ...secret, "x-session-role": "music_reader", "x-session-user-id": ["7", "8"] },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-3 header values may have letters of any alphabet",
      headers: {
        ...secret,
        "x-session-role": "music_reader",
        "x-session-name": Buffer.from("Zoë مو").toString("latin1"),
      },
      role: "music_reader",
      variables: { "x-session-name": "Zoë مو" },
    },
    {
      title: "G-AUTH-2 any secret of the list is accepted",
      options: { adminSecrets: ["second-secret", "third-secret"] },
      headers: { "x-session-admin-secret": "third-secret" },
      role: "admin",
      user: "postgres",
    },
    {
      title: "G-AUTH-2 the admin secret beside the list is accepted",
      options: { adminSecrets: ["second-secret", "third-secret"] },
      headers: secret,
      role: "admin",
      user: "postgres",
    },
  ]);
  const wrong = { error: "invalid x-session-admin-secret", code: "access-denied", status: 401 };
  testRejected([
    {
      title: "G-AUTH-4 G-CON-2 a wrong admin secret is rejected",
      headers: { "x-session-admin-secret": "guess" },
      ...wrong,
    },
    {
      title: "G-AUTH-4 the beginning of the admin secret is rejected",
      headers: { "x-session-admin-secret": adminSecret.slice(0, -1) },
      ...wrong,
    },
    { title: "G-AUTH-4 an empty admin secret is rejected", headers: { "x-session-admin-secret": "" }, ...wrong },
    {
      title: "G-AUTH-4 a wrong admin secret is rejected beside a valid token",
      headers: { "x-session-admin-secret": "guess" },
      claims: READER,
      ...wrong,
    },
    {
      title: "G-AUTH-2 a secret outside of the list is rejected",
      options: { adminSecret: undefined, adminSecrets: ["second-secret"] },
      headers: secret,
      ...wrong,
    },
  ]);
  testGranted([
    {
      title: "G-AUTH-1 without a secret no caller is an administrator, and session headers are ignored",
      options: { adminSecret: undefined },
      headers: { ...secret, "x-session-role": "music_editor", "x-session-user-id": "1" },
      role: "music_nobody",
    },
    {
      title: "G-AUTH-1 without a secret the role of a token is its default role",
      options: { adminSecret: undefined },
      claims: READER,
      headers: { "x-session-role": "music_editor" },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
  ]);
});

describe("the header for backend-only permissions", () => {
  const words =
    'x-session-use-backend-only-permissions:  Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive';
  testRejected([
    {
      title: "G-AUTH-20 G-AUTH-20a a value that is not a boolean is rejected",
      headers: { ...secret, "x-session-role": "music_reader", "x-session-use-backend-only-permissions": "1" },
      error: words,
      code: "bad-request",
    },
  ]);
  for (const word of ["true", "T", "Yes", "y", "FALSE", "f", "no", "N"])
    testGranted([
      {
        title: `G-AUTH-20 G-SES-6 the value ${word} is accepted and is not a session variable`,
        headers: { ...secret, "x-session-role": "music_reader", "x-session-use-backend-only-permissions": word },
        role: "music_reader",
      },
    ]);
  testGranted([
    {
      title: "G-AUTH-20 the header is ignored without the admin secret",
      headers: { "x-session-use-backend-only-permissions": "perhaps" },
      role: "music_nobody",
    },
  ]);
});

describe("callers without credentials", () => {
  testRejected([
    {
      title: "G-AUTH-5 G-CON-2 a caller without credentials is rejected if only an admin secret is configured",
      options: { ...NO_ANONYMOUS, jwtSecret: undefined },
      error: "x-session-admin-secret required, but not found",
      code: "access-denied",
      status: 401,
    },
    {
      title: "G-AUTH-8 a caller without credentials is rejected if tokens are configured",
      options: NO_ANONYMOUS,
      error: "Missing 'Authorization' or 'Cookie' header in JWT authentication mode",
      code: "invalid-headers",
    },
    {
      title: "G-AUTH-8 a caller without credentials is rejected if only tokens are configured",
      options: { ...NO_ANONYMOUS, adminSecret: undefined },
      error: "Missing 'Authorization' or 'Cookie' header in JWT authentication mode",
      code: "invalid-headers",
    },
    {
      title: "G-AUTH-9 a caller without credentials is rejected if nothing is configured",
      options: { ...NO_ANONYMOUS, jwtSecret: undefined, adminSecret: undefined },
      error: "no authentication is configured; set an admin secret, a JWT secret or an anonymous role",
      code: "access-denied",
      status: 401,
    },
    {
      title: "G-AUTH-10 without token configuration a token is not a credential",
      options: { ...NO_ANONYMOUS, jwtSecret: undefined },
      claims: READER,
      error: "x-session-admin-secret required, but not found",
      code: "access-denied",
      status: 401,
    },
  ]);
  testGranted([
    {
      title: "G-AUTH-7 a caller without credentials has the anonymous role, with any session headers",
      headers: { "x-session-role": "music_editor", "x-session-user-id": "1" },
      role: "music_nobody",
    },
    {
      title: "G-AUTH-10 without token configuration the Authorization header is ignored",
      options: { jwtSecret: undefined },
      headers: { authorization: "Nonsense" },
      role: "music_nobody",
    },
  ]);
  test("G-AUTH-5 a batch without credentials gets one error object", async () => {
    const api = await withOptions(NO_ANONYMOUS);
    const answer = await api.post("/v1/graphql", { body: [{ query: "{ __typename }" }] });
    expect(gqlError(answer).code).toBe("invalid-headers");
  });
});

describe("tokens", () => {
  const buildJwtError = (reason: string): Pick<RejectedCase, "error" | "code"> => ({
    error: `Could not verify JWT: ${reason}`,
    code: "invalid-jwt",
  });
  const INVALID_SIGNATURE = buildJwtError("JWSError JWSInvalidSignature");
  const UNREADABLE = { error: /^Could not verify JWT: JWSError \(JSONDecodeError ".+"\)$/, code: "invalid-jwt" };
  testGranted([
    {
      title: "G-AUTH-6 a valid token is accepted",
      claims: READER,
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-14 a token with all registered claims is accepted",
      claims: { ...READER, exp: 4e9, nbf: 1, iat: 1.5, aud: "any", iss: "any", sub: "7" },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-14 registered claims that are null are ignored",
      claims: { ...READER, exp: null, nbf: null, iat: null, aud: null, iss: null },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-14 a token with an audience of the list is accepted",
      options: { jwtSecret: { ...HS, audience: ["a", "b"] } },
      claims: { ...READER, aud: ["x", "b"] },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-14 G-AUTH-14a a token without an audience is accepted",
      options: { jwtSecret: { ...HS, audience: "a", issuer: "me" } },
      claims: READER,
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-14 a token with the right issuer is accepted",
      options: { jwtSecret: { ...HS, audience: "a", issuer: "me" } },
      claims: { ...READER, iss: "me", aud: "a" },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
  ]);
  testRejected([
    {
      title: "G-AUTH-6 an invalid token never gives the anonymous role",
      headers: { authorization: "Bearer x" },
      ...buildJwtError("JWSError (CompactDecodeError Invalid number of parts: Expected 3 parts; got 1)"),
    },
    {
      title: "G-AUTH-14 a token of four parts is rejected",
      headers: { authorization: "Bearer a.b.c.d" },
      ...buildJwtError("JWSError (CompactDecodeError Invalid number of parts: Expected 3 parts; got 4)"),
    },
    {
      title: "G-AUTH-14 a token with an unreadable header is rejected",
      headers: { authorization: "Bearer a!.b.c" },
      ...UNREADABLE,
    },
    { title: "G-AUTH-14 a token whose payload is not JSON is rejected", claims: "no json", ...UNREADABLE },
    {
      title: "G-AUTH-14 a token signed with another secret is rejected",
      claims: READER,
      sign: { secret: "z".repeat(40) },
      ...INVALID_SIGNATURE,
    },
    {
      title: "G-AUTH-11 a token with alg none is rejected",
      claims: READER,
      sign: { algorithm: "none" },
      ...INVALID_SIGNATURE,
    },
    {
      title: "G-AUTH-11 a token with another algorithm than the key's is rejected",
      claims: READER,
      sign: { algorithm: "HS512" },
      ...INVALID_SIGNATURE,
    },
    {
      title: "G-AUTH-11 a token with another algorithm than the key object's is rejected",
      options: { jwtSecret: { type: "HS384", key: jwtSecret } },
      claims: READER,
      ...INVALID_SIGNATURE,
    },
    { title: "G-AUTH-14 an expired token is rejected", claims: { ...READER, exp: 1 }, ...buildJwtError("JWTExpired") },
    {
      title: "G-AUTH-14 a token that is not yet valid is rejected",
      claims: { ...READER, nbf: 4e9 },
      ...buildJwtError("JWTNotYetValid"),
    },
    {
      title: "G-AUTH-14 a token issued in the future is rejected",
      claims: { ...READER, iat: 4e9 },
      ...buildJwtError("JWTIssuedAtFuture"),
    },
    {
      title: "G-AUTH-14 a token with another audience is rejected",
      options: { jwtSecret: { ...HS, audience: ["a", "b"] } },
      claims: { ...READER, aud: "c" },
      ...buildJwtError("JWTNotInAudience"),
    },
    {
      title: "G-AUTH-14 a token with an empty list of audiences is rejected",
      options: { jwtSecret: { ...HS, audience: ["a", "b"] } },
      claims: { ...READER, aud: [] },
      ...buildJwtError("JWTNotInAudience"),
    },
    {
      title: "G-AUTH-14 JWT_AUD applies if the configuration has no audience",
      options: { jwtAud: "a" },
      claims: { ...READER, aud: "b" },
      ...buildJwtError("JWTNotInAudience"),
    },
    {
      title: "G-AUTH-14 a token with another issuer is rejected",
      options: { jwtSecret: { ...HS, audience: "a", issuer: "me" } },
      claims: { ...READER, iss: "you" },
      ...buildJwtError("JWTNotInIssuer"),
    },
    {
      title: "G-AUTH-14 exp is checked before nbf and iat",
      claims: { ...READER, exp: 1, nbf: 4e9, iat: 4e9 },
      ...buildJwtError("JWTExpired"),
    },
    {
      title: "G-AUTH-14 a token whose exp is text is rejected",
      claims: { ...READER, exp: "4000000000" },
      ...UNREADABLE,
    },
    { title: "G-AUTH-14 a token whose aud is a number is rejected", claims: { ...READER, aud: 1 }, ...UNREADABLE },
  ]);

  test("G-AUTH-14 times are compared without tolerance, or with allowed_skew", async () => {
    // With a stopped clock, a time slightly ahead stays ahead.
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const strictApi = await withOptions({});
    const laxApi = await withOptions({ jwtSecret: { ...HS, allowed_skew: 60 } });
    const ask = async (api: TestApi, claims: Record<string, unknown>): Promise<string> => {
      const answer = await callGraphql(api, bearer({ ...READER, ...claims }));
      return "data" in answer.json() ? "good" : gqlError(answer).message.replace("Could not verify JWT: ", "");
    };
    expect(await ask(strictApi, { exp: nowSeconds() - 2 })).toBe("JWTExpired");
    expect(await ask(strictApi, { nbf: nowSeconds() + 5 })).toBe("JWTNotYetValid");
    expect(await ask(strictApi, { iat: nowSeconds() + 5 })).toBe("JWTIssuedAtFuture");
    expect(await ask(laxApi, { exp: nowSeconds() - 50, nbf: nowSeconds() + 50, iat: nowSeconds() + 50 })).toBe("good");
    expect(await ask(laxApi, { exp: nowSeconds() - 70 })).toBe("JWTExpired");
  });
  test("G-AUTH-14 the times of a cached token are checked again", async () => {
    const api = await withOptions({});
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const headers = bearer({ ...READER, exp: nowSeconds() + 5 });
    readGraphqlSettings(await callGraphql(api, headers));
    vi.setSystemTime(Date.now() + 6_000);
    const answer = await callGraphql(api, headers);
    expect(gqlError(answer).message).toBe("Could not verify JWT: JWTExpired");
  });
  test("G-AUTH-11 keys of several kinds are fetched from an address", async () => {
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const ed25519 = generateKeyPairSync("ed25519");
    const jwks = {
      keys: [rsa, ec, ed25519].map(({ publicKey }, i) => ({
        ...publicKey.export({ format: "jwk" }),
        kid: `k${i}`,
        use: "sig",
      })),
    };
    let fetchCount = 0;
    // With a stopped clock, a signature that no key verifies cannot cause another fetch.
    vi.useFakeTimers({ toFake: ["performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const port = await startHttpServer((_request, response) => {
      fetchCount++;
      response.writeHead(200, { "cache-control": "max-age=3600" }).end(JSON.stringify(jwks));
    });
    const api = await startApi(
      forGraphql({
        ...ANON,
        jwtSecret: { jwk_url: `http://127.0.0.1:${port}/jwks.json` },
      }),
    );
    for (const [algorithm, key, kid] of [
      ["RS256", rsa.privateKey, "k0"],
      ["ES256", ec.privateKey, "k1"],
      ["EdDSA", ed25519.privateKey, "k2"],
    ] as const)
      expect(
        readGraphqlSettings(await callGraphql(api, bearer(READER, { algorithm, key, header: { kid } }))).role,
      ).toBe("music_reader");
    const strange = await callGraphql(
      api,
      bearer(READER, { algorithm: "RS256", key: rsa.privateKey, header: { kid: "k1" } }),
    );
    expect(gqlError(strange).message).toBe("Could not verify JWT: JWSError JWSInvalidSignature");
    expect(fetchCount).toBe(1);
    await api.close();
  });
});

describe("the location of the token", () => {
  const MALFORMED_HEADER = { error: "Malformed Authorization header", code: "invalid-headers" };
  const cookie: StartOptions = {
    jwtSecret: { ...HS, header: { type: "Cookie", name: "tok" } },
    corsAllowedOrigins: ["https://shop.example", "https://*.team.example"],
  };
  const open: StartOptions = { jwtSecret: { ...HS, header: { type: "Cookie", name: "tok" } } };
  const custom: StartOptions = { jwtSecret: { ...HS, header: { type: "CustomHeader", name: "X-Token" } } };
  const token = signToken(READER);
  const reader = { role: "music_reader", variables: { "x-session-user-id": "7" } };
  testRejected([
    {
      title: "G-AUTH-13 another auth scheme is rejected",
      headers: { authorization: "Basic eDp5" },
      ...MALFORMED_HEADER,
    },
    {
      title: "G-AUTH-13 the word bearer in lower case is rejected",
      headers: { authorization: `bearer ${token}` },
      ...MALFORMED_HEADER,
    },
    {
      title: "G-AUTH-13 the word Bearer without a token is rejected",
      headers: { authorization: "Bearer" },
      ...MALFORMED_HEADER,
    },
    {
      title: "G-AUTH-13 two tokens in one header are rejected",
      headers: { authorization: `Bearer ${token} ${token}` },
      ...MALFORMED_HEADER,
    },
    {
      title: "G-AUTH-13 a token without the word Bearer is rejected",
      headers: { authorization: token },
      ...MALFORMED_HEADER,
    },
    {
      title: "G-AUTH-6 an invalid token in the cookie is rejected",
      options: cookie,
      headers: { cookie: "tok=x" },
      error: /got 1\)$/,
      code: "invalid-jwt",
    },
    {
      title: "G-AUTH-6 an invalid token in a custom header is rejected",
      options: custom,
      headers: { "x-token": "x" },
      error: /got 1\)$/,
      code: "invalid-jwt",
    },
  ]);
  testGranted([
    {
      title: "G-AUTH-12 the token is read from a cookie",
      options: cookie,
      headers: { cookie: `a=b; tok=${token}; c=d` },
      ...reader,
    },
    {
      title: "G-AUTH-12 with a cookie, the Authorization header is ignored",
      options: cookie,
      headers: { cookie: `tok=${token}`, authorization: "Nonsense" },
      ...reader,
    },
    {
      title: "G-AUTH-12 a cookie with a listed origin is accepted",
      options: cookie,
      headers: { cookie: `tok=${token}`, origin: "https://shop.example" },
      ...reader,
    },
    {
      title: "G-AUTH-12 a cookie with an origin that matches a wildcard is accepted",
      options: cookie,
      headers: { cookie: `tok=${token}`, origin: "https://red.team.example" },
      ...reader,
    },
    {
      title: "G-AUTH-12 a cookie with another origin is ignored",
      options: cookie,
      headers: { cookie: `tok=${token}`, origin: "https://evil.example" },
      role: "music_nobody",
    },
    {
      title: "G-AUTH-12 a cookie with an origin that only ends like a listed one is ignored",
      options: cookie,
      headers: { cookie: `tok=${token}`, origin: "https://evilshop.example" },
      role: "music_nobody",
    },
    {
      title: "G-AUTH-12 a cookie with an origin is ignored if the setting allows any origin",
      options: open,
      headers: { cookie: `tok=${token}`, origin: "https://shop.example" },
      role: "music_nobody",
    },
    {
      title: "G-AUTH-12 a cookie with an opaque origin is ignored",
      options: cookie,
      headers: { cookie: `tok=${token}`, origin: "null" },
      role: "music_nobody",
    },
    {
      title: "G-AUTH-13 a Cookie header without the cookie is not a token",
      options: cookie,
      headers: { cookie: "tik=1" },
      role: "music_nobody",
    },
    {
      title: "G-AUTH-12 the token is read from a custom header with Bearer",
      options: custom,
      headers: { "x-token": `Bearer ${token}` },
      ...reader,
    },
    {
      title: "G-AUTH-12 the token is read from a custom header without Bearer",
      options: custom,
      headers: { "X-TOKEN": token },
      ...reader,
    },
    {
      title: "G-AUTH-12 with a custom header, Authorization is ignored",
      options: custom,
      headers: { authorization: `Bearer ${token}` },
      role: "music_nobody",
    },
  ]);
  test("G-AUTH-12 a cookie with the origin of the same host is accepted", async () => {
    const api = await withOptions(open);
    for (const origin of [`http://127.0.0.1:${api.port}`, `https://127.0.0.1:${api.port}`])
      expect(readGraphqlSettings(await callGraphql(api, { cookie: `tok=${token}`, origin })).role).toBe("music_reader");
    expect(
      readGraphqlSettings(await callGraphql(api, { cookie: `tok=${token}`, origin: "http://127.0.0.1:1" })).role,
    ).toBe("music_nobody");
  });

  const OTHER_SECRET = "another-secret-with-more-than-32-bytes!!";
  const severalSecrets: StartOptions = {
    jwtSecret: [
      { ...HS, issuer: "one" },
      { type: "HS256", key: OTHER_SECRET, issuer: "two" },
      { type: "HS512", key: OTHER_SECRET, header: { type: "Cookie", name: "tok" } },
    ],
  };
  const fallback: StartOptions = {
    jwtSecret: [
      { ...HS, issuer: "one" },
      { type: "HS256", key: OTHER_SECRET },
    ],
  };
  testGranted([
    {
      title: "G-AUTH-12 G-AUTH-12a the first of several configurations is chosen by issuer",
      options: severalSecrets,
      claims: { ...READER, iss: "one" },
      ...reader,
    },
    {
      title: "G-AUTH-12 G-AUTH-12a the second of several configurations is chosen by issuer",
      options: severalSecrets,
      claims: { ...READER, iss: "two" },
      sign: { secret: OTHER_SECRET },
      ...reader,
    },
    {
      title: "G-AUTH-12 one of several configurations is chosen by the location of the token",
      options: severalSecrets,
      headers: { cookie: `tok=${signToken(READER, { algorithm: "HS512", secret: OTHER_SECRET })}` },
      ...reader,
    },
    {
      title: "G-AUTH-12 G-AUTH-12a the configuration without an issuer is used for other issuers",
      options: fallback,
      claims: { ...READER, iss: "anybody" },
      sign: { secret: OTHER_SECRET },
      ...reader,
    },
    {
      title: "G-AUTH-12 G-AUTH-12a the configuration without an issuer is used for tokens without an issuer",
      options: fallback,
      claims: READER,
      sign: { secret: OTHER_SECRET },
      ...reader,
    },
  ]);
  testRejected([
    {
      title: "G-AUTH-12 G-AUTH-12a a token with an issuer of no configuration is rejected",
      options: severalSecrets,
      claims: { ...READER, iss: "three" },
      error: "Could not verify JWT: JWTNotInIssuer",
      code: "invalid-jwt",
    },
    {
      title: "G-AUTH-12 G-AUTH-12a a token without an issuer is rejected if every configuration has one",
      options: severalSecrets,
      claims: READER,
      error: "Could not verify JWT: JWTNotInIssuer",
      code: "invalid-jwt",
    },
    {
      title: "G-AUTH-12 the key of another configuration is rejected for an issuer",
      options: severalSecrets,
      claims: { ...READER, iss: "one" },
      sign: { secret: OTHER_SECRET },
      error: "Could not verify JWT: JWSError JWSInvalidSignature",
      code: "invalid-jwt",
    },
    {
      title: "G-AUTH-13 tokens in several locations are rejected",
      options: severalSecrets,
      claims: { ...READER, iss: "one" },
      headers: { cookie: `tok=${signToken(READER, { algorithm: "HS512", secret: OTHER_SECRET })}` },
      error: "Could not verify JWT: Multiple JWTs found",
      code: "invalid-headers",
    },
  ]);
});

describe("the location of the claims", () => {
  const NS: StartOptions = { jwtSecret: { ...HS, claims_namespace: "app" } };
  const PATH: StartOptions = { jwtSecret: { ...HS, claims_namespace_path: "$.deep['claims%'][0]" } };
  const TEXT: StartOptions = { jwtSecret: { ...HS, claims_namespace: "app", claims_format: "stringified_json" } };
  const TEXT_PATH: StartOptions = {
    jwtSecret: { ...HS, claims_namespace_path: "$.a", claims_format: "stringified_json" },
  };
  const TOP: StartOptions = { jwtSecret: { ...HS, claims_namespace_path: "$" } };
  const MAP: StartOptions = {
    jwtSecret: {
      ...HS,
      claims_map: {
        "x-session-allowed-roles": { path: "$.roles", default: ["music_reader"] },
        "x-hasura-default-role": { path: "$.roles[0]", default: "music_reader" },
        "X-Session-User-Id": { path: "$.user.id" },
        "x-session-org": { path: "$.org['the id']", default: "none" },
        "x-session-kind": "fixed",
      },
    },
  };
  const STRICT_MAP: StartOptions = {
    jwtSecret: {
      ...HS,
      claims_map: { "x-session-allowed-roles": { path: "$.roles" }, "x-session-default-role": { path: "$.role" } },
    },
  };
  const LITERAL_MAP: StartOptions = {
    jwtSecret: {
      ...HS,
      claims_map: { "x-session-allowed-roles": ["music_reader"], "x-session-default-role": "music_reader" },
    },
  };
  const reader = { role: "music_reader", variables: { "x-session-user-id": "7" } };
  testGranted([
    { title: "G-AUTH-15 G-AUTH-15a session claims are read at the top level", claims: READER, ...reader },
    {
      title: "G-AUTH-15 claims with the prefix x-hasura are read in any letter case",
      claims: {
        "X-Hasura-Default-Role": "music_reader",
        "x-hasura-Allowed-Roles": ["music_reader"],
        "X-HASURA-user-id": "7",
      },
      ...reader,
    },
    {
      title: "G-AUTH-15 the prefix x-session overrides x-hasura",
      claims: { ...READER, "x-hasura-user-id": "8", "x-hasura-default-role": "music_editor" },
      ...reader,
    },
    {
      title: "G-AUTH-15 G-AUTH-15a session claims are read at the key of Hasura",
      claims: { "https://hasura.io/jwt/claims": READER },
      ...reader,
    },
    {
      title: "G-AUTH-15 G-AUTH-15a claims at the top level override those at the key of Hasura",
      claims: { ...READER, "https://hasura.io/jwt/claims": { ...READER, "x-session-user-id": "8" } },
      ...reader,
    },
    {
      title: "G-AUTH-15 session claims are read at the namespace",
      options: NS,
      claims: { ...READER, "x-session-user-id": "8", app: READER },
      ...reader,
    },
    {
      title: "G-AUTH-15 session claims are read at the path of the namespace",
      options: PATH,
      claims: { deep: { "claims%": [READER] } },
      ...reader,
    },
    { title: "G-AUTH-15 the path $ is the top level", options: TOP, claims: READER, ...reader },
    {
      title: "G-AUTH-16 session claims are read from a text",
      options: TEXT,
      claims: { app: JSON.stringify(READER) },
      ...reader,
    },
    {
      title: "G-AUTH-18 claims_map reads values at paths",
      options: MAP,
      claims: { roles: ["music_editor", "music_reader"], user: { id: 7 }, org: { "the id": "o" } },
      role: "music_editor",
      variables: { "x-session-user-id": "7", "x-session-org": "o", "x-session-kind": "fixed" },
    },
    {
      title: "G-AUTH-18 claims_map uses defaults and literals",
      options: MAP,
      claims: { user: { id: "7" } },
      role: "music_reader",
      variables: { "x-session-user-id": "7", "x-session-org": "none", "x-session-kind": "fixed" },
    },
    {
      title: "G-AUTH-18 a claims_map of literals ignores other claims",
      options: LITERAL_MAP,
      claims: { ...READER, "x-session-default-role": "music_editor" },
      role: "music_reader",
    },
    {
      title: "G-AUTH-15 G-AUTH-15a the role is read at JWT_ROLE_CLAIM_KEY",
      claims: { role: "music_reader", "x-session-user-id": "7" },
      ...reader,
    },
    {
      title: "G-AUTH-15 G-AUTH-15a the role is read at another JWT_ROLE_CLAIM_KEY",
      options: { jwtRoleClaimKey: "$.realm.roles[?@ == 'music_reader']" },
      claims: { realm: { roles: ["x", "music_reader"] } },
      role: "music_reader",
    },
    {
      title: "G-AUTH-15 G-AUTH-15a a token without a role gets the anonymous role and its session variables",
      claims: { "x-session-user-id": "7" },
      role: "music_nobody",
      variables: { "x-session-user-id": "7" },
    },
  ]);
  const claims = (error: string): Pick<RejectedCase, "error" | "code"> => ({ error, code: "jwt-invalid-claims" });
  const missingClaim = (claim: string): Pick<RejectedCase, "error" | "code"> => ({
    error: `JWT claim does not contain x-session-${claim}`,
    code: "jwt-missing-role-claims",
  });
  testRejected([
    {
      title: "G-AUTH-15 a token without a role is rejected if there is no anonymous role",
      options: NO_ANONYMOUS,
      claims: { sub: "7" },
      ...missingClaim("allowed-roles"),
    },
    {
      title: "G-AUTH-16 a token without the namespace is rejected",
      options: NS,
      claims: READER,
      ...claims("claims key: 'app' not found"),
    },
    {
      title: "G-AUTH-16 a token without a value at the path is rejected",
      options: PATH,
      claims: { deep: { "claims%": [] } },
      ...claims("claims not found at claims_namespace_path: '$.deep['claims%'][0]'"),
    },
    {
      title: "G-AUTH-16 G-AUTH-16a text in place of an object is rejected",
      options: NS,
      claims: { app: JSON.stringify(READER) },
      ...claims("expecting a json object when claims_format is json"),
    },
    {
      title: "G-AUTH-16 G-AUTH-16a a list in place of an object is rejected",
      options: NS,
      claims: { app: [READER] },
      ...claims("expecting a json object when claims_format is json"),
    },
    {
      title: "G-AUTH-16 G-AUTH-16a an object in place of text is rejected",
      options: TEXT,
      claims: { app: READER },
      ...claims("expecting a string when claims_format is stringified_json"),
    },
    {
      title: "G-AUTH-16 G-AUTH-16a text that is not JSON is rejected",
      options: TEXT,
      claims: { app: "{x" },
      ...claims("expecting stringified json at: 'claims_namespace app', but found: {x"),
    },
    {
      title: "G-AUTH-16 G-AUTH-16a text that is not JSON at a path is rejected",
      options: TEXT_PATH,
      claims: { a: "1" },
      ...claims("expecting stringified json at: 'claims_namespace_path $.a', but found: 1"),
    },
    {
      title: "G-AUTH-17 a token without roles is rejected",
      options: NS,
      claims: { app: {} },
      ...missingClaim("allowed-roles"),
    },
    {
      title: "G-AUTH-17 a token without allowed roles in its namespace is rejected",
      options: NS,
      claims: { app: { "x-session-default-role": "music_reader" } },
      ...missingClaim("allowed-roles"),
    },
    {
      title: "G-AUTH-17 a token without a default role is rejected",
      claims: { "x-session-allowed-roles": ["music_reader"] },
      ...missingClaim("default-role"),
    },
    {
      title: "G-AUTH-17 G-AUTH-17a allowed roles as text are rejected",
      claims: { ...READER, "x-session-allowed-roles": "music_reader" },
      ...claims(
        "invalid x-session-allowed-roles; should be a list of roles: parsing [] failed, expected Array, but encountered String",
      ),
    },
    {
      title: "G-AUTH-17 G-AUTH-17a an allowed role that is a number is rejected",
      claims: { ...READER, "x-session-allowed-roles": ["music_reader", 1] },
      ...claims(
        "invalid x-session-allowed-roles; should be a list of roles: parsing Text failed, expected String, but encountered Number",
      ),
    },
    {
      title: "G-AUTH-17 G-AUTH-17a a default role that is a number is rejected",
      claims: { ...READER, "x-session-default-role": 5 },
      ...claims(
        "invalid x-session-default-role; should be a role: parsing Text failed, expected String, but encountered Number",
      ),
    },
    {
      title: "G-AUTH-17 G-AUTH-17a a default role that is null is rejected",
      claims: { ...READER, "x-session-default-role": null },
      ...claims(
        "invalid x-session-default-role; should be a role: parsing Text failed, expected String, but encountered Null",
      ),
    },
    {
      title: "G-AUTH-17 allowed roles are checked before the default role",
      claims: { "x-session-default-role": 5, "x-session-allowed-roles": {} },
      ...claims(
        "invalid x-session-allowed-roles; should be a list of roles: parsing [] failed, expected Array, but encountered Object",
      ),
    },
    {
      title: "G-AUTH-18 claims_map rejects a token without a default role at its path",
      options: STRICT_MAP,
      claims: { roles: ["music_reader"] },
      ...missingClaim("default-role"),
    },
    {
      title: "G-AUTH-18 claims_map rejects a token without allowed roles at their path",
      options: STRICT_MAP,
      claims: { role: "music_reader" },
      ...missingClaim("allowed-roles"),
    },
    {
      title: "G-AUTH-18 claims_map rejects a token without a value at a path",
      options: MAP,
      claims: { roles: ["music_reader"] },
      ...claims("JWT claim from claims_map, x-session-user-id not found"),
    },
  ]);
  testGranted([
    {
      title: "G-AUTH-17 a token at the top level may have only a default role",
      claims: { "x-session-default-role": "music_reader" },
      role: "music_reader",
    },
  ]);
});

describe("roles and variables of tokens", () => {
  const deniedRole = { error: "Your requested role is not in allowed roles", code: "access-denied" };
  testGranted([
    {
      title: "G-AUTH-19 the role header chooses an allowed role",
      claims: READER,
      headers: { "X-Session-Role": "music_editor" },
      role: "music_editor",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-19 the role header with the prefix x-hasura chooses a role",
      claims: READER,
      headers: { "X-Hasura-Role": "music_editor" },
      role: "music_editor",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-19 G-AUTH-19a other headers are not session variables beside a token",
      claims: READER,
      headers: { "X-Session-User-Id": "1", "x-session-org": "o", "x-hasura-team": "t" },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-19 G-AUTH-19a claims that are not strings are converted to text",
      claims: {
        ...READER,
        "x-session-user-id": 7,
        "x-session-live": true,
        "x-session-list": ["a", 'b"\\', "{,}"],
        "x-session-numbers": [1, 2],
        "x-session-object": { a: [1] },
        "x-session-null": null,
        "x-session-none": [],
      },
      role: "music_reader",
      variables: {
        "x-session-user-id": "7",
        "x-session-live": "true",
        "x-session-list": '{"a","b\\"\\\\","{,}"}',
        "x-session-numbers": "[1,2]",
        "x-session-object": '{"a":[1]}',
        "x-session-null": "null",
        "x-session-none": "{}",
      },
    },
    {
      title: "G-AUTH-19 numbers with more digits than JavaScript has are kept",
      claims: `{"x-session-default-role":"music_reader","x-session-user-id":12345678901234567890}`,
      role: "music_reader",
      variables: { "x-session-user-id": "12345678901234567890" },
    },
    {
      title: "G-AUTH-19 claims do not set the role, the admin secret or the backend flag",
      claims: {
        ...READER,
        "x-session-role": "music_editor",
        "x-session-admin-secret": adminSecret,
        "x-session-use-backend-only-permissions": "true",
      },
      role: "music_reader",
      variables: { "x-session-user-id": "7" },
    },
    {
      title: "G-AUTH-19 G-AUTH-19b with adminRoleInTokens the role admin is administrator if it is allowed",
      options: { adminRoleInTokens: true },
      claims: { ...READER, "x-session-default-role": "admin", "x-session-allowed-roles": ["admin"] },
      role: "admin",
      user: "postgres",
      variables: { "x-session-user-id": "7" },
    },
  ]);
  testRejected([
    {
      title: "G-AUTH-19 a role that is not allowed is rejected",
      claims: READER,
      headers: { "X-Session-Role": "music_writer" },
      ...deniedRole,
    },
    {
      title: "G-AUTH-19 a default role that is not allowed is rejected",
      claims: { ...READER, "x-session-default-role": "music_writer" },
      ...deniedRole,
    },
    {
      title: "G-AUTH-19 the role admin is rejected if it is not allowed",
      claims: READER,
      headers: { "X-Session-Role": "admin" },
      ...deniedRole,
    },
    {
      title: "G-AUTH-19 another role than that of JWT_ROLE_CLAIM_KEY is rejected",
      claims: { role: "music_reader" },
      headers: { "X-Session-Role": "music_editor" },
      ...deniedRole,
    },
    {
      title: "G-AUTH-19 G-AUTH-19b with adminRoleInTokens the role admin is rejected without a list of allowed roles",
      options: { adminRoleInTokens: true },
      claims: { ...READER, "x-session-default-role": "admin" },
      ...deniedRole,
    },
  ]);
  test("G-AUTH-19 G-AUTH-19b admin is otherwise an ordinary role name", async () => {
    const api = await withOptions({});
    const answer = await callGraphql(
      api,
      bearer({ ...READER, "x-session-default-role": "admin", "x-session-allowed-roles": ["admin"] }),
    );
    expect(answer.json()).not.toHaveProperty("data"); // the database has no such role, so it has no rights
    expect(gqlError(answer).message).not.toContain("postgres");
  });
  test("G-AUTH-19 the example of the reference returns its response", async () => {
    const api = await withOptions({});
    const headers = { ...bearer({ sub: "7", exp: nowSeconds() + 60, ...READER }), "X-Session-Role": "music_editor" };
    expect(JSON.parse(readGraphqlSettings(await callGraphql(api, headers))["session.variables"]!)).toEqual({
      "x-session-role": "music_editor",
      "x-session-user-id": "7",
    });
  });
});
