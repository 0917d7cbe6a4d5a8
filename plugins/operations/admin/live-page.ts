/** Shows live queries by plan and role, on a page that refreshes itself: `GET /live-queries`. The page contains no
 *  values of callers. @rule X-LQ-2 */
import type { PluginContext } from "../../../core/index.ts";
import { DOCUMENT_STYLE } from "../../shared/page-style.ts";
import { escapeHtml, type Page } from "../../shared/pages.ts";
import { chooseNoun } from "../../shared/plural.ts";
import { liveQueriesService, type PlanFigures } from "../../live/api.ts";

/** The largest number of plans on the page, which a browser still shows fast. */
const MAX_PLANS = 1000;

const formatNumber = (value: number): string => value.toLocaleString("en-US");

const formatMilliseconds = (value: number | undefined): string =>
  value === undefined ? "" : `${value < 10 ? value.toFixed(1) : formatNumber(Math.round(value))} ms`;

/** The heading, tooltip and cell of each column. */
const COLUMNS: readonly (readonly [head: string, title: string, cell: (plan: PlanFigures) => string])[] = [
  ["Subscribers", "connected subscribers", ({ subscribers }) => formatNumber(subscribers)],
  [
    "Queries",
    "different queries, each of which runs once for all its subscribers",
    ({ queries }) => formatNumber(queries),
  ],
  [
    "Cohorts",
    "groups that share a statement; in brackets, groups that different callers share",
    ({ cohorts, sharedCohorts }) => `${formatNumber(cohorts)} (${formatNumber(sharedCohorts)})`,
  ],
  ["Runs", "statements that ran", ({ runs }) => formatNumber(runs)],
  ["Rows", "results of queries in these statements", ({ rows }) => formatNumber(rows)],
  ["Sent", "results that were sent to subscribers", ({ deliveries }) => formatNumber(deliveries)],
  [
    "Skipped",
    "queries that did not run because a change concerned only others",
    ({ skipped }) => formatNumber(skipped),
  ],
  [
    "Lag",
    "time from the report of a change to its last result, in the last run",
    ({ lagMs }) => formatMilliseconds(lagMs),
  ],
];

const encodeRow = (plan: PlanFigures): string => {
  const statements = plan.statements.map((text) => `<pre>${escapeHtml(text)}</pre>`).join("");
  const name = `<details><summary><code>${escapeHtml(plan.planKey)}</code> ${escapeHtml(plan.relations.join(", "))}</summary>${statements}</details>`;
  const cells = COLUMNS.map(([, , cell]) => `<td class="n">${escapeHtml(cell(plan))}</td>`).join("");
  return `<tr><td>${name}</td><td>${escapeHtml(plan.role)}</td>${cells}</tr>`;
};

const formatTotals = (plans: readonly PlanFigures[]): string => {
  const count = (read: (plan: PlanFigures) => number, singular: string, plural?: string): string => {
    const sum = plans.reduce((total, plan) => total + read(plan), 0);
    return `${formatNumber(sum)} ${chooseNoun(sum, singular, plural)}`;
  };
  const subscribers = count((plan) => plan.subscribers, "subscriber");
  const queries = count((plan) => plan.queries, "query", "queries");
  return `${subscribers} of ${queries} in ${count((plan) => plan.cohorts, "cohort")}`;
};

/** The script that refreshes the page in the browser. It pauses while a statement is shown. */
const SCRIPT = `
setInterval(async () => {
  if (document.hidden || document.querySelector("details[open]")) return;
  const response = await fetch(location.href).catch(() => undefined);
  if (!response?.ok) return;
  const next = new DOMParser().parseFromString(await response.text(), "text/html");
  document.querySelector("main").replaceWith(next.querySelector("main"));
}, 2000);
`;

const STYLE = `${DOCUMENT_STYLE}
.scroll { margin-top: 1.25rem; }
th[title] { text-decoration: underline dotted; text-underline-offset: 0.2em; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
summary { min-width: 14rem; }
td pre { max-width: 60rem; font-size: 0.8rem; }
`;

const buildPage = (plans: readonly PlanFigures[], sourceLagMs: number, nonce: string): Page => ({
  title: "Live queries",
  style: STYLE,
  sources: { "connect-src": "'self'" },
  body: `<main class="wide">
<h1>Live queries</h1>
<p>${formatTotals(plans)}, by plan and role.${sourceLagMs > 0 ? ` The last change was noticed ${formatMilliseconds(sourceLagMs)} after its commit.` : ""} The numbers are from this process, since each cohort began.</p>
<div class="scroll"><table>
<thead><tr><th>Plan</th><th>Role</th>${COLUMNS.map(([head, title]) => `<th class="n" title="${escapeHtml(title)}">${head}</th>`).join("")}</tr></thead>
<tbody>
${plans.slice(0, MAX_PLANS).map(encodeRow).join("\n")}
</tbody>
</table></div>
${plans.length > MAX_PLANS ? `<p>And ${formatNumber(plans.length - MAX_PLANS)} more plans with fewer subscribers.</p>` : ""}
</main>
<script nonce="${nonce}">${SCRIPT}</script>`,
});

/** Returns the builder of the page, or undefined if no plugin has live queries. */
export const findLivePage = (context: PluginContext): ((nonce: string) => Page) | undefined => {
  const live = context.use(liveQueriesService);
  if (live === undefined) return undefined;
  return (nonce) => buildPage(live.plans(), context.counters.get("live-source-lag-seconds") * 1000, nonce);
};
