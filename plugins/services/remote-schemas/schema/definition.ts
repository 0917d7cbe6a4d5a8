/** Reads the definitions of remote schemas, from the metadata and from code. */
import type { GraphQLSchema } from "graphql";
import { isJsonObject, getNumberText, writeJson, type Json, type JsonObject } from "../../../../core/index.ts";
import { RemoteSchemaProblem } from "../errors.ts";
import { readHeaderTemplates, type HeaderTemplate } from "../../webhook/templates.ts";

/** The customization of a remote schema's names. @rule X-RMT-5 */
export interface RemoteCustomization {
  readonly namespace?: string;
  readonly typePrefix: string;
  readonly typeSuffix: string;
  readonly typeNames: ReadonlyMap<string, string>;
  /** The renaming functions of fields by the remote's name of their type. */
  readonly fieldNames: ReadonlyMap<string, (name: string) => string>;
}

/** A server of a remote schema. */
export interface RemoteServer {
  readonly url: string;
  readonly headers: readonly HeaderTemplate[];
  readonly forwardsClientHeaders: boolean;
  readonly timeoutMs: number;
}

/** The location of a remote schema: a server, or a schema of this process. */
type RemoteTarget = RemoteServer | { readonly schema: GraphQLSchema };

export interface RemoteDefinition {
  readonly name: string;
  readonly target: RemoteTarget;
  readonly customization: RemoteCustomization;
  /** The SDL of the part that each role may use. */
  readonly permissions: readonly { readonly role: string; readonly sdl: string }[];
  /** The key is equal for definitions with the same target. */
  readonly targetKey: string;
  /** The key is equal for definitions with the same target, names and permissions. */
  readonly key: string;
}

const DEFAULT_TIMEOUT_SECONDS = 60;
const MAX_TIMEOUT_SECONDS = 3600;

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

const readOptionalObject = (value: Json | undefined, subject: string): JsonObject => {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) throw new RemoteSchemaProblem(`${subject} is not an object`);
  return value;
};

const readOptionalList = (value: Json | undefined, subject: string): readonly Json[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new RemoteSchemaProblem(`${subject} is not a list`);
  return value;
};

const readOptionalText = (value: Json | undefined, subject: string): string | undefined => {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw new RemoteSchemaProblem(`${subject} is not a string`);
  return value;
};

/** Reads a part of a GraphQL name, which may be empty. */
const readNamePart = (value: Json | undefined, subject: string): string => {
  const text = readOptionalText(value, subject) ?? "";
  if (!/^[_0-9A-Za-z]*$/.test(text)) throw new RemoteSchemaProblem(`${subject} is not a part of a GraphQL name`);
  return text;
};

const readMapping = (value: Json | undefined, subject: string): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(readOptionalObject(value, subject)).map(([from, to]) => {
      if (typeof to !== "string" || !NAME.test(to))
        throw new RemoteSchemaProblem(`${subject}.${from} is not a GraphQL name`);
      return [from, to];
    }),
  );

const readCustomization = (rawValue: Json | undefined): RemoteCustomization => {
  const customization = readOptionalObject(rawValue, "customization");
  const namespace = readOptionalText(customization["root_fields_namespace"], "root_fields_namespace");
  if (namespace !== undefined && namespace !== "" && !NAME.test(namespace))
    throw new RemoteSchemaProblem("root_fields_namespace is not a GraphQL name");
  const types = readOptionalObject(customization["type_names"], "type_names");
  const fieldNames = new Map<string, (name: string) => string>();
  for (const item of readOptionalList(customization["field_names"], "field_names")) {
    const fields = readOptionalObject(item, "field_names");
    const parent = readOptionalText(fields["parent_type"], "parent_type");
    if (parent === undefined) throw new RemoteSchemaProblem("field_names has an entry without parent_type");
    const prefix = readNamePart(fields["prefix"], "prefix");
    const suffix = readNamePart(fields["suffix"], "suffix");
    const mapping = readMapping(fields["mapping"], "mapping");
    fieldNames.set(parent, (name) => mapping.get(name) ?? `${prefix}${name}${suffix}`);
  }
  return {
    ...(namespace !== undefined && namespace !== "" && { namespace }),
    typePrefix: readNamePart(types["prefix"], "prefix"),
    typeSuffix: readNamePart(types["suffix"], "suffix"),
    typeNames: readMapping(types["mapping"], "mapping"),
    fieldNames,
  };
};

const readTimeout = (rawValue: Json | undefined): number => {
  if (rawValue === undefined || rawValue === null) return DEFAULT_TIMEOUT_SECONDS * 1000;
  const seconds = Number(getNumberText(rawValue) ?? Number.NaN);
  if (!(seconds > 0 && seconds <= MAX_TIMEOUT_SECONDS))
    throw new RemoteSchemaProblem(`timeout_seconds is not a number up to ${MAX_TIMEOUT_SECONDS}`);
  return seconds * 1000;
};

const readTarget = (definition: JsonObject): RemoteTarget => {
  const url = readOptionalText(definition["url"], "url");
  const variable = readOptionalText(definition["url_from_env"], "url_from_env");
  if ((url === undefined) === (variable === undefined))
    throw new RemoteSchemaProblem("the definition has either url or url_from_env");
  return {
    // The client expands templates with each request.
    url: url ?? `{{${variable}}}`,
    headers: readHeaderTemplates(definition["headers"], (reason) => new RemoteSchemaProblem(reason)),
    forwardsClientHeaders: definition["forward_client_headers"] === true,
    timeoutMs: readTimeout(definition["timeout_seconds"]),
  };
};

const readPermissions = (rawValue: Json | undefined): RemoteDefinition["permissions"] => {
  const permissions = readOptionalList(rawValue, "permissions").map((item) => {
    const entry = readOptionalObject(item, "permissions");
    const role = readOptionalText(entry["role"], "role");
    const sdl = readOptionalText(readOptionalObject(entry["definition"], "definition")["schema"], "schema");
    if (role === undefined || sdl === undefined)
      throw new RemoteSchemaProblem("a permission has a role and definition.schema");
    return { role, sdl };
  });
  const roles = permissions.map(({ role }) => role);
  const duplicateRole = roles.find((role, i) => roles.indexOf(role) !== i);
  if (duplicateRole !== undefined) throw new RemoteSchemaProblem(`the role ${duplicateRole} has two permissions`);
  return permissions;
};

/** Reads an entry of `remote_schemas`. @throws RemoteSchemaProblem */
export const readDefinition = (name: string, rawObject: JsonObject): RemoteDefinition => {
  const definition = readOptionalObject(rawObject["definition"], "definition");
  const { customization, ...target } = definition;
  return {
    name,
    target: readTarget(definition),
    customization: readCustomization(customization),
    permissions: readPermissions(rawObject["permissions"]),
    targetKey: writeJson(target),
    key: writeJson([definition, rawObject["permissions"] ?? null]),
  };
};

/** A remote schema of code: a schema of graphql-js, or a server. The other members are those of the metadata.
 *  @rule X-RMT-2 */
export type RemoteSchema = (
  | { readonly schema: GraphQLSchema }
  | {
      readonly url: string;
      /** The headers of each request. */
      readonly headers?: Readonly<Record<string, string>>;
      /** True if the server receives the headers of the client. */
      readonly forwardClientHeaders?: boolean;
      /** The time limit of a request, by default 60 seconds. */
      readonly timeoutSeconds?: number;
    }
) & {
  /** The part that each role may use, as SDL. */
  readonly permissions?: Readonly<Record<string, string>>;
  /** The same object as `customization` in the metadata. */
  readonly customization?: JsonObject;
};

/** Converts a remote schema of code to a definition. @throws RemoteSchemaProblem */
export const convertRemoteSchema = (name: string, remote: RemoteSchema): RemoteDefinition => {
  const { permissions = {}, customization = null } = remote;
  const entries = Object.entries(permissions).map(([role, schema]) => ({ role, definition: { schema } }));
  if ("schema" in remote) {
    const read = readDefinition(name, {
      definition: { url: "http://localhost/", customization },
      permissions: entries,
    });
    return { ...read, target: { schema: remote.schema }, targetKey: name };
  }
  const { url, headers = {}, forwardClientHeaders = false, timeoutSeconds } = remote;
  return readDefinition(name, {
    definition: {
      url,
      headers: Object.entries(headers).map(([header, value]) => ({ name: header, value })),
      forward_client_headers: forwardClientHeaders,
      ...(timeoutSeconds !== undefined && { timeout_seconds: timeoutSeconds }),
      customization,
    },
    permissions: entries,
  });
};
