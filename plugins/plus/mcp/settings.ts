/** Settings of the Model Context Protocol. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

const { flag, httpUrl, listOf, wholeNumber } = settingKinds;

export const mcpSettings = [
  defineSetting({
    name: "mcpWrites",
    environment: ["MCP_WRITES"],
    kind: flag,
    default: false,
    description:
      "`true`: the Model Context Protocol offers tools that write and that call volatile functions, within the rights of the caller's role",
  }),
  defineSetting({
    name: "mcpMaxRows",
    environment: ["MCP_MAX_ROWS"],
    kind: wholeNumber(1, 10_000),
    default: 100,
    description: "the maximum number of rows that a tool of the Model Context Protocol reads or writes",
  }),
  defineSetting({
    name: "mcpMaxBytes",
    environment: ["MCP_MAX_BYTES"],
    kind: wholeNumber(1000, 32 * 1024 * 1024),
    default: 256 * 1024,
    unit: "bytes",
    description:
      "the maximum size of a response to a tool of the Model Context Protocol; a larger one is rejected, because models pay for each token",
  }),
  defineSetting({
    name: "mcpTimeout",
    environment: ["MCP_TIMEOUT"],
    kind: wholeNumber(1, 3600),
    default: 10,
    unit: "seconds",
    description: "the time after which a tool of the Model Context Protocol fails, and its statement is cancelled",
  }),
  defineSetting({
    name: "mcpAllowedOrigins",
    environment: ["MCP_ALLOWED_ORIGINS"],
    kind: listOf("origins"),
    default: [],
    description:
      "the origins whose pages may use the Model Context Protocol, separated by commas, such as `http://localhost:6274`; requests from other pages are rejected, also if their host name resolves to this server",
    whenUnset: "only programs that are not web pages may use it",
  }),
  defineSetting({
    name: "mcpAuthorizationServers",
    environment: ["MCP_AUTHORIZATION_SERVERS"],
    kind: listOf("URLs"),
    default: [],
    description:
      "the issuers of the tokens that the Model Context Protocol accepts, separated by commas, such as `https://login.example.com`; clients read them from OAuth's metadata of the resource",
    whenUnset: "there is no such metadata",
    isFixed: true,
  }),
  defineSetting({
    name: "mcpResourceUrl",
    environment: ["MCP_RESOURCE_URL"],
    kind: httpUrl,
    description:
      "the public URL of the Model Context Protocol, such as `https://api.example.com/mcp`, which is the resource that OAuth's metadata describes",
    whenUnset: "there is no such metadata",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof mcpSettings> {}
}
