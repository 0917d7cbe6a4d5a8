/** The current path, the one of older clients, whose errors have statuses, and the one beside REST. */
export const PATH = "/v1/graphql";
export const PATHS: ReadonlySet<string> = new Set([PATH, "/v1alpha1/graphql", "/api/graphql"]);
