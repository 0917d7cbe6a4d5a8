/** Permissions of the metadata apply to the parts that plugins add. */
import { GraphQLString } from "graphql";
import { definePlugin, sql } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { cases, gqlCases, type Case } from "../support/cases.ts";
import { array, buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { expect } from "vitest";
import type { GqlFieldContext, GqlFields } from "../../plugins/graphql/api.ts";
import { median } from "./median.ts";
import { rootFields } from "./root-fields.ts";

const metadata = buildMetadataDocument(
  [
    table("album", {
      select_permissions: permissions({
        part: { columns: ["id", "title"], filter: {}, allow_aggregations: true },
        some: { columns: "*", filter: { artist_id: { _eq: "X-Session-Artist-Id" } }, allow_aggregations: true },
        fans: { columns: "*", filter: {} },
      }),
    }),
    table("artist", {
      array_relationships: [array("albums", "album", "artist_id")],
      select_permissions: permissions({
        fans: {
          columns: "*",
          filter: { albums_aggregate: { median: { arguments: ["sold"], predicate: { _gte: 1000 } } } },
        },
      }),
    }),
  ],
  { inherited_roles: [{ role_name: "mixed", role_set: ["part", "some"] }] },
);

const near = definePlugin({
  name: "near",
  orderings: [
    {
      name: "near",
      types: ["int4", "int8"],
      operands: [{ name: "to" }],
      compile: (column, [to]) => sql`abs(${column} - ${to!})`,
    },
  ],
});

const loadedFields = definePlugin({
  name: "loaded",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    hooks.buildGqlField.tap("loaded", (fields: GqlFields, { scope, relation }: GqlFieldContext): GqlFields =>
      scope === "row" && relation?.name === "album"
        ? {
            ...fields,
            sales: {
              config: { type: GraphQLString },
              toPlan: {
                kind: "custom",
                columns: ["sold"],
                load: (rows) => rows.map(({ sold }) => `sold ${String(sold)}`),
              },
            },
          }
        : fields,
    ),
});

const api = await startApi(
  forGraphql({
    metadata,
    metadataPermissionsForRest: true,
    dbAggregatesEnabled: true,
    parts: [median, near, loadedFields, rootFields(async () => 1)],
  }),
);
await api.sql("update album set sold = case when artist_id = 1 then 5000 else 10 end");

const asRole = (role: string, artist?: string) => ({
  headers: asAdmin(role, artist === undefined ? {} : { "artist-id": artist }),
});
const rejection: Partial<Case> = { status: 403, check: (answer) => expect(answer.json().code).toBe("42501") };

cases(api, [
  {
    ...asRole("part"),
    ...rejection,
    title: "X-AGG-1 an aggregate of a column that the role may not read is rejected",
    request: "GET /album?select=sold.median()",
  },
  {
    ...asRole("part"),
    ...rejection,
    title: "X-ORD-1 an order by a column that the role may not read is rejected",
    request: "GET /album?select=id&order=sold.near(1)",
  },
  {
    ...asRole("fans"),
    ...rejection,
    title: "X-AGG-1 an aggregate is rejected without the right to aggregate",
    request: "GET /album?select=sold.median()",
  },
  {
    ...asRole("some", "1"),
    title: "X-AGG-1 an aggregate counts only the rows that the role sees",
    request: "GET /album?select=sold.median()",
    answer: [{ median: 5000 }],
  },
]);

gqlCases(api, [
  {
    title: "X-AGG-3 filters of the metadata may use aggregates of plugins",
    query: "{ artist { name } }",
    role: "fans",
    data: { artist: [{ name: "Abba" }] },
  },
  {
    title: "X-AGG-3 columns that the role may not read have no field",
    query: "{ album_aggregate { aggregate { median { sold } } } }",
    role: "part",
    error: { message: expect.stringMatching(/^field '(median|sold)' not found/) },
  },
  {
    title: "X-GQL-6 a loaded field is missing if the role may not read its columns",
    query: "{ album { sales } }",
    role: "part",
    error: { message: "field 'sales' not found in type: 'album'" },
  },
  {
    title: "X-GQL-6 the function of a loaded field gets null for a masked cell",
    query: "{ album(order_by: {id: asc}, limit: 3) { sold sales } }",
    role: "mixed",
    session: { "artist-id": "1" },
    data: {
      album: [
        { sold: 5000, sales: "sold 5000" },
        { sold: 5000, sales: "sold 5000" },
        { sold: null, sales: "sold null" },
      ],
    },
  },
  {
    title: "X-GQL-2 a plan reads only the rows that the role sees",
    query: "{ charts(top: 10) { artist_id } }",
    role: "some",
    session: { "artist-id": "1" },
    data: { charts: [{ artist_id: 1 }, { artist_id: 1 }] },
  },
]);
