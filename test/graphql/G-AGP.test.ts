import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const studios = (rule: string, predicate: string, ...names: string[]) => ({
  title: `${rule} the predicate ${predicate} selects its rows`,
  query: `{ studio(where: {takes_aggregate: ${predicate}}, order_by: {id: asc}) { name } }`,
  data: { studio: names.map((name) => ({ name })) },
});
const rejectionCase = (rule: string, predicate: string, message: string, path = "") => ({
  title: `${rule} the predicate ${predicate} is rejected`,
  query: `{ studio(where: {takes_aggregate: ${predicate}}) { name } }`,
  error: { message, path: `$.selectionSet.studio.args.where.takes_aggregate${path}`, code: "validation-failed" },
});

gqlCases(api, [
  studios("G-AGP-1", "{count: {predicate: {_gt: 1}}}", "North", "South"),
  studios("G-AGP-1", "{count: {predicate: {_gt: 1, _lt: 2}}}"),
  studios("G-AGP-2", "{bool_and: {arguments: kept, predicate: {_eq: true}}}", "North"),
  studios("G-AGP-2", "{bool_or: {arguments: kept, predicate: {_eq: true}}}", "North", "South"),
  studios("G-AGP-2", "{avg: {arguments: length, predicate: {_gt: 100}}}", "North"),
  studios("G-AGP-2", "{max: {arguments: tempo, predicate: {_lte: 90}}}", "South"),
  studios("G-AGP-2", "{min: {arguments: length, predicate: {_eq: 50}}}", "South"),
  studios("G-AGP-2", "{sum: {arguments: length, predicate: {_eq: 300}}}", "North"),
  studios("G-AGP-2", "{stddev_samp: {arguments: length, predicate: {_lt: 20}}}", "South"),
  studios("G-AGP-2", "{var_samp: {arguments: length, predicate: {_gt: 1000}}}", "North"),
  studios("G-AGP-2", "{corr: {arguments: {X: length, Y: tempo}, predicate: {_gt: 0.99}}}", "North"),
  studios("G-AGP-2", "{covar_samp: {arguments: {X: length, Y: tempo}, predicate: {_lt: 0}}}", "South"),
  studios("G-AGP-3", "{count: {arguments: [kept], distinct: true, predicate: {_eq: 1}}}", "North"),
  studios("G-AGP-3", "{count: {filter: {kept: {_eq: true}}, predicate: {_eq: 1}}}", "South"),
  studios("G-AGP-3", "{count: {arguments: [], predicate: {_eq: 2}}}", "North", "South"),
  studios("G-AGP-3", "{sum: {arguments: tempo, filter: {length: {_gte: 100}}, predicate: {_eq: 180}}}", "North"),
  rejectionCase("G-AGP-4", "{}", "exactly one predicate should be specified"),
  rejectionCase(
    "G-AGP-4",
    "{count: {predicate: {_eq: 1}}, bool_or: {arguments: kept, predicate: {_eq: true}}}",
    "exactly one predicate should be specified",
  ),
  studios("G-AGP-5", "{count: {predicate: {_eq: 0}}}", "Silent"),
  studios("G-AGP-5", "{bool_and: {arguments: kept, predicate: {_is_null: true}}}", "Silent"),
  {
    title: "G-AGP-6 only rows that the role may see are counted",
    query: "{ artist(where: {albums_aggregate: {count: {predicate: {_gt: 0}}}}) { name } }",
    role: "music_artist",
    session: { "artist-id": "3" },
    data: { artist: [{ name: "Can" }] },
  },
  rejectionCase("G-AGP-7", "{count: {distinct: true}}", "missing required field 'predicate'", ".count.predicate"),
  rejectionCase(
    "G-AGP-7",
    "{bool_and: {predicate: {_eq: true}}}",
    "missing required field 'arguments'",
    ".bool_and.arguments",
  ),
  rejectionCase(
    "G-AGP-7",
    "{count: {predicate: null}}",
    "expected an object for type 'Int_comparison_exp', but found null",
    ".count.predicate",
  ),
  rejectionCase(
    "G-AGP-7",
    "{count: {distinct: null, predicate: {_eq: 1}}}",
    "expected a boolean for type 'Boolean', but found null",
    ".count.distinct",
  ),
  rejectionCase(
    "G-AGP-7",
    "{count: {filter: null, predicate: {_eq: 1}}}",
    "expected an object for type 'take_bool_exp', but found null",
    ".count.filter",
  ),
  rejectionCase(
    "G-AGP-7",
    "{count: {arguments: null, predicate: {_eq: 1}}}",
    "expected a list, but found null",
    ".count.arguments",
  ),
]);
