/** Tables that are alike are introspected together: with the answers of a server that cannot do so. */
import { getIntrospectionQuery } from "graphql";
import { describe, expect, test } from "vitest";
import { definePlugin, type RelApiOptions } from "../../core/index.ts";
import type { GqlFields } from "../../plugins/graphql/api.ts";
import { asAdmin, forGraphql, startApi, type TestApi } from "../support/api.ts";
import { openDatabase, type TestDatabase } from "../support/database.ts";
import { array, documentOf, object, permissions, table } from "../support/metadata-document.ts";

/** Since others might add fields by anything, all types are made. */
const another = definePlugin({
  name: "another",
  apply: (hooks) => hooks.buildGqlField.tap("another", (fields: GqlFields) => fields),
});

const QUERIES = [
  getIntrospectionQuery({ inputValueDeprecation: true, specifiedByUrl: true, directiveIsRepeatable: true }),
  "{ __schema { types { name } } }",
  "{ __schema { types { kind } queryType { name fields { name args { name } } } mutationType { name } } }",
  `{ __schema { types { a: fields { name } inputFields { name type { name ofType { name fields { name } } } }
       b: fields { n: name description args { name defaultValue } } enumValues { name description }
       possibleTypes { name } interfaces { name } } } x: __schema { directives { name } subscriptionType { name } } }`,
];
const SCHEMAS = ["public", "second"];
const ROLES = [undefined, "music_reader", "music_editor", "music_nobody"];

const texts = async (api: TestApi, roles: readonly (string | undefined)[]): Promise<readonly string[]> => {
  const all: string[] = [];
  for (const role of roles)
    for (const query of QUERIES) {
      const body = JSON.stringify({ query });
      const answer = await api.post("/v1/graphql", {
        body,
        headers: { "content-type": "application/json", ...asAdmin(role) },
      });
      all.push(answer.text);
    }
  return all;
};

const expectSame = async (on: TestDatabase, options: RelApiOptions, roles = ROLES): Promise<readonly string[]> => {
  const plain = await startApi(forGraphql({ on, dbSchemas: SCHEMAS, ...options }));
  const whole = await startApi(forGraphql({ on, dbSchemas: SCHEMAS, ...options, parts: [another] }));
  const [found, expected] = [await texts(plain, roles), await texts(whole, roles)];
  await plain.close();
  await whole.close();
  found.forEach((text, i) => expect(text === expected[i], `${roles[Math.floor(i / QUERIES.length)]}, ${i}`).toBe(true));
  return found;
};

const NAMES = ["order", "orders", "a", "a_b", "Item", "item", "person_", "_tag", "zebra", "status", "b", "max_a"];

/** Dozens of tables of a few shapes, in two schemas; what differs are names, comments, and who is related to whom. */
const twins = (): string => {
  const statements = [
    "drop schema public cascade",
    ...SCHEMAS.map((schema) => `create schema ${schema}`),
    `grant usage on schema ${SCHEMAS.join()} to music_reader, music_editor`,
    "create type mood as enum ('sad', 'ok')",
  ];
  for (const schema of SCHEMAS)
    NAMES.forEach((name, i) => {
      const of = (word: string): string => `${schema}."${word}"`;
      const parent = NAMES[i - 1];
      const related =
        i % 4 === 3 && parent !== undefined ? `, "${parent}_id" int not null references ${of(parent)}` : "";
      const itself = i % 4 === 2 ? `, "next" int references ${of(name)}` : "";
      const more = i % 4 === 1 ? `, how mood, about jsonb, "userId" bigint, many text[]` : "";
      statements.push(
        `create table ${of(name)} (id int primary key, name text not null, label varchar(20)${more}${itself}${related}${i % 4 === 0 ? ", unique (name, label)" : ""})`,
        ...(i % 3 === 0 ? [`comment on table ${of(name)} is 'Said of "${name}" — ünï\\n'`] : []),
        ...(i % 4 === 0 ? [`comment on column ${of(name)}.label is 'what it says'`] : []),
        `grant select, insert, update, delete on ${of(name)} to music_editor`,
        `grant ${i < 6 ? "select" : "select (id, name), insert (name)"} on ${of(name)} to music_reader`,
      );
    });
  statements.push(
    `create function find_orders(term text, many int default 3) returns setof "order" stable language sql as 'select * from "order"'`,
    `create function label_of(row_ "zebra") returns text stable language sql as 'select null::text'`,
    `create function items_of(row_ "a") returns setof "item" stable language sql as 'select * from "item"'`,
  );
  return statements.join(";\n");
};

const open = async (sql: string): Promise<TestDatabase> => {
  const database = await openDatabase();
  await database.query(sql);
  return database;
};

describe("R-SC-15", () => {
  test("R-SC-15 tables that are alike, in two schemas, with functions and computed fields", async () => {
    const on = await open(twins());
    const [admin = ""] = await expectSame(on, {});
    for (const name of [
      "second_order_mutation_response",
      "_tag_bool_exp",
      "find_orders_args",
      "a_obj_rel_insert_input",
    ])
      expect(admin.includes(`"name":"${name}"`), name).toBe(true);
    expect(admin.includes(`Said of \\"order\\" — ünï`)).toBe(true);
  });

  test("R-SC-15 with settings that change names and types", async () => {
    const on = await open(twins());
    for (const options of [{ nullableRelationships: true }, { defaultNamingConvention: "graphql-default" }] as const)
      await expectSame(on, options, [undefined, "music_reader"]);
  });

  test("R-SC-15 the names and permissions of metadata", async () => {
    const on = await open(twins());
    const tables = SCHEMAS.flatMap((schema) =>
      NAMES.map((name, i) => {
        const parent = NAMES[i - 1] ?? "";
        return table(`${schema}.${name}`, {
          ...(i % 6 === 5
            ? {
                configuration: {
                  custom_name: `My_${name}_${schema}`,
                  custom_root_fields: { select: `all_${name}_${schema}` },
                },
              }
            : {}),
          object_relationships: i % 4 === 3 ? [object(i % 8 === 3 ? "Above" : "zz", `${parent}_id`)] : [],
          array_relationships:
            schema === "public" && i % 4 === 2 && i < 10 ? [array("below", NAMES[i + 1] ?? "", `${name}_id`)] : [],
          select_permissions: permissions({
            music_reader: { columns: ["id", "name"], filter: {}, allow_aggregations: i < 8 },
            music_editor: { columns: "*", filter: { id: { _gt: 1 } }, ...(i === 4 ? { query_root_fields: [] } : {}) },
          }),
          insert_permissions: permissions({ music_editor: { columns: i % 4 === 3 ? ["name"] : "*", check: {} } }),
        });
      }),
    );
    for (const customization of [{}, { root_fields: { prefix: "p_" }, type_names: { prefix: "T_", suffix: "_x" } }])
      await expectSame(on, { metadata: documentOf(tables, {}, { customization }) }, ROLES.slice(0, 3));
  });

  test("R-SC-15 names that clash", async () => {
    const on = await open(twins());
    for (const name of [
      "a_aggregate",
      "a_max_order_by",
      "b_by_pk",
      "item_bool_exp",
      "order_by",
      "x_mutation_response",
      "x",
    ])
      await on.query(`create table "${name}" (id int primary key, name text not null, label varchar(20))`);
    await expectSame(on, {}, [undefined, "music_reader"]);
  });
});
