/** Lists the directives of a schema for introspection. @rule G-INT-8 */
import { DirectiveLocation, GraphQLDirective } from "graphql";
import type { DirectiveTarget } from "../directives.ts";
import type { RoleSchema } from "../types/role-schema.ts";

const LOCATIONS: Readonly<Record<DirectiveTarget, DirectiveLocation>> = {
  "a query": DirectiveLocation.QUERY,
  "a mutation": DirectiveLocation.MUTATION,
  "a subscription": DirectiveLocation.SUBSCRIPTION,
  "a field": DirectiveLocation.FIELD,
  "a fragment spread": DirectiveLocation.FRAGMENT_SPREAD,
  "an inline fragment": DirectiveLocation.INLINE_FRAGMENT,
};

const sortByName = <Value>(record: Readonly<Record<string, Value>>): readonly (readonly [name: string, Value])[] =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

/** Returns the directives of the schema, sorted, including those of plugins. @rule G-INT-2 X-DIR-1 */
export const listDirectives = ({ directives }: RoleSchema): readonly GraphQLDirective[] =>
  sortByName(directives).flatMap(([name, { description, targets, arguments: declarations }]) => {
    if (description === undefined) return [];
    const locations = targets.map((target) => LOCATIONS[target]);
    return new GraphQLDirective({ name, description, locations, args: Object.fromEntries(sortByName(declarations)) });
  });
