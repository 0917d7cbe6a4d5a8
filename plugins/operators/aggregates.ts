/** The aggregate functions of PostgreSQL that the surfaces support: `select=tonnage.sum()` and
 *  `{ album_aggregate { aggregate { sum { sold } } } }`. */
import { definePlugin, type AggregateSpec } from "../../core/index.ts";

const NUMBERS = ["int2", "int4", "int8", "float4", "float8", "numeric", "money"] as const;

/** The types that PostgreSQL can compare, which GraphQL offers for some aggregate functions. @rule G-OUT-9 */
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
const FLOAT_PREDICATE = { type: "float8", result: "float8" } as const;

/** Defines a function of PostgreSQL, called by its unqualified name, because extensions add their own `max` and
 *  `sum`. */
const defineBuiltInAggregate = (name: string, members: Omit<AggregateSpec, "name">): AggregateSpec => ({
  name,
  builtIn: [name],
  ...members,
});

/** Defines an aggregate of numbers that returns a Float. @rule G-OUT-8 */
const defineNumberAggregate = (name: string, members: Omit<AggregateSpec, "name"> = {}): AggregateSpec =>
  defineBuiltInAggregate(name, { rest: false, types: NUMBERS, result: "Float", ...members });

const defineBooleanAggregate = (name: string): AggregateSpec =>
  defineBuiltInAggregate(name, { rest: false, returns: "bool", predicate: { type: "bool", result: "Boolean" } });

/** The aggregate functions of PostgreSQL that both surfaces offer. */
export const aggregateFunctions = definePlugin({
  name: "aggregate-functions",
  aggregates: [
    defineBuiltInAggregate("sum", { types: NUMBERS, predicate: FLOAT_PREDICATE }),
    defineNumberAggregate("avg", { rest: "avg", predicate: FLOAT_PREDICATE }),
    // This function counts rows, or the values of any columns.
    defineBuiltInAggregate("count", { returns: "int8", predicate: { result: "Int" } }),
    defineBuiltInAggregate("max", { types: COMPARABLE, returns: "argument", predicate: FLOAT_PREDICATE }),
    defineBuiltInAggregate("min", { types: COMPARABLE, returns: "argument", predicate: FLOAT_PREDICATE }),
    defineNumberAggregate("stddev"),
    defineNumberAggregate("stddev_pop"),
    defineNumberAggregate("stddev_samp", { predicate: FLOAT_PREDICATE }),
    defineNumberAggregate("var_pop"),
    defineNumberAggregate("var_samp", { predicate: FLOAT_PREDICATE }),
    defineNumberAggregate("variance"),
    defineBooleanAggregate("bool_and"),
    defineBooleanAggregate("bool_or"),
    defineBuiltInAggregate("corr", { rest: false, predicate: { ...FLOAT_PREDICATE, columns: 2 } }),
    defineBuiltInAggregate("covar_samp", { rest: false, predicate: { ...FLOAT_PREDICATE, columns: 2 } }),
  ],
});
