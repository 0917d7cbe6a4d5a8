/**
 * Random live queries, the same for both surfaces: by key, lists by any column, in-lists, ranges, embeds, relationship
 * filters, aggregates, windows. Each requested row contains its owner.
 */
import type { Random } from "../../support/random.ts";
import { arrayName, hasKey, objectName, OWNERS, type TableShape, type World } from "./world.ts";

export type Scalar = string | number;

export type Filter =
  | { readonly kind: "and" | "or"; readonly parts: readonly Filter[] }
  | { readonly kind: "not"; readonly part: Filter }
  | { readonly kind: "compare"; readonly column: string; readonly operator: string; readonly operand: Scalar }
  | { readonly kind: "in"; readonly column: string; readonly operand: readonly Scalar[] }
  | { readonly kind: "null"; readonly column: string }
  | { readonly kind: "related"; readonly name: string; readonly table: string; readonly where: Filter };

interface EmbedShape {
  readonly name: string;
  readonly table: string;
  /** The name of the foreign key. */
  readonly constraint: string;
  readonly isToOne: boolean;
  readonly where: Filter | undefined;
  readonly limit: number | undefined;
}

export interface QueryShape {
  readonly relation: string;
  readonly kind: "list" | "key" | "aggregate";
  readonly id?: Scalar;
  readonly columns: readonly string[];
  readonly where: Filter | undefined;
  readonly embeds: readonly EmbedShape[];
  readonly isDescending: boolean;
  readonly limit: number | undefined;
  readonly offset: number | undefined;
  /** True if values are variables in GraphQL. */
  readonly hasVariables: boolean;
}

/** The columns by which a row is checked. */
export const CORE = ["id", "bucket", "owner", "n", "src"] as const;

const buildId = (shape: TableShape | undefined, id: number): Scalar => (shape?.key === "text" ? `k${id}` : id);

const drawFilter = (random: Random, world: World, shape: TableShape, depth: number): Filter => {
  const kind = random.int(depth === 0 ? 11 : 8);
  const parent = world.tables.find(({ name }) => name === shape.parent);
  switch (kind) {
    case 0:
      return { kind: "compare", column: "owner", operator: "eq", operand: random.pick(OWNERS) };
    case 1:
      return { kind: "compare", column: "bucket", operator: random.pick(["eq", "neq", "gt"]), operand: random.int(4) };
    case 2:
      return { kind: "in", column: "owner", operand: random.sample(OWNERS, 1 + random.int(2)) };
    case 3:
      return { kind: "in", column: "id", operand: [1, 2, 3].map(() => buildId(shape, 1 + random.int(14))) };
    case 4:
      return {
        kind: "compare",
        column: "val",
        operator: random.pick(["lt", "lte", "gt", "gte"]),
        operand: random.int(20),
      };
    case 5:
      return { kind: "compare", column: "ref", operator: "eq", operand: buildId(parent, 1 + random.int(10)) };
    case 6:
      return random.chance(0.5)
        ? { kind: "null", column: random.pick(["val", "ref", "label"]) }
        : { kind: "compare", column: "label", operator: "like", operand: random.pick(["a%", "%y%"]) };
    case 7: {
      const relationships = [
        ...(parent === undefined ? [] : [{ name: objectName(shape), table: parent }]),
        ...world.tables
          .filter((child) => child.parent === shape.name)
          .map((child) => ({ name: arrayName(child), table: child })),
      ];
      if (relationships.length === 0)
        return { kind: "compare", column: "id", operator: "gt", operand: buildId(shape, 3) };
      const relationship = random.pick(relationships);
      return {
        kind: "related",
        name: relationship.name,
        table: relationship.table.name,
        where: drawFilter(random, world, relationship.table, depth + 1),
      };
    }
    case 8:
      return { kind: "not", part: drawFilter(random, world, shape, depth + 1) };
    default:
      return {
        kind: kind === 9 ? "and" : "or",
        parts: [drawFilter(random, world, shape, depth + 1), drawFilter(random, world, shape, depth + 1)],
      };
  }
};

const drawEmbeds = (random: Random, world: World, shape: TableShape): readonly EmbedShape[] => {
  const parent = world.tables.find(({ name }) => name === shape.parent);
  const relationships: Omit<EmbedShape, "where" | "limit">[] = [
    ...(parent === undefined
      ? []
      : [{ name: objectName(shape), table: parent.name, constraint: `${shape.name}_ref`, isToOne: true }]),
    ...world.tables
      .filter((child) => child.parent === shape.name)
      .map((child) => ({ name: arrayName(child), table: child.name, constraint: `${child.name}_ref`, isToOne: false })),
  ];
  return random.sample(relationships, random.int(3)).map((relationship) => ({
    ...relationship,
    where:
      !relationship.isToOne && random.chance(0.4)
        ? // the world contains the table
          drawFilter(random, world, world.tables.find(({ name }) => name === relationship.table) as TableShape, 1)
        : undefined,
    limit: !relationship.isToOne && random.chance(0.2) ? 1 + random.int(2) : undefined,
  }));
};

export const hasRelated = (filter: Filter | undefined): boolean =>
  filter !== undefined &&
  (filter.kind === "related" ||
    ((filter.kind === "and" || filter.kind === "or") && filter.parts.some(hasRelated)) ||
    (filter.kind === "not" && hasRelated(filter.part)));

/** Draws a query. REST has no filters on relationships, except embeds. */
export const drawQuery = (random: Random, world: World, surface: "graphql" | "rest"): QueryShape => {
  const view = random.chance(0.12) && world.views.length > 0 ? random.pick(world.views) : undefined;
  const shape =
    view === undefined
      ? random.pick(world.tables)
      : (world.tables.find(({ name }) => name === view.table.split("_")[0]) as TableShape); // the world contains the table
  const relation = view?.name ?? shape.name;
  const extra = random.sample(["label", "val", "ref"], random.int(3));
  const columns = [
    ...CORE,
    ...extra,
    ...(random.chance(0.06) ? ["secret"] : []),
    ...(random.chance(0.06) ? ["extra"] : []),
    ...(random.chance(0.12) && view === undefined ? [`risky_${shape.name}`] : []),
  ];
  const id = buildId(shape, 1 + random.int(14));
  const common = {
    relation,
    columns,
    embeds: view === undefined ? drawEmbeds(random, world, shape) : [],
    isDescending: random.chance(0.2),
    limit: undefined,
    offset: undefined,
    hasVariables: random.chance(0.7),
  };
  const kind = random.pick(["key", "list", "list", "list", surface === "graphql" ? "aggregate" : "list"] as const);
  if (kind === "key" && view === undefined && hasKey(shape)) return { ...common, kind, id, where: undefined };
  let where = random.chance(0.85) ? drawFilter(random, world, shape, 0) : undefined;
  if ((surface === "rest" || view !== undefined) && hasRelated(where))
    where = { kind: "compare", column: "id", operator: "eq", operand: id };
  return {
    ...common,
    kind: kind === "aggregate" ? kind : "list",
    where,
    embeds: surface === "rest" || kind !== "aggregate" ? common.embeds : [],
    limit: random.chance(0.25) ? 1 + random.int(5) : undefined,
    offset: random.chance(0.1) ? 1 : undefined,
  };
};

const revalue = (random: Random, filter: Filter): Filter => {
  const replaceValue = (column: string, value: Scalar): Scalar => {
    if (column === "owner") return random.pick(OWNERS);
    const number = random.int(column === "bucket" ? 4 : 14);
    return typeof value === "number" ? number : value.startsWith("k") ? `k${number}` : value;
  };
  switch (filter.kind) {
    case "and":
    case "or":
      return { ...filter, parts: filter.parts.map((part) => revalue(random, part)) };
    case "not":
      return { ...filter, part: revalue(random, filter.part) };
    case "compare":
      return { ...filter, operand: replaceValue(filter.column, filter.operand) };
    case "in":
      return { ...filter, operand: filter.operand.map((value) => replaceValue(filter.column, value)) };
    case "related":
      return { ...filter, where: revalue(random, filter.where) };
    case "null":
      return filter;
  }
};

/** The same query with other values, which shares a statement with it. */
export const drawLike = (random: Random, query: QueryShape): QueryShape => ({
  ...query,
  where: query.where === undefined ? undefined : revalue(random, query.where),
  ...(query.id === undefined
    ? {}
    : { id: typeof query.id === "number" ? 1 + random.int(14) : `k${1 + random.int(14)}` }),
});
