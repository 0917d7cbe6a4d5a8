/**
 * Runs the protocol with its official SDK, which is loaded with the first request. Each request has its own server and
 * transport, so that no state is kept. @rule P-MCP-1
 */
import { importPackage, VERSION } from "../../../core/index.ts";
import { DATA_NOTICE } from "./results.ts";
import { describeTable, listVisible, takePage } from "./schema.ts";
import { callTool, listTools, computeMaxListBytes, type ToolCaller } from "./tools.ts";

const PACKAGE = "@modelcontextprotocol/sdk";

const INSTRUCTIONS = `Tools over a PostgreSQL database, with the rights of one role. Begin with list_tables and describe_table. ${DATA_NOTICE}`;

/** Imports a file of the package for the Model Context Protocol.
 *  @throws RelApiError whose message says which package to install */
const importSdk = (file: string): Promise<unknown> => importPackage(`${PACKAGE}/${file}`, "mcp", PACKAGE);

const loadSdk = async () => {
  const [{ Server }, { WebStandardStreamableHTTPServerTransport: Transport }, types, { AjvJsonSchemaValidator }] =
    await Promise.all([
      importSdk("server/index.js") as Promise<typeof import("@modelcontextprotocol/sdk/server/index.js")>,
      importSdk("server/webStandardStreamableHttp.js") as Promise<
        typeof import("@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js")
      >,
      importSdk("types.js") as Promise<typeof import("@modelcontextprotocol/sdk/types.js")>,
      importSdk("validation/ajv-provider.js") as Promise<
        typeof import("@modelcontextprotocol/sdk/validation/ajv-provider.js")
      >,
    ]);
  // All servers share one validator, because creating it takes longer than creating the rest of a server.
  return { Server, Transport, types, validator: new AjvJsonSchemaValidator() };
};

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

const SCHEMA_URI = "relapi://schema";
const TABLE_URI = "relapi://tables/";

const MIME_TYPE = "application/json";

const buildTableUri = (name: string): string => `${TABLE_URI}${encodeURIComponent(name)}`;

/** Returns the resource of a URI as this caller may read it. Returns undefined if the URI is unknown. */
const readResource = (uri: string, caller: ToolCaller): object | undefined => {
  const { schema, context } = caller;
  if (uri === SCHEMA_URI) return listVisible(schema, context.options.mcpWrites, 0, computeMaxListBytes(caller));
  const tableEntry = [...schema.tables].find(([name]) => buildTableUri(name) === uri);
  return tableEntry === undefined ? undefined : describeTable(schema, tableEntry[1]);
};

/** Creates a server of the protocol for one caller. @rule P-MCP-2 P-MCP-4 */
const createMcpServer = ({ Server, types, validator }: Sdk, caller: ToolCaller) => {
  const server = new Server(
    { name: "relapi", version: VERSION },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: validator },
  );
  const { McpError, ErrorCode } = types;
  server.setRequestHandler(types.ListToolsRequestSchema, () => ({ tools: listTools(caller) }));
  server.setRequestHandler(types.CallToolRequestSchema, async ({ params }) => {
    const result = await callTool(params.name, params.arguments ?? {}, caller);
    if (result === undefined) throw new McpError(ErrorCode.InvalidParams, "there is no such tool for this role");
    return result;
  });
  const { mcpMaxBytes } = caller.context.options;
  server.setRequestHandler(types.ListResourcesRequestSchema, ({ params }) => {
    const resources = [
      { uri: SCHEMA_URI, name: "schema", mimeType: MIME_TYPE },
      ...[...caller.schema.tables.keys()].map((name) => ({ uri: buildTableUri(name), name, mimeType: MIME_TYPE })),
    ];
    const start = Number(params?.cursor ?? 0);
    if (!Number.isSafeInteger(start) || start < 0 || start > resources.length)
      throw new McpError(ErrorCode.InvalidParams, "the cursor is not one of this list");
    const { items, next_offset: next } = takePage(
      resources,
      start,
      mcpMaxBytes,
      (item) => JSON.stringify(item).length * 3,
    );
    return { resources: [...items], ...(next === undefined ? {} : { nextCursor: String(next) }) };
  });
  server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }));
  server.setRequestHandler(types.ReadResourceRequestSchema, ({ params: { uri } }) => {
    const resource = readResource(uri, caller);
    if (resource === undefined) throw new McpError(ErrorCode.InvalidParams, "there is no such resource for this role");
    const text = JSON.stringify({ notice: DATA_NOTICE, ...resource });
    if (Buffer.byteLength(JSON.stringify(text)) > mcpMaxBytes)
      throw new McpError(ErrorCode.InvalidParams, `the resource has more than ${mcpMaxBytes} bytes`);
    return { contents: [{ uri, mimeType: MIME_TYPE, text }] };
  });
  return server;
};

let sdk: Promise<Sdk> | undefined;

/** Answers one message. @throws RelApiError `preset` if the SDK is not installed */
export const answerMessage = async (message: unknown, request: Request, caller: ToolCaller): Promise<Response> => {
  const loadedSdk = await (sdk ??= loadSdk());
  const server = createMcpServer(loadedSdk, caller);
  const transport = new loadedSdk.Transport({ enableJsonResponse: true });
  server.onerror = (error) => caller.context.logger.debug("Model Context Protocol", { error: error.message });
  try {
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody: message });
    // The body is read completely before the server is closed.
    return new Response(response.body === null ? null : await response.text(), response);
  } finally {
    await server.close();
  }
};
