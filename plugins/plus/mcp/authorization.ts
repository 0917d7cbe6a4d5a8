/** Names the authorization server that issues tokens to clients, in OAuth's metadata of a protected resource (RFC
 *  9728). @rule P-MCP-10 */
import { presetError, type Answer, type Exchange, type ResolvedOptions } from "../../../core/index.ts";

type Options = Pick<ResolvedOptions, "mcpAuthorizationServers" | "mcpResourceUrl">;

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** Returns the path that RFC 9728 derives from the resource's path, and the one without it. */
export const listMetadataPaths = (path: string): readonly string[] => [WELL_KNOWN + path, WELL_KNOWN];

/** Checks the options about authorization servers. @throws RelApiError `preset` */
export const checkAuthorization = ({ mcpAuthorizationServers, mcpResourceUrl }: Options, path: string): void => {
  if ((mcpAuthorizationServers.length === 0) !== (mcpResourceUrl === undefined))
    throw presetError("mcpAuthorizationServers and mcpResourceUrl need each other: set both, or none");
  if (mcpResourceUrl !== undefined && !new URL(mcpResourceUrl).pathname.endsWith(path))
    throw presetError(`mcpResourceUrl is "${mcpResourceUrl}": it has to end in ${path}`);
  for (const server of mcpAuthorizationServers)
    if (!URL.canParse(server)) throw presetError(`mcpAuthorizationServers names "${server}", which is not a URL`);
};

/** Quotes the value of a header parameter. */
const quoteHeaderParameter = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** Returns the challenge header of a 401: the reason of the rejection, and the URL of the metadata. `path` is the
 *  resource below the mount. */
export const buildChallenge = (
  { mcpResourceUrl }: Options,
  path: string,
  reason?: string,
): readonly [string, string] => {
  const parameters: string[] = [];
  if (mcpResourceUrl !== undefined) {
    const url = new URL(mcpResourceUrl);
    url.pathname = url.pathname.slice(0, -path.length) + WELL_KNOWN + path;
    parameters.push(`resource_metadata=${quoteHeaderParameter(url.href)}`);
  }
  if (reason !== undefined)
    parameters.push('error="invalid_token"', `error_description=${quoteHeaderParameter(reason)}`);
  return ["WWW-Authenticate", parameters.length === 0 ? "Bearer" : `Bearer ${parameters.join(", ")}`];
};

/** Returns the metadata document, which is public. Returns undefined if none is configured. */
export const describeResource = (
  { mcpAuthorizationServers, mcpResourceUrl }: Options,
  { method }: Pick<Exchange, "method">,
): Answer | undefined => {
  if (mcpResourceUrl === undefined) return undefined;
  const allowOrigin = ["Access-Control-Allow-Origin", "*"] as const;
  const allow = ["Allow", "GET, HEAD, OPTIONS"] as const;
  if (method === "OPTIONS") return { status: 204, headers: [allow, allowOrigin] };
  if (method !== "GET" && method !== "HEAD") return { status: 405, headers: [allow, allowOrigin] };
  const body = JSON.stringify({
    resource: mcpResourceUrl,
    authorization_servers: mcpAuthorizationServers,
    bearer_methods_supported: ["header"],
  });
  return {
    status: 200,
    headers: [["Content-Type", "application/json"], ["Cache-Control", "public, max-age=3600"], allowOrigin],
    body: method === "HEAD" ? undefined : body,
  };
};
