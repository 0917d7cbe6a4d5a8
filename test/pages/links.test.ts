/** Checks the links of the project's pages by GitHub's rules: the file and the heading exist. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { slugify } from "../support/pages/slug.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const isElsewhere = /node_modules|\/(?:api|dist|\.cache|\.temp)\//;

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".md") && !isElsewhere.test(name)),
];

const withoutCode = (page: string): string => page.replaceAll(/^```[\s\S]*?^```$/gm, "");

/** The anchor of each heading. The second of two equal headings ends in `-1`. */
const listAnchors = (page: string): ReadonlySet<string> => {
  const counts = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutCode(page).matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = slugify(heading.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, "$1"));
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
};

const listLinks = (page: string): readonly string[] =>
  Array.from(
    withoutCode(page)
      .replaceAll(/`[^`\n]*`/g, "")
      .matchAll(/\]\(([^)\s]+)\)/g),
    ([, href = ""]) => href,
  ).filter((href) => !/^[a-z]+:/.test(href));

test("the list of pages and their links is not empty", () => {
  expect(pages).toEqual(expect.arrayContaining(["README.md", "docs/design.md"]));
  expect(listLinks(readFileSync(`${root}README.md`, "utf8"))).not.toEqual([]);
});

test.each(pages)("the links of %s lead to existing files and headings", (page) => {
  const dead = listLinks(readFileSync(root + page, "utf8")).filter((href) => {
    const [path = "", anchor] = href.split("#");
    const file = path === "" ? root + page : join(dirname(root + page), path);
    if (!existsSync(file)) return true;
    if (anchor === undefined || statSync(file).isDirectory() || !file.endsWith(".md")) return false;
    return !listAnchors(readFileSync(file, "utf8")).has(anchor);
  });
  expect(dead).toEqual([]);
});
