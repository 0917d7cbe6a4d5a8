import { createHash } from "node:crypto";
import {
  definePlugin,
  defineCacheQuestion,
  sql,
  Stage,
  tokenRejected,
  bindValue,
  type Ask,
  type Session,
} from "../../core/index.ts";
import { credentialsChangedSignal } from "../../plugins/auth/api.ts";

interface Key {
  readonly role: string;
  readonly owner: string;
}

const ROLE = defineCacheQuestion("role", ({ role }: Key) => role);
const OWNER = defineCacheQuestion("owner", ({ owner }: Key) => owner);

const sessionOfKey = (ask: Ask<Key>): Session => {
  const role = ask(ROLE);
  const variables = { "x-session-role": role, "x-session-user-id": ask(OWNER) };
  return { role, databaseRole: role, isAdmin: false, claims: { role }, variables };
};

/** `X-Api-Key: …`: the table `app.api_key` has the role and the owner of each key, by its SHA-256. */
export const storedKeys = definePlugin({
  name: "stored-keys",
  stage: Stage.early,
  apply: (hooks, context) => {
    const sessions = context.caches.create({ name: "stored-keys", make: sessionOfKey, estimateBytes: () => 1000 });
    hooks.authorize.tapPromise("stored-keys", async (credentials) => {
      const key = credentials.header("x-api-key");
      if (key === undefined) return undefined; // the scheme does not apply, so the next one runs
      const hash = createHash("sha256").update(key).digest("hex");
      const [row] = await context.query<Key>(
        sql`select role, owner from app.api_key where hash = ${bindValue(hash, "text")} and expires_at > pg_catalog.now()`,
      );
      if (row === undefined) throw tokenRejected("unknown API key");
      return sessions.getAndCommit(row);
    });
    const checkSockets = (): void => context.use(credentialsChangedSignal).emit(undefined);
    context.listen("api_key_changed", checkSockets, checkSockets); // also if a notification may have been lost
  },
});
