/**
 * Checks the page about live queries: the first event of its subscribers, and the event after the write that it shows.
 */
import { expect, test } from "vitest";
import { atFileEnd } from "../support/file-end.ts";
import { encodePath } from "../support/http.ts";
import { startPageServer, type PageServer } from "../support/pages/server.ts";
import {
  parseBlocks,
  comparison,
  listExamples,
  readPage,
  writePage,
  type Block,
  type Request,
} from "../support/pages/pages.ts";

const PAGE = "features/live-queries.md";

interface Subscriber {
  /** The next event as it was sent, without comments. */
  event(): Promise<string>;
}

const subscribe = async ({ url }: PageServer, { method, path, parts }: Request): Promise<Subscriber> => {
  const stop = new AbortController();
  atFileEnd(async () => stop.abort());
  const { body, headers } = parts;
  const response = await fetch(url + encodePath(path), {
    method,
    headers: {
      ...(headers as Record<string, string>),
      accept: "text/event-stream",
      "content-type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: stop.signal,
  });
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let read = "";
  return {
    event: async () => {
      for (;;) {
        const [, event, rest] = /^([\s\S]*?)\n\n([\s\S]*)$/.exec(read) ?? [];
        if (event !== undefined) read = rest ?? "";
        const lines = (event ?? "").split("\n").filter((line) => !line.startsWith(":") && line !== "");
        if (lines.length > 0) return lines.join("\n");
        if (event === undefined) read += Buffer.from((await reader.read()).value ?? []).toString();
      }
    },
  };
};

/** The result in an event of GraphQL. */
const readResult = (event: string): string => /^data: (.*)$/m.exec(event)?.[1] ?? event;

test("G-SUB-3 subscribers get the events of the page, at once and after the write", async () => {
  const blocks = parseBlocks(readPage(PAGE));
  const server = await startPageServer(PAGE, { dbTxEnd: "commit", liveQueryInterval: 50 });
  const [rest, graphql, write, lastExample] = listExamples(blocks);
  const subscribers = [await subscribe(server, rest!.request), await subscribe(server, graphql!.request)] as const;
  const writeIndex = blocks.findIndex(({ text }) => text.startsWith("HTTP/1.1 204"));
  const changes: [Block, string][] = [];
  const check = (block: Block, text: string): void => {
    if (process.env["DOCS_ANSWERS"] === "write") changes.push([block, `${text}\n`]);
    else expect(block.text.replaceAll(/\s+/g, "")).toBe(text.replaceAll(/\s+/g, ""));
  };
  check(rest!.answer!, await subscribers[0].event());
  check(graphql!.answer!, readResult(await subscribers[1].event()));
  const [expected, actual] = comparison(write!.answer!, await server.send(write!.request));
  expect(actual).toBe(expected);
  check(blocks[writeIndex + 1]!, await subscribers[0].event());
  check(blocks[writeIndex + 2]!, readResult(await subscribers[1].event()));
  check(lastExample!.answer!, readResult(await (await subscribe(server, lastExample!.request)).event()));
  if (changes.length > 0) writePage(PAGE, changes);
});
