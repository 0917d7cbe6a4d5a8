/** Faults of passwords and keys that change while the server runs. */
import { generateKeyPairSync } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { signToken } from "../../support/tokens.ts";
import { startHttpServer } from "../../support/http-server.ts";
import { folderFor } from "../support.ts";
import { fault } from "./fault.ts";
import { endSessions, oneServer, ROLE, startShelf, type OneServer } from "./scenes.ts";

const withLogin = async (password: string) => {
  const database = await startShelf();
  await database.query(`create role api login noinherit password '${password}'; grant ${ROLE} to api`);
  await database.setAccess("host all api 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n");
  return { database, urlWith: (word: string) => database.url.replace("postgres@", `api:${word}@`) };
};

export const passwordWrong = fault<OneServer>({
  name: "the password is changed and the sessions end; after 5 s it is set back",
  arrange: async () => {
    const { database, urlWith } = await withLogin("right");
    return oneServer({}, database, urlWith("right"));
  },
  inject: async ({ database }) => {
    await database.query("alter role api password 'other'");
    await endSessions(database);
  },
  remove: ({ database }) => database.query("alter role api password 'right'"),
});

export const passwordRotated = fault<OneServer & { readonly put: (password: string) => void }>({
  name: "the password is rotated, in the database and in the file that `DATABASE_URL=@…` names",
  arrange: async () => {
    const { database, urlWith } = await withLogin("first");
    const file = join(folderFor("secret"), "url");
    const put = (password: string): void => {
      writeFileSync(`${file}.new`, urlWith(password));
      renameSync(`${file}.new`, file);
    };
    put("first");
    return { ...(await oneServer({}, database, `@${file}`)), put };
  },
  inject: async ({ database, put }) => {
    await database.query("alter role api password 'second'");
    put("second");
  },
  remove: () => undefined,
});

interface KeyServer extends OneServer {
  current: number;
}

export const keysRotated = fault<KeyServer>({
  name: "the keys behind `jwk_url` are replaced, then their server hangs",
  arrange: async () => {
    const keys = Array.from({ length: 2 }, () => generateKeyPairSync("rsa", { modulusLength: 2048 }));
    let scene: KeyServer | undefined;
    const port = await startHttpServer((_, response) => {
      const i = scene?.current ?? 0;
      const jwk = { ...keys[i]?.publicKey.export({ format: "jwk" }), kid: `k${i}` };
      if (!isHanging) response.end(JSON.stringify({ keys: [jwk] }));
      isHanging = i > 0;
    });
    let isHanging = false;
    const url = `http://127.0.0.1:${port}/keys`;
    const serverScene = await oneServer({ JWT_SECRET: JSON.stringify({ jwk_url: url }) });
    scene = {
      ...serverScene,
      current: 0,
      headers: () => {
        const i = scene?.current ?? 0;
        const { privateKey } = keys[i] as (typeof keys)[number]; // the list has two keys
        const token = signToken({ role: ROLE }, { key: privateKey, algorithm: "RS256", header: { kid: `k${i}` } });
        return { authorization: `Bearer ${token}` };
      },
    };
    return scene;
  },
  inject: (scene) => {
    scene.current = 1;
  },
  remove: () => undefined,
});
