/** Verifies the credentials of open sockets and streams again when keys, secrets or other settings have changed.
 *  Connections with credentials that are no longer valid are closed. @rule R-AUT-15 */
import { defineService, RelApiError, type Credentials, type PluginContext, type Session } from "../../../core/index.ts";
import { credentialsChangedSignal } from "../../auth/api.ts";

interface CredentialWatch {
  /** Watches the credentials of a holder. Returns a function that stops watching. @rule G-WS-15 */
  join(session: Session, holder: CredentialHolder): () => void;
}

interface CredentialHolder {
  readonly credentials: Credentials;
  /** Called without an error when the session has expired, or with the error that a new connection would get. */
  onRejected(error?: unknown): void;
}

/** Offered by the plugin `live-queries`. */
export const credentialWatchService = defineService<CredentialWatch>("credential-watch");

/** The number of credentials per slice. Verifying a signature occupies the main thread for about 0.1 ms, and auth
 *  schemes of plugins may query the database. */
const CHECKS_PER_SLICE = 50;
/** The delay before the next attempt if a scheme failed with a server error. */
const RETRY_MS = 5000;

/** Creates the watch that ends live connections when their credentials would be rejected. */
export const createCredentialWatch = (context: PluginContext): CredentialWatch => {
  const watchedHolders = new Set<CredentialHolder>();
  let seenOptions = context.options;
  let isRunning = false;
  let isStale = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  /** Checks the credentials of a holder. Returns false if a server error prevented the check. */
  const check = async (holder: CredentialHolder): Promise<boolean> => {
    if (!watchedHolders.has(holder)) return true;
    try {
      await context.authorize(holder.credentials);
    } catch (error) {
      if (!(error instanceof RelApiError) || error.status >= 500) return false;
      if (watchedHolders.delete(holder)) holder.onRejected(error);
    }
    return true;
  };

  const checkAll = async (): Promise<void> => {
    let areAllChecked = true;
    do {
      isStale = false;
      const holders = [...watchedHolders];
      for (let i = 0; i < holders.length && !isClosed; i += CHECKS_PER_SLICE) {
        // The pause lets other requests run. The first pause also lets every listener apply the new settings.
        await new Promise((resolve) => setImmediate(resolve));
        const results = await Promise.all(holders.slice(i, i + CHECKS_PER_SLICE).map(check));
        areAllChecked &&= !results.includes(false);
      }
    } while (isStale && !isClosed);
    if (!areAllChecked && !isClosed) timer = setTimeout(startCheck, RETRY_MS).unref();
  };

  const startCheck = (): void => {
    clearTimeout(timer);
    isStale = true;
    if (isRunning || watchedHolders.size === 0) return;
    isRunning = true;
    void checkAll().finally(() => {
      isRunning = false;
    });
  };

  context.use(credentialsChangedSignal).listen(startCheck);
  context.onModel(() => {
    if (context.options === seenOptions) return;
    seenOptions = context.options;
    startCheck();
  });
  context.onClose(() => {
    isClosed = true;
    clearTimeout(timer);
  });
  return {
    join: (session, holder) => {
      watchedHolders.add(holder);
      const forgetExpiry = scheduleExpiry(session, () => holder.onRejected());
      return () => {
        forgetExpiry();
        watchedHolders.delete(holder);
      };
    },
  };
};

/** The longest delay of a Node timer, about 24 days. */
const MAX_TIMER_MS = 2_147_483_647;

/** Calls `onExpiry` when the session's token expires. Returns a function that cancels it. @rule G-WS-15 */
const scheduleExpiry = ({ expiresAtMs }: Session, onExpiry: () => void): (() => void) => {
  if (expiresAtMs === undefined) return () => undefined;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const leftMs = expiresAtMs - Date.now();
    if (leftMs <= 0) return onExpiry();
    timer = setTimeout(wait, Math.min(leftMs, MAX_TIMER_MS));
  };
  timer = setTimeout(wait, 0);
  return () => clearTimeout(timer);
};
