/** Checks the guides for users of other engines: their tables name only settings that exist, and every such setting. */
import { describe, expect, test } from "vitest";
import { listKnownSettings, listKnownVariables, readEnvironment } from "../../presets/server/environment.ts";
import { findUnknownVariables } from "../../presets/server/unknown-variables.ts";
import { serve } from "../../presets/server/serve.ts";
import { atFileEnd } from "../support/file-end.ts";
import { bearer, jwtSecret } from "../support/tokens.ts";
import { parseBlocks, readPage } from "../support/pages/pages.ts";
import { openEmbedded } from "../support/pages/server.ts";

const knownVariables = listKnownVariables();

/** The cells of the rows of the tables. */
const readTableRows = (page: string): readonly (readonly string[])[] =>
  readPage(page)
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

const codesIn = (text: string): readonly string[] => Array.from(text.matchAll(/`([^`]+)`/g), ([, code = ""]) => code);

describe.each([
  ["guides/move-from-postgrest.md", "PGRST_"],
  ["guides/move-from-hasura.md", "HASURA_GRAPHQL_"],
])("%s", (page, prefix) => {
  const rows = readTableRows(page)
    .filter(([first = ""]) => first.startsWith(`\`${prefix}`))
    .flatMap(([first = "", relapiName = ""]) => codesIn(first).map((engineName) => ({ engineName, relapiName })))
    .filter(({ engineName }) => !engineName.endsWith("…"));
  const servedRows = rows.filter(({ relapiName }) => relapiName !== "not served" && !relapiName.includes("<"));

  test("the guide lists every accepted setting with its name in relapi", () => {
    const acceptedSettings = listKnownSettings().flatMap(({ environment: [name = "", ...aliases] = [] }) =>
      aliases
        .filter((alias) => alias.startsWith(prefix))
        .map((engineName) => ({ engineName, relapiName: `\`${name}\`` })),
    );
    const inOrder = (all: readonly { readonly engineName: string }[]) =>
      [...all].sort((a, b) => (a.engineName < b.engineName ? -1 : 1));
    expect(inOrder(servedRows)).toEqual(inOrder(acceptedSettings));
  });

  test("every setting that the guide calls not served is reported at the start", () => {
    const unservedRows = rows.filter(({ relapiName }) => relapiName === "not served");
    expect(unservedRows).not.toEqual([]);
    for (const { engineName } of unservedRows)
      expect(findUnknownVariables({ [engineName]: "x" }, knownVariables).map(({ message }) => message)).toEqual([
        expect.stringMatching(new RegExp(`^${engineName} is not served: (?!see docs/reference/settings)`)),
      ]);
  });
});

/** These environment variables are not settings. */
const NOT_SETTINGS = new Set(["NODE_ENV"]);

test.each(["postgrest", "hasura", "postgraphile"])("move-from-%s.md names settings that exist", (engine) => {
  const text = readPage(`guides/move-from-${engine}.md`).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const variables = codesIn(text).flatMap((code) => /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=|$)/.exec(code)?.[1] ?? []);
  const relapiVariables = variables.filter((name) => !/^(?:PGRST|HASURA_GRAPHQL)_/.test(name));
  expect(relapiVariables).not.toEqual([]);
  expect(
    relapiVariables.filter(
      (name) => !knownVariables.has(name) && !NOT_SETTINGS.has(name) && !name.startsWith("APP_SETTINGS_"),
    ),
  ).toEqual([]);
});

test("R-TX-7 policies of PostGraphile find their claims", async () => {
  const page = readPage("guides/move-from-postgraphile.md");
  const script = parseBlocks(page).find(({ language }) => language === "sql")?.text ?? "";
  const database = await openEmbedded(`${script}
    create role visitor;
    create table note (owner text, body text);
    insert into note values ('ada', 'hers'), ('bo', 'his');
    alter table note enable row level security;
    create policy own on note using (owner = current_setting('jwt.claims.user_id', true));
    grant select on note to visitor;`);
  const [, preRequest = ""] = /DB_PRE_REQUEST=(\S+) npx relapi/.exec(page) ?? [];
  const { options } = readEnvironment({ DB_PRE_REQUEST: preRequest, ANON_ROLE: "visitor", JWT_SECRET: jwtSecret });
  const server = await serve({
    options: { ...options, ...database.options, logLevel: "silent" },
    server: { host: "127.0.0.1", port: 0, unixSocketMode: 0o660, workers: 1 },
  });
  atFileEnd(() => server.stop());
  await server.api.ready;
  const notes = async (claims: object) =>
    (await fetch(`${server.address}/api/note?select=body`, { headers: bearer({ ...claims }) })).json();
  expect(await notes({ role: "visitor", user_id: "ada", "https://example.com/plan": "free" })).toEqual([
    { body: "hers" },
  ]);
  expect(await notes({ role: "visitor", user_id: "bo" })).toEqual([{ body: "his" }]);
  expect(await notes({ role: "visitor" })).toEqual([]);
});
