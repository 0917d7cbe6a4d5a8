import type { IncomingMessage, ServerResponse } from "node:http";
import { definePlugin, Stage } from "../../core/index.ts";

/** The data that the application's middleware has about the caller. */
interface AppUser {
  readonly id: string;
  readonly role: string;
}

type Middleware = (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void;

/**
 * The caller is the user that a middleware of the application has stored in `request.user`. Express does not run the
 * middleware for upgrade requests of WebSockets, so the scheme runs it.
 */
export const appUsers = (middleware: Middleware) =>
  definePlugin({
    name: "app-users",
    stage: Stage.early,
    apply: (hooks) => {
      hooks.authorize.tapPromise("app-users", async ({ request, isSocket }) => {
        if (isSocket) {
          await new Promise<void>((resolve, reject) => {
            // a middleware that only reads the request needs no real response
            middleware(request, {} as ServerResponse, (error) => (error === undefined ? resolve() : reject(error)));
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
