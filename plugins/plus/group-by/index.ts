/** Groups of rows, with conditions on their aggregates, on both surfaces. */
export { graphqlGroupBy } from "./graphql.ts";
export { restHaving } from "./rest.ts";
