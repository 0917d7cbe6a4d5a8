import type { IncomingMessage } from "node:http";
import { definePlugin, Stage } from "../../core/index.ts";

/** The data that the application's middleware has about the caller. */
interface AppUser {
  readonly id: string;
  readonly role: string;
}

/** A middleware of Express, connect or `node:http`, each of which has types of its own. */
type Middleware = (request: any, response: any, next: (error?: unknown) => void) => unknown;

/**
 * The user that a middleware of the application has put on the request (`request.user`) is the caller. Requests have been
 * through it when they get here; upgrade requests of WebSockets have not, so it runs for them.
 */
export const appUsers = (middleware: Middleware) =>
  definePlugin({
    name: "app-users",
    stage: Stage.early,
    apply: (hooks) => {
      hooks.authorize.tapPromise("app-users", async ({ request, isSocket }) => {
        if (isSocket) {
          await new Promise<void>((resolve, reject) => {
            // nothing is written: the response only has to be there
            middleware(request, {}, (error) => (error === undefined ? resolve() : reject(error)));
          });
        }
        const { user } = request as IncomingMessage & { readonly user?: AppUser };
        if (user === undefined) return undefined; // not logged in: the next scheme is asked
        const { id, role } = user;
        return {
          role,
          databaseRole: role,
          isAdmin: false,
          claims: { role, sub: id },
          variables: { "x-session-role": role, "x-session-user-id": id },
        };
      });
    },
  });
