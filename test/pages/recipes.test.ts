/**
 * Checks the recipes: their settings exist, tokens of the providers are understood, and code that needs no framework
 * runs. test/pages/code.test.ts compiles all code. The pages for Next.js, NestJS and Fastify name the versions that
 * their code was tried with.
 */
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "esbuild";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { buildProjectFiles } from "../../presets/cli/project-files.ts";
import { listKnownVariables, readEnvironment } from "../../presets/server/environment.ts";
import { serve } from "../../presets/server/serve.ts";
import { capabilities, openDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { bearer } from "../support/tokens.ts";
import { parseBlocks, readPage } from "../support/pages/pages.ts";
import { openEmbedded } from "../support/pages/server.ts";
import { startHttpServer } from "../support/http-server.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

const recipe = (name: string) => parseBlocks(readPage(`recipes/${name}.md`));

describe("tokens", async () => {
  const keys = {
    RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
    ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
  };
  const port = await startHttpServer((_request, response) => {
    const all = Object.entries(keys).map(([kid, { publicKey }]) => ({ ...publicKey.export({ format: "jwk" }), kid }));
    response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: all }));
  });
  const database = await openEmbedded(`
      create role guest; create role anon; create role member; create role editor; create role authenticated;
      create function who() returns json stable return json_build_object(
        'role', current_user, 'user', nullif(current_setting('session.user_id', true), ''),
        'sub', current_setting('request.jwt.claims', true)::json ->> 'sub');
      create table caller (name text primary key default current_user);
      insert into caller default values;
      grant select on caller to guest, anon, member, editor, authenticated;`);

  /** The settings and claims of a provider, as its section shows them. */
  const sections = readPage("recipes/tokens.md")
    .split(/^## /m)
    .flatMap((section) => {
      const [sh, json] = parseBlocks(section).filter(({ language }) => language === "sh" || language === "json");
      if (sh?.language !== "sh" || json?.language !== "json") return [];
      const variables = Array.from(
        sh.text.matchAll(/(?<=^|\s)([A-Z_]+)=(?:'([^']*)'|(\S*))/g),
        ([, name = "", quotedValue, plainValue = ""]) => [name, quotedValue ?? plainValue] as const,
      ).filter(([name]) => name !== "DATABASE_URL");
      return [
        {
          provider: section.split("\n")[0] ?? "",
          environment: Object.fromEntries(variables) as Readonly<Record<string, string>>,
          claims: JSON.parse(json.text) as Readonly<Record<string, unknown>>,
        },
      ];
    });

  /** The role, session variable and subject that SQL sees. */
  const expected: Readonly<Record<string, readonly [algorithm: keyof typeof keys, role: string, hasUser: boolean]>> = {
    Auth0: ["RS256", "editor", true],
    Clerk: ["RS256", "member", true],
    Supabase: ["ES256", "authenticated", false],
  };

  test("the page has a section for each provider", () => {
    expect(sections.map(({ provider }) => provider)).toEqual(Object.keys(expected));
  });

  test.each(sections)(
    "R-AUT-6 G-AUTH-18 the settings for $provider accept its tokens",
    async ({ provider, environment, claims }) => {
      const [algorithm, role, hasUser] = expected[provider]!;
      const secret = environment["JWT_SECRET"]!.replace(/"jwk_url": *"[^"]+"/, `"jwk_url":"http://127.0.0.1:${port}/"`);
      const { options } = readEnvironment({ ...environment, JWT_SECRET: secret });
      const server = await serve({
        options: { ...options, ...database.options, logLevel: "silent" },
        server: { host: "127.0.0.1", port: 0, unixSocketMode: 0o660, workers: 1 },
      });
      atFileEnd(() => server.stop());
      await server.api.ready;
      const prefix = options.restPrefixes?.[0] ?? "/api";
      const sign = (extraClaims: object, key: KeyObject = keys[algorithm].privateKey) =>
        bearer(
          { ...claims, exp: Math.floor(Date.now() / 1000) + 3600, ...extraClaims },
          { algorithm, key, header: { kid: algorithm } },
        );
      const callWho = (headers: Record<string, string>) => fetch(`${server.address}${prefix}/rpc/who`, { headers });
      expect(await (await callWho(sign({}))).json()).toEqual({
        role,
        user: hasUser ? claims["sub"] : null,
        sub: claims["sub"],
      });
      const graphql = await fetch(`${server.address}/v1/graphql`, {
        method: "POST",
        headers: { ...sign({}), "content-type": "application/json" },
        body: JSON.stringify({ query: "{ caller { name } }" }),
      });
      expect(await graphql.json()).toEqual({ data: { caller: [{ name: "postgres" }] } });
      // The tokens belong to another application or provider, or have a foreign signature.
      for (const headers of [
        sign({ iss: "https://elsewhere.example/" }),
        sign(
          {},
          algorithm === "RS256"
            ? generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey
            : generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
        ),
        ...(claims["aud"] === undefined ? [] : [sign({ aud: "somebody-else" })]),
      ])
        expect((await callWho(headers)).status).toBe(401);
      expect(await (await callWho({})).json()).toMatchObject({ role: environment["ANON_ROLE"] });
    },
  );
});

describe("containers", () => {
  test("the Dockerfile of the recipe is the one that relapi init writes", () => {
    const [block] = recipe("docker").filter(({ language }) => language === "dockerfile");
    expect(block?.text).toBe(buildProjectFiles("my-api", "ts")["Dockerfile"]);
  });

  test("the recipes name only settings that exist", () => {
    const knownVariables = listKnownVariables();
    const [, dockerfile] = recipe("docker").filter(({ language }) => language === "dockerfile");
    const ofImage = Array.from(
      /^ENV (.*)$/m.exec(dockerfile?.text ?? "")?.[1]?.matchAll(/([A-Z_]+)=/g) ?? [],
      ([, name]) => name,
    );
    const compose = parse(recipe("docker").find(({ language }) => language === "yaml")!.text);
    const [deployment, service] = parseAllDocuments(
      recipe("kubernetes").find(({ language }) => language === "yaml")!.text,
    ).map((document) => document.toJS());
    const [container] = deployment.spec.template.spec.containers;
    const names = [
      ...ofImage,
      ...Object.keys(compose.services.api.environment),
      ...container.env.map(({ name }: { name: string }) => name),
    ];
    expect(names).toContain("DATABASE_URL");
    expect(names.filter((name) => name !== "NODE_ENV" && !knownVariables.has(name))).toEqual([]);
    expect(service.spec.selector).toEqual(deployment.spec.selector.matchLabels);
    for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"])
      expect(container[probe].httpGet.port).toBe("admin");
  });
});

describe("code", () => {
  test.skipIf(!capabilities.realServer)("X-CALL-1 the handler of the serverless recipe answers events", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "relapi-recipe-")));
    atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(root, join(folder, "node_modules/relapi"));
    const { options } = await openDatabase();
    const file = join(folder, "handler.mjs");
    const code = recipe("serverless").find(({ language }) => language === "ts")?.text ?? "";
    // The code uses a role of the fixtures, and closes the connections.
    writeFileSync(
      file,
      (await transform(code, { loader: "ts", target: "node20" })).code
        .replace('"guest"', '"music_reader", logLevel: "silent"')
        .replace("const api =", "export const api ="),
    );
    process.env["DATABASE_URL"] = options.databaseUrl;
    const { handler, api } = (await import(pathToFileURL(file).href)) as {
      handler(event: object): Promise<{ statusCode: number; headers: Record<string, string>; body: string }>;
      api: { close(): Promise<void> };
    };
    atFileEnd(() => api.close());
    const ask = (method: string, rawPath: string, rawQueryString = "", body?: string) =>
      handler({
        rawPath,
        rawQueryString,
        headers: { "content-type": "application/json" },
        ...(body === undefined ? {} : { body }),
        isBase64Encoded: false,
        requestContext: { http: { method } },
      });
    const read = await ask("GET", "/api/artist", "select=name&id=eq.1");
    expect([read.statusCode, JSON.parse(read.body)]).toEqual([200, [{ name: "Abba" }]]);
    expect(read.headers["content-range"]).toBe("0-0/*");
    expect((await ask("POST", "/api/artist", "", '{"name":"x"}')).statusCode).toBe(401);
    expect((await ask("GET", "/api/nothing")).statusCode).toBe(404);
    const graphql = await ask("POST", "/v1/graphql", "", '{"query":"{ artist(where: {id: {_eq: 1}}) { name } }"}');
    expect(JSON.parse(graphql.body)).toEqual({ data: { artist: [{ name: "Abba" }] } });
  });
});
