/** Sends the rows of an insert as one array per column, which PostgreSQL reads in three quarters of the time that JSON
 *  takes. The arrays are used only if PostgreSQL certainly accepts each value, and reads it alike in both forms, so
 *  errors stay the same. */
import {
  encodeArrayLiteral,
  findColumn,
  definePlugin,
  quoteIdentifier,
  joinSql,
  findRelation,
  sql,
  type Column,
  type Insert,
  type Model,
  type RowSource,
} from "../../../core/index.ts";

type ValueTest = (text: string) => boolean;

const createPatternTest =
  (pattern: RegExp): ValueTest =>
  (text) =>
    pattern.test(text);

const DECIMAL = /^-?\d+(?:\.\d+)?$/;

/** The maximum length of a float. Every number with at most this many characters is in the range of both types. */
const MAX_FLOAT_LENGTH = 30;

/** Matches dates whose day exists in every month. */
const DATE = String.raw`(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])`;
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?`;
const ZONE = String.raw`(?:Z|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)?`;
const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i;
const DATE_ONLY = new RegExp(`^${DATE}$`);
const TIMESTAMP = new RegExp(`^${DATE}(?:[ T]${TIME}${ZONE})?$`);

const isFloat: ValueTest = (text) => text.length <= MAX_FLOAT_LENGTH && DECIMAL.test(text);

/** Rejects lone surrogates and NUL, which JSON text may contain and PostgreSQL rejects. */
const isText: ValueTest = (text) => !/[\p{Cs}\0]/u.test(text);

/** Reads `(3,1)` or `(20)`. */
const parseModifiers = (sqlType: string): readonly number[] =>
  /\(([-\d,]+)\)/.exec(sqlType)?.[1]?.split(",").map(Number) ?? [];

/** Accepts only numbers that need no rounding, because rounding may add a digit. */
const createNumericTest = (sqlType: string): ValueTest => {
  const [precision, scale = 0] = parseModifiers(sqlType);
  if (precision === undefined) return createPatternTest(DECIMAL);
  return (text) => {
    const [integer = "", fraction = ""] = text.replace("-", "").split(".");
    return DECIMAL.test(text) && integer.length <= precision - scale && fraction.length <= scale;
  };
};

const createCharacterTest = (sqlType: string): ValueTest => {
  const [maxLength = Infinity] = parseModifiers(sqlType);
  return (text) => text.length <= maxLength && isText(text);
};

const TESTS: ReadonlyMap<string, (sqlType: string) => ValueTest> = new Map([
  ["int2", () => createPatternTest(/^-?\d{1,4}$/)],
  ["int4", () => createPatternTest(/^-?\d{1,9}$/)],
  ["int8", () => createPatternTest(/^-?\d{1,18}$/)],
  ["float4", () => isFloat],
  ["float8", () => isFloat],
  ["numeric", createNumericTest],
  ["bool", () => createPatternTest(/^(?:true|false)$/)],
  ["text", () => isText],
  ["varchar", createCharacterTest],
  ["bpchar", createCharacterTest],
  ["uuid", () => createPatternTest(UUID)],
  ["date", () => createPatternTest(DATE_ONLY)],
  ["timestamp", () => createPatternTest(TIMESTAMP)],
  ["timestamptz", () => createPatternTest(TIMESTAMP)],
]);

interface TargetColumn {
  readonly name: string;
  readonly type: string;
  /** Returns whether PostgreSQL certainly accepts a text as a value of the column. */
  readonly accepts: ValueTest;
}

/** Returns the target of a column. Undefined for a type whose accepted texts are unknown. */
const findTarget = ({ name, type: oid, sqlType }: Column, model: Model): TargetColumn | undefined => {
  const type = model.types.get(oid);
  if (type?.kind !== "base" || type.schema !== "pg_catalog") return undefined;
  const accepts = TESTS.get(type.name)?.(sqlType);
  return accepts && { name, type: type.name, accepts };
};

/** Returns the row source of an insert. Undefined if the rows have values that are not columns, or if the accepted
 *  texts of a column are unknown. @rule X-INS-2 */
const prepareRowSource = ({ into, rows, onlyKeys }: Insert, model: Model): RowSource | undefined => {
  const relation = findRelation(model, into);
  if (relation === undefined || onlyKeys !== undefined || !("payload" in rows) || rows.shape !== "array")
    return undefined;
  const { payload, columns, missing } = rows;
  // The SQL that computes a default for each row reads the rows as JSON.
  if (!("param" in payload) || columns.length === 0 || missing === "computed-default") return undefined;
  const targets = columns.map(({ name, apply }) => {
    const column = apply === undefined ? findColumn(relation, name) : undefined;
    return column && findTarget(column, model);
  });
  if (!targets.every((target) => target !== undefined)) return undefined;
  return {
    list: payload.param,
    compile: (alias, value) => {
      const arrays = targets.map(({ type }, i) => sql`pg_catalog.unnest(${value(i, `pg_catalog.${type}[]`)})`);
      return sql`(select ${joinSql(arrays)}) as ${alias}(${joinSql(targets.map(({ name }) => quoteIdentifier(name)))})`;
    },
    values: (list) => {
      const isAccepted = targets.every(({ name, accepts }) =>
        list.every(({ [name]: text }) => text === null || (text !== undefined && accepts(text))),
      );
      if (!isAccepted) return undefined;
      return targets.map(({ name }) => encodeArrayLiteral(list.map((row) => row[name] ?? null)));
    },
  };
};

/** Sends the rows of an insert as one array for each column. */
export const columnArrays = definePlugin({
  name: "column-arrays",
  rowSources: [{ name: "column-arrays", builtIn: [], prepare: prepareRowSource }],
});
