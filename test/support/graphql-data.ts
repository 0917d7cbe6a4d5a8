/** Reads the data of GraphQL responses. */
import { expect } from "vitest";
import type { HeaderValues, TestApi } from "./api.ts";

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
