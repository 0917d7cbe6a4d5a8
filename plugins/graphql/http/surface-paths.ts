/** The path that clients use. The set also has the path of older clients, whose errors have statuses, and the path
 *  beside REST. */
export const PATH = "/v1/graphql";
export const PATHS: ReadonlySet<string> = new Set([PATH, "/v1alpha1/graphql", "/api/graphql"]);
