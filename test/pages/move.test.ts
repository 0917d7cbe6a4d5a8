/** Checks the guides for users of other engines: their tables name only settings that exist, and every such setting. */
import { describe, expect, test } from "vitest";
import { listKnownSettings, listKnownVariables, readEnvironment } from "../../presets/server/environment.ts";
import { findUnknownVariables } from "../../presets/server/unknown-variables.ts";
import { serve } from "../../presets/server/serve.ts";
import { atFileEnd } from "../support/file-end.ts";
import { bearer, jwtSecret } from "../support/tokens.ts";
import { blocksOf, readPage } from "../support/pages/pages.ts";
import { openEmbedded } from "../support/pages/server.ts";

const known = listKnownVariables();

/** The cells of the rows of the tables. */
const rowsOf = (page: string): readonly (readonly string[])[] =>
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
  const rows = rowsOf(page)
    .filter(([first = ""]) => first.startsWith(`\`${prefix}`))
    .flatMap(([first = "", ours = ""]) => codesIn(first).map((theirs) => ({ theirs, ours })))
    .filter(({ theirs }) => !theirs.endsWith("…"));
  const served = rows.filter(({ ours }) => ours !== "not served" && !ours.includes("<"));

  test("the guide lists every accepted setting with its name in relapi", () => {
    const taken = listKnownSettings().flatMap(({ environment: [own = "", ...aliases] = [] }) =>
      aliases.filter((alias) => alias.startsWith(prefix)).map((theirs) => ({ theirs, ours: `\`${own}\`` })),
    );
    const inOrder = (all: readonly { readonly theirs: string }[]) =>
      [...all].sort((a, b) => (a.theirs < b.theirs ? -1 : 1));
    expect(inOrder(served)).toEqual(inOrder(taken));
  });

  test("every setting that the guide calls not served is reported at the start", () => {
    const left = rows.filter(({ ours }) => ours === "not served");
    expect(left).not.toEqual([]);
    for (const { theirs } of left)
      expect(findUnknownVariables({ [theirs]: "x" }, known).map(({ message }) => message)).toEqual([
        expect.stringMatching(new RegExp(`^${theirs} is not served: (?!see docs/reference/settings)`)),
      ]);
  });
});

/** These environment variables are not settings. */
const OTHERS = new Set(["NODE_ENV"]);

test.each(["postgrest", "hasura", "postgraphile"])("move-from-%s.md names settings that exist", (engine) => {
  const text = readPage(`guides/move-from-${engine}.md`).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const named = codesIn(text).flatMap((code) => /^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=|$)/.exec(code)?.[1] ?? []);
  const ours = named.filter((name) => !/^(?:PGRST|HASURA_GRAPHQL)_/.test(name));
  expect(ours).not.toEqual([]);
  expect(ours.filter((name) => !known.has(name) && !OTHERS.has(name) && !name.startsWith("APP_SETTINGS_"))).toEqual([]);
});

test("R-TX-7 policies of PostGraphile find their claims", async () => {
  const page = readPage("guides/move-from-postgraphile.md");
  const script = blocksOf(page).find(({ language }) => language === "sql")?.text ?? "";
  const database = await openEmbedded(`${script}
    create role visitor;
    create table note (owner text, body text);
    insert into note values ('ada', 'hers'), ('bo', 'his');
    alter table note enable row level security;
    create policy own on note using (owner = current_setting('jwt.claims.user_id', true));
    grant select on note to visitor;`);
  const [, preRequest = ""] = /DB_PRE_REQUEST=(\S+) npx relapi/.exec(page) ?? [];
  const { options } = readEnvironment({ DB_PRE_REQUEST: preRequest, ANON_ROLE: "visitor", JWT_SECRET: jwtSecret });
  const served = await serve({
    options: { ...options, ...database.options, logLevel: "silent" },
    server: { host: "127.0.0.1", port: 0, unixSocketMode: 0o660, workers: 1 },
  });
  atFileEnd(() => served.stop());
  await served.api.ready;
  const notes = async (claims: object) =>
    (await fetch(`${served.address}/api/note?select=body`, { headers: bearer({ ...claims }) })).json();
  expect(await notes({ role: "visitor", user_id: "ada", "https://example.com/plan": "free" })).toEqual([
    { body: "hers" },
  ]);
  expect(await notes({ role: "visitor", user_id: "bo" })).toEqual([{ body: "his" }]);
  expect(await notes({ role: "visitor" })).toEqual([]);
});
