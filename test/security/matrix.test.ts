/** Every kind of caller on every surface, by configuration: the response, and the caller that SQL sees. */
import { beforeAll, describe, expect, test } from "vitest";
import { startApi, type HeaderValues, type StartOptions, type TestApi } from "../support/api.ts";
import { callGraphql, callRest, installCallerSettings, type CallerSettings } from "../support/caller-settings.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret, bearer } from "../support/tokens.ts";

const CLAIMS = {
  sub: "ada",
  "x-session-default-role": "music_reader",
  "x-session-allowed-roles": ["music_reader", "music_editor"],
  "x-session-user-id": "7",
};
/** Session variables that every request sends, to see when they are accepted. */
const SENT_VARIABLES = { "x-session-user-id": "99" };

const CALLERS = {
  anonymous: { ...SENT_VARIABLES },
  "anonymous asking for a role": { ...SENT_VARIABLES, "x-session-role": "music_editor" },
  "token role": { ...SENT_VARIABLES, ...bearer(CLAIMS) },
  "token role asking for another": { ...SENT_VARIABLES, ...bearer(CLAIMS), "x-session-role": "music_editor" },
  "token role asking for too much": { ...SENT_VARIABLES, ...bearer(CLAIMS), "x-session-role": "music_writer" },
  admin: { ...SENT_VARIABLES, "x-session-admin-secret": adminSecret },
  "admin as role": { ...SENT_VARIABLES, "x-session-admin-secret": adminSecret, "x-session-role": "music_reader" },
  "bad token": { ...SENT_VARIABLES, ...bearer(CLAIMS, { secret: "b".repeat(40) }) },
  "wrong secret": { ...SENT_VARIABLES, "x-session-admin-secret": "guess" },
} satisfies Record<string, HeaderValues>;

type Caller = keyof typeof CALLERS;

interface SeenSession {
  /** The value of `current_user`. */
  readonly user: string;
  /** The value of `session.role`. */
  readonly role: string;
  /** The value of `session.user_id`. */
  readonly userId: string | null;
  /** The value of `request.jwt.claims`. */
  readonly claims: Readonly<Record<string, unknown>>;
}

interface Rejection {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

interface Outcome {
  readonly session?: SeenSession;
  readonly rest?: Rejection;
  /** The rejection of GraphQL. `status` is that of `/v1alpha1/graphql`. */
  readonly graphql?: Rejection;
}

const buildOutcome = (
  user: string,
  role: string,
  userId: string | null = null,
  claims: Readonly<Record<string, unknown>> = { role },
): Outcome => ({ session: { user, role, userId, claims } });

const NOBODY = buildOutcome("music_nobody", "music_nobody");
const TOKEN = buildOutcome("music_reader", "music_reader", "7", { ...CLAIMS, role: "music_reader" });
const OTHER_ROLE = buildOutcome("music_editor", "music_editor", "7", { ...CLAIMS, role: "music_editor" });
const ADMIN = buildOutcome("postgres", "admin", "99");
const ADMIN_AS_ROLE = buildOutcome("music_reader", "music_reader", "99");
const BAD_TOKEN: Outcome = {
  rest: { status: 401, code: "PGRST301", message: "No suitable key or wrong key type" },
  graphql: { status: 400, code: "invalid-jwt", message: "Could not verify JWT: JWSError JWSInvalidSignature" },
};
const WRONG_SECRET: Outcome = {
  rest: { status: 401, code: "PGRST302", message: "invalid x-session-admin-secret" },
  graphql: { status: 401, code: "access-denied", message: "invalid x-session-admin-secret" },
};
const TOO_MUCH: Outcome = {
  rest: { status: 403, code: "42501", message: 'permission denied to set role "music_writer"' },
  graphql: { status: 400, code: "access-denied", message: "Your requested role is not in allowed roles" },
};
const closedOutcome = (message: string, code: string, status: number): Outcome => ({
  rest: { status: 401, code: "PGRST302", message: "Anonymous access is disabled" },
  graphql: { status, code, message },
});
const NO_SECRET_TO_READ: Rejection = { status: 500, code: "PGRST300", message: "Server lacks JWT secret" };

const SECURED_OUTCOMES: Record<Caller, Outcome> = {
  anonymous: NOBODY,
  "anonymous asking for a role": NOBODY,
  "token role": TOKEN,
  "token role asking for another": OTHER_ROLE,
  "token role asking for too much": TOO_MUCH,
  admin: ADMIN,
  "admin as role": ADMIN_AS_ROLE,
  "bad token": BAD_TOKEN,
  "wrong secret": WRONG_SECRET,
};

const TOKEN_ASKED_FOR = closedOutcome(
  "Missing 'Authorization' or 'Cookie' header in JWT authentication mode",
  "invalid-headers",
  400,
);
const SECRET_ASKED_FOR = closedOutcome("x-session-admin-secret required, but not found", "access-denied", 401);
/** The REST surface cannot verify the token, and the GraphQL surface does not read it. */
const UNREADABLE: Outcome = { rest: NO_SECRET_TO_READ, graphql: SECRET_ASKED_FOR.graphql };

const CONFIGURATIONS: readonly {
  readonly name: string;
  readonly options: StartOptions;
  readonly outcomes: Record<Caller, Outcome>;
}[] = [
  { name: "admin secret, tokens, anonymous role", options: { anonRole: "music_nobody" }, outcomes: SECURED_OUTCOMES },
  {
    name: "admin secret and tokens",
    options: { anonRole: undefined },
    outcomes: { ...SECURED_OUTCOMES, anonymous: TOKEN_ASKED_FOR, "anonymous asking for a role": TOKEN_ASKED_FOR },
  },
  {
    name: "tokens and anonymous role",
    options: { anonRole: "music_nobody", adminSecret: undefined },
    outcomes: {
      ...SECURED_OUTCOMES,
      "token role asking for another": TOKEN,
      "token role asking for too much": TOKEN,
      admin: NOBODY,
      "admin as role": NOBODY,
      "wrong secret": NOBODY,
    },
  },
  {
    name: "admin secret alone",
    options: { anonRole: undefined, jwtSecret: undefined },
    outcomes: {
      ...SECURED_OUTCOMES,
      anonymous: SECRET_ASKED_FOR,
      "anonymous asking for a role": SECRET_ASKED_FOR,
      "token role": UNREADABLE,
      "token role asking for another": UNREADABLE,
      "token role asking for too much": UNREADABLE,
      "bad token": UNREADABLE,
    },
  },
];

const toSession = (callerSettings: CallerSettings): SeenSession => ({
  user: callerSettings.current_user ?? "",
  role: callerSettings["session.role"] ?? "",
  userId: callerSettings["session.user_id"] || null, // it is empty if an earlier caller of the connection had one
  claims: JSON.parse(callerSettings["request.jwt.claims"] ?? "{}"),
});

const readSettings = (rows: readonly { readonly name: string; readonly value: string | null }[]): CallerSettings =>
  Object.fromEntries(rows.map(({ name, value }) => [name, value]));

const QUERY = "{ caller_settings { name value } }";

const onRest = async (api: TestApi, headers: HeaderValues, outcome: Outcome): Promise<void> => {
  const answer = await callRest(api, headers);
  if (outcome.rest === undefined) {
    expect(answer.status, answer.text).toBe(200);
    expect(toSession(readSettings(answer.json()))).toEqual(outcome.session);
    return;
  }
  const { code, message } = answer.json();
  expect({ status: answer.status, code, message }).toEqual(outcome.rest);
  if (answer.status === 401) expect(answer.headers["www-authenticate"]).toMatch(/^Bearer/);
};

const onGraphql =
  (path: string) =>
  async (api: TestApi, headers: HeaderValues, outcome: Outcome): Promise<void> => {
    const answer = await callGraphql(api, headers, [], path);
    const body = answer.json();
    if (outcome.graphql === undefined) {
      expect(body, answer.text).toHaveProperty("data");
      expect(toSession(readSettings(body.data.caller_settings))).toEqual(outcome.session);
      return;
    }
    const { message, extensions } = body.errors[0];
    expect({ message, ...extensions, status: answer.status }).toEqual({
      ...outcome.graphql,
      path: "$",
      status: path === "/v1alpha1/graphql" ? outcome.graphql.status : 200,
    });
  };

const onSocket = async (api: TestApi, headers: HeaderValues, outcome: Outcome): Promise<void> => {
  const socket = await openSocket(api);
  socket.send({ type: "connection_init", payload: { headers } });
  if (outcome.graphql !== undefined) {
    expect(await socket.closed).toEqual({ code: 4403, reason: `Forbidden: ${outcome.graphql.message}`.slice(0, 123) });
    return;
  }
  await socket.next((message) => message.type === "connection_ack");
  for (const query of [QUERY, `subscription ${QUERY}`]) {
    socket.send({ id: query, type: "subscribe", payload: { query } });
    const { payload } = await socket.next((message) => message.id === query);
    expect(toSession(readSettings(payload.data.caller_settings))).toEqual(outcome.session);
  }
  await socket.close();
};

const SURFACES: readonly { readonly name: string; readonly ask: typeof onRest }[] = [
  { name: "REST", ask: onRest },
  { name: "GraphQL at /v1/graphql", ask: onGraphql("/v1/graphql") },
  { name: "GraphQL at /v1alpha1/graphql", ask: onGraphql("/v1alpha1/graphql") },
  { name: "GraphQL at /api/graphql", ask: onGraphql("/api/graphql") },
  { name: "GraphQL over a socket", ask: onSocket },
];

const RULES: Record<Caller, string> = {
  anonymous: "R-AUT-6 G-AUTH-5 G-AUTH-7 G-AUTH-8",
  "anonymous asking for a role": "R-AUT-6 G-AUTH-7",
  "token role": "R-AUT-6 G-AUTH-6 G-AUTH-19",
  "token role asking for another": "R-AUT-6 G-AUTH-19",
  "token role asking for too much": "R-AUT-6 G-AUTH-19",
  admin: "R-AUT-8 G-AUTH-3",
  "admin as role": "R-AUT-8 G-AUTH-3",
  "bad token": "R-AUT-3 G-AUTH-6 G-AUTH-14",
  "wrong secret": "R-AUT-8 G-AUTH-4",
};

for (const { name, options, outcomes } of CONFIGURATIONS)
  describe(name, () => {
    let api: TestApi;
    beforeAll(async () => {
      api = await startApi({ dbSchemas: ["public"], ...options });
      await installCallerSettings(api);
    });
    for (const surface of SURFACES)
      for (const caller of Object.keys(CALLERS) as Caller[])
        test(`${RULES[caller]} ${surface.name} has the expected response for the caller: ${caller}`, () =>
          surface.ask(api, CALLERS[caller], outcomes[caller]));
  });
