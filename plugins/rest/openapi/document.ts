/** The Swagger 2.0 document of one schema as one role sees it (section 23 of the contract). */
import {
  relationOf,
  routinesOf,
  type Model,
  type Relation,
  type Routine,
  type Visibility,
} from "../../../core/index.ts";
import type { RestTarget } from "../api.ts";
import { isCallable, takesRaw } from "../plan/overload.ts";
import { Members } from "./pieces.ts";
import { relationDefinition } from "./definitions.ts";
import { parameterSchema, queryParameterSchema } from "./types.ts";

export interface DocumentPlace {
  readonly host: string;
  readonly basePath: string;
  readonly scheme: string;
}

export interface DocumentInput {
  readonly model: Model;
  readonly schema: string;
  /** Of the caller; undefined: privileges do not matter. */
  readonly sight: Visibility | undefined;
  readonly place: DocumentPlace;
  readonly hasSecurity: boolean;
  readonly version: string;
  /** The methods that plugins serve for a target. */
  readonly methodsOf: (target: RestTarget) => ReadonlyMap<string, unknown>;
}

type Part = Readonly<Record<string, unknown>>;

/** Members of the document, with places to interrupt. */
export type Described = Generator<readonly [string, unknown] | undefined, void, void>;

const JSON_TYPES = [
  "application/json",
  "application/vnd.pgrst.object+json;nulls=stripped",
  "application/vnd.pgrst.object+json",
];
const ROW_TYPES = [...JSON_TYPES, "text/csv"];

const DEFAULT_TITLE = "relapi";
const DEFAULT_DESCRIPTION = "REST API of a PostgreSQL schema";

/** First line and the rest without its leading line ends. @rule R-OAS-3 */
const splitComment = (comment: string | undefined): { readonly first?: string; readonly rest?: string } => {
  if (comment === undefined) return {};
  const at = comment.indexOf("\n");
  if (at === -1) return { first: comment };
  const rest = comment.slice(at).replace(/^\n+/, "");
  return { first: comment.slice(0, at), ...(rest === "" ? {} : { rest }) };
};

/** Leaves out what is undefined. */
const part = (fields: Part): Part =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined));

const escapeReference = (name: string): string => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
const parameterReference = (name: string): Part => ({ $ref: `#/parameters/${escapeReference(name)}` });
const definitionReference = (name: string): Part => ({ $ref: `#/definitions/${escapeReference(name)}` });

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : a.name > b.name ? 1 : 0;

/** Whose members are shown: a schema's, as the caller sees it. */
export type Shown = Pick<DocumentInput, "model" | "schema" | "sight">;

/** Relations with the columns that may be named, in order of their names. @rule R-OAS-2 R-NAM-3 */
export const shownRelations = function* (
  { model, schema, sight }: Shown,
  isLeftOut: (relation: Relation) => boolean = () => false,
): Generator<undefined, readonly Relation[], void> {
  const shown: Relation[] = [];
  for (const relation of model.relations.values()) {
    yield;
    if (relation.schema !== schema || isLeftOut(relation)) continue;
    if (sight === undefined) shown.push(relation);
    else if (sight.knowsRelation(relation)) {
      const columns = relation.columns.filter((column) => sight.knows(relation, column));
      shown.push(columns.length === relation.columns.length ? relation : { ...relation, columns });
    }
  }
  return shown.sort(byName);
};

/** One function per name: overloads share a path. */
export const shownRoutines = (
  { model, schema, sight }: Shown,
  isLeftOut: (routine: Routine) => boolean = () => false,
): readonly Routine[] => {
  const shown: Routine[] = [];
  for (const overloads of model.routines.values()) {
    const first = overloads.find(
      (routine) =>
        routine.schema === schema &&
        !isLeftOut(routine) &&
        isCallable(model, routine) &&
        (sight === undefined || sight.calls(routine)),
    );
    if (first !== undefined) shown.push(first);
  }
  return shown.sort(byName);
};

/** @rule R-OAS-1 R-OAS-2 R-OAS-3 */
export const buildDocument = (input: DocumentInput): Members => new Members(documentMembers(input));

const documentMembers = function* (input: DocumentInput): Described {
  const { model } = input;
  const relations = yield* shownRelations(input);
  const routines = shownRoutines(input);
  const { first, rest } = splitComment(model.schemaComments.get(input.schema));
  yield* Object.entries({
    swagger: "2.0",
    info: part({
      title: first ?? DEFAULT_TITLE,
      description: first === undefined ? DEFAULT_DESCRIPTION : rest,
      version: input.version,
    }),
    host: input.place.host,
    basePath: input.place.basePath,
    schemes: [input.place.scheme],
    consumes: ROW_TYPES,
    produces: ROW_TYPES,
    externalDocs: { description: "REST reference", url: "https://docs.postgrest.org/en/stable/references/api.html" },
    ...(input.hasSecurity ? SECURITY : {}),
  });
  const paths = function* (): Described {
    yield ["/", ROOT_PATH];
    for (const relation of relations)
      yield answered(
        `/${relation.name}`,
        relationPath(relation),
        input.methodsOf({ kind: "relation", relation: relationOf(model, relation) ?? relation }),
      );
    for (const routine of routines)
      yield answered(
        `/rpc/${routine.name}`,
        routinePath(model, routine),
        input.methodsOf({ kind: "routine", name: routine.name, routines: routinesOf(model, routine) }),
      );
  };
  const definitions = function* (): Described {
    for (const relation of relations) yield [relation.name, relationDefinition(model, relation, input.sight)];
  };
  const parameters = function* (): Described {
    yield* Object.entries(SHARED_PARAMETERS);
    for (const relation of relations) yield* relationParameters(relation);
  };
  yield ["paths", new Members(paths())];
  yield ["definitions", new Members(definitions())];
  yield ["parameters", new Members(parameters())];
};

/** The path with the operations that plugins serve; no path if there are none. */
const answered = (
  path: string,
  operations: Part,
  methods: ReadonlyMap<string, unknown>,
): readonly [string, Part] | undefined => {
  const kept = Object.entries(operations).filter(([method]) => methods.has(method.toUpperCase()));
  return kept.length === 0 ? undefined : [path, Object.fromEntries(kept)];
};

const SECURITY: Part = {
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

const ROOT_PATH: Part = {
  get: {
    tags: ["Introspection"],
    summary: "OpenAPI description (this document)",
    produces: ["application/openapi+json", "application/json"],
    responses: { 200: { description: "OK" } },
  },
};

const query = (name: string, description: string): Part => ({
  name,
  description,
  required: false,
  in: "query",
  type: "string",
});

const prefer = (values?: readonly string[]): Part =>
  part({ name: "Prefer", description: "Preference", required: false, in: "header", type: "string", enum: values });

const RETURNS = ["return=representation", "return=minimal", "return=none"];

const PAGINATION = "Limiting and Pagination";

const SHARED_PARAMETERS: Part = {
  preferParams: prefer(),
  preferReturn: prefer(RETURNS),
  preferCount: prefer(["count=none"]),
  preferPost: prefer([...RETURNS, "resolution=ignore-duplicates", "resolution=merge-duplicates"]),
  select: query("select", "Filtering Columns"),
  on_conflict: query("on_conflict", "On Conflict"),
  order: query("order", "Ordering"),
  range: { name: "Range", description: PAGINATION, required: false, in: "header", type: "string" },
  rangeUnit: {
    name: "Range-Unit",
    description: PAGINATION,
    required: false,
    default: "items",
    in: "header",
    type: "string",
  },
  offset: query("offset", PAGINATION),
  limit: query("limit", PAGINATION),
};

const rowFilter = (relation: Relation, column: string): string => `rowFilter.${relation.name}.${column}`;

const relationParameters = (relation: Relation): readonly (readonly [string, Part])[] => [
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
  ...relation.columns.map((column): readonly [string, Part] => [
    rowFilter(relation, column.name),
    part({ name: column.name, description: column.comment, required: false, in: "query", type: "string" }),
  ]),
];

const relationPath = (relation: Relation): Part => {
  const { first, rest } = splitComment(relation.comment);
  const operation = (parameters: readonly string[], responses: Part): Part =>
    part({
      tags: [relation.name],
      summary: first,
      description: rest,
      parameters: parameters.map(parameterReference),
      responses,
    });
  const filters = relation.columns.map((column) => rowFilter(relation, column.name));
  const body = `body.${relation.name}`;
  const get = operation([...filters, "select", "order", "range", "rangeUnit", "offset", "limit", "preferCount"], {
    200: { description: "OK", schema: { type: "array", items: definitionReference(relation.name) } },
    206: { description: "Partial Content" },
  });
  const { writable } = relation;
  if (!writable.insert && !writable.update && !writable.delete) return { get };
  const noContent = { 204: { description: "No Content" } };
  return {
    get,
    post: operation([body, "select", "preferPost"], { 201: { description: "Created" } }),
    patch: operation([...filters, body, "preferReturn"], noContent),
    delete: operation([...filters, "preferReturn"], noContent),
  };
};

const routinePath = (model: Model, routine: Routine): Part => {
  const { first, rest } = splitComment(routine.comment);
  const operation = (parameters: readonly Part[]): Part =>
    part({
      tags: [`(rpc) ${routine.name}`],
      summary: first,
      description: rest,
      produces: JSON_TYPES,
      parameters,
      responses: { 200: { description: "OK" } },
    });
  // a body that is itself the argument has no key
  const named = takesRaw(routine) ? [] : routine.parameters;
  const required = named.filter((parameter) => !parameter.hasDefault).map((parameter) => parameter.name);
  const schema = part({
    type: "object",
    description: routine.comment,
    properties: Object.fromEntries(named.map((parameter) => [parameter.name, parameterSchema(model, parameter)])),
    required: required.length === 0 ? undefined : required,
  });
  const post = operation([{ name: "args", required: true, in: "body", schema }, parameterReference("preferParams")]);
  if (routine.volatility === "volatile" || takesRaw(routine)) return { post };
  return {
    get: operation(
      named.map((parameter) => ({
        name: parameter.name,
        required: !parameter.hasDefault,
        in: "query",
        ...queryParameterSchema(model, parameter),
      })),
    ),
    post,
  };
};
