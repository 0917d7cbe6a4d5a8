/** Reads the data and the schemas of GraphQL responses. */
import { buildClientSchema, getIntrospectionQuery, type GraphQLSchema } from "graphql";
import { expect } from "vitest";
import { asAdmin, type HeaderValues, type TestApi } from "./api.ts";

/** Sends an operation and returns its data. The response must have no errors. */
export const loadData = async (
  api: TestApi,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  headers?: HeaderValues,
): Promise<any> => {
  const { data, errors } = await api.gql(query, variables, headers);
  expect(errors).toBeUndefined();
  return data;
};

/** Introspects the schema of a role, by default of the administrator. */
export const introspect = async (api: TestApi, role?: string): Promise<GraphQLSchema> =>
  buildClientSchema(await loadData(api, getIntrospectionQuery(), {}, asAdmin(role)));
