// @runs-also-on postgresql-15-postgis
/** Presets of the metadata: columns that the caller cannot set. */
import { expect, test } from "vitest";
import { asAdmin, capabilities, forGraphql, startApi } from "../support/api.ts";
import {
  array,
  buildMetadataDocument,
  object,
  permissions,
  table,
  fullPermission,
} from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";
import { until } from "../support/until.ts";

const owner = "X-Session-Artist-Id";

const api = await startApi(
  forGraphql({
    dbTxEnd: "rollback",
    metadata: buildMetadataDocument([
      table("artist", {
        array_relationships: [array("albums", "album", "artist_id")],
        select_permissions: permissions({ owner: fullPermission, types: fullPermission }),
        insert_permissions: permissions({
          owner: { check: {}, columns: "*" },
          types: {
            check: {},
            set: { stats: { a: [1, "b"] }, country: "x'); drop table artist; --", born: "2020-02-29" },
          },
        }),
      }),
      table("album", {
        object_relationships: [object("artist", "artist_id")],
        select_permissions: permissions({
          owner: fullPermission,
          fixed: fullPermission,
          closed: fullPermission,
          checked: fullPermission,
          types: fullPermission,
        }),
        insert_permissions: permissions({
          owner: { check: {}, columns: ["id", "title", "artist_id", "price"], set: { artist_id: owner } },
          fixed: {
            check: {},
            columns: ["title"],
            set: { artist_id: 1, sold: 5, live: true, tags: ["a", 'b "c"', null], price: "12.50", title: "always" },
          },
          checked: { check: { artist_id: { _eq: 2 } }, columns: ["id", "title"], set: { artist_id: owner } },
          types: { check: {}, columns: ["id", "title"], set: { artist_id: 1 } },
        }),
        update_permissions: permissions({
          owner: { columns: ["title", "sold"], filter: {}, set: { artist_id: owner, sold: 9 } },
          fixed: { columns: [], filter: {}, set: { price: null } },
          checked: { columns: ["title"], filter: {}, check: { artist_id: { _eq: 2 } }, set: { artist_id: owner } },
        }),
      }),
      table("booking", {
        select_permissions: permissions({ owner: fullPermission }),
        insert_permissions: permissions({
          owner: { check: {}, set: { room_id: 1, period: "[20,30)", seats: 3, guest: owner } },
        }),
      }),
      table("badge_change", {
        select_permissions: permissions({ owner: fullPermission }),
        insert_permissions: permissions({ owner: { check: {}, columns: ["badge_id"], set: { at: "NOW()" } } }),
        update_permissions: permissions({ owner: { columns: ["badge_id"], filter: {}, set: { at: "now" } } }),
      }),
      table("team", {
        insert_permissions: permissions({
          owner: { check: {}, columns: ["name"], set: { name: "preset" } },
          sole: { check: {}, columns: [], set: { name: "preset" } },
        }),
        select_permissions: permissions({ owner: fullPermission, sole: fullPermission }),
      }),
    ]),
  }),
);
const buildHeaders = (artist: string, role = "owner") => asAdmin(role, { "artist-id": artist });
const mutate = (fields: string, headers: Record<string, unknown>) =>
  api.gql(`mutation { ${fields} }`, {}, headers as Record<string, string>);

test("G-PRE-1 presets are session variables and literals of every type", async () => {
  expect(await mutate('insert_album_one(object: {title: "x"}) { artist_id }', buildHeaders("2"))).toEqual({
    data: { insert_album_one: { artist_id: 2 } },
  });
  expect(
    await mutate("insert_album_one(object: {}) { artist_id sold live tags price title }", buildHeaders("2", "fixed")),
  ).toEqual({
    data: {
      insert_album_one: { artist_id: 1, sold: 5, live: true, tags: ["a", 'b "c"', null], price: 12.5, title: "always" },
    },
  });
  expect(
    await mutate('insert_artist_one(object: {name: "Typed"}) { country stats born }', buildHeaders("2", "types")),
  ).toEqual({
    data: { insert_artist_one: { country: "x'); drop table artist; --", stats: { a: [1, "b"] }, born: "2020-02-29" } },
  });
});

test("G-PRE-1 the database rejects an invalid preset, and the error does not show the statement", async () => {
  const answer = await mutate('insert_album_one(object: {title: "x"}) { id }', buildHeaders("two"));
  expect(answer.errors[0]).toMatchObject({
    message: 'invalid input syntax for type integer: "two"',
    extensions: { code: "data-exception" },
  });
});

test("G-PRE-1 the check of a domain applies to presets", async () => {
  const answer = await mutate("insert_booking_one(object: {}) { id }", buildHeaders("nobody"));
  expect(answer.errors[0].extensions.code).toBe("permission-error");
  expect(await mutate("insert_booking_one(object: {}) { guest seats period }", buildHeaders("a@b.example"))).toEqual({
    data: { insert_booking_one: { guest: "a@b.example", seats: 3, period: "[20,30)" } },
  });
});

test("G-PRE-1 a missing session variable of a preset is an error", async () => {
  expect(await mutate('insert_album_one(object: {title: "x"}) { id }', asAdmin("owner"))).toEqual({
    errors: [
      { message: 'missing session variable: "x-session-artist-id"', extensions: { path: "$", code: "not-found" } },
    ],
  });
});

test("G-PRE-1 NOW() is the time of each transaction", async () => {
  const changeTime = async (): Promise<string> =>
    (await mutate("insert_badge_change(objects: [{badge_id: 1}]) { returning { at } }", buildHeaders("1"))).data
      .insert_badge_change.returning[0].at;
  const clock = async (): Promise<string> =>
    (await api.sql<{ now: string }>("select clock_timestamp()::text as now"))[0]!.now;
  const isOrdered = async (...times: readonly string[]): Promise<boolean> =>
    (
      await api.sql<{ ordered: boolean }>(
        "select bool_and(t >= earlier) as ordered from (select t, lag(t) over (order by n) as earlier from unnest($1::timestamptz[]) with ordinality as all_(t, n)) s where earlier is not null",
        [times],
      )
    )[0]!.ordered;
  const before = await clock();
  const first = await changeTime();
  await until(async () => !(await isOrdered(await clock(), first)), "the database's clock has gone on");
  const timeBetween = await clock();
  const second = await changeTime();
  expect(await isOrdered(before, first, timeBetween, second)).toBe(true);
  expect(await isOrdered(timeBetween, first)).toBe(false);
});

test("G-PRE-2 preset columns are in no input, also if the permission lists them", async () => {
  const schema = await fetchSchema(api, "owner");
  expect(Object.keys(schema.members("album_insert_input"))).toEqual(["artist", "id", "price", "title"]);
  expect(Object.keys(schema.members("album_set_input"))).toEqual(["title"]);
  expect(schema.values("album_update_column")).toEqual(["title"]);
  expect(schema.has("album_inc_input")).toBe(false);
});

test("G-PRE-3 presets apply to every row, and to nested rows under any parent", async () => {
  const rows = await mutate(
    'insert_album(objects: [{title: "a"}, {title: "b"}]) { returning { artist_id } }',
    buildHeaders("3"),
  );
  expect(rows.data.insert_album.returning).toEqual([{ artist_id: 3 }, { artist_id: 3 }]);
  const nestedInsert = await mutate(
    'insert_artist_one(object: {name: "New", albums: {data: [{title: "a"}, {title: "b"}]}}) { id albums { id } }',
    buildHeaders("3"),
  );
  expect(nestedInsert.data.insert_artist_one.albums).toEqual([]); // the albums belong to artist 3
  const parent = await mutate(
    'insert_album_one(object: {title: "a", artist: {data: {name: "Other"}}}) { artist_id }',
    buildHeaders("3"),
  );
  expect(parent.data.insert_album_one).toEqual({ artist_id: 3 });
});

test("G-PRE-3 the check of a permission sees presets", async () => {
  expect(
    (await mutate('insert_album_one(object: {title: "a"}) { id }', buildHeaders("1", "checked"))).errors[0].message,
  ).toBe("check constraint of an insert/update permission has failed");
  expect(
    (await mutate('insert_album_one(object: {title: "a"}) { artist_id }', buildHeaders("2", "checked"))).data
      .insert_album_one,
  ).toEqual({ artist_id: 2 });
});

test("G-PRE-4 update presets apply in on_conflict too", async () => {
  expect(
    await mutate(
      'update_album(where: {id: {_eq: 1}}, _set: {title: "t"}) { returning { title artist_id sold } }',
      buildHeaders("2"),
    ),
  ).toEqual({ data: { update_album: { returning: [{ title: "t", artist_id: 2, sold: 9 }] } } });
  const upsert = (columns: string) =>
    mutate(
      `insert_album(objects: [{id: 4, title: "u"}], on_conflict: {constraint: album_pkey, update_columns: [${columns}]}) { affected_rows returning { title artist_id sold } }`,
      buildHeaders("2"),
    );
  expect(await upsert("title")).toEqual({
    data: { insert_album: { affected_rows: 1, returning: [{ title: "u", artist_id: 2, sold: 9 }] } },
  });
  expect(await upsert("")).toEqual({ data: { insert_album: { affected_rows: 0, returning: [] } } });
});

test("G-PRE-4 G-UPD-2 an update may consist of presets only", async () => {
  expect(
    await mutate(
      "update_album(where: {id: {_lt: 3}}) { affected_rows returning { price } }",
      buildHeaders("1", "fixed"),
    ),
  ).toEqual({ data: { update_album: { affected_rows: 2, returning: [{ price: null }, { price: null }] } } });
  expect(
    await mutate(
      "update_album_many(updates: [{where: {id: {_eq: 1}}}, {where: {id: {_eq: 99}}}]) { affected_rows }",
      buildHeaders("1", "fixed"),
    ),
  ).toEqual({ data: { update_album_many: [{ affected_rows: 1 }, { affected_rows: 0 }] } });
});

test("G-PRE-5 an input whose columns all have presets has a placeholder", async () => {
  const schema = await fetchSchema(api, "owner");
  expect(schema.members("team_insert_input")).toEqual({ _PLACEHOLDER: "String" });
  expect(await mutate("insert_team(objects: [{}, {}]) { returning { name } }", buildHeaders("1"))).toEqual({
    data: { insert_team: { returning: [{ name: "preset" }, { name: "preset" }] } },
  });
  expect(await mutate("insert_team(objects: [{}]) { affected_rows }", buildHeaders("1", "sole"))).toEqual({
    data: { insert_team: { affected_rows: 1 } },
  });
  expect(
    (await mutate('insert_team(objects: [{_PLACEHOLDER: "x"}]) { affected_rows }', buildHeaders("1"))).errors,
  ).toHaveLength(1);
});

test.skipIf(!capabilities.postgis)(
  "G-PRE-1 G-FIL-5 a preset may be geometry in GeoJSON, as a literal and in a session variable",
  async () => {
    const geoApi = await startApi(
      forGraphql({
        dbTxEnd: "rollback",
        dbSchemas: ["atlas"],
        dbExtraSearchPath: ["public", "gis"],
        metadata: buildMetadataDocument([
          table("atlas.spots", {
            select_permissions: permissions({ maker: fullPermission }),
            insert_permissions: permissions({
              maker: {
                check: { at: { _eq: "X-Session-Place" } },
                columns: ["id", "name"],
                set: {
                  at: "X-Session-Place",
                  track: {
                    type: "LineString",
                    coordinates: [
                      [0, 0],
                      [1, 1],
                    ],
                  },
                },
              },
            }),
          }),
        ]),
      }),
    );
    const answer = await geoApi.gql(
      'mutation { insert_atlas_spots_one(object: {id: 900, name: "x"}) { at track } }',
      {},
      asAdmin("maker", { place: '{"type":"Point","coordinates":[1,2]}' }),
    );
    expect(answer.errors).toBeUndefined();
    expect(answer.data.insert_atlas_spots_one).toMatchObject({
      at: { type: "Point", coordinates: [1, 2] },
      track: {
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      },
    });
  },
);
