/** The pages in the order of the sidebar. A page that is in none of the lists stops the build. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const docs = fileURLToPath(new URL("../../", import.meta.url));

interface Section {
  readonly text: string;
  readonly isClosed?: boolean;
  readonly pages: readonly string[];
}

const sections: readonly Section[] = [
  {
    text: "Features",
    pages: [
      "features/columns",
      "features/filters",
      "features/relationships",
      "features/ordering-and-paging",
      "features/aggregates",
      "features/writes",
      "features/functions",
      "features/computed-fields",
      "features/live-queries",
      "features/callers-and-roles",
      "features/permissions",
      "features/media-types",
      "features/transactions",
      "features/geo",
      "features/observability",
    ],
  },
  {
    text: "Recipes",
    pages: [
      "recipes/row-level-security",
      "recipes/tokens",
      "recipes/nextjs",
      "recipes/nestjs",
      "recipes/fastify",
      "recipes/docker",
      "recipes/kubernetes",
      "recipes/serverless",
    ],
  },
  { text: "Move", pages: ["guides/move-from-postgrest", "guides/move-from-hasura", "guides/move-from-postgraphile"] },
  {
    text: "Guides",
    pages: [
      "guides/README",
      "guides/mount-in-your-server",
      "guides/call-the-api",
      "guides/use-your-own-users",
      "guides/use-your-own-logger",
      "guides/test-your-app",
      "guides/bundle-your-app",
      "guides/presets",
      "guides/metadata",
      "guides/metadata-api",
      "guides/model-context-protocol",
      "guides/live-queries",
      "guides/several-processes",
      "guides/tenants",
      "guides/nearest",
      "guides/pages-by-cursor",
      "guides/rest-batch",
      "guides/group-by",
      "guides/nested-writes",
      "guides/soft-delete",
      "guides/row-history",
      "guides/relay",
      "guides/why-is-it-empty",
      "guides/embedded-database",
      "guides/poolers",
      "guides/several-servers",
    ],
  },
  {
    text: "Write a plugin",
    isClosed: true,
    pages: [
      "guides/write-an-operator",
      "guides/write-an-aggregate",
      "guides/write-an-ordering",
      "guides/write-an-embedding-mode",
      "guides/write-a-root-field",
      "guides/write-a-graphql-field",
      "guides/write-a-loaded-field",
      "guides/write-a-rest-route",
      "guides/write-a-rest-method",
      "guides/write-a-media-type",
      "guides/write-a-preference",
      "guides/write-a-setting",
      "guides/write-a-request-step",
      "guides/write-an-auth-scheme",
      "guides/look-up-callers",
      "guides/write-a-change-source",
      "guides/write-sql",
    ],
  },
  {
    text: "Reference",
    pages: [
      "reference/settings",
      "reference/command-line",
      "reference/operators",
      "reference/errors",
      "reference/hosts",
      "reference/front-page",
      "reference/rest",
      "reference/streamed-answers",
      "reference/graphql",
      "reference/live-queries",
      "reference/plugins",
      "reference/statements",
      "reference/observability",
      "reference/extensions",
      "reference/plus",
      "reference/hooks",
    ],
  },
  { text: "Project", pages: ["design", "map", "glossary", "benchmark", "scale", "reliability"] },
];

/** Their names in the sidebar, where the heading of the page says too much. */
const SHORT: Readonly<Record<string, string>> = {
  "reference/rest": "REST, rule by rule",
  "reference/graphql": "GraphQL, rule by rule",
  "guides/move-from-postgrest": "From PostgREST",
  "guides/move-from-hasura": "From Hasura",
  "guides/move-from-postgraphile": "From PostGraphile",
  "features/transactions": "Transactions",
  "recipes/row-level-security": "Row-level security",
  "recipes/tokens": "Auth0, Clerk, Supabase",
};

const titleOf = (page: string): string =>
  SHORT[page] ?? /^# (.+)$/m.exec(readFileSync(`${docs}${page}.md`, "utf8"))?.[1]?.replaceAll("`", "") ?? page;

const listed = new Set(sections.flatMap(({ pages }) => pages));
const unlisted = ["features", "recipes", "guides", "reference", ""]
  .flatMap((folder) => readdirSync(docs + folder).map((name) => (folder === "" ? name : `${folder}/${name}`)))
  .filter((path) => path.endsWith(".md") && path !== "README.md" && !listed.has(path.slice(0, -".md".length)));
if (unlisted.length > 0) throw new Error(`not in the sidebar (docs/site/.vitepress/pages.mts): ${unlisted.join(", ")}`);

export const sidebar = sections.map(({ text, isClosed = false, pages }) => ({
  text,
  collapsed: isClosed,
  items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
}));
