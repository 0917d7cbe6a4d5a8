/** What the pages for browsers have in common: who is sent one, text and data in HTML, and their files. */
import type { Answer, Exchange } from "../core/index.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** For text and for values of attributes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string); // one of the keys

/** JSON inside a script element: no `<` may end it. */
export const inlineJson = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

const PAGE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;
const ANY = /^\s*(?:text|\*)\/\*\s*(?:;|$)/;
const REFUSED = /;\s*q=0(?:\.0*)?\s*(?:;|$)/i;

/** Whether `Accept` names a page, or with `orAnything` leaves what is sent to the server. */
export const takesPage = (accept: string | undefined, orAnything = false): boolean =>
  accept === undefined
    ? orAnything
    : accept.split(",").some((item) => (PAGE.test(item) || (orAnything && ANY.test(item))) && !REFUSED.test(item));

/** A file of a page. */
export interface Asset {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
}

const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

export const sendAsset = (asset: Asset, exchange: Omit<Exchange, "session">, cacheControl: string): Answer => {
  const isGzipped = GZIP.test(exchange.header("accept-encoding") ?? "");
  return {
    status: 200,
    headers: [
      ["Content-Type", asset.contentType],
      ["Cache-Control", cacheControl],
      ["Vary", "Accept-Encoding"],
      ["X-Content-Type-Options", "nosniff"],
      ...(isGzipped ? [["Content-Encoding", "gzip"] as const] : []),
    ],
    body: isGzipped ? asset.gzipped : asset.bytes,
  };
};
