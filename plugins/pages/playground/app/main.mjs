// The script of the playground: GraphiQL for the URL from which it was loaded. `.ci/bundle-playground.mjs` bundles it,
// and it loads nothing from other hosts.
import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
// Not "graphiql/style.css", which repeats the styles of the editor and has fonts of 300 kB.
import "@graphiql/react/style.css";
import "@graphiql/plugin-doc-explorer/style.css";
import "@graphiql/plugin-history/style.css";
import "graphiql/graphiql.css";
import { createElement, Fragment, useEffect } from "react";
import { createRoot } from "react-dom/client";

/** The server writes this configuration into the page. */
const { assets } = JSON.parse(document.getElementById("config").textContent);

globalThis.MonacoEnvironment = {
  getWorker: (_id, label) => new Worker(`${assets}/worker.js`, { name: label }),
};

/** The key of the editor's headers. They contain secrets, so they are stored only until the tab is closed. */
const HEADERS_KEY = "relapi:playground:headers";

const EXAMPLE_HEADERS = JSON.stringify({ "X-Session-Admin-Secret": "", "X-Session-Role": "" }, null, 2);

const HELP = "# Ctrl-Space completes, Ctrl-Enter runs.";

/** The first query if callers without credentials may see nothing. */
const QUERY_WITHOUT_FIELDS = `# Set your headers below (X-Session-Admin-Secret, X-Session-Role or Authorization), then load this page again.
${HELP}

query {
  __typename
}
`;

const readSavedHeaders = () => sessionStorage.getItem(HEADERS_KEY) ?? undefined;

/** Parses the editor's text as headers. It may be invalid JSON while the user types. Empty headers are omitted. */
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

/** Adds the saved headers to every request, because GraphiQL sends the first introspection before it has a header
 *  editor. */
const fetcher = (params, options) => {
  const editedHeaders = Object.fromEntries(
    Object.entries(options?.headers ?? {}).filter(([, header]) => typeof header === "string" && header !== ""),
  );
  return send(params, { ...options, headers: { ...parseHeaders(readSavedHeaders()), ...editedHeaders } });
};

/** Loads an example query for the tables that a caller with the saved headers may see. */
const loadExampleQuery = async () => {
  try {
    const response = await fetch(`${location.pathname.replace(/\/$/, "")}/playground/example`, {
      headers: parseHeaders(readSavedHeaders()),
    });
    if (response.status === 200) return `${HELP}\n\n${await response.text()}\n`;
  } catch {
    // The page also works without an example.
  }
  return QUERY_WITHOUT_FIELDS;
};

/** The key of the example query of the last visit. */
const EXAMPLE_KEY = "relapi:playground:example";

/** Forgets the query of the last visit if it is the unchanged example, so that GraphiQL does not open it again. The new
 *  example may have other tables, because the headers or the database at this URL may have changed. */
const forgetUnchangedExample = () => {
  const { tabs = [] } = JSON.parse(localStorage.getItem("graphiql:tabState") ?? "{}");
  if (tabs.length !== 1 || tabs[0].query !== localStorage.getItem(EXAMPLE_KEY)) return;
  for (const name of ["query", "tabState"]) localStorage.removeItem(`graphiql:${name}`);
};

/** Changes the colours of the editors when the reader's preference changes, because GraphiQL itself changes only the rest
 *  of the page. A theme from the settings of GraphiQL stays. */
const ColorSchemeListener = () => {
  const theme = useGraphiQL((state) => state.theme);
  const { setTheme } = useGraphiQLActions();
  useEffect(() => {
    if (theme) return undefined;
    const isDark = matchMedia("(prefers-color-scheme: dark)");
    const resetTheme = () => setTheme(null);
    isDark.addEventListener("change", resetTheme);
    return () => isDark.removeEventListener("change", resetTheme);
  }, [theme, setTheme]);
  return null;
};

const toolbar = createElement(GraphiQL.Toolbar, null, ({ prettify, merge, copy }) =>
  createElement(Fragment, null, prettify, merge, copy, createElement(ColorSchemeListener)),
);

const start = async () => {
  const defaultQuery = await loadExampleQuery();
  forgetUnchangedExample();
  localStorage.setItem(EXAMPLE_KEY, defaultQuery);
  createRoot(document.getElementById("playground")).render(
    createElement(
      GraphiQL,
      {
        fetcher,
        defaultQuery,
        initialHeaders: readSavedHeaders() ?? EXAMPLE_HEADERS,
        defaultEditorToolsVisibility: "headers",
        shouldPersistHeaders: false,
        showPersistHeadersSettings: false,
        onEditHeaders: (text) => sessionStorage.setItem(HEADERS_KEY, text),
        inputValueDeprecation: false,
        schemaDescription: false,
      },
      toolbar,
    ),
  );
};

void start();
