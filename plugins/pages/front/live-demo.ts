/** The part of the page in which a live query shows rows on one side, and a row is edited on the other side. It sends
 *  nothing before a button is pressed. @rule X-PAGE-8 */
import { encodeInlineJson, escapeHtml } from "../../shared/pages.ts";
import type { CredentialKind } from "./requests.ts";

export interface LiveDemo {
  /** The path of the rows, from the root of the server. */
  readonly path: string;
  /** The path of the relation, from the root of the server. */
  readonly relationPath: string;
  readonly key: string;
  readonly column: string;
  /** Whether callers without a credential may change the column. */
  readonly mayUpdate: boolean;
  readonly credentialKind: CredentialKind | undefined;
}

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
.fault { color: var(--fault); }
tr.changed td { background: var(--note); }
`;

const CREDENTIALS: Readonly<Record<CredentialKind, readonly [label: string, header: string, prefix: string]>> = {
  token: ["Token (JSON Web Token)", "Authorization", "Bearer "],
  "admin-secret": ["Admin secret", "X-Session-Admin-Secret", ""],
};

/** The script of the demo, which runs in the browser after the page's own script. */
export const LIVE_DEMO_SCRIPT = `
const demo = JSON.parse(document.getElementById("demo").textContent);
const byId = (id) => document.getElementById(id);
const [watch, form, fields, row, text, secret, outcome, state, table] =
  ["watch", "edit", "fields", "row", "text", "secret", "outcome", "state", "rows"].map(byId);
const say = (place, message, isFault) => { place.textContent = message; place.classList.toggle("fault", isFault); };
const faultOf = (body) => {
  try {
    const { message, details, hint, code } = JSON.parse(body);
    return [message + (code ? " (" + code + ")" : ""), details, hint].filter(Boolean).join(". ");
  } catch { return body; }
};

let rows = [];
const select = () => { text.value = rows.find((one) => one[demo.key] === row.value)?.[demo.column] ?? ""; };
const cell = (content) => { const made = document.createElement("td"); made.textContent = content ?? "null"; return made; };
const show = (next, isFirst) => {
  table.tBodies[0].replaceChildren(...next.map((one) => {
    const line = document.createElement("tr");
    line.append(cell(one[demo.key]), cell(one[demo.column]));
    const before = rows.find((old) => old[demo.key] === one[demo.key]);
    line.classList.toggle("changed", !isFirst && before?.[demo.column] !== one[demo.column]);
    return line;
  }));
  table.hidden = false;
  rows = next;
  const chosen = row.value;
  row.replaceChildren(...rows.map((one) => new Option(one[demo.key] + ": " + (one[demo.column] ?? "null"), one[demo.key])));
  if (rows.some((one) => one[demo.key] === chosen)) row.value = chosen; else select();
  if (isFirst) select();
  fields.disabled = rows.length === 0;
};

let source;
const stop = (message, isFault) => {
  source?.close();
  source = undefined;
  watch.textContent = "Start the live query";
  fields.disabled = true;
  say(state, message, isFault);
};
watch.addEventListener("click", () => {
  if (source) return stop("Stopped.", false);
  let results = 0;
  const own = source = new EventSource(demo.path);
  watch.textContent = "Stop";
  say(state, "Waiting for the first result.", false);
  own.onmessage = ({ data }) => {
    show(JSON.parse(data), results++ === 0);
    say(state, "Result " + results + " arrived at " + new Date().toLocaleTimeString() + ".", false);
  };
  own.addEventListener("failure", ({ data }) => say(state, faultOf(data), true));
  own.onerror = async () => {
    if (own.readyState !== EventSource.CLOSED) return say(state, "The connection was lost. Connecting again.", true);
    // the browser does not say why it was refused, so the same rows are requested once more
    const answer = await fetch(demo.path).catch((error) => error);
    if (source === own) stop(answer.ok === false ? faultOf(await answer.text()) : "The live query has ended.", true);
  };
});

row.addEventListener("change", select);
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  say(outcome, "Saving.", false);
  const url = demo.relationPath + "?" + demo.key + "=eq." + encodeURIComponent(row.value) + "&select=" + demo.key;
  const headers = { "Content-Type": "application/json", Prefer: "return=representation" };
  if (secret?.value) headers[demo.header] = demo.prefix + secret.value;
  try {
    const answer = await fetch(url, { method: "PATCH", headers, body: JSON.stringify({ [demo.column]: text.value }) });
    const body = await answer.text();
    if (!answer.ok) return say(outcome, answer.status + ": " + faultOf(body), true);
    const isChanged = JSON.parse(body).length > 0;
    say(outcome, isChanged ? "Saved." : "No row was changed: a row policy does not allow it.", !isChanged);
  } catch (error) { say(outcome, String(error.message), true); }
});
byId("live").hidden = false;
`;

/** Returns the advice to readers who may not change rows without a credential. */
const buildAdvice = ({ mayUpdate, credentialKind }: LiveDemo): string => {
  if (mayUpdate) return "";
  return credentialKind === undefined
    ? `<p class="quiet">Callers without a credential may not change this table, so the server refuses to save. If <code>ADMIN_SECRET</code> or <code>JWT_SECRET</code> is set, this form asks for a credential.</p>`
    : `<p class="quiet">Callers without a credential may not change this table. What you enter is sent with the change, and is not stored.</p>`;
};

export const buildLiveDemo = (demo: LiveDemo): string => {
  const { path, relationPath, key, column, mayUpdate, credentialKind } = demo;
  const [label, header, prefix] = CREDENTIALS[credentialKind ?? "token"];
  const secretField =
    mayUpdate || credentialKind === undefined
      ? ""
      : `<label>${label}<input id="secret" type="password" autocomplete="off"></label>`;
  return `<section id="live" hidden>
<h2>Live query</h2><p class="quiet">Start the query, then save a row: the new result arrives by itself.</p>
<div class="panes">
<div><h3>Watch rows</h3><button class="button" id="watch" type="button">Start the live query</button>
<p><code>GET ${escapeHtml(path)}</code></p><p id="state" role="status"></p>
<div class="scroll"><table id="rows" hidden><thead><tr><th>${escapeHtml(key)}</th><th>${escapeHtml(column)}</th></tr></thead><tbody></tbody></table></div></div>
<form id="edit"><h3>Edit a row</h3><fieldset id="fields" disabled>
<label>Row<select id="row"></select></label>
<label>${escapeHtml(column)}<input id="text" autocomplete="off"></label>
${secretField}<button>Save</button></fieldset>
<p><code>PATCH ${escapeHtml(relationPath)}?${escapeHtml(key)}=eq.…</code></p>
<p id="outcome" role="status"></p>${buildAdvice(demo)}</form>
</div>
<script type="application/json" id="demo">${encodeInlineJson({ path, relationPath, key, column, header, prefix })}</script>
</section>`;
};
