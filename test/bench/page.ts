/**
 * `npm run bench:page -- FILE…`: makes the tables of docs/benchmark.md and its chart from the figures of `npm run bench
 * -- --json FILE`: one file, or one for each `--only` of the same commit.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { BenchResult, BenchRow, BenchTable } from "./bench.ts";
import { BARE, BARE_EXPRESS, BARE_ROLE } from "./contestants.ts";

const results = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")) as BenchResult);
const [result] = results;
if (result === undefined) throw new Error("usage: npm run bench:page -- FILE…");
if (results.some(({ commit }) => commit !== result.commit)) throw new Error("the files are of different commits");
/** The tables by name, each with its last measurement. */
const tables = [
  ...new Map(results.flatMap((benchResult) => benchResult.tables).map((table) => [table.name, table])).values(),
];
const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));

const HEADS: Readonly<Record<string, string>> = {
  [BARE]: "of bare",
  [BARE_ROLE]: "of bare with role",
  [BARE_EXPRESS]: "of bare in Express",
  rest: "of anonymous",
};

const formatShare = ({ shares }: BenchRow, id: string): string => {
  const [middle, low, high] = shares[id] ?? [Number.NaN, Number.NaN, Number.NaN];
  return `${middle.toFixed(2)} <small>${low.toFixed(2)}–${high.toFixed(2)}</small>`;
};

const formatTable = ({ name, rows }: BenchTable): string => {
  const references = Object.keys(rows[0]?.shares ?? {});
  const heads = [name, "requests/s", ...references.map((id) => HEADS[id] ?? id), "CPU µs", "p99 ms"];
  const lines = rows.map((row) => [
    row.label,
    row.perSecond.toFixed(0),
    ...references.map((id) => formatShare(row, id)),
    row.cpu.toFixed(0),
    row.p99.toFixed(1),
  ]);
  return [heads, heads.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
};

const BAR = 16;
const LABELS = 300;
const WIDTH = 460;

const escape = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

/** The bars of each table: requests per second as a share of the bare handler's. */
const chart = (tables: readonly BenchTable[]): string => {
  const chartTables = tables.filter(({ rows }) => rows.some(({ id }) => id === BARE));
  const share = ({ shares }: BenchRow): number => shares[BARE]?.[0] ?? 0;
  const longest = Math.max(...chartTables.flatMap(({ rows }) => rows.map(share)));
  const lines: string[] = [];
  let y = 0;
  for (const { name, rows } of chartTables) {
    y += 30;
    lines.push(`<text class="name" x="0" y="${y}">${escape(name)}</text>`);
    y += 10;
    for (const row of rows) {
      const length = (share(row) / longest) * WIDTH;
      const kind = row.label.startsWith("relapi") ? "own" : "other";
      lines.push(
        `<text x="${LABELS - 8}" y="${y + 12}" text-anchor="end">${escape(row.label)}</text>`,
        `<rect class="${kind}" x="${LABELS}" y="${y}" width="${length.toFixed(1)}" height="${BAR - 4}"/>`,
        `<text x="${(LABELS + length + 6).toFixed(1)}" y="${y + 11}">${share(row).toFixed(2)}</text>`,
      );
      y += BAR;
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LABELS + WIDTH + 50} ${y + 10}" font-family="system-ui, sans-serif" font-size="11">
<style>text{fill:#24292f}.name{font-weight:600;font-size:13px}.own{fill:#2f6feb}.other{fill:#9aa4b0}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}</style>
<title>Requests per second, as a share of a bare node:http and pg handler</title>
${lines.join("\n")}
</svg>
`;
};

const { date, commit, node, postgres, machine } = result;
const text = `<!-- made by npm run bench:page -->
Measured on ${date} at \`${commit}\`: Node ${node.slice(1)}, PostgreSQL ${postgres}, ${machine}.

![Requests per second as a share of a bare handler](images/benchmark.svg)

${tables.map(formatTable).join("\n\n")}
<!-- end -->`;

const path = `${docs}benchmark.md`;
const page = readFileSync(path, "utf8");
const newPage = page.replace(/<!-- made by npm run bench:page -->.*?<!-- end -->/s, () => text);
if (!newPage.includes(text)) throw new Error("docs/benchmark.md has no place for the figures");
writeFileSync(path, newPage);
writeFileSync(`${docs}images/benchmark.svg`, chart(tables));
