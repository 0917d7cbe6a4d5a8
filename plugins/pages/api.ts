/** The service of the playground, for other plugins. */
import { defineService } from "../../core/index.ts";

/** The playground page. The plugin `playground` provides this service if its files are installed. @experimental */
export const playgroundService = defineService<{ readonly path: string }>("playground");
