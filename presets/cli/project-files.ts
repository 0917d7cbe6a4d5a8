/** The files of the project that `relapi init` writes. */
import { VERSION } from "../../core/index.ts";

const buildPackageFile = (name: string): string =>
  `${JSON.stringify(
    {
      name,
      private: true,
      type: "module",
      engines: { node: ">=20" },
      scripts: { start: "node server.js", test: "node --test", check: "relapi check", types: "relapi types" },
      dependencies: { express: "^5.3.0", graphql: "^16.12.0", relapi: `^${VERSION}` },
      devDependencies: { "@electric-sql/pglite": ">=0.5.8 <0.6" },
    },
    null,
    2,
  )}\n`;

const APP = `/** The application: the two APIs of the database, and routes of its own. */
import express from "express";
import { compose, relApi } from "relapi";
import { fullCompat } from "relapi/presets";
import { startsWith } from "./plugins/starts-with.js";

export const createApp = (options) => {
  const api = relApi(compose(fullCompat(options), startsWith));
  const app = express();
  app.use(api); // REST under /api, GraphQL under /v1/graphql
  app.get("/health", (request, response) => {
    try {
      api.model(); // throws until the schema is loaded
      response.send("fine");
    } catch (error) {
      response.status(503).send(error.message);
    }
  });
  return { app, api };
};
`;

const SERVER = `/** Settings come from the environment: .env.example lists the usual ones. */
import { createApp } from "./app.js";

const { DATABASE_URL, ANON_ROLE, JWT_SECRET, ADMIN_SECRET, PORT = "3000" } = process.env;
if (DATABASE_URL === undefined) {
  console.error("set DATABASE_URL, as in .env.example");
  process.exit(1);
}

const { app, api } = createApp({
  databaseUrl: DATABASE_URL,
  anonRole: ANON_ROLE,
  jwtSecret: JWT_SECRET,
  adminSecret: ADMIN_SECRET,
});
const server = app.listen(Number(PORT), () => console.log(\`listening on http://localhost:\${server.address().port}\`));
api.ready.catch((error) => {
  console.error(error.message);
  process.exit(1);
});

/** Requests in progress end first. */
const stop = async () => {
  server.close();
  server.closeIdleConnections();
  await api.close();
  process.exit(0);
};
process.once("SIGTERM", stop).once("SIGINT", stop);
`;

const PLUGIN = `/** An operator for both APIs: ?name=starts.Ab and { name: { _starts: "Ab" } }. */
import { definePlugin, sql } from "relapi";

export const startsWith = definePlugin({
  name: "starts-with",
  operators: [
    {
      name: "starts",
      types: ["text", "varchar"],
      operand: "scalar",
      compile: (column, operand) => sql\`starts_with(\${column}, \${operand})\`,
    },
  ],
});
`;

const TEST = `/** Asks a real server on the embedded database: no PostgreSQL is needed. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startEmbeddedDatabase } from "relapi/plugins/database";
import { createApp } from "./app.js";

let api;
let server;
let url;

before(async () => {
  const database = startEmbeddedDatabase({
    image: "empty",
    loadScript: \`
      create table city (id int primary key, name text);
      insert into city values (1, 'Abuja'), (2, 'Oslo');
      create role anyone;
      grant select on city to anyone;\`,
  });
  await database.ready;
  const created = createApp({ database, anonRole: "anyone", logLevel: "error" });
  api = created.api;
  await api.ready;
  server = created.app.listen(0);
  url = \`http://127.0.0.1:\${server.address().port}\`;
});

after(async () => {
  server.close();
  await api.close();
});

test("REST reads, with the operator of the plugin", async () => {
  const answer = await fetch(\`\${url}/api/city?name=starts.Ab\`);
  assert.deepEqual(await answer.json(), [{ id: 1, name: "Abuja" }]);
});

test("GraphQL reads, with the operator of the plugin", async () => {
  const { data } = await api.graphql({
    query: '{ city(where: { name: { _starts: "Os" } }) { name } }',
    session: { role: "anyone" },
  });
  assert.deepEqual(data, { city: [{ name: "Oslo" }] });
});

test("routes of its own", async () => {
  assert.equal(await (await fetch(\`\${url}/health\`)).text(), "fine");
});
`;

/** The Dockerfile of an application, with the steps of docs/deploy/Dockerfile. */
const DOCKERFILE = `# docker build --tag app . && docker run --rm --env-file .env --publish 3000:3000 app
# It takes package-lock.json, which npm install has written.
ARG ALPINE=3.22

FROM node:22-alpine\${ALPINE} AS modules
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM alpine:\${ALPINE}
RUN apk add --no-cache libstdc++
COPY --from=modules /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=modules /app/node_modules node_modules
COPY package.json app.js server.js ./
COPY plugins plugins
ENV NODE_ENV=production PORT=3000
USER 10001:10001
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:3000/health"]
ENTRYPOINT ["node", "server.js"]
`;

const ENVIRONMENT = `# The login role: it may become every role that callers have.
DATABASE_URL=postgres://app:secret@localhost:5432/app
# The role of callers without credentials; without it they get 401.
ANON_ROLE=web_anon
# 32 bytes or more.
JWT_SECRET=
ADMIN_SECRET=
PORT=3000
`;

const buildReadme = (name: string): string => `# ${name}

REST and GraphQL APIs of a PostgreSQL database, in an Express application.

\`\`\`sh
npm install
npm test                             # on an embedded database
cp .env.example .env                 # and fill it in
node --env-file=.env server.js
npx relapi check                     # with the same environment
npx relapi types > database.ts       # for typed clients
docker build --tag ${name} .
\`\`\`

- \`app.js\`: the preset and your own routes
- \`plugins/\`: an operator of your own
- \`app.test.js\`: tests over HTTP
`;

/** Builds the files of the project, by path. @rule C-INI-1 */
export const buildProjectFiles = (name: string): Readonly<Record<string, string>> => ({
  "package.json": buildPackageFile(name),
  "app.js": APP,
  "server.js": SERVER,
  "plugins/starts-with.js": PLUGIN,
  "app.test.js": TEST,
  Dockerfile: DOCKERFILE,
  ".dockerignore": "node_modules\n.git\n.env\n",
  ".gitignore": "node_modules\n.env\n",
  ".env.example": ENVIRONMENT,
  "README.md": buildReadme(name),
});
