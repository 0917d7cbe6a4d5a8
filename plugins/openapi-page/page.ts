/** The page and its script. */

export interface PageConfig {
  /** Path of the schema description, from the server's root. */
  readonly root: string;
  readonly assets: string;
  readonly schemas: readonly string[];
  /** The document names a public address that the page must not replace. */
  readonly isProxied: boolean;
}

/** Everything the page loads comes from its own server; Swagger UI styles inline. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src *; font-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'self'";

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** JSON inside a script element: no `<` may end it. */
const inlineJson = (config: PageConfig): string => JSON.stringify(config).replaceAll("<", "\\u003c");

export const buildPage = (config: PageConfig): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>REST API</title>
<link rel="icon" href="${escapeHtml(config.assets)}/favicon-32x32.png">
<link rel="stylesheet" href="${escapeHtml(config.assets)}/swagger-ui.css">
<style>
body { margin: 0; }
#bar { display: flex; gap: .75rem; align-items: center; padding: .5rem 1rem; background: #1b1b1b; color: #fff; font: 14px sans-serif; }
#bar input { flex: 1; max-width: 40rem; }
#failure { padding: 1rem; font: 14px monospace; white-space: pre-wrap; }
</style>
</head>
<body>
<form id="bar">
<label for="schema">Schema</label><select id="schema">${config.schemas.map((schema) => `<option>${escapeHtml(schema)}</option>`).join("")}</select>
<label for="token">Token</label><input id="token" type="password" autocomplete="off" placeholder="JSON Web Token">
<button>Load</button>
</form>
<div id="failure" role="alert" hidden></div>
<div id="ui"></div>
<script type="application/json" id="config">${inlineJson(config)}</script>
<script src="${escapeHtml(config.assets)}/swagger-ui-bundle.js"></script>
<script src="${escapeHtml(config.assets)}/page.js"></script>
</body>
</html>
`;

/** Runs in the browser: loads the document as the token's role, and shows it. */
export const PAGE_SCRIPT = `"use strict";
const config = JSON.parse(document.getElementById("config").textContent);
const byId = (id) => document.getElementById(id);
const credentials = () => (byId("token").value === "" ? {} : { Authorization: "Bearer " + byId("token").value });

const load = async () => {
  const headers = { Accept: "application/openapi+json", "Accept-Profile": byId("schema").value, ...credentials() };
  const response = await fetch(config.root, { headers });
  if (!response.ok) throw new Error(response.status + " " + (await response.text()));
  const spec = await response.json();
  if (!config.isProxied) Object.assign(spec, { host: location.host, schemes: [location.protocol.slice(0, -1)] });
  return spec;
};

const show = (spec) =>
  SwaggerUIBundle({
    spec,
    dom_id: "#ui",
    validatorUrl: null,
    deepLinking: true,
    tryItOutEnabled: true,
    docExpansion: "none",
    requestInterceptor: (request) => {
      const schema = byId("schema").value;
      Object.assign(request.headers, { "Accept-Profile": schema, "Content-Profile": schema }, credentials());
      return request;
    },
  });

const refresh = async () => {
  byId("failure").hidden = true;
  try {
    show(await load());
  } catch (error) {
    byId("failure").textContent = String(error.message);
    byId("failure").hidden = false;
  }
};

byId("bar").addEventListener("submit", (event) => {
  event.preventDefault();
  void refresh();
});
byId("schema").addEventListener("change", () => void refresh());
void refresh();
`;
