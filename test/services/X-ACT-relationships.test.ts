/** Relationships of custom types: rows of tables that belong to the results of actions. */
import { GraphQLString } from "graphql";
import { describe, expect, test } from "vitest";
import { definePlugin } from "../../core/index.ts";
import type { GqlFieldContext, GqlFields, GqlLoadedRow } from "../../plugins/graphql/api.ts";
import { asAdmin } from "../support/api.ts";
import { watchExecutions } from "../support/context.ts";
import {
  collectWarnings,
  buildMetadataDocument,
  object,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { runCommand } from "../support/metadata-commands.ts";
import { temporaryFile } from "../support/temporary-files.ts";
import { argument, startActionHook } from "./action-metadata.ts";
import { json } from "./hook-server.ts";
import { startWithWebhooks } from "./start.ts";

const hook = await startActionHook();

const RELATIONSHIPS = [
  { name: "artist", type: "object", remote_table: "artist", field_mapping: { artist_id: "id" } },
  {
    name: "albums",
    type: "array",
    source: "default",
    remote_table: { schema: "public", name: "album" },
    field_mapping: { artist_id: "artist_id" },
  },
];

const buildDocument = (relationships: readonly Entry[] = RELATIONSHIPS): Entry =>
  buildMetadataDocument(
    [
      table("artist", {
        select_permissions: permissions({ reader: { columns: ["id", "name"], filter: { id: { _lte: 2 } } } }),
      }),
      table("album", {
        object_relationships: [object("artist", "artist_id")],
        select_permissions: permissions({ reader: { columns: ["id", "title", "artist_id"], filter: {}, limit: 2 } }),
      }),
    ],
    {
      actions: [
        ["find", "query", "[Found!]!"],
        ["take", "mutation", "Found"],
      ].map(([name, type, output]) => ({
        name,
        definition: { handler: "{{ACTION_BASE}}/find", type, arguments: [], output_type: output },
        permissions: [{ role: "reader" }, { role: "guest" }],
      })),
      custom_types: {
        objects: [
          {
            name: "Found",
            fields: [
              argument("artist_id", "Int"),
              argument("artist_ids", "[Int!]"),
              argument("best", "Found"),
              argument("more", "[Found!]"),
            ],
            relationships,
          },
        ],
      },
    },
  );

let statements = 0;
let loads = 0;
const loadedNames = definePlugin({
  name: "loaded-names",
  requires: ["graphql-queries"],
  apply: (hooks) =>
    hooks.buildGqlField.tap("loaded-names", (fields: GqlFields, { scope, relation }: GqlFieldContext): GqlFields => {
      if (scope !== "row" || relation?.name !== "artist") return fields;
      const load = (rows: readonly GqlLoadedRow[]): readonly string[] => {
        loads++;
        return rows.map(({ name }) => String(name).toUpperCase());
      };
      return {
        ...fields,
        loud: { config: { type: GraphQLString }, toPlan: { kind: "custom", columns: ["name"], load } },
      };
    }),
});
const statementCounter = watchExecutions(({ programs }) => {
  for (const { program } of programs) statements += program.statements.length;
});

const api = await startWithWebhooks({ parts: [statementCounter, loadedNames], metadata: buildDocument() });
const reader = asAdmin("reader");

const ask = async (results: unknown, query: string, variables: Entry = {}, headers = asAdmin()): Promise<any> => {
  hook.answer = json(results);
  statements = 0;
  return api.gql(query, variables, headers);
};

describe("the rows", () => {
  test("X-ACT-11 an object relationship has the row whose columns equal the fields, or null", async () => {
    const results = [{ artist_id: 2 }, { artist_id: 99 }, {}, { artist_id: 1 }];
    expect(await ask(results, "{ find { artist { name } } }")).toEqual({
      data: { find: [{ artist: { name: "Bjork" } }, { artist: null }, { artist: null }, { artist: { name: "Abba" } }] },
    });
  });

  test("X-ACT-11a one statement reads the rows of all results, whatever their number", async () => {
    const results = Array.from({ length: 50 }, (_, i) => ({ artist_id: (i % 4) + 1 }));
    const { data } = await ask(results, "{ find { artist { name } } }");
    expect(data.find.map((row: any) => row.artist.name).slice(0, 5)).toEqual(["Abba", "Bjork", "Can", "Dusk", "Abba"]);
    expect(statements).toBe(1);
    await ask(results, "{ find { artist { name } albums { title } } }");
    expect(statements).toBe(2);
    await ask([], "{ find { artist { name } albums { title } } }");
    expect(statements).toBe(0);
  });

  test("X-ACT-11a X-GQL-6 functions that load fields of the rows are called once", async () => {
    const results = [{ artist_id: 2 }, { artist_id: 99 }, { artist_id: 1 }];
    loads = 0;
    const { data } = await ask(results, "{ find { artist { loud } albums(limit: 1) { artist { loud } } } }");
    expect(data.find).toEqual([
      { artist: { loud: "BJORK" }, albums: [{ artist: { loud: "BJORK" } }] },
      { artist: null, albums: [] },
      { artist: { loud: "ABBA" }, albums: [{ artist: { loud: "ABBA" } }] },
    ]);
    expect(loads).toBe(2);
  });

  test("X-ACT-11b the arguments of an array relationship hold for each object of the result", async () => {
    const results = [{ artist_id: 3 }, { artist_id: 4 }, { artist_id: 1 }];
    const query = `query ($least: Int, $skip: Int) {
      find {
        first: albums(order_by: {title: desc}, limit: 1, offset: $skip) { title }
        some: albums(where: {id: {_gt: $least}}, order_by: {id: asc}) { id artist { name } }
      }
    }`;
    expect((await ask(results, query, { least: 4, skip: 0 })).data.find).toEqual([
      { first: [{ title: "Tago Mago" }], some: [{ id: 5, artist: { name: "Can" } }] },
      { first: [], some: [] },
      { first: [{ title: "Waterloo" }], some: [] },
    ]);
    const { data } = await ask(results, query, { least: 0, skip: 1 });
    expect(data.find.map(({ first }: any) => first)).toEqual([[{ title: "Future Days" }], [], [{ title: "Arrival" }]]);
  });

  test("X-ACT-11 relationships follow objects at any depth, under aliases and in mutations", async () => {
    const results = { artist_id: 1, best: { artist_id: 2, more: [{ artist_id: 3 }, { artist_id: 4 }] } };
    const query = `mutation {
      take {
        one: artist { __typename a: name }
        best { artist_id artist { name } more { artist { name } } }
      }
    }`;
    expect((await ask(results, query)).data.take).toEqual({
      one: { __typename: "artist", a: "Abba" },
      best: {
        artist_id: 2,
        artist: { name: "Bjork" },
        more: [{ artist: { name: "Can" } }, { artist: { name: "Dusk" } }],
      },
    });
    expect((await ask(null, query)).data.take).toBeNull();
  });

  test("X-ACT-11c the rows are those of the caller, with the limit of the permission for each object", async () => {
    const results = [{ artist_id: 1 }, { artist_id: 3 }];
    const { data } = await ask(results, "{ find { artist { name } albums(order_by: {id: asc}) { id } } }", {}, reader);
    expect(data.find).toEqual([
      { artist: { name: "Abba" }, albums: [{ id: 1 }, { id: 2 }] },
      { artist: null, albums: [{ id: 4 }, { id: 5 }] },
    ]);
    const { errors } = await ask(results, "{ find { artist { country } } }", {}, reader);
    expect(errors[0].message).toBe("field 'country' not found in type: 'artist'");
  });

  test("X-ACT-11c a role without a permission on the table has no such field", async () => {
    const { errors } = await ask([], "{ find { artist { name } } }", {}, asAdmin("guest"));
    expect(errors[0].message).toBe("field 'artist' not found in type: 'Found'");
  });

  test("X-ACT-11a a mutation reads rows that its earlier fields have written", async () => {
    const { data } = await ask(
      { artist_id: 77 },
      'mutation { insert_artist_one(object: {id: 77, name: "New"}) { id } take { artist { name } } delete_artist_by_pk(id: 77) { id } }',
    );
    expect(data.take).toEqual({ artist: { name: "New" } });
  });

  test("X-ACT-11a a value that does not fit the column is an error of the database", async () => {
    const tooLarge = await ask([{ artist_id: 12345678901 }], "{ find { artist { name } } }");
    expect(tooLarge.errors[0]).toMatchObject({
      message: 'value "12345678901" is out of range for type integer',
      extensions: { path: "$.selectionSet.find.selectionSet.artist", code: "data-exception" },
    });
  });
});

describe("relationships that do not fit", () => {
  const [artist, albums] = RELATIONSHIPS;
  const faulty: readonly (readonly [name: string, more: Entry, reason: string])[] = [
    ["a", { remote_table: "nothing" }, 'there is no tracked table "public"."nothing"'],
    ["b", { remote_table: { name: "track" } }, 'there is no tracked table "public"."track"'],
    ["c", { field_mapping: { artist: "id" } }, 'the type has no field "artist"'],
    ["d", { field_mapping: { artist_id: "no" } }, 'the table has no column "no"'],
    ["e", { field_mapping: { more: "id" } }, 'the field "more" is not a scalar'],
    ["f", { field_mapping: { artist_ids: "id" } }, 'the field "artist_ids" is not a scalar'],
    ["g", { field_mapping: {} }, "it has no field_mapping"],
    ["h", { type: "list" }, "its type is neither object nor array"],
    ["best", {}, "the type has a field of this name"],
  ];

  test("X-ACT-11d P-HAS-9 relationships that do not fit are left out with their reasons, and can be dropped", async () => {
    const warnings = collectWarnings();
    const relationships = [
      albums,
      ...faulty.map(([name, extraKeys]) => ({ ...artist, name, ...extraKeys })),
    ] as Entry[];
    const path = temporaryFile("metadata.json", JSON.stringify(buildDocument(relationships)));
    const otherApi = await startWithWebhooks({ metadata: path, logger: warnings.logger });
    const reasons = faulty.map(([name, , reason]) => `relationship of a custom type Found.${name}: ${reason}`);
    expect(warnings.all()).toEqual(reasons.map((reason) => `${reason}; ignored`));
    hook.answer = json([{ artist_id: 4 }]);
    expect(await otherApi.gql("{ find { albums { id } } }")).toEqual({ data: { find: [{ albums: [] }] } });
    const run = (type: string): Promise<any> => runCommand(otherApi, type);
    const { inconsistent_objects: objects } = await run("get_inconsistent_metadata");
    expect(objects.map((entry: any) => entry.reason)).toEqual(
      reasons.map((reason) => `Inconsistent object: ${reason}`),
    );
    await run("drop_inconsistent_metadata");
    expect((await run("get_inconsistent_metadata")).is_consistent).toBe(true);
    const [customType] = (await run("export_metadata")).custom_types.objects;
    expect(customType.relationships).toEqual([albums]);
  });
});
