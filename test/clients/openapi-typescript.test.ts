/**
 * Types that openapi-typescript makes of the OpenAPI 3.1 document, and openapi-fetch with them: a mistyped column does
 * not compile.
 */
import { execFile } from "node:child_process";
import { mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import { serveDemo } from "./demo.ts";

const run = promisify(execFile);
const resolvePath = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const demo = await serveDemo({ anonRole: "anon" });
const plus = await serveDemo({ anonRole: "anon", dbAggregatesEnabled: true }, "plus");
const folder = await realpath(await mkdtemp(join(tmpdir(), "relapi-openapi-")));
atFileEnd(() => rm(folder, { recursive: true, force: true }));

const CONFIG = {
  compilerOptions: {
    strict: true,
    noUncheckedIndexedAccess: true,
    module: "nodenext",
    target: "es2022",
    outDir: "out",
    lib: ["es2022", "dom"],
    skipLibCheck: true,
    types: [],
  },
};

const HEAD = [
  'import createClient from "openapi-fetch";',
  'import type { paths } from "./api.js";',
  "export const client = (baseUrl: string) => createClient<paths>({ baseUrl });",
  'const api = client("http://127.0.0.1");',
  "",
].join("\n");

/** The compiler's messages. Empty if the code compiles. */
const compile = async (body: string, types = "./api.js"): Promise<string> => {
  await writeFile(join(folder, "use.ts"), HEAD.replace("./api.js", types) + body);
  try {
    await run(process.execPath, [resolvePath("node_modules/typescript/bin/tsc"), "-p", "."], { cwd: folder });
    return "";
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  }
};

const GOOD = `
export const albums = async (baseUrl: string) => {
  const { data, error } = await client(baseUrl).GET("/album", {
    params: { query: { album_id: "lte.2", select: "*,artist(*)", order: "album_id", limit: 5 } },
  });
  if (error !== undefined) throw new Error(error.message);
  const titles: string[] = data.map((album) => album.title);
  const artist: string | null | undefined = data[0]?.artist?.name;
  return { titles, artist };
};
`;

beforeAll(async () => {
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(CONFIG));
  await symlink(resolvePath("node_modules"), join(folder, "node_modules"));
  const cli = resolvePath("docs/openapi-typescript/node_modules/openapi-typescript/bin/cli.js");
  await run(process.execPath, [cli, `${demo.url}/api/openapi.json`, "-o", join(folder, "api.ts")]);
  await run(process.execPath, [cli, `${plus.url}/api/openapi.json`, "-o", join(folder, "plus.ts")]);
});

describe("openapi-typescript and openapi-fetch", () => {
  test("R-OAS-8 correct requests compile and get their rows", async () => {
    expect(await compile(GOOD)).toBe("");
    const { albums } = await import(/* @vite-ignore */ pathToFileURL(join(folder, "out/use.js")).href);
    expect(await albums(`${demo.url}/api`)).toEqual({
      titles: ["For Those About To Rock We Salute You", "Balls to the Wall"],
      artist: "AC/DC",
    });
  });

  test("R-OAS-10 requests with the additions of the preset plus compile and are answered", async () => {
    const body = `
export const all = async (baseUrl: string) => {
  const api = client(baseUrl);
  const page = await api.GET("/album", { params: { query: { cursor: "", limit: 2, order: "album_id", select: "album_id" } } });
  const next = await api.GET("/album", {
    params: { query: { cursor: page.response.headers.get("link")?.match(/cursor=([^&>]+)/)?.[1] ?? "", limit: 2, order: "album_id", select: "album_id" } },
  });
  const groups = await api.GET("/album", {
    params: { query: { select: "artist_id,count()", having: "count().gt.10", order: "artist_id" } },
  });
  const batch = await api.POST("/batch", {
    body: [{ id: "one", path: "/album?select=album_id&album_id=eq.1" }, { method: "GET", path: "/album?select=title&album_id=eq.$one.album_id" }],
  });
  const statuses: number[] | undefined = batch.data?.map(({ status }) => status);
  const past = await api.GET("/album", { params: { header: { Prefer: "as-of=2024-05-01" } } });
  return { page: page.data, next: next.data, groups: groups.data?.length, statuses, past: past.response.status };
};
`;
    expect(await compile(body, "./plus.js")).toBe("");
    const { all } = await import(/* @vite-ignore */ `${pathToFileURL(join(folder, "out/use.js")).href}?plus`);
    expect(await all(`${plus.url}/api`)).toEqual({
      page: [{ album_id: 1 }, { album_id: 2 }],
      next: [{ album_id: 3 }, { album_id: 4 }],
      groups: expect.any(Number),
      statuses: [200, 200],
      past: 400,
    });
    expect(await compile(body)).toContain("batch");
    expect(await compile('api.POST("/batch", { body: [{ method: "OPTIONS", path: "/" }] });', "./plus.js")).toContain(
      "OPTIONS",
    );
  });

  test("R-OAS-8 requests with mistakes do not compile", async () => {
    const messages = await compile(`
export const wrong = async () => {
  await api.GET("/album", { params: { query: { albun_id: "eq.1" } } });
  await api.GET("/albun", {});
  await api.GET("/album", { params: { query: { limit: "5" } } });
  const { data } = await api.GET("/album", {});
  data?.[0]?.titel;
  const length: number | undefined = data?.[0]?.title;
  await api.POST("/album", { body: { title: 7, artist_id: 1 } });
};
`);
    const lines = [...messages.matchAll(/use\.ts\((\d+),/g)].map(([, line]) => Number(line) - HEAD.split("\n").length);
    expect([...new Set(lines)], messages).toEqual([2, 3, 4, 6, 7, 8]);
  });
});
