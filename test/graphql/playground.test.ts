import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, BROWSER, forGraphql, startApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";

const inRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

// The page is part of the build, and tests from the sources have no build.
if (!existsSync(inRoot("dist/plugins/pages/playground/app/main.js.br")))
  execFileSync(process.execPath, [inRoot(".ci/bundle-playground.mjs")]);

const api = await startApi(forGraphql({ anonRole: undefined }));
const page = await api.get("/v1/graphql", { headers: BROWSER });
const script = /src="([^"]+main\.js)"/.exec(page.text)?.[1] ?? "";
const folder = `/v1/${script.replace(/main\.js$/, "")}`;

cases(api, [
  {
    title: "G-HTTP-12 the playground needs no credentials",
    request: "GET /v1/graphql",
    headers: BROWSER,
    status: 200,
    responseHeaders: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
  },
  {
    title: "G-HTTP-12 a client that accepts any type gets the playground",
    request: "GET /v1/graphql",
    headers: { accept: "*/*" },
    status: 200,
    responseHeaders: { "content-type": "text/html; charset=utf-8" },
  },
  {
    title: "G-HTTP-12 a client that does not accept HTML gets no page",
    request: "GET /v1/graphql",
    headers: { accept: "application/json" },
    status: 405,
    responseHeaders: { allow: /POST/ },
  },
  {
    title: "G-HTTP-12 files of the page can be cached forever",
    request: `GET ${folder}main.css`,
    status: 200,
    responseHeaders: {
      "content-type": "text/css; charset=utf-8",
      "cache-control": /immutable/,
      "content-encoding": null,
    },
  },
  {
    title: "G-HTTP-12 files of another version are not found",
    request: "GET /v1/graphql/playground/other/main.css",
    status: 404,
  },
  {
    title: "G-HTTP-12 other files of the folder are not served",
    request: `GET ${folder}..%2f..%2findex.js`,
    status: 404,
  },
]);

test("G-HTTP-12 the content security policy allows only the page's own script", () => {
  const policy = page.headers["content-security-policy"] ?? "";
  const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1];
  expect(nonce).toMatch(/^[\w-]{20,}$/);
  expect(policy).toContain("default-src 'none'");
  expect(page.text.match(/<script[^>]*>/g)).toEqual([
    '<script type="application/json" id="config">',
    `<script type="module" nonce="${nonce}" src="${script}">`,
  ]);
});

test("G-HTTP-12 each response has a nonce of its own", async () => {
  const secondAnswer = await api.get("/v1/graphql", { headers: BROWSER });
  expect(secondAnswer.headers["content-security-policy"]).not.toBe(page.headers["content-security-policy"]);
});

test("G-HTTP-12 the page loads nothing from other servers", () => {
  expect(page.text.match(/(?:src|href)="[^"]*"/g)?.filter((attribute) => /"(?:https?:)?\/\//.test(attribute))).toEqual(
    [],
  );
});

test("G-HTTP-12 scripts and workers are served, compressed for clients that accept gzip", async () => {
  for (const name of ["main.js", "worker.js"]) {
    const compressedAnswer = await api.get(folder + name, { headers: { "accept-encoding": "gzip" } });
    expect(compressedAnswer.headers).toMatchObject({
      "content-encoding": "gzip",
      "content-type": "text/javascript; charset=utf-8",
    });
    expect(gunzipSync(compressedAnswer.bytes).length).toBeGreaterThan(100_000);
  }
});

const EXAMPLE = "/v1/graphql/playground/example";

test("G-HTTP-16 the first query of the page reads tables that the caller may see", async () => {
  for (const role of ["music_reader", "music_editor", "admin"]) {
    const { status, text } = await api.get(EXAMPLE, { headers: asAdmin(role) });
    expect(status).toBe(200);
    expect(text).toMatch(/^query \{\n {2}\w+\(limit: 3\) \{\n/);
    const { data, errors } = await api.gql(text, undefined, asAdmin(role));
    expect(errors, text).toBeUndefined();
    expect(Object.values(data)[0]).toHaveLength(3);
  }
});

test("G-HTTP-16 a role without tables and a caller without credentials get no first query", async () => {
  const { status, text } = await api.get(EXAMPLE, { headers: asAdmin("music_nobody") });
  expect([status, text]).toEqual([204, ""]);
  expect((await api.get(EXAMPLE)).status).toBe(400);
  expect((await api.post(EXAMPLE)).status).toBe(404);
});

test("G-HTTP-16 the first query has the names of the metadata and the naming convention", async () => {
  const namedApi = await startApi(
    forGraphql({
      defaultNamingConvention: "graphql-default",
      metadata: buildMetadataDocument(
        [
          table("album", {
            object_relationships: [{ name: "madeBy", using: { foreign_key_constraint_on: "artist_id" } }],
          }),
          table("artist"),
        ],
        {},
        { customization: { root_fields: { namespace: "shop" } } },
      ),
    }),
  );
  const { text } = await namedApi.get(EXAMPLE, { headers: asAdmin() });
  expect(text).toMatch(/^query \{\n {2}shop \{\n {4}album\(limit: 3\)/);
  expect(text).toContain("madeBy {");
  expect((await namedApi.gql(text)).errors).toBeUndefined();
  await namedApi.close();
});

test("G-HTTP-12 without the plugin the address has no page", async () => {
  const bareApi = await startApi(forGraphql({ parts: [without("playground")] }));
  try {
    expect((await bareApi.get("/v1/graphql", { headers: BROWSER })).status).toBe(405);
  } finally {
    await bareApi.close();
  }
});

test("R-PATH-11 the page finds its files with additional slashes", async () => {
  const lenientApi = await startApi(forGraphql({ compatMode: false }));
  for (const path of ["/v1/graphql", "/v1/graphql/", "//v1/graphql", "/v1//graphql//"]) {
    const { text } = await lenientApi.get(path, { headers: BROWSER });
    const relative = /src="([^"]+main\.js)"/.exec(text)?.[1] ?? "";
    const { pathname } = new URL(relative, `http://host${path}`);
    expect((await lenientApi.head(pathname)).status, `${path} ${pathname}`).toBe(200);
  }
  await lenientApi.close();
});
