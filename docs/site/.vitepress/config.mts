/** The site of `docs/`: `npm run docs` in the project's folder. It asks no other host for anything. */
import { cpSync, existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { extendMarkdown } from "./markdown.mts";
import { sidebar } from "./pages.mts";
import { slugify } from "../../../test/support/pages/slug.ts";

const ICON = `data:image/svg+xml,${encodeURIComponent(
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><rect width='32' height='32' rx='7' fill='#2b74c4'/>" +
    "<path d='M9 16h6m0 0c4 0 3-6 8-6m-8 6c4 0 3 6 8 6' fill='none' stroke='#fff' stroke-width='2.6'/></svg>",
)}`;

const here = fileURLToPath(import.meta.url);

/** The reference of the TypeScript API, where `npm run docs:api` has built it. */
const reference = fileURLToPath(new URL("../../api", import.meta.url));
const hasReference = existsSync(reference);

export default defineConfig({
  title: "relapi",
  description: "A REST and a GraphQL API for a PostgreSQL database, from one server",
  lang: "en",
  head: [["link", { rel: "icon", href: ICON }]],
  srcDir: "..",
  srcExclude: ["site/**", "typedoc/**", "openapi-typescript/**", "api/**", "**/node_modules/**"],
  outDir: "dist",
  cacheDir: ".cache",
  rewrites: { "README.md": "index.md" },
  cleanUrls: false,
  metaChunk: true,
  markdown: {
    anchor: { slugify },
    toc: { slugify },
    config: extendMarkdown,
    theme: { light: "github-light", dark: "github-dark" },
  },
  vite: {
    plugins: [
      {
        // the pages lie outside of this folder, and what they are compiled to imports Vue
        name: "vue-of-this-folder",
        enforce: "pre",
        resolveId(source, _importer, { ssr = false }) {
          if (!/^vue(?:\/|$)/.test(source)) return undefined;
          return ssr ? { id: source, external: true } : this.resolve(source, here, { skipSelf: true });
        },
      },
    ],
  },
  transformPageData: ({ relativePath, frontmatter }) => {
    if (relativePath === "index.md")
      Object.assign(frontmatter, { sidebar: false, aside: false, pageClass: "home wide" });
    // the last of these would have outlines of a hundred lines
    else if (/^(?:features|recipes)\/|^guides\/move-from-|^reference\/(?!hooks)/.test(relativePath))
      Object.assign(frontmatter, { aside: false, pageClass: "wide" });
  },
  buildEnd: ({ outDir }) => {
    if (hasReference) cpSync(reference, `${outDir}/api`, { recursive: true });
  },
  themeConfig: {
    search: { provider: "local" },
    nav: [
      { text: "Features", link: "/features/columns" },
      { text: "Guides", link: "/guides/mount-in-your-server" },
      { text: "Reference", link: "/reference/settings" },
      ...(hasReference ? [{ text: "TypeScript", link: "/api/index.html", target: "_self" }] : []),
    ],
    sidebar,
    outline: { level: [2, 3] },
    docFooter: { prev: "Previous", next: "Next" },
  },
});
