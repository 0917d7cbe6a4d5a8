import type { Request, RequestHandler, Response } from "express";
import { definePlugin, Stage } from "../../core/index.ts";

/** The data that the application's middleware has about the caller. */
interface AppUser {
  readonly id: string;
  readonly role: string;
}

/**
 * The caller is the user that a middleware of the application has stored in `request.user`. Express does not run the
 * middleware for upgrade requests of WebSockets, so the scheme runs it.
 */
export const appUsers = (middleware: RequestHandler) =>
  definePlugin({
    name: "app-users",
    stage: Stage.early,
    apply: (hooks) => {
      hooks.authorize.tapPromise("app-users", async ({ request, isSocket }) => {
        if (isSocket) {
          await new Promise<void>((resolve, reject) => {
            // A middleware that only reads the request needs no real response.
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
