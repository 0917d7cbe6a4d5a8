/** Builds the page: plain HTML that works without its script. The script copies requests and inserts the origin of the
 *  browser. */
import { escapeHtml, type Page } from "../../shared/pages.ts";
import type { CredentialKind } from "./requests.ts";

export interface Card {
  readonly title: string;
  readonly about: string;
  /** The URL of the surface. */
  readonly url: string;
  /** The page on which the surface can be tried. */
  readonly link?: { readonly text: string; readonly path: string };
  /** The access of anonymous callers: they may read something, may read nothing, or may not call the surface. */
  readonly anonymousAccess: "open" | "nothing" | "secret";
  readonly request: string;
}

export interface PageContent {
  /** The first line of the schema's comment, or the name of the database. */
  readonly heading: string;
  /** The name and version of the server. */
  readonly server: string;
  /** The version of relapi. */
  readonly version: string;
  readonly origin: string;
  readonly credentialKind: CredentialKind | undefined;
  readonly cards: readonly Card[];
}

/** Marks the origin, so that the script can replace it with the browser's origin. */
const markOrigin = (text: string, origin: string): string =>
  text
    .split(origin)
    .map(escapeHtml)
    .join(`<span data-origin>${escapeHtml(origin)}</span>`);

const STYLE = `
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --text: #1a202c; --quiet: #5b6472; --line: #dfe3e9;
  --code: #f3f5f8; --accent: #1f5fd0; --accent-text: #fff; --note: #fff7e0; --note-line: #ecd391; }
@media (prefers-color-scheme: dark) { :root { --page: #12151b; --card: #1a1f28; --text: #e7eaf0; --quiet: #9aa4b3; --line: #2c3441;
  --code: #11151c; --accent: #7fb0ff; --accent-text: #0d1420; --note: #2a2415; --note-line: #57491f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.25rem 1.5rem; }
header { margin-bottom: 1.75rem; }
h1 { margin: 0; font-size: 2rem; line-height: 1.2; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 1.2rem; }
p { margin: 0; }
.quiet { color: var(--quiet); }
header p { margin-top: .35rem; }
section, .note { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.35rem 1.5rem 1.5rem; margin-bottom: 1.25rem; }
.note { background: var(--note); border-color: var(--note-line); padding-bottom: 1.35rem; }
.top { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: flex-start; justify-content: space-between; }
.top > div { flex: 1 1 18rem; min-width: 0; }
.address { margin-top: .75rem; }
code, pre { font: 13.5px/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
.button { display: inline-block; padding: .5rem 1rem; border-radius: 8px; background: var(--accent); color: var(--accent-text); font-weight: 600; font-size: .95rem; text-decoration: none; }
.button:hover { filter: brightness(1.08); }
.button:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.request { position: relative; margin-top: .75rem; }
.request pre { margin: 0; padding: .9rem 5rem .9rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; }
.request button { position: absolute; top: .55rem; right: .55rem; padding: .2rem .7rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); color: var(--quiet); font: inherit; font-size: .8rem; cursor: pointer; }
.request button:hover { color: var(--text); }
.note pre { margin: .6rem 0 0; white-space: pre-wrap; }
footer { color: var(--quiet); font-size: .85rem; text-align: center; }
`;

/** The script of the page, which runs in the browser. */
const SCRIPT = `
for (const place of document.querySelectorAll("[data-origin]")) place.textContent = location.origin;
if (navigator.clipboard) for (const request of document.querySelectorAll(".request")) {
  const button = request.querySelector("button");
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(request.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
`;

const CREDENTIAL_HEADERS: Readonly<Record<CredentialKind, string>> = {
  token: "Authorization: Bearer &lt;token&gt;",
  "admin-secret": "X-Session-Admin-Secret: &lt;secret&gt;",
};

/** Returns the hint at the top, which is empty if anonymous callers may read something. The hint names the header of
 *  the credential, or the settings to set if the server accepts no credentials. */
const buildNote = ({ cards, credentialKind }: PageContent): string => {
  if (cards.length === 0) return `<div class="note"><p>No API is served here.</p></div>`;
  if (cards.some(({ anonymousAccess }) => anonymousAccess === "open")) return "";
  const isClosed = cards.every(({ anonymousAccess }) => anonymousAccess === "secret");
  const what = isClosed
    ? "Requests need a credential."
    : "Requests without a credential see no table: the anonymous role has no right to read one.";
  if (credentialKind === undefined)
    return `<div class="note"><p>${what}${isClosed ? " The server is set up to take none yet: set <code>ANON_ROLE</code>, <code>JWT_SECRET</code> or <code>ADMIN_SECRET</code>." : ""}</p></div>`;
  return `<div class="note"><p>${what} Send one in this header; the pages below have a field for it:</p><pre><code>${CREDENTIAL_HEADERS[credentialKind]}</code></pre></div>`;
};

const buildCard = ({ title, about, url, link, request }: Card, { origin }: PageContent): string => `<section>
<div class="top">
<div><h2>${escapeHtml(title)}</h2><p class="quiet">${escapeHtml(about)}</p></div>
${link === undefined ? "" : `<a class="button" href="${escapeHtml(link.path)}">${escapeHtml(link.text)}</a>`}
</div>
<p class="address"><code>${markOrigin(url, origin)}</code></p>
<div class="request"><pre><code>${markOrigin(request, origin)}</code></pre><button type="button" hidden>Copy</button></div>
</section>`;

/** Builds a page that loads and sends nothing, and in which only the page's own script can run. */
export const buildPage = (content: PageContent, nonce: string): Page => ({
  title: content.heading,
  head: '<meta name="robots" content="noindex">\n<link rel="icon" href="data:,">',
  style: STYLE,
  body: `<main>
<header>
<h1>${escapeHtml(content.heading)}</h1>
<p class="quiet">${escapeHtml(content.server)}</p>
</header>
${buildNote(content)}
${content.cards.map((card) => buildCard(card, content)).join("\n")}
<footer>relapi ${escapeHtml(content.version)}</footer>
</main>
<script nonce="${nonce}">${SCRIPT}</script>`,
});
