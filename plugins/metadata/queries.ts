/** Reads query collections of the metadata, the allow list, and the endpoints that refer to them. @rule G-MET-14 */
import type { MetadataEndpoint, MetadataQueries } from "./api.ts";
import { isObject, type Raw } from "./load.ts";
import type { LogIgnored } from "./log-ignored.ts";

type RawObject = { readonly [key: string]: Raw };

const listOf = (raw: Raw | undefined): readonly Raw[] => (Array.isArray(raw) ? raw : []);
const objectOf = (raw: Raw | undefined): RawObject => (isObject(raw) ? raw : {});
const textOf = (raw: Raw | undefined): string | undefined => (typeof raw === "string" ? raw : undefined);
const textsOf = (raw: Raw | undefined): readonly string[] => listOf(raw).flatMap((item) => textOf(item) ?? []);

/** Collects objects by name. Objects without a name are reported. */
const byName = <Value>(
  raws: readonly Raw[],
  what: string,
  read: (raw: RawObject, name: string) => Value | undefined,
  note: LogIgnored,
): ReadonlyMap<string, Value> => {
  const found = new Map<string, Value>();
  for (const raw of raws) {
    const name = textOf(objectOf(raw)["name"]);
    const value = name === undefined ? undefined : read(objectOf(raw), name);
    if (name === undefined) note(`${what} without a name; ignored`);
    else if (value !== undefined) found.set(name, value);
  }
  return found;
};

/** Ignores keys that no plugin handles, because they were already reported. */
export const readQueries = (top: RawObject, served: readonly string[], note: LogIgnored): MetadataQueries => {
  const of = (key: string): readonly Raw[] => (served.includes(key) ? listOf(top[key]) : []);
  const collections = byName(
    of("query_collections"),
    "query collection",
    (raw, name) =>
      byName(
        listOf(objectOf(raw["definition"])["queries"]),
        `query collection ${name}: query`,
        (query) => textOf(query["query"]),
        note,
      ),
    note,
  );
  const allowed = [...of("allowlist"), ...of("allow_list")].flatMap((raw): MetadataQueries["allowed"] => {
    const collection = textOf(objectOf(raw)["collection"]);
    if (collection === undefined || !collections.has(collection)) {
      note(`allow list: there is no query collection "${collection ?? ""}"; ignored`);
      return [];
    }
    const scope = objectOf(objectOf(raw)["scope"]);
    return scope["global"] === false ? [{ collection, roles: textsOf(scope["roles"]) }] : [{ collection }];
  });
  const endpoints = byName(
    of("rest_endpoints"),
    "REST endpoint",
    (raw, name): MetadataEndpoint | undefined => {
      const query = objectOf(objectOf(raw["definition"])["query"]);
      const collection = textOf(query["collection_name"]) ?? "";
      const document = collections.get(collection)?.get(textOf(query["query_name"]) ?? "");
      const url = textOf(raw["url"]);
      if (url !== undefined && document !== undefined) return { name, url, methods: textsOf(raw["methods"]), document };
      note(
        `REST endpoint ${name}: ${
          url === undefined
            ? "it has no url"
            : `there is no query "${textOf(query["query_name"]) ?? ""}" in the collection "${collection}"`
        }; ignored`,
        { type: "rest_endpoint", name },
      );
      return undefined;
    },
    note,
  );
  return { collections, allowed, endpoints: [...endpoints.values()] };
};
