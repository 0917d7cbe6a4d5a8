/** Reads query collections of the metadata, the allow list, and the endpoints that refer to them. @rule G-MET-14 */
import type { MetadataEndpoint, MetadataQueries } from "./api.ts";
import { type LogIgnored, type RawValue, type RawObject } from "./raw-values.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../shared/json-values.ts";

const readTexts = (rawValue: RawValue | undefined): readonly string[] =>
  readListOrEmpty(rawValue).flatMap((item) => readText(item) ?? []);

/** Collects objects by name. Objects without a name are reported. */
const collectByName = <Value>(
  rawEntries: readonly RawValue[],
  kind: string,
  read: (rawObject: RawObject, name: string) => Value | undefined,
  logIgnored: LogIgnored,
): ReadonlyMap<string, Value> => {
  const values = new Map<string, Value>();
  for (const rawEntry of rawEntries) {
    const name = readText(readObjectOrEmpty(rawEntry)["name"]);
    const value = name === undefined ? undefined : read(readObjectOrEmpty(rawEntry), name);
    if (name === undefined) logIgnored(`${kind} without a name; ignored`);
    else if (value !== undefined) values.set(name, value);
  }
  return values;
};

/** Reads the queries. Keys that no plugin handles were already reported, so this function ignores them. */
export const readQueries = (top: RawObject, served: readonly string[], logIgnored: LogIgnored): MetadataQueries => {
  const readServedKey = (key: string): readonly RawValue[] => (served.includes(key) ? readListOrEmpty(top[key]) : []);
  const collections = collectByName(
    readServedKey("query_collections"),
    "query collection",
    (rawObject, name) =>
      collectByName(
        readListOrEmpty(readObjectOrEmpty(rawObject["definition"])["queries"]),
        `query collection ${name}: query`,
        (query) => readText(query["query"]),
        logIgnored,
      ),
    logIgnored,
  );
  const allowedCollections = [...readServedKey("allowlist"), ...readServedKey("allow_list")].flatMap(
    (rawEntry): MetadataQueries["allowed"] => {
      const collection = readText(readObjectOrEmpty(rawEntry)["collection"]);
      if (collection === undefined || !collections.has(collection)) {
        logIgnored(`allow list: there is no query collection "${collection ?? ""}"; ignored`);
        return [];
      }
      const scope = readObjectOrEmpty(readObjectOrEmpty(rawEntry)["scope"]);
      return scope["global"] === false ? [{ collection, roles: readTexts(scope["roles"]) }] : [{ collection }];
    },
  );
  const endpoints = collectByName(
    readServedKey("rest_endpoints"),
    "REST endpoint",
    (rawObject, name): MetadataEndpoint | undefined => {
      const query = readObjectOrEmpty(readObjectOrEmpty(rawObject["definition"])["query"]);
      const collection = readText(query["collection_name"]) ?? "";
      const document = collections.get(collection)?.get(readText(query["query_name"]) ?? "");
      const url = readText(rawObject["url"]);
      if (url !== undefined && document !== undefined)
        return { name, url, methods: readTexts(rawObject["methods"]), document };
      logIgnored(
        `REST endpoint ${name}: ${
          url === undefined
            ? "it has no url"
            : `there is no query "${readText(query["query_name"]) ?? ""}" in the collection "${collection}"`
        }; ignored`,
        { type: "rest_endpoint", name },
      );
      return undefined;
    },
    logIgnored,
  );
  return { collections, allowed: allowedCollections, endpoints: [...endpoints.values()] };
};
