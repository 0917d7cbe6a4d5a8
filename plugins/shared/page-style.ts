/** The style that all pages share. Colours follow the preference of the reader (`prefers-color-scheme`). */

/** The colours and the fonts of every page. @rule X-PAGE-6 */
export const THEME = `
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --text: #1a202c; --quiet: #5b6472; --line: #dfe3e9;
  --code: #f3f5f8; --accent: #1f5fd0; --accent-text: #fff; --note: #fff7e0; --note-line: #ecd391; --error: #b42318;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
@media (prefers-color-scheme: dark) { :root { --page: #12151b; --card: #1a1f28; --text: #e7eaf0; --quiet: #9aa4b3; --line: #2c3441;
  --code: #11151c; --accent: #7fb0ff; --accent-text: #0d1420; --note: #2a2415; --note-line: #57491f; --error: #ff8f85; } }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
`;

/** The style of pages whose content is a `main` element: headings, cards, code, buttons, tables and forms. */
export const DOCUMENT_STYLE = `
* { box-sizing: border-box; }
main { max-width: 52rem; margin: 0 auto; padding: 2.5rem 1.25rem 1.5rem; }
main.wide { max-width: 80rem; }
h1 { margin: 0 0 .35rem; font-size: 2rem; line-height: 1.2; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { margin: 0; font-size: 1.2rem; }
p { margin: 0; }
a { color: var(--accent); }
.quiet { color: var(--quiet); }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.35rem 1.5rem 1.5rem; margin-top: 1.25rem; }
code, pre { font: 13.5px/1.6 var(--mono); overflow-wrap: anywhere; }
pre { margin: 0; white-space: pre-wrap; }
summary { cursor: pointer; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .35rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
tbody tr:last-child > td { border-bottom: 0; }
button, input, select { font: inherit; font-size: .95rem; color: inherit; padding: .4rem .7rem; border: 1px solid var(--line); border-radius: 8px; background: var(--code); min-width: 0; max-width: 100%; }
button { cursor: pointer; }
.button { display: inline-block; padding: .5rem 1rem; border: 0; border-radius: 8px; background: var(--accent); color: var(--accent-text); font-weight: 600; font-size: .95rem; text-decoration: none; }
.button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;
