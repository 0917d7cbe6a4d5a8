/** Distances as orderings: `place <-> '(1,2)'`, for which indexes return the nearest rows first. */
import { ident, sql, type Model, type OrderingSpec, type Sql } from "../../../core/index.ts";

/** The operator of an extension, qualified with the extension's schema. */
const operatorOf = (extension: string, model: Model): Sql =>
  sql`operator(${ident(model.extensions.get(extension) ?? "public")}.<->)`;

const FROM = [{ name: "from" }] as const;

const none = sql`null`;

/** An ordering by a built-in operator. */
const builtInOrdering = (types: readonly string[], operand?: string): OrderingSpec => ({
  name: "nearest",
  types,
  operands: operand === undefined ? FROM : [{ name: "from", type: operand }],
  description: "by the distance from a value, nearest first",
  builtIn: [],
  compile: (column, [from = none]) => sql`(${column} operator(pg_catalog.<->) ${from})`,
});

const extensionOrdering = (
  extension: string,
  types: readonly string[],
  more: Partial<OrderingSpec> = {},
): OrderingSpec => ({
  name: "nearest",
  types,
  extension,
  operands: FROM,
  description: "by the distance from a value, nearest first",
  compile: (column, [from = none], model) => sql`(${column} ${operatorOf(extension, model)} ${from})`,
  ...more,
});

/** An ordering of PostGIS values, whose operands arrive as geometry. */
const postgis = (type: string): OrderingSpec =>
  extensionOrdering("postgis", [type], {
    compile: (column, [from = none], model) => {
      const own = ident(model.extensions.get("postgis") ?? "public", type);
      return sql`(${column} ${operatorOf("postgis", model)} (${from})::${own})`;
    },
  });

/** An ordering of vectors by a distance other than the Euclidean one. */
const vectors = (name: string, symbol: "<=>" | "<#>", description: string): OrderingSpec => ({
  name,
  types: VECTORS,
  extension: "vector",
  operands: FROM,
  description,
  compile: (column, [from = none], model) => {
    const schema = ident(model.extensions.get("vector") ?? "public");
    return symbol === "<=>"
      ? sql`(${column} operator(${schema}.<=>) ${from})`
      : sql`(${column} operator(${schema}.<#>) ${from})`;
  },
});

const VECTORS = ["vector", "halfvec", "sparsevec"];

const IN_RANGE = ["-", "<@", "isempty", "lower", "upper"];

/**
 * The distance of a value from a range, 0 inside of it. Ranges of whole numbers exclude their upper bound. No index
 * supports this ordering.
 */
const rangeOrdering = (range: string, element: string, isWhole: boolean): OrderingSpec => ({
  name: "nearest",
  types: [range],
  operands: [{ name: "from", type: element }],
  description: "by the distance of a value from the range, nearest first",
  builtIn: IN_RANGE,
  compile: (column, [from = none]) => {
    const last = isWhole ? sql`(upper(${column}) - 1)` : sql`upper(${column})`;
    return sql`(case when isempty(${column}) then null when ${from} <@ ${column} then ${from} - ${from} else greatest(lower(${column}) - ${from}, ${from} - ${last}) end)`;
  },
});

/** The orderings named `nearest`, one for each type. */
export const orderings: readonly OrderingSpec[] = [
  builtInOrdering(["point"]),
  builtInOrdering(["box", "circle", "polygon"], "point"),
  postgis("geometry"),
  postgis("geography"),
  extensionOrdering("pg_trgm", ["text", "varchar"], { operands: [{ name: "from", type: "text" }] }),
  extensionOrdering("btree_gist", ["int2", "int4", "int8", "float4", "float8", "date", "timestamp", "timestamptz"]),
  extensionOrdering("cube", ["cube"]),
  extensionOrdering("vector", VECTORS),
  vectors("nearest_cosine", "<=>", "by the cosine distance from a vector, nearest first"),
  vectors("nearest_product", "<#>", "by the negative inner product with a vector, nearest first"),
  rangeOrdering("int4range", "int4", true),
  rangeOrdering("int8range", "int8", true),
  rangeOrdering("numrange", "numeric", false),
  rangeOrdering("daterange", "date", true),
  rangeOrdering("tsrange", "timestamp", false),
  rangeOrdering("tstzrange", "timestamptz", false),
];

/** Types of extensions, which a database may lack. */
export const extensionTypes = ["cube", "geography", "geometry", ...VECTORS];

/** Types whose distances are intervals. */
export const IN_TIME: ReadonlySet<string> = new Set(["timestamp", "timestamptz", "tsrange", "tstzrange"]);

/** Types whose operands arrive as GeoJSON. */
export const IN_GEOJSON: ReadonlySet<string> = new Set(["geography", "geometry"]);
