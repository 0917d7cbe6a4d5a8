/** Builds the live demo of the front page: one pane shows the rows of a live query, and the other pane edits a row. The
 *  demo sends nothing before a button is pressed. @rule X-PAGE-8 */
import { encodeInlineJson, escapeHtml } from "../../shared/pages.ts";
import type { CredentialKind } from "./requests.ts";

/** The requests of a demo on REST. */
interface RestDemo {
  readonly surface: "rest";
  /** The path of the rows, from the root of the server. */
  readonly path: string;
  /** The path of the relation, from the root of the server. */
  readonly relationPath: string;
}

/** The requests of a demo on GraphQL. */
interface GraphqlDemo {
  readonly surface: "graphql";
  /** The path of the surface, from the root of the server. */
  readonly path: string;
  readonly subscription: string;
  /** Sets the column to `$text` in the row with the key `$key`. */
  readonly mutation: string;
}

/** The live query of the demo, and the row that it edits. */
export type LiveDemo = (RestDemo | GraphqlDemo) & {
  readonly key: string;
  readonly column: string;
  /** True if callers without a credential may change the column. */
  readonly mayUpdate: boolean;
  readonly credentialKind: CredentialKind | undefined;
};

/** The CSS rules of the demo. */
export const LIVE_DEMO_STYLE = `
.panes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: 1.25rem; margin-top: 1rem; }
.panes > * { min-width: 0; }
.panes h3 { margin: 0 0 .5rem; font-size: 1rem; }
fieldset { margin: 0; padding: 0; border: 0; min-width: 0; display: grid; gap: .6rem; justify-items: start; }
fieldset:disabled { opacity: .55; }
label { display: grid; gap: .15rem; width: 100%; font-size: .9rem; color: var(--quiet); }
label > * { width: 100%; color: var(--text); }
.panes p, .panes .scroll { margin-top: .75rem; font-size: .9rem; overflow-wrap: anywhere; }
.panes table { overflow-wrap: break-word; }
.panes pre { margin-top: .75rem; }
.error { color: var(--error); }
tr.changed td { background: var(--note); }
`;

const CREDENTIALS: Readonly<Record<CredentialKind, readonly [label: string, header: string, prefix: string]>> = {
  token: ["Token (JSON Web Token)", "Authorization", "Bearer "],
  "admin-secret": ["Admin secret", "X-Session-Admin-Secret", ""],
};

/** The script of the demo, which runs in the browser after the page's own script. */
export const LIVE_DEMO_SCRIPT = `
const demo = JSON.parse(document.getElementById("demo").textContent);
const getElement = (id) => document.getElementById(id);
const [watch, form, fields, row, text, secret, outcome, state, table] =
  ["watch", "edit", "fields", "row", "text", "secret", "outcome", "state", "rows"].map(getElement);
const showStatus = (element, message, isError) => { element.textContent = message; element.classList.toggle("error", isError); };
const readErrorText = (body) => {
  try {
    const content = JSON.parse(body);
    const { message, details, hint, code, extensions } = content.errors?.[0] ?? content;
    const reason = code ?? extensions?.code;
    return [message + (reason ? " (" + reason + ")" : ""), details, hint].filter(Boolean).join(". ");
  } catch { return body; }
};
const isObject = (part) => part !== null && typeof part === "object";
const findRows = (part) => Array.isArray(part) || !isObject(part) || part.errors ? part : findRows(Object.values(part)[0]);
const findRow = (part) => !isObject(part) || demo.key in part ? part : findRow(Object.values(part)[0]);

let rows = [];
const hasRoundedKey = (one) => typeof one[demo.key] === "number" && !Number.isSafeInteger(one[demo.key]);
const findSelectedRow = () => rows.find((one) => String(one[demo.key]) === row.value);
const select = () => { text.value = findSelectedRow()?.[demo.column] ?? ""; };
const buildCell = (content) => { const element = document.createElement("td"); element.textContent = content ?? "null"; return element; };
const show = (next, isFirst) => {
  table.tBodies[0].replaceChildren(...next.map((one) => {
    const line = document.createElement("tr");
    line.append(buildCell(one[demo.key]), buildCell(one[demo.column]));
    const before = rows.find((old) => old[demo.key] === one[demo.key]);
    line.classList.toggle("changed", !isFirst && before?.[demo.column] !== one[demo.column]);
    return line;
  }));
  table.hidden = false;
  rows = next;
  const before = row.value;
  row.replaceChildren(...rows.map((one) => new Option(one[demo.key] + ": " + (one[demo.column] ?? "null"), one[demo.key])));
  row.value = before;
  if (isFirst || row.value === "") {
    row.selectedIndex = 0;
    select();
  }
  fields.disabled = rows.length === 0 || rows.some(hasRoundedKey);
};

const buildJsonRequest = (method, content, headers) =>
  ({ method, headers: { "Content-Type": "application/json", ...headers }, body: JSON.stringify(content) });
const watchRows = async (signal, onData) => {
  const Accept = "text/event-stream";
  const request = demo.subscription ? buildJsonRequest("POST", { query: demo.subscription }, { Accept }) : { headers: { Accept } };
  const answer = await fetch(demo.path, { ...request, signal });
  if (!answer.headers.get("Content-Type")?.startsWith(Accept)) throw new Error(readErrorText(await answer.text()));
  let received = "";
  for (const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) throw new Error("The live query has ended.");
    const events = (received + value).split("\\n\\n");
    received = events.pop();
    for (const event of events) {
      const data = [...event.matchAll(/^data: (.*)$/gm)].map(([, line]) => line).join("\\n");
      if (data) onData(data);
    }
  }
};

let running;
const stop = (message, isError) => {
  running?.abort();
  running = undefined;
  watch.textContent = "Start the live query";
  fields.disabled = true;
  showStatus(state, message, isError);
};
watch.addEventListener("click", async () => {
  if (running) return stop("Stopped.", false);
  let results = 0;
  const own = running = new AbortController();
  watch.textContent = "Stop";
  showStatus(state, "Waiting for the first result.", false);
  try {
    await watchRows(own.signal, (data) => {
      const next = findRows(JSON.parse(data));
      if (!Array.isArray(next)) return showStatus(state, readErrorText(data), true);
      show(next, results++ === 0);
      const time = new Date().toLocaleTimeString();
      const rounded = next.some(hasRoundedKey) ? " Its keys are too large for a browser, so it cannot be edited here." : "";
      const empty = next.length === 0 ? " It has no rows." : "";
      showStatus(state, "Result " + results + " arrived at " + time + "." + empty + rounded, false);
    });
  } catch (error) { if (running === own) stop(error.message, true); }
});

row.addEventListener("change", select);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  showStatus(outcome, "Saving.", false);
  const headers = secret?.value ? { [demo.header]: demo.prefix + secret.value } : {};
  const key = findSelectedRow()[demo.key];
  const [url, request] = demo.mutation
    ? [demo.path, buildJsonRequest("POST", { query: demo.mutation, variables: { key, text: text.value } }, headers)]
    : [
        demo.relationPath + "?" + demo.key + "=eq." + encodeURIComponent(key) + "&select=" + demo.key,
        buildJsonRequest("PATCH", { [demo.column]: text.value }, { Prefer: "return=representation", ...headers }),
      ];
  try {
    const answer = await fetch(url, request);
    const body = await answer.text();
    if (!answer.ok) return showStatus(outcome, answer.status + ": " + readErrorText(body), true);
    const content = JSON.parse(body);
    if (content.errors) return showStatus(outcome, readErrorText(body), true);
    const isChanged = isObject(findRow(content));
    showStatus(outcome, isChanged ? "Saved." : "No row was changed: a row policy does not allow it.", !isChanged);
  } catch (error) { showStatus(outcome, String(error.message), true); }
});
getElement("live").hidden = false;
`;

/** Returns a hint for readers who may not change rows without a credential. */
const buildAdvice = ({ mayUpdate, credentialKind }: LiveDemo): string => {
  if (mayUpdate) return "";
  return credentialKind === undefined
    ? `<p class="quiet">Callers without a credential may not change this table, so the server rejects changes. If <code>ADMIN_SECRET</code> or <code>JWT_SECRET</code> is set, this form asks for a credential.</p>`
    : `<p class="quiet">Callers without a credential may not change this table. What you enter is sent with the change, and is not stored.</p>`;
};

/** Returns the requests that the panes show. */
const describeRequests = (demo: LiveDemo): { readonly watch: string; readonly edit: string } => {
  if (demo.surface === "graphql")
    return {
      watch: `<pre><code>${escapeHtml(demo.subscription)}</code></pre>`,
      edit: `<pre><code>${escapeHtml(demo.mutation)}</code></pre>`,
    };
  return {
    watch: `<p><code>GET ${escapeHtml(demo.path)}</code></p>`,
    edit: `<p><code>PATCH ${escapeHtml(`${demo.relationPath}?${demo.key}=eq.…`)}</code></p>`,
  };
};

/** Builds the HTML of the demo. */
export const buildLiveDemo = (demo: LiveDemo): string => {
  const { key, column, mayUpdate, credentialKind, surface: _surface, ...requests } = demo;
  const [label, header, prefix] = CREDENTIALS[credentialKind ?? "token"];
  const secretField =
    mayUpdate || credentialKind === undefined
      ? ""
      : `<label>${label}<input id="secret" type="password" autocomplete="off"></label>`;
  const { watch, edit } = describeRequests(demo);
  return `<section id="live" hidden>
<h2>Live query</h2><p class="quiet">Start the query, then save a row: the new result arrives by itself.</p>
<div class="panes">
<div><h3>Watch rows</h3><button class="button" id="watch" type="button">Start the live query</button>
${watch}<p id="state" role="status"></p>
<div class="scroll"><table id="rows" hidden><thead><tr><th>${escapeHtml(key)}</th><th>${escapeHtml(column)}</th></tr></thead><tbody></tbody></table></div></div>
<form id="edit"><h3>Edit a row</h3><fieldset id="fields" disabled>
<label>Row<select id="row"></select></label>
<label>${escapeHtml(column)}<input id="text" autocomplete="off"></label>
${secretField}<button>Save</button></fieldset>
${edit}
<p id="outcome" role="status"></p>${buildAdvice(demo)}</form>
</div>
<script type="application/json" id="demo">${encodeInlineJson({ ...requests, key, column, header, prefix })}</script>
</section>`;
};
