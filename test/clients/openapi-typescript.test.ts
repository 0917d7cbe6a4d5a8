/** Types that openapi-typescript makes of the OpenAPI 3.1 document, and openapi-fetch with them: a mistyped column does
 *  not compile. */
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
const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const demo = await serveDemo({ anonRole: "anon" });
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

/** The compiler's messages; empty: it compiles. */
const compile = async (body: string): Promise<string> => {
  await writeFile(join(folder, "use.ts"), HEAD + body);
  try {
    await run(process.execPath, [at("node_modules/typescript/bin/tsc"), "-p", "."], { cwd: folder });
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
  await symlink(at("node_modules"), join(folder, "node_modules"));
  const cli = at("docs/openapi-typescript/node_modules/openapi-typescript/bin/cli.js");
  await run(process.execPath, [cli, `${demo.url}/api/openapi.json`, "-o", join(folder, "api.ts")]);
});

describe("openapi-typescript and openapi-fetch", () => {
  test("R-OAS-8 what is right compiles, and gets its rows", async () => {
    expect(await compile(GOOD)).toBe("");
    const { albums } = await import(/* @vite-ignore */ pathToFileURL(join(folder, "out/use.js")).href);
    expect(await albums(`${demo.url}/api`)).toEqual({
      titles: ["For Those About To Rock We Salute You", "Balls to the Wall"],
      artist: "AC/DC",
    });
  });

  test("R-OAS-8 mistakes do not compile", async () => {
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
