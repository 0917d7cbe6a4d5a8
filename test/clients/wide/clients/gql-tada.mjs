import { existsSync } from "node:fs";
import { join } from "node:path";
import { GraphQLClient } from "graphql-request";
import { client as createChecks, equals, has, place } from "../checks.mjs";
import { openProject } from "../project.mjs";

const { check, report } = createChecks("gql.tada", import.meta.url);
const project = openProject({
  plugins: [{ name: "gql.tada/ts-plugin", schema: "./schema.graphql", tadaOutputLocation: "./graphql-env.d.ts" }],
});
const cli = (...args) => project.program("gql.tada", "bin/cli.js", args);
const api = new GraphQLClient(place.graphqlUrl, { headers: { "x-hasura-admin-secret": place.secret } });
const HEAD = `import { initGraphQLTada, type ResultOf, type VariablesOf } from "gql.tada";
import type { introspection } from "./graphql-env.js";
export const graphql = initGraphQLTada<{ introspection: introspection; scalars: { bigint: number; numeric: number; timestamptz: string; uuid: string; jsonb: unknown } }>();
`;
const USE = `${HEAD}
export const Film = graphql(\`query ($id: Int!) { films_by_pk(id: $id) { id title year director { name } } }\`);
export const List = graphql(\`query ($where: films_bool_exp, $order: [films_order_by!]) { films(where: $where, order_by: $order, limit: 2) { id title } films_aggregate(where: $where) { aggregate { count } } }\`);
export const Add = graphql(\`mutation ($film: films_insert_input!) { insert_films_one(object: $film) { id } }\`);
export const Remove = graphql(\`mutation ($id: Int!) { delete_films_by_pk(id: $id) { title } }\`);
export const title = (result: ResultOf<typeof Film>): string | undefined => result.films_by_pk?.title;
export const director = (result: ResultOf<typeof Film>): string | undefined => result.films_by_pk?.director?.name;
export const where: VariablesOf<typeof List>["where"] = { year: { _gt: 1960 }, director: { name: { _ilike: "%a%" } } };
export const film: VariablesOf<typeof Add> = { film: { title: "L'Atalante", year: 1934, id: 61 } };
`;
let use;

await check("the schema is fetched", async () => {
  await cli(
    "generate-schema",
    "--header",
    `x-hasura-admin-secret: ${place.secret}`,
    "--output",
    "./schema.graphql",
    place.graphqlUrl,
  );
  equals(existsSync(join(project.folder, "schema.graphql")), true);
});
await check("the types are generated", () => cli("generate-output"));
await check("documents compile, with the types of their answers", async () => {
  project.write("use.ts", USE);
  equals(await project.compile(), "");
  use = await project.load("use.js");
});
await check("its own checker is content", () => cli("check"));
await check("a query", async () => {
  const answer = await api.request(use.Film, { id: 3 });
  equals([use.title(answer), use.director(answer)], ["Rashomon", "Akira Kurosawa"]);
});
await check("filters, order, page and total", async () =>
  has(await api.request(use.List, { where: use.where, order: [{ year: "asc" }] }), {
    films: [{ id: 1 }, { id: 2 }],
    films_aggregate: { aggregate: { count: 3 } },
  }),
);
await check("insert", async () => has(await api.request(use.Add, use.film), { insert_films_one: { id: 61 } }));
await check("delete", async () =>
  has(await api.request(use.Remove, { id: 61 }), { delete_films_by_pk: { title: "L'Atalante" } }),
);
await check("wrong fields and variables do not compile", async () => {
  project.write(
    "wrong.ts",
    `import type { ResultOf, VariablesOf } from "gql.tada";
import type { Add, Film } from "./use.js";
export const titel = (result: ResultOf<typeof Film>) => result.films_by_pk?.titel;
export const id: VariablesOf<typeof Film> = { id: "one" };
export const film: VariablesOf<typeof Add> = { film: { titel: "x" } };
export const right: VariablesOf<typeof Film> = { id: 1 };
`,
  );
  equals(await project.wrongLines("wrong.ts"), [3, 4, 5]);
});
await check("its own checker finds a wrong field", async () => {
  project.write("use.ts", USE.replace("id title year", "id titel year"));
  has((await cli("check").catch((error) => error)).message, /titel/);
});
report();
