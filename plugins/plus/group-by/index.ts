/** Groups of rows, with conditions on what aggregates make of each, on both surfaces. */
export { graphqlGroupBy } from "./graphql.ts";
export { restHaving } from "./rest.ts";
