/** Metadata objects that do not fit the database, in Hasura's format. @rule P-HAS-9 */
import type { Json } from "../../../core/index.ts";
import type { MetadataProblem } from "../../metadata/api.ts";
import { readEntry, hasName, isServedSource, readListOrEmpty, MEMBERS, formatName, type Entry } from "./document.ts";

const findServedSource = (document: Entry): Entry =>
  readEntry(readListOrEmpty(document["sources"]).map(readEntry).find(isServedSource));

const readSourceName = ({ name }: Readonly<Record<string, Json>>): string =>
  typeof name === "string" ? name : "default";

const MEMBER_WORDS = {
  object_relation: "relationship",
  array_relation: "relationship",
  computed_field: "computed field",
  select_permission: "permission for role",
  insert_permission: "permission for role",
  update_permission: "permission for role",
  delete_permission: "permission for role",
  event_trigger: "event trigger",
  remote_relationship: "remote relationship",
} as const;

const isMember = (type: MetadataProblem["type"]): type is keyof typeof MEMBER_WORDS => type in MEMBER_WORDS;

/** The end of a log message, which is left out of the reason. */
const IGNORED_SUFFIX = /; ignored$/;

const formatReason = ({ type, owner, name, reason, detail: problemDetail, remoteType }: MetadataProblem): string => {
  if (remoteType !== undefined)
    return `in remote relationship ${name ?? ""} on type ${remoteType.typeName} in remote schema ${remoteType.remote}: ${problemDetail ?? ""}`;
  if (type === "table" && owner !== undefined && problemDetail === undefined)
    return `no such table/view exists in source: "${formatName(owner)}"`;
  const detail = problemDetail ?? reason.replace(IGNORED_SUFFIX, "");
  if (!isMember(type) || owner === undefined) return detail;
  return `in table "${formatName(owner)}": in ${MEMBER_WORDS[type]} "${name ?? ""}": ${detail}`;
};

const findByKey = (list: Json | undefined, key: string, value: string): Entry =>
  readEntry(readListOrEmpty(list).find((entry) => readEntry(entry)[key] === value));

/** Returns the object as the arguments of the command that creates it. */
const findDefinition = ({ type, owner, name = "", remoteType }: MetadataProblem, document: Entry): Json => {
  if (remoteType !== undefined) {
    const { remote, typeName } = remoteType;
    const entry = findByKey(
      findByKey(document["remote_schemas"], "name", remote)["remote_relationships"],
      "type_name",
      typeName,
    );
    return {
      ...findByKey(entry["relationships"], "name", name),
      name,
      remote_schema: remote,
      type_name: typeName,
    };
  }
  if (type === "inherited_role")
    return (
      readListOrEmpty(document["inherited_roles"]).find((role) => readEntry(role)["role_name"] === name) ?? { name }
    );
  if (owner === undefined) return { name };
  if (type === "function") return { function: { ...owner } };
  if (!isMember(type)) return { ...owner };
  const source = findServedSource(document);
  const table = readEntry(
    readListOrEmpty(source["tables"]).find((tableEntry) => hasName(readEntry(tableEntry)["table"], owner)),
  );
  const [list, key] = MEMBERS[type];
  const entry = readEntry(readListOrEmpty(table[list]).find((member) => readEntry(member)[key] === name));
  return { comment: null, ...entry, [key]: name, source: readSourceName(source), table: { ...owner } };
};

export const encodeProblem = (problem: MetadataProblem, document: Entry): Json => {
  const { owner, name, remoteType } = problem;
  const type = problem.type === "enum_table" ? "table" : problem.type;
  const location = `${owner === undefined ? "" : formatName(owner)} in source ${readSourceName(findServedSource(document))}`;
  const member = isMember(type) ? `${name ?? ""} in table ${location}` : location;
  return {
    definition: findDefinition(problem, document),
    name:
      remoteType !== undefined
        ? `${type} remote_relationship ${name ?? ""} on type ${remoteType.typeName} in remote schema ${remoteType.remote}`
        : owner === undefined
          ? `${type} ${name ?? ""}`
          : `${type} ${member}`,
    reason: `Inconsistent object: ${formatReason(problem)}`,
    type,
  };
};

/** Returns an object that prevents a drop: `permission album.reader.select in source "default"`. */
export const encodeDependent = ({ type, owner, name = "", remoteType }: MetadataProblem, document: Entry): string => {
  if (remoteType !== undefined) return `remote relationship ${remoteType.remote}.${remoteType.typeName}.${name}`;
  const source = readSourceName(findServedSource(document));
  if (owner === undefined) return `${type.replace("_", " ")} ${name}`;
  const table = formatName(owner);
  const operation = /^(.*)_permission$/.exec(type)?.[1];
  const words =
    operation !== undefined
      ? `permission ${table}.${name}.${operation}`
      : isMember(type)
        ? `${MEMBER_WORDS[type]} ${table}.${name}`
        : `${type.replace("_", " ")} ${table}`;
  return `${words} in source "${source}"`;
};
