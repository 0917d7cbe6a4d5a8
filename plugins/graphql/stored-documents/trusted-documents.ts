/** Serves documents that are known before the first request: documents of a folder, and of the query collections in the
 *  metadata's allow list. Clients may name them by their hash. With `ENABLE_ALLOWLIST`, only these documents are
 *  answered. */
import { parse, print, visit } from "graphql";
import {
  getErrorMessage,
  definePlugin,
  defineCacheQuestion,
  buildErrorFields,
  type Ask,
  type PluginContext,
  type RelApiHooks,
} from "../../../core/index.ts";
import { getMetadataFacts, type MetadataQueries } from "../../metadata/api.ts";
import { checkGqlDocumentHook, findGqlDocumentHook } from "../api.ts";
import { persistedQueryNotFound, queryNotAllowed } from "../errors.ts";
import { getSentHash, hashDocument } from "./persisted-queries.ts";
import { hasQuery } from "../http/request.ts";
import { trustedSettings } from "../settings.ts";
import { readDocuments } from "./trusted-files.ts";

/** Removes the additions of client libraries from a document: blanks, comments, `__typename`. */
const normalizeDocument = (text: string): string =>
  print(
    visit(parse(text, { noLocation: true }), {
      Field: (field) => (field.name.value === "__typename" ? null : undefined),
    }),
  );

const TEXT = defineCacheQuestion("text", (text: string) => text);

interface TrustedQueries {
  /** The normalized documents with the roles that may run them. `true` allows all roles. */
  readonly rolesByDocument: ReadonlyMap<string, true | ReadonlySet<string>>;
  /** The documents by hash, or by their name in a manifest. */
  readonly textsById: ReadonlyMap<string, string>;
}

/** Collects the documents of the folder and the metadata. @throws RelApiError `preset` for files that cannot be read */
const collectDocuments = (
  folder: string | undefined,
  queries: MetadataQueries | undefined,
  warn: (text: string) => void,
) => {
  const rolesByDocument = new Map<string, true | Set<string>>();
  const textsById = new Map<string, string>();
  const add = (text: string, location: string, roles?: readonly string[]): void => {
    let form: string;
    try {
      form = normalizeDocument(text);
    } catch (error) {
      return warn(`${location} is no GraphQL document; ignored: ${getErrorMessage(error)}`);
    }
    const allowedRoles = rolesByDocument.get(form);
    if (roles === undefined || allowedRoles === true) rolesByDocument.set(form, true);
    else rolesByDocument.set(form, new Set([...(allowedRoles ?? []), ...roles]));
    // Some generators hash the printed document, others the file.
    for (const variant of [text, text.trim(), print(parse(text))]) textsById.set(hashDocument(variant), text);
  };
  for (const { id, text, location } of folder === undefined ? [] : readDocuments(folder)) {
    add(text, location);
    if (id !== undefined) textsById.set(id, text);
  }
  for (const { collection, roles } of queries?.allowed ?? [])
    for (const [name, text] of queries?.collections.get(collection) ?? [])
      add(text, `query "${name}" of the collection "${collection}"`, roles);
  return { rolesByDocument, textsById } satisfies TrustedQueries;
};

/** The members that name a document, other than the hash of a persisted query. GraphQL over HTTP and Relay define these
 *  members. */
const ID_MEMBERS = ["documentId", "doc_id", "id"];

const applyTrustedDocuments = (_hooks: RelApiHooks, context: PluginContext): void => {
  const { logger } = context;
  const { enableAllowlist, trustedDocuments: folder } = context.options;
  const warn = (text: string): void => logger.warn(text);
  let trustedQueries: TrustedQueries = collectDocuments(folder, undefined, () => undefined); // invalid files prevent the start
  context.onModel((model) => {
    try {
      trustedQueries = collectDocuments(folder, getMetadataFacts(model)["metadata-queries"], warn);
    } catch (error) {
      logger.error("failed to load the trusted documents; keeping the previous ones", buildErrorFields(error));
    }
  });
  const forms = context.caches.create({
    name: "trusted documents",
    make: (ask: Ask<string>) => normalizeDocument(ask(TEXT)),
    estimateBytes: (form) => form.length * 2,
  });

  context.use(findGqlDocumentHook).tap("trusted-documents", (request) => {
    if (hasQuery(request)) return undefined;
    const hash = getSentHash(request);
    if (hash !== undefined)
      return typeof hash === "string" ? trustedQueries.textsById.get(hash.toLowerCase()) : undefined;
    const name = ID_MEMBERS.map((member) => request[member]).find((value) => typeof value === "string");
    if (typeof name !== "string") return undefined;
    const text = trustedQueries.textsById.get(name.replace(/^sha256:/, ""));
    if (text === undefined) throw persistedQueryNotFound();
    return text;
  });

  if (!enableAllowlist) return;
  context.use(checkGqlDocumentHook).tap("trusted-documents", (text, { isAdmin, role }) => {
    if (isAdmin) return;
    const { value: form, commit: keep } = forms.get(text);
    const roles = trustedQueries.rolesByDocument.get(form);
    if (roles !== true && roles?.has(role) !== true) throw queryNotAllowed();
    keep(); // rejected texts are not cached
  });
};

/** Serves trusted documents. @rule G-ALW-1 G-ALW-2 G-ALW-3 */
export const trustedDocuments = definePlugin({
  name: "trusted-documents",
  requires: ["graphql"],
  // Documents of persisted queries come from clients, so trusted documents are looked up first.
  before: ["persisted-queries"],
  settings: trustedSettings,
  apply: applyTrustedDocuments,
});
