/** Credentials of open sockets and streams are asked about again when keys, secrets or other settings have changed: what
 *  would be refused now ends. @rule R-AUT-15 */
import { isRelApiError, type Credentials, type PluginContext, type Session } from "../../core/index.ts";
import { credentialsChangedSignal } from "../auth/api.ts";
import { atExpiry } from "./expiry.ts";

export interface CredentialWatch {
  /** Returns how to forget it. @rule G-WS-15 */
  join(session: Session, holder: CredentialHolder): () => void;
}

export interface CredentialHolder {
  readonly credentials: Credentials;
  /** The session has expired, or a new connection would be refused with this. */
  refused(error?: unknown): void;
}

/** Verifying a signature takes the main thread some 0.1 ms, and schemes of plugins may ask the database. */
const AT_ONCE = 50;
/** Where a scheme could not tell. */
const AGAIN_MS = 5000;

export const watchCredentials = (context: PluginContext): CredentialWatch => {
  const watched = new Set<CredentialHolder>();
  let seen = context.options;
  let isRunning = false;
  let isStale = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  /** Whether that is known. */
  const check = async (each: CredentialHolder): Promise<boolean> => {
    if (!watched.has(each)) return true;
    try {
      await context.authorize(each.credentials);
    } catch (error) {
      if (!isRelApiError(error) || error.status >= 500) return false;
      if (watched.delete(each)) each.refused(error);
    }
    return true;
  };

  const checkAll = async (): Promise<void> => {
    let isKnown = true;
    do {
      isStale = false;
      const all = [...watched];
      for (let i = 0; i < all.length && !isClosed; i += AT_ONCE) {
        // requests get their turn; the first time so that everybody has the new settings
        await new Promise((resolve) => setImmediate(resolve));
        const known = await Promise.all(all.slice(i, i + AT_ONCE).map(check));
        isKnown &&= !known.includes(false);
      }
    } while (isStale && !isClosed);
    if (!isKnown && !isClosed) timer = setTimeout(changed, AGAIN_MS).unref();
  };

  const changed = (): void => {
    clearTimeout(timer);
    isStale = true;
    if (isRunning || watched.size === 0) return;
    isRunning = true;
    void checkAll().finally(() => {
      isRunning = false;
    });
  };

  context.use(credentialsChangedSignal).listen(changed);
  context.onModel(() => {
    if (context.options === seen) return;
    seen = context.options;
    changed();
  });
  context.onClose(() => {
    isClosed = true;
    clearTimeout(timer);
  });
  return {
    join: (session, holder) => {
      watched.add(holder);
      const forgetExpiry = atExpiry(session, () => holder.refused());
      return () => {
        forgetExpiry();
        watched.delete(holder);
      };
    },
  };
};
