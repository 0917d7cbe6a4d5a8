/** Writes the OpenAPI 3.1 document of one schema for one role. Generators of typed clients read it. */
import { findRelation, type Column, type Relation, type Routine } from "../../../core/index.ts";
import type { OpenapiAdditions } from "../api.ts";
import {
  buildFilterParameterName,
  findDescribedRelations,
  buildObjectSchema,
  buildRelationPaths,
  buildRoutinePaths,
  splitComment,
  type DescribedCall,
  type Description,
  type OpenapiObject,
  type MemberGenerator,
} from "./description.ts";
import { DocumentMembers } from "./sliced-text.ts";
import {
  buildColumnSchema,
  buildParameterSchema,
  findQueryType,
  buildValueSchema,
  type TypeSchema,
} from "./type-schemas.ts";

interface Version3Input {
  readonly description: Description;
  /** The address of the server, as a URL or a path. */
  readonly server: string;
  /** The REST names of the operators. */
  readonly operators: readonly string[];
  /** The parameters of reads and the paths that plugins add. */
  readonly additions: OpenapiAdditions;
  /** Examples of the preferences that plugins add: `as-of=2024-05-01`. */
  readonly preferences: readonly string[];
}

/** The input of a document, and the names that its parts share. */
interface Writer extends Version3Input {
  /** The component name for the rows of each relation, by the relation's name. */
  readonly components: ReadonlyMap<string, string>;
}

/** Returns a unique component name for each name. OpenAPI allows letters, digits, `.`, `_` and `-`. */
const buildComponentNames = (names: readonly string[]): ReadonlyMap<string, string> => {
  const usedNames = new Set(names.filter((name) => /^[\w.-]+$/.test(name)));
  return new Map(
    names.map((name) => {
      if (/^[\w.-]+$/.test(name)) return [name, name];
      let plain = name.replace(/[^\w.-]/g, "_");
      while (usedNames.has(plain)) plain += "_";
      usedNames.add(plain);
      return [name, plain];
    }),
  );
};

/** Makes a schema such as `{type: "string"}` nullable. */
const makeNullable = ({ type, enum: labels, ...otherKeywords }: TypeSchema): OpenapiObject => ({
  ...otherKeywords,
  type: type && [type, "null"],
  enum: labels && [...labels, null],
});

const schemaReference = (name: string): OpenapiObject => ({ $ref: `#/components/schemas/${name}` });
const parameterReference = (name: string): OpenapiObject => ({ $ref: `#/components/parameters/${name}` });
const buildListSchema = (items: OpenapiObject): OpenapiObject => ({ type: "array", items });
const buildJsonContent = (schema: OpenapiObject): OpenapiObject => ({ content: { "application/json": { schema } } });

const buildQueryParameter = (
  name: string,
  description: string,
  schema: OpenapiObject = { type: "string" },
): OpenapiObject => ({
  name,
  in: "query",
  description,
  schema,
});

const COUNT = { type: "integer", minimum: 0 };

const SHARED_PARAMETERS: OpenapiObject = {
  select: buildQueryParameter("select", "The returned columns and related rows: `id,title,artist(name)`"),
  order: buildQueryParameter("order", "The order of the rows: `year.desc,title.asc.nullslast`"),
  limit: buildQueryParameter("limit", "The maximum number of rows", COUNT),
  offset: buildQueryParameter("offset", "The number of rows to skip", COUNT),
  and: buildQueryParameter("and", "Conditions that all hold: `(year.gte.1990,year.lt.2000)`", {
    type: "string",
    pattern: "^\\(.*\\)$",
  }),
  or: buildQueryParameter("or", "Conditions of which at least one holds: `(year.lt.1970,title.like.A*)`", {
    type: "string",
    pattern: "^\\(.*\\)$",
  }),
  on_conflict: buildQueryParameter("on_conflict", "The columns of the unique key that an upsert compares"),
  columns: buildQueryParameter("columns", "The columns of the body that are written"),
};

/** Returns the parameter `Prefer`, with the examples of plugins first. @rule R-OAS-10 */
const buildPreferParameter = (examples: readonly string[]): OpenapiObject => ({
  name: "Prefer",
  in: "header",
  description: [...examples, "return=representation", "count=exact", "resolution=merge-duplicates"]
    .map((example) => `\`${example}\``)
    .concat("…")
    .join(", "),
  schema: { type: "string" },
});

const ERROR: OpenapiObject = {
  type: "object",
  required: ["code", "message"],
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    details: {},
    hint: { type: ["string", "null"] },
  },
};

const buildResponse = (schema: OpenapiObject, description: string): OpenapiObject => ({
  description,
  ...buildJsonContent(schema),
});

const buildOperation = (
  tag: string,
  comment: string | undefined,
  request: OpenapiObject,
  responses: OpenapiObject,
): OpenapiObject => ({
  tags: [tag],
  summary: splitComment(comment).summary,
  ...request,
  responses: { ...responses, default: buildResponse(schemaReference("error.response"), "The error") },
});

/** Builds a property for each relation that exactly one relationship reaches, because such a
 *  relation is embedded by its name. */
const buildEmbedProperties = (
  { description: { model }, components }: Writer,
  relation: Relation,
): readonly (readonly [string, OpenapiObject])[] => {
  const columnNames = new Set(relation.columns.map(({ name }) => name));
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
    const [relationship, ...otherRelationships] = candidates;
    const component = relationship && components.get(relationship.target.name);
    if (relationship === undefined || otherRelationships.length > 0 || component === undefined || columnNames.has(name))
      return [];
    if (findRelation(model, relationship.target) === undefined) return [];
    const row = schemaReference(component);
    return [[name, relationship.isToOne ? { anyOf: [row, { type: "null" }] } : buildListSchema(row)]];
  });
};

const findComponentName = ({ components }: Writer, { name }: Relation): string => components.get(name) ?? name;

const buildRowSchemas = (writer: Writer, relation: Relation): readonly (readonly [string, OpenapiObject])[] => {
  const { model } = writer.description;
  const name = findComponentName(writer, relation);
  const buildProperty = (column: Column): readonly [string, OpenapiObject] => {
    const schema = buildColumnSchema(model, column);
    return [column.name, { ...(column.notNull ? schema : makeNullable(schema)), description: column.comment }];
  };
  const properties = relation.columns.map(buildProperty);
  const writableColumns = relation.columns.filter(
    ({ isGenerated, identity, isUpdatable }) => !isGenerated && identity !== "always" && isUpdatable,
  );
  const writtenProperties = writableColumns.map(buildProperty);
  const columnNames = relation.columns.map((column) => column.name);
  const requiredNames = writableColumns
    .filter((column) => column.notNull && column.default === undefined && column.baseDefault === undefined)
    .map((column) => column.name);
  return [
    [
      name,
      buildObjectSchema([...properties, ...buildEmbedProperties(writer, relation)], columnNames, relation.comment),
    ],
    [`${name}.insert`, buildObjectSchema(writtenProperties, requiredNames, relation.comment)],
    [`${name}.update`, buildObjectSchema(writtenProperties, [], relation.comment)],
  ];
};

const buildRelationOperations = (writer: Writer, relation: Relation): OpenapiObject => {
  const name = findComponentName(writer, relation);
  const rows = buildListSchema(schemaReference(name));
  const isColumn = (parameter: string): boolean => relation.columns.some((column) => column.name === parameter);
  const addedParameters = Object.keys(writer.additions.readParameters).filter((parameter) => !isColumn(parameter));
  const filters = [...relation.columns.map((_, at) => `filter.${name}.${at}`), "and", "or"];
  const buildRelationOperation = (
    names: readonly string[],
    responses: OpenapiObject,
    body?: OpenapiObject,
  ): OpenapiObject => {
    const requestBody = body && { required: true, ...buildJsonContent(body) };
    return buildOperation(
      relation.name,
      relation.comment,
      { parameters: [...names, "prefer"].map(parameterReference), requestBody },
      responses,
    );
  };
  const writtenRows = buildResponse(rows, "The written rows, with `Prefer: return=representation`");
  const responses = { 200: writtenRows, 204: { description: "Done" } };
  const insertSchema = schemaReference(`${name}.insert`);
  const updateSchema = schemaReference(`${name}.update`);
  const { writable } = relation;
  return {
    get: buildRelationOperation([...filters, "select", "order", "limit", "offset", ...addedParameters], {
      200: buildResponse(rows, "The rows"),
      206: buildResponse(rows, "Some of the rows"),
    }),
    ...(writable.insert && {
      post: buildRelationOperation(
        ["select", "columns", "on_conflict"],
        { 201: writtenRows },
        { anyOf: [insertSchema, buildListSchema(insertSchema)] },
      ),
    }),
    ...(writable.update && {
      patch: buildRelationOperation([...filters, "select", "columns"], responses, updateSchema),
    }),
    ...(writable.delete && { delete: buildRelationOperation([...filters, "select"], responses) }),
  };
};

const buildReturnSchema = ({ description: { model }, components }: Writer, { returns }: Routine): OpenapiObject => {
  const { kind, isSet, relation, columns, type } = returns;
  if (kind === "void") return { type: "null" };
  const component = relation && components.get(relation.name);
  const value =
    component !== undefined
      ? schemaReference(component)
      : kind === "composite"
        ? buildObjectSchema(
            columns.map((column) => [column.name, makeNullable(buildValueSchema(model, column.type))]),
            columns.map((column) => column.name),
          )
        : kind === "scalar"
          ? makeNullable(buildValueSchema(model, type))
          : {};
  return isSet ? buildListSchema(value) : value;
};

const buildRoutineOperations = (
  writer: Writer,
  { routine, takesBody, parameters, requiredNames }: DescribedCall,
): { readonly get: OpenapiObject; readonly post: OpenapiObject } => {
  const { model } = writer.description;
  const buildRoutineOperation = (request: OpenapiObject): OpenapiObject =>
    buildOperation(`(rpc) ${routine.name}`, routine.comment, request, {
      200: buildResponse(buildReturnSchema(writer, routine), "The result of the function"),
    });
  const properties = parameters.map((parameter): [string, OpenapiObject] => [
    parameter.name,
    makeNullable(buildParameterSchema(model, parameter)),
  ]);
  return {
    get: buildRoutineOperation({
      parameters: parameters.map((parameter) => ({
        name: parameter.name,
        in: "query",
        required: !parameter.hasDefault,
        schema: { type: findQueryType(buildParameterSchema(model, parameter)) },
      })),
    }),
    post: buildRoutineOperation({
      requestBody: {
        required: requiredNames.length > 0,
        ...buildJsonContent(takesBody ? {} : buildObjectSchema(properties, requiredNames)),
      },
    }),
  };
};

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Builds the members of the document. @rule R-OAS-7 R-OAS-8 */
export const buildVersion3 = (version: Version3Input): DocumentMembers =>
  new DocumentMembers(writeDocumentMembers(version));

const writeDocumentMembers = function* (version: Version3Input): MemberGenerator {
  const { description, operators, additions, preferences } = version;
  const { model, hasSecurity } = description;
  const relations = yield* findDescribedRelations(description);
  const writer: Writer = { ...version, components: buildComponentNames(relations.map(({ name }) => name)) };
  const { summary } = splitComment(model.schemaComments.get(description.schema));
  yield* Object.entries({
    openapi: "3.1.0",
    info: { title: summary ?? "REST API of a PostgreSQL schema", version: description.version },
    servers: [{ url: version.server }],
    ...(hasSecurity ? { security: [{ JWT: [] }] } : {}),
  });
  const buildPaths = function* (): MemberGenerator {
    yield* buildRelationPaths(description, relations, (relation) => buildRelationOperations(writer, relation));
    for (const [path, operations] of Object.entries(additions.paths))
      if (relations.every(({ name }) => `/${name}` !== path)) yield [path, operations];
    yield* buildRoutinePaths(description, (call) => buildRoutineOperations(writer, call));
  };
  const buildSchemas = function* (): MemberGenerator {
    for (const relation of relations) yield* buildRowSchemas(writer, relation);
    yield ["error.response", ERROR];
  };
  const filter = {
    type: "string",
    pattern: `^(not\\.)?(${operators.map(escapePattern).join("|")})(\\([A-Za-z_]+\\))?\\.`,
  };
  const buildParameters = function* (): MemberGenerator {
    yield* Object.entries({ ...SHARED_PARAMETERS, prefer: buildPreferParameter(preferences) });
    for (const [name, text] of Object.entries(additions.readParameters)) yield [name, buildQueryParameter(name, text)];
    for (const relation of relations)
      for (const [at, column] of relation.columns.entries())
        yield [
          `filter.${findComponentName(writer, relation)}.${at}`,
          buildQueryParameter(
            buildFilterParameterName(column.name),
            `A condition on \`${column.name}\`: \`eq.…\`, \`not.in.(…,…)\``,
            filter,
          ),
        ];
  };
  const buildComponents = function* (): MemberGenerator {
    yield ["schemas", new DocumentMembers(buildSchemas())];
    yield ["parameters", new DocumentMembers(buildParameters())];
    if (hasSecurity) yield ["securitySchemes", { JWT: { type: "http", scheme: "bearer", bearerFormat: "JWT" } }];
  };
  yield ["paths", new DocumentMembers(buildPaths())];
  yield ["components", new DocumentMembers(buildComponents())];
};
