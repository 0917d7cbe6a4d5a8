/** One line per answer on stdout, by the log level. */
import { definePlugin, lowestLogged } from "../../core/index.ts";
import { accessLine } from "./access-line.ts";

/** @rule R-ADM-3 */
export const accessLog = definePlugin({
  name: "access-log",
  apply: (_hooks, context) => {
    const { logLevel, logger: ownLogger } = context.options;
    const lowest = ownLogger === undefined ? lowestLogged(logLevel) : 0;
    context.addStep({
      name: "access-log",
      after: ({ request, isUnlogged }, { status, bytes, session }) => {
        if (isUnlogged || status < lowest) return;
        const url = (request as { readonly originalUrl?: string }).originalUrl ?? request.url ?? "/"; // set by Express
        context.logger.access(accessLine(request, url, session?.role, status, bytes), status);
      },
    });
  },
});
