/** Builds the front page, which also works without its script. The script copies requests and inserts the origin of the
 *  browser. */
import { DOCUMENT_STYLE } from "../../shared/page-style.ts";
import { escapeHtml, type Page } from "../../shared/pages.ts";
import { buildLiveDemo, LIVE_DEMO_SCRIPT, LIVE_DEMO_STYLE, type LiveDemo } from "./live-demo.ts";
import type { CredentialKind, ExampleRequest } from "./requests.ts";

/** A table or view. */
interface RelationLink {
  readonly name: string;
  /** The path of its rows, or of its requests on the OpenAPI page, from the root of the server. */
  readonly path: string | undefined;
  readonly comment: string;
}

/** The first relations of a schema that anonymous callers may read. */
export interface RelationList {
  readonly schema: string;
  /** True if requests name the schema in a header. */
  readonly needsHeader: boolean;
  readonly relations: readonly RelationLink[];
  /** The number of relations that are not in `relations`. */
  readonly omittedCount: number;
}

/** The part of the page about a surface. */
export interface Card {
  /** The name of the surface. */
  readonly title: string;
  readonly description: string;
  /** The URL of the surface. */
  readonly url: string;
  /** The page on which the surface can be tried. */
  readonly link?: { readonly text: string; readonly path: string };
  /** The access of anonymous callers: they may read something, may read nothing, or may not call the surface. */
  readonly anonymousAccess: "open" | "empty" | "rejected";
  /** The requests to copy. The first one is visible, and the others are folded. */
  readonly requests: readonly ExampleRequest[];
  readonly relationLists?: readonly RelationList[];
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
  /** True if a webhook reads the credentials of callers. */
  readonly hasAuthHook: boolean;
  readonly cards: readonly Card[];
  readonly liveDemo: LiveDemo | undefined;
}

/** Marks the origin, so that the script can replace it with the browser's origin. */
const markOrigin = (text: string, origin: string): string =>
  text
    .split(origin)
    .map(escapeHtml)
    .join(`<span data-origin>${escapeHtml(origin)}</span>`);

const STYLE = `${DOCUMENT_STYLE}
.note { background: var(--note); border: 1px solid var(--note-line); border-radius: 12px; padding: 1.35rem 1.5rem; margin-top: 1.25rem; }
.note pre { margin: .6rem 0 0; }
.top { display: flex; flex-wrap: wrap; gap: .75rem 1.5rem; align-items: flex-start; justify-content: space-between; }
.top > div { flex: 1 1 18rem; min-width: 0; }
.address { margin-top: .75rem; }
.request { position: relative; margin-top: .75rem; }
.request pre { padding: .9rem 5rem .9rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px; }
.request button { position: absolute; top: .55rem; right: .55rem; padding: .2rem .7rem; border-radius: 6px; background: var(--card); color: var(--quiet); font-size: .8rem; }
.request button:hover { color: var(--text); }
@media (max-width: 34rem) { section { padding-inline: 1.1rem; } .request pre { padding: 2.6rem 1rem .9rem; } }
details { margin-top: .6rem; }
summary { color: var(--quiet); font-size: .95rem; }
h3 { margin: 1.25rem 0 0; font-size: 1rem; }
.relations { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(17rem, 100%), 1fr)); gap: .3rem 1.5rem; margin: .4rem 0 0; padding: 0; list-style: none; font-size: .9rem; }
.relations li { min-width: 0; overflow-wrap: anywhere; }
.relations li > * { unicode-bidi: isolate; }
footer { margin-top: 1.25rem; color: var(--quiet); font-size: .85rem; text-align: center; }
`;

/** The script of the page, which runs in the browser. */
const SCRIPT = `
for (const element of document.querySelectorAll("[data-origin]")) element.textContent = location.origin;
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
const buildNote = ({ cards, credentialKind, hasAuthHook }: PageContent): string => {
  if (cards.length === 0) return `<div class="note"><p>No API is served here.</p></div>`;
  if (cards.some(({ anonymousAccess }) => anonymousAccess === "open")) return "";
  const isClosed = cards.every(({ anonymousAccess }) => anonymousAccess === "rejected");
  const reason = isClosed
    ? "Requests need a credential."
    : "Requests without a credential see no table: there is none yet, or the anonymous role has no right to read one.";
  if (credentialKind === undefined && hasAuthHook)
    return `<div class="note"><p>${reason} A webhook reads it from the headers of a request.</p></div>`;
  if (credentialKind === undefined)
    return `<div class="note"><p>${reason}${isClosed ? " The server accepts none yet: set <code>ANON_ROLE</code>, <code>JWT_SECRET</code> or <code>ADMIN_SECRET</code>." : ""}</p></div>`;
  return `<div class="note"><p>${reason} Send one in this header; the pages below have a field for it:</p><pre><code>${CREDENTIAL_HEADERS[credentialKind]}</code></pre></div>`;
};

const buildRequest = ({ text }: ExampleRequest, { origin }: PageContent): string =>
  `<div class="request"><pre><code>${markOrigin(text, origin)}</code></pre><button type="button" hidden>Copy</button></div>`;

const buildRelation = ({ name, path, comment }: RelationLink): string => {
  const code = `<code>${escapeHtml(name)}</code>`;
  const link = path === undefined ? code : `<a href="${escapeHtml(path)}">${code}</a>`;
  return `<li>${link} <span class="quiet">${escapeHtml(comment)}</span></li>`;
};

const buildRelations = ({ schema, needsHeader, relations, omittedCount }: RelationList): string => {
  const head = needsHeader
    ? `<h3>Tables and views of ${escapeHtml(schema)}</h3>\n<p class="quiet">Requests need the header <code>Accept-Profile: ${escapeHtml(schema)}</code>.</p>`
    : "<h3>Tables and views</h3>";
  const items = [
    ...relations.map(buildRelation),
    ...(omittedCount === 0 ? [] : [`<li class="quiet">and ${omittedCount} more</li>`]),
  ];
  return `${head}\n<ul class="relations">\n${items.join("\n")}\n</ul>`;
};

const buildCard = (card: Card, content: PageContent): string => {
  const { title, description, url, link, requests, relationLists = [] } = card;
  const [first, ...foldedRequests] = requests;
  return `<section>
<div class="top">
<div><h2>${escapeHtml(title)}</h2><p class="quiet">${escapeHtml(description)}</p></div>
${link === undefined ? "" : `<a class="button" href="${escapeHtml(link.path)}">${escapeHtml(link.text)}</a>`}
</div>
<p class="address"><code>${markOrigin(url, content.origin)}</code></p>
${first === undefined ? "" : buildRequest(first, content)}
${foldedRequests.map((request) => `<details><summary>${escapeHtml(request.client)}</summary>${buildRequest(request, content)}</details>`).join("\n")}
${relationLists.map(buildRelations).join("\n")}
</section>`;
};

/** Builds a page that loads nothing, and in which only the page's own script can run. The script sends requests only if
 *  the page has the live demo. */
export const buildPage = (content: PageContent, nonce: string): Page => {
  const { heading, server, version, cards, liveDemo } = content;
  return {
    title: heading,
    head: '<meta name="robots" content="noindex">\n<link rel="icon" href="data:,">',
    style: liveDemo === undefined ? STYLE : STYLE + LIVE_DEMO_STYLE,
    body: `<main>
<header>
<h1>${escapeHtml(heading)}</h1>
<p class="quiet">${escapeHtml(server)}</p>
</header>
${buildNote(content)}
${cards.map((card) => buildCard(card, content)).join("\n")}
${liveDemo === undefined ? "" : buildLiveDemo(liveDemo)}
<footer>relapi ${escapeHtml(version)}</footer>
</main>
<script type="module" nonce="${nonce}">${SCRIPT}${liveDemo === undefined ? "" : LIVE_DEMO_SCRIPT}</script>`,
    ...(liveDemo === undefined ? {} : { sources: { "connect-src": "'self'" } }),
  };
};
