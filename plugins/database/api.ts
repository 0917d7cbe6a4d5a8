/** The interface of reloads for other plugins: a service, and a method of the api. */
import { defineService } from "../../core/index.ts";

declare module "../../core/index.ts" {
  interface ApiMethods {
    /** Reads schema, settings and metadata again, in all processes. Resolves when this process has finished. */
    reloadAll(): Promise<void>;
  }
}

/** Makes the other processes reload, but not this one. The plugin `reload-all` provides this service. @experimental */
export const reloadOthersService = defineService<{ requestReload(): void }>("reload-others");
