/** The token by which code gives its remote schemas to the plugin that serves them. */
import { defineService } from "../../../core/index.ts";
import type { RemoteDefinition } from "./definition.ts";

export const ownRemoteSchemas = defineService<readonly RemoteDefinition[]>("remote-schemas");
