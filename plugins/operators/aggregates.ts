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
const builtInAggregate = (name: string, more: Omit<AggregateSpec, "name">): AggregateSpec => ({
  name,
  builtIn: [name],
  ...more,
});

/** An aggregate of numbers that returns a Float. @rule G-OUT-8 */
const numberAggregate = (name: string, more: Omit<AggregateSpec, "name"> = {}): AggregateSpec =>
  builtInAggregate(name, { rest: false, types: NUMBERS, result: "Float", ...more });

const booleanAggregate = (name: string): AggregateSpec =>
  builtInAggregate(name, { rest: false, returns: "bool", predicate: { type: "bool", result: "Boolean" } });

export const aggregateFunctions = definePlugin({
  name: "aggregate-functions",
  aggregates: [
    builtInAggregate("sum", { types: NUMBERS, predicate: OF_FLOATS }),
    numberAggregate("avg", { rest: "avg", predicate: OF_FLOATS }),
    // counts rows, or the values of any columns
    builtInAggregate("count", { returns: "int8", predicate: { result: "Int" } }),
    builtInAggregate("max", { types: COMPARABLE, returns: "argument", predicate: OF_FLOATS }),
    builtInAggregate("min", { types: COMPARABLE, returns: "argument", predicate: OF_FLOATS }),
    numberAggregate("stddev"),
    numberAggregate("stddev_pop"),
    numberAggregate("stddev_samp", { predicate: OF_FLOATS }),
    numberAggregate("var_pop"),
    numberAggregate("var_samp", { predicate: OF_FLOATS }),
    numberAggregate("variance"),
    booleanAggregate("bool_and"),
    booleanAggregate("bool_or"),
    builtInAggregate("corr", { rest: false, predicate: { ...OF_FLOATS, columns: 2 } }),
    builtInAggregate("covar_samp", { rest: false, predicate: { ...OF_FLOATS, columns: 2 } }),
  ],
});
