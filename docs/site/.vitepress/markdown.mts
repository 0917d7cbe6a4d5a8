/** Extends plain Markdown for the pages of the site. */
import type { MarkdownRenderer } from "vitepress";

type Rule = Parameters<MarkdownRenderer["core"]["ruler"]["push"]>[1];
type State = Parameters<Rule>[0];
type Token = State["tokens"][number];

const html = (state: State, content: string): Token => Object.assign(new state.Token("html_block", "", 0), { content });

const isAnswer = ({ info, content }: Token): boolean =>
  ["json", "csv", "text"].includes(info) || (info === "http" && content.startsWith("HTTP/"));

const isRequest = (token: Token | undefined): boolean =>
  token?.type === "fence" && ["http", "graphql", "gql"].includes(token.info) && !isAnswer(token);

/** A request with the answer under it. */
const exchange = (state: State, tokens: readonly Token[]): Token[] =>
  tokens.flatMap((token, at) => [
    ...(isRequest(token) ? [html(state, '<div class="exchange">')] : []),
    token,
    ...(at + 1 === tokens.length || isRequest(tokens[at + 1]) ? [html(state, "</div>")] : []),
  ]);

const column = (state: State, name: string, tokens: readonly Token[]): Token[] => [
  html(state, `<section><p class="surface">${name}</p>`),
  ...exchange(state, tokens),
  html(state, "</section>"),
];

/** A document of another engine, which the pages name in its first line: `# PostGraphile`. */
const engineOf = ({ type, info, content }: Token): string | undefined =>
  type === "fence" && info === "gql" ? /^# (.+)\n/.exec(content)?.[1] : undefined;

/** Requests and answers that follow each other: REST to the left, GraphQL to the right. */
const sideBySide: Rule = (state) => {
  const { tokens } = state;
  const shown: Token[] = [];
  for (let at = 0; at < tokens.length; ) {
    let end = at + 1;
    const engine = engineOf(tokens[at]!);
    if (engine !== undefined) {
      const theirs = Object.assign(tokens[at]!, { content: tokens[at]!.content.replace(/^.*\n/, "") });
      while (isRequest(tokens[end]) || (tokens[end]?.type === "fence" && isAnswer(tokens[end]!))) end++;
      shown.push(
        html(state, '<div class="surfaces">'),
        ...column(state, engine, [theirs]),
        ...column(state, "relapi", tokens.slice(at + 1, end)),
        html(state, "</div>"),
      );
    } else if (isRequest(tokens[at])) {
      while (tokens[end]?.type === "fence" && (isRequest(tokens[end]) || isAnswer(tokens[end]!))) end++;
      const run = tokens.slice(at, end);
      const graphqlAt = run.findIndex(({ info }) => info === "graphql");
      const columns = [
        ...(graphqlAt === 0 ? [] : column(state, "REST", run.slice(0, graphqlAt < 0 ? undefined : graphqlAt))),
        ...(graphqlAt < 0 ? [] : column(state, "GraphQL", run.slice(graphqlAt))),
      ];
      shown.push(html(state, '<div class="surfaces">'), ...columns, html(state, "</div>"));
    } else shown.push(tokens[at]!);
    at = end;
  }
  state.tokens = shown;
};

/** The first page: what follows a second heading is a card. */
const cards: Rule = (state) => {
  if ((state.env as { relativePath?: string }).relativePath !== "index.md") return;
  const isHeading = ({ type, tag }: Token): boolean => type === "heading_open" && tag === "h2";
  const first = state.tokens.findIndex(isHeading);
  if (first < 0) return;
  const rest = state.tokens
    .slice(first)
    .flatMap((token, at) =>
      isHeading(token) ? [html(state, `${at === 0 ? '<div class="cards">' : "</section>"}<section>`), token] : [token],
    );
  state.tokens = [...state.tokens.slice(0, first), ...rest, html(state, "</section></div>")];
};

/** `R-EMB-12` in a table is not broken over lines. */
const ruleIds: Rule = ({ tokens }) => {
  for (const [at, token] of tokens.entries())
    if (token.type === "td_open" && /^[RGXCP]-[A-Z]+-\d+/.test(tokens[at + 1]?.content ?? "")) token.attrJoin("class", "rule");
};

/** Files of the project beside `docs/` are no pages: their names stay, as text. */
const withoutSourceLinks: Rule = ({ tokens, env }) => {
  const { relativePath = "" } = env as { relativePath?: string };
  const toParent = "../".repeat(relativePath.split("/").length);
  for (const { children } of tokens) {
    let isOpen = false;
    for (const child of children ?? []) {
      const leaves = child.type === "link_open" && child.attrGet("href")?.startsWith(toParent) === true;
      if (leaves || (isOpen && child.type === "link_close")) {
        isOpen = leaves;
        child.type = "text";
        child.content = "";
      }
    }
  }
};

/** The pages hold no HTML but comments: `<name>` in a sentence is text. */
const withoutComments: Rule = (state) => {
  state.src = state.src.replaceAll(/^<!--.*?-->$/gms, "");
};

export const extendMarkdown = (md: MarkdownRenderer): void => {
  md.set({ html: false });
  md.core.ruler.after("normalize", "comments", withoutComments);
  md.core.ruler.push("source-links", withoutSourceLinks);
  md.core.ruler.push("rule-ids", ruleIds);
  md.core.ruler.push("side-by-side", sideBySide);
  md.core.ruler.push("cards", cards);
};
