// @runs-also-on postgresql-15-postgis
/** The responses of the GraphQL surface without a plugin. Several that do not touch each other are left out of one
 *  preset. */
import { describe, expect, test } from "vitest";
import { getOperatorName } from "../../plugins/graphql/part-names.ts";
import { capabilities, forGraphql, startApi, type StartOptions } from "../support/api.ts";
import { gqlCases, type GqlCase } from "../support/cases.ts";
import { fetchSchema } from "../support/schema.ts";
import { leaveOut, getPlugin } from "./left-out.ts";

const start = (names: readonly string[], options: StartOptions = {}) =>
  startApi(forGraphql({ dbTxEnd: "rollback", ...options, parts: leaveOut(...names) }));

interface Group {
  /** Names of plugins, and the members that are unknown without them, except the operators that they declare: a rule,
   *  a type, one of its fields or input fields. */
  readonly without: Readonly<Record<string, readonly string[]>>;
  /** The responses of the plugins that stay. */
  readonly stays?: readonly GqlCase[];
  readonly options?: StartOptions;
  readonly when?: boolean;
}

const GROUPS: readonly Group[] = [
  {
    without: {
      "text-operators": [],
      "json-operators": [],
      "array-range-operators": [],
      "ltree-operators": [],
      "graphql-casts": ["G-OP-17 jsonb_comparison_exp._cast"],
    },
    stays: [
      {
        title: "G-OP-1 the operators of the other plugins work",
        query: '{ artist(where: {name: {_eq: "Abba"}}) { id } }',
        data: { artist: [{ id: 1 }] },
      },
    ],
  },
  {
    without: {
      "comparison-operators": [
        "G-ROOT-3 query_root.artist_by_pk",
        "G-ROOT-14 mutation_root.delete_artist_by_pk",
        "G-ROOT-11 mutation_root.update_artist_by_pk",
        "G-FN-3 query_root.first_album",
      ],
    },
    stays: [
      {
        title: "G-OP-5 without comparison-operators _like works",
        query: '{ artist(where: {name: {_like: "Ab%"}}) { id } }',
        data: { artist: [{ id: 1 }] },
      },
    ],
  },
  {
    without: {
      "geo-operators": [
        "G-OP-23 atlas_spots_bool_exp.at",
        "G-TYP-22 atlas_spots.at",
        "G-TYP-22 atlas_spots.earth",
        "G-TYP-22 atlas_spots_insert_input.at",
      ],
    },
    stays: [
      {
        title: "G-OUT-1 without geo-operators the other columns exist",
        query: "{ atlas_spots(where: {id: {_eq: 1}}) { name } }",
        data: { atlas_spots: [{ name: "Oslo" }] },
      },
    ],
    options: { dbSchemas: ["atlas"], dbExtraSearchPath: ["gis"] },
    when: capabilities.postgis,
  },
  {
    without: {
      "nest-embeds": ["G-REL-1 album.artist", "G-REL-2 artist.albums", "G-CF-2 person.person_peers"],
    },
    stays: [
      {
        title: "G-BEXP-3 without nest-embeds conditions follow relationships",
        query: '{ album(where: {artist: {name: {_eq: "Bjork"}}}) { id } }',
        data: { album: [{ id: 3 }] },
      },
      {
        title: "G-CF-1 without nest-embeds values of computed fields are returned",
        query: "{ person(limit: 1) { person_title } }",
        data: { person: [{ person_title: "Dear Ann" }] },
      },
    ],
  },
  {
    without: { "aggregate-embeds": ["G-REL-2 artist.albums_aggregate"] },
    stays: [
      {
        title: "G-ROOT-2 without aggregate-embeds root fields aggregate",
        query: "{ artist_aggregate { aggregate { count } } }",
        data: { artist_aggregate: { aggregate: { count: 4 } } },
      },
    ],
  },
  {
    without: {
      "graphql-relationships": [
        "G-REL-1 album.artist",
        "G-BEXP-3 album_bool_exp.artist",
        "G-ORD-5 album_order_by.artist",
      ],
    },
  },
  { without: { relationships: ["G-REL-2 artist.albums", "G-NST-1 artist_insert_input.albums"] } },
  {
    without: {
      "graphql-aggregates": [
        "G-ROOT-2 query_root.artist_aggregate",
        "G-REL-2 artist.albums_aggregate",
        "G-ORD-6 artist_order_by.albums_aggregate",
        "G-ROOT-4 query_root.search_albums_aggregate",
      ],
      "graphql-computed-fields": ["G-CF-1 person.person_title", "G-CF-5 person_bool_exp.person_title"],
    },
  },
  {
    without: {
      "aggregate-predicates": ["G-AGP-1 artist_bool_exp.albums_aggregate"],
      "graphql-functions": ["G-FN-2 query_root.search_albums", "G-FN-2 mutation_root.sell_album"],
    },
    stays: [
      {
        title: "G-OUT-2 without aggregate-predicates aggregates work",
        query: "{ artist_aggregate { aggregate { count } } }",
        data: { artist_aggregate: { aggregate: { count: 4 } } },
      },
    ],
  },
  {
    without: { "graphql-introspection": ["G-INT-1 query_root.__schema", "G-INT-1 query_root.__type"] },
    stays: [
      {
        title: "G-INT-1 without graphql-introspection __typename works",
        query: "{ __typename }",
        data: { __typename: "query_root" },
      },
    ],
  },
  ...["graphql-queries", "graphql-comparisons", "catalog-introspection"].map((name) => ({
    without: { [name]: ["G-GEN-4 query_root.artist"] },
    stays: ["mutation { delete_artist }", "subscription { artist }"].map((query) => {
      const message = `no ${query.split(" ")[0]}s exist`;
      return { title: `G-GEN-4 without ${name} ${message}`, query, error: { message, code: "validation-failed" } };
    }),
  })),
  {
    without: {
      "graphql-inserts": ["G-ROOT-8 mutation_root.insert_artist", "G-ROOT-9 mutation_root.insert_artist_one"],
      "inc-operator": [],
      "document-operators": [],
    },
    stays: [
      {
        title: "G-UPD-1a the operators of the other plugins work",
        query: 'mutation { update_artist(where: {id: {_eq: 1}}, _set: {country: "NO"}) { affected_rows } }',
        data: { update_artist: { affected_rows: 1 } },
      },
    ],
  },
  {
    without: {
      "graphql-updates": [
        "G-ROOT-10 mutation_root.update_artist",
        "G-ROOT-11 mutation_root.update_artist_by_pk",
        "G-ROOT-12 mutation_root.update_artist_many",
      ],
    },
  },
  {
    without: {
      "graphql-deletes": ["G-ROOT-13 mutation_root.delete_artist", "G-ROOT-14 mutation_root.delete_artist_by_pk"],
      "set-operator": [],
    },
    stays: [
      {
        title: "G-UPD-1b without set-operator _inc works",
        query: "mutation { update_album(where: {id: {_eq: 1}}, _inc: {sold: 1}) { returning { sold } } }",
        data: { update_album: { returning: [{ sold: 4 }] } },
      },
    ],
  },
];

/** Types of columns, a comparison of them, and the condition of a column that has it. */
const COMPARISONS: Readonly<Record<string, readonly [comparison: string, relation: string, column: string]>> = {
  any: ["Int_comparison_exp", "artist", "id"],
  array: ["String_array_comparison_exp", "album", "tags"],
  jsonb: ["jsonb_comparison_exp", "artist", "stats"],
  ltree: ["ltree_comparison_exp", "category", "path"],
  text: ["String_comparison_exp", "artist", "name"],
};

const UPDATE_RULES: Readonly<Record<string, string>> = {
  _set: "G-UPD-1a",
  _inc: "G-UPD-1b",
  _append: "G-UPD-1c",
  _prepend: "G-UPD-1d",
  _delete_key: "G-UPD-1e",
  _delete_elem: "G-UPD-1f",
  _delete_at_path: "G-UPD-1g",
};

/** The type members of the plugin's operators, as a group lists them. */
const listComparisons = (name: string): readonly string[] =>
  (getPlugin(name).operators ?? []).flatMap((spec) => {
    const [comparison] = spec.types.flatMap((type) => COMPARISONS[type] ?? []);
    const member = getOperatorName(spec);
    return comparison === undefined || member === undefined ? [] : `G-OP-1 ${comparison}.${member}`;
  });

const readMember = (line: string) => {
  const [, rule = "", type = "", field = ""] = /^(\S+) (\w+)\.(\w+)$/.exec(line) ?? [];
  return { rule, type, field };
};

const ask = (type: string, field: string): string => {
  const columnCondition = Object.values(COMPARISONS).find(([comparison]) => comparison === type);
  if (columnCondition !== undefined)
    return `{ ${columnCondition[1]}(where: {${columnCondition[2]}: {${field}: null}}) { id } }`;
  if (type === "query_root") return `{ ${field} }`;
  if (type === "mutation_root") return `mutation { ${field} }`;
  const [, table = "", input] = /^(\w+?)(?:_(bool_exp|order_by|insert_input))?$/.exec(type) ?? [];
  if (input === undefined) return `{ ${table} { ${field} } }`;
  if (input === "insert_input") return `mutation { insert_${table}_one(object: {${field}: null}) { id } }`;
  return `{ ${table}(${input === "bool_exp" ? "where" : input}: {${field}: null}) { id } }`;
};

const unknownWithout = (name: string, lines: readonly string[]): readonly GqlCase[] => [
  ...[...lines, ...listComparisons(name)].map(readMember).map(({ rule, type, field }) => ({
    title: `${rule} without ${name} ${type} has no ${field}`,
    query: ask(type, field),
    error: { message: `field '${field}' not found in type: '${type}'`, code: "validation-failed" },
  })),
  ...(getPlugin(name).updateOperators ?? []).map(({ graphql }) => ({
    title: `${UPDATE_RULES[graphql]} without ${name} ${graphql} is not an argument`,
    query: `mutation { update_artist(where: {}, ${graphql}: {}) { affected_rows } }`,
    error: { message: `'update_artist' has no argument named '${graphql}'`, code: "validation-failed" },
  })),
];

describe.each(GROUPS.filter(({ when }) => when !== false))(
  "without $without",
  async ({ without, stays = [], options }) => {
    const rows = Object.entries(without).flatMap(([name, lines]) => unknownWithout(name, lines));
    gqlCases(await start(Object.keys(without), options), [...rows, ...stays]);
  },
);

test("G-GEN-4 with all plugins each of these members is known", async () => {
  const schema = await fetchSchema(await startApi(forGraphql()));
  for (const [name, lines] of GROUPS.flatMap(({ without, options }) => (options ? [] : Object.entries(without))))
    for (const { type, field } of [...lines, ...listComparisons(name)].map(readMember))
      if (!field.startsWith("__")) expect(Object.keys(schema.members(type)), `${name}: ${type}`).toContain(field);
});

describe("addresses", async () => {
  const page = { headers: { accept: "text/html" } };
  const noPlayground = await start(["playground"]);
  const noGraphql = await start(["graphql"]);

  test("G-HTTP-12 without playground the address has no page", async () => {
    const answer = await noPlayground.get("/v1/graphql", page);
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "OPTIONS, GET, HEAD, POST"]);
    expect((await noPlayground.get("/v1/graphql/playground/x/index.js")).status).toBe(404);
  });

  test.each(["/v1/graphql", "/v1alpha1/graphql", "/v1/version"])(
    "R-PATH-6 without graphql %s is not a path",
    async (path) => {
      const answer = await noGraphql.post(path, { body: { query: "{ __typename }" } });
      expect([answer.status, answer.json().code]).toEqual([404, "PGRST125"]);
      expect((await noGraphql.get("/v1/graphql", page)).status).toBe(404);
    },
  );

  test("R-PATH-4 without graphql /api/graphql is an unknown relation", async () => {
    const answer = await noGraphql.get("/api/graphql");
    expect([answer.status, answer.json().code]).toEqual([404, "PGRST205"]);
  });
});
