import { forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";

/** An API on the GraphQL fixture in which every request is rolled back. */
export const gqlApi = (options: StartOptions = {}): Promise<TestApi> =>
  startApi(forGraphql({ dbTxEnd: "rollback", ...options }));
