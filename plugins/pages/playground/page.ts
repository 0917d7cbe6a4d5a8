/** Builds the page that loads the bundle, with a content security policy that allows nothing else. */
import { encodeInlineJson, type Page } from "../../shared/pages.ts";

/** Returns the WebSocket sources of the host, because old browsers do not include them in 'self'. */
const buildSocketSources = (host: string | undefined): string =>
  host !== undefined && /^[A-Za-z0-9.\-[\]:]+$/.test(host) ? ` ws://${host} wss://${host}` : "";

/** On narrow screens the response is below the editors, without the bar that changes their widths. */
const STYLE = `
html, body, #playground { height: 100%; }
@media (max-width: 44rem) {
  #graphiql-session { flex-direction: column; }
  #graphiql-session > .graphiql-horizontal-drag-bar { display: none; }
  #graphiql-session > * { min-height: 0; }
}
`;

/** Builds the page. `assets` is the folder of the files relative to the page, which is correct under any mount. Editors
 *  add inline styles, and load their font and workers from the same folder. */
export const buildPage = (assets: string, host: string | undefined, nonce: string): Page => ({
  title: "GraphQL playground",
  head: `<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/main.css">`,
  style: STYLE,
  body: `<div id="playground">Loading …</div>
<noscript>The playground needs JavaScript. Requests are sent with POST to this address.</noscript>
<script type="application/json" id="config">${encodeInlineJson({ assets })}</script>
<script type="module" nonce="${nonce}" src="${assets}/main.js"></script>`,
  sources: {
    "script-src": `'nonce-${nonce}' 'self'`,
    "worker-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "font-src": "'self' data:",
    "img-src": "'self' data:",
    "connect-src": `'self'${buildSocketSources(host)}`,
  },
});
