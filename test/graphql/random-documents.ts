/**
 * Random conditions over `album` and `artist`, each written three ways: as JSON for a variable, as a GraphQL literal,
 * and as SQL.
 */
import fc from "../support/fast-check.ts";

/** The names of enums, which literals write without quotes. */
interface EnumName {
  readonly enum: string;
}

export type Value = null | boolean | number | string | EnumName | readonly Value[] | { readonly [key: string]: Value };

export interface Condition {
  readonly value: Value;
  /** A condition on the row `alias`. */
  readonly sql: (alias: string) => string;
}

const isEnum = (value: Value): value is EnumName =>
  typeof value === "object" && value !== null && !Array.isArray(value) && typeof (value as EnumName).enum === "string";

export const asLiteral = (value: Value): string => {
  if (isEnum(value)) return value.enum;
  if (Array.isArray(value)) return `[${value.map(asLiteral).join(", ")}]`;
  if (typeof value === "object" && value !== null)
    return `{${Object.entries(value)
      .map(([key, part]) => `${key}: ${asLiteral(part as Value)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
};

export const asJson = (value: Value): unknown => {
  if (isEnum(value)) return value.enum;
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, asJson(part as Value)]));
  return value;
};

const quote = (value: unknown): string =>
  typeof value === "string" ? `'${value.replaceAll("'", "''")}'` : String(value);

const OPERATORS = { _eq: "=", _neq: "<>", _gt: ">", _gte: ">=", _lt: "<", _lte: "<=" } as const;

type Scalar = number | string | boolean;

const comparison = (
  values: fc.Arbitrary<Scalar>,
): fc.Arbitrary<{ readonly value: Value; readonly sql: (column: string) => string }> =>
  fc.oneof(
    fc
      .tuple(fc.constantFrom(...(Object.keys(OPERATORS) as (keyof typeof OPERATORS)[])), values)
      .map(([operator, value]) => ({
        value: { [operator]: value },
        sql: (column: string) => `${column} ${OPERATORS[operator]} ${quote(value)}`,
      })),
    fc.tuple(fc.boolean(), fc.array(values, { maxLength: 3 })).map(([isIn, list]) => ({
      value: { [isIn ? "_in" : "_nin"]: list },
      sql: (column: string) =>
        list.length === 0 ? String(!isIn) : `${column} ${isIn ? "" : "not "}in (${list.map(quote).join(", ")})`,
    })),
    fc.boolean().map((isNull) => ({
      value: { _is_null: isNull },
      sql: (column: string) => `${column} is ${isNull ? "" : "not "}null`,
    })),
    fc.constant({ value: {}, sql: () => "true" }),
  );

const titles = fc.constantFrom("Arrival", "Debut", "Waterloo", "x'; drop table album; --", 'a "b" \\ {c}', "");

const column = (name: string, values: fc.Arbitrary<Scalar>): fc.Arbitrary<Condition> =>
  comparison(values).map(({ value, sql }) => ({ value: { [name]: value }, sql: (alias) => sql(`${alias}.${name}`) }));

const albumColumn = fc.oneof(
  column("id", fc.integer({ min: 0, max: 6 })),
  column("sold", fc.integer({ min: 0, max: 12 })),
  column("price", fc.constantFrom(9.99, 12.5, 20, 25)),
  column("live", fc.boolean()),
  column("title", titles),
);

const artistColumn = fc.oneof(
  column("id", fc.integer({ min: 0, max: 5 })),
  column("name", fc.constantFrom("Abba", "Can", "Dusk")),
  column("country", fc.constantFrom("SE", "DE")),
);

let aliases = 0;

const combine = (condition: fc.Arbitrary<Condition>): fc.Arbitrary<Condition> =>
  fc.oneof(
    fc.tuple(fc.constantFrom("_and", "_or"), fc.array(condition, { maxLength: 3 })).map(([kind, parts]): Condition => ({
      value: { [kind]: parts.map((part) => part.value) },
      sql: (alias) =>
        parts.length === 0
          ? String(kind === "_and")
          : `(${parts.map((part) => part.sql(alias)).join(kind === "_and" ? " and " : " or ")})`,
    })),
    condition.map((part): Condition => ({ value: { _not: part.value }, sql: (alias) => `not (${part.sql(alias)})` })),
    // This is a single object where a list is allowed.
    condition.map((part): Condition => ({ value: { _or: part.value }, sql: (alias) => `(${part.sql(alias)})` })),
  );

const tree = (leaves: fc.Arbitrary<Condition>): fc.Arbitrary<Condition> =>
  fc.oneof({ weight: 3, arbitrary: leaves }, { weight: 2, arbitrary: combine(fc.oneof(leaves, combine(leaves))) });

const artistConditions = tree(
  fc.oneof(
    { weight: 3, arbitrary: artistColumn },
    albumColumn.map((part): Condition => ({
      value: { albums: part.value },
      sql: (alias) => {
        const inner = `b${++aliases}`;
        return `exists (select from album as ${inner} where ${inner}.artist_id = ${alias}.id and ${part.sql(inner)})`;
      },
    })),
    fc.tuple(fc.integer({ min: 0, max: 3 }), albumColumn).map(([count, part]): Condition => ({
      value: { albums_aggregate: { count: { filter: part.value, predicate: { _gte: count } } } },
      sql: (alias) => {
        const inner = `b${++aliases}`;
        return `(select count(*) from album as ${inner} where ${inner}.artist_id = ${alias}.id and ${part.sql(inner)}) >= ${count}`;
      },
    })),
  ),
);

export const albumConditions: fc.Arbitrary<Condition> = tree(
  fc.oneof(
    { weight: 3, arbitrary: albumColumn },
    artistConditions.map((part): Condition => ({
      value: { artist: part.value },
      sql: (alias) => {
        const inner = `a${++aliases}`;
        return `exists (select from artist as ${inner} where ${inner}.id = ${alias}.artist_id and ${part.sql(inner)})`;
      },
    })),
  ),
);

export interface Order {
  readonly value: Value;
  readonly sql: string;
}

const DIRECTIONS = {
  asc: "asc nulls last",
  desc: "desc nulls first",
  asc_nulls_first: "asc nulls first",
  desc_nulls_last: "desc nulls last",
} as const;

/** The order ends with the key, so that it is total. */
export const albumOrders: fc.Arbitrary<Order> = fc
  .array(
    fc.tuple(
      fc.constantFrom("sold", "price", "live", "artist"),
      fc.constantFrom(...(Object.keys(DIRECTIONS) as (keyof typeof DIRECTIONS)[])),
    ),
    { maxLength: 2 },
  )
  .map((terms) => ({
    value: [
      ...terms.map(([name, direction]): Value =>
        name === "artist" ? { artist: { country: { enum: direction } } } : { [name]: { enum: direction } },
      ),
      { id: { enum: "desc" } },
    ],
    sql: [
      ...terms.map(
        ([name, direction]) =>
          `${name === "artist" ? "(select country from artist where artist.id = album.artist_id)" : `album.${name}`} ${DIRECTIONS[direction]}`,
      ),
      "album.id desc",
    ].join(", "),
  }));
