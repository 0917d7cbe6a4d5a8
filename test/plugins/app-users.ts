import type { Request, RequestHandler, Response } from "express";
import { definePlugin, Stage } from "../../core/index.ts";

/** The data that the application's middleware has about the caller. */
interface AppUser {
  readonly id: string;
  readonly role: string;
}

/**
 * The user that a middleware of the application has put on the request (`request.user`) is the caller. Requests have been
 * through it when they get here; upgrade requests of WebSockets have not, so it runs for them.
 */
export const appUsers = (middleware: RequestHandler) =>
  definePlugin({
    name: "app-users",
    stage: Stage.early,
    apply: (hooks) => {
      hooks.authorize.tapPromise("app-users", async ({ request, isSocket }) => {
        if (isSocket) {
          await new Promise<void>((resolve, reject) => {
            // nothing is written: the response only has to be there
            const next = (error?: unknown) => (error === undefined ? resolve() : reject(error));
            void middleware(request as Request, {} as Response, next);
          });
        }
        const { user } = request as Request & { readonly user?: AppUser };
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
