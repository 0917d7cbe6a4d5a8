/** Writes a query for each surface. */
import { CORE, hasRelated, type Filter, type QueryShape, type Scalar } from "./queries.ts";
import { SCHEMA } from "./world.ts";

interface GraphqlText {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

/**
 * Writes a query for GraphQL. `types` maps the columns' comparisons of the schema (`live_t1_bool_exp` → column → type
 * of a value).
 */
export const graphqlText = (
  shape: QueryShape,
  operation: "query" | "subscription",
  findType: (relation: string, column: string) => string | undefined,
): GraphqlText => {
  const declarations: string[] = [];
  const variables: Record<string, unknown> = {};
  const literal = (value: unknown): string => JSON.stringify(value);
  const value = (relation: string, column: string, operand: unknown): string => {
    const type = shape.hasVariables ? findType(relation, column) : undefined;
    if (type === undefined) return literal(operand);
    const name = `v${declarations.length}`;
    declarations.push(`$${name}: ${Array.isArray(operand) ? `[${type}!]!` : `${type}!`}`);
    variables[name] = operand;
    return `$${name}`;
  };
  const condition = (filter: Filter, relation: string): string => {
    switch (filter.kind) {
      case "and":
      case "or":
        return `{_${filter.kind}: [${filter.parts.map((part) => condition(part, relation)).join(", ")}]}`;
      case "not":
        return `{_not: ${condition(filter.part, relation)}}`;
      case "compare":
        return `{${filter.column}: {_${filter.operator}: ${value(relation, filter.column, filter.operand)}}}`;
      case "in":
        return `{${filter.column}: {_in: ${value(relation, filter.column, filter.operand)}}}`;
      case "null":
        return `{${filter.column}: {_is_null: true}}`;
      case "related":
        return `{${filter.name}: ${condition(filter.where, filter.table)}}`;
    }
  };
  const args = (parts: readonly (string | undefined)[]): string => {
    const presentParts = parts.filter((part) => part !== undefined);
    return presentParts.length === 0 ? "" : `(${presentParts.join(", ")})`;
  };
  const window = [
    shape.limit === undefined ? undefined : `limit: ${shape.limit}`,
    shape.offset === undefined ? undefined : `offset: ${shape.offset}`,
  ];
  const embeds = shape.embeds.map(({ name, table, isToOne, where, limit }) =>
    isToOne
      ? `${name} { ${CORE.join(" ")} }`
      : `${name}${args([
          where === undefined ? undefined : `where: ${condition(where, table)}`,
          "order_by: {n: asc}",
          limit === undefined ? undefined : `limit: ${limit}`,
        ])} { ${CORE.join(" ")} }`,
  );
  const selection = [...shape.columns, ...embeds].join(" ");
  const root = `${SCHEMA}_${shape.relation}`;
  const where = shape.where === undefined ? undefined : `where: ${condition(shape.where, shape.relation)}`;
  const order = `order_by: {n: ${shape.isDescending ? "desc" : "asc"}}`;
  const body =
    shape.kind === "key"
      ? `${root}_by_pk(id: ${value(shape.relation, "id", shape.id)}) { ${selection} }`
      : shape.kind === "aggregate"
        ? `${root}_aggregate${args([where, order, ...window])} { aggregate { count max { owner src n } min { owner src } sum { val } } nodes { ${CORE.join(" ")} } }`
        : `${root}${args([where, order, ...window])} { ${selection} }`;
  return {
    query: `${operation}${declarations.length === 0 ? "" : ` (${declarations.join(", ")})`} { ${body} }`,
    variables,
  };
};

const quote = (value: Scalar): string =>
  typeof value === "number"
    ? String(value)
    : /[,()"\\]|^$/.test(value)
      ? `"${value.replace(/["\\]/g, "\\$&")}"`
      : value;

const restCondition = (filter: Filter): readonly [name: string, text: string] => {
  switch (filter.kind) {
    case "and":
    case "or":
      return [filter.kind, `(${filter.parts.map(nestCondition).join(",")})`];
    case "not": {
      const [name, text] = restCondition(filter.part);
      return name === "and" || name === "or" || name.startsWith("not.") ? [`not.${name}`, text] : [name, `not.${text}`];
    }
    case "compare":
      return [
        filter.column,
        `${filter.operator}.${filter.operator === "like" ? String(filter.operand).replaceAll("%", "*") : filter.operand}`,
      ];
    case "in":
      return [filter.column, `in.(${filter.operand.map(quote).join(",")})`];
    case "null":
      return [filter.column, "is.null"];
    case "related":
      return ["id", "not.is.null"];
  }
};

const nestCondition = (filter: Filter): string => {
  const [name, text] = restCondition(filter);
  return /^(?:not\.)?(?:and|or)$/.test(name) ? `${name}${text}` : `${name}.${text}`;
};

export const restPath = (shape: QueryShape): string => {
  const select = [
    ...shape.columns,
    ...shape.embeds.map(({ name, table, constraint }) => `${name}:${table}!${constraint}(${CORE.join(",")})`),
  ].join(",");
  const pairs: [string, string][] = [["select", select]];
  if (shape.kind === "key") pairs.push(["id", `eq.${shape.id}`]);
  if (shape.where !== undefined) pairs.push([...restCondition(shape.where)]);
  for (const { name, isToOne, where, limit } of shape.embeds) {
    if (isToOne) continue;
    if (where !== undefined && !hasRelated(where)) {
      const [column, text] = restCondition(where);
      pairs.push([`${name}.${column}`, text]);
    }
    pairs.push([`${name}.order`, "n"]);
    if (limit !== undefined) pairs.push([`${name}.limit`, String(limit)]);
  }
  pairs.push(["order", shape.isDescending ? "n.desc" : "n"]);
  if (shape.limit !== undefined) pairs.push(["limit", String(shape.limit)]);
  if (shape.offset !== undefined) pairs.push(["offset", String(shape.offset)]);
  return `/${shape.relation}?${pairs.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join("&")}`;
};
