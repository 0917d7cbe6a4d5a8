/** Faults of database sessions that end. */
import { fault } from "./fault.ts";
import { endSessions, oneServer, type OneServer } from "./scenes.ts";

interface Killed extends OneServer {
  timer?: NodeJS.Timeout;
}

export const sessionsKilled = fault<Killed>({
  name: "all sessions of the pool are killed, every second",
  harmMs: 8000,
  arrange: () => oneServer(),
  harm: (scene) => {
    scene.timer = setInterval(() => void endSessions(scene.database), 1000);
  },
  mend: ({ timer }) => clearInterval(timer),
});

export const databaseRestarted = fault<OneServer>({
  name: "the database is restarted",
  harmMs: 0,
  arrange: () => oneServer(),
  harm: ({ database }) => database.restart(),
  mend: () => undefined,
});

export const databaseCrashed = fault<OneServer>({
  name: "the database crashes and is away for 3 s",
  harmMs: 3000,
  arrange: () => oneServer(),
  harm: ({ database }) => database.kill(),
  mend: ({ database }) => database.start(),
});
