import fc from "../support/fast-check.ts";
import { expect, test } from "vitest";
import { asAdmin } from "../support/api.ts";
import { albumConditions, albumOrders, asJson, asLiteral } from "./random-documents.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const post = async (body: unknown) => {
  const answer = await api.post("/v1/graphql", { headers: asAdmin(), body });
  expect(answer.status).toBe(200);
  return answer.json();
};

const windows = fc.record({
  limit: fc.option(fc.integer({ min: 0, max: 4 })),
  offset: fc.option(fc.integer({ min: 0, max: 3 })),
});

test("G-BEXP-1 G-ORD-1 G-PAG-1 G-VAR-9 random conditions return the rows of plain SQL, as literals and in variables", async () => {
  const inVariables =
    "query ($w: album_bool_exp, $o: [album_order_by!], $l: Int, $s: Int) { album(where: $w, order_by: $o, limit: $l, offset: $s) { id } album_aggregate(where: $w, order_by: $o, limit: $l, offset: $s) { aggregate { count } } }";
  await fc.assert(
    fc.asyncProperty(albumConditions, albumOrders, windows, async (condition, order, { limit, offset }) => {
      const rows = await api.sql(
        `select album.id from album where ${condition.sql("album")} order by ${order.sql}${limit === null ? "" : ` limit ${limit}`}${offset === null ? "" : ` offset ${offset}`}`,
      );
      const expected = {
        data: { album: rows.map(({ id }) => ({ id })), album_aggregate: { aggregate: { count: rows.length } } },
      };
      const variableAnswer = await post({
        query: inVariables,
        variables: { w: asJson(condition.value), o: asJson(order.value), l: limit, s: offset },
      });
      expect(variableAnswer).toEqual(expected);
      const args = `where: ${asLiteral(condition.value)}, order_by: ${asLiteral(order.value)}, limit: ${limit}, offset: ${offset}`;
      expect(
        await post({ query: `{ album(${args}) { id } album_aggregate(${args}) { aggregate { count } } }` }),
      ).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});

const rowArbitrary = fc.record(
  {
    title: fc.string({ unit: "grapheme", maxLength: 8 }).filter((text) => !text.includes("\u0000")),
    artist_id: fc.integer({ min: 1, max: 4 }),
    price: fc.option(fc.constantFrom(1, 2.5, 0.125)),
    sold: fc.option(fc.integer()),
    live: fc.option(fc.boolean()),
    tags: fc.option(
      fc.array(fc.option(fc.string({ maxLength: 4 }).filter((text) => !text.includes("\u0000"))), { maxLength: 3 }),
    ),
  },
  { requiredKeys: ["title", "artist_id"] },
);

test("G-INS-1 G-INS-3 random rows are returned as they were inserted", async () => {
  const query =
    "mutation ($o: [album_insert_input!]!) { insert_album(objects: $o) { affected_rows returning { title artist_id price sold live tags } } }";
  await fc.assert(
    fc.asyncProperty(fc.array(rowArbitrary, { maxLength: 4 }), async (rows) => {
      const nullColumns = { price: null, sold: null, live: null, tags: null };
      expect(await post({ query, variables: { o: rows } })).toEqual({
        data: {
          insert_album: { affected_rows: rows.length, returning: rows.map((row) => ({ ...nullColumns, ...row })) },
        },
      });
    }),
    { numRuns: 80 },
  );
});

const DOCUMENTS = [
  '{ album(where: {_or: [{price: {_gt: 3.5}}, {artist: {name: {_in: ["a", "b"]}}}]}, order_by: [{id: asc}], limit: 2, offset: 1, distinct_on: [id]) { id title artist { name albums_aggregate { aggregate { count(columns: [id], distinct: true) sum { sold } } nodes { id } } } tags } }',
  "query q($w: album_bool_exp, $l: Int = 3, $yes: Boolean!) { album(where: $w, limit: $l) { ...f id @include(if: $yes) } } fragment f on album { title artist { ... on artist { country } } }",
  'mutation m { insert_artist(objects: [{name: "n", stats: {a: [1, null]}, albums: {data: [{title: "t", price: 1e2}], on_conflict: {constraint: album_pkey, update_columns: [title]}}}]) { affected_rows returning { id name } } }',
  'mutation { update_album(where: {id: {_eq: 1}}, _set: {title: "x", live: null}, _inc: {sold: 1}) { affected_rows returning { sold } } delete_album_by_pk(id: 5) { id } update_album_many(updates: [{where: {}, _set: {price: 3}}]) { affected_rows } }',
  '{ search_albums(args: {term: "a"}, where: {id: {_gt: 0}}) { id } person { person_age_in(args: {year: 3}) person_card(path: "$.list[0]") } specimen(where: {c_jsonb: {_has_key: "a"}, c_ltree: {_ancestor: "a.b"}, c_uuid: {_is_null: true}}) { c_jsonb(path: "a.b") c_int_list } __schema { queryType { name } } }',
] as const;

const TOKENS = /"(?:[^"\\]|\\.)*"|\.\.\.|[A-Za-z_]\w*|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\S/g;

const WORDS = [
  "null",
  "true",
  "3",
  "-1",
  "1.5",
  "1e400",
  "99999999999",
  '"x"',
  '"2020-13-45"',
  "asc",
  "id",
  "_eq",
  "_and",
  "$w",
  "$nope",
  "{",
  "}",
  "[",
  "]",
  "(",
  ")",
  ":",
  "@include(if: true)",
  "...f",
  "...on album",
  "{}",
  "[]",
  "nodes",
  "aggregate",
  "where",
  "data",
  "\u0000",
  "😀",
];

/** Documents with tokens dropped, duplicated, exchanged or replaced. */
const brokenDocuments = fc
  .tuple(
    fc.constantFrom(...DOCUMENTS),
    fc.array(
      fc.tuple(fc.constantFrom("drop", "double", "replace", "insert", "swap"), fc.nat(), fc.constantFrom(...WORDS)),
      { minLength: 1, maxLength: 3 },
    ),
  )
  .map(([document, changes]) => {
    const tokens: string[] = document.match(TOKENS) ?? [];
    for (const [change, place, word] of changes) {
      const index = place % tokens.length;
      const token = tokens[index] as string;
      if (change === "drop") tokens.splice(index, 1);
      else if (change === "double") tokens.splice(index, 0, token);
      else if (change === "replace") tokens[index] = word;
      else if (change === "insert") tokens.splice(index, 0, word);
      else tokens.push(...tokens.splice(index, 1));
    }
    return tokens.join(" ");
  });

const variables = fc.option(
  fc.record(
    {
      w: fc.oneof(
        fc.jsonValue({ maxDepth: 3 }),
        albumConditions.map(({ value }) => asJson(value)),
      ),
      l: fc.oneof(fc.integer(), fc.jsonValue({ maxDepth: 1 })),
      yes: fc.oneof(fc.boolean(), fc.jsonValue({ maxDepth: 0 })),
    },
    { requiredKeys: [] },
  ),
);

/**
 * The errors that the database may report for a valid document: values of the wrong form, violations, failed conditions
 * of functions.
 */
const isFaultOfValues = (state: string): boolean => /^(22|23)/.test(state) || state === "42883" || state === "21000";

test(
  "G-ERR-1 G-BEXP-4 invalid documents get an error response, and never an internal error or an SQL error",
  { timeout: 240_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(brokenDocuments, variables, async (query, variableValues) => {
        const answer = await post({ query, variables: variableValues });
        if ("data" in answer) {
          expect(Object.keys(answer)).toEqual(["data"]);
          return;
        }
        expect(Object.keys(answer)).toEqual(["errors"]);
        expect(answer.errors).toHaveLength(1);
        const [{ message, extensions }] = answer.errors;
        expect(typeof message).toBe("string");
        expect(extensions.path).toMatch(/^\$/);
        const state = extensions.internal?.error?.status_code;
        if (state === undefined) expect(extensions.code, message).not.toBe("unexpected");
        else expect(isFaultOfValues(state), `${state} ${extensions.internal.error.message}`).toBe(true);
      }),
      { numRuns: 600 },
    );
  },
);
