/** Reads the settings of a caller in SQL, with the function `public.caller_settings`, which both surfaces call. */
import { expect } from "vitest";
import type { Answer, HeaderValues, TestApi } from "./api.ts";

/**
 * Settings by name, including `current_user` and the `pid` of the connection. A setting that was never set on this
 * connection is null.
 */
export type CallerSettings = Readonly<Record<string, string | null>>;

const NAMES = ["role", "session.variables", "session.role", "session.user_id", "hasura.user", "request.jwt.claims"];

/** Installs the function, once per file, and reloads the API. */
export const installCallerSettings = async (api: TestApi): Promise<void> => {
  await api.sql(`
    create table if not exists public.caller_setting (name text primary key, value text);
    grant select, insert on public.caller_setting to public;
    create or replace function public.caller_settings(more text default '') returns setof public.caller_setting language sql stable as $$
      select name, current_setting(name, true) from unnest('{${NAMES.join(",")}}'::text[] || string_to_array(nullif(more, ''), ',')) name
      union all select 'current_user', current_user::text union all select 'pid', pg_backend_pid()::text $$`);
  await api.reload();
};

const readRows = (rows: readonly { readonly name: string; readonly value: string | null }[]): CallerSettings =>
  Object.fromEntries(rows.map(({ name, value }) => [name, value]));

/** Calls the function over REST. `extraSettings` names additional settings. */
export const callRest = (
  api: TestApi,
  headers: HeaderValues = {},
  extraSettings: readonly string[] = [],
): Promise<Answer> => api.get(`/api/rpc/caller_settings?more=${extraSettings.join(",")}`, { headers });

export const callGraphql = (
  api: TestApi,
  headers: HeaderValues = {},
  extraSettings: readonly string[] = [],
  path = "/v1/graphql",
): Promise<Answer> =>
  api.post(path, {
    headers,
    body: {
      query: "query ($more: String) { caller_settings(args: {more: $more}) { name value } }",
      variables: { more: extraSettings.join(",") },
    },
  });

export const readRestSettings = (answer: Answer): CallerSettings => {
  expect(answer.status, answer.text).toBe(200);
  return readRows(answer.json());
};

export const readGraphqlSettings = (answer: Answer): CallerSettings => {
  const body = answer.json();
  expect(body, answer.text).toHaveProperty("data");
  return readRows(body.data.caller_settings);
};

/** The single error of a GraphQL response, in short form. */
export const gqlError = (
  answer: Answer,
): { readonly message: string; readonly code: string; readonly path: string } => {
  const body = answer.json();
  expect(body, answer.text).not.toHaveProperty("data");
  expect(body.errors, answer.text).toHaveLength(1);
  const { message, extensions } = body.errors[0];
  return { message, code: extensions.code, path: extensions.path };
};
