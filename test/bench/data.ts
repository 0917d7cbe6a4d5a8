/** SQL that makes Chinook-like data for the benchmark: artists, albums, tracks, genres. */
export const BENCH_SQL = `
create table genre (genre_id int primary key, name text not null);
create table artist (artist_id int primary key, name text not null);
create table album (album_id int primary key, title text not null, artist_id int not null references artist);
create table track (track_id int primary key, name text not null, album_id int not null references album, genre_id int references genre,
  composer text, milliseconds int not null, bytes bigint, unit_price numeric(10,2) not null);
insert into genre select i, 'Genre ' || i from generate_series(1, 25) i;
insert into artist select i, 'Artist ' || i from generate_series(1, 275) i;
insert into album select i, 'Album number ' || i, 1 + i * 7 % 275 from generate_series(1, 1000) i;
insert into track select i, 'Track number ' || i, 1 + i % 1000, 1 + i % 25, 'Composer ' || (i % 100), 180000 + i * 37 % 90000, i * 1031::bigint, 0.99
  from generate_series(1, 10000) i;
create table listening (listening_id bigint generated always as identity primary key, track_id int not null, listener text not null, seconds int not null,
  rating numeric(3,1), at timestamptz not null default now());
create index on album (artist_id);
create index on track (album_id);
create index on track (genre_id);
analyze;
grant usage on schema public to bench_anon;
grant select on all tables in schema public to bench_anon;
grant insert on listening to bench_anon;
`;

/** A request, and the same work written by hand. `$1` is the key, or the body. */
export interface Scenario {
  readonly name: string;
  /** The statement that returns one row as JSON text. */
  readonly textSql: string;
  /** The statement for res.json, whose rows pg parses. */
  readonly rowsSql: string;
  readonly rest: (key: number) => string;
  readonly graphql: string;
  readonly keys: number;
  /** The body, sent by POST, and to GraphQL as `$objects`. */
  readonly body?: string;
}

/** A request of the load generator. */
export interface LoadRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export const READS: readonly Scenario[] = [
  {
    name: "read by key",
    textSql:
      "select coalesce(json_agg(t), '[]')::text as body from (select track_id, name, album_id, composer, milliseconds, unit_price from track where track_id = $1) t",
    rowsSql: "select track_id, name, album_id, composer, milliseconds, unit_price from track where track_id = $1",
    rest: (key) => `/api/track?select=track_id,name,album_id,composer,milliseconds,unit_price&track_id=eq.${key}`,
    graphql:
      "query ($id: Int!) { track_by_pk(track_id: $id) { track_id name album_id composer milliseconds unit_price } }",
    keys: 10000,
  },
  {
    name: "two levels of embedding",
    textSql: `select coalesce(json_agg(t), '[]')::text as body from (select a.title, (select row_to_json(r) from (select name from artist where artist_id = a.artist_id) r) as artist,
      (select coalesce(json_agg(x), '[]') from (select k.name, (select row_to_json(g) from (select name from genre where genre_id = k.genre_id) g) as genre from track k where k.album_id = a.album_id) x) as tracks
      from album a where a.artist_id = $1) t`,
    rowsSql: `select a.title, (select row_to_json(r) from (select name from artist where artist_id = a.artist_id) r) as artist,
      (select coalesce(json_agg(x), '[]') from (select k.name, (select row_to_json(g) from (select name from genre where genre_id = k.genre_id) g) as genre from track k where k.album_id = a.album_id) x) as tracks
      from album a where a.artist_id = $1`,
    rest: (key) => `/api/album?select=title,artist(name),track(name,genre(name))&artist_id=eq.${key}`,
    graphql:
      "query ($id: Int!) { album(where: {artist_id: {_eq: $id}}) { title artist { name } tracks { name genre { name } } } }",
    keys: 275,
  },
];

const HUNDRED_ROWS = JSON.stringify(
  Array.from({ length: 100 }, (_, i) => ({
    track_id: 1 + i * 97,
    listener: `Listener ${i}`,
    seconds: 30 + i,
    rating: i % 5,
  })),
);

export const SCENARIOS: readonly Scenario[] = [
  ...READS,
  {
    name: "a megabyte of rows",
    textSql:
      "select coalesce(json_agg(t), '[]')::text as body from (select track_id, name, album_id, composer, milliseconds, unit_price from track where track_id > $1) t",
    rowsSql: "select track_id, name, album_id, composer, milliseconds, unit_price from track where track_id > $1",
    rest: (key) => `/api/track?select=track_id,name,album_id,composer,milliseconds,unit_price&track_id=gt.${key}`,
    graphql:
      "query ($id: Int!) { track(where: {track_id: {_gt: $id}}) { track_id name album_id composer milliseconds unit_price } }",
    keys: 50,
  },
  {
    name: "100 rows inserted",
    textSql:
      "insert into listening (track_id, listener, seconds, rating) select track_id, listener, seconds, rating from json_to_recordset($1::json) as x(track_id int, listener text, seconds int, rating numeric) ",
    rowsSql:
      "insert into listening (track_id, listener, seconds, rating) select track_id, listener, seconds, rating from json_to_recordset($1::json) as x(track_id int, listener text, seconds int, rating numeric) ",
    rest: () => "/api/listening",
    graphql:
      "mutation ($objects: [listening_insert_input!]!) { insert_listening(objects: $objects) { affected_rows } }",
    keys: 1,
    body: HUNDRED_ROWS,
  },
];
