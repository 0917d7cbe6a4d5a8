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
      "tools of the Model Context Protocol that write, and calls of volatile functions, as far as the caller's role may",
  }),
  defineSetting({
    name: "mcpMaxRows",
    environment: ["MCP_MAX_ROWS"],
    kind: wholeNumber(1, 10_000),
    default: 100,
    description: "rows that one tool of the Model Context Protocol reads or writes at most",
  }),
  defineSetting({
    name: "mcpMaxBytes",
    environment: ["MCP_MAX_BYTES"],
    kind: wholeNumber(1000, 32 * 1024 * 1024),
    default: 256 * 1024,
    description: "a larger answer to a tool of the Model Context Protocol is refused: models pay for each byte",
  }),
  defineSetting({
    name: "mcpTimeout",
    environment: ["MCP_TIMEOUT"],
    kind: wholeNumber(1, 3600),
    default: 10,
    unit: "seconds",
    description: "a tool of the Model Context Protocol that takes longer is given up, and its statement cancelled",
  }),
  defineSetting({
    name: "mcpAllowedOrigins",
    environment: ["MCP_ALLOWED_ORIGINS"],
    kind: listOf("origins"),
    default: [],
    description:
      "pages of these origins may use the Model Context Protocol, `http://localhost:6274`; a request of any other page is refused, also where its name leads to this server",
    whenUnset: "no page, only programs",
  }),
  defineSetting({
    name: "mcpAuthorizationServers",
    environment: ["MCP_AUTHORIZATION_SERVERS"],
    kind: listOf("URLs"),
    default: [],
    description:
      "issuers of the tokens that the Model Context Protocol takes: clients learn them from OAuth's metadata of the resource, `https://login.example.com`",
    whenUnset: "there is no such metadata",
  }),
  defineSetting({
    name: "mcpResourceUrl",
    environment: ["MCP_RESOURCE_URL"],
    kind: httpUrl,
    description:
      "where clients reach the Model Context Protocol, `https://api.example.com/mcp`: the resource that OAuth's metadata describes",
    whenUnset: "there is no such metadata",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof mcpSettings> {}
}
