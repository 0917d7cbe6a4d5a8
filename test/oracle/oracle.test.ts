/**
 * Sends random requests in random orders to a warm server and to one without caches: the answers are the same. This is
 * a share of the requests of `npm run oracle`; SEED repeats a run.
 */
import { expect, test } from "vitest";
import { asAdmin, forGraphql, openApi, startApi, type HeaderValues, type StartOptions } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import {
  array,
  buildMetadataDocument,
  object,
  permissions,
  table,
  ownFilter,
  fullPermission,
} from "../support/metadata-document.ts";
import { chosenSeed, createRandom, type Random } from "../support/random.ts";
import { fetchSchema } from "../support/schema.ts";
import { MUSIC_CALLERS, SEA_CALLERS } from "../support/oracle/callers.ts";
import { drawDocument, graphqlRequest } from "./graphql-requests.ts";
import {
  consult,
  report,
  summary,
  useSteadyPlans,
  withMutations,
  type OracleRequest,
} from "../support/oracle/oracle.ts";
import { drawRestRequest } from "./rest-requests.ts";

const seed = chosenSeed();
/** The number of shapes of each kind. Each shape comes with up to four sets of values. */
const SHAPES = Number(process.env["ORACLE_SHAPES"] ?? 12);

const metadata = buildMetadataDocument(
  [
    table("album", {
      object_relationships: [object("artist", "artist_id")],
      select_permissions: permissions({
        reader: { columns: ["id", "title", "artist_id"], filter: { id: { _gt: 1 } }, limit: 3 },
        owner: { columns: "*", filter: ownFilter, allow_aggregations: true },
        part: { columns: ["id", "title"], filter: {} },
      }),
      insert_permissions: permissions({
        owner: {
          check: { price: { _gt: 0 } },
          columns: ["id", "title", "price"],
          set: { artist_id: "X-Session-Artist-Id" },
        },
      }),
      update_permissions: permissions({
        owner: {
          columns: ["id", "title", "price"],
          filter: ownFilter,
          check: { price: { _lt: 100 } },
          set: { live: false },
        },
      }),
      delete_permissions: permissions({ owner: { filter: ownFilter } }),
    }),
    table("artist", {
      array_relationships: [array("albums", "album", "artist_id")],
      select_permissions: permissions({
        reader: { columns: ["id", "name"], filter: { country: { _neq: "IS" } } },
        owner: { ...fullPermission, allow_aggregations: true },
      }),
    }),
    table("person", {
      computed_fields: [
        { name: "title", definition: { function: "person_title" } },
        { name: "points", definition: { function: "person_score" } },
        { name: "greeting", definition: { function: "person_greeting", session_argument: "hasura_session" } },
      ],
      select_permissions: permissions({
        reader: { columns: ["id"], filter: {}, computed_fields: ["title", "greeting"] },
        owner: { ...fullPermission, computed_fields: ["points", "greeting"] },
      }),
    }),
  ],
  { inherited_roles: [{ role_name: "mixed", role_set: ["part", "owner"] }] },
  { functions: ["search_albums", "session_albums", { function: "sell_album", permissions: [{ role: "owner" }] }] },
);

const METADATA_CALLERS: readonly HeaderValues[] = [
  {},
  asAdmin(),
  asAdmin("reader"),
  asAdmin("reader", { "user-id": "7" }),
  asAdmin("owner", { "artist-id": "1" }),
  asAdmin("owner", { "artist-id": "3" }),
  asAdmin("part"),
  asAdmin("mixed", { "artist-id": "1" }),
  asAdmin("nobody"),
];

/** Each shape with one to four sets of values. */
const drawRequests = (
  random: Random,
  count: number,
  draw: (shape: Random, values: Random) => OracleRequest,
): OracleRequest[] =>
  Array.from({ length: count }, () => {
    const shapeSeed = random.int(2 ** 31);
    return Array.from({ length: 1 + random.int(4) }, () =>
      draw(createRandom(shapeSeed), createRandom(random.int(2 ** 31))),
    );
  }).flat();

const documentsFor = async (
  options: StartOptions,
  random: Random,
  roles: readonly (string | undefined)[],
): Promise<OracleRequest[]> => {
  const api = await startApi(options);
  const lists: OracleRequest[] = [];
  for (const role of roles) {
    const schema = await fetchSchema(api, role);
    lists.push(
      ...drawRequests(random, SHAPES / roles.length, (shape, values) =>
        graphqlRequest(drawDocument({ schema, shape, values }, shape.chance(0.25) ? "mutation" : "query"), role),
      ),
    );
  }
  await api.close();
  return lists;
};

/** Draws requests of these callers, most of which may use the drawn objects. */
const requestsFor = async (
  options: StartOptions,
  random: Random,
  schemas: readonly string[],
  callers: readonly HeaderValues[],
  mostly?: readonly string[],
): Promise<OracleRequest[]> => {
  const api = await startApi(options);
  const model = api.relApi.model();
  const requests = schemas
    .flatMap((schema, index) =>
      drawRequests(random, index === 0 ? SHAPES : SHAPES / 8, (shape, values) =>
        drawRestRequest({ model, schema, shape, values, ...(mostly === undefined ? {} : { mostly }) }),
      ),
    )
    .map((request) => ({ ...request, headers: { ...request.headers, ...random.pick(callers) } }));
  await api.close();
  return requests;
};

const expectNoDifference = async (
  options: StartOptions,
  requests: readonly OracleRequest[],
  random: Random,
  callers: readonly HeaderValues[],
): Promise<void> => {
  const mutations = withMutations(requests, random, { callers, countPerRequest: 3 });
  await useSteadyPlans((await testDatabase()).query);
  const verdict = await consult(mutations, { start: openApi, options, seed });
  const { differences } = verdict;
  console.log(summary(verdict, seed, mutations));
  expect(differences.length, `SEED=${seed}\n${differences.map(report).join("\n\n")}`).toBe(0);
};

/**
 * Cases that were once shared by mistake: calls with another window, functions that only some roles may execute, and a
 * table that is open to all in a schema that is not.
 */
const KNOWN_REQUESTS: readonly OracleRequest[] = [
  ...["0-0", "1-", undefined].map((range): OracleRequest => ({
    method: "GET",
    path: "/rpc/ledger",
    headers: { range },
  })),
  ...["0-0", "1-1", undefined].map((range): OracleRequest => ({
    method: "GET",
    path: "/rpc/vessels_of?port=1",
    headers: { range },
  })),
  ...[
    "/rpc/clerks_only",
    "/notices",
    "/cabins?order=id",
    "/vessels?select=name,heavy&heavy=is.true",
    "/rpc/who",
  ].flatMap((path) => SEA_CALLERS.map((headers): OracleRequest => ({ method: "GET", path, headers }))),
];

const REST: StartOptions = { dbAggregatesEnabled: true };
const GRANTS = forGraphql();
const METADATA = forGraphql({ metadata, metadataPermissionsForRest: true, dbAggregatesEnabled: true });

test("R-PIPE-1 caches of REST requests change no answer, with grants", { timeout: 600_000 }, async () => {
  const random = createRandom(seed);
  const requests = [...KNOWN_REQUESTS, ...(await requestsFor(REST, random, ["sea", "land"], SEA_CALLERS.slice(0, 5)))];
  await expectNoDifference(REST, requests, random, SEA_CALLERS);
});

test(
  "R-PIPE-1 G-PRM-7 caches of REST requests change no answer, with the permissions of metadata",
  { timeout: 600_000 },
  async () => {
    const random = createRandom(seed + 1);
    await expectNoDifference(
      METADATA,
      await requestsFor(METADATA, random, ["public"], METADATA_CALLERS.slice(1, 6), [
        "album",
        "artist",
        "person",
        "search_albums",
        "session_albums",
        "sell_album",
      ]),
      random,
      METADATA_CALLERS,
    );
  },
);

test("G-DOC-14 caches of GraphQL requests change no answer, with grants", { timeout: 600_000 }, async () => {
  const random = createRandom(seed + 2);
  await expectNoDifference(
    GRANTS,
    await documentsFor(GRANTS, random, [undefined, "music_reader", "music_editor"]),
    random,
    MUSIC_CALLERS,
  );
});

test(
  "G-DOC-14 G-PRM-7 caches of GraphQL requests change no answer, with the permissions of metadata",
  { timeout: 600_000 },
  async () => {
    const random = createRandom(seed + 3);
    await expectNoDifference(
      METADATA,
      await documentsFor(METADATA, random, [undefined, "reader", "owner"]),
      random,
      METADATA_CALLERS,
    );
  },
);
