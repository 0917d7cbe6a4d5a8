/**
 * Live queries of several callers on every transport. Each caller gets the answers of a server without caches, at first
 * and after rows and policies have changed.
 */
import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { chosenSeed, createRandom, type Random } from "../support/random.ts";
import { fetchSchema } from "../support/schema.ts";
import { until } from "../support/until.ts";
import { drawDocument, graphqlRequest, type DrawnDocument } from "./graphql-requests.ts";
import { subscribing, TRANSPORTS, type Caller, type Subscriber } from "./live-subscribers.ts";
import { NO_CACHING } from "../support/oracle/oracle.ts";

const seed = chosenSeed();
const DOCUMENTS = Number(process.env["ORACLE_LIVE_DOCUMENTS"] ?? 20);

const CALLERS: readonly Caller[] = [
  { session: { "user-id": "1" } },
  { session: { "user-id": "2" } },
  { role: "music_reader", session: { "user-id": "1" } },
  { role: "music_reader", session: { "user-id": "2" } },
  { role: "music_artist", session: { "artist-id": "1" } },
  { role: "music_artist", session: { "artist-id": "2" } },
];

/**
 * Queries that are shared or almost shared: policies, a representation that depends on the caller, functions of the
 * session.
 */
const KNOWN_DOCUMENTS: readonly DrawnDocument[] = [
  "{ album(order_by: {id: asc}) { id title artist_id } }",
  "{ artist(order_by: {id: asc}) { id name albums(order_by: {id: asc}) { id } } }",
  "{ diary(order_by: {id: asc}) { id body } }",
  "{ note(order_by: {id: asc}) { id author } }",
  "{ note_card(order_by: {id: asc}) { id author } }",
  "{ team(order_by: {id: asc}) { id name } }",
  "{ session_albums(order_by: {id: asc}) { id } }",
  "query ($id: Int!) { person_by_pk(id: $id) { id person_title } }",
].map((text) => ({
  query: text.startsWith("query") ? text : `query ${text}`,
  variables: text.startsWith("query") ? { id: 1 } : {},
}));

const NOTES = `
create domain whose as text;
create function whose_to_json(whose) returns json language sql stable as $$ select to_json($1::text || ' for ' || coalesce(nullif(current_setting('session.user_id', true), ''), '?')) $$;
create cast (whose as json) with function whose_to_json(whose) as implicit;
create table note (id int primary key, author whose);
insert into note values (1, 'ann'), (2, 'ben');
create view note_card as select id, author from note;
grant select on note, note_card to music_reader, music_artist`;

const CHANGES: readonly (readonly [title: string, sql: string])[] = [
  [
    "rows",
    "update album set sold = coalesce(sold, 0) + 1; insert into diary (artist_id, body) values (1, 'more'), (2, 'more'); update person set born = born + 1; update note set author = author || '!'; update team set name = name || '!'",
  ],
  [
    "a policy",
    "alter table team enable row level security; create policy own on team using (id = nullif(current_setting('session.user_id', true), '')::int); update team set name = name || '?'",
  ],
];

/** Rows without an order may arrive in any order. */
const sortRows = (value: unknown): unknown => {
  if (Array.isArray(value))
    return value
      .map(sortRows)
      .map((item) => JSON.stringify(item))
      .sort();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, sortRows(part)]));
};

/** Each transport words its errors differently, so all errors compare as equal. */
const comparableText = (payload: unknown): string =>
  payload === undefined
    ? "nothing"
    : typeof payload === "object" && payload !== null && "data" in payload && !("errors" in payload)
      ? JSON.stringify(sortRows(payload.data))
      : "an error";

/** Without a complete order, PostgreSQL may answer any of the rows. */
const CUTS = /\b(limit|offset|distinct_on)\b/;

const sizes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, sizes(part)]))
    : null;
};

const isLike = (answer: string, otherAnswer: string): boolean =>
  answer === otherAnswer ||
  (answer.startsWith("{") &&
    otherAnswer.startsWith("{") &&
    JSON.stringify(sizes(JSON.parse(answer))) === JSON.stringify(sizes(JSON.parse(otherAnswer))));

/**
 * An operand that is not a value of its type (G-DBE-8). The operands of a live query are columns, which PostgreSQL may
 * never read; it reads those of a query while planning.
 */
const BAD_OPERAND = "a bad operand";

const isBadOperand = ({
  errors: [error] = [],
}: {
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}): boolean =>
  error !== undefined &&
  (["data-exception", "bad-request"].includes(error.extensions.code) || error.message.includes("value for domain"));

const drawAll = (random: Random, schema: Awaited<ReturnType<typeof fetchSchema>>): DrawnDocument[] =>
  Array.from({ length: DOCUMENTS }, () => {
    const shapeSeed = random.int(2 ** 31);
    return Array.from({ length: 1 + random.int(2) }, () =>
      drawDocument(
        { schema, shape: createRandom(shapeSeed), values: createRandom(random.int(2 ** 31)) },
        "subscription",
      ),
    );
  }).flat();

test(
  "G-SUB-1 G-WS-1 G-WSL-1 each of several callers gets the answer that it would get without other callers",
  { timeout: 300_000 },
  async () => {
    const random = createRandom(seed);
    const api = await startApi(forGraphql({ dbPool: 2 }));
    await api.sql(NOTES);
    await api.reload();
    const oracle = await startApi(forGraphql({ ...NO_CACHING, dbPool: 1, dbChannelEnabled: false }));
    const documents = [
      ...KNOWN_DOCUMENTS.map(({ query, variables }) => ({ query: query.replace(/^query/, "subscription"), variables })),
      ...drawAll(random, await fetchSchema(api)),
    ];
    const subscribers: Subscriber[] = random.shuffle(
      documents.flatMap((document, index) =>
        (index < KNOWN_DOCUMENTS.length ? CALLERS : random.sample(CALLERS, 3)).flatMap((caller) =>
          (index < KNOWN_DOCUMENTS.length ? TRANSPORTS : [random.pick(TRANSPORTS)]).map((transport) => ({
            transport,
            caller,
            document,
            last: undefined,
          })),
        ),
      ),
    );
    const live = subscribing(api);
    for (const subscriber of subscribers) await live.subscribe(subscriber);

    const askAlone = async ({ caller, document: { query, variables } }: Subscriber): Promise<string> => {
      const request = graphqlRequest(
        { query: query.replace(/^subscription/, "query"), variables },
        caller.role,
        caller.session,
      );
      const answer = await oracle.request(request.method, request.path, {
        headers: request.headers ?? {},
        body: request.body,
      });
      return isBadOperand(answer.json()) ? BAD_OPERAND : comparableText(answer.json());
    };

    const differences: string[] = [];
    for (const [title, sql] of [["at first", ""] as const, ...CHANGES]) {
      if (sql !== "") await api.sql(sql);
      const expected = new Map<Subscriber, string>();
      const answerByKey = new Map<string, string>();
      for (const subscriber of subscribers) {
        const key = JSON.stringify([subscriber.document, subscriber.caller]);
        const answer = answerByKey.get(key) ?? (await askAlone(subscriber));
        answerByKey.set(key, answer);
        expected.set(subscriber, answer);
      }
      const isAsExpected = ({ last, document }: Subscriber, answer: string): boolean =>
        CUTS.test(JSON.stringify(document)) ? isLike(comparableText(last), answer) : comparableText(last) === answer;
      const isWrong = (subscriber: Subscriber): boolean => {
        const answer = expected.get(subscriber) as string; // the loop above has set the answer
        // The operation ended when it failed.
        return (
          answer !== BAD_OPERAND &&
          !isAsExpected(subscriber, answer) &&
          !(title !== "at first" && comparableText(subscriber.last) === "an error")
        );
      };
      // Subscribers that stay wrong are listed below.
      await until(() => !subscribers.some(isWrong), "all subscribers have the expected answer").catch(() => undefined);
      const wrong = subscribers.filter(isWrong);
      console.log(
        `oracle, live queries, ${title}, SEED=${seed}: ${subscribers.length} subscribers, ${[...expected.values()].filter((answer) => answer !== "an error" && answer !== BAD_OPERAND).length} without an error, ${wrong.length} differ`,
      );
      for (const subscriber of wrong) {
        const { transport, caller, document } = subscriber;
        differences.push(
          `${title}: ${transport}, ${JSON.stringify(caller)}\n  ${document.query}\n  ${JSON.stringify(document.variables)}\n  alone: ${expected.get(subscriber)?.slice(0, 500)}\n  received: ${comparableText(subscriber.last).slice(0, 500)}`,
        );
      }
    }
    await live.close();
    expect(differences.length, `SEED=${seed}\n${differences.slice(0, 12).join("\n\n")}`).toBe(0);
  },
);
