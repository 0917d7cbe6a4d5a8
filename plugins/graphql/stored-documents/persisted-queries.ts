/** `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"…"}}}`: accepts the hash of a document instead of the
 *  document. If the hash is unknown, the client sends both, and from then on only the hash. */
import { createHash } from "node:crypto";
import {
  createCaches,
  definePlugin,
  defineCacheQuestion,
  type Ask,
  type Json,
  type JsonObject,
} from "../../../core/index.ts";
import { findGqlDocumentHook } from "../api.ts";
import { isPlainObject } from "../values/leaf.ts";
import { persistedQueryInvalid, persistedQueryNotFound } from "../errors.ts";
import { hasQuery } from "../http/request.ts";
import { persistedSettings } from "../settings.ts";

/** A hash, and its document if the request contains one. */
interface SentQuery {
  readonly hash: string;
  readonly text: string | undefined;
}

const HASH = defineCacheQuestion("hash", ({ hash }: SentQuery) => hash);
/** The cache question of a text. The hash identifies the text, so the text is not part of the key. */
const TEXT = defineCacheQuestion(
  "text",
  ({ text }: SentQuery) => text,
  () => undefined,
);

const findPersistedDocument = (ask: Ask<SentQuery>): string | undefined => {
  ask(HASH);
  return ask(TEXT);
};

/** Returns the hash of a persisted query, or undefined if the request has no hash. */
export const getSentHash = ({ extensions }: JsonObject): Json | undefined => {
  const persistedQuery = isPlainObject(extensions) ? extensions["persistedQuery"] : undefined;
  if (persistedQuery === undefined) return undefined;
  return isPlainObject(persistedQuery) ? (persistedQuery["sha256Hash"] ?? null) : null;
};

const parseHash = (request: JsonObject): string | undefined => {
  const hash = getSentHash(request);
  if (hash === undefined) return undefined;
  if (typeof hash !== "string" || !/^[0-9a-f]{64}$/i.test(hash))
    throw persistedQueryInvalid("sha256Hash is not a SHA-256 hash in hexadecimal");
  return hash.toLowerCase();
};

export const hashDocument = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Finds persisted queries. Texts above the size limit are rejected later, so they are not hashed. All roles share the
 *  texts, because each text is checked for the role like any document. @rule G-APQ-1 G-APQ-2 G-APQ-3 G-APQ-4 */
export const persistedQueries = definePlugin({
  name: "persisted-queries",
  requires: ["graphql"],
  settings: persistedSettings,
  apply: (_hooks, context) => {
    const getMaxBytes = (): number => context.options.persistedQueryBytes;
    const documents = createCaches("persisted-queries", { maxBytes: getMaxBytes }, context.counters).create({
      name: "persisted queries",
      make: findPersistedDocument,
      estimateBytes: (text = "") => text.length * 2,
    });
    context.use(findGqlDocumentHook).tap("persisted-queries", (request) => {
      const hash = parseHash(request);
      if (hash === undefined) return undefined;
      if (!hasQuery(request)) {
        const { value: text } = documents.get({ hash, text: undefined });
        if (text === undefined) throw persistedQueryNotFound();
        return text;
      }
      const { query } = request;
      if (typeof query !== "string" || query.length > context.options.maxDocumentBytes) return undefined;
      if (hashDocument(query) !== hash) throw persistedQueryInvalid("provided sha does not match query");
      documents.getAndCommit({ hash, text: query });
      return query;
    });
  },
});
