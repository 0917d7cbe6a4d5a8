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
  excludedError,
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
import { readList, readObject, readText } from "../../shared/json-values.ts";

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
const listUnknownKeys = (raw: JsonObject): readonly string[] => [
  ...Object.keys(raw).filter((key) => !ACTION_KEYS.has(key)),
  ...Object.keys(readObject(raw["definition"])).flatMap((key) =>
    DEFINITION_KEYS.has(key) ? [] : [`definition.${key}`],
  ),
];

/** Returns the action that an entry of the metadata defines.
 *  @throws Error with the reason for leaving the action out */
const readWebhookAction = (raw: JsonObject, types: CustomTypes, surroundings: ActionSurroundings): WebhookAction => {
  const definition = readObject(raw["definition"]);
  const field = readActionField(raw, types, surroundings);
  const kind = definition["kind"] ?? "";
  const isAsynchronous = kind === "asynchronous";
  // Hasura exports an empty kind for queries.
  if (!isAsynchronous && kind !== "" && kind !== "synchronous") throw excludedError("its kind is unknown");
  if (isAsynchronous) checkAsynchronous(field, types, surroundings);
  const handler = readText(definition["handler"]);
  if (handler === undefined) throw excludedError("it has no handler");
  const forwardsHeaders = definition["forward_client_headers"] ?? false;
  if (typeof forwardsHeaders !== "boolean") throw excludedError("its forward_client_headers is neither true nor false");
  const url = expandTemplate(handler);
  if (!URL.canParse(url) || !/^https?:/i.test(url)) throw excludedError("its handler is not an http or https URL");
  return {
    field,
    url,
    headers: expandHeaders(readHeaderTemplates(definition["headers"], excludedError)),
    forwardsHeaders,
    timeoutMs: readSeconds(definition["timeout"], DEFAULT_SECONDS) * 1000,
    transforms: readTransforms(definition, excludedError),
    isAsynchronous,
  };
};

/** Adds the roles that inherit a permission. */
const addInheritedRoles = (raw: JsonObject, inheritedRoles: MetadataActions["inheritedRoles"]): JsonObject => {
  if (!isListOrAbsent(raw["permissions"])) return raw; // `readActionField` refuses the action
  const roles = new Set(readList(raw["permissions"]).flatMap((entry) => readText(readObject(entry)["role"]) ?? []));
  for (let size = -1; size !== roles.size;) {
    size = roles.size;
    for (const { role, parents } of inheritedRoles) if (parents.some((parent) => roles.has(parent))) roles.add(role);
  }
  return { ...raw, permissions: [...roles].map((role) => ({ role })) };
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
  for (const raw of actions) {
    const name = readText(readObject(raw)["name"]) ?? "";
    try {
      if (!isJsonObject(raw)) throw excludedError("it is not an object");
      if (foundActions.has(name)) throw excludedError("the name is taken");
      for (const key of listUnknownKeys(raw)) warn(name, `${key} is unknown`);
      foundActions.set(name, readWebhookAction(addInheritedRoles(raw, inheritedRoles), types, surroundings));
    } catch (error) {
      report("action", name, (error as Error).message); // the reasons are written here and in `templates.ts`
    }
  }
  return { types, actions: [...foundActions.values()] };
};
