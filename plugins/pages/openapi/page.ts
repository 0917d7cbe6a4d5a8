/** Builds the page that shows the OpenAPI document, and the script of the page. */
import { escapeHtml, encodeInlineJson, type Page } from "../../shared/pages.ts";

interface PageConfig {
  /** The path of the OpenAPI document, from the server's root. */
  readonly root: string;
  readonly assets: string;
  readonly schemas: readonly string[];
  /** True if the document names a public address, which the page must not replace. */
  readonly isProxied: boolean;
}

const STYLE = `
#bar { display: flex; flex-wrap: wrap; gap: .6rem .75rem; align-items: center; padding: .7rem 1.25rem; background: var(--card); border-bottom: 1px solid var(--line); font-size: .9rem; }
#bar select, #bar input, #bar button { font: inherit; padding: .35rem .6rem; border: 1px solid var(--line); border-radius: 6px; background: var(--code); color: inherit; }
#bar input { flex: 1 1 14rem; max-width: 36rem; min-width: 0; }
#bar button { background: var(--accent); border-color: var(--accent); color: var(--accent-text); font-weight: 600; cursor: pointer; }
#failure { margin: 1.25rem; padding: 1rem; border: 1px solid var(--error); border-radius: 8px; font: 14px var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
html.dark-mode { background: var(--page); }
html body #ui .swagger-ui, html body #ui .swagger-ui .scheme-container { background: var(--page); }
`;

/** Builds the page, which loads only files of its own server. Inline styles are allowed because Swagger UI uses
 *  them. */
export const buildPage = (config: PageConfig): Page => ({
  title: "REST API",
  head: `<link rel="icon" href="${escapeHtml(config.assets)}/favicon-32x32.png">
<link rel="stylesheet" href="${escapeHtml(config.assets)}/swagger-ui.css">`,
  style: STYLE,
  body: `<form id="bar">
<label for="schema">Schema</label><select id="schema">${config.schemas.map((schema) => `<option>${escapeHtml(schema)}</option>`).join("")}</select>
<label for="token">Token</label><input id="token" type="password" autocomplete="off" placeholder="JSON Web Token">
<button>Load</button>
</form>
<div id="failure" role="alert" hidden></div>
<div id="ui"></div>
<script type="application/json" id="config">${encodeInlineJson(config)}</script>
<script src="${escapeHtml(config.assets)}/swagger-ui-bundle.js"></script>
<script src="${escapeHtml(config.assets)}/page.js"></script>`,
  sources: {
    "script-src": "'self'",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "connect-src": "*",
    "font-src": "'self' data:",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
  },
});

/** The script of the page, which loads the document with the token's role and shows it in the browser. */
export const PAGE_SCRIPT = `"use strict";
const config = JSON.parse(document.getElementById("config").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const applyColorScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", applyColorScheme);
applyColorScheme();
const getElement = (id) => document.getElementById(id);
const readCredentials = () => (getElement("token").value === "" ? {} : { Authorization: "Bearer " + getElement("token").value });

const load = async () => {
  const headers = { Accept: "application/openapi+json", "Accept-Profile": getElement("schema").value, ...readCredentials() };
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
      const schema = getElement("schema").value;
      Object.assign(request.headers, { "Accept-Profile": schema, "Content-Profile": schema }, readCredentials());
      return request;
    },
  });

const refresh = async () => {
  getElement("failure").hidden = true;
  try {
    show(await load());
  } catch (error) {
    getElement("failure").textContent = String(error.message);
    getElement("failure").hidden = false;
  }
};

const requestedSchema = new URLSearchParams(location.search).get("schema");
if (config.schemas.includes(requestedSchema)) getElement("schema").value = requestedSchema;
getElement("bar").addEventListener("submit", (event) => {
  event.preventDefault();
  void refresh();
});
getElement("schema").addEventListener("change", () => void refresh());
void refresh();
`;
