/** Attacks: each one is rejected on both surfaces, or does not change who the caller is. */
import { generateKeyPairSync, sign } from "node:crypto";
import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import type { Logger } from "../../core/index.ts";
import { startApi, type HeaderValues, type StartOptions, type TestApi } from "../support/api.ts";
import {
  callGraphql,
  callRest,
  installCallerSettings,
  readGraphqlSettings,
  readRestSettings,
} from "../support/caller-settings.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret, bearer, jwtSecret, signToken } from "../support/tokens.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const attacker = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
const jwk = rsa.publicKey.export({ format: "jwk" });

const CLAIMS = {
  "x-session-default-role": "music_reader",
  "x-session-allowed-roles": ["music_reader"],
  "x-session-user-id": "7",
};
const FORGED_CLAIMS = {
  ...CLAIMS,
  role: "music_editor",
  "x-session-default-role": "music_editor",
  "x-session-allowed-roles": ["music_editor"],
};

const encode = (part: unknown): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
const raw = (token: string): HeaderValues => ({ authorization: `Bearer ${token}` });
/** A token with a header of the attacker's choice and forged claims, signed with any available key. */
const forgedToken = (header: unknown, signature = encode("signature"), claims: unknown = FORGED_CLAIMS): HeaderValues =>
  raw(`${encode(header)}.${encode(claims)}.${signature}`);

const messages: string[] = [];
const tell = (...words: readonly unknown[]): void => void messages.push(JSON.stringify(words));
const logger: Logger = { error: tell, warn: tell, info: tell, debug: tell, access: tell };
/** Strings that no response or log line may contain. */
const secrets = [jwtSecret, adminSecret, adminSecret.slice(0, -1), pem.split("\n")[1]!];

const BASE: StartOptions = { dbSchemas: ["public"], anonRole: "music_nobody", logger, logLevel: "debug" };

const running = new Map<StartOptions, Promise<TestApi>>();
const apiFor = (options: StartOptions): Promise<TestApi> => {
  let api = running.get(options);
  if (api === undefined) running.set(options, (api = startApi({ ...BASE, ...options })));
  return api;
};

const HS: StartOptions = {};
const PEM: StartOptions = { jwtSecret: pem };
const RSA: StartOptions = { jwtSecret: { type: "RS256", key: pem } };
const SET: StartOptions = {
  jwtSecret: {
    keys: [
      { ...jwk, kid: "r" },
      { kty: "oct", k: Buffer.from(jwtSecret).toString("base64url"), kid: "h", alg: "HS256" },
    ],
  },
};
const EC: StartOptions = { jwtSecret: ec.publicKey.export({ format: "jwk" }) as Record<string, unknown> };
const AUDIENCE: StartOptions = { jwtAud: "us" };
const BARE: StartOptions = { adminSecret: undefined };

beforeAll(async () => {
  await installCallerSettings(await apiFor(HS));
});

interface Attack {
  readonly title: string;
  readonly options?: StartOptions;
  readonly headers: HeaderValues;
  /** The status and code of the REST surface, if the token is not the reason of the rejection. */
  readonly rest?: readonly [status: number, code: string];
  readonly graphql?: string;
}

interface IgnoredAttack {
  readonly title: string;
  readonly options?: StartOptions;
  readonly headers: HeaderValues;
  /** The expected `current_user`. */
  readonly user: string;
  readonly userId?: string;
}

const testRejections = (rows: readonly Attack[]): void => {
  for (const {
    title,
    options = HS,
    headers,
    rest = [401, expect.stringMatching(/^PGRST30[13]$/)],
    graphql = "invalid-jwt",
  } of rows)
    test(title, async () => {
      const api = await apiFor(options);
      const onRest = await callRest(api, headers);
      expect([onRest.status, onRest.json().code], onRest.text).toEqual(rest);
      if (onRest.status === 401) expect(onRest.headers["www-authenticate"]).toMatch(/^Bearer/);
      const onGraphql = await callGraphql(api, headers);
      expect(onGraphql.json(), onGraphql.text).toEqual({
        errors: [{ message: expect.any(String), extensions: { path: expect.stringMatching(/^\$/), code: graphql } }],
      });
      messages.push(onRest.text, JSON.stringify(onRest.headers), onGraphql.text);
    });
};

const testIgnored = (rows: readonly IgnoredAttack[]): void => {
  for (const { title, options = HS, headers, user, userId = "" } of rows)
    test(title, async () => {
      const api = await apiFor(options);
      for (const callerSettings of [
        readRestSettings(await callRest(api, headers)),
        readGraphqlSettings(await callGraphql(api, headers)),
      ]) {
        expect({
          user: callerSettings.current_user,
          role: callerSettings["session.role"],
          userId: callerSettings["session.user_id"] || "",
        }).toEqual({ user, role: user, userId });
        expect(JSON.parse(callerSettings["request.jwt.claims"]!).role).toBe(user);
      }
    });
};

describe("signatures", () => {
  const [head, , signature] = signToken(CLAIMS).split(".") as [string, string, string];
  testRejections([
    ...["none", "None", "NONE", "nOnE", "", "null", null, ["none"], 0].flatMap((alg): Attack[] => [
      {
        title: `R-AUT-3 G-AUTH-11 a token with alg ${JSON.stringify(alg)} and no signature is rejected`,
        headers: forgedToken({ alg, typ: "JWT" }, ""),
      },
      {
        title: `R-AUT-3 G-AUTH-11 a token with alg ${JSON.stringify(alg)} and a signature of another token is rejected`,
        headers: forgedToken({ alg, typ: "JWT" }, signature),
      },
    ]),
    {
      title: "R-AUT-3 G-AUTH-11 a token with the signature of another payload is rejected",
      headers: raw(`${head}.${encode(FORGED_CLAIMS)}.${signature}`),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token with an empty signature is rejected",
      headers: raw(`${head}.${encode(FORGED_CLAIMS)}.`),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token without a third part is rejected",
      headers: raw(`${head}.${encode(FORGED_CLAIMS)}`),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token signed with an empty secret is rejected",
      headers: bearer(FORGED_CLAIMS, { secret: "" }),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token signed with the word secret is rejected",
      headers: bearer(FORGED_CLAIMS, { secret: "secret" }),
    },
    ...[RSA, PEM, SET].flatMap((options, i): Attack[] => [
      {
        title: `R-AUT-3 G-AUTH-11 a token signed with the public key as PEM is rejected (${i})`,
        options,
        headers: bearer(FORGED_CLAIMS, { secret: pem }),
      },
      {
        title: `R-AUT-3 G-AUTH-11 a token signed with the public key as PEM without its last line end is rejected (${i})`,
        options,
        headers: bearer(FORGED_CLAIMS, { secret: pem.trim() }),
      },
      {
        title: `R-AUT-3 G-AUTH-11 a token signed with the public key as DER is rejected (${i})`,
        options,
        headers: bearer(FORGED_CLAIMS, { secret: rsa.publicKey.export({ type: "spki", format: "der" }) }),
      },
      {
        title: `R-AUT-3 G-AUTH-11 a token signed with the modulus of the public key under HS512 is rejected (${i})`,
        options,
        headers: bearer(FORGED_CLAIMS, { algorithm: "HS512", secret: Buffer.from(String(jwk.n), "base64url") }),
      },
    ]),
    {
      title: "R-AUT-3 G-AUTH-11 a token signed with the right key under another algorithm is rejected",
      options: RSA,
      headers: bearer(FORGED_CLAIMS, { algorithm: "PS256", key: rsa.privateKey }),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token signed with the right key under another hash length is rejected",
      options: RSA,
      headers: bearer(FORGED_CLAIMS, { algorithm: "RS512", key: rsa.privateKey }),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token signed with the set's secret under another algorithm is rejected",
      options: SET,
      headers: bearer(FORGED_CLAIMS, { algorithm: "HS512", header: { kid: "h" } }),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token with a signature of zeros is rejected",
      options: EC,
      headers: forgedToken({ alg: "ES256" }, Buffer.alloc(64).toString("base64url")),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token with an empty signature on a curve is rejected",
      options: EC,
      headers: forgedToken({ alg: "ES256" }, ""),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token with a signature in another encoding is rejected",
      options: EC,
      headers: forgedToken(
        { alg: "ES256" },
        sign("sha256", Buffer.from(`${encode({ alg: "ES256" })}.${encode(FORGED_CLAIMS)}`), {
          key: ec.privateKey,
          dsaEncoding: "der",
        }).toString("base64url"),
      ),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token with two algorithms, none last, is rejected",
      headers: raw(`${encode('{"alg":"HS256","alg":"none"}')}.${encode(FORGED_CLAIMS)}.`),
    },
    {
      title: "R-AUT-3 G-AUTH-11 a token with two algorithms, none first, is rejected",
      headers: raw(`${encode('{"alg":"none","alg":"HS256"}')}.${encode(FORGED_CLAIMS)}.`),
    },
  ]);
});

describe("keys within a token", () => {
  const bring = (header: Record<string, unknown>): HeaderValues =>
    bearer(FORGED_CLAIMS, { algorithm: "RS256", key: attacker.privateKey, header });
  const attackerKey = attacker.publicKey.export({ format: "jwk" });
  for (const [name, options] of [
    ["a secret", HS],
    ["a key", RSA],
    ["a set", SET],
  ] as const)
    testRejections([
      {
        title: `R-AUT-3 G-AUTH-11 a jwk in the header of a token is not used with ${name}`,
        options,
        headers: bring({ jwk: attackerKey }),
      },
      {
        title: `R-AUT-3 G-AUTH-11 a jku in the header of a token is not used with ${name}`,
        options,
        headers: bring({ jku: "https://evil.example/jwks.json" }),
      },
      {
        title: `R-AUT-3 G-AUTH-11 x5u and x5c in the header of a token are not used with ${name}`,
        options,
        headers: bring({ x5u: "https://evil.example/cert.pem", x5c: ["AAAA"] }),
      },
      {
        title: `R-AUT-3 G-AUTH-11 a jwk with a known kid in the header of a token is not used with ${name}`,
        options,
        headers: bring({ kid: "r", jwk: { ...attackerKey, kid: "r" } }),
      },
    ]);
  testRejections([
    {
      title: "R-AUT-3 G-AUTH-11 R-AUT-3a a token with critical extensions is rejected",
      headers: bearer(FORGED_CLAIMS, { header: { crit: ["b64"], b64: false } }),
    },
    {
      title: "R-AUT-3 G-AUTH-11 R-AUT-3a a token with an empty list of critical extensions is rejected",
      headers: bearer(FORGED_CLAIMS, { header: { crit: [] } }),
    },
  ]);
});

describe("the kid of a token", () => {
  const kids: readonly (readonly [string, unknown])[] = [
    ["a path", "../../../../dev/null"],
    ["a path in a URL", "file:///etc/passwd"],
    ["SQL", "r' union select 'secret' --"],
    ["a shell", "r|id;$(id)`id`"],
    ["a huge one", "k".repeat(9000)],
    ["nothing", ""],
    ["an object", { $ne: null }],
    ["a list", ["r"]],
    ["a number", 0],
    ["what every object has", "constructor"],
    ["NUL", "r\u0000"],
    ["another case", "R"],
  ];
  testRejections(
    kids.flatMap(([name, kid]): Attack[] => [
      {
        title: `R-AUT-3 a token with a hostile kid and an empty secret is rejected: ${name}`,
        options: SET,
        headers: bearer(FORGED_CLAIMS, { secret: "", header: { kid } }),
      },
      {
        title: `R-AUT-3 a token with a hostile kid and the secret of another kid is rejected: ${name}`,
        options: SET,
        headers: bearer(FORGED_CLAIMS, { header: { kid } }),
      },
    ]),
  );
  testRejections([
    {
      title: "R-AUT-3 a token with the kid of a key of another kind is rejected",
      options: SET,
      headers: bearer(FORGED_CLAIMS, { header: { kid: "r" } }),
    },
  ]);
  test("R-AUT-3 tokens with the right kid are accepted", async () => {
    const api = await apiFor(SET);
    expect(readRestSettings(await callRest(api, bearer(CLAIMS, { header: { kid: "h" } }))).current_user).toBe(
      "music_reader",
    );
    expect(
      readGraphqlSettings(
        await callGraphql(api, bearer(CLAIMS, { algorithm: "RS256", key: rsa.privateKey, header: { kid: "r" } })),
      ).current_user,
    ).toBe("music_reader");
  });
});

describe("times and audiences", () => {
  const seconds = Math.floor(Date.now() / 1000);
  testRejections([
    {
      title: "R-AUT-4 G-AUTH-14 a token that expired an hour ago is rejected",
      headers: bearer({ ...FORGED_CLAIMS, exp: seconds - 3600 }),
    },
    {
      title: "R-AUT-4 G-AUTH-14 a token that expired in 1970 is rejected",
      headers: bearer({ ...FORGED_CLAIMS, exp: 0 }),
    },
    {
      title: "R-AUT-4 G-AUTH-14 a token that expired before 1970 is rejected",
      headers: bearer({ ...FORGED_CLAIMS, exp: -1 }),
    },
    {
      title: "R-AUT-4 G-AUTH-14 a token whose exp is text is rejected",
      headers: bearer({ ...FORGED_CLAIMS, exp: `${seconds + 3600}` }),
    },
    {
      title: "R-AUT-4 G-AUTH-14 a token whose exp is an object is rejected",
      headers: bearer({ ...FORGED_CLAIMS, exp: {} }),
    },
    {
      title: "R-AUT-4 G-AUTH-14 a token with two exp, of which the first is valid, is rejected",
      headers: bearer(`{"role":"music_editor","exp":${seconds + 3600},"exp":1}`),
    },
    {
      title: "R-AUT-4 G-AUTH-14 a token that is not yet valid is rejected",
      headers: bearer({ ...FORGED_CLAIMS, nbf: seconds + 3600 }),
    },
    {
      title: "R-AUT-4 G-AUTH-14 a token that is issued tomorrow is rejected",
      headers: bearer({ ...FORGED_CLAIMS, iat: seconds + 86_400 }),
    },
    {
      title: "R-AUT-5 G-AUTH-14 a token for another audience is rejected",
      options: AUDIENCE,
      headers: bearer({ ...FORGED_CLAIMS, aud: "them" }),
    },
    {
      title: "R-AUT-5 G-AUTH-14 a token for a list of other audiences is rejected",
      options: AUDIENCE,
      headers: bearer({ ...FORGED_CLAIMS, aud: ["them", "US"] }),
    },
    {
      title: "R-AUT-5 G-AUTH-14 a token whose audience is an object is rejected",
      options: AUDIENCE,
      headers: bearer({ ...FORGED_CLAIMS, aud: { us: true } }),
    },
    {
      title: "R-AUT-5 G-AUTH-14 a token with two aud, of which the first is valid, is rejected",
      options: AUDIENCE,
      headers: bearer('{"role":"music_editor","aud":"us","aud":"them"}'),
    },
  ]);
});

describe("size and form", () => {
  testRejections([
    {
      title: "R-AUT-3 G-AUTH-14 a token as large as headers may be is rejected for its signature",
      headers: bearer({ ...FORGED_CLAIMS, pad: "x".repeat(11_000) }, { secret: "w".repeat(40) }),
    },
    { title: "R-AUT-3 G-AUTH-14 a token with thousands of parts is rejected", headers: raw(".".repeat(12_000)) },
    {
      title: "R-AUT-3 G-AUTH-14 a token with a deeply nested header is rejected",
      headers: raw(`${encode(`{"alg":${"[".repeat(8000)}${"]".repeat(1000)}`)}.${encode(FORGED_CLAIMS)}.x`),
    },
    {
      title: "R-AUT-3 G-AUTH-14 a token with a deeply nested payload is rejected",
      headers: bearer(`{"role":${"[".repeat(6000)}`, {}),
    },
    {
      title: "R-AUT-3 G-AUTH-14 a token whose header is not UTF-8 is rejected",
      headers: raw(`${Buffer.from([0x7b, 0xff, 0x7d]).toString("base64url")}.${encode(FORGED_CLAIMS)}.x`),
    },
  ]);
  test("R-AUT-3 a token larger than headers may be is answered 431 before it is read", async () => {
    const answer = await callRest(await apiFor(HS), bearer({ ...CLAIMS, pad: "x".repeat(20_000) })).catch(
      (error: unknown) => error,
    );
    expect(answer).toMatchObject({ status: 431 });
  });
});

describe("claims", () => {
  testIgnored([
    {
      title: "R-AUT-6 G-AUTH-15 the last of two equal claims counts on both surfaces",
      headers: bearer('{"role":"music_editor","role":"music_reader","x-session-user-id":"1","x-session-user-id":"7"}'),
      user: "music_reader",
      userId: "7",
    },
    {
      title: "R-AUT-6 G-AUTH-15 the last of two equal role claims counts",
      headers: bearer(
        '{"x-session-default-role":"music_editor","x-session-allowed-roles":["music_editor"],"x-session-default-role":"music_reader","x-session-allowed-roles":["music_reader"]}',
      ),
      user: "music_reader",
    },
    {
      title: "R-AUT-6 G-AUTH-15 a claim in lower case precedes the same claim in another case",
      headers: bearer({
        ...CLAIMS,
        "X-Session-User-Id": "1",
        "X-Session-Default-Role": "music_editor",
        "X-Session-Allowed-Roles": ["music_editor"],
      }),
      user: "music_reader",
      userId: "7",
    },
    {
      title: "R-AUT-6 G-AUTH-15 a role inside __proto__ gives no role",
      headers: bearer('{"__proto__":{"role":"music_editor","x-session-default-role":"music_editor"}}'),
      user: "music_nobody",
    },
    {
      title: "R-AUT-6 G-AUTH-15 a role inside constructor or prototype gives no role",
      headers: bearer({ constructor: { prototype: { role: "music_editor" } }, prototype: { role: "music_editor" } }),
      user: "music_nobody",
    },
    {
      title: "R-AUT-6 G-AUTH-19 the claim x-session-role gives no role",
      headers: bearer({ ...CLAIMS, "x-session-role": "music_editor" }),
      user: "music_reader",
      userId: "7",
    },
  ]);
  testRejections([
    {
      title: "R-AUT-11 the role none does not give the login role",
      headers: bearer({ role: "none" }),
      rest: [401, "22023"],
      graphql: "validation-failed",
    },
    {
      title: "R-AUT-11 a role with quotes is rejected",
      headers: bearer({ role: 'music_nobody"; set role postgres; --' }),
      rest: [401, "22023"],
      graphql: "validation-failed",
    },
    {
      title: "R-AUT-11 a role with a NUL is rejected",
      headers: bearer({ role: "music_editor\u0000x" }),
      rest: [400, "22021"],
      graphql: "validation-failed",
    },
    {
      title: "R-AUT-11 a list of roles as the role is rejected",
      headers: bearer({ role: ["music_editor"] }),
      rest: [401, "22023"],
      graphql: "validation-failed",
    },
  ]);
});

describe("headers of a session", () => {
  const forbidden: Pick<Attack, "rest" | "graphql"> = { rest: [403, "42501"], graphql: "access-denied" };
  const unauthorized: Pick<Attack, "rest" | "graphql"> = { rest: [401, "PGRST302"], graphql: "access-denied" };
  testRejections([
    {
      title: "R-AUT-6 G-AUTH-19 a role header with a role that the token does not have is rejected",
      headers: { ...bearer(CLAIMS), "x-session-role": "music_editor" },
      ...forbidden,
    },
    {
      title: "R-AUT-6 G-AUTH-19 a header with allowed roles does not add roles",
      headers: { ...bearer(CLAIMS), "x-session-allowed-roles": '["music_editor"]', "x-session-role": "music_editor" },
      ...forbidden,
    },
    {
      title: "R-AUT-6 G-AUTH-19 a role header of the other prefix does not add roles",
      headers: { ...bearer(CLAIMS), "X-HASURA-ROLE": "music_editor" },
      ...forbidden,
    },
    {
      title: "R-AUT-6 G-AUTH-19 a role header does not make an administrator",
      headers: { ...bearer(CLAIMS), "x-session-role": "admin" },
      ...forbidden,
    },
    {
      title: "R-AUT-6 G-AUTH-19 a role header with several roles is rejected",
      headers: { ...bearer(CLAIMS), "x-session-role": "music_reader, music_editor" },
      ...forbidden,
    },
    {
      title: "R-AUT-6 G-AUTH-19 a role header in another letter case is rejected",
      headers: { ...bearer(CLAIMS), "x-session-role": "MUSIC_READER" },
      ...forbidden,
    },
    {
      title: "R-AUT-8 G-AUTH-4 the admin secret in another letter case is rejected",
      headers: { "x-session-admin-secret": adminSecret.toUpperCase() },
      ...unauthorized,
    },
    {
      title: "R-AUT-8 G-AUTH-4 a wrong admin secret before the right one is rejected",
      headers: { "x-session-admin-secret": ["guess", adminSecret] },
      ...unauthorized,
    },
    {
      title: "R-AUT-8 G-AUTH-4 a wrong admin secret precedes the right one of the other prefix",
      headers: { "x-hasura-admin-secret": adminSecret, "x-session-admin-secret": "guess" },
      ...unauthorized,
    },
    {
      title: "R-AUT-8 G-AUTH-4 a header with several admin secrets is rejected",
      headers: { "x-session-admin-secret": `guess, ${adminSecret}` },
      ...unauthorized,
    },
  ]);
  testIgnored([
    {
      title: "R-AUT-8 G-AUTH-7 role and variables are ignored without an admin secret or token",
      headers: { "x-session-role": "music_editor", "x-session-user-id": "1", "x-hasura-user-id": "1" },
      user: "music_nobody",
    },
    {
      title: "R-AUT-8 G-AUTH-19 session variables in headers are ignored beside a token",
      headers: { ...bearer(CLAIMS), "x-session-user-id": "1", "X-Hasura-User-Id": "1" },
      user: "music_reader",
      userId: "7",
    },
    {
      title: "R-AUT-8 G-AUTH-1 an admin secret is ignored by a server without one",
      options: BARE,
      headers: { "x-session-admin-secret": "", "x-session-role": "music_editor", "x-session-user-id": "1" },
      user: "music_nobody",
    },
    {
      title: "R-AUT-8 G-AUTH-1 a role header beside a token is ignored by a server without an admin secret",
      options: BARE,
      headers: {
        ...bearer({ ...CLAIMS, "x-session-allowed-roles": ["music_reader", "music_editor"] }),
        "x-session-role": "music_editor",
      },
      user: "music_reader",
      userId: "7",
    },
    {
      title: "R-AUT-6 G-AUTH-3 the first of repeated role headers counts",
      headers: {
        "x-session-admin-secret": adminSecret,
        "x-session-role": ["music_reader", "music_editor"],
        "x-session-user-id": ["7", "8"],
      },
      user: "music_reader",
      userId: "7",
    },
    {
      title: "G-SES-9 quotes in a session variable stay part of the value",
      headers: {
        "x-session-admin-secret": adminSecret,
        "x-session-role": "music_reader",
        "x-session-user-id": `7'; set role postgres; --`,
      },
      user: "music_reader",
      userId: `7'; set role postgres; --`,
    },
    {
      title: "G-SES-2 a session variable does not change a setting of the server",
      headers: {
        "x-session-admin-secret": adminSecret,
        "x-session-role": "music_reader",
        "x-session-x.role": "postgres",
        "x-session-": "postgres",
      },
      user: "music_reader",
    },
  ]);
  test("R-AUT-1 a token in the query string is not a credential", async () => {
    const answer = await (await apiFor(HS)).get(`/api/caller_setting?access_token=${signToken(FORGED_CLAIMS)}`);
    expect(answer.status).toBe(400); // the parameter is an ordinary filter
  });

  /** Sends raw lines, because Node's client cannot send these. */
  const sendRaw = async (lines: readonly string[]): Promise<string> => {
    const { port } = await apiFor(HS);
    return new Promise((resolve, reject) => {
      const socket = connect(port, "127.0.0.1", () =>
        socket.write(
          Buffer.from(
            ["GET /api/rpc/caller_settings HTTP/1.1", "Host: x", "Connection: close", ...lines, "", ""].join("\r\n"),
            "latin1",
          ),
        ),
      );
      let text = "";
      socket.on("data", (chunk) => (text += chunk.toString()));
      socket.on("error", reject);
      socket.on("close", () => resolve(text));
    });
  };
  const acting = [`X-Session-Admin-Secret: ${adminSecret}`, "X-Session-Role: music_reader"];
  test.each([
    ["NUL in a value", [...acting, "X-Session-User-Id: a\0b"]],
    ["a bare line feed in a value", [...acting, "X-Session-User-Id: a\nX-Session-Role: music_editor"]],
    ["a bare carriage return in a value", [...acting, "X-Session-User-Id: a\rX-Session-Role: music_editor"]],
    ["a blank before the colon", [...acting, "X-Session-User-Id : 1"]],
    ["NUL in a name", [...acting, "X-Session\0-User-Id: 1"]],
    ["a folded value", [...acting, "X-Session-User-Id: a", " X-Session-Role: music_editor"]],
  ])("G-SES-9 R-AUT-8 %s is rejected by the server", async (_title, lines) => {
    expect(await sendRaw(lines)).toMatch(/^HTTP\/1\.1 400 /);
  });
  test("R-AUT-1 the first of repeated Authorization headers counts", async () => {
    const text = await sendRaw([
      `Authorization: Bearer ${signToken(CLAIMS)}`,
      `Authorization: Bearer ${signToken(FORGED_CLAIMS)}`,
    ]);
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('{"name":"current_user","value":"music_reader"}');
  });
});

describe("credentials over a socket", () => {
  const cookies: StartOptions = {
    jwtSecret: { type: "HS256", key: jwtSecret, header: { type: "Cookie", name: "tok" } },
  };
  /** The role of a caller with that payload of `connection_init`, the code of the query's error, or the close code. */
  const fetchRole = async (
    payload: unknown,
    options: StartOptions = HS,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string | number> => {
    const socket = await openSocket(await apiFor(options), { headers });
    socket.send({ type: "connection_init", payload });
    const closeCode = socket.closed.then(({ code }) => code);
    const first = await Promise.race([socket.next(({ type }) => type === "connection_ack"), closeCode]);
    if (typeof first === "number") return first;
    socket.send({ id: "1", type: "subscribe", payload: { query: "{ caller_settings { name value } }" } });
    const { payload: answer } = await socket.next(({ id }) => id === "1");
    await socket.close();
    const errors = Array.isArray(answer) ? answer : answer.errors;
    return (
      errors?.[0].extensions.code ??
      answer.data.caller_settings.find(({ name }: { name: string }) => name === "current_user").value
    );
  };
  const acting = { "X-Session-Admin-Secret": adminSecret, "X-Session-Role": "music_reader" };

  test("G-WS-1 G-AUTH-4 the order of the headers in a payload has no effect", async () => {
    expect(await fetchRole({ headers: acting })).toBe("music_reader");
    expect(
      await fetchRole({ headers: { "x-session-ROLE": "music_reader", "X-SESSION-admin-secret": adminSecret } }),
    ).toBe("music_reader");
  });
  test.each<[string, unknown, string | number]>([
    ["a wrong secret", { headers: { ...acting, "X-Session-Admin-Secret": "guess" } }, 4403],
    ["alg none", { headers: { authorization: `Bearer ${signToken(FORGED_CLAIMS, { algorithm: "none" })}` } }, 4403],
    [
      "a token of a megabyte",
      { headers: { authorization: `Bearer ${signToken({ ...FORGED_CLAIMS, pad: "x".repeat(1_000_000) })}` } },
      4403,
    ],
    ["a million parts", { headers: { authorization: `Bearer ${".".repeat(1_000_000)}` } }, 4403],
    ["a role that the token does not have", { headers: { ...bearer(CLAIMS), "x-session-role": "music_editor" } }, 4403],
    [
      "session variables without the admin secret",
      { headers: { "x-session-role": "music_editor", "x-session-user-id": "1" } },
      "music_nobody",
    ],
    [
      "values that are not text",
      { headers: { "x-session-admin-secret": { length: 1 }, authorization: [`Bearer ${signToken(FORGED_CLAIMS)}`] } },
      4400,
    ],
    ["__proto__", JSON.parse('{"headers":{"__proto__":{"x-session-admin-secret":"x"}}}'), 4400],
    ["lines in a value", { headers: { ...acting, "X-Session-User-Id": "a\r\nX-Session-Role: admin" } }, "music_reader"],
    ["NUL in a value", { headers: { ...acting, "X-Session-User-Id": "a\u0000b" } }, "data-exception"],
    // Roles that do not exist have no schema.
    ["lines in a role", { headers: { ...acting, "X-Session-Role": "music_reader\r\n" } }, "validation-failed"],
  ])("G-WS-1 G-AUTH-6 connection_init has the expected role or is rejected: %s", async (_title, payload, outcome) => {
    expect(await fetchRole(payload)).toBe(outcome);
  });
  test("G-AUTH-12 a page of another origin cannot use the cookies of its visitor", async () => {
    const upgrade = { cookie: `tok=${signToken(CLAIMS)}`, origin: "https://evil.example" };
    const { port } = await apiFor(cookies);
    expect(await fetchRole({}, cookies, { cookie: upgrade.cookie })).toBe("music_reader");
    expect(await fetchRole({}, cookies, upgrade)).toBe("music_nobody");
    expect(
      await fetchRole({ headers: { origin: `http://127.0.0.1:${port}`, host: "evil.example" } }, cookies, upgrade),
    ).toBe("music_nobody");
  });
});

describe("secrets in responses", () => {
  test("G-ERR-8 R-ADM-3 no response and no log line contains a secret, a key or a token", async () => {
    const tokens = [signToken(CLAIMS), signToken(FORGED_CLAIMS, { secret: "w".repeat(40) })];
    const api = await apiFor(HS);
    for (const token of tokens)
      for (const call of [callRest, callGraphql]) {
        const answer = await call(api, raw(token));
        messages.push(
          answer.headers["www-authenticate"] ?? "",
          ...(answer.text.includes('"errors"') || answer.status >= 400 ? [answer.text] : []),
        );
      }
    expect(messages.length).toBeGreaterThan(100);
    const all = messages.join("\n");
    for (const secret of [...secrets, ...tokens.flatMap((token) => [token, token.split(".")[2]!])])
      expect(all.includes(secret), secret.slice(0, 12)).toBe(false);
  });
  test("G-SES-10 SQL does not see the admin secret", async () => {
    const api = await apiFor(HS);
    for (const call of [callRest, callGraphql]) {
      const { text } = await call(
        api,
        { "x-session-admin-secret": adminSecret, "x-hasura-admin-secret": adminSecret, "x-tenant": "t" },
        ["request.headers"],
      );
      expect(text).toContain("x-tenant");
      expect(text).not.toContain(adminSecret);
    }
  });
});
