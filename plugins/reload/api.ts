/** What reloads add to the api: types and tokens. */
import { defineService } from "../../core/index.ts";

declare module "../../core/http/call.ts" {
  interface ApiMethods {
    /** Reads schema, settings and metadata again, in all processes. Resolves when this one has. */
    reloadAll(): Promise<void>;
  }
}

/** Offered by the plugin `reload-all`: the other processes load, this one does not. */
export const reloadOthersService = defineService<{ ask(): void }>("reload-others");
