import { GraphQLClient } from "graphql-request";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { client as createChecks, equals, has, place } from "../checks.mjs";
import { openProject } from "../project.mjs";

const { check, report } = createChecks("@graphql-codegen/client-preset", import.meta.url);
const project = openProject();
const headers = { "x-hasura-admin-secret": place.secret };
project.write(
  "codegen.json",
  JSON.stringify({
    schema: [{ [place.graphqlUrl]: { headers } }],
    documents: ["use.ts"],
    ignoreNoDocuments: true,
    emitLegacyCommonJSImports: false,
    generates: { "./gql/": { preset: "client", config: { useTypeImports: true } } },
  }),
);
const DOCUMENTS = `import { graphql } from "./gql/gql.js";
export const Film = graphql(\`query Film($id: Int!) { films_by_pk(id: $id) { id title year director { name } } }\`);
export const List = graphql(\`query List($where: films_bool_exp, $order: [films_order_by!], $limit: Int) { films(where: $where, order_by: $order, limit: $limit) { ...Card } films_aggregate(where: $where) { aggregate { count } } }\`);
export const Card = graphql(\`fragment Card on films { id title tags details }\`);
export const Add = graphql(\`mutation Add($film: films_insert_input!) { insert_films_one(object: $film) { id } }\`);
export const Change = graphql(\`mutation Change($id: Int!, $set: films_set_input!) { update_films_by_pk(pk_columns: { id: $id }, _set: $set) { year } }\`);
export const Remove = graphql(\`mutation Remove($id: Int!) { delete_films_by_pk(id: $id) { id } }\`);
export const Search = graphql(\`query Search($words: String!) { search_films(args: { words: $words }) { title } }\`);
export const Follow = graphql(\`subscription Follow { directors { id } }\`);
`;
project.write("use.ts", DOCUMENTS);
let use;
const api = new GraphQLClient(place.graphqlUrl, { headers });

await check("the types are generated", () =>
  project.program("@graphql-codegen/cli", "cjs/bin.js", ["--config", "codegen.json", "--silent"]),
);
await check("they compile, in strict mode", async () => {
  equals(await project.compile(), "");
  use = await project.load("use.js");
});
await check("a query", async () =>
  has(await api.request(use.Film, { id: 5 }), {
    films_by_pk: { title: "The Piano", director: { name: "Jane Campion" } },
  }),
);
await check("filters, order, fragments", async () =>
  has(await api.request(use.List, { where: { tags: { _contains: ["drama"] } }, order: [{ year: "desc" }], limit: 1 }), {
    films: [{ id: 5, tags: ["drama", "music"] }],
    films_aggregate: { aggregate: { count: 5 } },
  }),
);
await check("insert", async () =>
  has(await api.request(use.Add, { film: { id: 60, title: "L'Atalante", year: 1934 } }), {
    insert_films_one: { id: 60 },
  }),
);
await check("update", async () =>
  has(await api.request(use.Change, { id: 60, set: { year: 1935 } }), { update_films_by_pk: { year: 1935 } }),
);
await check("delete", async () => has(await api.request(use.Remove, { id: 60 }), { delete_films_by_pk: { id: 60 } }));
await check("a function", async () =>
  has(await api.request(use.Search, { words: "samurai" }), { search_films: [{ title: "Seven Samurai" }] }),
);
await check("operators, inputs and enums are typed", async () => {
  const types = readFileSync(join(project.folder, "gql/graphql.ts"), "utf8");
  for (const name of ["Films_Bool_Exp", "Films_Insert_Input", "Int_Comparison_Exp", "Films_Order_By"])
    has(types, new RegExp(`\\b${name} = `));
});
await check("a wrong variable and a wrong field do not compile", async () => {
  project.write(
    "wrong.ts",
    `import type { ResultOf, VariablesOf } from "@graphql-typed-document-node/core";
import { Add, Film } from "./use.js";
export const id: VariablesOf<typeof Film> = { id: "one" };
export const film: VariablesOf<typeof Add> = { film: { titel: "x" } };
export const title = (result: ResultOf<typeof Film>) => result.films_by_pk?.titel;
export const right: VariablesOf<typeof Add> = { film: { title: "x", year: 2000 } };
`,
  );
  equals(await project.wrongLines("wrong.ts"), [3, 4, 5]);
});
await check("a wrong field in a document is rejected", async () => {
  project.write("use.ts", DOCUMENTS.replace("id title year", "id titel year"));
  const error = await project
    .program("@graphql-codegen/cli", "cjs/bin.js", ["--config", "codegen.json"])
    .catch((reason) => reason);
  has(error.message, /titel/);
});
report();
