/** The aggregate functions of PostgreSQL that the surfaces support: `select=tonnage.sum()` and
 *  `{ album_aggregate { aggregate { sum { sold } } } }`. */
import { definePlugin, type AggregateSpec } from "../../core/index.ts";

const NUMBERS = ["int2", "int4", "int8", "float4", "float8", "numeric", "money"] as const;

/** @rule G-OUT-9 */
const COMPARABLE = [
  ...NUMBERS,
  "text",
  "varchar",
  "bpchar",
  "char",
  "citext",
  "date",
  "timestamp",
  "timestamptz",
  "timetz",
  "uuid",
  "ltree",
  "lquery",
  "ltxtquery",
  "raster",
  "array",
  "enum",
] as const;

/** A condition on an aggregate of `float8` columns. @rule G-AGP-2 */
const OF_FLOATS = { type: "float8", result: "float8" } as const;

/** A function of PostgreSQL itself, called by its unqualified name, because extensions add their own `max` and
 *  `sum`. */
const own = (name: string, more: Omit<AggregateSpec, "name">): AggregateSpec => ({ name, builtIn: [name], ...more });

/** An aggregate of numbers that returns a Float. @rule G-OUT-8 */
const ofNumbers = (name: string, more: Omit<AggregateSpec, "name"> = {}): AggregateSpec =>
  own(name, { rest: false, types: NUMBERS, result: "Float", ...more });

const ofTruth = (name: string): AggregateSpec =>
  own(name, { rest: false, returns: "bool", predicate: { type: "bool", result: "Boolean" } });

export const aggregateFunctions = definePlugin({
  name: "aggregate-functions",
  aggregates: [
    own("sum", { types: NUMBERS, predicate: OF_FLOATS }),
    ofNumbers("avg", { rest: "avg", predicate: OF_FLOATS }),
    // counts rows, or the values of any columns
    own("count", { returns: "int8", predicate: { result: "Int" } }),
    own("max", { types: COMPARABLE, returns: "argument", predicate: OF_FLOATS }),
    own("min", { types: COMPARABLE, returns: "argument", predicate: OF_FLOATS }),
    ofNumbers("stddev"),
    ofNumbers("stddev_pop"),
    ofNumbers("stddev_samp", { predicate: OF_FLOATS }),
    ofNumbers("var_pop"),
    ofNumbers("var_samp", { predicate: OF_FLOATS }),
    ofNumbers("variance"),
    ofTruth("bool_and"),
    ofTruth("bool_or"),
    own("corr", { rest: false, predicate: { ...OF_FLOATS, columns: 2 } }),
    own("covar_samp", { rest: false, predicate: { ...OF_FLOATS, columns: 2 } }),
  ],
});
