/**
 * Tables, columns, types, arguments and variables with the names of members of JavaScript objects, or of words of the
 * language.
 */
import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql({ dbTxEnd: "rollback" }));
await api.sql(`
  create type "hasOwnProperty" as enum ('constructor', 'toString');
  create table "constructor" (
    "constructor" int primary key, "toString" text unique, "hasOwnProperty" numeric, "valueOf" jsonb, "isPrototypeOf" boolean, "__proto__" int);
  create table "toString" (
    id int primary key, "constructor" int references "constructor", "valueOf" double precision, "toString" text[], "hasOwnProperty" "hasOwnProperty", kinds "hasOwnProperty"[]);
  create table keywords (id int primary key, "null" int unique, "true" text, "false" boolean, "query" text);
  create table only_null ("null" int primary key);
  create table query_root (id int primary key);
  create table "String" (id int primary key);
  create table order_by (id int primary key);
  create function "valueOf"("constructor" int, "toString" text default 'x') returns setof "toString" language sql stable as $$ select * from "toString" where id >= $1 $$;
  create function "propertyIsEnumerable"(t "toString") returns text language sql stable as $$ select 'row ' || t.id $$;
  insert into "constructor" values (1, 'a', 1.50, '{"constructor": {"__proto__": 7}}', true, 3), (2, 'b', 2.5, null, false, null);
  insert into "toString" values (1, 1, 1.5, '{q}', 'constructor', '{toString}'), (2, 1, 2.5, null, 'toString', null), (3, 2, 7, '{z}', null, '{}'), (4, null, null, null, null, null);
  insert into keywords values (1, 2, 't', true, 'q'), (2, null, 'u', false, null);
  insert into only_null values (1);
  create type "odd kind" as enum ('a', 'b');
  create table by_odd_kind (kind "odd kind", id int, name text, primary key (kind, id));
  insert into by_odd_kind values ('a', 1, 'x'), ('b', 1, 'y');
`);
await api.reload();
const admin = await fetchSchema(api);

test("G-NAM-2 G-INP-1 G-OUT-4 columns named like members of JavaScript objects are in every type of their table", () => {
  const columns = ["constructor", "hasOwnProperty", "isPrototypeOf", "toString", "valueOf"];
  for (const type of [
    "constructor",
    "constructor_bool_exp",
    "constructor_order_by",
    "constructor_insert_input",
    "constructor_set_input",
  ])
    expect(Object.keys(admin.members(type)), type).toEqual(expect.arrayContaining(columns));
  for (const type of ["constructor_select_column", "constructor_update_column"])
    expect(admin.values(type), type).toEqual(columns);
  expect(admin.values("constructor_constraint")).toEqual(["constructor_pkey", "constructor_toString_key"]);
  expect(admin.members("constructor_max_fields")).toEqual({
    constructor: "Int",
    hasOwnProperty: "numeric",
    toString: "String",
  });
  expect(admin.members("constructor_inc_input")).toEqual({ constructor: "Int", hasOwnProperty: "numeric" });
  expect(admin.members("constructor_pk_columns_input")).toEqual({ constructor: "Int!" });
  expect(admin.args("query_root", "constructor_by_pk")).toEqual({ constructor: "Int!" });
});

test("G-TYP-24 a type named like a member of JavaScript objects is an ordinary scalar", () => {
  expect(admin.members("toString")).toMatchObject({ hasOwnProperty: "hasOwnProperty", kinds: "[hasOwnProperty!]" });
  expect(admin.has("hasOwnProperty_comparison_exp")).toBe(true);
  expect(admin.has("hasOwnProperty_array_comparison_exp")).toBe(true);
});

test("G-NAM-3 G-NAM-3a columns and constraints named true, false or null are missing only in enums", () => {
  expect(admin.members("keywords")).toEqual({
    false: "Boolean",
    id: "Int!",
    null: "Int",
    query: "String",
    true: "String",
  });
  expect(admin.values("keywords_select_column")).toEqual(["id", "query"]);
  expect(admin.values("keywords_update_column")).toEqual(["id", "query"]);
  expect(admin.has("only_null_select_column")).toBe(false);
  expect(admin.args("query_root", "only_null")).not.toHaveProperty("distinct_on");
  expect(admin.values("only_null_update_column")).toEqual(["_PLACEHOLDER"]);
});

test("G-NAM-3 G-NAM-3b a table named like a root type, a built-in scalar or order_by is left out, and no other", () => {
  expect(Object.keys(admin.members("query_root"))).not.toEqual(expect.arrayContaining(["query_root"]));
  expect(Object.keys(admin.members("query_root"))).not.toEqual(expect.arrayContaining(["String"]));
  expect(admin.type("String").kind).toBe("SCALAR");
  expect(Object.keys(admin.members("query_root"))).not.toContain("order_by");
  expect(admin.members("keywords_order_by")).toMatchObject({ id: "order_by" });
});

test("G-GEN-13 a primary key without a field for each column gives no by_pk field", () => {
  expect(Object.keys(admin.members("query_root"))).toContain("by_odd_kind");
  for (const [root, field] of [
    ["query_root", "by_odd_kind_by_pk"],
    ["mutation_root", "delete_by_odd_kind_by_pk"],
    ["mutation_root", "update_by_odd_kind_by_pk"],
  ] as const)
    expect(Object.keys(admin.members(root)), field).not.toContain(field);
});

gqlCases(api, [
  {
    title: "G-ROOT-1 G-REL-2 rows, related rows and JSON paths named like members of JavaScript objects are read",
    query:
      '{ constructor(order_by: {constructor: asc}) { constructor toString hasOwnProperty valueOf(path: "$.constructor.__proto__") isPrototypeOf toStrings(order_by: {id: desc}) { id constructorByConstructor: valueOf } } }',
    bytes:
      '{"data":{"constructor":[{"constructor":1,"toString":"a","hasOwnProperty":1.50,"valueOf":7,"isPrototypeOf":true,"toStrings":[{"id":2,"constructorByConstructor":2.5},{"id":1,"constructorByConstructor":1.5}]},{"constructor":2,"toString":"b","hasOwnProperty":2.5,"valueOf":null,"isPrototypeOf":false,"toStrings":[{"id":3,"constructorByConstructor":7}]}]}}',
  },
  {
    title: "G-ROOT-3 a row is read by a primary key that is named like a member of JavaScript objects",
    query: "{ constructor_by_pk(constructor: 2) { toString } }",
    data: { constructor_by_pk: { toString: "b" } },
  },
  {
    title:
      "G-OP-1 where accepts columns named like members of JavaScript objects, through relationships and in variables",
    query:
      'query ($where: constructor_bool_exp) { constructor(where: $where) { constructor } toString(where: {constructor: {_eq: 1}, toString: {_contains: ["q"]}}) { id } }',
    variables: {
      where: {
        constructor: { _lt: 9 },
        toString: { _like: "a%" },
        hasOwnProperty: { _gt: 1 },
        toStrings: { valueOf: { _gte: 1 } },
        _not: { isPrototypeOf: { _eq: false } },
      },
    },
    data: { constructor: [{ constructor: 1 }], toString: [{ id: 1 }] },
  },
  {
    title: "G-OP-35 where accepts a column of a type that is named like a member of JavaScript objects",
    query:
      '{ a: toString(where: {hasOwnProperty: {_eq: "toString"}}) { id } b: toString(where: {hasOwnProperty: {_in: [constructor]}}) { id hasOwnProperty kinds } c: toString(where: {kinds: {_contains: ["toString"]}}) { id } }',
    data: { a: [{ id: 2 }], b: [{ id: 1, hasOwnProperty: "constructor", kinds: ["toString"] }], c: [{ id: 1 }] },
  },
  {
    title: "G-ORD-1 G-DIS-1 order_by and distinct_on accept columns named like members of JavaScript objects",
    query:
      "{ a: toString(order_by: [{constructor: desc_nulls_last}, {valueOf: desc}]) { id } b: toString(distinct_on: [constructor], order_by: [{constructor: asc}, {valueOf: desc}]) { id } c: constructor(order_by: {toStrings_aggregate: {max: {valueOf: desc}}}) { constructor } }",
    data: {
      a: [3, 2, 1, 4].map((id) => ({ id })),
      b: [2, 3, 4].map((id) => ({ id })),
      c: [{ constructor: 2 }, { constructor: 1 }],
    },
  },
  {
    title: "G-AGG-3 G-AGG-5 aggregates accept columns named like members of JavaScript objects",
    query:
      "{ constructor_aggregate { aggregate { count(columns: [constructor, toString], distinct: true) max { constructor toString hasOwnProperty } sum { constructor } avg { hasOwnProperty } } nodes { toString } } }",
    bytes:
      '{"data":{"constructor_aggregate":{"aggregate":{"count":2,"max":{"constructor":2,"toString":"b","hasOwnProperty":2.5},"sum":{"constructor":3},"avg":{"hasOwnProperty":2.0000000000000000}},"nodes":[{"toString":"a"},{"toString":"b"}]}}}',
  },
  {
    title: "G-AGP-1 a predicate on an aggregate accepts columns named like members of JavaScript objects",
    query:
      "{ constructor(where: {toStrings_aggregate: {max: {arguments: valueOf, predicate: {_gt: 3}}}}) { constructor } }",
    data: { constructor: [{ constructor: 2 }] },
  },
  {
    title: "G-INS-1 G-NST-1 an insert accepts columns named like members of JavaScript objects and related rows",
    query:
      'mutation { insert_constructor(objects: [{constructor: 9, toString: "z", hasOwnProperty: 3, valueOf: {toString: 1}, toStrings: {data: [{id: 9, valueOf: 5, toString: ["p"], hasOwnProperty: toString}]}}]) { affected_rows returning { constructor toString valueOf toStrings { id constructor toString hasOwnProperty } } } }',
    data: {
      insert_constructor: {
        affected_rows: 2,
        returning: [
          {
            constructor: 9,
            toString: "z",
            valueOf: { toString: 1 },
            toStrings: [{ id: 9, constructor: 9, toString: ["p"], hasOwnProperty: "toString" }],
          },
        ],
      },
    },
  },
  {
    title:
      "G-UPS-1 G-UPS-3 an upsert accepts a constraint named like a member of JavaScript objects and rows in a variable",
    query:
      "mutation ($rows: [constructor_insert_input!]!) { insert_constructor(objects: $rows, on_conflict: {constraint: constructor_toString_key, update_columns: [constructor, hasOwnProperty], where: {constructor: {_lt: 9}}}) { affected_rows returning { constructor toString hasOwnProperty } } }",
    variables: {
      rows: [
        { constructor: 12, toString: "b", hasOwnProperty: 8 },
        { constructor: 13, toString: "new" },
      ],
    },
    error: {
      message:
        'Foreign key violation. update or delete on table "constructor" violates foreign key constraint "toString_constructor_fkey" on table "toString"',
      code: "constraint-violation",
      path: "$.selectionSet.insert_constructor.args.objects",
    },
  },
  {
    title: "G-UPS-1 an upsert updates columns named like members of JavaScript objects",
    query:
      "mutation ($rows: [constructor_insert_input!]!) { insert_constructor(objects: $rows, on_conflict: {constraint: constructor_pkey, update_columns: [toString, hasOwnProperty, valueOf]}) { affected_rows returning { constructor toString hasOwnProperty valueOf } } }",
    variables: {
      rows: [
        { constructor: 2, toString: "bb", hasOwnProperty: 8, valueOf: { constructor: 1 } },
        { constructor: 13, toString: "new" },
      ],
    },
    data: {
      insert_constructor: {
        affected_rows: 2,
        returning: [
          { constructor: 2, toString: "bb", hasOwnProperty: 8, valueOf: { constructor: 1 } },
          { constructor: 13, toString: "new", hasOwnProperty: null, valueOf: null },
        ],
      },
    },
  },
  {
    title: "G-UPD-1a G-UPD-1b an update changes columns named like members of JavaScript objects",
    query:
      'mutation { update_constructor(where: {constructor: {_eq: 1}}, _inc: {hasOwnProperty: 1}, _set: {toString: "n"}, _append: {valueOf: {toString: 2}}) { affected_rows returning { constructor toString hasOwnProperty valueOf } } update_toString_by_pk(pk_columns: {id: 4}, _set: {constructor: 2, toString: null}) { constructor toString } }',
    data: {
      update_constructor: {
        affected_rows: 1,
        returning: [
          {
            constructor: 1,
            toString: "n",
            hasOwnProperty: 2.5,
            valueOf: { constructor: JSON.parse('{"__proto__":7}'), toString: 2 },
          },
        ],
      },
      update_toString_by_pk: { constructor: 2, toString: null },
    },
  },
  {
    title: "G-UPD-4 a column named like a member of JavaScript objects is rejected in two operators",
    query:
      "mutation { update_constructor(where: {}, _inc: {constructor: 1}, _set: {constructor: 2}) { affected_rows } }",
    error: { message: "Column found in multiple operators: ['constructor'].", code: "validation-failed" },
  },
  {
    title: "G-DEL-1 G-DEL-2 a delete removes rows of tables named like members of JavaScript objects",
    query:
      "mutation { delete_toString(where: {constructor: {_is_null: false}}) { affected_rows returning { constructor } } delete_constructor_by_pk(constructor: 1) { toString } }",
    data: {
      delete_toString: { affected_rows: 3, returning: [{ constructor: 1 }, { constructor: 1 }, { constructor: 2 }] },
      delete_constructor_by_pk: { toString: "a" },
    },
  },
  {
    title: "G-FN-4 a function and its arguments may be named like members of JavaScript objects",
    query:
      "{ valueOf(args: {constructor: 3}, order_by: {id: asc}) { id propertyIsEnumerable } valueOf_aggregate(args: {constructor: 2, toString: null}) { aggregate { count } } }",
    data: {
      valueOf: [
        { id: 3, propertyIsEnumerable: "row 3" },
        { id: 4, propertyIsEnumerable: "row 4" },
      ],
      valueOf_aggregate: { aggregate: { count: 3 } },
    },
  },
  {
    title: "G-CF-5 where and order_by accept a computed field named like a member of JavaScript objects",
    query:
      '{ toString(where: {propertyIsEnumerable: {_in: ["row 1", "row 2"]}}, order_by: {propertyIsEnumerable: desc}) { id } }',
    data: { toString: [{ id: 2 }, { id: 1 }] },
  },
  {
    title: "G-NAM-3 columns named true, false and null are read, compared, ordered and aggregated",
    query:
      '{ keywords(where: {true: {_neq: "x"}, null: {_is_null: false}}, order_by: {false: asc}) { id null true false query } keywords_aggregate { aggregate { max { null true } sum { null } } } only_null_by_pk(null: 1) { null } }',
    data: {
      keywords: [{ id: 1, null: 2, true: "t", false: true, query: "q" }],
      keywords_aggregate: { aggregate: { max: { null: 2, true: "u" }, sum: { null: 2 } } },
      only_null_by_pk: { null: 1 },
    },
  },
  {
    title: "G-NAM-3 columns named true, false and null are written",
    query:
      'mutation { insert_keywords_one(object: {id: 3, null: 4, true: "v", false: null}) { id null true false } update_keywords(where: {null: {_eq: 2}}, _set: {true: "w"}, _inc: {null: 1}) { returning { null true } } }',
    data: {
      insert_keywords_one: { id: 3, null: 4, true: "v", false: null },
      update_keywords: { returning: [{ null: 3, true: "w" }] },
    },
  },
  {
    title: "G-VAR-4 a variable named like a member of JavaScript objects needs its value",
    query: "query ($constructor: Int!) { constructor_by_pk(constructor: $constructor) { toString } }",
    error: {
      message: 'expecting a value for non-nullable variable: "constructor"',
      path: "$",
      code: "validation-failed",
    },
  },
  {
    title: "G-VAR-4 a variable named like a member of JavaScript objects is accepted with its value",
    query: "query ($constructor: Int!) { constructor_by_pk(constructor: $constructor) { toString } }",
    variables: { constructor: 1 },
    data: { constructor_by_pk: { toString: "a" } },
  },
  ...["constructor", "hasOwnProperty", "__proto__"].flatMap((name) => [
    {
      title: `G-DOC-4 the field ${name} is unknown for a type without it`,
      query: `{ keywords { ${name} } }`,
      error: {
        message: `field '${name}' not found in type: 'keywords'`,
        path: `$.selectionSet.keywords.selectionSet.${name}`,
        code: "validation-failed",
      },
    },
    {
      title: `G-DOC-4 the key ${name} is unknown for an input without it`,
      query: `{ keywords(where: {${name}: {}}) { id } }`,
      error: {
        message: `field '${name}' not found in type: 'keywords_bool_exp'`,
        path: `$.selectionSet.keywords.args.where.${name}`,
        code: "validation-failed",
      },
    },
    {
      title: `G-DOC-5 the argument ${name} is unknown`,
      query: `{ keywords(${name}: 1) { id } }`,
      error: {
        message: `'keywords' has no argument named '${name}'`,
        path: "$.selectionSet.keywords",
        code: "validation-failed",
      },
    },
    {
      title: `G-DOC-12 the directive ${name} is unknown`,
      query: `{ keywords { id @${name} } }`,
      error: {
        message: `directive '${name}' is not defined in the schema`,
        path: "$.selectionSet.keywords.selectionSet",
        code: "validation-failed",
      },
    },
    {
      title: `G-DOC-8 the fragment ${name} is undefined`,
      query: `{ keywords { ...${name} } }`,
      error: {
        message: `reference to undefined fragment "${name}"`,
        path: "$.selectionSet.keywords.selectionSet",
        code: "validation-failed",
      },
    },
    {
      title: `G-DOC-11 the alias ${name} is accepted at every level`,
      query: `{ ${name}: keywords_by_pk(id: 1) { ${name}: id } a: __typename }`,
      bytes: `{"data":{"${name}":{"${name}":1},"a":"query_root"}}`,
    },
  ]),
  {
    title: "G-DOC-12 the argument constructor is unknown for a directive",
    query: "{ keywords { id @include(constructor: true) } }",
    error: {
      message: "'include' has no argument named 'constructor'",
      path: "$.selectionSet.keywords.selectionSet.include",
      code: "validation-failed",
    },
  },
  {
    title: "G-COE-7 the value constructor is rejected for an enum without it",
    query: "{ keywords(order_by: {id: constructor}) { id } }",
    error: {
      message: expect.stringContaining("but found 'constructor'"),
      path: "$.selectionSet.keywords.args.order_by[0].id",
      code: "validation-failed",
    },
  },
  {
    title: "G-INT-1 __type returns types named like members of JavaScript objects",
    query:
      '{ a: __type(name: "toString") { name kind } b: __type(name: "isPrototypeOf") { name } c: __type(name: "__proto__") { name } }',
    data: { a: { name: "toString", kind: "OBJECT" }, b: null, c: null },
  },
]);
