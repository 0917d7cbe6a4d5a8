import { expect, test } from "vitest";
import { definePlugin } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi, type TestApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { openDatabase } from "../support/database.ts";
import { buildMetadataDocument, object, table, type Entry } from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql());
const admin = await fetchSchema(api);
const reader = await fetchSchema(api, "music_reader");

test("G-REL-1 an object relationship is non-null if the columns of its own key are not null", () => {
  expect(admin.members("album").artist).toBe("artist!");
  expect(admin.members("match")).toMatchObject({ team: "team!", teamByAwayTeamId: "team!" });
  expect(admin.members("sheep").person).toBe("person");
  expect(admin.members("concert").hall).toBe("hall");
  expect(admin.members("person").passport).toBe("passport");
  expect(admin.args("album", "artist")).toEqual({});
  expect(admin.description("album", "artist")).toBe("An object relationship");
});

test("G-REL-2 an array relationship has an aggregate", () => {
  expect(admin.members("artist")).toMatchObject({ albums: "[album!]!", albums_aggregate: "album_aggregate!" });
  expect(admin.description("artist", "albums")).toBe("An array relationship");
  expect(admin.description("artist", "albums_aggregate")).toBe("An aggregate relationship");
});

test("G-REL-3 a relationship exists only for roles that may read its rows", () => {
  expect(Object.keys(reader.members("person"))).not.toContain("passport");
  expect(Object.keys(reader.members("match"))).toContain("team");
});

test("G-REL-5 foreign keys give relationships on both sides, one-to-one keys give objects, and views have none", () => {
  expect(admin.members("passport").person).toBe("person!");
  expect(admin.members("studio")).toMatchObject({ takes: "[take!]!" });
  expect(admin.members("take").studio).toBe("studio!");
  expect(Object.keys(admin.members("album_title"))).toEqual(["artist_id", "id", "loud_title", "title"]);
});

test("G-REL-6 names are the singular and plural of the target's SQL name", async () => {
  expect(Object.keys(admin.members("playlist"))).toContain("playlist_songs");
  expect(admin.members("playlist_song")).toMatchObject({ playlist: "playlist!", song: "song!" });
  await api.sql('create table "Reel" (id int primary key, track_id int references "Track")');
  try {
    await api.reload();
    const schema = await fetchSchema(api);
    expect(schema.members("Reel")["Track"]).toBe("Track");
    expect(schema.members("Track")["Reels"]).toBe("[Reel!]!");
  } finally {
    await api.sql('drop table "Reel"');
    await api.reload();
  }
});

test("G-REL-7 names are given in the order of the columns of keys", () => {
  expect(admin.members("team")).toMatchObject({ matches: "[match!]!", matchesByAwayTeamId: "[match!]!" });
  expect(admin.members("place")).toMatchObject({ trips: "[trip!]!", tripsByTarget: "[trip!]!" });
});

test("G-REL-8 a relationship whose name is in use gets another name, twice if necessary", () => {
  const trip = admin.members("trip");
  expect(trip).toMatchObject({
    place: "String",
    placeByOrigin: "String",
    placeByOrigin1: "place",
    placeByTarget: "place",
  });
});

test("G-REL-9 fallback names are in camelCase", () => {
  expect(Object.keys(admin.members("match"))).toContain("teamByAwayTeamId");
});

test("G-REL-9 a key of a table on itself gives both relationships", () => {
  expect(admin.members("employee")).toMatchObject({ employee: "employee", employees: "[employee!]!" });
});

test("G-REL-10 irregular and uncountable words have their plural", async () => {
  expect(admin.members("person").sheep).toBe("[sheep!]!");
  await api.sql(
    "create table child (id int primary key, person_id int references person); create table series (id int primary key, child_id int references child)",
  );
  try {
    await api.reload();
    const schema = await fetchSchema(api);
    expect(schema.members("person").children).toBe("[child!]!");
    expect(schema.members("child").series).toBe("[series!]!");
    expect(schema.members("series").child).toBe("child");
  } finally {
    await api.sql("drop table series, child");
    await api.reload();
  }
});

gqlCases(api, [
  {
    title: "G-REL-1 G-REL-1a a row that the role may not see is null, also in a non-null type",
    query: "{ match(where: {id: {_eq: 1}}) { id team { name } } }",
    role: "music_reader",
    data: { match: [{ id: 1, team: { name: "Reds" } }] },
  },
  {
    title: "G-REL-2 array relationships accept list arguments",
    query:
      "{ artist(where: {id: {_eq: 1}}) { albums(order_by: {price: desc}, limit: 1) { title } albums_aggregate(where: {live: {_eq: true}}) { aggregate { count } } } }",
    data: { artist: [{ albums: [{ title: "Waterloo" }], albums_aggregate: { aggregate: { count: 1 } } }] },
  },
  {
    title: "G-REL-7 each relationship follows its own key",
    query:
      "{ match(where: {id: {_eq: 1}}) { home: team { name } away: teamByAwayTeamId { name } } team_by_pk(id: 1) { matches(order_by: {id: asc}) { id } matchesByAwayTeamId { id } } }",
    data: {
      match: [{ home: { name: "Reds" }, away: { name: "Blues" } }],
      team_by_pk: { matches: [{ id: 1 }, { id: 3 }], matchesByAwayTeamId: [{ id: 2 }] },
    },
  },
  {
    title: "G-REL-9 a key of a table on itself is followed in both directions",
    query: "{ employee_by_pk(id: 2) { employee { name } employees { name } } }",
    data: { employee_by_pk: { employee: { name: "Boss" }, employees: [{ name: "Low" }] } },
  },
]);

test("G-REL-1 G-REL-1a a related row that a row policy hides is null in a non-null type", async () => {
  await api.sql("alter table team enable row level security");
  try {
    const answer = await api.gql(
      "{ match(where: {id: {_eq: 1}}) { id team { name } } }",
      {},
      { "x-session-role": "music_reader" },
    );
    expect(answer).toEqual({ data: { match: [{ id: 1, team: null }] } });
  } finally {
    await api.sql("alter table team disable row level security");
  }
});

const all = { columns: "*", filter: {} };
const artists = (permission: unknown, extraKeys: Entry = {}): Entry =>
  buildMetadataDocument(
    [
      table("artist", {
        select_permissions: [
          { role: "fan", permission },
          { role: "guest", permission: all },
        ],
      }),
      table("album", {
        object_relationships: [object("artist", "artist_id")],
        select_permissions: [
          { role: "fan", permission: all },
          { role: "guest", permission: all },
        ],
      }),
    ],
    extraKeys,
  );

const fetchType = async (target: TestApi, role?: string): Promise<string | undefined> =>
  (await fetchSchema(target, role)).members("album")["artist"];

test("G-REL-11 without the option a hidden row is null in a non-null type", async () => {
  const plainApi = await startApi(
    forGraphql({ metadata: artists({ columns: "*", filter: { name: { _eq: "Abba" } } }) }),
  );
  expect(await fetchType(plainApi, "fan")).toBe("artist!");
  expect(await plainApi.gql("{ album_by_pk(id: 3) { artist { name } } }", {}, asAdmin("fan"))).toEqual({
    data: { album_by_pk: { artist: null } },
  });
  await plainApi.close();
});

test("G-REL-11 the type is nullable for a role if a permission has a filter", async () => {
  const metadata = artists(
    { columns: "*", filter: { name: { _eq: "Abba" } } },
    {
      inherited_roles: [
        { role_name: "heir", role_set: ["fan"] },
        { role_name: "both", role_set: ["fan", "guest"] },
      ],
    },
  );
  const optionApi = await startApi(forGraphql({ nullableRelationships: true, metadata }));
  expect([
    await fetchType(optionApi, "fan"),
    await fetchType(optionApi, "heir"),
    await fetchType(optionApi, "guest"),
    await fetchType(optionApi, "both"),
    await fetchType(optionApi),
  ]).toEqual(["artist", "artist", "artist!", "artist!", "artist!"]);
  expect(await optionApi.gql("{ album_by_pk(id: 3) { artist { name } } }", {}, asAdmin("fan"))).toEqual({
    data: { album_by_pk: { artist: null } },
  });
  await optionApi.close();
});

test("G-REL-11 the type is nullable if row policies apply to the acting role", async () => {
  const database = await openDatabase();
  await database.query(
    "alter table artist enable row level security; create policy one_name on artist to music_reader using (name = 'Abba')",
  );
  const optionApi = await startApi(forGraphql({ nullableRelationships: true, on: database }));
  expect([await fetchType(optionApi, "music_reader"), await fetchType(optionApi)]).toEqual(["artist", "artist!"]);
  await optionApi.close();
  const preRequestApi = await startApi(
    forGraphql({ nullableRelationships: true, on: database, dbPreRequest: "sea.before_request" }),
  );
  expect(await fetchType(preRequestApi)).toBe("artist");
  await preRequestApi.close();
});

test("G-REL-11 the type is nullable if a plugin changes plans", async () => {
  const tenants = definePlugin({
    name: "tenants",
    apply: (hooks) => hooks.transformPlan.tap("tenants", (plan) => plan),
  });
  const optionApi = await startApi(forGraphql({ nullableRelationships: true, parts: [tenants] }));
  expect(await fetchType(optionApi)).toBe("artist");
  await optionApi.close();
});
