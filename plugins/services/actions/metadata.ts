/** Reads the actions of the metadata, whose handlers are webhooks. @rule X-ACT-1 X-ACT-3 */
import {
  findRelation,
  isJsonObject,
  isSameName,
  type JsonObject,
  type Model,
  type QualifiedName,
  type Relation,
} from "../../../core/index.ts";
import type { MetadataActions } from "../../metadata/api.ts";
import { expandHeaders, expandTemplate, readHeaderTemplates } from "../webhook/templates.ts";
import { readTransforms, type Transforms } from "../webhook/transform.ts";
import {
  checkAsynchronous,
  actionObjectExcluded,
  getDatabaseTypes,
  isListOrAbsent,
  readActionField,
  readCustomTypes,
  readSeconds,
  type ActionField,
  type ActionSurroundings,
  type CustomTypes,
  type ReportProblem,
} from "./definitions.ts";
import { addRelationships } from "./relationships.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../../shared/json-values.ts";

/** An action with a webhook. */
export interface WebhookAction {
  readonly field: ActionField;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly forwardsHeaders: boolean;
  readonly timeoutMs: number;
  readonly transforms: Transforms;
  /** True if the field answers an id, and the webhook is called in the background. */
  readonly isAsynchronous: boolean;
}

/** The actions that are served. */
export interface WebhookActions {
  readonly types: CustomTypes;
  readonly actions: readonly WebhookAction[];
}

const DEFAULT_SECONDS = 30;

const ACTION_KEYS: ReadonlySet<string> = new Set(["name", "comment", "definition", "permissions"]);
const DEFINITION_KEYS: ReadonlySet<string> = new Set([
  "handler",
  "type",
  "kind",
  "arguments",
  "output_type",
  "headers",
  "forward_client_headers",
  "timeout",
  "request_transform",
  "response_transform",
]);

/** Lists keys that have no effect, such as `definition.timout`. @rule X-ACT-8a */
const listUnknownKeys = (rawObject: JsonObject): readonly string[] => [
  ...Object.keys(rawObject).filter((key) => !ACTION_KEYS.has(key)),
  ...Object.keys(readObjectOrEmpty(rawObject["definition"])).flatMap((key) =>
    DEFINITION_KEYS.has(key) ? [] : [`definition.${key}`],
  ),
];

/** Returns the action that an entry of the metadata defines.
 *  @throws Error with the reason for leaving the action out */
const readWebhookAction = (
  rawObject: JsonObject,
  types: CustomTypes,
  surroundings: ActionSurroundings,
): WebhookAction => {
  const definition = readObjectOrEmpty(rawObject["definition"]);
  const field = readActionField(rawObject, types, surroundings);
  const kind = definition["kind"] ?? "";
  const isAsynchronous = kind === "asynchronous";
  // Hasura exports an empty kind for queries.
  if (!isAsynchronous && kind !== "" && kind !== "synchronous") throw actionObjectExcluded("its kind is unknown");
  if (isAsynchronous) checkAsynchronous(field, types, surroundings);
  const handler = readText(definition["handler"]);
  if (handler === undefined) throw actionObjectExcluded("it has no handler");
  const forwardsHeaders = definition["forward_client_headers"] ?? false;
  if (typeof forwardsHeaders !== "boolean")
    throw actionObjectExcluded("its forward_client_headers is neither true nor false");
  const url = expandTemplate(handler);
  if (!URL.canParse(url) || !/^https?:/i.test(url))
    throw actionObjectExcluded("its handler is not an http or https URL");
  return {
    field,
    url,
    headers: expandHeaders(readHeaderTemplates(definition["headers"], actionObjectExcluded)),
    forwardsHeaders,
    timeoutMs: readSeconds(definition["timeout"], DEFAULT_SECONDS) * 1000,
    transforms: readTransforms(definition, actionObjectExcluded),
    isAsynchronous,
  };
};

/** Adds the roles that inherit a permission. */
const addInheritedRoles = (rawObject: JsonObject, inheritedRoles: MetadataActions["inheritedRoles"]): JsonObject => {
  if (!isListOrAbsent(rawObject["permissions"])) return rawObject; // `readActionField` rejects the action
  const roles = new Set(
    readListOrEmpty(rawObject["permissions"]).flatMap((entry) => readText(readObjectOrEmpty(entry)["role"]) ?? []),
  );
  for (let size = -1; size !== roles.size;) {
    size = roles.size;
    for (const { role, parents } of inheritedRoles) if (parents.some((parent) => roles.has(parent))) roles.add(role);
  }
  return { ...rawObject, permissions: [...roles].map((role) => ({ role })) };
};

/** Reads the actions that fit, and reports the others. Without a queue, no action is asynchronous. */
export const readWebhookActions = (
  { actions, customTypes, inheritedRoles, takenNames, tables }: MetadataActions,
  model: Model,
  hasQueue: boolean,
  report: ReportProblem,
  warn: (name: string, reason: string) => void,
): WebhookActions => {
  const surroundings = {
    hasQueue,
    takenRoots: takenNames.roots,
    takenTypes: takenNames.types,
    isDatabaseType: (name: string) => getDatabaseTypes(model).has(name),
  };
  const findTable = (name: QualifiedName): Relation | undefined =>
    tables.some((table) => isSameName(table, name)) ? findRelation(model, name) : undefined;
  const types = addRelationships(
    readCustomTypes(customTypes, surroundings, report),
    customTypes["objects"],
    findTable,
    report,
  );
  const foundActions = new Map<string, WebhookAction>();
  for (const rawEntry of actions) {
    const name = readText(readObjectOrEmpty(rawEntry)["name"]) ?? "";
    try {
      if (!isJsonObject(rawEntry)) throw actionObjectExcluded("it is not an object");
      if (foundActions.has(name)) throw actionObjectExcluded("the name is taken");
      for (const key of listUnknownKeys(rawEntry)) warn(name, `${key} is unknown`);
      foundActions.set(name, readWebhookAction(addInheritedRoles(rawEntry, inheritedRoles), types, surroundings));
    } catch (error) {
      report("action", name, (error as Error).message); // the reasons are written here and in `templates.ts`
    }
  }
  return { types, actions: [...foundActions.values()] };
};
