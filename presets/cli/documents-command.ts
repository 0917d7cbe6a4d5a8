/** `relapi openapi` and `relapi schema`: print the description of each surface for a role. */
import { buildClientSchema, getIntrospectionQuery, printSchema } from "graphql";
import {
  buildSuggestion,
  presetError,
  resolveOptions,
  collectSettings,
  type Caller,
  type Model,
  type RelApiOptions,
} from "../../core/index.ts";
import { getRestPrefixes } from "../../plugins/rest/syntax/resolve-target.ts";
import type { EnvironmentSettings } from "../server/environment.ts";
import { fullCompat } from "../full-compat.ts";
import { withApi } from "./open-api.ts";

const isKnownRole = (model: Model, role: string): boolean =>
  model.roles.has(role) || [...(model.loginRoles?.values() ?? [])].some((roles) => roles.has(role));

/** Builds the caller of a role. @throws RelApiError `preset` for an unknown role */
export const buildCaller = (model: Model, role: string): Caller => {
  if (!isKnownRole(model, role)) {
    throw presetError(`there is no role "${role}"${buildSuggestion(role, model.roles.keys())}`);
  }
  return { role };
};

/** Finds the path of the REST root: the first of `restPrefixes`, without a slash at the end. @rule R-PATH-1 */
const findRestPath = (options: RelApiOptions): string =>
  getRestPrefixes(resolveOptions(options, collectSettings(fullCompat(options))))[0] ?? "";

const ADMIN: Caller = { role: "admin", isAdmin: true };

/** Prints the OpenAPI document. Without a role, the document describes all exposed objects. @rule C-DOC-1 */
export const printOpenapi = ({ options, server }: EnvironmentSettings, role?: string): Promise<string> => {
  const documentOptions: RelApiOptions = {
    // Without a request there is no socket whose address the document could contain.
    openapiServerProxyUri: `http://${server.host ?? "localhost"}:${server.port}${findRestPath(options)}`,
    ...options,
    ...(role === undefined ? { openapiMode: "ignore-privileges" } : {}),
  };
  return withApi({ options: documentOptions, server }, async ({ api, model }) => {
    const session = buildCaller(model, role ?? model.loginRole);
    const { body } = await api.rest({ path: "/", headers: { accept: "application/openapi+json" }, session });
    return `${JSON.stringify(JSON.parse(String(body)), null, 2)}\n`;
  });
};

/** Prints the GraphQL schema of the role. Without a role, the administrator's schema is printed. @rule C-DOC-2 */
export const printGraphqlSchema = (settings: EnvironmentSettings, role?: string): Promise<string> =>
  withApi(settings, async ({ api, model }) => {
    const session = role === undefined ? ADMIN : buildCaller(model, role);
    const { data, errors } = await api.graphql({ query: getIntrospectionQuery(), session });
    if (data === undefined) throw presetError(errors?.[0]?.message ?? "no schema");
    return `${printSchema(buildClientSchema(data))}\n`;
  });
