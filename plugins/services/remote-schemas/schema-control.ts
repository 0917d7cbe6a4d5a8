/** Lets other plugins reload and introspect remote schemas. @rule X-RMT-11 */
import type { PluginContext } from "../../../core/index.ts";
import type { RemoteSchemaControl } from "../api.ts";
import type { RemoteDefinition, RemoteServer } from "./schema/definition.ts";
import { remoteFailed, RemoteSchemaProblem, remoteUnknown } from "./errors.ts";
import { introspect, type RemoteSchemaReader } from "./schema/introspection.ts";

/** `list` returns the remote schemas of the current model. */
export const createControl = (
  context: PluginContext,
  reader: RemoteSchemaReader,
  list: () => readonly RemoteDefinition[],
): RemoteSchemaControl => {
  const find = (name: string): RemoteDefinition => {
    const foundDefinition = list().find((definition) => definition.name === name);
    if (foundDefinition === undefined) throw remoteUnknown(name);
    return foundDefinition;
  };
  const getServer = ({ name, target }: RemoteDefinition): RemoteServer => {
    if ("schema" in target) throw remoteFailed(name, "it is a schema of code");
    return target;
  };
  return {
    names: () => list().map(({ name }) => name),
    renew: async (name) => {
      try {
        await reader.refreshSchema(find(name));
      } catch (error) {
        throw error instanceof RemoteSchemaProblem ? remoteFailed(name, error.message) : error;
      }
    },
    introspect: async (name) => {
      const definition = find(name);
      return introspect(context, name, getServer(definition));
    },
  };
};
