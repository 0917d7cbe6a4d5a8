import { client as createChecks, equals, has, place } from "../checks.mjs";
import { openProject } from "../project.mjs";

const { check, report } = createChecks("openapi-typescript", import.meta.url, "openapi-typescript, openapi-fetch");
const project = openProject();
const HEAD = `import createClient from "openapi-fetch";
import type { paths } from "./api.js";
export const client = (baseUrl: string, token: string) => createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
const api = client("http://127.0.0.1", "");
`;
const base = `${place.url}/api`;
let api;

await check("the types are generated", async () => {
  const document = await (
    await fetch(`${base}/openapi.json`, { headers: { authorization: `Bearer ${place.editor}` } })
  ).text();
  project.write("api.json", document);
  await project.program("openapi-typescript", "bin/cli.js", ["api.json", "-o", "api.ts"]);
});
await check("straight from the address", () =>
  project.program("openapi-typescript", "bin/cli.js", [`${base}/openapi.json`, "-o", "anyone.ts"]),
);
await check("a client of them compiles", async () => {
  project.write(
    "use.ts",
    `${HEAD}
export const titles = async () => {
  const { data } = await api.GET("/films", { params: { query: { year: "gt.1960", select: "*,directors(*)", order: "year.asc", limit: 2 } } });
  const names: string[] = data?.map((film) => film.title) ?? [];
  const director: string | null | undefined = data?.[0]?.directors?.name;
  return [names, director];
};
export const add = () => api.POST("/films", { body: { title: "x", year: 2000 } });
`,
  );
  equals(await project.compile(), "");
  api = (await project.load("use.js")).client(base, place.editor);
});
await check("GET with filters, order and an embed", async () => {
  const { data, error } = await api.GET("/films", {
    params: { query: { year: "gt.1960", select: "*,directors(*)", order: "year.asc", limit: 2 } },
  });
  equals(error, undefined);
  has(data, [{ title: "Cléo from 5 to 7", directors: { name: "Agnès Varda" } }, { title: "Vagabond" }]);
});
await check("a page with a count", async () => {
  const { response, data } = await api.GET("/films", {
    params: { query: { order: "id", limit: 2, offset: 2 }, header: { Prefer: "count=exact" } },
  });
  equals([response.status, response.headers.get("content-range"), data.length], [206, "2-3/6", 2]);
});
await check("POST", async () =>
  has(
    await api.POST("/directors", {
      body: { id: 60, name: "Vigo" },
      params: { header: { Prefer: "return=representation" } },
    }),
    { data: [{ id: 60 }] },
  ),
);
await check("PATCH", async () =>
  has(
    await api.PATCH("/directors", {
      body: { born: 1905 },
      params: { query: { id: "eq.60" }, header: { Prefer: "return=representation" } },
    }),
    { data: [{ born: 1905 }] },
  ),
);
await check("DELETE", async () =>
  has((await api.DELETE("/directors", { params: { query: { id: "eq.60" } } })).response.status, 204),
);
await check("a function by POST", async () =>
  has(await api.POST("/rpc/search_films", { body: { words: "piano" } }), { data: [{ id: 5 }] }),
);
await check("a function by GET", async () =>
  has(await api.GET("/rpc/search_films", { params: { query: { words: "piano" } } }), { data: [{ id: 5 }] }),
);
await check("an error", async () =>
  has(await api.POST("/directors", { body: { name: "Jane Campion" } }), { error: { code: "23505" } }),
);
await check("mistakes do not compile", async () => {
  project.write(
    "wrong.ts",
    `${HEAD}
export const column = () => api.GET("/films", { params: { query: { titel: "eq.x" } } });
export const table = () => api.GET("/film", {});
export const limit = () => api.GET("/films", { params: { query: { limit: "2" } } });
export const field = async () => (await api.GET("/films", {})).data?.[0]?.titel;
export const body = () => api.POST("/films", { body: { title: 7, year: 2000 } });
export const missing = () => api.POST("/films", { body: { title: "x" } });
export const right = () => api.POST("/films", { body: { title: "x", year: 2000 } });
`,
  );
  equals(await project.wrongLines("wrong.ts"), [6, 7, 8, 9, 10, 11]);
});
report();
