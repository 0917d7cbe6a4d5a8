/** The service by which `remoteSchemas` passes the remote schemas of code to the plugin that serves them. */
import { defineService } from "../../../core/index.ts";
import type { RemoteDefinition } from "./definition.ts";

export const ownRemoteSchemas = defineService<readonly RemoteDefinition[]>("remote-schemas");
