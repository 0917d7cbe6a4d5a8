/**
 * `GET /album?select=artist_id,sold.sum()&having=sold.sum().gt.10&order=sold.sum().desc`: filters and orders groups.
 */
import { trustedSql, definePlugin, sql, type OrderingSpec, type Predicate } from "../../../core/index.ts";
import {
  describeAdditionsHook,
  findRestItemEnd,
  readParametersHook,
  unquoteRestValue,
  type ReadParameter,
} from "../../rest/api.ts";

// Matches terms such as `sold.sum().gt.10`, `"odd name".max().not.is.null` and `count().gte.2`.
const TERM = /^(?:("(?:[^"\\]|\\.)*"|[^.()",]+)\.)?([A-Za-z_]\w*)\(\)\.(.+)$/s;

// Matches the beginning of groups such as `and(…)`, `or(…)` and `not.or(…)`.
const GROUP = /^(not\.)?(and|or)?\(/;

const FORM = "column.aggregate().operator.value";

/** Parses a term such as `sold.sum().gt.10`. @throws RelApiError `parse-error`, `aggregates-disabled` */
const parseTerm = (term: string, position: number, parameter: ReadParameter): Predicate => {
  const { aggregate, field, condition, buildSyntaxError } = parameter;
  const [, column, function_ = "", operation = ""] = TERM.exec(term) ?? [];
  if (operation === "") throw buildSyntaxError(position, FORM);
  const fn = aggregate(function_);
  if (fn === undefined || (column === undefined && fn !== "count"))
    throw buildSyntaxError(
      position + (column === undefined ? 0 : column.length + 1),
      "aggregate function (sum, avg, ...)",
    );
  const expressions = column === undefined ? [] : [field(unquoteRestValue(column))];
  return condition({ kind: "aggregate", fn, expressions }, operation);
};

interface ParsedHaving {
  readonly predicate: Predicate;
  readonly end: number;
}

/** Parses a term or a group of terms. @throws RelApiError `parse-error`, `aggregates-disabled` */
const parseTree = (parameter: ReadParameter, start: number, depth: number): ParsedHaving => {
  const { text, checkDepth, buildSyntaxError } = parameter;
  const [opening, negation, kind = "and"] = GROUP.exec(text.slice(start, start + MAX_OPENING)) ?? [];
  if (opening === undefined) {
    const end = depth === 0 ? text.length : findRestItemEnd(text, start);
    return { predicate: parseTerm(text.slice(start, end), start, parameter), end };
  }
  checkDepth(depth);
  const predicates: Predicate[] = [];
  let end = start + opening.length - 1;
  do {
    const item = parseTree(parameter, end + 1, depth + 1);
    predicates.push(item.predicate);
    ({ end } = item);
  } while (text[end] === ",");
  if (text[end] !== ")") throw buildSyntaxError(end, '","', '")"');
  const group: Predicate = { kind: kind as "and" | "or", predicates };
  return { predicate: negation === undefined ? group : { kind: "not", predicate: group }, end: end + 1 };
};

const MAX_OPENING = "not.and(".length;

/** Parses the parameter `having`. @throws RelApiError `parse-error`, `aggregates-disabled` */
const parseHaving = (parameter: ReadParameter): Predicate => {
  const { predicate, end } = parseTree(parameter, 0, 0);
  if (end < parameter.text.length) throw parameter.buildSyntaxError(end, "end of input");
  return predicate;
};

/** Returns the ordering that lets `order` name an aggregate of grouped rows. */
const buildOrdering = (name: string): OrderingSpec => ({
  name,
  types: ["any"],
  operands: [],
  graphql: false,
  builtIn: [name],
  compile: (column) => sql`${trustedSql(name)}(${column})`,
});

/** Filters and orders groups in REST. @rule P-GRP-3 P-GRP-4 */
export const restHaving = definePlugin({
  name: "rest-having",
  requires: ["rest", "aggregate-functions"],
  orderings: ["avg", "count", "max", "min", "sum"].map(buildOrdering),
  apply: (_hooks, context) => {
    context.use(describeAdditionsHook).tap("rest-having", ({ readParameters, paths }) => ({
      readParameters: {
        ...readParameters,
        having: "A condition on groups: `count().gt.1`, `sold.sum().gte.10`",
      },
      paths,
    }));
    // The first is for relations, the second for embeds and for functions that return rows.
    for (const name of ["having", "*.having"])
      context
        .use(readParametersHook)
        .for(name)
        .tap("rest-having", (read, parameter) => {
          const having = parseHaving(parameter);
          const conditions = read.having === undefined ? [] : [read.having];
          return { ...read, groupBy: read.groupBy ?? [], having: { kind: "and", predicates: [...conditions, having] } };
        });
  },
});
