/** The OpenAPI 3.1 document of one schema for one role, made for generators of typed clients. */
import { relationOf, type Column, type Relation, type Routine } from "../../../core/index.ts";
import {
  describedRelations,
  objectSchema,
  relationPaths,
  routinePaths,
  splitComment,
  type Call,
  type Description,
  type Part,
  type Parts,
} from "./description.ts";
import { DocumentMembers } from "./sliced-text.ts";
import { columnSchema, parameterSchema, queryType, typeOf, type TypeSchema } from "./types.ts";

export interface Version3 {
  readonly description: Description;
  /** The address of the server, as a URL or a path. */
  readonly server: string;
  /** The REST names of the operators. */
  readonly operators: readonly string[];
  /** Whether the preset contains the plugin, which may add parameters to reads. */
  readonly has: (plugin: string) => boolean;
}

/** The state of writing a document. */
interface Writer extends Version3 {
  /** The component name of each relation's rows. */
  readonly components: ReadonlyMap<string, string>;
}

/** Makes names that OpenAPI allows for components. */
const componentNames = (names: readonly string[]): ReadonlyMap<string, string> => {
  const taken = new Set(names.filter((name) => /^[\w.-]+$/.test(name)));
  return new Map(
    names.map((name) => {
      if (/^[\w.-]+$/.test(name)) return [name, name];
      let plain = name.replace(/[^\w.-]/g, "_");
      while (taken.has(plain)) plain += "_";
      taken.add(plain);
      return [name, plain];
    }),
  );
};

/** Makes a schema such as `{type: "string"}` nullable. */
const nullable = ({ type, enum: labels, ...rest }: TypeSchema): Part => ({
  ...rest,
  type: type && [type, "null"],
  enum: labels && [...labels, null],
});

const schemaReference = (name: string): Part => ({ $ref: `#/components/schemas/${name}` });
const parameterReference = (name: string): Part => ({ $ref: `#/components/parameters/${name}` });
const listOf = (items: Part): Part => ({ type: "array", items });
const json = (schema: Part): Part => ({ content: { "application/json": { schema } } });

const query = (name: string, description: string, schema: Part = { type: "string" }): Part => ({
  name,
  in: "query",
  description,
  schema,
});

const COUNT = { type: "integer", minimum: 0 };

const SHARED_PARAMETERS: Part = {
  select: query("select", "Columns and related rows to answer: `id,title,artist(name)`"),
  order: query("order", "`year.desc,title.asc.nullslast`"),
  limit: query("limit", "Rows to answer", COUNT),
  offset: query("offset", "Rows to skip", COUNT),
  and: query("and", "Conditions that all hold: `(year.gte.1990,year.lt.2000)`", {
    type: "string",
    pattern: "^\\(.*\\)$",
  }),
  or: query("or", "Conditions of which one holds: `(year.lt.1970,title.like.A*)`", {
    type: "string",
    pattern: "^\\(.*\\)$",
  }),
  on_conflict: query("on_conflict", "Columns whose unique key decides about a conflict"),
  columns: query("columns", "Columns of the body that count"),
  prefer: {
    name: "Prefer",
    in: "header",
    description: "`return=representation`, `count=exact`, `resolution=merge-duplicates`, …",
    schema: { type: "string" },
  },
};

/** The parameters that plugins add to reads, by plugin. @rule R-OAS-10 */
const PLUGIN_PARAMETERS: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  "cursor-pages": {
    cursor: query("cursor", "A page by cursor: empty for the first, else that of a `Link` of the page before"),
  },
  "rest-having": { having: query("having", "A condition on groups: `count().gt.1`, `sold.sum().gte.10`") },
};

const PREFERENCES: Readonly<Record<string, string>> = {
  "row-history": "`as-of=2024-05-01`",
  nearest: "`distance=column`",
};

const preferOf = (has: Version3["has"]): Part => {
  const added = Object.entries(PREFERENCES).flatMap(([plugin, text]) => (has(plugin) ? [text] : []));
  const { prefer } = SHARED_PARAMETERS as { readonly prefer: { readonly description: string } };
  return { ...prefer, description: [...added, prefer.description].join(", ") };
};

const pluginParameters = (has: Version3["has"]): readonly (readonly [string, Part])[] =>
  Object.entries(PLUGIN_PARAMETERS).flatMap(([plugin, parameters]) => (has(plugin) ? Object.entries(parameters) : []));

const HEADERS: Part = { type: "object", additionalProperties: { type: "string" } };

const BATCH: Part = {
  type: "array",
  items: {
    type: "object",
    required: ["path"],
    properties: {
      id: { type: "string" },
      method: { enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] },
      path: { type: "string", description: "Below the root, with its query: `/album?id=eq.$1.id`" },
      headers: HEADERS,
      body: {},
    },
  },
};

const BATCH_ANSWERS: Part = {
  type: "array",
  items: {
    type: "object",
    required: ["status", "headers", "body"],
    properties: { id: { type: "string" }, status: { type: "integer" }, headers: HEADERS, body: {} },
  },
};

const batchPath = (): Part => ({
  post: operation(
    "batch",
    "Several requests in one transaction",
    { parameters: [parameterReference("prefer")], requestBody: { required: true, ...json(BATCH) } },
    { 200: ok(BATCH_ANSWERS, "An answer for each request") },
  ),
});

const ERROR: Part = {
  type: "object",
  required: ["code", "message"],
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    details: {},
    hint: { type: ["string", "null"] },
  },
};

const ok = (schema: Part, description: string): Part => ({ description, ...json(schema) });

const operation = (tag: string, comment: string | undefined, request: Part, responses: Part): Part => ({
  tags: [tag],
  summary: splitComment(comment).summary,
  ...request,
  responses: { ...responses, default: ok(schemaReference("error.response"), "What is wrong") },
});

/** The properties of embedded rows, under the name of their relation if that identifies the relationship. */
const embedsOf = (
  { description: { model }, components }: Writer,
  relation: Relation,
): readonly (readonly [string, Part])[] => {
  const own = new Set(relation.columns.map(({ name }) => name));
  const byTarget = new Map<string, (typeof relation.relationships)[number][]>();
  for (const relationship of relation.relationships) {
    const { target, routine } = relationship;
    if (target.schema !== relation.schema) continue;
    const key = routine?.name ?? target.name;
    const candidates = byTarget.get(key);
    if (candidates === undefined) byTarget.set(key, [relationship]);
    else candidates.push(relationship);
  }
  return [...byTarget].flatMap(([name, candidates]) => {
    const [relationship, ...more] = candidates;
    const component = relationship && components.get(relationship.target.name);
    if (relationship === undefined || more.length > 0 || component === undefined || own.has(name)) return [];
    if (relationOf(model, relationship.target) === undefined) return [];
    const row = schemaReference(component);
    return [[name, relationship.isToOne ? { anyOf: [row, { type: "null" }] } : listOf(row)]];
  });
};

const componentOf = ({ components }: Writer, { name }: Relation): string => components.get(name) ?? name;

const rowSchemas = (writer: Writer, relation: Relation): readonly (readonly [string, Part])[] => {
  const { model } = writer.description;
  const name = componentOf(writer, relation);
  const propertyOf = (column: Column): readonly [string, Part] => {
    const schema = columnSchema(model, column);
    return [column.name, { ...(column.notNull ? schema : nullable(schema)), description: column.comment }];
  };
  const properties = relation.columns.map(propertyOf);
  const written = relation.columns.filter(
    ({ isGenerated, identity, isUpdatable }) => !isGenerated && identity !== "always" && isUpdatable,
  );
  const writtenProperties = written.map(propertyOf);
  const all = relation.columns.map((column) => column.name);
  const needed = written
    .filter((column) => column.notNull && column.default === undefined && column.baseDefault === undefined)
    .map((column) => column.name);
  return [
    [name, objectSchema([...properties, ...embedsOf(writer, relation)], all, relation.comment)],
    [`${name}.insert`, objectSchema(writtenProperties, needed, relation.comment)],
    [`${name}.update`, objectSchema(writtenProperties, [], relation.comment)],
  ];
};

const relationOperations = (writer: Writer, relation: Relation): Part => {
  const name = componentOf(writer, relation);
  const rows = listOf(schemaReference(name));
  const isColumn = (parameter: string): boolean => relation.columns.some((column) => column.name === parameter);
  const added = pluginParameters(writer.has).flatMap(([parameter]) => (isColumn(parameter) ? [] : [parameter]));
  const filters = [...relation.columns.map((_, at) => `filter.${name}.${at}`), "and", "or"];
  const described = (names: readonly string[], responses: Part, body?: Part): Part => {
    const requestBody = body && { required: true, ...json(body) };
    return operation(
      relation.name,
      relation.comment,
      { parameters: [...names, "prefer"].map(parameterReference), requestBody },
      responses,
    );
  };
  const written = ok(rows, "The rows written, with `Prefer: return=representation`");
  const done = { 200: written, 204: { description: "Done" } };
  const inserted = schemaReference(`${name}.insert`);
  const updated = schemaReference(`${name}.update`);
  const { writable } = relation;
  return {
    get: described([...filters, "select", "order", "limit", "offset", ...added], {
      200: ok(rows, "The rows"),
      206: ok(rows, "Some of the rows"),
    }),
    ...(writable.insert && {
      post: described(["select", "columns", "on_conflict"], { 201: written }, { anyOf: [inserted, listOf(inserted)] }),
    }),
    ...(writable.update && { patch: described([...filters, "select", "columns"], done, updated) }),
    ...(writable.delete && { delete: described([...filters, "select"], done) }),
  };
};

const returned = ({ description: { model }, components }: Writer, { returns }: Routine): Part => {
  const { kind, isSet, relation, columns, type } = returns;
  if (kind === "void") return { type: "null" };
  const component = relation && components.get(relation.name);
  const value =
    component !== undefined
      ? schemaReference(component)
      : kind === "composite"
        ? objectSchema(
            columns.map((column) => [column.name, nullable(typeOf(model, column.type))]),
            columns.map((column) => column.name),
          )
        : kind === "scalar"
          ? nullable(typeOf(model, type))
          : {};
  return isSet ? listOf(value) : value;
};

const routineOperations = (
  writer: Writer,
  { routine, takesBody, parameters, required }: Call,
): { readonly get: Part; readonly post: Part } => {
  const { model } = writer.description;
  const described = (request: Part): Part =>
    operation(`(rpc) ${routine.name}`, routine.comment, request, {
      200: ok(returned(writer, routine), "What the function returns"),
    });
  const properties = parameters.map((each): [string, Part] => [each.name, nullable(parameterSchema(model, each))]);
  return {
    get: described({
      parameters: parameters.map((each) => ({
        name: each.name,
        in: "query",
        required: !each.hasDefault,
        schema: { type: queryType(parameterSchema(model, each)) },
      })),
    }),
    post: described({
      requestBody: { required: required.length > 0, ...json(takesBody ? {} : objectSchema(properties, required)) },
    }),
  };
};

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** @rule R-OAS-7 R-OAS-8 */
export const buildVersion3 = (version: Version3): DocumentMembers => new DocumentMembers(documentMembers(version));

const documentMembers = function* (version: Version3): Parts {
  const { description, operators, has } = version;
  const { model, hasSecurity } = description;
  const relations = yield* describedRelations(description);
  const writer: Writer = { ...version, components: componentNames(relations.map(({ name }) => name)) };
  const { summary } = splitComment(model.schemaComments.get(description.schema));
  yield* Object.entries({
    openapi: "3.1.0",
    info: { title: summary ?? "REST API of a PostgreSQL schema", version: description.version },
    servers: [{ url: version.server }],
    ...(hasSecurity ? { security: [{ JWT: [] }] } : {}),
  });
  const paths = function* (): Parts {
    yield* relationPaths(description, relations, (relation) => relationOperations(writer, relation));
    if (has("rest-batch") && relations.every(({ name }) => name !== "batch")) yield ["/batch", batchPath()];
    yield* routinePaths(description, (call) => routineOperations(writer, call));
  };
  const schemas = function* (): Parts {
    for (const relation of relations) yield* rowSchemas(writer, relation);
    yield ["error.response", ERROR];
  };
  const filter = {
    type: "string",
    pattern: `^(not\\.)?(${operators.map(escapePattern).join("|")})(\\([A-Za-z_]+\\))?\\.`,
  };
  const parameters = function* (): Parts {
    yield* Object.entries({ ...SHARED_PARAMETERS, prefer: preferOf(has) });
    yield* pluginParameters(has);
    for (const relation of relations)
      for (const [at, column] of relation.columns.entries())
        yield [
          `filter.${componentOf(writer, relation)}.${at}`,
          query(column.name, `A condition on \`${column.name}\`: \`eq.…\`, \`not.in.(…,…)\``, filter),
        ];
  };
  const components = function* (): Parts {
    yield ["schemas", new DocumentMembers(schemas())];
    yield ["parameters", new DocumentMembers(parameters())];
    if (hasSecurity) yield ["securitySchemes", { JWT: { type: "http", scheme: "bearer", bearerFormat: "JWT" } }];
  };
  yield ["paths", new DocumentMembers(paths())];
  yield ["components", new DocumentMembers(components())];
};
