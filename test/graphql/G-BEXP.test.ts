import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const where = (condition: string, fields = "id", table = "album") =>
  `{ ${table}(where: ${condition}, order_by: {id: asc}) { ${fields} } }`;
const ids = (...list: number[]) => ({ album: list.map((id) => ({ id })) });
const at = (path: string) => `$.selectionSet.album.args.where${path}`;

gqlCases(api, [
  {
    title: "G-BEXP-1 fields of an object are combined with AND",
    query: where("{live: {_eq: true}, price: {_gt: 10}}"),
    data: ids(1, 4),
  },
  { title: "G-BEXP-1 an empty object is true", query: where("{}"), data: ids(1, 2, 3, 4, 5) },
  {
    title: "G-BEXP-1 several operators in a comparison are combined with AND",
    query: where("{id: {_gt: 1, _lt: 4}}"),
    data: ids(2, 3),
  },
  { title: "G-BEXP-1 an empty comparison is true", query: where("{price: {}}"), data: ids(1, 2, 3, 4, 5) },
  { title: "G-BEXP-2 an empty _and is true", query: where("{_and: []}"), data: ids(1, 2, 3, 4, 5) },
  { title: "G-BEXP-2 an empty _or is false", query: where("{_or: []}"), data: ids() },
  { title: "G-BEXP-2 _not of an empty object is false", query: where("{_not: {}}"), data: ids() },
  {
    title: "G-BEXP-2 a single object is a list of one",
    query: where("{_and: {id: {_eq: 1}}, _or: {id: {_lt: 3}}}"),
    data: ids(1),
  },
  {
    title: "G-BEXP-2 _or is true if one of its objects is true",
    query: where('{_or: [{id: {_eq: 1}}, {title: {_eq: "Debut"}}]}'),
    data: ids(1, 3),
  },
  { title: "G-BEXP-2 _not negates its object", query: where("{_not: {id: {_in: [1, 2]}}}"), data: ids(3, 4, 5) },
  {
    title: "G-BEXP-3 an object relationship is followed",
    query: where('{artist: {name: {_eq: "Abba"}}}'),
    data: ids(1, 2),
  },
  {
    title: "G-BEXP-3 an array relationship is true if some related row matches",
    query: where("{albums: {price: {_gt: 15}}}", "name", "artist"),
    data: { artist: [{ name: "Abba" }, { name: "Can" }] },
  },
  {
    title: "G-BEXP-3 an empty object means at least one related row",
    query: where("{albums: {}}", "name", "artist"),
    data: { artist: [{ name: "Abba" }, { name: "Bjork" }, { name: "Can" }] },
  },
  {
    title: "G-BEXP-3 _not of an empty object means no related row",
    query: where("{_not: {albums: {}}}", "name", "artist"),
    data: { artist: [{ name: "Dusk" }] },
  },
  {
    title: "G-BEXP-3 only related rows that the role may see count",
    query: "{ artist(where: {albums: {}}) { name } }",
    role: "music_artist",
    session: { "artist-id": "2" },
    data: { artist: [{ name: "Bjork" }] },
  },
  {
    title: "G-BEXP-4 an unknown operator is rejected",
    query: where("{id: {_almost: 3}}"),
    error: {
      message: "field '_almost' not found in type: 'Int_comparison_exp'",
      path: at(".id._almost"),
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-4 an unknown column is rejected",
    query: where("{price: {_gt: 1}, colour: {_eq: 3}}"),
    error: {
      message: "field 'colour' not found in type: 'album_bool_exp'",
      path: at(".colour"),
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-4 an operator of another type is rejected",
    query: where('{id: {_like: "1%"}}'),
    error: {
      message: "field '_like' not found in type: 'Int_comparison_exp'",
      path: at(".id._like"),
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-4 an ill-typed operand is rejected",
    query: where("{title: {_eq: 3}}"),
    error: {
      message: "parsing Text failed, expected String, but encountered Number",
      path: at(".title._eq"),
      code: "parse-failed",
    },
  },
  {
    title: "G-BEXP-5 _and: null is rejected",
    query: where("{_and: null}"),
    error: { message: "expected a list, but found null", path: at("._and"), code: "validation-failed" },
  },
  {
    title: "G-BEXP-5 _not: null is rejected",
    query: where("{_not: null}"),
    error: {
      message: "expected an object for type 'album_bool_exp', but found null",
      path: at("._not"),
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-5 null at a relationship is rejected",
    query: where("{artist: null}"),
    error: {
      message: "expected an object for type 'artist_bool_exp', but found null",
      path: at(".artist"),
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-5 null at a column is rejected",
    query: where("{id: null}"),
    error: {
      message: "expected an object for type 'Int_comparison_exp', but found null",
      path: at(".id"),
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-5 _eq: null is rejected",
    query: where("{id: {_eq: null}}"),
    error: { message: "unexpected null value for type 'Int'", path: at(".id._eq"), code: "validation-failed" },
  },
  {
    title: "G-BEXP-5 _eq: null in a variable is rejected at a nullable column",
    query: "query ($p: numeric) { album(where: {price: {_eq: $p}}) { id } }",
    variables: { p: null },
    error: { message: "unexpected null value for type 'numeric'", path: at(".price._eq"), code: "validation-failed" },
  },
  {
    title: "G-BEXP-5 _is_null: null is rejected",
    query: where("{id: {_is_null: null}}"),
    error: {
      message: "expected a boolean for type 'Boolean', but found null",
      path: at(".id._is_null"),
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-5 _in: null is rejected",
    query: where("{id: {_in: null}}"),
    error: { message: "expected a list, but found null", path: at(".id._in"), code: "validation-failed" },
  },
  {
    title: "G-BEXP-5 _has_key: null is accepted and matches no row",
    query: where("{doc: {_has_key: null}}", "id", "profile"),
    data: { profile: [] },
  },
  {
    title: "G-BEXP-7 where of update_T is required",
    query: "mutation { update_album(_set: {sold: 1}) { affected_rows } }",
    error: {
      message: "missing required field 'where'",
      path: "$.selectionSet.update_album.args.where",
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-7 where: null of update_T is rejected",
    query: "mutation { update_album(where: null, _set: {sold: 1}) { affected_rows } }",
    error: {
      message: "expected an object for type 'album_bool_exp', but found null",
      path: "$.selectionSet.update_album.args.where",
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-7 where of delete_T is required",
    query: "mutation { delete_album { affected_rows } }",
    error: {
      message: "missing required field 'where'",
      path: "$.selectionSet.delete_album.args.where",
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-7 where: null of delete_T is rejected",
    query: "mutation { delete_album(where: null) { affected_rows } }",
    error: {
      message: "expected an object for type 'album_bool_exp', but found null",
      path: "$.selectionSet.delete_album.args.where",
      code: "validation-failed",
    },
  },
  {
    title: "G-BEXP-7 where: {} means all rows",
    query: "mutation { delete_album(where: {}) { affected_rows } }",
    data: { delete_album: { affected_rows: 5 } },
  },
]);

const collapsingApi = await gqlApi({ v1BooleanNullCollapse: true });

gqlCases(collapsingApi, [
  {
    title: "G-BEXP-6 with v1BooleanNullCollapse a null operator counts as not given",
    query: where("{id: {_eq: null, _lt: 3}}"),
    data: ids(1, 2),
  },
  {
    title: "G-BEXP-6 a null operator in a variable counts as not given",
    query: "query ($p: Int) { album(where: {id: {_eq: $p}}, order_by: {id: asc}) { id } }",
    variables: { p: null },
    data: ids(1, 2, 3, 4, 5),
  },
  {
    title: "G-BEXP-6 another value of the variable is used",
    query: "query ($p: Int) { album(where: {id: {_eq: $p}}, order_by: {id: asc}) { id } }",
    variables: { p: 2 },
    data: ids(2),
  },
]);
