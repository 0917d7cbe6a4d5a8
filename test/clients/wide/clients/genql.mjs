import { client as createChecks, equals, has, place, rejects } from "../checks.mjs";
import { openProject } from "../project.mjs";

const { check, report } = createChecks("@genql/cli", import.meta.url);
const project = openProject({ module: "commonjs", moduleResolution: "node10" }); // the imports of the generated code have no endings
project.write("package.json", "{}");
let api;

await check("the client is generated", () =>
  project.program("@genql/cli", "dist/cli.js", [
    "--endpoint",
    place.graphqlUrl,
    "--output",
    "./generated",
    "-H",
    `x-hasura-admin-secret: ${place.secret}`,
  ]),
);
project.write("use.ts", `export { createClient } from "./generated";\n`);
await check("it compiles", async () => {
  equals(await project.compile(), "");
  const { createClient } = (await project.load("use.js")).default;
  api = createClient({ url: place.graphqlUrl, headers: { "x-hasura-admin-secret": place.secret } });
});
await check("a query", async () =>
  has(await api.query({ films_by_pk: { __args: { id: 3 }, title: true, director: { name: true } } }), {
    films_by_pk: { title: "Rashomon", director: { name: "Akira Kurosawa" } },
  }),
);
await check("filters, order, page and total", async () =>
  has(
    await api.query({
      films: { __args: { where: { year: { _gt: 1960 } }, order_by: [{ year: "asc" }], limit: 1, offset: 1 }, id: true },
      films_aggregate: { aggregate: { count: true } },
    }),
    { films: [{ id: 2 }], films_aggregate: { aggregate: { count: 6 } } },
  ),
);
await check("all scalars of a table", async () =>
  has(await api.query({ films: { __args: { where: { id: { _eq: 3 } } }, __scalar: true } }), {
    films: [{ id: 3, title: "Rashomon", year: 1950, tags: ["drama", "crime"] }],
  }),
);
await check("insert", async () =>
  has(await api.mutation({ insert_directors_one: { __args: { object: { id: 60, name: "Vigo" } }, name: true } }), {
    insert_directors_one: { name: "Vigo" },
  }),
);
await check("upsert", async () =>
  has(
    await api.mutation({
      insert_directors_one: {
        __args: {
          object: { id: 60, name: "Jean Vigo" },
          on_conflict: { constraint: "directors_pkey", update_columns: ["name"] },
        },
        name: true,
      },
    }),
    { insert_directors_one: { name: "Jean Vigo" } },
  ),
);
await check("update", async () =>
  has(
    await api.mutation({
      update_directors_by_pk: { __args: { pk_columns: { id: 60 }, _set: { born: 1905 } }, born: true },
    }),
    { update_directors_by_pk: { born: 1905 } },
  ),
);
await check("delete", async () =>
  has(await api.mutation({ delete_directors: { __args: { where: { id: { _eq: 60 } } }, affected_rows: true } }), {
    delete_directors: { affected_rows: 1 },
  }),
);
await check("a function", async () =>
  has(await api.query({ search_films: { __args: { args: { words: "piano" } }, id: true } }), {
    search_films: [{ id: 5 }],
  }),
);
await check("an error", () =>
  rejects(api.mutation({ insert_directors_one: { __args: { object: { name: "Jane Campion" } }, id: true } }), {
    errors: [{ extensions: { code: "constraint-violation" } }],
  }),
);
await check("wrong fields and arguments do not compile", async () => {
  project.write(
    "wrong.ts",
    `import { createClient } from "./generated";
const api = createClient();
export const titel = () => api.query({ films: { titel: true } });
export const id = () => api.query({ films_by_pk: { __args: { id: "one" }, id: true } });
export const right = () => api.query({ films_by_pk: { __args: { id: 1 }, id: true } });
export const title = async () => (await right()).films_by_pk?.title;
`,
  );
  equals(await project.wrongLines("wrong.ts"), [3, 4, 6]);
});
report();
