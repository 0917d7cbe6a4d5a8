// The playground's page: GraphiQL against the address it was loaded from. Bundled by ../bundle.mjs; nothing of it comes
// from elsewhere.
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import "graphiql/style.css";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

/** Written into the page by the server. */
const { assets } = JSON.parse(document.getElementById("config").textContent);

const WORKERS = { json: "json.worker.js", graphql: "graphql.worker.js" };

globalThis.MonacoEnvironment = {
  getWorker: (_id, label) => new Worker(`${assets}/${WORKERS[label] ?? "editor.worker.js"}`),
};

/** Headers of the editor, for as long as the tab lives: they hold secrets, so they are not kept longer. */
const HEADERS_KEY = "relapi:playground:headers";

const EXAMPLE_HEADERS = JSON.stringify({ "X-Session-Admin-Secret": "", "X-Session-Role": "" }, null, 2);

const EXAMPLE_QUERY = `# Set your headers below (X-Session-Admin-Secret, X-Session-Role or Authorization), then press the button that fetches the schema again.
# Ctrl-Space completes, Ctrl-Enter runs.

query {
  __typename
}
`;

const savedHeaders = () => sessionStorage.getItem(HEADERS_KEY) ?? undefined;

/** The editor's text as headers; while it is being typed it may be no JSON. Empty ones are left out. */
const parseHeaders = (text) => {
  try {
    const headers = JSON.parse(text ?? "{}");
    return Object.fromEntries(
      Object.entries(headers).filter(([, header]) => typeof header === "string" && header !== ""),
    );
  } catch {
    return {};
  }
};

const url = location.pathname;
const socketUrl = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${location.pathname.replace(/\/$/, "")}/ws`;
const send = createGraphiQLFetcher({ url, subscriptionUrl: socketUrl });

/** The first introspection comes before the header editor is there: the saved headers go with every request. */
const fetcher = (params, options) => {
  const given = Object.fromEntries(
    Object.entries(options?.headers ?? {}).filter(([, header]) => typeof header === "string" && header !== ""),
  );
  return send(params, { ...options, headers: { ...parseHeaders(savedHeaders()), ...given } });
};

createRoot(document.getElementById("playground")).render(
  createElement(GraphiQL, {
    fetcher,
    defaultQuery: EXAMPLE_QUERY,
    initialHeaders: savedHeaders() ?? EXAMPLE_HEADERS,
    defaultEditorToolsVisibility: "headers",
    shouldPersistHeaders: false,
    showPersistHeadersSettings: false,
    onEditHeaders: (text) => sessionStorage.setItem(HEADERS_KEY, text),
    inputValueDeprecation: false,
    schemaDescription: false,
  }),
);
