/** The OpenAPI 3.1 document of one schema as one role sees it: for generators of typed clients. */
import { relationOf, routinesOf, type Model, type Relation, type Routine } from "../../../core/index.ts";
import { takesRaw } from "../plan/overload.ts";
import { shownRelations, shownRoutines, type Described, type DocumentInput } from "./document.ts";
import { Members } from "./pieces.ts";
import { columnSchema, parameterSchema, typeOf, type TypeSchema } from "./types.ts";

type Part = Readonly<Record<string, unknown>>;

export interface ThreeInput extends Omit<DocumentInput, "place"> {
  /** Of the server, as a URL or a path. */
  readonly server: string;
  /** REST names of the operators. */
  readonly operators: readonly string[];
  /** The plugins of the preset that add parameters to reads. */
  readonly has: (plugin: string) => boolean;
  /** What extensions have brought along. */
  readonly isForeign: (member: Relation | Routine) => boolean;
}

/** What components may be called. */
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

/** `{type: "string"}` that may be null. */
const nullable = ({ type, enum: labels, ...rest }: TypeSchema): Part => ({
  ...rest,
  ...(type === undefined ? {} : { type: [type, "null"] }),
  ...(labels === undefined ? {} : { enum: [...labels, null] }),
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

const SHARED: Part = {
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

/** Parameters of reads that plugins take, by plugin. @rule R-OAS-10 */
const OF_PLUGINS: Readonly<Record<string, Readonly<Record<string, Part>>>> = {
  "cursor-pages": {
    cursor: query("cursor", "A page by cursor: empty for the first, else that of a `Link` of the page before"),
  },
  "rest-having": { having: query("having", "A condition on groups: `count().gt.1`, `sold.sum().gte.10`") },
};

const PREFERENCES: Readonly<Record<string, string>> = {
  "row-history": "`as-of=2024-05-01`",
  nearest: "`distance=column`",
};

const preferOf = (has: ThreeInput["has"]): Part => {
  const added = Object.entries(PREFERENCES).flatMap(([plugin, text]) => (has(plugin) ? [text] : []));
  const { prefer } = SHARED as { readonly prefer: { readonly description: string } };
  return { ...prefer, description: [...added, prefer.description].join(", ") };
};

const ofPlugins = (has: ThreeInput["has"]): readonly (readonly [string, Part])[] =>
  Object.entries(OF_PLUGINS).flatMap(([plugin, parameters]) => (has(plugin) ? Object.entries(parameters) : []));

const BATCH: Part = {
  type: "array",
  items: {
    type: "object",
    required: ["path"],
    properties: {
      id: { type: "string" },
      method: { enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] },
      path: { type: "string", description: "Below the root, with its query: `/album?id=eq.$1.id`" },
      headers: { type: "object", additionalProperties: { type: "string" } },
      body: {},
    },
  },
};

const BATCH_ANSWERS: Part = {
  type: "array",
  items: {
    type: "object",
    required: ["status", "headers", "body"],
    properties: {
      id: { type: "string" },
      status: { type: "integer" },
      headers: { type: "object", additionalProperties: { type: "string" } },
      body: {},
    },
  },
};

const batchPath = (): Part => ({
  post: {
    tags: ["batch"],
    summary: "Several requests in one transaction",
    parameters: [parameterReference("prefer")],
    requestBody: { required: true, ...json(BATCH) },
    responses: { 200: ok(BATCH_ANSWERS, "An answer for each request"), default: FAILURE },
  },
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

const FAILURE = { description: "What is wrong", ...json(schemaReference("error.response")) };

/** How rows of related relations appear: by the name of their relation, where that says which relationship is meant. */
const embedsOf = (
  model: Model,
  relation: Relation,
  shown: ReadonlyMap<string, string>,
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
    const component = relationship && shown.get(relationship.target.name);
    if (relationship === undefined || more.length > 0 || component === undefined || own.has(name)) return [];
    if (relationOf(model, relationship.target) === undefined) return [];
    const row = schemaReference(component);
    return [[name, relationship.isToOne ? { anyOf: [row, { type: "null" }] } : listOf(row)]];
  });
};

const rowSchemas = (
  input: ThreeInput,
  relation: Relation,
  shown: ReadonlyMap<string, string>,
): readonly (readonly [string, Part])[] => {
  const { model } = input;
  const name = shown.get(relation.name) ?? relation.name;
  const described = ({ comment }: { readonly comment?: string }): Part =>
    comment === undefined ? {} : { description: comment };
  const columns = relation.columns.map((column) => {
    const schema = columnSchema(model, column);
    return { column, schema: { ...(column.notNull ? schema : nullable(schema)), ...described(column) } };
  });
  const written = columns.filter(
    ({ column }) => !column.isGenerated && column.identity !== "always" && column.isUpdatable,
  );
  const object = (
    of: typeof columns,
    required: readonly string[],
    more: readonly (readonly [string, Part])[],
  ): Part => ({
    type: "object",
    ...described(relation),
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries([...of.map(({ column, schema }): [string, Part] => [column.name, schema]), ...more]),
  });
  const needed = written
    .filter(({ column }) => column.notNull && column.default === undefined && column.baseDefault === undefined)
    .map(({ column }) => column.name);
  const all = relation.columns.map((column) => column.name);
  return [
    [name, object(columns, all, embedsOf(model, relation, shown))],
    [`${name}.insert`, object(written, needed, [])],
    [`${name}.update`, object(written, [], [])],
  ];
};

const ok = (schema: Part, description: string): Part => ({ description, ...json(schema) });

const relationPath = (input: ThreeInput, relation: Relation, name: string): Part => {
  const row = schemaReference(name);
  const isColumn = (parameter: string): boolean => relation.columns.some((column) => column.name === parameter);
  const more = ofPlugins(input.has).flatMap(([parameter]) => (isColumn(parameter) ? [] : [parameter]));
  const filters = [...relation.columns.map((_, at) => `filter.${name}.${at}`), "and", "or"];
  const operation = (parameters: readonly string[], more: Part): Part => ({
    tags: [relation.name],
    ...(relation.comment === undefined ? {} : { summary: relation.comment.split("\n", 1)[0] }),
    parameters: parameters.map(parameterReference),
    ...more,
  });
  const rows = ok(listOf(row), "The rows written, with `Prefer: return=representation`");
  const body = (suffix: string, many: boolean): Part => {
    const one = schemaReference(`${name}.${suffix}`);
    return { requestBody: { required: true, ...json(many ? { anyOf: [one, listOf(one)] } : one) } };
  };
  const done = { 200: rows, 204: { description: "Done" }, default: FAILURE };
  const operations: Part = {
    get: operation([...filters, "select", "order", "limit", "offset", ...more, "prefer"], {
      responses: { 200: ok(listOf(row), "The rows"), 206: ok(listOf(row), "Some of the rows"), default: FAILURE },
    }),
    ...(relation.writable.insert
      ? {
          post: operation(["select", "columns", "on_conflict", "prefer"], {
            ...body("insert", true),
            responses: { 201: rows, default: FAILURE },
          }),
        }
      : {}),
    ...(relation.writable.update
      ? { patch: operation([...filters, "select", "columns", "prefer"], { ...body("update", false), responses: done }) }
      : {}),
    ...(relation.writable.delete ? { delete: operation([...filters, "select", "prefer"], { responses: done }) } : {}),
  };
  return served(
    operations,
    input.methodsOf({ kind: "relation", relation: relationOf(input.model, relation) ?? relation }),
  );
};

/** The operations that plugins serve. */
const served = (operations: Part, methods: ReadonlyMap<string, unknown>): Part =>
  Object.fromEntries(Object.entries(operations).filter(([method]) => methods.has(method.toUpperCase())));

const returned = (model: Model, { returns }: Routine, shown: ReadonlyMap<string, string>): Part => {
  const { kind, isSet, relation, columns, type } = returns;
  if (kind === "void") return { type: "null" };
  const component = relation === undefined ? undefined : shown.get(relation.name);
  const value =
    component !== undefined
      ? schemaReference(component)
      : kind === "composite"
        ? {
            type: "object",
            required: columns.map((column) => column.name),
            properties: Object.fromEntries(
              columns.map((column) => [column.name, nullable(typeOf(model, column.type))]),
            ),
          }
        : kind === "scalar"
          ? nullable(typeOf(model, type))
          : {};
  return isSet ? listOf(value) : value;
};

const routinePath = (input: ThreeInput, routine: Routine, shown: ReadonlyMap<string, string>): Part => {
  const { model } = input;
  const named = takesRaw(routine) ? [] : routine.parameters;
  const required = named.filter(({ hasDefault }) => !hasDefault).map(({ name }) => name);
  const operation = (more: Part): Part => ({
    tags: [`(rpc) ${routine.name}`],
    ...(routine.comment === undefined ? {} : { summary: routine.comment.split("\n", 1)[0] }),
    ...more,
    responses: { 200: ok(returned(model, routine, shown), "What the function returns"), default: FAILURE },
  });
  const schema: Part = {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(named.map((each) => [each.name, nullable(parameterSchema(model, each))])),
  };
  const post = operation({ requestBody: { required: required.length > 0, ...json(takesRaw(routine) ? {} : schema) } });
  const get = operation({
    parameters: named.map((each) => {
      const { type } = parameterSchema(model, each);
      const isText = type === undefined || type === "array" || type === "object";
      return { name: each.name, in: "query", required: !each.hasDefault, schema: { type: isText ? "string" : type } };
    }),
  });
  const operations = routine.volatility === "volatile" || takesRaw(routine) ? { post } : { get, post };
  return served(
    operations,
    input.methodsOf({ kind: "routine", name: routine.name, routines: routinesOf(model, routine) }),
  );
};

const escapePattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** @rule R-OAS-7 R-OAS-8 */
export const buildThree = (input: ThreeInput): Members => new Members(documentMembers(input));

const documentMembers = function* (input: ThreeInput): Described {
  const relations = yield* shownRelations(input, input.isForeign);
  const shown = componentNames(relations.map(({ name }) => name));
  const operators = input.operators.map(escapePattern).join("|");
  const filter = { type: "string", pattern: `^(not\\.)?(${operators})(\\([A-Za-z_]+\\))?\\.` };
  const comment = input.model.schemaComments.get(input.schema);
  yield* Object.entries({
    openapi: "3.1.0",
    info: { title: comment?.split("\n", 1)[0] ?? "REST API of a PostgreSQL schema", version: input.version },
    servers: [{ url: input.server }],
    ...(input.hasSecurity ? { security: [{ JWT: [] }] } : {}),
  });
  const paths = function* (): Described {
    for (const relation of relations)
      yield someOf(`/${relation.name}`, relationPath(input, relation, shown.get(relation.name) ?? relation.name));
    if (input.has("rest-batch") && relations.every(({ name }) => name !== "batch")) yield ["/batch", batchPath()];
    for (const routine of shownRoutines(input, input.isForeign))
      yield someOf(`/rpc/${routine.name}`, routinePath(input, routine, shown));
  };
  const schemas = function* (): Described {
    for (const relation of relations) yield* rowSchemas(input, relation, shown);
    yield ["error.response", ERROR];
  };
  const parameters = function* (): Described {
    yield* Object.entries({ ...SHARED, prefer: preferOf(input.has) });
    yield* ofPlugins(input.has);
    for (const relation of relations)
      for (const [at, column] of relation.columns.entries())
        yield [
          `filter.${shown.get(relation.name) ?? relation.name}.${at}`,
          query(column.name, `A condition on \`${column.name}\`: \`eq.…\`, \`not.in.(…,…)\``, filter),
        ];
  };
  const components = function* (): Described {
    yield ["schemas", new Members(schemas())];
    yield ["parameters", new Members(parameters())];
    if (input.hasSecurity) yield ["securitySchemes", { JWT: { type: "http", scheme: "bearer", bearerFormat: "JWT" } }];
  };
  yield ["paths", new Members(paths())];
  yield ["components", new Members(components())];
};

/** No path without operations. */
const someOf = (path: string, operations: Part): readonly [string, Part] | undefined =>
  Object.keys(operations).length > 0 ? [path, operations] : undefined;
