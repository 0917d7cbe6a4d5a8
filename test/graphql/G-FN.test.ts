import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const rows = (name: string, ...list: number[]) => ({ [name]: list.map((id) => ({ id })) });
const rejectionCase = (rule: string, call: string, message: string, code: string, path: string) => ({
  title: `${rule} the call ${call} is rejected`,
  query: `{ ${call} { id } }`,
  error: { message, code, path },
});

gqlCases(api, [
  {
    title: "G-FN-1 a function that returns rows of a table is a root field",
    query: '{ search_albums(args: {term: "ar"}) { id } }',
    data: rows("search_albums", 1),
  },
  {
    title: "G-FN-1 a function that returns rows of a view is a root field",
    query: "{ artist_totals_over(args: {minimum: 2}) { name albums } }",
    data: {
      artist_totals_over: [
        { name: "Abba", albums: 2 },
        { name: "Can", albums: 2 },
      ],
    },
  },
  ...[
    "scalar_answer",
    "json_answer",
    "void_answer",
    "table_answer",
    "variadic_albums",
    "out_albums",
    "overloaded_albums",
  ].map((name) => ({
    title: `G-FN-1 ${name} is not a root field`,
    query: `{ ${name} { id } }`,
    error: { message: `field '${name}' not found in type: 'query_root'`, code: "validation-failed" },
  })),
  {
    title: "G-FN-2 VOLATILE functions are mutations",
    query: 'mutation { add_artist(args: {name: "New", country: "NO"}) { name country } }',
    data: { add_artist: [{ name: "New", country: "NO" }] },
  },
  {
    title: "G-FN-2 VOLATILE functions are not queries",
    query: "{ volatile_albums { id } }",
    error: { message: "field 'volatile_albums' not found in type: 'query_root'" },
  },
  {
    title: "G-FN-2 STABLE functions are not mutations",
    query: "mutation { live_albums { id } }",
    error: { message: "field 'live_albums' not found in type: 'mutation_root'" },
  },
  {
    title: "G-FN-2 a mutation function sees earlier changes, and its relationships are read after it",
    query:
      'mutation { insert_album_one(object: {id: 50, title: "Fifty", artist_id: 4}) { id } sell_album(args: {album_id: 50}) { sold artist { name } } volatile_albums(where: {id: {_eq: 50}}) { sold } }',
    data: {
      insert_album_one: { id: 50 },
      sell_album: { sold: 1, artist: { name: "Dusk" } },
      volatile_albums: [{ sold: 1 }],
    },
  },
  {
    title: "G-FN-3 list arguments apply to the rows of a function",
    query:
      "{ filter_albums(where: {live: {_eq: true}}, order_by: {price: desc}, limit: 2, offset: 1, distinct_on: price) { id artist { name } } }",
    data: {
      filter_albums: [
        { id: 1, artist: { name: "Abba" } },
        { id: 3, artist: { name: "Bjork" } },
      ],
    },
  },
  {
    title: "G-FN-3 a function has an aggregate",
    query:
      '{ search_albums_aggregate(args: {term: "a"}, where: {live: {_eq: true}}) { aggregate { count sum { sold } } nodes { id } } }',
    data: { search_albums_aggregate: { aggregate: { count: 2, sum: { sold: 10 } }, nodes: [{ id: 1 }, { id: 4 }] } },
  },
  {
    title: "G-FN-3 a function of a single row returns an object",
    query: "{ first_album { id artist { name } } }",
    data: { first_album: { id: 1, artist: { name: "Abba" } } },
  },
  {
    title: "G-FN-3 a row of only nulls is null",
    query: "{ no_album { id } no_album_aggregate { aggregate { count } nodes { id } } }",
    data: { no_album: null, no_album_aggregate: { aggregate: { count: 0 }, nodes: [] } },
  },
  {
    title: "G-FN-3 mutation functions have no aggregate",
    query: "mutation { volatile_albums_aggregate { aggregate { count } } }",
    error: { message: "field 'volatile_albums_aggregate' not found in type: 'mutation_root'" },
  },
  {
    title: "G-FN-4 unnamed arguments have numbers",
    query: '{ unnamed_albums(args: {arg_1: 2, arg_2: "%t%"}) { id } }',
    data: rows("unnamed_albums", 2, 3, 5),
  },
  {
    title: "G-FN-4 unnamed arguments are numbered separately",
    query: '{ half_named_albums(args: {min_id: 2, arg_1: "D%"}) { id } }',
    data: rows("half_named_albums", 3),
  },
  {
    title: "G-FN-4 arguments have their types",
    query:
      '{ typed_people(args: {feeling: happy, contact: "x@y", home: "(Side,Town)", ids: "{3}"}, order_by: {id: asc}) { id } }',
    data: rows("typed_people", 1, 3),
  },
  {
    title: "G-FN-4 arguments are nullable",
    query: '{ typed_people(args: {feeling: null, contact: null, home: null, ids: "{2,null}"}) { id } }',
    data: rows("typed_people", 2),
  },
  {
    title: "G-FN-4 G-FN-4a arrays and domains are scalars of their own",
    query:
      "query ($ids: _int4, $contact: email) { typed_people(args: {feeling: null, contact: $contact, home: null, ids: $ids}) { id } }",
    variables: { ids: "{2}", contact: null },
    data: rows("typed_people", 2),
  },
  ...(
    [
      ["ids: [2]", "_int4", "ids"],
      ["contact: 5", "email", "contact"],
    ] as const
  ).map(([argument, type, name]) => ({
    title: `G-FN-4 G-FN-4a the argument ${argument} is rejected because it is not a string`,
    query: `{ typed_people(args: {${argument}}) { id } }`,
    error: {
      message: `A string is expected for type: ${type}`,
      code: "parse-failed",
      path: `$.selectionSet.typed_people.args.args.${name}`,
    },
  })),
  rejectionCase(
    "G-FN-4",
    "search_albums",
    "missing required field 'args'",
    "validation-failed",
    "$.selectionSet.search_albums.args.args",
  ),
  rejectionCase(
    "G-FN-4",
    "search_albums(args: null)",
    "expected an object for type 'search_albums_args', but found null",
    "validation-failed",
    "$.selectionSet.search_albums.args.args",
  ),
  {
    title: "G-FN-4 G-FN-4b the argument args is optional if all arguments have defaults",
    query: "{ filter_albums(order_by: {id: asc}) { id } }",
    data: rows("filter_albums", 1, 2, 3, 4),
  },
  rejectionCase(
    "G-FN-4",
    "live_albums(args: {})",
    "'live_albums' has no argument named 'args'",
    "validation-failed",
    "$.selectionSet.live_albums",
  ),
  {
    title: "G-FN-5 an omitted argument takes its default, and later ones are passed by name",
    query:
      '{ filter_albums(args: {max_price: 12.50}) { id } a: filter_albums(args: {min_price: 13, term: "W%"}) { id } }',
    data: { ...rows("filter_albums", 1, 3), ...rows("a", 2) },
  },
  {
    title: "G-FN-5 null as an argument passes NULL",
    query: "{ filter_albums(args: {max_price: null}) { id } }",
    data: rows("filter_albums"),
  },
  {
    title: "G-FN-5 arguments of a function may be variables",
    query:
      "query ($a: filter_albums_args, $t: String) { filter_albums(args: $a) { id } search_albums(args: {term: $t}) { id } }",
    variables: { a: { min_price: 20 }, t: "Debut" },
    data: { ...rows("filter_albums", 2, 4), ...rows("search_albums", 3) },
  },
  rejectionCase(
    "G-FN-5",
    "range_albums(args: {to_id: 3})",
    "Non default arguments cannot be omitted",
    "not-supported",
    "$.selectionSet.range_albums.args.args",
  ),
  rejectionCase(
    "G-FN-5",
    'half_named_albums(args: {arg_1: "D%"})',
    "Non default arguments cannot be omitted",
    "not-supported",
    "$.selectionSet.half_named_albums.args.args",
  ),
  {
    title: "G-FN-5 an unnamed argument may be omitted before a named one",
    query: "{ half_named_albums(args: {min_id: 2, max_id: 3}) { id } }",
    data: rows("half_named_albums", 2, 3),
  },
  {
    title: "G-FN-6 the session argument contains the session variables",
    query: "{ session_albums { id } }",
    session: { "artist-id": "3" },
    data: rows("session_albums", 4, 5),
  },
  {
    title: "G-FN-6 the session argument has both prefixes, also as jsonb",
    query: "{ session_notes(args: {note_id: 7}) { id note } }",
    session: { "User-Id": "9" },
    data: {
      session_notes: [
        {
          id: 7,
          note: '{"x-hasura-role": "admin", "x-session-role": "admin", "x-hasura-user-id": "9", "x-session-user-id": "9"}',
        },
      ],
    },
  },
  {
    title: "G-FN-6 the session argument is not an argument of the field",
    query: "{ session_notes(args: {note_id: 1, session_variables: {}}) { id } }",
    error: { message: "field 'session_variables' not found in type: 'session_notes_args'" },
  },
  {
    title: "G-FN-7 a function runs as the role of the caller",
    query: '{ search_albums(args: {term: ""}) { id } }',
    role: "music_artist",
    session: { "artist-id": "1" },
    data: rows("search_albums", 1, 2),
  },
  {
    title: "G-FN-7 a function without the grant EXECUTE is unknown",
    query: "{ editors_albums { id } }",
    role: "music_reader",
    error: { message: "field 'editors_albums' not found in type: 'query_root'" },
  },
  {
    title: "G-FN-7 a function's rows have the columns that the role may read",
    query: 'mutation { add_artist(args: {name: "x"}) { born } }',
    role: "music_reader",
    error: { message: "field 'born' not found in type: 'artist'" },
  },
]);

const halfApi = await gqlApi();
await halfApi.sql(
  "create function gap_albums(int default 1, int default 2, top int default 3) returns setof album language sql stable as 'select * from album where id in ($1, $2, $3) order by id'",
);
await halfApi.reload();

gqlCases(halfApi, [
  {
    title: "G-FN-5 G-FN-5a an unnamed argument after an omitted one is rejected",
    query: "{ gap_albums(args: {arg_2: 4}) { id } }",
    error: {
      message: "Only last set of positional arguments can be omitted",
      code: "not-supported",
      path: "$.selectionSet.gap_albums.args.args",
    },
  },
  {
    title: "G-FN-5 the last arguments may be omitted",
    query: "{ gap_albums(args: {arg_1: 5}) { id } }",
    data: rows("gap_albums", 2, 3, 5),
  },
  {
    title: "G-FN-5 a named argument may follow omitted ones",
    query: "{ gap_albums(args: {top: 5}) { id } }",
    data: rows("gap_albums", 1, 2, 5),
  },
]);
