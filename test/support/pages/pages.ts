/** The code blocks of the pages in `docs/`, and the examples made of requests and their responses. */
import { readFileSync, writeFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { fileURLToPath } from "node:url";
import { format } from "oxfmt";
import type { Answer, RequestParts } from "../http.ts";

export const docsFolder = fileURLToPath(new URL("../../../docs/", import.meta.url));

export interface Block {
  readonly language: string;
  readonly text: string;
  /** The line number of the block's first line, counted from one. */
  readonly line: number;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly parts: RequestParts;
}

interface Example {
  readonly title: string;
  readonly isGraphql: boolean;
  readonly request: Request;
  /** The response that the page shows. If absent, the request must only succeed. */
  readonly answer?: Block;
}

export const readPage = (page: string): string => readFileSync(docsFolder + page, "utf8");

export const parseBlocks = (page: string): readonly Block[] =>
  Array.from(page.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm), ({ 1: language = "", 2: text = "", index }) => ({
    language,
    text,
    line: page.slice(0, index).split("\n").length + 1,
  }));

const isAnswer = ({ language, text }: Block): boolean =>
  ["json", "csv", "text", "xml"].includes(language) || (language === "http" && text.startsWith("HTTP/"));

const isRequest = (block: Block): boolean =>
  block.language === "graphql" || (block.language === "http" && !isAnswer(block));

/** Parses lines of `Name: value`. */
const parseHeaders = (lines: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`not a header: ${line}`);
      return [name, value];
    }),
  );

/** Parses a request in HTTP syntax, whose query may be on indented lines of its own. */
const httpRequest = (text: string): Request => {
  const [head = "", ...bodies] = text.trimEnd().split("\n\n");
  const [start = "", ...lines] = head.replaceAll(/\n +(?=[?&])/g, "").split("\n");
  const [, method, path] = /^([A-Z]+) (\/.*)$/.exec(start) ?? [];
  if (method === undefined || path === undefined) throw new Error(`not a request: ${start}`);
  const headers = parseHeaders(lines);
  const body = bodies.length === 0 ? undefined : bodies.join("\n\n");
  const isTyped = Object.keys(headers).some((name) => name.toLowerCase() === "content-type");
  return {
    method,
    path,
    parts: {
      headers: { ...(body === undefined || isTyped ? {} : { "Content-Type": "application/json" }), ...headers },
      body,
    },
  };
};

const COMMENT = /^# ([\w-]+: .*)$/;

/** Parses a document. Comments before it are the request headers, and `# Variables: {…}` its variables. */
const graphqlRequest = (text: string): Request => {
  const comments = text.split("\n").flatMap((line) => COMMENT.exec(line)?.[1] ?? []);
  const { Variables: variables, ...headers } = parseHeaders(comments);
  return {
    method: "POST",
    path: "/v1/graphql",
    parts: {
      headers,
      body: { query: text, ...(variables === undefined ? {} : { variables: JSON.parse(variables) as unknown }) },
    },
  };
};

/** Each request of a page, with the response after it. */
export const listExamples = (blocks: readonly Block[]): readonly Example[] =>
  blocks.flatMap((block, index): readonly Example[] => {
    if (!isRequest(block)) return [];
    const isGraphql = block.language === "graphql";
    const next = blocks[index + 1];
    return [
      {
        title: `line ${block.line}: ${block.text.split("\n").find((line) => !line.startsWith("#")) ?? ""}`,
        isGraphql,
        request: isGraphql ? graphqlRequest(block.text) : httpRequest(block.text),
        ...(next !== undefined && isAnswer(next) ? { answer: next } : {}),
      },
    ];
  });

/** The settings before `npm start` or `npx relapi` in the first shell block of a page. */
export const readSettings = (blocks: readonly Block[]): Record<string, string> => {
  const command = blocks
    .filter(({ language }) => language === "sh")
    .map(({ text }) => text.replaceAll("\\\n", " "))
    .find((text) => /npm start|npx relapi\s*$/m.test(text));
  const pairs = (command ?? "").matchAll(/(?<=^|\s)([A-Z][A-Z_]+)=(?:'([^']*)'|(\S*))/g);
  return Object.fromEntries(
    Array.from(pairs, ([, name = "", quotedValue, plainValue = ""]) => [name, quotedValue ?? plainValue]),
  );
};

const withoutSpace = (json: string): string =>
  json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, (_, string: string | undefined) => string ?? "");

const isJson = (answer: Answer): boolean => /[/+]json\b/.test(answer.headers["content-type"] ?? "");

/** The body for comparison: digits and the order of keys are significant, blanks between them are not. */
const normalizeBody = (text: string, answer: Answer): string => (isJson(answer) ? withoutSpace(text) : text.trimEnd());

/** The block and the response in the same form. Parts that the block does not show are removed from the response. */
export const comparison = (block: Block, answer: Answer): readonly [shown: string, answered: string] => {
  if (block.language !== "http")
    return [
      normalizeBody(block.text, answer),
      answer.status < 300 ? normalizeBody(answer.text, answer) : statusLine(answer),
    ];
  const [head = "", ...bodies] = block.text.trimEnd().split("\n\n");
  const [, ...names] = head.split("\n").map((line) => line.split(":")[0] ?? "");
  const answerHead = [statusLine(answer), ...names.map((name) => `${name}: ${answer.headers[name.toLowerCase()]}`)];
  return [
    [head, ...(bodies.length === 0 ? [] : [normalizeBody(bodies.join("\n\n"), answer)])].join("\n"),
    [...answerHead, ...(bodies.length === 0 ? [] : [normalizeBody(answer.text, answer)])].join("\n"),
  ];
};

const statusLine = ({ status }: Answer): string => `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;

/** The block with the actual response: `DOCS_ANSWERS=write` writes it into the page. */
export const rewriteBlock = async (block: Block, answer: Answer): Promise<string> => {
  const body = isJson(answer)
    ? (await format("answer.json", withoutSpace(answer.text), { printWidth: 58 })).code
    : `${answer.text.trimEnd()}\n`;
  if (block.language !== "http") return body;
  const [head = "", ...bodies] = block.text.trimEnd().split("\n\n");
  const [, ...lines] = head.split("\n");
  const names = lines.map((line) => line.split(":")[0] ?? "");
  const answerHead = [statusLine(answer), ...names.map((name) => `${name}: ${answer.headers[name.toLowerCase()]}`)];
  return `${answerHead.join("\n")}\n${bodies.length === 0 ? "" : `\n${body}`}`;
};

/** Replaces the text of blocks. */
export const writePage = (page: string, changes: readonly (readonly [Block, string])[]): void => {
  const lines = readPage(page).split("\n");
  for (const [block, text] of [...changes].sort(([a], [b]) => b.line - a.line))
    lines.splice(block.line - 1, block.text.split("\n").length - 1, ...text.trimEnd().split("\n"));
  writeFileSync(docsFolder + page, lines.join("\n"));
};
