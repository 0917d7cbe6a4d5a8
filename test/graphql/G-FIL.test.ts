// @runs-also-on postgresql-15-postgis
/** The filter language. Each filter has its own role, and all roles see the same rows. */
import { expect, test } from "vitest";
import { asAdmin, capabilities, forGraphql, startApi } from "../support/api.ts";
import {
  array,
  collectWarnings,
  buildMetadataDocument,
  object,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";
import { createLogger } from "../support/logger.ts";

interface FilterCase {
  readonly title: string;
  readonly tableName?: "album" | "artist" | "person" | "profile" | "category" | "specimen";
  readonly filter: unknown;
  readonly session?: Readonly<Record<string, string>>;
  /** The ids of the rows. Undefined if the permission is not served. */
  readonly ids: readonly number[] | undefined;
}

const cases: readonly FilterCase[] = [
  // The rows are: artist 1 Abba SE, 2 Bjork IS, 3 Can DE, 4 Dusk null; album 1, 2 of 1, 3 of 2, 4, 5 of 3; price 12.5
  // 20 9.99 25 null; live t f t t null.
  {
    title: "G-FIL-1 _and, _or and _not combine conditions",
    filter: {
      _and: [
        { price: { _gt: 9 } },
        { _or: [{ live: { _eq: true } }, { title: { _eq: "Waterloo" } }] },
        { _not: { id: { _eq: 4 } } },
      ],
    },
    ids: [1, 2, 3],
  },
  {
    title: "G-FIL-1 combinators and operators may begin with $",
    filter: {
      $and: [
        { price: { $gt: 9 } },
        { $or: [{ live: { $eq: true } }, { title: { $like: "Water%" } }] },
        { $not: { id: { $in: [4] } } },
      ],
    },
    ids: [1, 2, 3],
  },
  { title: "G-FIL-1 _ne is the same as _neq", filter: { id: { _ne: 1 }, artist_id: { $ne: 3 } }, ids: [2, 3] },
  { title: "G-FIL-1 a filter accepts operators of text", filter: { title: { _regex: "^[AD]" } }, ids: [1, 3] },
  {
    title: "G-FIL-1 a filter accepts operators of JSON documents",
    tableName: "artist",
    filter: { stats: { _contains: { genres: ["pop"] } } },
    ids: [1],
  },
  {
    title: "G-FIL-1 a filter accepts operators for keys of JSON documents",
    tableName: "artist",
    filter: { stats: { _has_keys_all: ["label", "members"] } },
    ids: [1],
  },
  {
    title: "G-FIL-1 a filter accepts operators of ltree paths",
    tableName: "category",
    filter: { path: { _descendant: "top.science" } },
    ids: [2, 3],
  },
  {
    title: "G-FIL-1 a filter accepts _cast of a JSON document",
    tableName: "artist",
    filter: { stats: { _cast: { String: { _like: "%Polar%" } } } },
    ids: [1],
  },
  { title: "G-FIL-1 a filter accepts operators of arrays", filter: { tags: { _contains: ["rock"] } }, ids: [1, 5] },
  {
    title: "G-FIL-1 _in accepts a list of arrays",
    filter: { tags: { _in: [["pop"], ["rock", "live"]] } },
    ids: [1, 2],
  },
  { title: "G-FIL-1 _nin accepts a list of arrays", filter: { tags: { _nin: [["pop"], ["rock"]] } }, ids: [1, 3, 4] },
  { title: "G-FIL-1 _is_null finds null values", filter: { live: { _is_null: true } }, ids: [5] },
  { title: "G-FIL-1 _is_null rejects text", filter: { live: { _is_null: "true" } }, ids: undefined },
  { title: "G-FIL-2 a bare value means _eq", filter: { artist_id: 3 }, ids: [4, 5] },
  { title: "G-FIL-2 an empty filter is true", filter: {}, ids: [1, 2, 3, 4, 5] },
  { title: "G-FIL-2 an empty condition on a column is true", filter: { id: {} }, ids: [1, 2, 3, 4, 5] },
  { title: "G-FIL-2 an empty _or is false", filter: { _or: [] }, ids: [] },
  { title: "G-FIL-2 an empty _and is true", filter: { _and: [] }, ids: [1, 2, 3, 4, 5] },
  {
    title: "G-FIL-2 several conditions are combined with AND",
    filter: { id: { _gt: 1, _lt: 4 }, live: true },
    ids: [3],
  },
  {
    title: "G-FIL-2 a bare document means _eq",
    tableName: "artist",
    filter: { stats: { members: 1, genres: ["art"] } },
    ids: [2],
  },
  { title: "G-FIL-3 a filter accepts an object relationship", filter: { maker: { country: "SE" } }, ids: [1, 2] },
  {
    title: "G-FIL-3 a filter accepts an array relationship",
    tableName: "artist",
    filter: { works: { price: { _gte: 20 } } },
    ids: [1, 3],
  },
  {
    title: "G-FIL-3 _not of an empty filter finds rows without related rows",
    tableName: "artist",
    filter: { _not: { works: {} } },
    ids: [4],
  },
  {
    title: "G-FIL-3 a filter accepts the count of related rows",
    tableName: "artist",
    filter: { works_aggregate: { count: { predicate: { _eq: 0 } } } },
    ids: [4],
  },
  {
    title: "G-FIL-3 a filter accepts an aggregate of filtered related rows",
    tableName: "artist",
    filter: {
      works_aggregate: {
        bool_and: { arguments: "live", filter: { live: { _is_null: false } }, predicate: { _eq: true } },
      },
    },
    ids: [2, 3],
  },
  {
    title: "G-FIL-3 a filter accepts a computed field",
    tableName: "person",
    filter: { adult: { _eq: true } },
    ids: [1, 3],
  },
  {
    title: "G-FIL-3 a filter accepts a computed field with the session argument",
    tableName: "person",
    filter: { greeting: { _eq: "Ann meets 7" } },
    session: { "user-id": "7" },
    ids: [1],
  },
  {
    title: "G-FIL-3 a filter accepts a computed field that returns rows",
    tableName: "person",
    filter: { peers: { id: { _eq: 3 } } },
    ids: [1, 2],
  },
  {
    title: "G-FIL-3 a filter rejects a computed field with arguments",
    tableName: "person",
    filter: { age_in: { _gt: 30 } },
    ids: undefined,
  },
  {
    title: "G-FIL-3 a filter rejects the custom name of a column",
    filter: { heading: { _eq: "Debut" } },
    ids: undefined,
  },
  { title: "G-FIL-4 _eq holds for two nulls", filter: { live: { _eq: null } }, ids: [5] },
  {
    title: "G-FIL-4 _eq: null matches a jsonb null of SQL",
    tableName: "artist",
    filter: { stats: { _eq: null } },
    ids: [4],
  },
  { title: "G-FIL-4 _neq holds for one null", filter: { live: { _neq: true } }, ids: [2, 5] },
  { title: "G-FIL-4 _not of _eq holds for null", filter: { _not: { live: { _eq: true } } }, ids: [2, 5] },
  { title: "G-FIL-4 _not of _neq excludes null", filter: { _not: { live: { _neq: true } } }, ids: [1, 3, 4] },
  {
    title: "G-FIL-4 _not applies to a condition along a relationship",
    tableName: "artist",
    filter: { _not: { works: { live: { _eq: true } } } },
    ids: [4],
  },
  {
    title: "G-FIL-5 a session variable is replaced by its value",
    filter: { artist_id: { _eq: "X-Session-Artist-Id" } },
    session: { "artist-id": "1" },
    ids: [1, 2],
  },
  {
    title: "G-FIL-5 a session variable may have either prefix in any letter case",
    filter: { artist_id: "x-HASURA-Artist-ID" },
    session: { "artist-id": "2" },
    ids: [3],
  },
  {
    title: "G-FIL-5 the role is a session variable",
    tableName: "person",
    filter: { name: { _neq: "X-Session-Role" } },
    ids: [1, 2, 3],
  },
  {
    title: "G-FIL-5 G-FIL-5a a list may contain session variables and values",
    filter: { id: { _in: ["X-Session-A", 3, "X-Session-B"] } },
    session: { a: "1", b: "5" },
    ids: [1, 3, 5],
  },
  {
    title: "G-FIL-5 a session variable may be a JSON document",
    tableName: "artist",
    filter: { stats: { _contains: "X-Session-Doc" } },
    session: { doc: '{"members": 4}' },
    ids: [1],
  },
  {
    title: "G-FIL-5 a session variable may be a key of a document",
    tableName: "artist",
    filter: { stats: { _has_key: "X-Session-Key" } },
    session: { key: "label" },
    ids: [1],
  },
  {
    title: "G-FIL-5 a session variable may be in a list of keys",
    tableName: "artist",
    filter: { stats: { _has_keys_any: ["X-Session-Key", "nothing"] } },
    session: { key: "label" },
    ids: [1],
  },
  {
    title: "G-FIL-5 a session variable may be a JSON path",
    tableName: "artist",
    filter: { stats: { _jsonb_path_exists: "X-Session-Path" } },
    session: { path: "$.label.name" },
    ids: [1],
  },
  {
    title: "G-FIL-5 a session variable may be a pattern",
    filter: { title: { _ilike: "X-Session-Pattern" } },
    session: { pattern: "%a%o%" },
    ids: [2, 4],
  },
  {
    title: "G-FIL-5 a session variable may be in a filter on a relationship",
    filter: { maker: { country: { _eq: "X-Session-Country" } } },
    session: { country: "DE" },
    ids: [4, 5],
  },
  {
    title: "G-FIL-5 a session variable may be compared with a count",
    tableName: "artist",
    filter: { works_aggregate: { count: { predicate: { _gte: "X-Session-Least" } } } },
    session: { least: "2" },
    ids: [1, 3],
  },
  {
    title: "G-FIL-5 quotes and commas of a session variable stay part of the value",
    filter: { title: { _eq: "X-Session-Title" } },
    session: { title: "x' or '1'='1" },
    ids: [],
  },
  {
    title: "G-FIL-6 a session variable may be the list of _in",
    filter: { id: { _in: "X-Session-Ids" } },
    session: { ids: "{1,4}" },
    ids: [1, 4],
  },
  {
    title: "G-FIL-6 a session variable may be the list of _nin",
    filter: { id: { _nin: "X-Session-Ids" } },
    session: { ids: "{1,4}" },
    ids: [2, 3, 5],
  },
  {
    title: "G-FIL-6 _in with an empty list matches no row",
    filter: { id: { _in: "X-Session-Ids" } },
    session: { ids: "{}" },
    ids: [],
  },
  {
    title: "G-FIL-6 _nin with an empty list matches every row, including null values",
    filter: { live: { _nin: "X-Session-Ids" } },
    session: { ids: "{}" },
    ids: [1, 2, 3, 4, 5],
  },
  {
    title: "G-FIL-6 a session variable may be a list of keys",
    tableName: "artist",
    filter: { stats: { _has_keys_all: "X-Session-Keys" } },
    session: { keys: "{label,members}" },
    ids: [1],
  },
  {
    title: "G-FIL-6 _has_keys_any with an empty list matches no row",
    tableName: "artist",
    filter: { stats: { _has_keys_any: "X-Session-Keys" } },
    session: { keys: "{}" },
    ids: [],
  },
  {
    title: "G-FIL-6 _has_keys_all with an empty list matches every document",
    tableName: "artist",
    filter: { stats: { _has_keys_all: "X-Session-Keys" } },
    session: { keys: "{}" },
    ids: [1, 2, 3],
  },
  { title: "G-FIL-6 a list with a null is rejected", filter: { id: { _in: [1, null] } }, ids: undefined },
  { title: "G-FIL-8 _ceq compares two columns of a row", filter: { sold: { _ceq: "id" } }, ids: [] },
  {
    title: "G-FIL-8 a comparison of columns accepts a list of one name",
    filter: { sold: { _cgt: ["id"] } },
    ids: [1, 2, 4, 5],
  },
  {
    title: "G-FIL-8 comparisons of columns may begin with $",
    filter: { id: { $cgte: "artist_id", _cne: "sold" } },
    ids: [1, 2, 3, 4, 5],
  },
  {
    title: "G-FIL-8 _clt and _clte compare columns",
    filter: { artist_id: { _clte: "id" }, id: { _clt: "sold" } },
    ids: [1, 2, 4, 5],
  },
  {
    title: "G-FIL-8 _ceq holds for two nulls",
    tableName: "artist",
    filter: { country: { _ceq: "country" } },
    ids: [1, 2, 3, 4],
  },
  {
    title: "G-FIL-8 _cneq holds for one null",
    tableName: "artist",
    filter: { name: { _cneq: "country" } },
    ids: [1, 2, 3, 4],
  },
  {
    title: "G-FIL-8 $ names a column of the permission's table",
    tableName: "artist",
    filter: { works: { sold: { _ceq: ["$", "id"] } } },
    ids: [],
  },
  {
    title: "G-FIL-8 $ names a column of the permission's table if rows match",
    tableName: "artist",
    filter: { works: { id: { _ceq: ["$", "id"] } } },
    ids: [1],
  },
  { title: "G-FIL-8 columns of different types are rejected", filter: { id: { _ceq: "title" } }, ids: undefined },
  { title: "G-FIL-8 an unknown column is rejected", filter: { id: { _ceq: ["$", "nothing"] } }, ids: undefined },
  {
    title: "G-FIL-9 _exists is true if another table has a matching row",
    filter: {
      _exists: { _table: { schema: "public", name: "studio" }, _where: { name: { _eq: "X-Session-Studio" } } },
    },
    session: { studio: "North" },
    ids: [1, 2, 3, 4, 5],
  },
  {
    title: "G-FIL-9 _exists is false if another table has no matching row",
    filter: { $exists: { _table: "studio", _where: { name: "X-Session-Studio" } } },
    session: { studio: "West" },
    ids: [],
  },
  {
    title: "G-FIL-9 _exists may name a table that is not in the metadata",
    filter: { _exists: { _table: "badge_change", _where: {} } },
    ids: [1, 2, 3, 4, 5],
  },
  {
    title: "G-FIL-9 _exists may compare with a column of the permission's table",
    filter: { _exists: { _table: "take", _where: { studio_id: { _ceq: ["$", "id"] }, kept: false } } },
    ids: [2],
  },
  {
    title: "G-FIL-9 _exists rejects an unknown table",
    filter: { _exists: { _table: "nothing", _where: {} } },
    ids: undefined,
  },
  { title: "G-FIL-10 a filter may use columns that the role may not see", filter: { price: { _gt: 15 } }, ids: [2, 4] },
  { title: "G-FIL-11 an unknown column is rejected", filter: { prize: { _gt: 15 } }, ids: undefined },
  { title: "G-FIL-11 an unknown operator is rejected", filter: { price: { _about: 15 } }, ids: undefined },
  { title: "G-FIL-11 an operator of another type is rejected", filter: { price: { _like: "1%" } }, ids: undefined },
  { title: "G-FIL-11 a filter that is not an object is rejected", filter: "artist_id = 1", ids: undefined },
  { title: "G-FIL-11 an empty list is rejected", filter: [], ids: undefined },
  {
    title: "G-FIL-11 an empty list under _and or a relationship is rejected",
    filter: { _and: [{ maker: [] }] },
    ids: undefined,
  },
  { title: "G-FIL-11 null at a relationship is rejected", filter: { maker: null }, ids: undefined },
  { title: "G-FIL-11 _exists without _where is rejected", filter: { _exists: { _table: "artist" } }, ids: undefined },
  {
    title: "G-FIL-4 a filter compares values of every type",
    tableName: "specimen",
    filter: {
      c_int8: "9223372036854775807",
      c_numeric: 12.34,
      c_uuid: "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
      c_int_list: [1, 2, null],
      c_matrix: [
        [1, 2],
        [3, 4],
      ],
      c_mood: "happy",
      c_email: "jo@work.example",
      c_date: { _lt: "2021-01-01" },
      c_jsonb_list: [{ a: 1 }, []],
      c_bytea: "\\xdeadbeef",
    },
    ids: [1],
  },
];

const getRoleName = (index: number): string => `case_${index}`;

const selectsOn = (name: string): readonly Entry[] =>
  permissions(
    Object.fromEntries(
      cases.flatMap((filterCase, index) =>
        (filterCase.tableName ?? "album") === name
          ? [[getRoleName(index), { columns: ["id"], filter: filterCase.filter }]]
          : [],
      ),
    ),
  );

const noteLog = collectWarnings();
const api = await startApi(
  forGraphql({
    logger: noteLog.logger,
    metadata: buildMetadataDocument([
      table("album", {
        configuration: { column_config: { title: { custom_name: "heading" } } },
        object_relationships: [object("maker", "artist_id")],
        select_permissions: selectsOn("album"),
      }),
      table("artist", {
        array_relationships: [array("works", "album", "artist_id")],
        select_permissions: [
          ...selectsOn("artist"),
          ...permissions({ narrow: { columns: ["id"], filter: { works: {} } } }),
        ],
      }),
      table("person", {
        computed_fields: [
          { name: "adult", definition: { function: "person_adult" } },
          {
            name: "greeting",
            definition: { function: { schema: "public", name: "person_greeting" }, session_argument: "hasura_session" },
          },
          { name: "peers", definition: { function: "person_peers" } },
          { name: "age_in", definition: { function: "person_age_in" } },
        ],
        select_permissions: selectsOn("person"),
      }),
      table("category", { select_permissions: selectsOn("category") }),
      table("specimen", { select_permissions: selectsOn("specimen") }),
    ]),
  }),
);
await api.sql("insert into badge_change values (1)");

for (const [index, { title, tableName = "album", session, ids }] of cases.entries()) {
  test(title, async () => {
    const answer = await api.gql(`{ ${tableName} { id } }`, {}, asAdmin(getRoleName(index), session));
    if (ids === undefined) {
      expect(answer.errors[0].message).toBe(`field '${tableName}' not found in type: 'query_root'`);
      expect(
        noteLog
          .all()
          .filter((note) => note.startsWith(`table ${tableName}: select permission of ${getRoleName(index)}: `)),
      ).toHaveLength(1);
    } else {
      expect(answer.errors).toBeUndefined();
      expect(answer.data[tableName].map(({ id }: { id: number }) => id).sort((a: number, b: number) => a - b)).toEqual(
        ids,
      );
    }
  });
}

test("G-FIL-7 a missing session variable matters only for the fields that use it", async () => {
  const role = getRoleName(
    cases.findIndex(({ title }) => title === "G-FIL-5 a session variable is replaced by its value"),
  );
  expect(await api.gql("{ album { id } }", {}, asAdmin(role))).toEqual({
    errors: [
      { message: 'missing session variable: "x-session-artist-id"', extensions: { path: "$", code: "not-found" } },
    ],
  });
  expect(await api.gql("{ __typename }", {}, asAdmin(role))).toEqual({ data: { __typename: "query_root" } });
});

test("G-FIL-9 a filter along a relationship does not add the filter of the other table", async () => {
  const whereFilterApi = await startApi(
    forGraphql({
      metadata: buildMetadataDocument([
        table("album", {
          object_relationships: [object("artist", "artist_id")],
          select_permissions: permissions({
            reader: { columns: ["id"], filter: { artist: { country: { _neq: "SE" } } } },
          }),
        }),
        table("artist", {
          select_permissions: permissions({ reader: { columns: ["id"], filter: { country: "IS" } } }),
        }),
      ]),
    }),
  );
  expect(
    (await whereFilterApi.gql("{ album(order_by: {id: asc}) { id artist { id } } }", {}, asAdmin("reader"))).data.album,
  ).toEqual([
    { id: 3, artist: { id: 2 } },
    { id: 4, artist: null },
    { id: 5, artist: null },
  ]);
});

test("G-FIL-8 $ means the permission's table wherever its filter is used", async () => {
  const rootFilterApi = await startApi(
    forGraphql({
      metadata: buildMetadataDocument([
        table("album", {
          object_relationships: [object("artist", "artist_id")],
          select_permissions: permissions({
            reader: {
              columns: ["id", "sold"],
              filter: { artist: { albums: { id: { _cgt: ["$", "id"] } } } },
              allow_aggregations: true,
            },
          }),
        }),
        table("artist", {
          array_relationships: [array("albums", "album", "artist_id")],
          select_permissions: permissions({ reader: { columns: ["id"], filter: {} } }),
        }),
      ]),
    }),
  );
  // Albums 1 and 4 have a later album of the same artist.
  const answer = await rootFilterApi.gql(
    `{ album(order_by: {id: asc}) { id }
       in_where: artist(where: {albums: {}}, order_by: {id: asc}) { id }
       embedded: artist(order_by: {id: asc}) { albums { id } albums_aggregate { aggregate { count } } }
       ordered: artist(order_by: [{albums_aggregate: {max: {id: desc_nulls_last}}}, {id: asc}]) { id }
       counted: artist(where: {albums_aggregate: {count: {predicate: {_eq: 1}}}}, order_by: {id: asc}) { id } }`,
    {},
    asAdmin("reader"),
  );
  expect(answer).toEqual({
    data: {
      album: [{ id: 1 }, { id: 4 }],
      in_where: [{ id: 1 }, { id: 3 }],
      embedded: [
        { albums: [{ id: 1 }], albums_aggregate: { aggregate: { count: 1 } } },
        { albums: [], albums_aggregate: { aggregate: { count: 0 } } },
        { albums: [{ id: 4 }], albums_aggregate: { aggregate: { count: 1 } } },
        { albums: [], albums_aggregate: { aggregate: { count: 0 } } },
      ],
      ordered: [{ id: 3 }, { id: 1 }, { id: 2 }, { id: 4 }],
      counted: [{ id: 1 }, { id: 3 }],
    },
  });
});

test("G-FIL-4 a filter on a column can use its index", async () => {
  await api.sql(
    "create table owned (id int primary key, owner int); create index owned_owner on owned (owner); insert into owned select n, n from generate_series(1, 5000) n; analyze owned",
  );
  const statements: string[] = [];
  const info = (message: string): void => void statements.push(message);
  const ownerApi = await startApi(
    forGraphql({
      logQuery: true,
      logger: createLogger({ info }),
      metadata: buildMetadataDocument([
        table("owned", {
          select_permissions: permissions({ owner: { columns: "*", filter: { owner: { _eq: "X-Session-User-Id" } } } }),
        }),
      ]),
    }),
  );
  expect(await ownerApi.gql("{ owned { id } }", {}, asAdmin("owner", { "user-id": "7" }))).toEqual({
    data: { owned: [{ id: 7 }] },
  });
  const statement = statements.find((text) => text.includes('"owned"."owner"')) ?? "";
  expect(statement).toContain("$1");
  const plan = await api.sql(
    `prepare owned_by as ${statement}; set plan_cache_mode = force_generic_plan; explain execute owned_by('7')`,
  );
  expect(JSON.stringify(plan)).toContain("owned_owner");
});

test.skipIf(!capabilities.postgis)(
  "G-FIL-5 G-FIL-5a geometry operators accept session variables, also with GeoJSON text",
  async () => {
    const point = JSON.stringify({ type: "Point", coordinates: [10.75, 59.91] });
    const near = { _st_d_within: { distance: "X-Session-Distance", from: "X-Session-Place" } };
    const geoApi = await startApi(
      forGraphql({
        dbSchemas: ["atlas"],
        dbExtraSearchPath: ["public", "gis"],
        metadata: buildMetadataDocument([
          table("atlas.spots", {
            select_permissions: permissions({
              near: { columns: ["id"], filter: { at: near } },
              fixed: { columns: ["id"], filter: { at: { _st_d_within: { distance: 0.5, from: JSON.parse(point) } } } },
              covered: { columns: ["id"], filter: { area: { _st_contains: "X-Session-Place" } } },
              same: { columns: ["id"], filter: { at: { _eq: "X-Session-Place" } } },
              earth: {
                columns: ["id"],
                filter: { earth: { _st_d_within: { distance: "X-Session-Distance", from: "X-Session-Place" } } },
              },
            }),
          }),
        ]),
      }),
    );
    const ids = async (role: string, session: Record<string, string>) =>
      (
        await geoApi.gql("{ atlas_spots(order_by: {id: asc}) { id } }", {}, asAdmin(role, session))
      ).data?.atlas_spots.map(({ id }: { id: number }) => id);
    const expectedIds = (condition: string) =>
      api
        .sql<{ id: number }>(`set search_path = public, gis; select id from atlas.spots where ${condition} order by id`)
        .then((rows) => rows.map(({ id }) => id));
    const place = `st_geomfromgeojson('${point}')`;
    const nearIds = await expectedIds(`st_dwithin(at, ${place}, 0.5)`);
    expect(nearIds.length).toBeGreaterThan(0);
    expect(await ids("near", { distance: "0.5", place: point })).toEqual(nearIds);
    expect(await ids("fixed", {})).toEqual(nearIds);
    expect(await ids("covered", { place: point })).toEqual(await expectedIds(`st_contains(area, ${place})`));
    expect(await ids("same", { place: point })).toEqual(await expectedIds(`at = ${place}`));
    expect(await ids("earth", { place: point, distance: "1000" })).toEqual(
      await expectedIds(`st_dwithin(earth, ${place}::geography, 1000)`),
    );
  },
);

test("G-FIL-11 G-FIL-11a a permission with validate_input, which needs a service, is left out", async () => {
  const checkedPermission = {
    columns: ["title"],
    filter: {},
    check: {},
    validate_input: { type: "http", definition: { url: "http://127.0.0.1/never", timeout: 10 } },
  };
  const guardedLog = collectWarnings();
  const guardedApi = await startApi(
    forGraphql({
      logger: guardedLog.logger,
      metadata: buildMetadataDocument([
        table("album", {
          select_permissions: permissions({ writer: { columns: ["id"], filter: {} } }),
          insert_permissions: permissions({
            writer: { columns: ["title"], check: {}, validate_input: checkedPermission.validate_input },
          }),
          update_permissions: permissions({ writer: checkedPermission }),
          delete_permissions: permissions({ writer: { filter: {}, validate_input: null } }),
        }),
      ]),
    }),
  );
  expect(Object.keys((await fetchSchema(guardedApi, "writer")).members("mutation_root"))).toEqual([
    "delete_album",
    "delete_album_by_pk",
  ]);
  expect(guardedLog.all()).toEqual(
    ["insert", "update"].map(
      (operation) => `table album: ${operation} permission of writer: validate_input is not served`,
    ),
  );
  await guardedApi.close();
});
