/** The page itself: a frame for the bundle, with a policy that lets nothing else run. */
import { inlineJson } from "../../pages.ts";

/** `assets`: folder of the files, relative to the page, so that it holds under any mount. */
export const buildPage = (assets: string, nonce: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>GraphQL playground</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assets}/main.css">
<style nonce="${nonce}">html, body, #playground { height: 100%; margin: 0; }</style>
</head>
<body>
<div id="playground">Loading …</div>
<noscript>The playground needs JavaScript. Requests are sent with POST to this address.</noscript>
<script type="application/json" id="config">${inlineJson({ assets })}</script>
<script type="module" nonce="${nonce}" src="${assets}/main.js"></script>
</body>
</html>
`;

/** Old browsers do not count WebSockets of the same host to 'self'. */
const socketSources = (host: string | undefined): string =>
  host !== undefined && /^[A-Za-z0-9.\-[\]:]+$/.test(host) ? ` ws://${host} wss://${host}` : "";

/** Editors add inline styles, and load their font and workers from the same folder. */
export const policyOf = (nonce: string, host: string | undefined): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'self'`,
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
    "font-src 'self' data:",
    "img-src 'self' data:",
    `connect-src 'self'${socketSources(host)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
