/** Builds the remote schemas of a model that can be served, and the part that each role sees. */
import type { GraphQLSchema } from "graphql";
import type { MetadataProblem } from "../../metadata/api.ts";
import { getErrorMessage, RelApiError, type PluginContext } from "../../../core/index.ts";
import { createConflictCheck, type LocalNames } from "./schema/conflicts.ts";
import type { RemoteDefinition } from "./schema/definition.ts";
import { RemoteSchemaProblem } from "./errors.ts";
import type { RemoteSchemaReader } from "./schema/introspection.ts";
import { buildRolePart } from "./schema/permissions.ts";
import type { WrapTools } from "./schema/wrap-tools.ts";
import { buildRoleSchema, type RemoteRoleSchema } from "./schema/role-schema.ts";

/** A remote schema that is served. */
export interface Remote {
  readonly definition: RemoteDefinition;
  readonly full: GraphQLSchema;
  /** The schema of administrators. */
  readonly adminSchema: RemoteRoleSchema;
  readonly roleSchemas: ReadonlyMap<string, RemoteRoleSchema>;
}

/** Reports a remote schema, or the permission of a role on it, that cannot be served. */
export type ReportProblem = (problem: Pick<MetadataProblem, "type" | "name" | "role">, reason: string) => void;

const NO_PRESETS = new Map<string, never>();

const buildRemote = (
  context: PluginContext,
  tools: WrapTools,
  definition: RemoteDefinition,
  full: GraphQLSchema,
): { readonly remote: Remote; readonly rejections: ReadonlyMap<string, string> } => {
  const parts = { context, tools, definition, full };
  const roleSchemas = new Map<string, RemoteRoleSchema>();
  const rejections = new Map<string, string>();
  for (const { role, sdl } of definition.permissions) {
    try {
      roleSchemas.set(role, buildRoleSchema({ ...parts, part: buildRolePart(sdl, full) }));
    } catch (error) {
      if (!(error instanceof RemoteSchemaProblem)) throw error;
      rejections.set(role, error.message);
    }
  }
  const adminSchema = buildRoleSchema({ ...parts, part: { schema: full, presets: NO_PRESETS } });
  return { remote: { definition, full, adminSchema, roleSchemas }, rejections };
};

type BuiltRemote = ReturnType<typeof buildRemote>;

/** Builds the remote schemas of each model. Those whose definition and schema stay the same are built once. */
export const createRemoteBuilder = (context: PluginContext, reader: RemoteSchemaReader) => {
  let builtRemotes: ReadonlyMap<string, BuiltRemote> = new Map();
  return async (
    tools: WrapTools,
    definitions: readonly RemoteDefinition[],
    names: LocalNames,
    report: ReportProblem,
  ): Promise<readonly Remote[]> => {
    reader.keepOnly(new Set(definitions.map(({ name }) => name)));
    const read = await Promise.allSettled(definitions.map((definition) => reader.read(definition)));
    const conflicts = createConflictCheck(names);
    const nextRemotes = new Map<string, BuiltRemote>();
    for (const [i, definition] of definitions.entries()) {
      const { name, key } = definition;
      const result = read[i] as PromiseSettledResult<GraphQLSchema>; // there is one per definition
      try {
        if (result.status === "rejected") throw result.reason;
        const full = result.value;
        const previousRemote = builtRemotes.get(name);
        const builtRemote =
          previousRemote !== undefined &&
          previousRemote.remote.definition.key === key &&
          previousRemote.remote.full === full
            ? previousRemote
            : buildRemote(context, tools, definition, full);
        conflicts.add(name, builtRemote.remote.adminSchema, definition.customization.namespace !== undefined);
        nextRemotes.set(name, builtRemote);
        for (const [role, reason] of builtRemote.rejections)
          report({ type: "remote_schema_permission", name, role }, reason);
      } catch (error) {
        // A mistake of the application stops the start.
        if (error instanceof RelApiError) throw error;
        // Any other error leaves out this remote only.
        report({ type: "remote_schema", name }, getErrorMessage(error));
      }
    }
    builtRemotes = nextRemotes;
    return [...nextRemotes.values()].map(({ remote }) => remote);
  };
};

/** Returns the permission of a role, or the one that all its parents with a permission have. @rule X-RMT-9a */
export const findRoleSchema = (
  { roleSchemas, definition: { permissions } }: Remote,
  role: string,
  parents: ReadonlyMap<string, readonly string[]>,
): RemoteRoleSchema | undefined => {
  const roleSchema = roleSchemas.get(role);
  if (roleSchema !== undefined || !parents.has(role)) return roleSchema;
  const ancestors = new Set([role]);
  for (const ancestor of ancestors) for (const parent of parents.get(ancestor) ?? []) ancestors.add(parent);
  const grantedPermissions = permissions.filter((permission) => ancestors.has(permission.role));
  const [first] = grantedPermissions;
  return first !== undefined && grantedPermissions.every(({ sdl }) => sdl === first.sdl)
    ? roleSchemas.get(first.role)
    : undefined;
};
