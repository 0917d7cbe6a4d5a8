/**
 * Random REST requests, made from the model: selects with embeds, spreads, casts, paths and aggregates, filters and
 * logic trees, orders, windows, calls by GET and POST, writes. The same shape comes with several values.
 */
import {
  findRelation,
  type Column,
  type Model,
  type Relation,
  type Relationship,
  type Routine,
} from "../../core/index.ts";
import type { Random } from "../support/random.ts";
import type { OracleRequest } from "../support/oracle/oracle.ts";

interface RestShape {
  readonly model: Model;
  readonly schema: string;
  /** The relations and functions of most requests. Most callers may not use the others. */
  readonly mostly?: readonly string[];
  /** Decides the shape of the request. */
  readonly shape: Random;
  /** Decides the values. */
  readonly values: Random;
}

const PLAIN = /^[a-z_][a-z0-9_]*$/;

const NUMBERS = ["1", "2", "3", "4", "47", "402", "853", "0"];
const TEXTS = ["Ariel", "Fram", "Oslo", "Abba", "Arrival", "NO", "open", "a", "it's", "x,y", "*a*", ""];
const BY_CATEGORY: Readonly<Record<string, readonly string[]>> = {
  N: NUMBERS,
  S: TEXTS,
  B: ["true", "false"],
  D: ["2024-05-01", "2020-01-01 10:00:00"],
  A: ["{NO}", "{1,2}", "{}"],
  R: ["[1,5)", "[2024-01-01,2024-02-01)"],
  E: ["able", "master", "happy"],
};

const drawTypedValue = ({ model, values }: RestShape, type: number): string => {
  const { category = "S", name = "" } = model.types.get(type) ?? {};
  if (name === "json" || name === "jsonb") return values.pick(['{"a":1}', "[1]", '"x"', "5"]);
  return values.pick(BY_CATEGORY[category] ?? TEXTS);
};

const listPlainColumns = (relation: Relation): readonly Column[] =>
  relation.columns.filter(({ name }) => PLAIN.test(name));

const quote = (text: string): string => (/[,()"\\]|^$/.test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : text);

const operation = (request: RestShape, column: Column): string => {
  const { shape, model } = request;
  const drawValue = (): string => drawTypedValue(request, column.type);
  const negation = shape.chance(0.15) ? "not." : "";
  const { category = "S" } = model.types.get(column.type) ?? {};
  // One value in twenty does not fit its column.
  const suits = (categories: string): boolean => categories.includes(category) || shape.chance(0.05);
  const kind = shape.int(9);
  switch ((kind === 2 && !suits("S")) || (kind === 4 && !suits("AR")) || (kind === 3 && !suits("NSD")) ? 8 : kind) {
    case 0:
      return `${negation}in.(${Array.from({ length: request.values.int(4) }, () => quote(drawValue())).join(",")})`;
    case 1:
      return `${negation}is.${shape.pick(suits("B") ? ["null", "true", "not_null", "unknown"] : ["null", "not_null"])}`;
    case 2:
      return `${negation}${shape.pick(["like", "ilike", "match", "imatch"])}.${request.values.pick(["a", "A.*", "^F", "%r%", "*a*"].slice(0, kind === 2 ? 4 : 5))}`;
    case 3:
      return `${negation}${shape.pick(["eq", "gt", "lt"])}(${shape.pick(["any", "all"])}).{${[drawValue(), drawValue()].filter((text) => !/[,{}"]/.test(text)).join(",")}}`;
    case 4:
      return `${negation}${shape.pick(["cs", "cd", "ov"])}.${drawValue()}`;
    default:
      return `${negation}${shape.pick(["eq", "neq", "gt", "gte", "lt", "lte", "isdistinct"])}.${drawValue()}`;
  }
};

const selectedColumn = ({ shape, model }: RestShape, column: Column): string => {
  const type = model.types.get(column.type);
  const isDocument = type?.name === "json" || type?.name === "jsonb";
  const path = isDocument && shape.chance(0.5) ? shape.pick(["->engine", "->engine->>kw", "->tags->0", "->>a"]) : "";
  const aggregate = shape.chance(0.04)
    ? `.${shape.pick(type?.category === "N" ? ["count", "max", "min", "sum", "avg"] : ["count"])}()`
    : "";
  return `${shape.chance(0.15) ? "x:" : ""}${column.name}${path}${shape.chance(0.1) ? "::text" : ""}${aggregate}`;
};

interface DrawnEmbed {
  readonly name: string;
  readonly relation: Relation;
  readonly relationship: Relationship;
}

interface BuiltSelect {
  readonly select: string;
  readonly embeds: readonly DrawnEmbed[];
}

const buildSelect = (request: RestShape, relation: Relation, depth: number): BuiltSelect => {
  const { shape, model } = request;
  const parts = shape.chance(0.25)
    ? ["*"]
    : shape.sample(listPlainColumns(relation), 1 + shape.int(3)).map((column) => selectedColumn(request, column));
  if (shape.chance(0.05)) parts.push("count()");
  const embeds: DrawnEmbed[] = [];
  const ways = relation.relationships.filter(
    ({ target, routine }) => PLAIN.test(routine?.name ?? target.name) && findRelation(model, target) !== undefined,
  );
  for (const relationship of depth >= 2 ? [] : shape.sample(ways, shape.int(3))) {
    const target = findRelation(model, relationship.target)!;
    const name = relationship.routine?.name ?? target.name;
    const hint =
      relationship.constraint !== "" && PLAIN.test(relationship.constraint) && shape.chance(0.6)
        ? `!${relationship.constraint}`
        : "";
    const alias = shape.chance(0.2) ? `e${depth}${embeds.length}` : "";
    const inner = buildSelect(request, target, depth + 1).select;
    const isSpread = shape.chance(0.2);
    parts.push(
      `${isSpread ? "..." : ""}${alias === "" || isSpread ? "" : `${alias}:`}${name}${hint}${shape.pick(["", "", "!inner", "!left"])}(${shape.chance(0.05) ? "" : inner})`,
    );
    embeds.push({ name: alias === "" || isSpread ? name : alias, relation: target, relationship });
  }
  return { select: parts.join(","), embeds };
};

const condition = (request: RestShape, relation: Relation, prefix: string): readonly [string, string] | undefined => {
  const { shape } = request;
  const columns = listPlainColumns(relation);
  if (columns.length === 0) return undefined;
  if (shape.chance(0.2)) {
    const leaf = (): string => {
      const column = shape.pick(columns);
      return `${column.name}.${operation(request, column)}`;
    };
    const innerTree = shape.chance(0.3)
      ? `,${shape.pick(["and", "or", "not.and", "not.or"])}(${leaf()},${leaf()})`
      : "";
    return [`${prefix}${shape.pick(["or", "and", "not.or"])}`, `(${leaf()},${leaf()}${innerTree})`];
  }
  const column = shape.pick(columns);
  return [`${prefix}${column.name}`, operation(request, column)];
};

const drawOrder = ({ shape }: RestShape, relation: Relation, embeds: readonly DrawnEmbed[]): string => {
  const terms = shape.sample(listPlainColumns(relation), 1 + shape.int(2)).map(({ name }) => name);
  const toOne = embeds.find(({ relationship }) => relationship.isToOne);
  if (toOne !== undefined && shape.chance(0.3) && listPlainColumns(toOne.relation).length > 0)
    terms.unshift(`${toOne.name}(${shape.pick(listPlainColumns(toOne.relation)).name})`);
  return terms
    .map((term) => `${term}${shape.pick(["", ".asc", ".desc"])}${shape.pick(["", "", ".nullsfirst", ".nullslast"])}`)
    .join(",");
};

/** The query string after `?`. Rows are ordered by all their columns, so that both servers have one order. */
const drawQuery = (request: RestShape, relation: Relation): [string, string][] => {
  const { shape, values } = request;
  const pairs: [string, string][] = [];
  const { select, embeds } = buildSelect(request, relation, 0);
  if (shape.chance(0.85)) pairs.push(["select", select]);
  const add = (pair: readonly [string, string] | undefined): void => {
    if (pair !== undefined) pairs.push([pair[0], pair[1]]);
  };
  for (let count = shape.int(3); count > 0; count--) add(condition(request, relation, ""));
  for (const embed of embeds) {
    if (shape.chance(0.25)) add(condition(request, embed.relation, `${embed.name}.`));
    if (shape.chance(0.1)) pairs.push([embed.name, shape.pick(["is.null", "not.is.null"])]);
    if (shape.chance(0.15)) pairs.push([`${embed.name}.limit`, String(values.int(3))]);
    if (shape.chance(0.15)) pairs.push([`${embed.name}.order`, drawOrder(request, embed.relation, [])]);
  }
  if (shape.chance(0.6)) pairs.push(["order", drawOrder(request, relation, embeds)]);
  if (shape.chance(0.3)) pairs.push(["limit", String(values.int(4))]);
  if (shape.chance(0.2)) pairs.push(["offset", String(values.int(3))]);
  return pairs;
};

const buildPath = (name: string, pairs: readonly (readonly [string, string])[]): string =>
  `/${encodeURIComponent(name)}${pairs.length === 0 ? "" : `?${pairs.map(([key, text]) => `${key}=${encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3A/g, ":")}`).join("&")}`}`;

const drawJsonValue = (request: RestShape, type: number): unknown => {
  const text = drawTypedValue(request, type);
  const { category = "S" } = request.model.types.get(type) ?? {};
  if (request.values.chance(0.1)) return null;
  return category === "N" ? Number(text) : category === "B" ? text === "true" : text;
};

const drawRows = (request: RestShape, relation: Relation, count: number): Readonly<Record<string, unknown>>[] => {
  const columns = request.shape.sample(listPlainColumns(relation), 1 + request.shape.int(4));
  return Array.from({ length: count }, () =>
    Object.fromEntries(columns.map((column) => [column.name, drawJsonValue(request, column.type)])),
  );
};

const drawRow = (request: RestShape, relation: Relation): Readonly<Record<string, unknown>> =>
  drawRows(request, relation, 1)[0]!;

const drawCall = (request: RestShape, routine: Routine): OracleRequest => {
  const { shape, model, values } = request;
  const givenParameters = routine.parameters.filter(
    (parameter) => parameter.name !== "" && (!parameter.hasDefault || shape.chance(0.5)),
  );
  const relation = routine.returns.relation === undefined ? undefined : findRelation(model, routine.returns.relation);
  const pairs = relation === undefined ? [] : drawQuery(request, relation);
  const name = `rpc/${routine.name}`;
  const path = (queryPairs: readonly (readonly [string, string])[]): string =>
    buildPath(name, queryPairs).replace("rpc%2F", "rpc/");
  if (shape.chance(0.6))
    return {
      method: "GET",
      path: path([
        ...givenParameters.map((parameter) => [parameter.name, drawTypedValue(request, parameter.type)] as const),
        ...pairs,
      ]),
    };
  const [onlyParameter] = routine.parameters;
  if (routine.parameters.length === 1 && onlyParameter?.name === "")
    return {
      method: "POST",
      path: path(pairs),
      headers: {
        "content-type": shape.pick(["application/json", "text/plain", "text/xml", "application/octet-stream"]),
      },
      body: values.pick(['{"a":1}', "[1,2]", "<a/>"]),
    };
  return {
    method: "POST",
    path: path(pairs),
    body: Object.fromEntries(
      givenParameters.map((parameter) => [parameter.name, drawJsonValue(request, parameter.type)]),
    ),
  };
};

const WRITE_PREFERENCES = [
  "return=representation",
  "return=headers-only",
  "return=minimal",
  "return=representation, missing=default",
  "return=representation, resolution=merge-duplicates",
  "return=representation, count=exact",
  "max-affected=2, handling=strict",
];

const drawWrite = (request: RestShape, relation: Relation): OracleRequest => {
  const { shape } = request;
  const method = shape.pick(["POST", "POST", "PATCH", "DELETE", "PUT"]);
  const prefer = { prefer: shape.pick(WRITE_PREFERENCES) };
  const pairs = shape.chance(0.6) ? drawQuery(request, relation) : [];
  if (method === "POST")
    return {
      method,
      path: buildPath(
        relation.name,
        pairs.filter(([key]) => key === "select"),
      ),
      headers: prefer,
      body: shape.chance(0.4) ? drawRows(request, relation, 1 + shape.int(3)) : drawRow(request, relation),
    };
  if (method === "DELETE") return { method, path: buildPath(relation.name, pairs), headers: prefer };
  if (method === "PATCH")
    return { method, path: buildPath(relation.name, pairs), headers: prefer, body: drawRow(request, relation) };
  const keys = relation.columns.filter(({ name }) => relation.primaryKey.includes(name));
  const row = Object.fromEntries(keys.map((column) => [column.name, drawTypedValue(request, column.type)]));
  return {
    method,
    path: buildPath(
      relation.name,
      Object.entries(row).map(([key, text]) => [key, `eq.${text}`]),
    ),
    headers: prefer,
    body: { ...drawRow(request, relation), ...row },
  };
};

/** Functions that are not called: they wait, or a rollback does not undo their effect. */
const LEFT_OUT = /sleep|next_number|^ring$/;

const isCallable = ({ model }: RestShape, { parameters, returns }: Routine): boolean =>
  model.types.get(returns.type)?.name !== "trigger" &&
  (parameters.every(({ name }) => name !== "") ||
    (parameters.length === 1 && ["json", "jsonb", "text", "xml", "bytea"].includes(parameters[0]!.sqlType)));

const inSchema = (request: OracleRequest, schema: string): OracleRequest => ({
  ...request,
  headers: { ...request.headers, [request.method === "GET" ? "accept-profile" : "content-profile"]: schema },
});

/** Draws a request of a schema. With the same shape and other values, the request differs only in its values. */
export const drawRestRequest = (request: RestShape): OracleRequest => {
  const { model, schema, shape } = request;
  const relations = [...model.relations.values()].filter(
    (relation) => relation.schema === schema && PLAIN.test(relation.name) && listPlainColumns(relation).length > 0,
  );
  const routines = [...model.routines.values()]
    .flat()
    .filter(
      (routine) =>
        routine.schema === schema &&
        PLAIN.test(routine.name) &&
        !LEFT_OUT.test(routine.name) &&
        isCallable(request, routine),
    );
  const { mostly } = request;
  const pick = <Named extends { readonly name: string }>(all: readonly Named[]): Named =>
    shape.pick(mostly !== undefined && shape.chance(0.85) ? all.filter(({ name }) => mostly.includes(name)) : all);
  if (shape.chance(0.25) && routines.length > 0) return inSchema(drawCall(request, pick(routines)), schema);
  const relation = pick(relations);
  if (shape.chance(0.2)) return inSchema(drawWrite(request, relation), schema);
  return inSchema({ method: "GET", path: buildPath(relation.name, drawQuery(request, relation)) }, schema);
};
