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
      "guides/authenticate-by-webhook",
      "guides/call-your-own-code",
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
      "guides/react-to-changes",
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
      "guides/declare-built-in-sql",
      "guides/order-plugins",
      "guides/share-between-plugins",
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
      "reference/services",
      "reference/front-page",
      "reference/streamed-answers",
      "reference/live-queries",
      "reference/plugins",
      "reference/public-api",
      "reference/statements",
      "reference/observability",
      "reference/extensions",
      "reference/plus",
      "reference/hooks",
    ],
  },
  {
    text: "REST, rule by rule",
    isClosed: true,
    pages: [
      "reference/rest",
      "reference/rest/paths",
      "reference/rest/order-of-checks",
      "reference/rest/schema-profiles",
      "reference/rest/query-syntax",
      "reference/rest/select",
      "reference/rest/filters",
      "reference/rest/logic-trees",
      "reference/rest/ordering",
      "reference/rest/limits-and-counts",
      "reference/rest/relationships",
      "reference/rest/embedding",
      "reference/rest/spread-embeds",
      "reference/rest/aggregates",
      "reference/rest/writes",
      "reference/rest/functions",
      "reference/rest/prefer",
      "reference/rest/media-types",
      "reference/rest/domain-representations",
      "reference/rest/options-and-cors",
      "reference/rest/authentication",
      "reference/rest/transactions",
      "reference/rest/errors",
      "reference/rest/openapi",
      "reference/rest/headers-and-operations",
      "reference/rest/settings",
      "reference/rest/sql-shapes",
      "reference/rest/common-mistakes",
    ],
  },
  {
    text: "GraphQL, rule by rule",
    isClosed: true,
    pages: [
      "reference/graphql",
      "reference/graphql/names",
      "reference/graphql/scalars",
      "reference/graphql/schema",
      "reference/graphql/types",
      "reference/graphql/root-fields",
      "reference/graphql/relationships",
      "reference/graphql/where",
      "reference/graphql/ordering",
      "reference/graphql/aggregates",
      "reference/graphql/mutations",
      "reference/graphql/functions",
      "reference/graphql/documents",
      "reference/graphql/introspection",
      "reference/graphql/http",
      "reference/graphql/websocket",
      "reference/graphql/authentication",
      "reference/graphql/session-variables",
      "reference/graphql/permissions",
      "reference/graphql/metadata",
      "reference/graphql/errors",
      "reference/graphql/left-out",
      "reference/graphql/conformance",
      "reference/graphql/example-sdl",
    ],
  },
  {
    text: "Project",
    pages: [
      "design",
      "design/how-a-request-flows",
      "design/how-to-add",
      "design/house-rules",
      "design/package-facts",
      "map",
      "glossary",
      "benchmark",
      "scale",
      "reliability",
    ],
  },
];

/** Their names in the sidebar, where the heading of the page says too much. */
const SHORT: Readonly<Record<string, string>> = {
  "reference/rest": "Chapters",
  "reference/graphql": "Chapters",
  "guides/move-from-postgrest": "From PostgREST",
  "guides/move-from-hasura": "From Hasura",
  "guides/move-from-postgraphile": "From PostGraphile",
  "features/transactions": "Transactions",
  "recipes/row-level-security": "Row-level security",
  "recipes/tokens": "Auth0, Clerk, Supabase",
};

/** The heading without the name of the contract, which the section of the sidebar has. */
const headingOf = (page: string): string =>
  /^# (.+)$/m
    .exec(readFileSync(`${docs}${page}.md`, "utf8"))?.[1]
    ?.replaceAll("`", "")
    .replace(/^(?:REST|GraphQL): (.)/, (_, first: string) => first.toUpperCase()) ?? page;

const titleOf = (page: string): string => SHORT[page] ?? headingOf(page);

const listed = new Set(sections.flatMap(({ pages }) => pages));
const unlisted = ["features", "recipes", "guides", "reference", "reference/rest", "reference/graphql", "design", ""]
  .flatMap((folder) => readdirSync(docs + folder).map((name) => (folder === "" ? name : `${folder}/${name}`)))
  .filter((path) => path.endsWith(".md") && path !== "README.md" && !listed.has(path.slice(0, -".md".length)));
if (unlisted.length > 0) throw new Error(`not in the sidebar (docs/site/.vitepress/pages.mts): ${unlisted.join(", ")}`);

export const sidebar = sections.map(({ text, isClosed = false, pages }) => ({
  text,
  collapsed: isClosed,
  items: pages.map((page) => ({ text: titleOf(page), link: `/${page}` })),
}));
