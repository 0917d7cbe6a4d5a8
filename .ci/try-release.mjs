// Publishes the built package to a local registry, installs it from there as a user does, and tries it. `.ci/nightly` runs
// this script. The registry is Verdaccio. Everything is in a temporary folder.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const work = mkdtempSync(join(tmpdir(), "relapi-release-"));
const started = [];

const check = (isTrue, message) => {
  if (!isTrue) throw new Error(message);
};

const run = (cwd, ...command) => {
  const { printed, errors } = runLoosely(cwd, ...command);
  check(!/^npm warn/m.test(errors), `${command.join(" ")}: npm warns`);
  return printed;
};

const runLoosely = (cwd, ...command) => {
  console.log(`$ ${command.join(" ")}`);
  const { status, stdout, stderr } = spawnSync(command[0], command.slice(1), { cwd, encoding: "utf8" });
  console.log(`${stdout}${stderr}`.trim());
  check(status === 0, `${command.join(" ")}: exit code ${status}`);
  return { printed: stdout, errors: stderr };
};

/** Starts a program in a process group of its own, and waits until it prints a match. */
const start = async (pattern, cwd, env, ...command) => {
  const child = spawn(command[0], command.slice(1), {
    cwd,
    detached: true,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let printed = "";
  return new Promise((resolve, reject) => {
    const onOutput = (chunk) => {
      printed += chunk;
      const found = pattern.exec(printed);
      if (found !== null) resolve(found);
    };
    child.stdout.on("data", onOutput);
    child.stderr.on("data", onOutput);
    child.on("error", reject);
    child.on("exit", (status) => reject(new Error(`${command.join(" ")}: exit code ${status}\n${printed}`)));
  });
};

/** The port of the registry, below the range from which the system assigns ports to other processes. */
const port = 10_000 + (process.pid % 20_000);

const startRegistry = async () => {
  const folder = join(work, "registry");
  mkdirSync(folder);
  // one of its packages asks for a tag of node-fetch, which a mirror may lack
  const manifest = { private: true, dependencies: { verdaccio: "6" }, overrides: { "node-fetch": "2" } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  runLoosely(folder, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error");
  const upstream = run(work, "npm", "config", "get", "registry").trim();
  writeFileSync(
    join(folder, "config.yaml"),
    [
      `storage: ${join(folder, "storage")}`,
      `uplinks: { npm: { url: "${upstream}", timeout: 120s, max_fails: 100 } }`,
      "packages:",
      "  relapi: { access: $all, publish: $all }",
      '  "**": { access: $all, proxy: npm }',
      "max_body_size: 20mb",
      "log: { type: stdout, format: pretty, level: warn }",
    ].join("\n"),
  );
  // the program prints its address when it listens
  const command = ["npx", "--no-install", "verdaccio", "--config", join(folder, "config.yaml"), "--listen", `127.0.0.1:${port}`];
  await start(/http address/, folder, {}, ...command);
  return `http://127.0.0.1:${port}/`;
};

const tryPackage = async () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const tag = version.includes("-") ? "next" : "latest";
  const registry = await startRegistry();
  const user = join(work, "user");
  mkdirSync(user);
  const settings = [`registry=${registry}`, `${registry.replace("http:", "")}:_authToken=anyone`, "audit=false", "fund=false"];
  writeFileSync(join(work, ".npmrc"), settings.join("\n"));
  writeFileSync(join(user, ".npmrc"), settings.join("\n"));
  const publish = ["publish", "--ignore-scripts", "--loglevel=warn", "--tag", tag, "--registry", registry];
  const withToken = [...publish, "--userconfig", join(work, ".npmrc")];
  run(".", "npm", ...withToken, "--dry-run");
  run(".", "npm", ...withToken);

  run(user, "npm", "init", "--yes");
  run(user, "npm", "install", `relapi@${tag}`);
  check(run(user, "npx", "relapi", "--version").trim() === version, "another version is installed");

  const [, address] = await start(/Browser +(http:\/\/[^/\s]+)/, user, { PORT: "0" }, "npx", "relapi");
  const albums = await (await fetch(`${address}/api/album?select=title&album_id=eq.1`)).json();
  check(albums[0]?.title === "For Those About To Rock We Salute You", `REST answered ${JSON.stringify(albums)}`);
  const body = JSON.stringify({ query: "{ album(where: { album_id: { _eq: 1 } }) { title } }" });
  const { data } = await (await fetch(`${address}/v1/graphql`, { method: "POST", body })).json();
  check(data?.album[0]?.title === albums[0].title, `GraphQL answered ${JSON.stringify(data)}`);

  run(user, "npx", "relapi", "init", "shop");
  check(existsSync(join(user, "shop", "package.json")), "relapi init wrote no package.json");
};

try {
  await tryPackage();
  console.log("the package can be released");
} finally {
  for (const child of started) {
    if (child.exitCode !== null || child.pid === undefined) continue;
    const ended = once(child, "exit");
    process.kill(-child.pid, "SIGTERM");
    await ended;
  }
  rmSync(work, { recursive: true, force: true, maxRetries: 5 });
}
