import { generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { definePlugin, type Counters } from "../../core/index.ts";
import { capabilities, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { cases, type Case } from "../support/cases.ts";
import { lockTable } from "../support/locks.ts";
import { adminSecret, bearer, jwtSecret, signToken } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "../support/http-server.ts";

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const buildErrorAnswer = (
  code: string,
  message: string,
  details: string | null = null,
): Pick<Case, "status" | "answer" | "responseHeaders"> => ({
  status: 401,
  answer: { code, details, hint: null, message },
  responseHeaders: {
    "www-authenticate": code === "PGRST302" ? "Bearer" : `Bearer error="invalid_token", error_description="${message}"`,
    "proxy-status": `PostgREST; error=${code}`,
  },
});

const WHO_REQUEST = "GET /rpc/who";
const answerAs = (role: string): Pick<Case, "request" | "answer"> => ({ request: WHO_REQUEST, answer: role });

let api: TestApi;
/** Times and audiences are evaluated when the test runs. */
const testClaims = (
  title: string,
  claims: () => Record<string, unknown>,
  expected: Omit<Case, "title" | "request"> = { answer: "sea_clerk" },
  getApi = () => api,
): void =>
  test(title, async () => {
    const answer = await getApi().get("/rpc/who", { headers: bearer({ role: "sea_clerk", ...claims() }) });
    expect(answer.status, answer.text).toBe(expected.status ?? 200);
    expect(answer.json()).toEqual(expected.answer);
    expect(answer.headers["www-authenticate"]).toBe(expected.responseHeaders?.["www-authenticate"]);
  });

beforeAll(async () => {
  api = await startApi();
});

describe("the place of the token", () => {
  cases(
    () => api,
    [
      { title: "R-AUT-1 a request without the header has no credentials", ...answerAs("sea_anon") },
      {
        title: "R-AUT-1 another auth scheme is not a credential",
        ...answerAs("sea_anon"),
        headers: { authorization: "Basic c2VhX2NsZXJrOng=" },
      },
      {
        title: 'R-AUT-1 a scheme that begins with "Bearer" is not a credential',
        ...answerAs("sea_anon"),
        headers: { authorization: `Bearers ${signToken({ role: "sea_clerk" })}` },
      },
      {
        title: "R-AUT-1 the word Bearer may be in lower case",
        ...answerAs("sea_clerk"),
        headers: { authorization: `bearer ${signToken({ role: "sea_clerk" })}` },
      },
      {
        title: "R-AUT-1 the word Bearer may be in mixed case and followed by several blanks",
        ...answerAs("sea_clerk"),
        headers: { authorization: `bEaReR   ${signToken({ role: "sea_clerk" })}` },
      },
      {
        title: "R-AUT-1 an empty token is rejected",
        request: WHO_REQUEST,
        headers: { authorization: "Bearer " },
        ...buildErrorAnswer("PGRST301", "Empty JWT is sent in Authorization header"),
      },
      {
        title: "R-AUT-1 R-AUT-9 a scheme without a token is an empty token",
        request: WHO_REQUEST,
        headers: { authorization: "Bearer" },
        ...buildErrorAnswer("PGRST301", "Empty JWT is sent in Authorization header"),
      },
    ],
  );
});

describe("without a secret", () => {
  let bareApi: TestApi;
  beforeAll(async () => {
    bareApi = await startApi({ jwtSecret: undefined });
  });
  cases(
    () => bareApi,
    [
      {
        title: "R-AUT-2 without a secret a token is answered 500",
        request: WHO_REQUEST,
        headers: bearer({ role: "sea_clerk" }),
        status: 500,
        answer: { code: "PGRST300", details: null, hint: null, message: "Server lacks JWT secret" },
        responseHeaders: { "www-authenticate": null },
      },
      {
        title: "R-AUT-2 without a secret an empty token is rejected as a server error",
        request: WHO_REQUEST,
        headers: { authorization: "Bearer" },
        status: 500,
      },
      { title: "R-AUT-2 without a secret a request without a token is anonymous", ...answerAs("sea_anon") },
      {
        title: "R-AUT-2 without a secret another scheme is anonymous",
        ...answerAs("sea_anon"),
        headers: { authorization: "Basic eDp5" },
      },
    ],
  );
});

describe("signatures", () => {
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString("base64url");
  const raw = (token: string): Case["headers"] => ({ authorization: `Bearer ${token}` });
  const good = signToken({ role: "sea_clerk" });
  const [head, body, signature] = good.split(".") as [string, string, string];
  const NO_KEY = "No suitable key or wrong key type";
  const NOT_ABLE = "None of the keys was able to decode the JWT";
  const NOT_FOUND = "No suitable key was found to decode the JWT";
  const BROKEN_TOKEN = "JWT cryptographic operation failed";
  cases(
    () => api,
    [
      {
        title: "R-AUT-3 a token of one part is rejected",
        request: WHO_REQUEST,
        headers: raw("abc"),
        ...buildErrorAnswer("PGRST301", "Expected 3 parts in JWT; got 1"),
      },
      {
        title: "R-AUT-3 a token of two parts is rejected",
        request: WHO_REQUEST,
        headers: raw("a.b"),
        ...buildErrorAnswer("PGRST301", "Expected 3 parts in JWT; got 2"),
      },
      {
        title: "R-AUT-3 a token of five parts, like an encrypted one, is rejected",
        request: WHO_REQUEST,
        headers: raw("a.b.c.d.e"),
        ...buildErrorAnswer("PGRST301", "Expected 3 parts in JWT; got 5"),
      },
      {
        title: "R-AUT-3 a token with a blank is rejected",
        request: WHO_REQUEST,
        headers: raw(`${head}. ${body}.${signature}`),
        ...buildErrorAnswer("PGRST301", BROKEN_TOKEN),
      },
      {
        title: "R-AUT-3 a token whose header is not base64url is rejected",
        request: WHO_REQUEST,
        headers: raw(`+/==.${body}.${signature}`),
        ...buildErrorAnswer("PGRST301", BROKEN_TOKEN),
      },
      {
        title: "R-AUT-3 a token whose signature is not base64url is rejected",
        request: WHO_REQUEST,
        headers: raw(`${head}.${body}.${signature}=`),
        ...buildErrorAnswer("PGRST301", BROKEN_TOKEN),
      },
      {
        title: "R-AUT-3 a token whose header is not JSON is rejected",
        request: WHO_REQUEST,
        headers: raw(`${Buffer.from("no").toString("base64url")}.${body}.${signature}`),
        ...buildErrorAnswer("PGRST301", BROKEN_TOKEN),
      },
      {
        title: "R-AUT-3 a token whose header is not an object is rejected",
        request: WHO_REQUEST,
        headers: raw(`${encode(["HS256"])}.${body}.${signature}`),
        ...buildErrorAnswer("PGRST301", BROKEN_TOKEN),
      },
      {
        title: "R-AUT-3 a token without an algorithm is rejected",
        request: WHO_REQUEST,
        headers: raw(`${encode({ typ: "JWT" })}.${body}.${signature}`),
        ...buildErrorAnswer("PGRST301", BROKEN_TOKEN),
      },
      {
        title: "R-AUT-3 a token with an unknown algorithm is rejected",
        request: WHO_REQUEST,
        headers: raw(`${encode({ alg: "HS257" })}.${body}.${signature}`),
        ...buildErrorAnswer("PGRST301", BROKEN_TOKEN),
      },
      {
        title: "R-AUT-3 R-AUT-3a a token with critical extensions is rejected",
        request: WHO_REQUEST,
        headers: bearer({ role: "sea_clerk" }, { header: { crit: ["exp"] } }),
        ...buildErrorAnswer("PGRST301", BROKEN_TOKEN),
      },
      {
        title: 'R-AUT-3 the algorithm "none" is rejected',
        request: WHO_REQUEST,
        headers: bearer({ role: "sea_clerk" }, { algorithm: "none" }),
        ...buildErrorAnswer(
          "PGRST301",
          "Wrong or unsupported encoding algorithm",
          "JWT is unsecured but expected 'alg' was not 'none'",
        ),
      },
      {
        title: "R-AUT-3 a token signed with another secret is rejected",
        request: WHO_REQUEST,
        headers: bearer({ role: "sea_clerk" }, { secret: "x".repeat(40) }),
        ...buildErrorAnswer("PGRST301", NO_KEY, NOT_ABLE),
      },
      {
        title: "R-AUT-3 a token with a changed payload is rejected",
        request: WHO_REQUEST,
        headers: raw(`${head}.${encode({ role: "sea_auditor" })}.${signature}`),
        ...buildErrorAnswer("PGRST301", NO_KEY, NOT_ABLE),
      },
      {
        title: "R-AUT-3 a secret that is a plain string accepts only HS256",
        request: WHO_REQUEST,
        headers: bearer({ role: "sea_clerk" }, { algorithm: "HS512" }),
        ...buildErrorAnswer("PGRST301", NO_KEY, NOT_FOUND),
      },
      {
        title: "R-AUT-3 R-AUT-3a a token with the kid of no key is rejected",
        request: WHO_REQUEST,
        headers: bearer({ role: "sea_clerk" }, { header: { kid: "k" } }),
        ...buildErrorAnswer("PGRST301", NO_KEY, NOT_FOUND),
      },
      {
        title: "R-AUT-3 a token whose payload is not JSON is rejected",
        request: WHO_REQUEST,
        headers: bearer("no json"),
        ...buildErrorAnswer("PGRST303", "Parsing claims failed"),
      },
      {
        title: "R-AUT-3 a token whose payload is not an object is rejected",
        request: WHO_REQUEST,
        headers: bearer('["role"]'),
        ...buildErrorAnswer("PGRST303", "Parsing claims failed"),
      },
      {
        title: "R-PIPE-2 R-AUT-9 a bad token on an unknown path is 401, not 404",
        request: "GET /nowhere/at/all",
        headers: raw("a.b"),
        ...buildErrorAnswer("PGRST301", "Expected 3 parts in JWT; got 2"),
      },
      {
        title: "R-AUT-9 HEAD with a bad token has WWW-Authenticate and no body",
        request: "HEAD /vessels",
        headers: raw("a.b"),
        status: 401,
        bytes: "",
        responseHeaders: { "www-authenticate": /^Bearer error=/ },
      },
      {
        title: "R-AUT-9 WWW-Authenticate has a quoted description",
        request: WHO_REQUEST,
        headers: raw("a.b"),
        status: 401,
        responseHeaders: {
          "www-authenticate": 'Bearer error="invalid_token", error_description="Expected 3 parts in JWT; got 2"',
        },
      },
    ],
  );
});

describe("keys of other kinds", () => {
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const ec = generateKeyPairSync("ec", { namedCurve: "P-384" });
  const ed25519 = generateKeyPairSync("ed25519");
  const jwk = (key: typeof rsa.publicKey, kid?: string): Record<string, unknown> => ({
    ...key.export({ format: "jwk" }),
    ...(kid === undefined ? {} : { kid }),
  });
  const clerk = { role: "sea_clerk" };
  const whoWith = async (options: StartOptions, ...tokens: readonly string[]): Promise<unknown[]> => {
    const ownApi = await startApi(options);
    const answers = [];
    for (const token of tokens) {
      const answer = await ownApi.get("/rpc/who", { headers: { authorization: `Bearer ${token}` } });
      answers.push(answer.status === 200 ? answer.json() : answer.json().details);
    }
    await ownApi.close();
    return answers;
  };

  test("R-AUT-3 R-AUT-3a a key set verifies tokens with and without a kid, each by the algorithm of its key", async () => {
    const set = JSON.stringify({
      keys: [jwk(rsa.publicKey, "r"), jwk(ec.publicKey, "e"), jwk(ed25519.publicKey, "d")],
    });
    const answers = await whoWith(
      { jwtSecret: set },
      signToken(clerk, { algorithm: "RS256", key: rsa.privateKey, header: { kid: "r" } }),
      signToken(clerk, { algorithm: "RS512", key: rsa.privateKey }),
      signToken(clerk, { algorithm: "ES384", key: ec.privateKey, header: { kid: "e" } }),
      signToken(clerk, { algorithm: "EdDSA", key: ed25519.privateKey }),
      signToken(clerk, { algorithm: "RS256", key: rsa.privateKey, header: { kid: "e" } }),
      signToken(clerk, { algorithm: "PS256", key: rsa.privateKey }),
      signToken(clerk),
    );
    const keyError = "No suitable key was found to decode the JWT";
    expect(answers).toEqual(["sea_clerk", "sea_clerk", "sea_clerk", "sea_clerk", keyError, keyError, keyError]);
  });
  test("R-AUT-3 a JWK of a secret accepts every HS algorithm or the named one", async () => {
    const k = Buffer.from(jwtSecret).toString("base64url");
    expect(
      await whoWith({ jwtSecret: { kty: "oct", k } }, signToken(clerk), signToken(clerk, { algorithm: "HS512" })),
    ).toEqual(["sea_clerk", "sea_clerk"]);
    expect(
      await whoWith(
        { jwtSecret: { kty: "oct", k, alg: "HS512" } },
        signToken(clerk),
        signToken(clerk, { algorithm: "HS512" }),
      ),
    ).toEqual(["No suitable key was found to decode the JWT", "sea_clerk"]);
  });
  test("R-AUT-3 a secret may be encoded in base64", async () => {
    const secret = Buffer.alloc(48, 251);
    expect(
      await whoWith({ jwtSecret: secret.toString("base64url"), jwtSecretIsBase64: true }, signToken(clerk, { secret })),
    ).toEqual(["sea_clerk"]);
  });
  test("R-AUT-3 G-AUTH-11 keys are fetched from an address, and requests wait for the first fetch", async () => {
    const port = await startHttpServer(
      (_request, response) =>
        // The response is sent after the first requests are pending.
        void setTimeout(() => response.end(JSON.stringify({ keys: [jwk(rsa.publicKey, "r")] })), 300),
    );
    const jwk_url = `http://127.0.0.1:${port}/`;
    const token = signToken(clerk, { algorithm: "RS256", key: rsa.privateKey, header: { kid: "r" } });
    expect(await whoWith({ jwtSecret: { jwk_url } }, token, token)).toEqual(["sea_clerk", "sea_clerk"]);
  });
  test.each<[string, StartOptions, RegExp]>([
    [
      "R-AUT-3 a secret that is too short",
      { jwtSecret: "short" },
      /^jwtSecret \(JWT_SECRET\) is a secret of 5 bytes: 32 or more are required$/,
    ],
    ["R-AUT-3 a secret that is not base64", { jwtSecret: "?".repeat(40), jwtSecretIsBase64: true }, /is not base64/],
    [
      "R-AUT-7 R-AUT-7b a role claim key of neither form",
      { jwtRoleClaimKey: "role.name" },
      /^jwtRoleClaimKey \(JWT_ROLE_CLAIM_KEY\) "role.name" cannot be read/,
    ],
    [
      "R-AUT-7 R-AUT-7b a broken JSON Path",
      { jwtRoleClaimKey: "$.roles[?(" },
      /^jwtRoleClaimKey \(JWT_ROLE_CLAIM_KEY\) ".*" is not a JSON Path/,
    ],
  ])("%s stops the start", async (_title, options, message) => {
    await expect(startApi(options)).rejects.toMatchObject({ code: "preset", message: expect.stringMatching(message) });
  });
});

describe("times", () => {
  // The clock stands still, so that on a slow machine a time slightly ahead does not pass.
  beforeAll(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterAll(() => void vi.useRealTimers());
  testClaims("R-AUT-4 a token with exp in the future is accepted", () => ({ exp: nowSeconds() + 60 }));
  testClaims("R-AUT-4 a token that expired within the tolerance is accepted", () => ({ exp: nowSeconds() - 20 }));
  testClaims(
    "R-AUT-4 a token that expired before the tolerance is rejected",
    () => ({ exp: nowSeconds() - 40 }),
    buildErrorAnswer("PGRST303", "JWT expired"),
  );
  testClaims("R-AUT-4 a token with nbf in the past is accepted", () => ({ nbf: nowSeconds() - 60 }));
  testClaims("R-AUT-4 a token with nbf ahead by less than the tolerance is accepted", () => ({
    nbf: nowSeconds() + 20,
  }));
  testClaims(
    "R-AUT-4 a token with nbf ahead by more than the tolerance is rejected",
    () => ({ nbf: nowSeconds() + 40 }),
    buildErrorAnswer("PGRST303", "JWT not yet valid"),
  );
  testClaims("R-AUT-4 a token with iat ahead by less than the tolerance is accepted", () => ({
    iat: nowSeconds() + 20,
  }));
  testClaims(
    "R-AUT-4 a token with iat ahead by more than the tolerance is rejected",
    () => ({ iat: nowSeconds() + 40 }),
    buildErrorAnswer("PGRST303", "JWT issued at future"),
  );
  testClaims("R-AUT-4 R-AUT-4a a token with null in its time claims is accepted", () => ({
    exp: null,
    nbf: null,
    iat: null,
    aud: null,
  }));
  testClaims(
    "R-AUT-4 exp is checked before nbf, iat and aud",
    () => ({ exp: nowSeconds() - 99, nbf: "x", iat: "x", aud: 1 }),
    buildErrorAnswer("PGRST303", "JWT expired"),
  );
  testClaims(
    "R-AUT-4 nbf is checked before iat",
    () => ({ nbf: nowSeconds() + 99, iat: nowSeconds() + 99 }),
    buildErrorAnswer("PGRST303", "JWT not yet valid"),
  );
  testClaims(
    "R-AUT-4 a fraction in exp counts as 0, so the token has expired",
    () => ({ exp: nowSeconds() + 99.5 }),
    buildErrorAnswer("PGRST303", "JWT expired"),
  );
  testClaims("R-AUT-4 fractions in nbf and iat count as 0, so the token is accepted", () => ({
    nbf: nowSeconds() + 99.5,
    iat: nowSeconds() + 99.5,
  }));
  testClaims(
    "R-AUT-4 a number beyond 64 bits counts as 0",
    () => ({ exp: 1e30, nbf: 1e30 }),
    buildErrorAnswer("PGRST303", "JWT expired"),
  );
  testClaims(
    "R-AUT-4 a token whose exp is a string is rejected",
    () => ({ exp: String(nowSeconds() + 60) }),
    buildErrorAnswer("PGRST303", "The JWT 'exp' claim must be a number"),
  );
  testClaims(
    "R-AUT-4 a token whose nbf is a list is rejected",
    () => ({ nbf: [1] }),
    buildErrorAnswer("PGRST303", "The JWT 'nbf' claim must be a number"),
  );
  testClaims(
    "R-AUT-4 a token whose iat is true is rejected",
    () => ({ iat: true }),
    buildErrorAnswer("PGRST303", "The JWT 'iat' claim must be a number"),
  );
  test("R-AUT-4 R-AUT-12 a cached token is rejected once it has expired", async () => {
    const headers = bearer({ role: "sea_clerk", exp: nowSeconds() + 5 });
    expect((await api.get("/rpc/who", { headers })).status).toBe(200);
    vi.setSystemTime(Date.now() + 36_000);
    const answer = await api.get("/rpc/who", { headers });
    expect(answer.json().message).toBe("JWT expired");
  });
});

describe("audiences", () => {
  let audienceApi: TestApi;
  beforeAll(async () => {
    audienceApi = await startApi({ jwtAud: "sea" });
  });
  const wrongType = buildErrorAnswer("PGRST303", "The JWT 'aud' claim must be a string or an array of strings");
  const wrongAudience = buildErrorAnswer("PGRST303", "JWT not in audience");
  for (const aud of ["x", ["x", "y"], [], null])
    testClaims(`R-AUT-5 without JWT_AUD the audience ${JSON.stringify(aud)} is accepted`, () => ({ aud }));
  for (const aud of [1, true, {}, ["x", 1]])
    testClaims(
      `R-AUT-5 without JWT_AUD an audience of the wrong type is rejected: ${JSON.stringify(aud)}`,
      () => ({ aud }),
      wrongType,
    );
  for (const aud of ["sea", ["x", "sea"], [], null, undefined])
    testClaims(
      `R-AUT-5 JWT_AUD accepts the audience ${JSON.stringify(aud)}`,
      () => ({ aud }),
      { answer: "sea_clerk" },
      () => audienceApi,
    );
  for (const aud of ["SEA", "x", "", ["x"]])
    testClaims(
      `R-AUT-5 JWT_AUD rejects the audience ${JSON.stringify(aud)}`,
      () => ({ aud }),
      wrongAudience,
      () => audienceApi,
    );
  for (const aud of [1, {}, [null]])
    testClaims(
      `R-AUT-5 with JWT_AUD an audience of the wrong type is rejected: ${JSON.stringify(aud)}`,
      () => ({ aud }),
      wrongType,
      () => audienceApi,
    );
  testClaims(
    "R-AUT-5 iss is not checked by default",
    () => ({ iss: "anybody" }),
    { answer: "sea_clerk" },
    () => audienceApi,
  );
  test("R-AUT-5 iss is checked if the key object has an issuer", async () => {
    const ownApi = await startApi({
      jwtSecret: { type: "HS256", key: jwtSecret, issuer: "https://me", audience: ["a", "b"] },
    });
    const ask = async (claims: Record<string, unknown>) =>
      (await ownApi.get("/rpc/who", { headers: bearer({ role: "sea_clerk", ...claims }) })).json();
    expect(await ask({ iss: "https://me", aud: "b" })).toBe("sea_clerk");
    expect(await ask({})).toBe("sea_clerk");
    expect(await ask({ iss: "https://you" })).toMatchObject({ code: "PGRST303", message: "JWT not in issuer" });
    expect(await ask({ aud: "c" })).toMatchObject({ code: "PGRST303", message: "JWT not in audience" });
    await ownApi.close();
  });
});

describe("roles", () => {
  const roles = { "x-session-default-role": "sea_clerk", "x-session-allowed-roles": ["sea_clerk", "sea_auditor"] };
  let authenticatedApi: TestApi;
  let unsecuredApi: TestApi;
  beforeAll(async () => {
    authenticatedApi = await startApi({ anonRole: undefined });
    unsecuredApi = await startApi({ adminSecret: undefined });
  });
  const forbidden = (role: string): Pick<Case, "status" | "answer" | "responseHeaders"> => ({
    status: 403,
    answer: { code: "42501", details: null, hint: null, message: `permission denied to set role "${role}"` },
    responseHeaders: { "www-authenticate": null },
  });
  cases(
    () => api,
    [
      {
        title: "R-AUT-6 the default role of the session claims precedes the role claim",
        ...answerAs("sea_clerk"),
        headers: bearer({ ...roles, role: "sea_captain" }),
      },
      {
        title: "R-AUT-6 a token with only a default role has that role",
        ...answerAs("sea_auditor"),
        headers: bearer({ "x-session-default-role": "sea_auditor" }),
      },
      {
        title: "R-AUT-6 claim names are read in any letter case and with the other prefix",
        ...answerAs("sea_auditor"),
        headers: bearer({ "X-Hasura-Default-Role": "sea_auditor" }),
      },
      {
        title: "R-AUT-6 the role header chooses another allowed role",
        ...answerAs("sea_auditor"),
        headers: { ...bearer(roles), "X-Session-Role": "sea_auditor" },
      },
      {
        title: "R-AUT-6 the role header may name the default role",
        ...answerAs("sea_clerk"),
        headers: { ...bearer(roles), "X-Session-Role": "sea_clerk" },
      },
      {
        title: "R-AUT-6 the role header is rejected for a role that is not allowed",
        request: WHO_REQUEST,
        headers: { ...bearer(roles), "X-Session-Role": "sea_captain" },
        ...forbidden("sea_captain"),
      },
      {
        title: "R-AUT-6 a token without a list of allowed roles allows no other role",
        request: WHO_REQUEST,
        headers: { ...bearer({ "x-session-default-role": "sea_clerk" }), "X-Session-Role": "sea_auditor" },
        ...forbidden("sea_auditor"),
      },
      {
        title: "R-AUT-6 allowed roles that are not a list allow no other role",
        request: WHO_REQUEST,
        headers: { ...bearer({ ...roles, "x-session-allowed-roles": "sea_auditor" }), "X-Session-Role": "sea_auditor" },
        ...forbidden("sea_auditor"),
      },
      {
        title: "R-AUT-6 the role header is ignored without a default role",
        ...answerAs("sea_clerk"),
        headers: {
          ...bearer({ role: "sea_clerk", "x-session-allowed-roles": ["sea_auditor"] }),
          "X-Session-Role": "sea_auditor",
        },
      },
      {
        title: "R-AUT-6 a token has the role of the claim key",
        ...answerAs("sea_clerk"),
        headers: bearer({ role: "sea_clerk" }),
      },
      {
        title: "R-AUT-6 a token without a role gets the anonymous role",
        ...answerAs("sea_anon"),
        headers: bearer({ sub: "ada" }),
      },
      {
        title: "R-AUT-6 the role header is ignored without a token",
        ...answerAs("sea_anon"),
        headers: { "X-Session-Role": "sea_auditor" },
      },
      {
        title: "R-AUT-7 a role that is not a string is used as its JSON text",
        request: WHO_REQUEST,
        headers: bearer({ role: 7 }),
        status: 401,
        answer: { code: "22023", details: null, hint: null, message: 'role "7" does not exist' },
      },
      {
        title: "R-AUT-7 a role claim of null is rejected",
        request: WHO_REQUEST,
        headers: bearer({ role: null }),
        status: 401,
        answer: { code: "22023", details: null, hint: null, message: 'role "null" does not exist' },
      },
    ],
  );
  cases(
    () => authenticatedApi,
    [
      {
        title: "R-AUT-6 R-AUT-9 without an anonymous role a request without credentials is rejected",
        request: WHO_REQUEST,
        ...buildErrorAnswer("PGRST302", "Anonymous access is disabled"),
      },
      {
        title: "R-AUT-6 R-AUT-9 without an anonymous role a token without a role is rejected",
        request: WHO_REQUEST,
        headers: bearer({ sub: "ada" }),
        ...buildErrorAnswer("PGRST302", "Anonymous access is disabled"),
      },
      {
        title: "R-AUT-6 R-AUT-9 without an anonymous role unknown paths are rejected with 401 too",
        request: "DELETE /nowhere",
        ...buildErrorAnswer("PGRST302", "Anonymous access is disabled"),
      },
      {
        title: "R-AUT-6 R-AUT-9 without an anonymous role OPTIONS is rejected too",
        request: "OPTIONS /vessels",
        ...buildErrorAnswer("PGRST302", "Anonymous access is disabled"),
      },
      {
        title: "R-AUT-6 without an anonymous role a token with a role is accepted",
        ...answerAs("sea_clerk"),
        headers: bearer({ role: "sea_clerk" }),
      },
    ],
  );
  cases(
    () => api,
    [
      {
        title: "R-AUT-8 an administrator runs as the login role",
        request: WHO_REQUEST,
        headers: { "X-Session-Admin-Secret": adminSecret },
        check: ({ json }) => expect(json()).toMatch(/^(postgres)$/),
      },
      {
        title: "R-AUT-8 an administrator may act as another role",
        ...answerAs("sea_auditor"),
        headers: { "X-Session-Admin-Secret": adminSecret, "X-Session-Role": "sea_auditor" },
      },
      {
        title: "R-AUT-8 a token beside the admin secret is ignored",
        ...answerAs("sea_auditor"),
        headers: {
          ...bearer({ role: "sea_clerk" }),
          "X-Session-Admin-Secret": adminSecret,
          "X-Session-Role": "sea_auditor",
        },
      },
      {
        title: "R-AUT-8 R-AUT-9 a wrong admin secret is rejected",
        request: WHO_REQUEST,
        headers: { "X-Session-Admin-Secret": "guess" },
        ...buildErrorAnswer("PGRST302", "invalid x-session-admin-secret"),
      },
      {
        title: "R-AUT-8 a wrong admin secret is rejected even with a valid token",
        request: WHO_REQUEST,
        headers: { ...bearer({ role: "sea_clerk" }), "X-Session-Admin-Secret": "guess" },
        ...buildErrorAnswer("PGRST302", "invalid x-session-admin-secret"),
      },
      {
        title: "R-AUT-8 an empty admin secret is rejected",
        request: WHO_REQUEST,
        headers: { "X-Session-Admin-Secret": "" },
        ...buildErrorAnswer("PGRST302", "invalid x-session-admin-secret"),
      },
    ],
  );
  cases(
    () => unsecuredApi,
    [
      {
        title: "R-AUT-8 without a configured admin secret no caller is administrator",
        ...answerAs("sea_anon"),
        headers: { "X-Session-Admin-Secret": adminSecret, "X-Session-Role": "sea_auditor" },
      },
      {
        title: "R-AUT-8 without a configured admin secret an empty secret is ignored",
        ...answerAs("sea_anon"),
        headers: { "X-Session-Admin-Secret": "", "X-Session-Role": "sea_auditor" },
      },
      {
        title: "R-AUT-8 without a configured admin secret the role header is ignored beside a token",
        ...answerAs("sea_clerk"),
        headers: { ...bearer(roles), "X-Session-Role": "sea_auditor" },
      },
    ],
  );
  test("R-AUT-7 R-AUT-7a the role is found by a JSON Path and by the older form", async () => {
    const claims = { realm: { "a b": ["viewer", "sea_clerk"] }, "https://x/r": { k: "sea_auditor" } };
    for (const [jwtRoleClaimKey, role] of [
      ["$.realm['a b'][1]", "sea_clerk"],
      ['.realm."a b"[1]', "sea_clerk"],
      ['.realm."a b"[?(@ ^== "sea")]', "sea_clerk"],
      ["$.realm['a b'][?search(@, '^sea')]", "sea_clerk"],
      ["$['https://x/r'].k", "sea_auditor"],
      ["$..k", "sea_auditor"],
      [".nowhere", "sea_anon"],
    ] as const) {
      const ownApi = await startApi({ jwtRoleClaimKey });
      expect((await ownApi.get("/rpc/who", { headers: bearer(claims) })).json(), jwtRoleClaimKey).toBe(role);
      await ownApi.close();
    }
  });
});

describe("errors of the database", () => {
  const deniedError = { code: "42501", details: null, hint: null, message: "permission denied for table payroll" };
  cases(
    () => api,
    [
      {
        title: "R-AUT-10 R-AUT-9 a caller without credentials and privilege gets 401",
        request: "GET /payroll",
        status: 401,
        answer: deniedError,
        responseHeaders: { "www-authenticate": "Bearer" },
      },
      {
        title: "R-AUT-10 a token without a role and privilege gets 401",
        request: "GET /payroll",
        headers: bearer({ sub: "ada" }),
        status: 401,
        answer: deniedError,
        responseHeaders: { "www-authenticate": "Bearer" },
      },
      {
        title: "R-AUT-10 a token with the anonymous role and without privilege gets 401",
        request: "GET /payroll",
        role: "sea_anon",
        status: 401,
        answer: deniedError,
      },
      {
        title: "R-AUT-10 an administrator acting as the anonymous role gets 401 without privilege",
        request: "GET /payroll",
        headers: { "x-session-admin-secret": adminSecret, "x-session-role": "sea_anon" },
        status: 401,
        answer: deniedError,
      },
      {
        title: "R-AUT-10 another role without privilege gets 403",
        request: "GET /payroll",
        role: "sea_clerk",
        status: 403,
        answer: deniedError,
        responseHeaders: { "www-authenticate": null },
      },
      {
        title: "R-AUT-11 a role that does not exist is rejected",
        request: "GET /vessels",
        role: "nobody_of_that_name",
        status: 401,
        answer: { code: "22023", details: null, hint: null, message: 'role "nobody_of_that_name" does not exist' },
        responseHeaders: { "www-authenticate": "Bearer" },
      },
      {
        title: 'R-AUT-11 the role "none" does not exist',
        request: "GET /vessels",
        role: "none",
        status: 401,
        answer: { code: "22023", details: null, hint: null, message: 'role "none" does not exist' },
      },
      {
        title: 'R-AUT-11 the role "none" does not exist for an administrator',
        request: "GET /vessels",
        headers: { "x-session-admin-secret": adminSecret, "x-session-role": "none" },
        status: 401,
      },
      {
        title: "R-AUT-11 a role with an empty name is rejected",
        request: "GET /vessels",
        role: "",
        status: 401,
        answer: { code: "22023", details: null, hint: null, message: 'role "" does not exist' },
      },
    ],
  );
  test.skipIf(!capabilities.realServer)(
    "R-AUT-11 R-AUT-10 a role that the login role may not assume gets 403",
    async () => {
      const ownApi = await startApi({ databaseUrl: api.database.urlAs("sea_login") });
      const answer = await ownApi.get("/vessels", { headers: bearer({ role: "sea_ghost" }) });
      expect(answer.status).toBe(403);
      expect(answer.json()).toMatchObject({ code: "42501", message: 'permission denied to set role "sea_ghost"' });
      await ownApi.close();
    },
  );
});

describe("the cost of rejected and cached tokens", () => {
  const startCounting = async (
    options: StartOptions,
  ): Promise<{ readonly ownApi: TestApi; readonly count: (name: string) => number }> => {
    let counters: Counters | undefined;
    const reader = definePlugin({ name: "counter-reader", apply: (_hooks, context) => void ({ counters } = context) });
    const ownApi = await startApi({ ...options, parts: [reader] });
    return { ownApi, count: (name) => counters!.get(name) };
  };
  const cacheCounts = (count: (name: string) => number): readonly number[] =>
    ["requests", "hits", "evictions"].map((name) => count(`jwt-cache-${name}`));

  test("R-AUT-12 R-PIPE-1 a token is rejected without waiting for a database connection", async () => {
    const { ownApi, count } = await startCounting({ dbPool: 1 });
    const unlock = await lockTable(ownApi.database, "sea.logbook");
    const slowRequest = ownApi.get("/logbook?limit=1");
    await until(() => count("pool-available") === 0, "the one connection is taken");
    const answers = await Promise.all([
      ownApi.get("/vessels", { headers: bearer({ role: "sea_clerk", exp: 1 }) }),
      ownApi.get("/vessels", { headers: bearer({ role: "sea_clerk" }, { secret: "y".repeat(40) }) }),
      ownApi.get("/vessels", { headers: { "x-session-admin-secret": "guess" } }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([401, 401, 401]);
    await unlock();
    expect((await slowRequest).status).toBe(200);
    await ownApi.close();
  });

  const ask = async (ownApi: TestApi, sub: string, extraClaims: Record<string, unknown> = {}): Promise<number> =>
    (await ownApi.get("/rpc/who", { headers: bearer({ role: "sea_clerk", sub, ...extraClaims }) })).status;

  test("R-AUT-12 R-ADM-2 the cache has as many verified tokens as the setting allows", async () => {
    const { ownApi, count } = await startCounting({ jwtCacheMaxEntries: 2 });
    for (const sub of ["a", "a", "b", "b", "c", "c", "a"]) expect(await ask(ownApi, sub)).toBe(200);
    expect(cacheCounts(count)).toEqual([7, 3, 2]);
    await ownApi.close();
  });
  test("R-AUT-12 rejected tokens are not cached", async () => {
    const { ownApi, count } = await startCounting({ jwtCacheMaxEntries: 2 });
    const bad = { headers: bearer({ role: "sea_clerk" }, { secret: "y".repeat(40) }) };
    for (let i = 0; i < 3; i++) expect((await ownApi.get("/rpc/who", bad)).status).toBe(401);
    expect(cacheCounts(count)).toEqual([3, 0, 0]);
    await ownApi.close();
  });
  test("R-AUT-12 R-SC-4 cached tokens are dropped when the secret changes", async () => {
    const ownApi = await startApi();
    const second = "a-second-secret-of-the-tests-with-32-bytes";
    const statuses = async (): Promise<readonly number[]> =>
      Promise.all(
        [jwtSecret, second].map(
          async (secret) =>
            (await ownApi.get("/rpc/who", { headers: bearer({ role: "sea_clerk" }, { secret }) })).status,
        ),
      );
    expect(await statuses()).toEqual([200, 401]);
    const [{ name }] = (await ownApi.sql("select quote_ident(current_database()) as name")) as [{ name: string }];
    await ownApi.sql(`alter role postgres in database ${name} set pgrst.jwt_secret = '${second}'`);
    await ownApi.reload();
    expect(await statuses()).toEqual([401, 200]);
    await ownApi.sql(`alter role postgres in database ${name} set pgrst.jwt_secret = 'short'`);
    await ownApi.reload();
    expect(await statuses()).toEqual([401, 200]);
    await ownApi.sql(`alter role postgres in database ${name} reset pgrst.jwt_secret`);
    await ownApi.reload();
    expect(await statuses()).toEqual([200, 401]);
    await ownApi.close();
  });
  test("R-AUT-12 the size 0 turns the cache of tokens off", async () => {
    const { ownApi, count } = await startCounting({ jwtCacheMaxEntries: 0 });
    expect(await ask(ownApi, "a")).toBe(200);
    expect(await ask(ownApi, "a")).toBe(200);
    expect(cacheCounts(count)).toEqual([0, 0, 0]);
    await ownApi.close();
  });
});
