/** Distances as orderings: `place <-> '(1,2)'`, for which indexes return the nearest rows first. */
import { quoteIdentifier, sql, type Model, type OrderingSpec, type Sql } from "../../../core/index.ts";

/** Returns the operator of an extension, qualified with the extension's schema. */
const compileOperator = (extension: string, model: Model): Sql =>
  sql`operator(${quoteIdentifier(model.extensions.get(extension) ?? "public")}.<->)`;

const FROM_OPERAND = [{ name: "from" }] as const;

const nullSql = sql`null`;

/** Returns an ordering by a built-in operator. */
const buildBuiltInOrdering = (types: readonly string[], operand?: string): OrderingSpec => ({
  name: "nearest",
  types,
  operands: operand === undefined ? FROM_OPERAND : [{ name: "from", type: operand }],
  description: "by the distance from a value, nearest first",
  builtIn: [],
  compile: (column, [from = nullSql]) => sql`(${column} operator(pg_catalog.<->) ${from})`,
});

const buildExtensionOrdering = (
  extension: string,
  types: readonly string[],
  spec: Partial<OrderingSpec> = {},
): OrderingSpec => ({
  name: "nearest",
  types,
  extension,
  operands: FROM_OPERAND,
  description: "by the distance from a value, nearest first",
  compile: (column, [from = nullSql], model) => sql`(${column} ${compileOperator(extension, model)} ${from})`,
  ...spec,
});

/** Returns an ordering of PostGIS values, whose operands arrive as geometry. */
const buildPostgisOrdering = (type: string): OrderingSpec =>
  buildExtensionOrdering("postgis", [type], {
    compile: (column, [from = nullSql], model) => {
      const qualifiedType = quoteIdentifier(model.extensions.get("postgis") ?? "public", type);
      return sql`(${column} ${compileOperator("postgis", model)} (${from})::${qualifiedType})`;
    },
  });

/** Returns an ordering of vectors by a distance other than the Euclidean one. */
const buildVectorOrdering = (name: string, symbol: "<=>" | "<#>", description: string): OrderingSpec => ({
  name,
  types: VECTOR_TYPES,
  extension: "vector",
  operands: FROM_OPERAND,
  description,
  compile: (column, [from = nullSql], model) => {
    const schema = quoteIdentifier(model.extensions.get("vector") ?? "public");
    return symbol === "<=>"
      ? sql`(${column} operator(${schema}.<=>) ${from})`
      : sql`(${column} operator(${schema}.<#>) ${from})`;
  },
});

const VECTOR_TYPES = ["vector", "halfvec", "sparsevec"];

const RANGE_BUILT_INS = ["-", "<@", "isempty", "lower", "upper"];

/** Returns an ordering by the distance of a value from a range, which is 0 inside the range. Ranges of whole numbers
 *  exclude their upper bound. No index supports this ordering. */
const buildRangeOrdering = (range: string, element: string, isWhole: boolean): OrderingSpec => ({
  name: "nearest",
  types: [range],
  operands: [{ name: "from", type: element }],
  description: "by the distance of a value from the range, nearest first",
  builtIn: RANGE_BUILT_INS,
  compile: (column, [from = nullSql]) => {
    const last = isWhole ? sql`(upper(${column}) - 1)` : sql`upper(${column})`;
    return sql`(case when isempty(${column}) then null when ${from} <@ ${column} then ${from} - ${from} else greatest(lower(${column}) - ${from}, ${from} - ${last}) end)`;
  },
});

/** The orderings named `nearest`, one for each type. */
export const orderings: readonly OrderingSpec[] = [
  buildBuiltInOrdering(["point"]),
  buildBuiltInOrdering(["box", "circle", "polygon"], "point"),
  buildPostgisOrdering("geometry"),
  buildPostgisOrdering("geography"),
  buildExtensionOrdering("pg_trgm", ["text", "varchar"], { operands: [{ name: "from", type: "text" }] }),
  buildExtensionOrdering("btree_gist", [
    "int2",
    "int4",
    "int8",
    "float4",
    "float8",
    "date",
    "timestamp",
    "timestamptz",
  ]),
  buildExtensionOrdering("cube", ["cube"]),
  buildExtensionOrdering("vector", VECTOR_TYPES),
  buildVectorOrdering("nearest_cosine", "<=>", "by the cosine distance from a vector, nearest first"),
  buildVectorOrdering("nearest_product", "<#>", "by the negative inner product with a vector, nearest first"),
  buildRangeOrdering("int4range", "int4", true),
  buildRangeOrdering("int8range", "int8", true),
  buildRangeOrdering("numrange", "numeric", false),
  buildRangeOrdering("daterange", "date", true),
  buildRangeOrdering("tsrange", "timestamp", false),
  buildRangeOrdering("tstzrange", "timestamptz", false),
];

/** Types of extensions in `orderings`, which a database may lack without a warning. */
export const extensionTypes = ["cube", "geography", "geometry", ...VECTOR_TYPES];

/** Types whose distances are intervals. */
export const INTERVAL_DISTANCE_TYPES: ReadonlySet<string> = new Set([
  "timestamp",
  "timestamptz",
  "tsrange",
  "tstzrange",
]);

/** Types whose operands arrive as GeoJSON. */
export const GEOJSON_TYPES: ReadonlySet<string> = new Set(["geography", "geometry"]);
