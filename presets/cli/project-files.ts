/** The files of the project that `relapi init` writes. Both languages have the same files, apart from the types. */
import { VERSION } from "../../core/index.ts";

export type Language = "ts" | "js";

/** Returns the text in a TypeScript project, and nothing in a JavaScript project. */
type Types = (text: string) => string;

const TEST_FILES = "*.test.js";

const buildPackageFile = (name: string, language: Language): string => {
  const isTypescript = language === "ts";
  return formatJson({
    name,
    private: true,
    type: "module",
    engines: { node: ">=20.12" },
    scripts: isTypescript
      ? { build: "tsc", start: "tsc && node dist/server.js", test: `tsc && node --test dist/${TEST_FILES}` }
      : { start: "node src/server.js", test: `node --test src/${TEST_FILES}` },
    dependencies: { express: "^5.3.0", graphql: "^16.12.0", relapi: `^${VERSION}` },
    devDependencies: {
      "@electric-sql/pglite": ">=0.5.8 <0.6",
      ...(isTypescript ? { "@types/express": "^5.0.6", "@types/node": "^20.19.43", typescript: "^7.0.2" } : {}),
    },
  });
};

const formatJson = (content: object): string => `${JSON.stringify(content, null, 2)}\n`;

const TYPESCRIPT_SETTINGS = formatJson({
  compilerOptions: {
    target: "es2022",
    module: "nodenext",
    rootDir: "src",
    outDir: "dist",
    strict: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    types: ["node"],
  },
  include: ["src"],
});

const SCHEMA = `-- The database of the tests, and of npm start without DATABASE_URL.
create table city (id int generated always as identity primary key, name text not null);
insert into city (name) values ('Abuja'), ('Oslo');

-- The role of callers without credentials: ANON_ROLE in .env.
create role web_anon;
grant select on city to web_anon;
`;

const buildPreset = (types: Types): string => `/** The preset: the features of the API. */
import { compose } from "relapi";
import { fullCompat${types(", type PresetOptions")} } from "relapi/presets";
import { startsWith } from "./plugins/starts-with.js";

export const createPreset = (options${types(": PresetOptions")}) => compose(fullCompat(options), startsWith);
`;

const buildApp = (types: Types): string => `/** The application: the two APIs of the database, and routes of its own. */
import express from "express";
import { relApi } from "relapi";
${types('import type { PresetOptions } from "relapi/presets";\n')}import { createPreset } from "./preset.js";

export const createApp = (options${types(": PresetOptions")}) => {
  const api = relApi(createPreset(options));
  const app = express();
  app.use(api); // REST under /api, GraphQL under /v1/graphql
  app.get("/health", (request, response) => {
    try {
      api.model(); // throws until the schema is loaded
      response.send("fine");
    } catch (error) {
      response.status(503).send(String(error));
    }
  });
  return { app, api };
};
`;

const buildServer = (
  types: Types,
): string => `/** Serves the application. Settings come from the environment and from the file .env. */
import { existsSync, readFileSync } from "node:fs";
${types('import type { AddressInfo } from "node:net";\n')}import { embedded } from "relapi/plugins/database";
import { createApp } from "./app.js";

if (existsSync(".env")) process.loadEnvFile(".env");
const { DATABASE_URL, ANON_ROLE, JWT_SECRET, ADMIN_SECRET, NODE_ENV, PORT = "3000" } = process.env;
if (DATABASE_URL === undefined && NODE_ENV === "production") {
  console.error("set DATABASE_URL");
  process.exit(1);
}
const isEmbedded = DATABASE_URL === undefined;

const { app, api } = createApp({
  ...(isEmbedded
    ? { database: embedded({ image: "empty", loadScript: readFileSync("schema.sql", "utf8") }) }
    : { databaseUrl: DATABASE_URL }),
  anonRole: ANON_ROLE,
  jwtSecret: JWT_SECRET,
  adminSecret: ADMIN_SECRET,
});

const server = app.listen(Number(PORT), isEmbedded ? "127.0.0.1" : "0.0.0.0", (error) => {
  if (error) {
    console.error(error.message);
    process.exit(1);
  }
  const { port } = server.address()${types(" as AddressInfo")};
  const url = \`http://localhost:\${port}\`;
  console.log(\`listening on \${url}\\n  REST:    \${url}/api\\n  GraphQL: \${url}/v1/graphql\`);
});
api.ready.catch((error${types(": Error")}) => {
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
      compile: (column, operand) => sql\`pg_catalog.starts_with(\${column}, \${operand})\`,
    },
  ],
});
`;

const buildTest = (
  types: Types,
): string => `/** Tests the application on an embedded database: no PostgreSQL is needed. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
${types('import type { AddressInfo } from "node:net";\n')}import { after, before, test } from "node:test";
import { embedded } from "relapi/plugins/database";
import { createApp } from "./app.js";

const database = embedded({ image: "empty", loadScript: readFileSync("schema.sql", "utf8") });
const { app, api } = createApp({ database, anonRole: "web_anon", logLevel: "error" });
const server = app.listen(0, "127.0.0.1");
let url = "";

before(async () => {
  if (!server.listening) await once(server, "listening");
  const { port } = server.address()${types(" as AddressInfo")};
  url = \`http://127.0.0.1:\${port}\`;
  await api.ready;
});

after(async () => {
  server.closeAllConnections();
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
    session: { role: "web_anon" },
  });
  assert.deepEqual(data, { city: [{ name: "Oslo" }] });
});

test("routes of its own", async () => {
  assert.equal(await (await fetch(\`\${url}/health\`)).text(), "fine");
});
`;

const BUILD_STAGE = `
FROM node:22-alpine\${ALPINE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src src
RUN npm run build
`;

/** Returns the Dockerfile of an application, with the steps of docs/deploy/Dockerfile. */
const buildDockerfile = (
  language: Language,
): string => `# docker build --tag app . && docker run --rm --env-file .env --publish 3000:3000 app
# It takes package-lock.json, which npm install has written.
ARG ALPINE=3.22
${language === "ts" ? BUILD_STAGE : ""}
FROM node:22-alpine\${ALPINE} AS modules
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM alpine:\${ALPINE}
RUN apk add --no-cache libstdc++
COPY --from=modules /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=modules /app/node_modules node_modules
COPY ${language === "ts" ? "--from=build /app/dist dist" : "src src"}
COPY package.json ./
ENV NODE_ENV=production PORT=3000
USER 10001:10001
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["wget", "-q", "-O", "/dev/null", "http://127.0.0.1:3000/health"]
ENTRYPOINT ["node", "${language === "ts" ? "dist" : "src"}/server.js"]
`;

const ENVIRONMENT = `# The settings of the server. Git ignores this file. Variables of the environment take precedence.

# The login role, which may become every role that callers have. Without it, the server starts an embedded database with
# schema.sql, which is lost when the server ends.
# DATABASE_URL=postgres://app:secret@localhost:5432/app

# The role of callers without credentials; without it they get 401.
ANON_ROLE=web_anon

# The secret of tokens, 32 bytes or more, and the secret of the administrator.
# JWT_SECRET=
# ADMIN_SECRET=
PORT=3000
`;

const buildReadme = (name: string, language: Language): string => `# ${name}

REST and GraphQL APIs of a PostgreSQL database, in an Express application.

\`\`\`sh
npm install
npm test        # on an embedded database
npm start       # without DATABASE_URL on an embedded database too
curl 'http://localhost:3000/api/city?name=starts.Ab'
\`\`\`

In a browser, http://localhost:3000/api describes the REST API, and http://localhost:3000/v1/graphql has GraphiQL.

For your own database, set \`DATABASE_URL\` in \`.env\`. A clone has no \`.env\`, because Git ignores the file. After a
migration, the API has the new tables within seconds.

\`\`\`sh
node --env-file=.env node_modules/.bin/relapi check                     # finds errors of settings, roles and policies
node --env-file=.env node_modules/.bin/relapi types > src/database.ts   # for typed clients
docker build --tag ${name} .
\`\`\`

- \`schema.sql\`: the embedded database
- \`src/preset.${language}\`: the features of the API
- \`src/app.${language}\`: the application, with your own routes
- \`src/plugins/\`: an operator of your own
- \`src/app.test.${language}\`: tests
`;

/** Builds the files of the project, by path. @rule C-INI-1 */
export const buildProjectFiles = (name: string, language: Language): Readonly<Record<string, string>> => {
  const writeTypes: Types = (text) => (language === "ts" ? text : "");
  return {
    "package.json": buildPackageFile(name, language),
    ...(language === "ts" ? { "tsconfig.json": TYPESCRIPT_SETTINGS } : {}),
    "schema.sql": SCHEMA,
    [`src/preset.${language}`]: buildPreset(writeTypes),
    [`src/app.${language}`]: buildApp(writeTypes),
    [`src/server.${language}`]: buildServer(writeTypes),
    [`src/plugins/starts-with.${language}`]: PLUGIN,
    [`src/app.test.${language}`]: buildTest(writeTypes),
    Dockerfile: buildDockerfile(language),
    ".dockerignore": "node_modules\ndist\n.git\n.env\n",
    ".gitignore": "node_modules\ndist\n.env\n",
    ".env": ENVIRONMENT,
    "README.md": buildReadme(name, language),
  };
};
