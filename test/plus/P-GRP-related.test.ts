/** Groups by columns of related rows. */
import { describe, expect, test } from "vitest";
import { plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { buildMetadataDocument, object, permissions, table } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";

const aggregatePermission = { columns: "*", filter: {}, allow_aggregations: true };
const api = await startApi(forGraphql({ preset: plus, dbSchemas: ["shelf"] }));
await api.sql(`
  create schema shelf;
  create domain shelf.tag as int;
  create function shelf.json(shelf.tag) returns json language sql immutable as $$ select to_json('T' || $1) $$;
  create cast (shelf.tag as json) with function shelf.json(shelf.tag) as implicit;
  create table shelf.country (id int primary key, name text, tag shelf.tag);
  create table shelf.artist (id int primary key, name text, born date, fee numeric, country_id int references shelf.country (id));
  create table shelf.album (id int primary key, live boolean not null, sold int, artist_id int references shelf.artist (id));
  create view shelf.listed as select * from shelf.album;
  insert into shelf.country values (1, 'Norway', 7), (2, 'Chile', 8);
  insert into shelf.artist values
    (1, 'Ana', '1960-02-03', 1.50, 1), (2, 'Bo', '1960-11-30', 2.50, 2), (3, 'Ana', '1971-05-05', 1.50, 1), (4, null, null, null, null);
  insert into shelf.album values
    (1, true, 10, 1), (2, false, 3, 1), (3, true, 7, 2), (4, true, 2, 3), (5, false, 4, 4), (6, false, 5, null);
`);
await api.reload();

const groups = async (query: string, variables = {}): Promise<any> => {
  const { data, errors } = await api.gql(query, variables);
  return errors ?? data.shelf_album_group_by;
};

describe("P-GRP-7", () => {
  test("P-GRP-7 rows are grouped by a column of a related row", async () => {
    const { data } =
      await api.gql(`{ shelf_album_group_by(by_related: {artist: {by: [name]}}, order_by: {artist: {name: asc}}) {
      artist { name __typename } aggregate { count sum { sold } } } }`);
    const artist = (name: string | null) => ({ name, __typename: "shelf_artist_group_key" });
    expect(data.shelf_album_group_by).toEqual([
      { artist: artist("Ana"), aggregate: { count: 3, sum: { sold: 15 } } },
      { artist: artist("Bo"), aggregate: { count: 1, sum: { sold: 7 } } },
      { artist: artist(null), aggregate: { count: 2, sum: { sold: 9 } } },
    ]);
  });

  test("P-GRP-7 rows are grouped along several relationships, with own columns, where, having and pages", async () => {
    const text = `query($related: shelf_album_group_relationships, $least: Int) { shelf_album_group_by(
        by: [live], by_related: $related, where: {sold: {_gt: 2}}, having: {count: {_gte: $least}}, limit: 2, offset: 1,
        order_by: [{artist: {country: {name: desc_nulls_last}}}, {live: asc}]
      ) { live a: artist { c: country { name tag } } aggregate { count } } }`;
    const relatedKeys = { artist: { country: { by: ["name", "tag"] } } };
    expect(await groups(text, { related: { artist: { by_related: relatedKeys.artist } }, least: 1 })).toEqual([
      { live: true, a: { c: { name: "Norway", tag: "T7" } }, aggregate: { count: 1 } },
      { live: true, a: { c: { name: "Chile", tag: "T8" } }, aggregate: { count: 1 } },
    ]);
    expect(await groups(text, { related: { artist: { by_related: relatedKeys.artist } }, least: 2 })).toEqual([]);
    expect(await groups(text, { related: null, least: 2 })).toMatchObject([
      { extensions: { code: "validation-failed" } },
    ]);
  });

  test("P-GRP-7 keys that are not selected apply, and numbers and times have the format of rows", async () => {
    expect(
      await groups(`{ shelf_album_group_by(by_related: {artist: {by: [id, fee]}}, order_by: {artist: {id: asc}}, limit: 3) {
        artist { fee } aggregate { count } } }`),
    ).toEqual([
      { artist: { fee: 1.5 }, aggregate: { count: 2 } },
      { artist: { fee: 2.5 }, aggregate: { count: 1 } },
      { artist: { fee: 1.5 }, aggregate: { count: 1 } },
    ]);
  });

  test("P-GRP-6 P-GRP-7 the argument period applies to times of related rows", async () => {
    expect(
      await groups(`{ shelf_album_group_by(by_related: {artist: {by: [born]}}, period: year, order_by: {artist: {born: asc}}) {
        artist { born } aggregate { count } } }`),
    ).toEqual([
      { artist: { born: "1960-01-01" }, aggregate: { count: 3 } },
      { artist: { born: "1971-01-01" }, aggregate: { count: 1 } },
      { artist: { born: null }, aggregate: { count: 2 } },
    ]);
  });

  test("P-GRP-5 P-GRP-7 groups by related rows work in an array relationship", async () => {
    const { data } = await api.gql(`{ shelf_country(order_by: {id: asc}) { name artists {
      albums_group_by(by_related: {artist: {by_related: {country: {by: [name]}}}}) { artist { country { name } } aggregate { count } }
    } } }`);
    const buildGroup = (name: string, count: number) => ({
      albums_group_by: [{ artist: { country: { name } }, aggregate: { count } }],
    });
    expect(data.shelf_country).toEqual([
      { name: "Norway", artists: [buildGroup("Norway", 2), buildGroup("Norway", 1)] },
      { name: "Chile", artists: [buildGroup("Chile", 1)] },
    ]);
  });

  test("P-GRP-2 P-GRP-7 columns of related rows that are not keys are rejected with their position", async () => {
    const buildGqlErrors = (message: string, place: string) => [
      { message, extensions: { path: `$.selectionSet.shelf_album_group_by.${place}`, code: "validation-failed" } },
    ];
    const messageFor = (name: string) => `the column "${name}" is not among those of "by_related"`;
    expect(await groups("{ shelf_album_group_by(by_related: {artist: {by: [id]}}) { artist { name } } }")).toEqual(
      buildGqlErrors(messageFor("artist.name"), "selectionSet.artist.selectionSet.name"),
    );
    expect(await groups("{ shelf_album_group_by(by: [id], order_by: {artist: {country: {id: asc}}}) { id } }")).toEqual(
      buildGqlErrors(messageFor("artist.country.id"), "args.order_by"),
    );
    expect(await groups("{ shelf_album_group_by(by_related: {artist: {by: []}}) { __typename } }")).toEqual(
      buildGqlErrors('"by" names no column', "args.by"),
    );
    expect(await groups("{ shelf_album_group_by { __typename } }")).toEqual(
      buildGqlErrors('"by" names no column', "args.by"),
    );
    expect(
      (await groups("{ shelf_album_group_by(by_related: {artists: {by: [id]}}) { __typename } }"))[0].message,
    ).toBe("field 'artists' not found in type: 'shelf_album_group_relationships'");
  });

  test("P-GRP-7 permissions of the related table apply: a hidden row is null, and a hidden column is not a key", async () => {
    const permissionsApi = await startApi(
      forGraphql({
        preset: plus,
        dbSchemas: ["shelf"],
        metadata: buildMetadataDocument([
          table("shelf.album", {
            object_relationships: [object("artist", "artist_id")],
            select_permissions: permissions({ fan: aggregatePermission, blind: aggregatePermission }),
          }),
          table("shelf.artist", {
            select_permissions: permissions({
              fan: { columns: ["name", "id"], filter: { name: { _eq: "X-Session-User-Id" } } },
            }),
          }),
        ]),
      }),
    );
    const text = `query { shelf_album_group_by(by_related: {artist: {by: [name, id]}}, order_by: {artist: {id: asc}}) {
      artist { id name } aggregate { count } } }`;
    const askAs = async (role: string, user: string, query = text) =>
      permissionsApi.gql(query, {}, { ...asAdmin(role), "x-session-user-id": user });
    const { data } = await askAs("fan", "Ana");
    expect(data.shelf_album_group_by).toEqual([
      { artist: { id: 1, name: "Ana" }, aggregate: { count: 2 } },
      { artist: { id: 3, name: "Ana" }, aggregate: { count: 1 } },
      { artist: { id: null, name: null }, aggregate: { count: 3 } },
    ]);
    expect((await askAs("fan", "Bo")).data.shelf_album_group_by).toEqual([
      { artist: { id: 2, name: "Bo" }, aggregate: { count: 1 } },
      { artist: { id: null, name: null }, aggregate: { count: 5 } },
    ]);
    const hiddenKeyQuery = "{ shelf_album_group_by(by_related: {artist: {by: [born]}}) { aggregate { count } } }";
    expect((await askAs("fan", "Ana", hiddenKeyQuery)).errors[0].extensions.code).toBe("validation-failed");
    expect((await askAs("blind", "Ana")).errors[0].message).toContain("by_related");
  });

  test("P-GRP-7 live queries can group by related rows", async () => {
    const socket = await openSocket(api);
    await socket.init();
    const query = `subscription { shelf_album_group_by(by_related: {artist: {by: [name]}},
      order_by: {artist: {name: asc}}, limit: 1) { artist { name } aggregate { count } } }`;
    socket.send({ id: "1", type: "subscribe", payload: { query } });
    const shows = (name: string, count: number) => (message: any) =>
      JSON.stringify(message.payload?.data?.shelf_album_group_by) ===
      JSON.stringify([{ artist: { name }, aggregate: { count } }]);
    await socket.next(shows("Ana", 3));
    await api.sql("update shelf.artist set name = 'Aa' where id = 3");
    await socket.next(shows("Aa", 1));
    await api.sql("update shelf.artist set name = 'Ana' where id = 3");
    await socket.close();
  });

  test("P-GRP-7 a table without object relationships has no argument by_related", async () => {
    const { data } = await api.gql(`{ __type(name: "query_root") { fields { name args { name type { kind } } } } }`);
    const listArguments = (name: string) =>
      data.__type.fields
        .find((field: { readonly name: string }) => field.name === name)
        .args.filter(({ name: argumentName }: { readonly name: string }) => argumentName.startsWith("by"));
    expect(listArguments("shelf_country_group_by")).toEqual([{ name: "by", type: { kind: "NON_NULL" } }]);
    expect(listArguments("shelf_album_group_by")).toEqual([
      { name: "by", type: { kind: "LIST" } },
      { name: "by_related", type: { kind: "INPUT_OBJECT" } },
    ]);
  });
});
