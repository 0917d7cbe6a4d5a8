/** Returns the description of `POST /batch` in the document of OpenAPI 3.1. @rule R-OAS-10 */

const buildJsonContent = (schema: object): object => ({ content: { "application/json": { schema } } });

const HEADERS = { type: "object", additionalProperties: { type: "string" } };

const BATCH = {
  type: "array",
  items: {
    type: "object",
    required: ["path"],
    properties: {
      id: { type: "string" },
      method: { enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] },
      path: {
        type: "string",
        description: "The path below the REST root, with its query string: `/album?id=eq.$1.id`",
      },
      headers: HEADERS,
      body: {},
    },
  },
};

const ANSWERS = {
  type: "array",
  items: {
    type: "object",
    required: ["status", "headers", "body"],
    properties: { id: { type: "string" }, status: { type: "integer" }, headers: HEADERS, body: {} },
  },
};

export const BATCH_PATH = {
  post: {
    tags: ["batch"],
    summary: "Several requests in one transaction",
    parameters: [{ $ref: "#/components/parameters/prefer" }],
    requestBody: { required: true, ...buildJsonContent(BATCH) },
    responses: {
      200: { description: "The response to each request", ...buildJsonContent(ANSWERS) },
      default: { description: "The error", ...buildJsonContent({ $ref: "#/components/schemas/error.response" }) },
    },
  },
};
