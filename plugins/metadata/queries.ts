/** Reads query collections of the metadata, the allow list, and the endpoints that refer to them. @rule G-MET-14 */
import type { MetadataEndpoint, MetadataQueries } from "./api.ts";
import { type LogIgnored, type Raw, type RawObject } from "./raw-values.ts";
import { readList, readObject, readText } from "../shared/json-values.ts";

const readTexts = (raw: Raw | undefined): readonly string[] => readList(raw).flatMap((item) => readText(item) ?? []);

/** Collects objects by name. Objects without a name are reported. */
const collectByName = <Value>(
  raws: readonly Raw[],
  kind: string,
  read: (raw: RawObject, name: string) => Value | undefined,
  logIgnored: LogIgnored,
): ReadonlyMap<string, Value> => {
  const values = new Map<string, Value>();
  for (const raw of raws) {
    const name = readText(readObject(raw)["name"]);
    const value = name === undefined ? undefined : read(readObject(raw), name);
    if (name === undefined) logIgnored(`${kind} without a name; ignored`);
    else if (value !== undefined) values.set(name, value);
  }
  return values;
};

/** Reads the queries. Keys that no plugin handles were already reported, so this function ignores them. */
export const readQueries = (top: RawObject, served: readonly string[], logIgnored: LogIgnored): MetadataQueries => {
  const readServedKey = (key: string): readonly Raw[] => (served.includes(key) ? readList(top[key]) : []);
  const collections = collectByName(
    readServedKey("query_collections"),
    "query collection",
    (raw, name) =>
      collectByName(
        readList(readObject(raw["definition"])["queries"]),
        `query collection ${name}: query`,
        (query) => readText(query["query"]),
        logIgnored,
      ),
    logIgnored,
  );
  const allowedCollections = [...readServedKey("allowlist"), ...readServedKey("allow_list")].flatMap(
    (raw): MetadataQueries["allowed"] => {
      const collection = readText(readObject(raw)["collection"]);
      if (collection === undefined || !collections.has(collection)) {
        logIgnored(`allow list: there is no query collection "${collection ?? ""}"; ignored`);
        return [];
      }
      const scope = readObject(readObject(raw)["scope"]);
      return scope["global"] === false ? [{ collection, roles: readTexts(scope["roles"]) }] : [{ collection }];
    },
  );
  const endpoints = collectByName(
    readServedKey("rest_endpoints"),
    "REST endpoint",
    (raw, name): MetadataEndpoint | undefined => {
      const query = readObject(readObject(raw["definition"])["query"]);
      const collection = readText(query["collection_name"]) ?? "";
      const document = collections.get(collection)?.get(readText(query["query_name"]) ?? "");
      const url = readText(raw["url"]);
      if (url !== undefined && document !== undefined)
        return { name, url, methods: readTexts(raw["methods"]), document };
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
