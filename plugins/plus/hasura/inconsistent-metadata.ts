/** Metadata objects that do not fit the database, in Hasura's format. @rule P-HAS-9 */
import type { Json } from "../../../core/index.ts";
import type { MetadataProblem } from "../../metadata/api.ts";
import { entryOf, isNamed, isServedSource, listOf, MEMBERS, displayName, type Entry } from "./document.ts";

const sourceOf = (document: Entry): Entry => entryOf(listOf(document["sources"]).map(entryOf).find(isServedSource));

const textOr = (value: Json | undefined, otherwise: string): string => (typeof value === "string" ? value : otherwise);

const WORDS = {
  object_relation: "relationship",
  array_relation: "relationship",
  computed_field: "computed field",
  select_permission: "permission for role",
  insert_permission: "permission for role",
  update_permission: "permission for role",
  delete_permission: "permission for role",
} as const;

const isMember = (type: MetadataProblem["type"]): type is keyof typeof WORDS => type in WORDS;

/** The end of a log message, which is left out of the reason. */
const IGNORED = /; ignored$/;

const reasonOf = ({ type, of, name, reason, detail: own }: MetadataProblem): string => {
  if (type === "table" && of !== undefined && own === undefined)
    return `no such table/view exists in source: "${displayName(of)}"`;
  const detail = own ?? reason.replace(IGNORED, "");
  if (!isMember(type) || of === undefined) return detail;
  return `in table "${displayName(of)}": in ${WORDS[type]} "${name ?? ""}": ${detail}`;
};

/** The object as the arguments of the command that creates it. */
const definitionOf = ({ type, of, name = "" }: MetadataProblem, document: Entry): Json => {
  if (type === "inherited_role")
    return listOf(document["inherited_roles"]).find((role) => entryOf(role)["role_name"] === name) ?? { name };
  if (of === undefined) return { name };
  if (type === "function") return { function: { ...of } };
  if (!isMember(type)) return { ...of };
  const source = sourceOf(document);
  const table = entryOf(listOf(source["tables"]).find((one) => isNamed(entryOf(one)["table"], of)));
  const [list, key] = MEMBERS[type];
  const entry = entryOf(listOf(table[list]).find((one) => entryOf(one)[key] === name));
  return { comment: null, ...entry, [key]: name, source: textOr(source["name"], "default"), table: { ...of } };
};

export const encodeProblem = (problem: MetadataProblem, document: Entry): Json => {
  const { of, name } = problem;
  const type = problem.type === "enum_table" ? "table" : problem.type;
  const place = `${of === undefined ? "" : displayName(of)} in source ${textOr(sourceOf(document)["name"], "default")}`;
  const member = isMember(type) ? `${name ?? ""} in table ${place}` : place;
  return {
    definition: definitionOf(problem, document),
    name: of === undefined ? `${type} ${name ?? ""}` : `${type} ${member}`,
    reason: `Inconsistent object: ${reasonOf(problem)}`,
    type,
  };
};

/** An object that prevents a drop: `permission album.reader.select in source "default"`. */
export const encodeDependent = ({ type, of, name = "" }: MetadataProblem, document: Entry): string => {
  const source = textOr(sourceOf(document)["name"], "default");
  if (of === undefined) return `${type.replace("_", " ")} ${name}`;
  const table = displayName(of);
  const operation = /^(.*)_permission$/.exec(type)?.[1];
  const words =
    operation !== undefined
      ? `permission ${table}.${name}.${operation}`
      : isMember(type)
        ? `${WORDS[type]} ${table}.${name}`
        : `${type.replace("_", " ")} ${table}`;
  return `${words} in source "${source}"`;
};
