/** The page at `/`, which browsers get if no surface answers there, and its requests, which run as copied. */
import express from "express";
import { afterAll, describe, expect, test } from "vitest";
import { compose, relApi, without, type RelApiOptions } from "../../core/index.ts";
import { fullCompat, gqlCompat, minimal, restCompat } from "../../presets/index.ts";
import { BROWSER, openApi } from "../support/api.ts";
import { cases } from "../support/cases.ts";
import { openDatabase, testDatabase } from "../support/database.ts";
import {
  readCode,
  readDemo,
  hasCurl,
  fetchPage,
  listRelations,
  listRequests,
  run,
  start,
  listTags,
  extractText,
} from "../support/front-page.ts";
import { adminSecret } from "../support/tokens.ts";
import { startHttpServer } from "../support/http-server.ts";

/** An application with a handler after the api. */
const serveApp = async (app: express.Express): Promise<string> => `http://127.0.0.1:${await startHttpServer(app)}`;

const api = await start();

describe("clients of the page", () => {
  const notFound = {
    status: 404,
    answer: expect.objectContaining({ code: "PGRST125", message: "Invalid path specified in request URL" }),
  };
  cases(api, [
    {
      title: "X-PAGE-1 a browser gets a page that loads nothing, runs nothing else and cannot be framed",
      request: "GET /",
      headers: BROWSER,
      status: 200,
      responseHeaders: {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy":
          /^default-src 'none'; script-src 'nonce-[\w-]{20,}'; style-src 'nonce-[\w-]{20,}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'$/,
        "cache-control": "no-store",
        vary: "Accept",
        "x-content-type-options": "nosniff",
      },
    },
    { title: "X-PAGE-1 HEAD has no body", request: "HEAD /", headers: BROWSER, status: 200, bytes: "" },
    { title: "X-PAGE-1 other clients get the 404", request: "GET /", ...notFound },
    {
      title: "X-PAGE-1 a client that accepts anything gets the 404",
      request: "GET /",
      headers: { accept: "*/*" },
      ...notFound,
    },
    {
      title: "X-PAGE-1 a client that rejects HTML gets the 404",
      request: "GET /",
      headers: { accept: "text/html;q=0, application/json" },
      ...notFound,
    },
    { title: "X-PAGE-1 other paths have no page", request: "GET /index.html", headers: BROWSER, ...notFound },
    { title: "X-PAGE-1 other methods have no page", request: "DELETE /", headers: BROWSER, ...notFound },
  ]);

  test("X-PAGE-1 without the plugin a browser gets the 404 too", async () => {
    const bare = await start({ parts: [without("front-page")] });
    const { status, text } = await bare.get("/", { headers: BROWSER });
    expect([status, JSON.parse(text).code]).toEqual([404, "PGRST125"]);
    await bare.close();
  });

  test("X-PAGE-1 if REST has the root, REST answers there", async () => {
    const compat = await start({ compatMode: true });
    expect((await compat.get("/", { headers: BROWSER })).text).toContain("swagger-ui");
    await compat.close();
  });

  test("X-PAGE-1 presets with one surface show only that one", async () => {
    for (const [preset, surface, missingSurface] of [
      [restCompat, "REST", "GraphQL"],
      [gqlCompat, "GraphQL", "REST"],
    ] as const) {
      const surfaceApi = await start({ preset });
      const { text } = await fetchPage(surfaceApi);
      expect(text).toContain(`<h2>${surface}</h2>`);
      expect(text).not.toContain(`<h2>${missingSurface}</h2>`);
      await surfaceApi.close();
    }
  });

  test("X-PAGE-1 minimal has no page", async () => {
    const minimalApi = await start({ preset: minimal });
    expect((await minimalApi.get("/", { headers: BROWSER })).status).toBe(404);
    await minimalApi.close();
  });
});

describe("in an application", async () => {
  const database = await testDatabase();
  const options: RelApiOptions = {
    ...database.options,
    dbSchemas: ["public"],
    anonRole: "music_reader",
    logLevel: "silent",
  };
  const mountedApi = relApi(fullCompat(options));
  await mountedApi.ready;
  afterAll(() => mountedApi.close());

  test("X-PAGE-2 the application's own root takes precedence, whether its route is added before or after relapi", async () => {
    const after = await serveApp(
      express()
        .use(mountedApi)
        .get("/", (_, response) => void response.send("mine")),
    );
    const answer = await fetch(after, { headers: BROWSER });
    expect(await answer.text()).toBe("mine");
    const rootlessUrl = await serveApp(express().use(mountedApi));
    expect((await fetch(rootlessUrl, { headers: BROWSER })).status).toBe(404);
  });

  test.each(["/db", "/db/"])("X-PAGE-2 below a mount path %s has the page, and its links work", async (path) => {
    const url = await serveApp(express().use("/db", mountedApi));
    const answer = await fetch(url + path, { headers: BROWSER });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    const links = [...text.matchAll(/<a class="button" href="([^"]+)"/g)].map(([, link]) => link as string);
    expect(links).toEqual(["/db/api", "/db/v1/graphql"]);
    for (const link of links) {
      const page = await fetch(url + link, { headers: BROWSER });
      expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    }
    expect(extractText(text)).toContain(`${url}/db/api/`);
    expect(extractText(text)).toContain(`curl '${url}/db/v1/graphql'`);
    expect(text).toContain('<a href="/db/api/album?limit=20">');
    expect(text).toMatch(/"path":"\/db\/api\/\w+\?select=.*"relationPath":"\/db\/api\/\w+"/);
  });

  test("X-PAGE-2 a mounted api leaves other paths to the application", async () => {
    const app = express()
      .use("/db", mountedApi)
      .get("/db/mine", (_, response) => void response.send("mine"));
    expect(await (await fetch(`${await serveApp(app)}/db/mine`, { headers: BROWSER })).text()).toBe("mine");
  });
});

describe("content of the page", () => {
  test("X-PAGE-3 X-PAGE-3b the page shows the database, its server, and links", async () => {
    const { text } = await fetchPage(api);
    const [{ name, version }] = (await api.sql(
      "select current_database() as name, current_setting('server_version') as version",
    )) as [{ name: string; version: string }];
    expect(extractText(/<h1>.*<\/h1>/.exec(text)?.[0] ?? "")).toBe(name);
    expect(text).toContain(`PostgreSQL ${/^[\d.]+/.exec(version)?.[0]}`);
    expect([...text.matchAll(/ class="button" href="([^"]*)"/g)].map(([, link]) => link)).toEqual([
      "/api",
      "/v1/graphql",
    ]);
  });

  test("X-PAGE-3 X-PAGE-4 the heading is the comment on the schema if callers without a credential may read it", async () => {
    const database = await openDatabase();
    await database.query(`
      create schema titled; create table titled.note (id int primary key);
      comment on schema titled is E'Harbour log\\nAll ships.'; grant usage on schema titled to sea_anon;`);
    const fetchHeading = async (): Promise<string> => {
      const { text } = await fetchPage(await start({ on: database, dbSchemas: ["titled"], anonRole: "sea_anon" }));
      return extractText(/<h1>.*<\/h1>/.exec(text)?.[0] ?? "");
    };
    expect(await fetchHeading()).not.toContain("Harbour");
    await database.query("grant select on titled.note to sea_anon");
    expect(await fetchHeading()).toBe("Harbour log");
  });

  test("X-PAGE-3b missing pages are not linked", async () => {
    const bare = await start({ parts: [without("playground")], openapiMode: "disabled" });
    const { text } = await fetchPage(bare);
    expect(text).not.toContain('class="button"');
    await bare.close();
  });

  test.skipIf(!hasCurl)("X-PAGE-3a the requests run as they are copied, and return related rows", async () => {
    const [rest = "", graphql = ""] = listRequests(await fetchPage(api));
    const rows = await run(rest);
    expect(rows).toHaveLength(3);
    expect(Object.values(rows[0]).some((value) => typeof value === "object" && value !== null)).toBe(true);
    const { data } = await run(graphql);
    const [listedRows] = Object.values(data) as [Record<string, unknown>[]];
    expect(listedRows).toHaveLength(3);
    expect(Object.values(listedRows[0]!).some((value) => typeof value === "object")).toBe(true);
  });

  test.skipIf(!hasCurl)("X-PAGE-3b prefixes and names of GraphQL follow the settings", async () => {
    const otherApi = await start({
      restPrefixes: ["/rest/v1", "/api"],
      defaultNamingConvention: "graphql-default",
      anonRole: "sea_anon",
      dbSchemas: ["land", "sea"],
    });
    const page = await fetchPage(otherApi);
    expect(page.text).toContain('href="/rest/v1"');
    for (const request of listRequests(page))
      expect(JSON.stringify(await run(request))).not.toMatch(/"(?:errors|code)"/);
    await otherApi.close();
  });

  test("X-PAGE-4 no object is named that the anonymous role may not read", async () => {
    for (const anonRole of ["music_reader", "music_writer", "music_nobody", "sea_anon"]) {
      const roleApi = await start({ anonRole, dbSchemas: ["public", "sea", "shop"] });
      const page = await fetchPage(roleApi);
      const shownText = [...listRequests(page), ...listRelations(page).flat(), readDemo(page)?.relationPath].join(" ");
      const hiddenRelations = await roleApi.sql<{ name: string }>(
        `select distinct relname as name from pg_class where relkind in ('r', 'v', 'm', 'f', 'p')
           and relnamespace in ('public'::regnamespace, 'sea'::regnamespace, 'shop'::regnamespace)
           and relname not in (
             select relname from pg_class c where has_any_column_privilege($1, c.oid, 'select')
               and has_schema_privilege($1, c.relnamespace, 'usage'))`,
        [anonRole],
      );
      expect(hiddenRelations.length).toBeGreaterThan(3);
      for (const { name } of hiddenRelations) expect(shownText.split(/\W+/), anonRole).not.toContain(name);
      await roleApi.close();
    }
  });

  test("X-PAGE-4 a role that reads nothing sees no name, only how to send a token", async () => {
    const nobodyApi = await start({ anonRole: "music_nobody" });
    const page = await fetchPage(nobodyApi);
    expect(extractText(page.text)).toContain("Requests without a credential see no table");
    expect(extractText(page.text)).toContain("Authorization: Bearer <token>");
    expect(listRelations(page)).toEqual([]);
    expect(readDemo(page)).toBeUndefined();
    expect(readCode(page, "postgrest-js")).toContain(`{ headers: { Authorization: "Bearer <token>" } }`);
    expect(readCode(page, "Apollo Client")).toContain(`headers: { Authorization: "Bearer <token>" }`);
    expect(readCode(page, "urql")).toContain(`fetchOptions: { headers: { Authorization: "Bearer <token>" } }`);
    expect(listRequests(page)).toEqual([
      `curl '${nobodyApi.url}/api/' \\\n  -H "Authorization: Bearer $TOKEN"`,
      expect.stringContaining(`-H "Authorization: Bearer $TOKEN"`),
    ]);
    await nobodyApi.close();
  });

  test("X-PAGE-4 no table is named if the settings hide the schema", async () => {
    const closed = await start({ openapiMode: "disabled", parts: [without("graphql-introspection")] });
    const page = await fetchPage(closed);
    expect(listRequests(page)[0]).toBe(`curl '${closed.url}/api/<table>?limit=3'`);
    expect(listRequests(page)[1]).toContain("{ __typename }");
    expect(page.text).not.toContain('class="note"');
    expect(listRelations(page)).toEqual([]);
    expect(readDemo(page)).toBeUndefined();
    await closed.close();
  });

  test("X-PAGE-4 the page is the same for every reader: a credential changes nothing", async () => {
    const closed = await start({ anonRole: undefined });
    const page = await fetchPage(closed, { "x-session-admin-secret": adminSecret });
    expect(extractText(page.text)).toContain("Requests need a credential.");
    expect(page.text).not.toMatch(/\b(?:album|artist|team)\b/);
    for (const request of listRequests(page)) expect(request).toContain(`-H "Authorization: Bearer $TOKEN"`);
    await closed.close();
  });

  test("X-PAGE-4 the page names the header that the settings accept", async () => {
    const secret = await start({ anonRole: undefined, jwtSecret: undefined });
    expect(extractText((await fetchPage(secret)).text)).toContain("X-Session-Admin-Secret: <secret>");
    await secret.close();
    const closedApi = await start({ anonRole: undefined, jwtSecret: undefined, adminSecret: undefined });
    expect(extractText((await fetchPage(closedApi)).text)).toContain("ANON_ROLE");
    await closedApi.close();
  });
});

describe("hostile names", async () => {
  const database = await openDatabase();
  const IMG = '<img src=x onerror="alert(1)">';
  await database.query(`
    create schema odd;
    grant usage on schema odd to sea_anon;
    create table odd.${JSON.stringify(IMG.replaceAll('"', "'"))} (id int primary key, "it's ""x"" </script>" text);
    insert into odd.${JSON.stringify(IMG.replaceAll('"', "'"))} values (1, 'one');
    create table odd."; rm -rf $HOME \`id\` '" (
      id int primary key, "a,b(c)" text, other int references odd.${JSON.stringify(IMG.replaceAll('"', "'"))});
    insert into odd."; rm -rf $HOME \`id\` '" values (1, 'one', 1);
    grant select on all tables in schema odd to sea_anon;
  `);
  const COMMENT_COUNT = 2500;
  await database.query(`comment on schema odd is '${"<script>alert(1)</script>".repeat(COMMENT_COUNT)}'`);
  const odd = await start({ on: database, dbSchemas: ["odd"], anonRole: "sea_anon" });

  test.skipIf(!hasCurl)("X-PAGE-5a names are escaped for HTML, the URL and the shell", async () => {
    const page = await fetchPage(odd);
    expect(page.text).not.toContain("<img");
    listTags(page);
    for (const [, path] of listRelations(page)) expect((await odd.get(path)).status, path).toBe(200);
    expect(page.text.match(/<\/script>/g)).toHaveLength(1);
    expect(page.text.match(/alert\(1\)/g)!.length).toBeLessThan(COMMENT_COUNT); // the comment is cut off
    const [rest = ""] = listRequests(page);
    expect(await run(rest)).toEqual([
      { id: 1, "a,b(c)": "one", "<img src=x onerror='alert(1)'>": { 'it\'s "x" </script>': "one" } },
    ]);
  });

  test.each(['evil.example"><script>', "a b", "127.0.0.1:80'; id", "[::1", "x".repeat(3000) + "!"])(
    "X-PAGE-5a a Host header is an address, or it is not shown: %s",
    async (host) => {
      const { text } = await fetchPage(odd, { host });
      expect(text).not.toContain(host.slice(0, 40));
      expect(extractText(text)).toContain(`http://localhost:${odd.port}/api`);
    },
  );

  test("X-PAGE-5 the page works with hundreds of tables, and with none", async () => {
    const large = await openDatabase();
    await large.query("create schema many; create schema empty; grant usage on schema many, empty to sea_anon");
    await large.query(
      `do $$ begin for i in 1..300 loop
         execute format('create table many.t%s (id int primary key, name text, up int)', i);
         if i > 1 then execute format('alter table many.t%s add foreign key (up) references many.t%s', i, i - 1); end if;
       end loop; end $$; grant select on all tables in schema many to sea_anon`,
    );
    const manyTablesApi = await openApi({ on: large, compatMode: false, dbSchemas: ["many"], anonRole: "sea_anon" });
    const page = await fetchPage(manyTablesApi);
    expect(page.text).toContain("/api/t10?select=id,name,t9(name)");
    await manyTablesApi.close();
    const empty = await openApi({ on: large, compatMode: false, dbSchemas: ["empty"], anonRole: "sea_anon" });
    expect(extractText((await fetchPage(empty)).text)).toContain("see no table: there is none yet, or the");
    await empty.close();
  });
});

test("X-PAGE-1 a custom preset has the page through the plugin", async () => {
  const { frontPage } = await import("../../plugins/pages/front/index.ts");
  const customApi = await start({ preset: (options) => compose(minimal(options), frontPage) });
  expect((await fetchPage(customApi)).text).toContain("<h2>REST</h2>");
  await customApi.close();
});
