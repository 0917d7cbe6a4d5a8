/** Scenarios of the plugins of `plus`, each with a statement written by hand for the same work. */
import type { RelApiOptions } from "../../core/index.ts";
import type { LoadRequest, Scenario } from "./data.ts";

/** Separate tables, so that the other scenarios stay unchanged. */
export const PLUS_SQL = `
create index on track (milliseconds, track_id);
create table place (place_id int primary key, name text not null, at point not null);
insert into place select i, 'Place ' || i, point(i % 200, i / 200) from generate_series(1, 20000) i;
create index on place using gist (at);
create table note (note_id int primary key, track_id int not null, body text not null, deleted_at timestamptz);
insert into note select i, 1 + i % 1000, 'Note ' || i, case when i % 3 = 0 then now() end from generate_series(1, 20000) i;
create index on note (track_id);
create schema public_history;
create table public_history.note (note_id int, track_id int, body text, valid_from timestamptz not null, valid_to timestamptz);
insert into public_history.note select i, 1 + i % 1000, 'Note ' || i || ' of ' || y, make_date(y, 1, 1), case when y < 2025 then make_date(y + 1, 1, 1) end
  from generate_series(1, 20000) i, generate_series(2022, 2025) y;
create index on public_history.note (track_id);
create table shelf (shelf_id int primary key, name text not null);
create table book (book_id int primary key, shelf_id int not null references shelf, title text not null);
insert into shelf select i, 'Shelf ' || i from generate_series(1, 1000) i;
insert into book select i, 1 + i % 1000, 'Book ' || i from generate_series(1, 5000) i;
create index on book (shelf_id);
analyze;
grant usage on schema public_history to bench_anon;
grant select on all tables in schema public, public_history to bench_anon;
grant update on shelf, book to bench_anon;
`;

export interface PlusScenario extends Scenario {
  /** Makes the request for a key. The handler written by hand receives the path of `rest`, with the key at its end. */
  readonly ask: (key: number) => LoadRequest;
  readonly options?: RelApiOptions;
}

const JSON_TYPE = { "content-type": "application/json" };

const graphql =
  (query: string) =>
  (id: number): LoadRequest => ({
    method: "POST",
    path: "/v1/graphql",
    headers: JSON_TYPE,
    body: JSON.stringify({ query, variables: { id } }),
  });

const scene = (
  name: string,
  keys: number,
  textSql: string,
  ask: PlusScenario["ask"],
  options?: RelApiOptions,
): PlusScenario => ({
  name: `plus: ${name}`,
  keys,
  textSql,
  rowsSql: textSql,
  rest: (key) => `/by-hand.${key}`,
  graphql: "",
  ask,
  ...(options && { options }),
});

const array = (rows: string): string => `(select coalesce(json_agg(t), '[]') from (${rows}) t)`;

const computeMilliseconds = (track: number): number => 180000 + ((track * 37) % 90000);

const encodeCursor = (key: number): string =>
  Buffer.from(
    JSON.stringify([2, "public", "track", "milliseconds", 0, String(computeMilliseconds(key)), String(key)]),
  ).toString("base64url");

export const PLUS_SCENARIOS: readonly PlusScenario[] = [
  scene(
    "batch of an insert and a read",
    10000,
    `with i as (insert into listening (track_id, listener, seconds) values ($1, 'Ann', 30) returning listening_id, track_id)
      select json_build_array((select json_agg(i) from i), ${array("select k.name from track k join i using (track_id)")})::text as body`,
    (key) => ({
      method: "POST",
      path: "/api/batch",
      headers: JSON_TYPE,
      body: JSON.stringify([
        {
          method: "POST",
          path: "/listening?select=listening_id,track_id",
          headers: { Prefer: "return=representation" },
          body: { track_id: key, listener: "Ann", seconds: 30 },
        },
        { path: "/track?select=name&track_id=eq.$1.track_id" },
      ]),
    }),
  ),
  scene(
    "group by",
    1000,
    `select json_build_object('track_group_by', ${array("select genre_id, json_build_object('count', count(*), 'max', json_build_object('milliseconds', max(milliseconds))) as aggregate from track where album_id >= $1 group by genre_id order by genre_id")})::text as body`,
    graphql(
      "query ($id: Int!) { track_group_by(by: [genre_id], where: {album_id: {_gte: $id}}, order_by: {genre_id: asc}) { genre_id aggregate { count max { milliseconds } } } }",
    ),
  ),
  scene(
    "nested update",
    1000,
    `with s as (update shelf set name = 'Shelf' where shelf_id = $1 returning shelf_id),
      b as (update book set title = 'Book' from s where book.shelf_id = s.shelf_id)
      select json_build_object('update_shelf_by_pk', (select row_to_json(s) from s))::text as body`,
    graphql(
      'mutation ($id: Int!) { update_shelf_by_pk(pk_columns: {shelf_id: $id}, _set: {name: "Shelf"}, _related: {books: {update: [{where: {}, _set: {title: "Book"}}]}}) { shelf_id } }',
    ),
  ),
  scene(
    "nearest",
    100,
    `select ${array("select place_id, name from place order by at <-> point($1, 50) limit 10")}::text as body`,
    (key) => ({ method: "GET", path: `/api/place?select=place_id,name&order=at.nearest("(${key},50)")&limit=10` }),
  ),
  scene(
    "keyset page",
    9000,
    `select ${array("select track_id, name, milliseconds from track where (milliseconds, track_id) > (180000 + $1 * 37 % 90000, $1) order by milliseconds, track_id limit 100")}::text as body`,
    (key) => ({
      method: "GET",
      path: `/api/track?select=track_id,name,milliseconds&order=milliseconds&limit=100&cursor=${encodeCursor(key)}`,
    }),
  ),
  scene(
    "connection page",
    9000,
    `with page as (select track_id, name from track where track_id > $1 order by track_id limit 101),
      shown as (select * from page order by track_id limit 100)
      select json_build_object('track_connection', json_build_object(
        'edges', ${array("select row_to_json(s) as node from shown s order by track_id")},
        'pageInfo', json_build_object('hasNextPage', (select count(*) > 100 from page), 'endCursor', (select max(track_id) from shown))))::text as body`,
    graphql(
      "query ($id: Int!) { track_connection(first: 100, where: {track_id: {_gt: $id}}) { edges { node { track_id name } } pageInfo { hasNextPage endCursor } } }",
    ),
  ),
  scene(
    "rows as of a time",
    1000,
    `select ${array("select note_id, body from public_history.note where track_id = $1 and valid_from <= '2024-05-01' and (valid_to is null or valid_to > '2024-05-01')")}::text as body`,
    (key) => ({
      method: "GET",
      path: `/api/note?select=note_id,body&track_id=eq.${key}`,
      headers: { prefer: "as-of=2024-05-01" },
    }),
  ),
  scene(
    "soft delete",
    1000,
    `select ${array("select note_id, body from note where track_id = $1 and deleted_at is null")}::text as body`,
    (key) => ({ method: "GET", path: `/api/note?select=note_id,body&track_id=eq.${key}` }),
    { softDeleteColumn: "deleted_at" },
  ),
  scene(
    "native query",
    1000,
    `select json_build_object('longest', ${array("select track_id, name from (select * from track where album_id = $1) q order by milliseconds desc limit 5")})::text as body`,
    graphql(
      "query ($id: Int!) { longest(args: {album: $id}, order_by: {milliseconds: desc}, limit: 5) { track_id name } }",
    ),
    {
      metadata: {
        version: 3,
        sources: [
          {
            name: "default",
            kind: "postgres",
            tables: [],
            native_queries: [
              {
                root_field_name: "longest",
                arguments: { album: { type: "integer", nullable: false } },
                code: "select track_id, name, milliseconds from track where album_id = {{album}}",
                returns: "long_track",
              },
            ],
            logical_models: [
              {
                name: "long_track",
                fields: ["track_id", "name", "milliseconds"].map((name) => ({
                  name,
                  type: name === "name" ? "text" : "integer",
                })),
                select_permissions: [{ role: "bench_anon", permission: { columns: "*", filter: {} } }],
              },
            ],
          },
        ],
      },
    },
  ),
];
