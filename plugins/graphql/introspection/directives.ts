/** Lists the directives of a schema for introspection. @rule G-INT-8 */
import { DirectiveLocation, GraphQLBoolean, GraphQLDirective, GraphQLInt, GraphQLNonNull } from "graphql";
import type { RoleSchema } from "../role-schema.ts";

const { FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT, QUERY } = DirectiveLocation;
const SELECTION_LOCATIONS = [FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT];

/** The directives of the dialect. @rule G-INT-8 */
const DIRECTIVES: readonly GraphQLDirective[] = [
  new GraphQLDirective({
    name: "cached",
    description: "whether this query should be cached (Hasura Cloud only)",
    locations: [QUERY],
    args: {
      refresh: { type: new GraphQLNonNull(GraphQLBoolean), defaultValue: false },
      ttl: { type: new GraphQLNonNull(GraphQLInt), defaultValue: 60 },
    },
  }),
  new GraphQLDirective({
    name: "include",
    description: "whether this query should be included",
    locations: SELECTION_LOCATIONS,
    args: { if: { type: new GraphQLNonNull(GraphQLBoolean) } },
  }),
  new GraphQLDirective({
    name: "skip",
    description: "whether this query should be skipped",
    locations: SELECTION_LOCATIONS,
    args: { if: { type: new GraphQLNonNull(GraphQLBoolean) } },
  }),
];

const LOCATIONS = {
  query: QUERY,
  mutation: DirectiveLocation.MUTATION,
  subscription: DirectiveLocation.SUBSCRIPTION,
};

/** Returns the directives of the schema, sorted, including those of plugins. @rule G-INT-2 X-DIR-1 */
export const listDirectives = ({ directives }: RoleSchema): readonly GraphQLDirective[] => {
  const pluginDirectives = Object.values(directives).flatMap(({ pluginDirective }) =>
    pluginDirective === undefined
      ? []
      : new GraphQLDirective({
          name: pluginDirective.name,
          description: pluginDirective.description,
          locations: pluginDirective.on.map((operation) => LOCATIONS[operation]),
          args: Object.fromEntries(
            Object.entries(pluginDirective.arguments)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, defaultValue]) => [name, { type: new GraphQLNonNull(GraphQLBoolean), defaultValue }]),
          ),
        }),
  );
  return pluginDirectives.length === 0
    ? DIRECTIVES
    : [...DIRECTIVES, ...pluginDirectives].sort((a, b) => (a.name < b.name ? -1 : 1));
};
