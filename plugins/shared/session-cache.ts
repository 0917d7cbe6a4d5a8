/** Caches sessions by their content. */
import {
  defineCacheQuestion,
  planKey,
  type Ask,
  type Cache,
  type CacheManager,
  type Session,
} from "../../core/index.ts";

const SESSION = defineCacheQuestion("session", (session: Session) => session, planKey);

const estimateBytes = ({ variables }: Session): number =>
  Object.entries(variables).reduce((bytes, [name, value]) => bytes + (name.length + value.length) * 8, 1000);

/** Makes equal sessions one object, so that values derived from a session are computed once. */
export const createSessionCache = (caches: CacheManager, name: string): Cache<Session, Session> =>
  caches.create({ name, make: (ask: Ask<Session>) => Object.freeze(ask(SESSION)), estimateBytes });
