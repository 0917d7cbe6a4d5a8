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

const HELP = "# Ctrl-Space completes, Ctrl-Enter runs.";

/** Where the callers without credentials see nothing. */
const QUERY_OF_NOBODY = `# Set your headers below (X-Session-Admin-Secret, X-Session-Role or Authorization), then load this page again.
${HELP}

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

/** A query of the tables that the saved headers let one see. */
const exampleQuery = async () => {
  try {
    const response = await fetch(`${location.pathname.replace(/\/$/, "")}/playground/example`, {
      headers: parseHeaders(savedHeaders()),
    });
    if (response.status === 200) return `${HELP}\n\n${await response.text()}\n`;
  } catch {
    // the page is of use without it
  }
  return QUERY_OF_NOBODY;
};

/** The query that a visit began with. */
const EXAMPLE_KEY = "relapi:playground:example";

/** GraphiQL opens what the last visit left. Where that is the query it began with, untouched, a new one may know more:
 *  the tables of other headers, or of another database at this address. */
const forgetUntouched = () => {
  const { tabs = [] } = JSON.parse(localStorage.getItem("graphiql:tabState") ?? "{}");
  if (tabs.length !== 1 || tabs[0].query !== localStorage.getItem(EXAMPLE_KEY)) return;
  for (const name of ["query", "tabState"]) localStorage.removeItem(`graphiql:${name}`);
};

const start = async () => {
  const defaultQuery = await exampleQuery();
  forgetUntouched();
  localStorage.setItem(EXAMPLE_KEY, defaultQuery);
  createRoot(document.getElementById("playground")).render(
    createElement(GraphiQL, {
      fetcher,
      defaultQuery,
      initialHeaders: savedHeaders() ?? EXAMPLE_HEADERS,
      defaultEditorToolsVisibility: "headers",
      shouldPersistHeaders: false,
      showPersistHeadersSettings: false,
      onEditHeaders: (text) => sessionStorage.setItem(HEADERS_KEY, text),
      inputValueDeprecation: false,
      schemaDescription: false,
    }),
  );
};

void start();
