/** A login role that loses rights while the server runs. */
import { expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { startApi } from "../support/api.ts";
import { bearer } from "../support/tokens.ts";
import { createLog } from "./failures.ts";

test.skipIf(!capabilities.realServer)(
  "R-ADM-6 each right that the login role has lost is one clear line in the log",
  async () => {
    const database = await testDatabase();
    const [login, anon, otherRole] = ["login", "anon", "other"].map((name) => `lost_${name}_${process.pid}`) as [
      string,
      string,
      string,
    ];
    await database.query(
      `create role ${anon} nologin; create role ${otherRole} nologin; create role ${login} login noinherit password '${login}';
     grant ${anon} to ${login}; grant usage on schema public to ${anon};
     create table pebble (id int); grant select on pebble to ${anon}`,
    );
    const { lines, logger } = createLog();
    const api = await startApi({
      on: { ...database, options: { databaseUrl: database.urlAs(login) } },
      dbSchemas: ["public"],
      anonRole: anon,
      logger,
    });
    try {
      expect((await api.get("/pebble")).status).toBe(200);
      // A token whose role is unavailable affects no other caller.
      await api.get("/pebble", { headers: bearer({ role: otherRole }) });
      expect(lines.filter(({ level }) => level !== "info")).toEqual([]);
      await database.query(`revoke ${anon} from ${login}`);
      for (let i = 0; i < 5; i++) expect((await api.get("/pebble")).status).toBe(401);
      expect(lines.filter(({ level }) => level !== "info").map(({ message }) => message)).toEqual([
        `the login role "${login}" may no longer become "${anon}": GRANT "${anon}" TO "${login}"`,
      ]);
      await database.query(`grant ${anon} to ${login}; revoke select on pg_catalog.pg_class from public`);
      lines.length = 0;
      await expect(api.relApi.reload()).rejects.toThrow();
      const [line] = lines.filter(({ level }) => level === "error");
      expect(line).toEqual({
        level: "error",
        message: "failed to reload the schema; keeping the current one",
        fields: {
          reason: "permission denied for table pg_class",
          sqlstate: "42501",
          hint: "the login role lacks a right that is needed to read the schema",
        },
      });
      expect((await api.get("/pebble")).status).toBe(200);
    } finally {
      await database.query("grant select on pg_catalog.pg_class to public");
      await api.close();
      await database.query(
        `drop owned by ${anon}, ${login}, ${otherRole}; drop role ${login}; drop role ${anon}; drop role ${otherRole}`,
      );
    }
  },
);
