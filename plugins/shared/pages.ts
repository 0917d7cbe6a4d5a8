/** HTML pages for browsers: content negotiation, the document, its security policy, and its files. */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";
import { findPackageFile, type Answer, type Exchange } from "../../core/index.ts";
import { THEME } from "./page-style.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text and attribute values. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string); // the pattern matches only keys of `ENTITIES`

/** Encodes JSON for a script element, which a `<` in the JSON could end. */
export const encodeInlineJson = (value: unknown): string => JSON.stringify(value).replaceAll("<", "\\u003c");

const PAGE_TYPE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;
const ANY_TYPE = /^\s*(?:text|\*)\/\*\s*(?:;|$)/;
const REJECTED_TYPE = /;\s*q=0(?:\.0*)?\s*(?:;|$)/i;

/** Returns whether `Accept` names HTML with a quality above 0. With `orAnything`, a missing header and a header that
 *  accepts any type count too. */
export const acceptsPage = (accept: string | undefined, orAnything = false): boolean =>
  accept === undefined
    ? orAnything
    : accept
        .split(",")
        .some((item) => (PAGE_TYPE.test(item) || (orAnything && ANY_TYPE.test(item))) && !REJECTED_TYPE.test(item));

/** The content of a page. */
export interface Page {
  readonly title: string;
  /** HTML in the head, such as links to files. */
  readonly head?: string;
  /** The CSS rules of this page, which follow those of `THEME`. */
  readonly style: string;
  readonly body: string;
  /** Directives of the security policy that extend or replace the default ones. The default ones allow only the style
   *  and scripts with the nonce. */
  readonly sources?: Readonly<Record<string, string>>;
}

const buildPolicy = (nonce: string, sources: Page["sources"]): string =>
  Object.entries({
    "default-src": "'none'",
    "script-src": `'nonce-${nonce}'`,
    "style-src": `'nonce-${nonce}'`,
    "img-src": "data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
    ...sources,
  })
    .map((directive) => directive.join(" "))
    .join("; ");

/** Builds the response with a page. `build` receives the nonce for the page's scripts. */
export const buildPageAnswer = (build: (nonce: string) => Page): Answer & { readonly body: string } => {
  const nonce = randomBytes(16).toString("base64url");
  const { title, head = "", style, body, sources } = build(nonce);
  return {
    status: 200,
    headers: [
      ["Content-Type", "text/html; charset=utf-8"],
      ["Content-Security-Policy", buildPolicy(nonce, sources)],
      ["Cache-Control", "no-store"],
      ["Referrer-Policy", "no-referrer"],
      ["Vary", "Accept"],
      ["X-Content-Type-Options", "nosniff"],
    ],
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${head}
<style nonce="${nonce}">${THEME}${style}</style>
</head>
<body>
${body}
</body>
</html>
`,
  };
};

/** A file of a page. */
interface Asset {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly gzippedBytes: Buffer;
}

const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** Builds the response with a file, compressed if the client accepts gzip. */
export const buildAssetAnswer = (asset: Asset, exchange: Omit<Exchange, "session">, cacheControl: string): Answer => {
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
    body: isGzipped ? asset.gzippedBytes : asset.bytes,
  };
};

const decompress = promisify(brotliDecompress);
const compress = promisify(gzip);

/** Returns a file of a page in the encodings in which it is sent. */
export const encodeAsset = async (bytes: Buffer): Promise<Omit<Asset, "contentType">> => ({
  bytes,
  gzippedBytes: await compress(bytes),
});

/** Returns the folder `path` of `dist/plugins/pages`, into which the build writes compressed files. Undefined if the
 *  build did not write `file`. */
export const findBuiltFolder = (path: string, file: string): string | undefined => {
  const foundFile = findPackageFile(`dist/plugins/pages/${path}/${file}.br`);
  return foundFile === undefined ? undefined : dirname(foundFile);
};

/** Reads a file that the build compressed. */
export const readBuiltAsset = async (folder: string, name: string): Promise<Omit<Asset, "contentType">> =>
  encodeAsset(await decompress(await readFile(join(folder, `${name}.br`))));

/** Creates a store that reads each file once, on first use. It returns undefined for other names. */
export const createAssetStore = (
  contentTypes: Readonly<Record<string, string>>,
  read: (name: string) => Promise<Omit<Asset, "contentType">>,
): ((name: string) => Promise<Asset> | undefined) => {
  const assets = new Map<string, Promise<Asset>>();
  return (name) => {
    const contentType = Object.hasOwn(contentTypes, name) ? contentTypes[name] : undefined;
    if (contentType === undefined) return undefined;
    let asset = assets.get(name);
    if (asset === undefined) {
      asset = read(name).then((file) => ({ contentType, ...file }));
      asset.catch(() => assets.delete(name)); // retried next time; the waiting request gets the error
      assets.set(name, asset);
    }
    return asset;
  };
};
