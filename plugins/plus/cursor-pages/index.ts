/** `GET /api/album?order=title&limit=10&cursor=`: pages that begin behind a row, with `Link` to the next and the one
 *  before. */
import { randomUUID } from "node:crypto";
import {
  columnOf,
  definePlugin,
  ident,
  join,
  literal,
  sql,
  Stage,
  type Answer,
  type Exchange,
  type MediaContext,
  type Relation,
  type Sql,
} from "../../../core/index.ts";
import type { ChooseMedia, ExposeRestHeaders, RestHandler } from "../../rest/api.ts";
import { decodeCursor, encodeCursor, type Cursor } from "./cursor.ts";
import { cursorInvalid, pageImpossible } from "./errors.ts";
import { readTerms, rowsBeyond } from "./order.ts";
import { CAP, KEY, KEY_TEXT, planPage, tellCap } from "./plan.ts";

type Pair = readonly [name: string, value: string];

/** Characters that JSON text does not have. */
const BETWEEN_ROWS = "\u0001";
const BEHIND_KEYS = "\u0002";

/** Media of the plans, which no client can ask for: names without a slash. */
const FORWARD = "cursor-page";
const BACKWARD = "cursor-page-backward";

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text; // refused when the query is read
  }
};

const pairsOf = (query: string): readonly Pair[] =>
  query.split("&").map((pair) => {
    const at = pair.indexOf("=");
    return at === -1 ? [decode(pair), ""] : [decode(pair.slice(0, at)), decode(pair.slice(at + 1))];
  });

const queryOf = (pairs: readonly Pair[]): string =>
  pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");

/** A column of that name is filtered with an operator, which ends in a point or parenthesis. */
const isCursor = ([name, value]: Pair): boolean => name === "cursor" && !/[.(]/.test(value);

/** What is asked for, if it is a page. */
interface Page {
  readonly pairs: readonly Pair[];
  readonly order: string;
  readonly limit: bigint | undefined;
  readonly cursor: Cursor | undefined;
}

const only = (pairs: readonly Pair[], name: string): string | undefined => {
  const [first, second] = pairs.filter(([each]) => each === name);
  if (second !== undefined) throw pageImpossible(`The parameter "${name}" is given more than once`);
  return first?.[1];
};

/** @throws RelApiError @rule P-CUR-4 P-CUR-5 */
const readPage = (exchange: Exchange, { name, primaryKey }: Relation): Page | undefined => {
  const { query } = exchange;
  if (query === undefined || !query.includes("cursor")) return undefined;
  const pairs = pairsOf(query);
  const [given, another] = pairs.filter(isCursor);
  if (given === undefined) return undefined;
  if (another !== undefined) throw cursorInvalid("There are two of them");
  if (primaryKey.length === 0) throw pageImpossible(`"${name}" has no primary key, so its rows have no certain order`);
  if (pairs.some(([each]) => each === "offset") || exchange.header("range") !== undefined)
    throw pageImpossible("A page by cursor has a limit, and neither an offset nor a Range");
  const accept = exchange.header("accept");
  if (accept !== undefined && !/\*\/\*|application\/(?:\*|json|vnd\.pgrst\.array\+json)(?:[;, ]|$)/i.test(accept))
    throw pageImpossible("Pages by cursor come as application/json", "Send Accept: application/json");
  const order = only(pairs, "order") ?? "";
  const limit = only(pairs, "limit");
  const cursor = given[1] === "" ? undefined : decodeCursor(given[1]);
  if (cursor !== undefined && (cursor.relation !== name || cursor.order !== order))
    throw cursorInvalid("It belongs to another table or order");
  return {
    pairs,
    order,
    limit: limit !== undefined && /^[0-9]{1,15}$/.test(limit) ? BigInt(limit) : undefined,
    cursor,
  };
};

/** The same request with the place as a filter and one row more, so that it is known whether more follow. @rule
 *  P-CUR-2 */
const rewritten = (exchange: Exchange, page: Page, relation: Relation, media: string): Exchange => {
  const { cursor, limit, order } = page;
  const pairs = page.pairs
    .filter((pair) => !isCursor(pair))
    .map((pair): Pair => (pair[0] === "limit" && limit !== undefined ? ["limit", String(limit + 1n)] : pair));
  if (cursor !== undefined) {
    const terms = readTerms(order, relation.primaryKey);
    if (terms.length !== cursor.values.length) throw cursorInvalid("The primary key has changed since");
    const isNullable = (column: string | undefined): boolean =>
      column === undefined || columnOf(relation, column)?.notNull !== true;
    pairs.push(["and", rowsBeyond(terms, cursor.values, cursor.isBackward, isNullable)]);
  }
  const prefer = exchange.header("prefer")?.replace(/\bcount=\w+\s*,?/g, "");
  return Object.create(exchange, {
    method: { value: "GET" },
    needsBody: { value: true },
    query: { value: queryOf(pairs) },
    header: {
      value: (name: string) => {
        const lower = name.toLowerCase();
        return lower === "accept" ? media : lower === "prefer" ? prefer : exchange.header(name);
      },
    },
    planned: {
      get: () => exchange.planned,
      set: (plans) => {
        exchange.planned = plans;
      },
    },
  }) as Exchange; // the prototype has the rest
};

/** A row of the body: what it has for each term of the order, and its text. */
interface PageRow {
  readonly key: string;
  readonly text: string;
}

const rowsOf = (body: string): readonly PageRow[] =>
  body === ""
    ? []
    : body.split(BETWEEN_ROWS).map((row) => {
        const at = row.indexOf(BEHIND_KEYS);
        return { key: row.slice(0, at), text: row.slice(at + 1) };
      });

const OF_THE_WINDOW = /^(?:content-range|range-unit|content-location|content-type)$/i;

/** @rule P-CUR-1 P-CUR-3 */
const answerPage = (answer: Answer, page: Page, relation: Relation, isHead: boolean): Answer => {
  const { cursor, limit, order } = page;
  const isBackward = cursor?.isBackward === true;
  const all = rowsOf(String(answer.body ?? ""));
  const keysOf = ({ key }: PageRow): readonly (string | null)[] => JSON.parse(key) as readonly (string | null)[];
  const terms = readTerms(order, relation.primaryKey).length;
  const cap = all[0] && keysOf(all[0])[terms];
  const hasMore =
    (limit !== undefined && BigInt(all.length) > limit) ||
    (cap !== undefined && cap !== null && all.length >= Number(cap));
  const kept = limit === undefined ? [...all] : all.slice(0, Number(limit));
  const rows = isBackward ? kept.reverse() : kept;
  const link = (rel: string, value: string): string =>
    `<?${queryOf(page.pairs.map((pair) => (isCursor(pair) ? ["cursor", value] : pair)))}>; rel="${rel}"`;
  const at = (row: PageRow, backward: boolean): string =>
    encodeCursor({ relation: relation.name, order, isBackward: backward, values: keysOf(row).slice(0, terms) });
  const [first] = rows;
  const last = rows[rows.length - 1];
  const links = [
    ...(last !== undefined && (isBackward || hasMore) ? [link("next", at(last, false))] : []),
    ...(first !== undefined && cursor !== undefined && (!isBackward || hasMore) ? [link("prev", at(first, true))] : []),
    ...(cursor === undefined ? [] : [link("first", "")]),
  ];
  return {
    ...answer,
    headers: [
      ["Content-Type", "application/json; charset=utf-8"],
      ...answer.headers.filter(([name]) => !OF_THE_WINDOW.test(name)),
      ...(links.length === 0 ? [] : [["Link", links.join(", ")] as const]),
    ],
    body: isHead ? undefined : `[${rows.map(({ text }) => text).join(", \n ")}]`,
  };
};

/** Rows apart from their keys, which come first. */
const compilePage = ({ rowAlias, outputs }: MediaContext): Sql => {
  const isOurs = (name: string): boolean => name.startsWith(KEY) || name === CAP;
  const column = (name: string): Sql => ident(rowAlias, name);
  const shown = outputs.filter((name) => !isOurs(name));
  const object =
    shown.length === 0
      ? sql`'{}'`
      : sql`(select pg_catalog.row_to_json(_shown.*) from (select ${join(shown.map(column))}) as _shown)`;
  const keys = sql`pg_catalog.json_build_array(${join(outputs.filter(isOurs).map(column))})`;
  return sql`coalesce(pg_catalog.string_agg(pg_catalog.concat(${keys}, ${literal(BEHIND_KEYS)}, ${object}), ${literal(BETWEEN_ROWS)}), '')`;
};

/** @rule P-CUR-1 … P-CUR-6 */
export const cursorPages = definePlugin({
  name: "cursor-pages",
  requires: ["rest"],
  functions: [{ name: KEY_TEXT, builtIn: [], compile: (argument) => sql`(${argument})::pg_catalog.text` }],
  apply: (hooks, { registry }) => {
    // what the handler below asks for in the place of JSON: a name that nobody else knows
    const own = `application/vnd.relapi.${randomUUID()}`;
    const types = new Map([
      [`${own}.forward`, FORWARD],
      [`${own}.backward`, BACKWARD],
    ]);
    hooks.use<ChooseMedia>("chooseMedia").tap("cursor-pages", ({ name }) => {
      const media = types.get(name);
      return media === undefined ? undefined : { envelope: { media } };
    });
    for (const media of [FORWARD, BACKWARD])
      hooks.compileMedia.for(media).tap({ name: "cursor-pages", builtIn: [] }, compilePage);
    hooks.transformPlan.tap(
      { name: "cursor-pages", stage: Stage.early, keepsRows: true },
      (plan, { model, envelope: { media } }) =>
        media === FORWARD || media === BACKWARD ? planPage(plan, model, registry, media === BACKWARD) : plan,
    );
    hooks.transformPlan.tap(
      { name: "cursor-pages-cap", stage: Stage.late, keepsRows: true },
      (plan, { envelope: { media } }) => (media === FORWARD || media === BACKWARD ? tellCap(plan) : plan),
    );
    hooks.use<ExposeRestHeaders>("exposeRestHeaders").tap("cursor-pages", (names) => [...names, "Link"]);
    hooks.buildRestRoute.tap({ name: "cursor-pages", stage: Stage.late }, (route) => {
      const read = route.methods.get("GET");
      if (read === undefined || route.target.kind !== "relation") return route;
      const { relation } = route.target;
      const paged: RestHandler = async (exchange, target) => {
        const page = readPage(exchange, relation);
        if (page === undefined) return (route.methods.get(exchange.method) ?? read)(exchange, target);
        const media = `${own}.${page.cursor?.isBackward === true ? "backward" : "forward"}`;
        const answer = await read(rewritten(exchange, page, relation, media), target);
        return answer.status === 200 ? answerPage(answer, page, relation, exchange.method === "HEAD") : answer;
      };
      return { ...route, methods: new Map([...route.methods, ["GET", paged], ["HEAD", paged]]) };
    });
  },
});
