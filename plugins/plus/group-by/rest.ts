/** `GET /album?select=artist_id,sold.sum()&having=sold.sum().gt.10&order=sold.sum().desc`: conditions on groups, and their
 *  order. */
import { catalogText, definePlugin, sql, type OrderingSpec, type Predicate } from "../../../core/index.ts";
import type { ReadParameter, ReadParameters } from "../../rest/api.ts";

// sold.sum().gt.10     "odd name".max().not.is.null     count().gte.2
const TERM = /^(?:("(?:[^"\\]|\\.)*"|[^.()",]+)\.)?([A-Za-z_]\w*)\(\)\.(.+)$/s;

/** `(a.sum().gt.1,b.count().in.(1,2))` into its terms; commas in quotes and parentheses separate nothing. */
const splitTerms = (text: string): readonly string[] => {
  if (!text.startsWith("(") || !text.endsWith(")")) return [text];
  const inner = text.slice(1, -1);
  const terms: string[] = [];
  let start = 0;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < inner.length; at++) {
    const character = inner[at];
    if (character === "\\") at++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (character === "(" || character === "{")) depth++;
    else if (!isQuoted && (character === ")" || character === "}")) depth--;
    else if (!isQuoted && depth === 0 && character === ",") {
      terms.push(inner.slice(start, at));
      start = at + 1;
    }
  }
  return [...terms, inner.slice(start)];
};

const nameOf = (written: string): string =>
  written.startsWith('"') ? written.slice(1, -1).replace(/\\(.)/gs, "$1") : written;

/** @throws RelApiError `parse-error`, `aggregates-disabled` */
const readTerm = (term: string, parameter: ReadParameter): Predicate => {
  const { text, aggregate, field, condition, unreadable } = parameter;
  const at = text.indexOf(term);
  const [, column, function_ = "", operation = ""] = TERM.exec(term) ?? [];
  if (operation === "") throw unreadable(at, "column.aggregate().operator.value");
  const fn = aggregate(function_);
  if (fn === undefined || (column === undefined && fn !== "count"))
    throw unreadable(at + (column === undefined ? 0 : column.length + 1), "aggregate function (sum, avg, ...)");
  const of = column === undefined ? [] : [field(nameOf(column))];
  return condition({ kind: "aggregate", fn, of }, operation);
};

/** As terms of an order, by the bare name: where the rows are grouped. */
const ordering = (name: string): OrderingSpec => ({
  name,
  types: ["any"],
  operands: [],
  graphql: false,
  builtIn: [name],
  compile: (column) => sql`${catalogText(name)}(${column})`,
});

/** Conditions on groups in REST, and their order. @rule P-GRP-3 P-GRP-4 */
export const restHaving = definePlugin({
  name: "rest-having",
  requires: ["rest", "aggregate-functions"],
  orderings: ["avg", "count", "max", "min", "sum"].map(ordering),
  apply: (hooks) =>
    hooks
      .use<ReadParameters>("readParameters")
      .for("having")
      .tap("rest-having", (read, parameter) => {
        const of = splitTerms(parameter.text).map((term) => readTerm(term, parameter));
        const given = read.having === undefined ? [] : [read.having];
        return { ...read, groupBy: read.groupBy ?? [], having: { kind: "and", of: [...given, ...of] } };
      }),
});
