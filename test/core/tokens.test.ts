/** Tokens without a request: paths, numbers, keys, addresses of keys. */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Credentials, Json, JsonObject, PluginContext, RelApiOptions, Session, Token } from "../../core/index.ts";
import { parseJsonPath } from "../../plugins/shared/json-path.ts";
import { createCounters } from "../../core/kernel/counters.ts";
import { createSharedValues } from "../../core/kernel/token.ts";
import { createHealthProblems } from "../../core/kernel/health-problems.ts";
import { createHooks } from "../../core/hooks.ts";
import { interceptHooks } from "../../core/kernel/intercept-hooks.ts";
import { resolveOptions, collectSettings } from "../../core/settings/resolve-options.ts";
import type { JwtSecret } from "../../plugins/auth/settings.ts";
import { parseClaims, readClaimPath, encodeClaim } from "../../plugins/auth/claims.ts";
import { parseRoleClaimKey } from "../../plugins/auth/role-path.ts";
import { jwtTokens } from "../../plugins/auth/jwt-tokens.ts";
import { createFixedKeys, computeRefreshDelayMs, createRemoteKeys, type KeyRing } from "../../plugins/auth/key-ring.ts";
import { loadVerifier, MAX_TOKEN_CHARACTERS, readToken } from "../../plugins/auth/token.ts";
import { parseTokenSettings } from "../../plugins/auth/token-settings.ts";
import { jwtSecret, signToken } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { startHttpServer } from "../support/http-server.ts";

const settings = (secret: JwtSecret, overrides: { jwtSecretIsBase64?: boolean; jwtAud?: string } = {}) =>
  parseTokenSettings({ jwtSecret: secret, jwtSecretIsBase64: false, maxJsonDepth: 500, ...overrides }, () =>
    createFixedKeys([]),
  );

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed25519 = generateKeyPairSync("ed25519");

const exportJwk = (key: KeyObject, extraMembers: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => ({
  ...key.export({ format: "jwk" }),
  ...extraMembers,
});
const exportPem = (key: KeyObject): string => key.export({ type: "spki", format: "pem" }).toString();

await loadVerifier();

describe("role claim key", () => {
  const claims = {
    role: "top",
    a: { "b c": ["x", "y"], n: 7, deep: null },
    "https://x/r": { k: "named" },
    roles: ["admin_x", "x", "y_end", "mid-x-mid"],
    __proto__: null as never,
  };
  test.each([
    [".role", "top"],
    ['.a."b c"[0]', "x"],
    ['.a."b c"[1]', "y"],
    [".a.n", 7],
    [".a.deep", null],
    ['."https://x/r".k', "named"],
    ['.roles[?(@ == "x")]', "x"],
    ['.roles[?(@ != "admin_x")]', "x"],
    ['.roles[?(@ ^== "y")]', "y_end"],
    ['.roles[?(@ ==^ "_x")]', "admin_x"],
    ['.roles[?(@ *== "-x-")]', "mid-x-mid"],
    ['.roles[?(@ == "none of them")]', undefined],
    [".roles[9]", undefined],
    [".roles.x", undefined],
    [".missing.more", undefined],
    [".constructor", undefined],
    ["$.role", "top"],
    ["$.a['b c'][1]", "y"],
    ["$['https://x/r'].k", "named"],
    ["$.roles[?(@ == 'x')]", "x"],
    ["$.roles[?@ != 'admin_x']", "x"],
    ["$.roles[?search(@, 'e.d')]", "y_end"],
    ["$.roles[-1]", "mid-x-mid"],
    ["$.roles[*]", "admin_x"],
    ["$.nothing", undefined],
    ["$.constructor", undefined],
  ])("R-AUT-7 the role claim key %s selects the role %s", (expression, role) => {
    expect(parseRoleClaimKey(expression)(claims)).toEqual(role);
  });

  test.each([
    "",
    "role",
    ".",
    "..",
    ".role.",
    ".roles[0",
    ".roles[x]",
    '.roles[?(@ == "x")].more',
    '.roles[?(@ ~ "x")]',
    "$.",
    "$.roles[",
    "$.roles[?(@ = 'x')]",
    "[0]",
    ".role;drop",
  ])("R-AUT-7 the invalid role claim key %j stops the start", (expression) => {
    expect(() => parseRoleClaimKey(expression)).toThrow(/^jwtRoleClaimKey \(JWT_ROLE_CLAIM_KEY\) /);
  });
});

describe("paths of claims", () => {
  test.each([
    ["$", []],
    ["$.app['claims%']", ["app", "claims%"]],
    ["a.b[0]", ["a", "b", "0"]],
    ['$["a\\"b"].c-d', ['a"b', "c-d"]],
    ["$['it\\'s']", ["it's"]],
  ])("G-AUTH-11 the text %s is parsed as a path of claims", (text, keys) => {
    expect(parseJsonPath(text)).toEqual(keys);
  });
  test.each(["", "$.", "$..a", "$.a b", "$[a]", "$.a[-1]", "$['a]"])(
    "G-AUTH-11 the text %j is not a path of claims",
    (text) => {
      expect(parseJsonPath(text)).toBeUndefined();
    },
  );
  test("G-AUTH-18 a path of claims reads members of objects and lists, and never inherited members", () => {
    const from = { a: [{ b: 1 }], s: "text" };
    expect(readClaimPath(from, ["a", "0", "b"])).toBe(1);
    expect(readClaimPath(from, ["a", "length"])).toBeUndefined();
    expect(readClaimPath(from, ["constructor", "name"])).toBeUndefined();
    expect(readClaimPath(from, ["s", "0"])).toBeUndefined();
    expect(readClaimPath(from, [])).toBe(from);
  });
});

describe("numbers of claims", () => {
  test.each(["12345678901234567890", "-9007199254740993", "0.12345678901234567", "1e400"])(
    "R-TX-6 the number %s in claims keeps its digits",
    (number) => {
      const text = `{"a":"12345678901234567890 \\" 1","n":${number},"l":[${number}]}`;
      const exact = parseClaims(text) as JsonObject;
      expect(encodeClaim(exact)).toBe(text);
      expect(encodeClaim(exact.n as Json)).toBe(number);
    },
  );
  test("R-TX-6 ordinary numbers in claims stay JavaScript numbers, also beside large ones", () => {
    const text = '{"n":1.5,"i":3,"e":1e3,"big":12345678901234567890}';
    expect(parseClaims(text)).toMatchObject({ n: 1.5, i: 3, e: 1000 });
  });
});

describe("key settings", () => {
  const acceptedSecrets: [string, JwtSecret, { jwtSecretIsBase64?: boolean }?, string[]?][] = [
    ["a plain secret", "0123456789012345678901234567890x", {}, ["HS256"]],
    ["a secret in base64", Buffer.alloc(32, 250).toString("base64"), { jwtSecretIsBase64: true }, ["HS256"]],
    [
      "a secret in the URL alphabet",
      Buffer.alloc(32, 250).toString("base64url"),
      { jwtSecretIsBase64: true },
      ["HS256"],
    ],
    ["a PEM key", exportPem(rsa.publicKey), {}, ["RS256", "RS384", "RS512"]],
    ["a JWK as text", JSON.stringify(exportJwk(ec.publicKey)), {}, ["ES256"]],
    ["a JWK as object", exportJwk(rsa.publicKey, { alg: "PS256" }), {}, ["PS256"]],
    [
      "a private JWK",
      rsa.privateKey.export({ format: "jwk" }) as Record<string, unknown>,
      {},
      ["RS256", "RS384", "RS512"],
    ],
    [
      "a JWKS in base64",
      Buffer.from(JSON.stringify({ keys: [exportJwk(ed25519.publicKey)] })).toString("base64"),
      { jwtSecretIsBase64: true },
      ["EdDSA", "Ed25519"],
    ],
    [
      "a JWKS with keys for other things",
      { keys: [exportJwk(rsa.publicKey, { use: "enc" }), { kty: "XYZ" }, exportJwk(ec.publicKey)] },
      {},
      ["ES256"],
    ],
    ["a key object", { type: "HS512", key: "s".repeat(64) }, {}, ["HS512"]],
    ["a key object with PEM", { type: "PS384", key: exportPem(rsa.publicKey) }, {}, ["PS384"]],
    ["Ed25519", { type: "Ed25519", key: exportPem(ed25519.publicKey) }, {}, ["EdDSA", "Ed25519"]],
  ];
  test.each(acceptedSecrets)("R-AUT-3 %s", (_title, secret, overrides = {}, algorithms = []) => {
    const keys = settings(secret, overrides)[0]?.keys.getKeys();
    expect(keys?.map((key) => key.algorithms)).toEqual([algorithms]);
  });

  const SECRET = "do-not-print-me";
  const rejectedSecrets: [string, JwtSecret, RegExp, boolean?][] = [
    ["a short secret", SECRET, /a secret of 15 bytes: 32 or more are required/],
    ["what is not base64", `${SECRET}!`.repeat(4), /is not base64/, true],
    ["a short secret in base64", "c2hvcnQ=", /a secret of 5 bytes/, true],
    ["broken JSON", `{"kty":"oct","k":"${SECRET}"`, /looks like JSON but does not parse/],
    ["a JWK of kty oct that is short", { kty: "oct", k: "c2hvcnQ" }, /a secret of 5 bytes/],
    ["a JWK without its parts", { kty: "RSA", n: SECRET }, /a JWK of kty "RSA" that cannot be read/],
    ["a JWK for encryption", exportJwk(rsa.publicKey, { use: "enc" }), /not for signatures/],
    [
      "a JWK with another's algorithm",
      exportJwk(rsa.publicKey, { alg: "ES256" }),
      /does not support the algorithm ES256/,
    ],
    ["a JWKS without keys", { keys: [] }, /without a key that verifies/],
    ["an object that is no key", { a: SECRET }, /unknown key "a"/],
    ["an unknown type", { type: "HS1024", key: SECRET }, /unknown type "HS1024"/],
    ["none as type", { type: "none", key: SECRET }, /unknown type "none"/],
    ["a key object without key", { type: "HS256" }, /without a key/],
    [
      "a public key as secret",
      { type: "HS256", key: exportPem(rsa.publicKey) },
      /and a PEM key: this type needs a secret/,
    ],
    ["a secret as public key", { type: "RS256", key: SECRET.repeat(3) }, /not a readable PEM public key/],
    ["a key on another curve", { type: "ES384", key: exportPem(ec.publicKey) }, /does not support the algorithm ES384/],
    [
      "a small RSA key",
      { type: "RS256", key: exportPem(generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey) },
      /an RSA key of 1024 bits/,
    ],
    [
      "both namespace and path",
      { type: "HS256", key: SECRET.repeat(3), claims_namespace: "a", claims_namespace_path: "$.a" },
      /both claims_namespace and claims_namespace_path/,
    ],
    [
      "a path that is none",
      { type: "HS256", key: SECRET.repeat(3), claims_namespace_path: "$..a" },
      /claims_namespace_path that is not a path/,
    ],
    [
      "a claims_map without roles",
      { type: "HS256", key: SECRET.repeat(3), claims_map: { "x-session-user-id": { path: "$.sub" } } },
      /claims_map without x-session-allowed-roles/,
    ],
    [
      "a claims_map of other claims",
      { type: "HS256", key: SECRET.repeat(3), claims_map: { sub: "x" } },
      /claims_map with "sub"/,
    ],
    [
      "an unknown claims_format",
      { type: "HS256", key: SECRET.repeat(3), claims_format: "xml" },
      /claims_format that is neither/,
    ],
    ["a header of no kind", { type: "HS256", key: SECRET.repeat(3), header: { type: "Query" } }, /an invalid header/],
    ["a skew that is no number", { type: "HS256", key: SECRET.repeat(3), allowed_skew: "1 minute" }, /allowed_skew/],
    ["an address that is none", { jwk_url: "ftp://keys" }, /not an http or https URL/],
    [
      "two for one place",
      [
        { type: "HS256", key: SECRET.repeat(3) },
        { type: "HS384", key: SECRET.repeat(4) },
      ],
      /two configurations for the same token location and issuer/,
    ],
  ];
  test.each(rejectedSecrets)(
    "R-AUT-3 G-AUTH-11 %s stops the start, and the message does not contain the key",
    (_title, secret, message, isBase64 = false) => {
      let caught: unknown;
      try {
        settings(secret, { jwtSecretIsBase64: isBase64 });
      } catch (error) {
        caught = error;
      }
      expect(caught).toMatchObject({ code: "preset", message: expect.stringMatching(message) });
      const { message: errorMessage } = caught as Error;
      expect(errorMessage).toMatch(/^jwtSecret \(JWT_SECRET\) /);
      expect(errorMessage).not.toContain("\n");
      expect(errorMessage).not.toContain(SECRET);
    },
  );
});

describe("reading a token", () => {
  const keys = (secret: JwtSecret) => settings(secret)[0]!.keys.getKeys();
  const failure = (token: string, secret: JwtSecret = jwtSecret): unknown => {
    const reading = readToken(token, keys(secret), 500);
    return "failure" in reading ? reading.failure.kind : "verified";
  };
  const signatureCases: [string, string, KeyObject, Record<string, unknown>][] = [
    ...["RS256", "RS384", "RS512"].map((alg): [string, string, KeyObject, Record<string, unknown>] => [
      alg,
      alg,
      rsa.privateKey,
      exportJwk(rsa.publicKey),
    ]),
    ...["PS256", "PS384", "PS512"].map((alg): [string, string, KeyObject, Record<string, unknown>] => [
      alg,
      alg,
      rsa.privateKey,
      { type: alg, key: exportPem(rsa.publicKey) },
    ]),
    ...(["P-256", "P-384", "P-521"] as const).map((curve, i): [string, string, KeyObject, Record<string, unknown>] => {
      const pair = generateKeyPairSync("ec", { namedCurve: curve });
      return [curve, ["ES256", "ES384", "ES512"][i]!, pair.privateKey, exportJwk(pair.publicKey)];
    }),
    ["Ed25519", "EdDSA", ed25519.privateKey, exportJwk(ed25519.publicKey)],
  ];
  test.each(signatureCases)(
    "R-AUT-3 G-AUTH-11 a token signed with %s is verified, and a changed payload or signature is rejected",
    (_title, algorithm, key, secret) => {
      const token = signToken({ role: "x" }, { algorithm, key });
      expect(failure(token, secret)).toBe("verified");
      const [head, , signature] = token.split(".");
      expect(failure(`${head}.${Buffer.from('{"role":"y"}').toString("base64url")}.${signature}`, secret)).toBe(
        "bad-signature",
      );
      expect(failure(`${head}.${token.split(".")[1]}.`, secret)).toBe("bad-signature");
      expect(failure(`${head}.${token.split(".")[1]}.AAAA`, secret)).toBe("bad-signature");
    },
  );
  test.each(["HS256", "HS384", "HS512"])(
    "R-AUT-3 a key object verifies tokens signed with %s, and a plain secret only those signed with HS256",
    (algorithm) => {
      const token = signToken({}, { algorithm });
      expect(failure(token, { type: algorithm, key: jwtSecret })).toBe("verified");
      expect(failure(token)).toBe(algorithm === "HS256" ? "verified" : "no-key");
    },
  );
  test("R-AUT-3 a token with a kid accepts only the key of that name", () => {
    const set = {
      keys: [
        exportJwk(rsa.publicKey, { kid: "one" }),
        exportJwk(ec.publicKey, { kid: "two" }),
        exportJwk(generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey),
      ],
    };
    const failureOfKey = (kid: unknown) =>
      failure(signToken({}, { algorithm: "RS256", key: rsa.privateKey, header: { kid } }), set);
    expect(failureOfKey("one")).toBe("verified");
    expect(failureOfKey(undefined)).toBe("verified");
    expect(failureOfKey("two")).toBe("no-key");
    expect(failureOfKey("three")).toBe("no-key");
    expect(failureOfKey(["one"])).toBe("no-key");
  });
  test("R-AUT-3 a plain secret rejects tokens with a kid, and a key object accepts any kid", () => {
    const token = signToken({}, { header: { kid: "any" } });
    expect(failure(token)).toBe("no-key");
    expect(failure(token, { type: "HS256", key: jwtSecret })).toBe("verified");
  });
  test("R-AUT-3 a token that is too long is not parsed", () => {
    const longToken = signToken({ pad: "x".repeat(MAX_TOKEN_CHARACTERS) });
    expect(failure(longToken)).toBe("undecodable");
  });
  test("R-AUT-3 numbers of the payload keep their digits", () => {
    const reading = readToken(signToken('{"id":12345678901234567890}'), keys(jwtSecret), 500);
    expect("signedClaims" in reading && encodeClaim(reading.signedClaims.exactClaims)).toBe(
      '{"id":12345678901234567890}',
    );
  });
});

const declaredSettings = collectSettings({ plugins: [jwtTokens] });

/** Runs only the plugin. `change` replaces the options, as a reload of the settings does. */
const plugin = (startOptions: RelApiOptions) => {
  const hooks = createHooks();
  const interceptedHooks = interceptHooks(hooks);
  const closers: (() => void | Promise<void>)[] = [];
  const log: unknown[] = [];
  let options = resolveOptions(startOptions, declaredSettings);
  const listeners: (() => void)[] = [];
  const context = {
    get options() {
      return options;
    },
    logger: { error: (...line: unknown[]) => log.push(line) },
    counters: createCounters(),
    healthProblems: createHealthProblems(),
    use: <Value>(token: Token<Value>) =>
      createSharedValues(() => true, interceptedHooks.watch).use("jwt-tokens", token),
    onClose: (closer: () => void) => closers.push(closer),
    onModel: (listener: () => void) => listeners.push(listener),
  } as unknown as PluginContext; // the part of the context that this plugin uses
  jwtTokens.apply!(hooks, context);
  const credentials = (token: string): Credentials => ({
    header: (name) => (name === "authorization" ? `Bearer ${token}` : undefined),
    headers: () => [],
    cookie: () => undefined,
    request: undefined as never, // not read
    surface: "rest",
    rules: undefined,
    isSocket: false,
  });
  const session = (token: string): Promise<Session | undefined> => hooks.authorize.promise(credentials(token));
  return {
    session,
    /** The role, or the reason for the rejection. */
    ask: async (token: string): Promise<string | undefined> =>
      session(token).then(
        (result) => result?.role,
        (error: Error) => error.message,
      ),
    change: (next: RelApiOptions) => {
      options = resolveOptions(next, declaredSettings);
      for (const listener of listeners) listener();
    },
    log,
    counters: context.counters,
    close: () => closers.forEach((closer) => void closer()),
  };
};

describe("settings that change", () => {
  const second = "the-second-secret-with-more-than-32-bytes";
  test("R-AUT-12 R-SC-4 a new secret takes effect, and tokens of the old one are rejected although they were cached", async () => {
    const { ask, change, close } = plugin({ jwtSecret });
    const [first, next] = [signToken({ role: "x" }), signToken({ role: "y" }, { secret: second })];
    expect([await ask(first), await ask(next)]).toEqual(["x", "No suitable key or wrong key type"]);
    change({ jwtSecret: second });
    expect([await ask(first), await ask(next)]).toEqual(["No suitable key or wrong key type", "y"]);
    close();
  });
  test("R-AUT-7 R-SC-4 invalid settings are logged once, and the previous settings remain", async () => {
    const { ask, change, log, close } = plugin({ jwtSecret });
    change({ jwtSecret: second, jwtRoleClaimKey: "no path" });
    for (let i = 0; i < 3; i++) expect(await ask(signToken({ role: "x" }))).toBe("x");
    expect(log).toHaveLength(1);
    expect(JSON.stringify(log)).toContain("no path");
    change({ jwtSecret: "short" });
    expect(await ask(signToken({ role: "x" }))).toBe("x");
    expect(log).toHaveLength(2);
    expect(JSON.stringify(log)).not.toContain('"short"');
    close();
  });
  test("R-AUT-12 the same token gives the same session object, which ends when the token expires", async () => {
    const { session, counters, close } = plugin({ jwtSecret });
    const token = signToken({ role: "x", exp: 4e9 });
    const firstSession = await session(token);
    expect(firstSession).toMatchObject({ role: "x", databaseRole: "x", isAdmin: false, expiresAtMs: 4e12 });
    expect(await session(token)).toBe(firstSession);
    expect([counters.get("jwt-cache-requests"), counters.get("jwt-cache-hits")]).toEqual([2, 1]);
    close();
  });
  test("G-WS-15 allowed_skew prolongs the session too", async () => {
    const { session, close } = plugin({ jwtSecret: { type: "HS256", key: jwtSecret, allowed_skew: 5 } });
    expect((await session(signToken({ role: "x", exp: 4e9 })))?.expiresAtMs).toBe(4e12 + 5000);
    expect(await session(signToken({ role: "x" }))).not.toHaveProperty("expiresAtMs");
    close();
  });
});

describe("keys by address", () => {
  const MINUTE = 60_000;
  const nowMs = Date.parse("2026-01-01T00:00:00Z");
  test.each<[string, Record<string, string>, number]>([
    ["max-age", { "cache-control": "public, max-age=300" }, 300_000],
    ["s-maxage before max-age", { "cache-control": "max-age=300, s-maxage=600" }, 600_000],
    ["an age in quotes", { "cache-control": 'max-age="120"' }, 120_000],
    ["must-revalidate with an age", { "cache-control": "must-revalidate, max-age=90" }, 90_000],
    ["no-cache", { "cache-control": "no-cache" }, MINUTE],
    ["no-store beats Expires", { "cache-control": "no-store", expires: "Thu, 01 Jan 2026 05:00:00 GMT" }, MINUTE],
    ["an age of less than a minute", { "cache-control": "max-age=20" }, 20_000],
    ["never more often than every five seconds", { "cache-control": "max-age=1" }, 5000],
    ["Expires", { expires: "Thu, 01 Jan 2026 00:10:00 GMT" }, 10 * MINUTE],
    ["Expires in the past", { expires: "Wed, 31 Dec 2025 00:00:00 GMT" }, 5000],
    ["Expires that is no date", { expires: "soon" }, MINUTE],
    ["nothing", {}, 60 * MINUTE],
    ["an age that is none", { "cache-control": "max-age=soon" }, 60 * MINUTE],
  ])("G-AUTH-11 refresh by %s", (_title, headers, delay) => {
    expect(computeRefreshDelayMs(new Headers(headers), nowMs)).toBe(delay);
  });

  test.each([
    [60, 60_000],
    [1, 5000],
  ])(
    "R-AUT-12 G-AUTH-11 a cached token is rejected once its key is removed from the set, with max-age=%i",
    async (age, ms) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      let keys = [exportJwk(ed25519.publicKey)];
      const url = await serve(() => ({
        headers: { "cache-control": `max-age=${age}` },
        body: JSON.stringify({ keys }),
      }));
      const { ask, close } = plugin({ jwtSecret: { jwk_url: url.href } });
      const token = signToken({ role: "x" }, { algorithm: "EdDSA", key: ed25519.privateKey });
      expect(await ask(token)).toBe("x"); // waits for the first fetch
      expect(await ask(token)).toBe("x");
      keys = [exportJwk(rsa.publicKey)];
      vi.advanceTimersByTime(ms);
      await until(async () => (await ask(token)) === "No suitable key or wrong key type", "the token is rejected");
      close();
    },
  );
  test("G-AUTH-11 tokens are rejected while there are no keys", async () => {
    const url = await serve(() => ({ status: 503, body: "" }));
    const { ask, close } = plugin({ jwtSecret: { jwk_url: url.href } });
    expect(await ask(signToken({ role: "x" }, { algorithm: "EdDSA", key: ed25519.privateKey }))).toBe(
      "No suitable key or wrong key type",
    );
    close();
  });

  let ring: KeyRing | undefined;
  afterEach(() => {
    vi.useRealTimers();
    ring?.close();
  });
  let authorization: string | undefined;
  const serve = async (
    answer: () => { status?: number; headers?: Record<string, string>; body: string },
  ): Promise<URL> => {
    const port = await startHttpServer((request, response) => {
      ({ authorization } = request.headers);
      const { status = 200, headers = {}, body } = answer();
      response.writeHead(status, headers).end(body);
    });
    return new URL(`http://user:pass-word@127.0.0.1:${port}/keys?token=hidden-word`);
  };
  const openRing = (url: URL, log: unknown[] = [], onChange = vi.fn()): KeyRing => {
    ring = createRemoteKeys({ url, onChange, logger: { error: (...line) => log.push(line), info: () => {} } });
    return ring;
  };

  test("G-AUTH-11 keys are fetched, remain when a fetch fails, and are replaced when the set changes", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let keys = [exportJwk(rsa.publicKey, { kid: "one" }), { kty: "RSA", kid: "broken" }];
    let status = 200;
    const url = await serve(() => ({
      status,
      headers: { "cache-control": "max-age=120" },
      body: JSON.stringify({ keys }),
    }));
    const onChange = vi.fn();
    const log: unknown[] = [];
    const keyRing = openRing(url, log, onChange);
    expect(keyRing.getKeys()).toEqual([]);
    await keyRing.firstFetch;
    expect(keyRing.firstFetch).toBeUndefined();
    expect(authorization).toBe(`Basic ${Buffer.from("user:pass-word").toString("base64")}`);
    expect(keyRing.getKeys().map((key) => key.kid)).toEqual(["one"]);
    expect(onChange).toHaveBeenCalledTimes(1);

    keys = [exportJwk(ec.publicKey, { kid: "two" })];
    vi.advanceTimersByTime(119_000);
    expect(keyRing.getKeys().map((key) => key.kid)).toEqual(["one"]);
    vi.advanceTimersByTime(1_000);
    await until(() => keyRing.getKeys()[0]?.kid === "two", "the new keys have been fetched");
    expect(keyRing.getKeys()).toHaveLength(1);
    expect(onChange).toHaveBeenCalledTimes(2);

    status = 500;
    vi.advanceTimersByTime(120_000);
    await until(() => log.length > 0, "the fetch has failed");
    expect(log).toHaveLength(1);
    expect(keyRing.getKeys().map((key) => key.kid)).toEqual(["two"]);
    expect(JSON.stringify(log)).not.toMatch(/hidden-word|pass-word/);
    status = 200;
    keys = [exportJwk(ed25519.publicKey, { kid: "three" })];
    vi.advanceTimersByTime(5_000);
    await until(() => keyRing.getKeys()[0]?.kid === "three", "the keys have been fetched again");
  });

  test.each([
    ["no JSON", "<html>"],
    ["no set", "[]"],
    ["a set without keys", '{"keys":[]}'],
    ["more than a set can be", " ".repeat(1024 * 1024 + 1)],
  ])("G-AUTH-11 a response with %s is logged and gives no keys", async (_title, body) => {
    const log: unknown[] = [];
    const keyRing = openRing(await serve(() => ({ body })), log);
    await keyRing.firstFetch;
    expect(keyRing.getKeys()).toEqual([]);
    expect(log).toHaveLength(1);
  });
});
