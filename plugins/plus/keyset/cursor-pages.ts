/**
 * `GET /api/album?order=title&limit=10&cursor=`: pages that begin after a row, with `Link` headers to the next and
 * previous page.
 */
import { randomUUID } from "node:crypto";
import {
  definePlugin,
  quoteIdentifier,
  buildNameKey,
  joinSql,
  quoteLiteral,
  parseJson,
  sql,
  Stage,
  writeJson,
  type Answer,
  type Exchange,
  type Json,
  type MediaContext,
  type Relation,
  type Sql,
} from "../../../core/index.ts";
import { chooseMediaHook, describeAdditionsHook, exposeRestHeadersHook, type RestHandler } from "../../rest/api.ts";
import type { KeysetPosition } from "./keyset.ts";
import { decodeCursor, encodeCursor, type Cursor } from "./cursor.ts";
import { cursorInvalid, pageImpossible } from "./errors.ts";
import { encodePosition, parseOrderFields } from "./order.ts";
import { HIDDEN_KEY_PREFIX, findMember, planPage } from "./plan.ts";

type Pair = readonly [name: string, value: string];

/**
 * Separators that cannot occur in JSON, and their SQL, which is written with escapes so that statements stay readable.
 */
const ROW_SEPARATOR = "\u0001";
const PART_SEPARATOR = "\u0002";
const [ROW_SEPARATOR_SQL, PART_SEPARATOR_SQL] = [sql`pg_catalog.chr(1)`, sql`pg_catalog.chr(2)`];

/** Internal media types of the plans. They have no slash, so no client can request them. */
const PAGE_MEDIA = new Map([
  ["cursor-page", undefined],
  ["cursor-page-behind", "behind"],
  ["cursor-page-before", "before"],
  ["cursor-page-last", "last"],
] as const);

type PageMedia = Parameters<(typeof PAGE_MEDIA)["get"]>[0];

const isPageMedia = (media: string | undefined): media is PageMedia => PAGE_MEDIA.has(media as PageMedia);

const decodePart = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text; // a text with malformed escapes remains unchanged
  }
};

const parsePairs = (query: string): readonly Pair[] =>
  query.split("&").map((pair) => {
    const separatorIndex = pair.indexOf("=");
    return separatorIndex === -1
      ? [decodePart(pair), ""]
      : [decodePart(pair.slice(0, separatorIndex)), decodePart(pair.slice(separatorIndex + 1))];
  });

const encodePairs = (pairs: readonly Pair[]): string =>
  pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");

/** Returns whether the parameter is a cursor. A filter on a column named `cursor` has an operator, which ends in a
 *  point or parenthesis. */
const isCursor = ([name, value]: Pair): boolean => name === "cursor" && !/[.(]/.test(value);

/** A request for a page. */
interface PageRequest {
  readonly pairs: readonly Pair[];
  readonly order: string;
  readonly limit: bigint | undefined;
  readonly cursor: Cursor | undefined;
}

const readSingleValue = (pairs: readonly Pair[], name: string): string | undefined => {
  const [first, second] = pairs.filter(([key]) => key === name);
  if (second !== undefined) throw pageImpossible(`The parameter "${name}" is given more than once`);
  return first?.[1];
};

/** Returns the page that the query string requests. Undefined if it requests no page. @throws RelApiError
 *  @rule P-CUR-4 P-CUR-5 */
const parsePageRequest = (exchange: Exchange, relation: Relation): PageRequest | undefined => {
  const { name, primaryKey } = relation;
  const { query } = exchange;
  if (query === undefined || !query.includes("cursor")) return undefined;
  const pairs = parsePairs(query);
  const [cursorPair, otherCursor] = pairs.filter(isCursor);
  if (cursorPair === undefined) return undefined;
  if (otherCursor !== undefined) throw cursorInvalid("There are two of them");
  if (primaryKey.length === 0) throw pageImpossible(`"${name}" has no primary key, so its rows have no certain order`);
  if (pairs.some(([key]) => key === "offset") || exchange.header("range") !== undefined)
    throw pageImpossible("A page by cursor has a limit, and neither an offset nor a Range");
  const accept = exchange.header("accept");
  if (accept !== undefined && !/\*\/\*|application\/(?:\*|json|vnd\.pgrst\.array\+json)(?:[;, ]|$)/i.test(accept))
    throw pageImpossible("Pages by cursor come as application/json", "Send Accept: application/json");
  const order = readSingleValue(pairs, "order") ?? "";
  const limit = readSingleValue(pairs, "limit");
  const cursor = cursorPair[1] === "" ? undefined : decodeCursor(cursorPair[1]);
  if (cursor !== undefined && (buildNameKey(cursor.relation) !== buildNameKey(relation) || cursor.order !== order))
    throw cursorInvalid("It belongs to another table or order");
  return {
    pairs,
    order,
    limit: limit !== undefined && /^[0-9]{1,15}$/.test(limit) ? BigInt(limit) : undefined,
    cursor,
  };
};

/**
 * Rewrites the request: the cursor becomes a filter, and one more row is requested to find out whether rows follow.
 * @rule P-CUR-2
 */
const rewriteRequest = (exchange: Exchange, page: PageRequest, relation: Relation, media: string): Exchange => {
  const { cursor, limit, order } = page;
  const pairs = page.pairs
    .filter((pair) => !isCursor(pair))
    .map((pair): Pair => (pair[0] === "limit" && limit !== undefined ? ["limit", String(limit + 1n)] : pair));
  if (cursor !== undefined && !isLastPageCursor(cursor)) {
    const fields = parseOrderFields(order, relation.primaryKey);
    if (fields.length !== cursor.values.length) throw cursorInvalid("The primary key has changed since");
    pairs.push(...encodePosition(fields, cursor.values));
  }
  return deriveExchange(exchange, "GET", encodePairs(pairs), {
    accept: media,
    prefer: buildPreferHeader(exchange, false),
  });
};

/** Returns the same request without rows, which counts all rows of all pages. */
const buildCountRequest = (exchange: Exchange, page: PageRequest): Exchange => {
  const pairs = page.pairs.filter((pair) => !isCursor(pair) && pair[0] !== "limit" && pair[0] !== "order");
  const query = encodePairs([...pairs, ["limit", "0"]]);
  return deriveExchange(exchange, "HEAD", query, {
    accept: "application/json",
    prefer: buildPreferHeader(exchange, true),
  });
};

/** The request headers that concern the page and not the count. */
const PAGE_ONLY_HEADERS = /^(?:range|if-.*)$/;

const deriveExchange = (
  exchange: Exchange,
  method: string,
  query: string,
  { accept, prefer }: { readonly accept: string; readonly prefer: string },
): Exchange =>
  Object.create(exchange, {
    method: { value: method },
    needsBody: { value: true },
    query: { value: query },
    prefer: { value: prefer },
    header: {
      value: (name: string) => {
        const lower = name.toLowerCase();
        if (lower === "accept") return accept;
        if (lower === "prefer") return prefer;
        return method === "HEAD" && PAGE_ONLY_HEADERS.test(lower) ? undefined : exchange.header(name);
      },
    },
    // Logs name the plan of the page, not the plan of the count.
    plans:
      method === "HEAD"
        ? { value: undefined, writable: true }
        : {
            get: () => exchange.plans,
            set: (plans) => {
              exchange.plans = plans;
            },
          },
  }) as Exchange; // the prototype has all other members of the exchange

const isCount = (preference: string): boolean => /^\s*count\s*=/i.test(preference);

/** Returns the `Prefer` header of the request, with or without a count. */
const buildPreferHeader = ({ request }: Exchange, counts: boolean): string =>
  String(request.headers["prefer"] ?? "")
    .split(",")
    .filter((preference) => counts || !isCount(preference))
    .join();

const wantsCount = ({ request }: Exchange): boolean =>
  String(request.headers["prefer"] ?? "")
    .split(",")
    .some(isCount);

/** The rows of a body, and the page information from the database. */
interface PageRows {
  readonly rows: readonly string[];
  /** For each term of the order, the member of the rows that has the value, or null if `keys` has it. */
  readonly members: readonly (string | null)[];
  readonly cap: number | null;
  /** Order values that the rows do not show, for the first row, the second last, and the last. */
  readonly keys: readonly KeysetPosition[];
}

const parsePageRows = (body: string): PageRows => {
  const [rows = "", details = "", keys = ""] = body.split(PART_SEPARATOR);
  const texts = rows === "" ? [] : rows.split(ROW_SEPARATOR);
  // `compilePage` wrote this JSON.
  return {
    rows: texts,
    keys: JSON.parse(keys) as PageRows["keys"],
    ...(JSON.parse(details) as Pick<PageRows, "members" | "cap">),
  };
};

/** Returns the value as filters accept it, with all digits of numbers. */
const encodeFilterValue = (value: Json | undefined): string | null =>
  value === undefined || value === null ? null : typeof value === "string" ? value : writeJson(value);

/** Returns the values of a row for the terms of the order. */
const readPosition = ({ rows, members, keys }: PageRows, rowIndex: number): KeysetPosition => {
  // The text is a row.
  const memberValues = new Map(Object.entries(parseJson(rows[rowIndex] ?? "{}") as Readonly<Record<string, Json>>));
  const hiddenKeys = [...(keys[rowIndex === 0 ? 0 : rowIndex === rows.length - 1 ? 2 : 1] ?? [])];
  return members.map((name) =>
    name === null ? (hiddenKeys.shift() ?? null) : encodeFilterValue(memberValues.get(name)),
  );
};

const WINDOW_HEADERS = /^(?:content-range|range-unit|content-location|content-type)$/i;

/** Returns whether the cursor means the last page. */
const isLastPageCursor = ({ isBackward, values }: Cursor): boolean => isBackward && values.length === 0;

const findHeader = ({ headers }: Answer, name: string): string | undefined =>
  headers.find(([headerName]) => headerName.toLowerCase() === name)?.[1];

/** Adds the total of all pages to the response of a page. @rule P-CUR-1 */
const addCount = (page: Answer, countAnswer: Answer, rows: number): Answer => {
  const total = findHeader(countAnswer, "content-range")?.split("/")[1];
  const appliedPreferences = findHeader(countAnswer, "preference-applied");
  if (total === undefined) return countAnswer; // the count has failed
  if (total === "*") return page; // the server cannot compute this count
  return {
    ...page,
    status: BigInt(rows) < BigInt(total) ? 206 : 200,
    headers: [
      ...page.headers.filter(([name]) => !/^preference-applied$/i.test(name)),
      ["Content-Range", `*/${total}`],
      ["Range-Unit", "items"],
      ...(appliedPreferences === undefined ? [] : [["Preference-Applied", appliedPreferences] as const]),
    ],
  };
};

/** Returns the answer with the links to the next page and the previous page. @rule P-CUR-1 P-CUR-3 */
const buildPageAnswer = (
  answer: Answer,
  page: PageRequest,
  relation: Relation,
  isHead: boolean,
): { readonly answer: Answer; readonly rows: number } => {
  const { cursor, limit, order } = page;
  const isBackward = cursor?.isBackward === true;
  const parsedRows = parsePageRows(String(answer.body ?? ""));
  const { cap, rows } = parsedRows;
  const hasMore = (limit !== undefined && BigInt(rows.length) > limit) || (cap !== null && rows.length >= cap);
  const pageRows = limit === undefined ? [...rows] : rows.slice(0, Number(limit));
  const buildLink = (rel: string, value: string): string =>
    `<?${encodePairs(page.pairs.map((pair) => (isCursor(pair) ? ["cursor", value] : pair)))}>; rel="${rel}"`;
  const encodeCursorAt = (row: number, backward: boolean): string =>
    encodeCursor({ relation, order, isBackward: backward, values: readPosition(parsedRows, row) });
  const [first, last] = isBackward ? [pageRows.length - 1, 0] : [0, pageRows.length - 1];
  const hasRows = pageRows.length > 0;
  const hasNext = isBackward ? cursor !== undefined && !isLastPageCursor(cursor) : hasMore;
  const hasPrevious = isBackward ? hasMore : cursor !== undefined;
  // An empty page is after all rows or before all rows.
  const next = hasRows ? encodeCursorAt(last, false) : isBackward ? "" : undefined;
  const end = encodeCursor({ relation, order, isBackward: true, values: [] });
  const previous = hasRows ? encodeCursorAt(first, true) : isBackward ? undefined : end;
  const links = [
    ...(hasNext && next !== undefined ? [buildLink("next", next)] : []),
    ...(hasPrevious && previous !== undefined ? [buildLink("prev", previous)] : []),
    ...(cursor === undefined ? [] : [buildLink("first", "")]),
  ];
  const pageAnswer: Answer = {
    ...answer,
    headers: [
      ["Content-Type", "application/json; charset=utf-8"],
      ...answer.headers.filter(([name]) => !WINDOW_HEADERS.test(name)),
      ...(links.length === 0 ? [] : [["Link", links.join(", ")] as const]),
    ],
    body: isHead ? undefined : `[${(isBackward ? pageRows.reverse() : pageRows).join(", \n ")}]`,
  };
  return { answer: pageAnswer, rows: pageRows.length };
};

/** Compiles the body: the rows, then the page information, then the keys of both ends. */
const compilePage = ({ model, rowAlias, outputs, page }: MediaContext): Sql => {
  if (page === undefined) throw new TypeError("a page of what is not read");
  const { read, buildRow } = page;
  const keys = outputs.filter((name) => name.startsWith(HIDDEN_KEY_PREFIX));
  const members = (read.orderBy ?? []).map(({ expression }) => findMember(model, read, expression) ?? null);
  const row = buildRow(outputs.filter((name) => !name.startsWith(HIDDEN_KEY_PREFIX)));
  const compileKeysAt = (position: Sql): Sql =>
    sql`pg_catalog.json_build_array(${joinSql(keys.map((name) => sql`(pg_catalog.array_agg(${quoteIdentifier(rowAlias, name)}::pg_catalog.text))[${position}]`))})`;
  const ends = joinSql([sql`1`, sql`pg_catalog.count(*) - 1`, sql`pg_catalog.count(*)`].map(compileKeysAt));
  return sql`pg_catalog.concat(pg_catalog.string_agg(pg_catalog.row_to_json(${row})::pg_catalog.text, ${ROW_SEPARATOR_SQL}), ${PART_SEPARATOR_SQL}, ${quoteLiteral(
    JSON.stringify({ members, cap: read.cap ?? null }),
  )}, ${PART_SEPARATOR_SQL}, pg_catalog.json_build_array(${ends}))`;
};

/** Adds pages that begin after a row to REST: `?cursor=`. @rule P-CUR-1 … P-CUR-6 */
export const cursorPages = definePlugin({
  name: "cursor-pages",
  requires: ["rest"],
  apply: (hooks, { use, registry }) => {
    // The handler below requests this internal media type in place of JSON; a random name is unknown to clients.
    const mediaPrefix = `application/vnd.relapi.${randomUUID()}`;
    const types = new Map([...PAGE_MEDIA.keys()].map((media) => [`${mediaPrefix}.${media}`, media]));
    use(chooseMediaHook).tap("cursor-pages", ({ name }) => {
      const media = types.get(name);
      return media === undefined ? undefined : { envelope: { media } };
    });
    for (const media of PAGE_MEDIA.keys())
      hooks.compileMedia.for(media).tap({ name: "cursor-pages", builtIn: [] }, compilePage);
    hooks.transformPlan.tap(
      { name: "cursor-pages", stage: Stage.early, keepsRows: true },
      (plan, { model, envelope: { media } }) =>
        isPageMedia(media) ? planPage(plan, model, registry, PAGE_MEDIA.get(media)) : plan,
    );
    use(exposeRestHeadersHook).tap("cursor-pages", (names) => [...names, "Link"]);
    use(describeAdditionsHook).tap("cursor-pages", ({ readParameters, paths }) => ({
      readParameters: {
        ...readParameters,
        cursor: "The cursor of a page: empty for the first page, otherwise from the `Link` header of the previous page",
      },
      paths,
    }));
    hooks.buildRestRoute.tap({ name: "cursor-pages", stage: Stage.late }, (route) => {
      const read = route.methods.get("GET");
      if (read === undefined || route.target.kind !== "relation") return route;
      const { relation } = route.target;
      const handlePage: RestHandler = async (exchange, target) => {
        const page = parsePageRequest(exchange, relation);
        if (page === undefined) return (route.methods.get(exchange.method) ?? read)(exchange, target);
        const { cursor } = page;
        const position =
          cursor === undefined ? "" : isLastPageCursor(cursor) ? "-last" : cursor.isBackward ? "-before" : "-behind";
        const media = `${mediaPrefix}.cursor-page${position}`;
        const answer = await read(rewriteRequest(exchange, page, relation, media), target);
        if (answer.status !== 200) return answer;
        const builtPage = buildPageAnswer(answer, page, relation, exchange.method === "HEAD");
        if (!wantsCount(exchange)) return builtPage.answer;
        const { operation } = exchange;
        const countAnswer = await (route.methods.get("HEAD") ?? read)(buildCountRequest(exchange, page), target);
        exchange.operation = operation;
        return addCount(builtPage.answer, countAnswer, builtPage.rows);
      };
      return { ...route, methods: new Map([...route.methods, ["GET", handlePage], ["HEAD", handlePage]]) };
    });
  },
});
