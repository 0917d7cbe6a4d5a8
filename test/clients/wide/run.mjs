/**
 * `npm run clients` runs third-party clients, used as in their documentation, against a fresh server, and prints a
 * table. The servers use the embedded database, or the server of TEST_DATABASE_URL. `npm run clients -- urql` runs the files of
 * that name.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import jsonwebtoken from "jsonwebtoken";
import pg from "pg";

const resolvePath = (path) => fileURLToPath(new URL(path, import.meta.url));
const root = resolvePath("../../../");
const nameParts = process.argv.slice(2);
const SECRET = "admin-secret-of-the-clients";
const JWT_SECRET = "a-secret-of-32-bytes-for-clients";

const packagesIn = (path) => JSON.parse(readFileSync(resolvePath(path), "utf8")).packages;

const install = () => {
  const hidden = "node_modules/.package-lock.json"; // the packages that npm has installed
  const installed = existsSync(resolvePath(hidden)) ? packagesIn(hidden) : {};
  const isThere = Object.entries(packagesIn("package-lock.json")).every(
    ([path, { version, optional, link }]) =>
      link || optional || !path.includes("node_modules/") || installed[path]?.version === version,
  );
  if (isThere) return;
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: resolvePath("."),
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exit(status ?? 1);
};

const query = async (url, text) => {
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  try {
    await connection.query(text);
  } finally {
    await connection.end();
  }
};

/** Creates a database with the films. Returns its address and a function that drops it. */
const openDatabase = async () => {
  const script = readFileSync(resolvePath("films.sql"), "utf8");
  const server = process.env["TEST_DATABASE_URL"] ?? "";
  if (server === "") {
    const { embedded } = await import("../../../dist/plugins/database/index.js");
    const database = embedded({ image: "empty", loadScript: script });
    await database.ready;
    return { options: { database }, drop: () => undefined };
  }
  const name = `relapi_clients_${process.pid}`;
  await query(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  await query(url.href, script);
  return { options: { databaseUrl: url.href }, drop: () => query(server, `drop database ${name} with (force)`) };
};

const start = async (database, environment = {}) => {
  const { serve } = await import("../../../dist/presets/server/serve.js");
  const { readEnvironment } = await import("../../../dist/presets/server/environment.js");
  const { options, server } = readEnvironment({
    ANON_ROLE: "clients_anon",
    ADMIN_SECRET: SECRET,
    JWT_SECRET,
    REST_PREFIXES: "/api,/rest/v1",
    DB_PLAN_ENABLED: "true",
    LIVE_QUERY_INTERVAL: "100",
    LIVE_DIRECTIVE: "true",
    LOG_LEVEL: "error",
    HOST: "127.0.0.1",
    PORT: "0",
    ...environment,
  });
  const served = await serve({ options: { ...options, ...database.options }, server });
  await served.api.ready;
  return served;
};

/** Runs one file, whose last line is its results. */
const runFile = (file, place) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [resolvePath(file)], {
      env: { ...process.env, CLIENTS_PLACE: JSON.stringify(place), NODE_ENV: "production" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    let complaints = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (complaints += text));
    child.on("close", (code) => {
      try {
        resolve(JSON.parse(output.trimEnd().split("\n").at(-1)));
      } catch {
        const message = `ended with ${code}: ${complaints.slice(-2000) || output.slice(-2000)}`;
        resolve({ name: file, version: "?", results: [{ description: "runs", message }] });
      }
    });
  });

const isPassed = ({ message, exception }) =>
  message === undefined || (exception !== undefined && !message.startsWith("no longer needs an exception"));

const print = (all) => {
  const rows = all.map(({ name, version, results }) => [
    name,
    version,
    `${results.filter(({ message }) => message === undefined).length}/${results.length}`,
    results.every(isPassed)
      ? results.some(({ exception }) => exception)
        ? "passed, but for its own faults"
        : "passed"
      : "FAILED",
  ]);
  const table = [["Client", "Version", "Passed", ""], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column].length)));
  for (const row of table)
    console.log(
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  for (const { name, results } of all)
    for (const { description, message, exception } of results) {
      if (message !== undefined && exception === undefined)
        console.log(`\nFAILED ${name}: ${description}\n  ${message.replaceAll("\n", "\n  ")}`);
      if (exception !== undefined)
        console.log(`\n${name}: ${description}\n  not ours: ${exception}\n  ${message.split("\n")[0]}`);
    }
  const results = all.flatMap((client) => client.results);
  console.log(
    `\n${results.filter(({ message }) => message === undefined).length} of ${results.length} checks passed, ${all.length} clients`,
  );
  return results.every(isPassed);
};

install();
const files = readdirSync(resolvePath("clients"))
  .map((name) => `clients/${name}`)
  .concat("ra-hasura/checks.mjs", "refine-hasura/checks.mjs", "refine-hasura/named-checks.mjs")
  .filter((file) => file.endsWith(".mjs") && (nameParts.length === 0 || nameParts.some((word) => file.includes(word))))
  .sort();
if (files.length === 0) throw new Error(`no client has that in its name: ${nameParts.join(", ")}`);
process.chdir(root);
const database = await openDatabase();
let isPassing = false;
try {
  const server = await start(database);
  const namedServer = await start(database, { HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION: "graphql-default" });
  const token = (role) => jsonwebtoken.sign({ role }, JWT_SECRET, { expiresIn: "1h" });
  const place = {
    url: server.address,
    graphqlUrl: `${server.address}/v1/graphql`,
    socketUrl: `${server.address.replace(/^http/, "ws")}/v1/graphql`,
    namedUrl: `${namedServer.address}/v1/graphql`,
    namedSocketUrl: `${namedServer.address.replace(/^http/, "ws")}/v1/graphql`,
    secret: SECRET,
    editor: token("clients_editor"),
    reader: token("clients_anon"),
  };
  const all = [];
  for (const file of files) {
    const reset = await fetch(`${place.url}/api/rpc/reset_films`, {
      method: "POST",
      headers: { authorization: `Bearer ${place.editor}` },
    });
    if (!reset.ok) throw new Error(`the films could not be reset: ${await reset.text()}`);
    all.push(await runFile(file, place));
  }
  isPassing = print(all);
  await Promise.all([server.stop(), namedServer.stop()]);
} finally {
  await database.drop();
}
process.exit(isPassing ? 0 : 1);
