/** Writes the Swagger 2.0 document of one schema for one role (docs/reference/rest/openapi.md). */
import {
  isView,
  findColumn,
  findRelation,
  type Column,
  type Model,
  type QualifiedName,
  type Relation,
  type Visibility,
} from "../../../core/index.ts";
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
import { buildColumnSchema, parseDefault, buildParameterSchema, buildQueryParameterSchema } from "./type-schemas.ts";

export interface DocumentAddress {
  readonly host: string;
  readonly basePath: string;
  readonly scheme: string;
}

const JSON_TYPES = [
  "application/json",
  "application/vnd.pgrst.object+json;nulls=stripped",
  "application/vnd.pgrst.object+json",
];
const ROW_TYPES = [...JSON_TYPES, "text/csv"];

const DEFAULT_INFO: OpenapiObject = { title: "relapi", description: "REST API of a PostgreSQL schema" };

const escapeReference = (name: string): string => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
const parameterReference = (name: string): OpenapiObject => ({ $ref: `#/parameters/${escapeReference(name)}` });
const definitionReference = (name: string): OpenapiObject => ({ $ref: `#/definitions/${escapeReference(name)}` });

/** Builds the members of the document. @rule R-OAS-1 R-OAS-2 R-OAS-3 */
export const buildVersion2 = (description: Description, address: DocumentAddress): DocumentMembers =>
  new DocumentMembers(writeDocumentMembers(description, address));

const writeDocumentMembers = function* (description: Description, address: DocumentAddress): MemberGenerator {
  const { model, visibility } = description;
  const relations = yield* findDescribedRelations(description);
  const { summary: title, ...details } = splitComment(model.schemaComments.get(description.schema));
  yield* Object.entries({
    swagger: "2.0",
    info: {
      ...(title === undefined ? DEFAULT_INFO : { title, ...details }),
      version: description.version,
    },
    host: address.host,
    basePath: address.basePath,
    schemes: [address.scheme],
    consumes: ROW_TYPES,
    produces: ROW_TYPES,
    externalDocs: { description: "REST reference", url: "https://docs.postgrest.org/en/stable/references/api.html" },
    ...(description.hasSecurity ? SECURITY : {}),
  });
  const buildPaths = function* (): MemberGenerator {
    yield ["/", ROOT_PATH];
    yield* buildRelationPaths(description, relations, buildRelationOperations);
    yield* buildRoutinePaths(description, (call) => buildRoutineOperations(description, call));
  };
  const buildDefinitions = function* (): MemberGenerator {
    for (const relation of relations) yield [relation.name, buildRelationDefinition(model, relation, visibility)];
  };
  const buildParameters = function* (): MemberGenerator {
    yield* Object.entries(SHARED_PARAMETERS);
    for (const relation of relations) yield* buildRelationParameters(relation);
  };
  yield ["paths", new DocumentMembers(buildPaths())];
  yield ["definitions", new DocumentMembers(buildDefinitions())];
  yield ["parameters", new DocumentMembers(buildParameters())];
};

const SECURITY: OpenapiObject = {
  security: [{ JWT: [] }],
  securityDefinitions: {
    JWT: {
      type: "apiKey",
      in: "header",
      name: "Authorization",
      description: 'Add the token prepending "Bearer " (without quotes) to it',
    },
  },
};

const ROOT_PATH: OpenapiObject = {
  get: {
    tags: ["Introspection"],
    summary: "OpenAPI description (this document)",
    produces: ["application/openapi+json", "application/json"],
    responses: { 200: { description: "OK" } },
  },
};

const buildParameter = (
  location: "query" | "header",
  name: string,
  description: string | undefined,
): OpenapiObject => ({
  name,
  description,
  required: false,
  in: location,
  type: "string",
});

const buildQueryParameter = (name: string, description: string | undefined): OpenapiObject =>
  buildParameter("query", name, description);

const buildPreferParameter = (values?: readonly string[]): OpenapiObject => ({
  ...buildParameter("header", "Prefer", "Preference"),
  enum: values,
});

const RETURNS = ["return=representation", "return=minimal", "return=none"];

const PAGINATION = "Limiting and Pagination";

const SHARED_PARAMETERS: OpenapiObject = {
  preferParams: buildPreferParameter(),
  preferReturn: buildPreferParameter(RETURNS),
  preferCount: buildPreferParameter(["count=none"]),
  preferPost: buildPreferParameter([...RETURNS, "resolution=ignore-duplicates", "resolution=merge-duplicates"]),
  select: buildQueryParameter("select", "Filtering Columns"),
  on_conflict: buildQueryParameter("on_conflict", "On Conflict"),
  order: buildQueryParameter("order", "Ordering"),
  range: buildParameter("header", "Range", PAGINATION),
  rangeUnit: { ...buildParameter("header", "Range-Unit", PAGINATION), default: "items" },
  offset: buildQueryParameter("offset", PAGINATION),
  limit: buildQueryParameter("limit", PAGINATION),
};

const buildFilterName = (relation: Relation, column: string): string => `rowFilter.${relation.name}.${column}`;

const buildRelationParameters = (relation: Relation): readonly (readonly [string, OpenapiObject])[] => [
  [
    `body.${relation.name}`,
    {
      name: relation.name,
      description: relation.name,
      required: false,
      in: "body",
      schema: definitionReference(relation.name),
    },
  ],
  ...relation.columns.map((column): readonly [string, OpenapiObject] => [
    buildFilterName(relation, column.name),
    buildQueryParameter(buildFilterParameterName(column.name), column.comment),
  ]),
];

const buildRelationOperations = (relation: Relation): OpenapiObject => {
  const buildOperation = (parameters: readonly string[], responses: OpenapiObject): OpenapiObject => ({
    tags: [relation.name],
    ...splitComment(relation.comment),
    parameters: parameters.map(parameterReference),
    responses,
  });
  const filters = relation.columns.map((column) => buildFilterName(relation, column.name));
  const body = `body.${relation.name}`;
  const get = buildOperation([...filters, "select", "order", "range", "rangeUnit", "offset", "limit", "preferCount"], {
    200: { description: "OK", schema: { type: "array", items: definitionReference(relation.name) } },
    206: { description: "Partial Content" },
  });
  const { writable } = relation;
  if (!writable.insert && !writable.update && !writable.delete) return { get };
  const noContent = { 204: { description: "No Content" } };
  return {
    get,
    post: buildOperation([body, "select", "preferPost"], { 201: { description: "Created" } }),
    patch: buildOperation([...filters, body, "preferReturn"], noContent),
    delete: buildOperation([...filters, "preferReturn"], noContent),
  };
};

const buildRoutineOperations = (
  { model }: Description,
  { routine, parameters, requiredNames }: DescribedCall,
): { readonly get: OpenapiObject; readonly post: OpenapiObject } => {
  const buildOperation = (parameters: readonly OpenapiObject[]): OpenapiObject => ({
    tags: [`(rpc) ${routine.name}`],
    ...splitComment(routine.comment),
    produces: JSON_TYPES,
    parameters,
    responses: { 200: { description: "OK" } },
  });
  const schema = buildObjectSchema(
    parameters.map((parameter) => [parameter.name, { ...buildParameterSchema(model, parameter) }]),
    requiredNames,
    routine.comment,
  );
  return {
    get: buildOperation(
      parameters.map((parameter) => ({
        name: parameter.name,
        required: !parameter.hasDefault,
        in: "query",
        ...buildQueryParameterSchema(model, parameter),
      })),
    ),
    post: buildOperation([{ name: "args", required: true, in: "body", schema }, parameterReference("preferParams")]),
  };
};

/** Returns the visible column that a foreign key of only this column references. Tables take precedence over views. */
const findForeignKeyTarget = (
  model: Model,
  relation: Relation,
  column: string,
  visibility: Visibility | undefined,
): { readonly target: QualifiedName; readonly column: string } | undefined => {
  const targets = relation.relationships.flatMap((relationship) => {
    const [pair] = relationship.columns;
    if (
      !relationship.isOwnKey ||
      relationship.columns.length !== 1 ||
      pair?.[0] !== column ||
      relationship.target.schema !== relation.schema
    )
      return [];
    const target = findRelation(model, relationship.target);
    const targetColumn = target && findColumn(target, pair[1]);
    if (target === undefined || targetColumn === undefined || visibility?.mayNameColumn(target, targetColumn) === false)
      return [];
    return [{ target: relationship.target, column: pair[1], isView: isView(target) }];
  });
  return targets.find((target) => !target.isView) ?? targets[0];
};

/** Returns the comment of a column with notes about its keys. @rule R-OAS-5 */
const describeColumn = (
  model: Model,
  relation: Relation,
  column: Column,
  visibility: Visibility | undefined,
): string | undefined => {
  const notes: string[] = [];
  if (relation.primaryKey.includes(column.name)) notes.push("This is a Primary Key.<pk/>");
  const key = findForeignKeyTarget(model, relation, column.name, visibility);
  if (key !== undefined)
    notes.push(
      `This is a Foreign Key to \`${key.target.name}.${key.column}\`.<fk table='${key.target.name}' column='${key.column}'/>`,
    );
  const note = notes.length === 0 ? undefined : ["Note:", ...notes].join("\n");
  return column.comment !== undefined && note !== undefined ? `${column.comment}\n\n${note}` : (column.comment ?? note);
};

const buildProperty = (
  model: Model,
  relation: Relation,
  column: Column,
  visibility: Visibility | undefined,
): OpenapiObject => {
  const schema = buildColumnSchema(model, column);
  return {
    ...schema,
    description: describeColumn(model, relation, column, visibility),
    default: parseDefault(column.default, schema.type),
    maxLength: column.maxLength,
  };
};

/** Builds the schema of the rows of a relation. @rule R-OAS-3 R-OAS-5 */
const buildRelationDefinition = (model: Model, relation: Relation, visibility: Visibility | undefined): OpenapiObject =>
  buildObjectSchema(
    relation.columns.map((column) => [column.name, buildProperty(model, relation, column, visibility)]),
    relation.columns.filter((column) => column.notNull).map((column) => column.name),
    relation.comment,
  );
