/** The interface of the catalog and of reloads for other plugins: a key of the model, a service, and a method of the
 *  api. */
import { defineService } from "../../core/index.ts";

declare module "../../core/index.ts" {
  interface ApiMethods {
    /** Reads schema, settings and metadata again, in all processes. Resolves when this process has finished. */
    reloadAll(): Promise<void>;
  }
}

/** The key in `model.pluginFacts` of the relations and routines to load although their schema is not exposed. A tap of
 *  `introspect` before `catalog-introspection` adds them. @experimental */
export const ADDITIONAL_OBJECTS = "additional-objects";

/** Makes the other processes reload, but not this one. The plugin `reload-all` provides this service. @experimental */
export const reloadOthersService = defineService<{ requestReload(): void }>("reload-others");
