import { GraphQLNonNull, GraphQLString } from "graphql";
import { definePlugin } from "../../core/index.ts";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";
import type { GqlFieldContext, GqlFields } from "../../plugins/graphql/api.ts";

/** `{ artist { stat(key: "members") } }`: one member of `stats` as text. */
const statField = definePlugin({
  name: "stat-field",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    hooks.buildGqlField.tap("stat-field", (fields: GqlFields, context: GqlFieldContext): GqlFields => {
      if (context.scope !== "row" || context.relation?.name !== "artist") return fields;
      return {
        ...fields,
        stat: {
          config: { type: GraphQLString, args: { key: { type: new GraphQLNonNull(GraphQLString) } } },
          toPlan: {
            kind: "custom",
            output: ({ as, arguments: args }, { bind, relation }) => ({
              kind: "value",
              as,
              value: {
                kind: "column",
                name: relation?.name === "artist" ? "stats" : "?",
                path: [{ arrow: "->>", key: bind(String(args["key"])) }],
              },
            }),
          },
        },
      };
    }),
});

const api = await gqlApi({ parts: [statField] });

gqlCases(api, [
  {
    title: "G-GEN-4 a plugin adds a field of a row with arguments",
    query:
      'query ($k: String!) { artist_by_pk(id: 1) { stat(key: "members") other: stat(key: $k) albums(limit: 1, order_by: {id: asc}) { artist { stat(key: $k) } } } }',
    variables: { k: "genres" },
    data: {
      artist_by_pk: { stat: "4", other: '["pop", "disco"]', albums: [{ artist: { stat: '["pop", "disco"]' } }] },
    },
  },
  {
    title: "G-DOC-7 a missing argument of the field is rejected",
    query: "{ artist { stat } }",
    error: { message: "missing required field 'key'", path: "$.selectionSet.artist.selectionSet.stat.args.key" },
  },
  {
    title: "G-COE-4 values of the field's arguments are checked",
    query: "{ artist { stat(key: 3) } }",
    error: {
      message: "expected a string for type 'String', but found an integer",
      path: "$.selectionSet.artist.selectionSet.stat.args.key",
    },
  },
  {
    title: "G-DOC-6 a selection on the field is rejected",
    query: '{ artist { stat(key: "a") { b } } }',
    error: {
      message: "unexpected subselection set for non-object field",
      path: "$.selectionSet.artist.selectionSet.stat",
    },
  },
  {
    title: "G-VAR-6 variables of the field's arguments are checked",
    query: "query ($k: Int!) { artist { stat(key: $k) } }",
    variables: { k: 1 },
    error: {
      message: "variable 'k' is declared as 'Int!', but used where 'String!' is expected",
      path: "$.selectionSet.artist.selectionSet.stat.args.key",
    },
  },
]);

gqlCases(await gqlApi(), [
  {
    title: "G-GEN-4 without the plugin the field is unknown",
    query: '{ artist { stat(key: "a") } }',
    error: { message: "field 'stat' not found in type: 'artist'", path: "$.selectionSet.artist.selectionSet.stat" },
  },
]);
