/** Faults of database sessions that end. */
import { fault } from "./fault.ts";
import { endSessions, oneServer, type OneServer } from "./scenes.ts";

interface KillingScene extends OneServer {
  timer?: NodeJS.Timeout;
}

export const sessionsKilled = fault<KillingScene>({
  name: "all sessions of the pool are killed, every second",
  durationMs: 8000,
  arrange: () => oneServer(),
  inject: (scene) => {
    scene.timer = setInterval(() => void endSessions(scene.database), 1000);
  },
  remove: ({ timer }) => clearInterval(timer),
});

export const databaseRestarted = fault<OneServer>({
  name: "the database is restarted",
  durationMs: 0,
  arrange: () => oneServer(),
  inject: ({ database }) => database.restart(),
  remove: () => undefined,
});

export const databaseCrashed = fault<OneServer>({
  name: "the database crashes and is away for 3 s",
  durationMs: 3000,
  arrange: () => oneServer(),
  inject: ({ database }) => database.kill(),
  remove: ({ database }) => database.start(),
});
