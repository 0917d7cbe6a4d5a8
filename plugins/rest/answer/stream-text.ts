/** Sends a long text while it is written. */
import type { ServerResponse } from "node:http";
import { runSliced, writePart, type Slices, type PluginContext } from "../../../core/index.ts";

/** The number of characters that are gathered before they are sent. */
const CHARACTERS_PER_PIECE = 64 * 1024;

/** Returns a text of at least `characters` characters, or all of the remaining text. */
export const gatherText = function* (
  pieces: Iterator<string>,
  characters: number,
): Slices<{ readonly text: string; readonly isOver: boolean }> {
  const parts: string[] = [];
  for (let length = 0; length < characters;) {
    const { done, value } = pieces.next();
    if (done === true) return { text: parts.join(""), isOver: true };
    if (value !== "") parts.push(value);
    length += value.length;
    yield;
  }
  return { text: parts.join(""), isOver: false };
};

/** Sends the pieces at the pace of the client. If writing a piece throws, the transfer breaks off. @rule R-OAS-9 */
export const sendPieces = async (
  response: ServerResponse,
  start: string,
  pieces: Generator<string>,
  watch: PluginContext["watchUnread"],
): Promise<void> => {
  try {
    let next = { text: start, isOver: false };
    while (!next.isOver) {
      await writePart(response, next.text, watch);
      if (response.destroyed) return;
      await new Promise((resolve) => setImmediate(resolve));
      next = await runSliced(gatherText(pieces, CHARACTERS_PER_PIECE));
    }
    response.end(next.text);
  } finally {
    pieces.return(undefined);
  }
};
