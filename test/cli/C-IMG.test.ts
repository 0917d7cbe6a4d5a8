/** Tests the files of docs/deploy, as far as that works without a container engine. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { buildProjectFiles } from "../../presets/cli/project-files.ts";
import { listKnownVariables } from "../../presets/server/environment.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { freePort } from "../support/ports.ts";
import { until } from "../support/until.ts";
import { relapi } from "./run.ts";
import { buildStage, readDockerfile, listTexts, splitWords, type BuiltStage, type Stage } from "./dockerfile.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const parseDocuments = (path: string): any[] =>
  parseAllDocuments(read(path), { strict: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });

const stages = readDockerfile(read("docs/deploy/Dockerfile"));
const final = stages.at(-1) as Stage; // the image has at least one stage
const [health = ""] = /http:[^"]+/.exec(listTexts(final, "HEALTHCHECK").join()) ?? [];

/** `A=b C=d` */
const readEnvironment = (stage: Stage): Record<string, string> =>
  Object.fromEntries(listTexts(stage, "ENV").flatMap((text) => text.split(/\s+/).map((pair) => pair.split("=", 2))));

test("C-IMG-1 the image runs without root, with a health check and the entry point and ports of the server", () => {
  expect(listTexts(final, "USER")).toEqual(["10001:10001"]);
  expect(splitWords(listTexts(final, "ENTRYPOINT")[0] ?? "")).toEqual(["node", "/relapi/dist/presets/standalone.js"]);
  const { PORT, ADMIN_PORT, NODE_ENV } = readEnvironment(final);
  expect([NODE_ENV, listTexts(final, "EXPOSE"), health]).toEqual([
    "production",
    [PORT],
    `http://127.0.0.1:${ADMIN_PORT}/ready`,
  ]);
  expect(final.image.replace(/^alpine:/, "node:22-alpine")).toBe(stages[0]?.image); // one libc, one libstdc++
});

test("C-IMG-1 the files that the stages copy and run exist", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const includedPaths = read("docs/deploy/Dockerfile.dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  for (const stage of stages)
    for (const { name, text } of stage.instructions) {
      for (const [, script = ""] of text.matchAll(/npm run ([\w:-]+)/g)) expect(scripts).toHaveProperty([script]);
      if (name === "RUN" && text.includes("npm ci")) expect(text).toContain("--ignore-scripts");
      if (name !== "COPY" || text.startsWith("--from=")) continue;
      for (const path of text
        .split(/\s+/)
        .slice(0, -1)
        .filter((part) => part !== "."))
        expect(includedPaths).toContain(path);
    }
  for (const path of includedPaths) expect(existsSync(join(root, path)), path).toBe(true);
});

test("C-IMG-1 an application of init gets an image of the same kind", () => {
  const files = buildProjectFiles("shop", "ts");
  const projectStages = readDockerfile(files["Dockerfile"] ?? "");
  expect(projectStages.map(({ image }) => image)).toEqual(stages.map(({ image }) => image));
  const last = projectStages.at(-1) as Stage; // it has three
  for (const name of ["USER", "EXPOSE"]) expect(listTexts(last, name)).toEqual(listTexts(final, name));
  expect(listTexts(last, "RUN")).toEqual(listTexts(final, "RUN"));
  expect(splitWords(listTexts(last, "ENTRYPOINT")[0] ?? "")[1]).toBe("dist/server.js");
  expect(Object.keys(files)).toContain("src/server.ts");
  expect(files["src/app.ts"]).toContain('app.get("/health"');
  expect(listTexts(last, "HEALTHCHECK")[0]).toContain(`:${readEnvironment(last)["PORT"]}/health`);
});

test.skipIf(!capabilities.realServer)(
  "C-IMG-1 the file tree of the image starts as an ordinary user and answers requests",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "relapi-image-"));
    atFileEnd(async () => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o755);
    const context = join(folder, "context");
    for (const path of ["package.json", "package-lock.json", "LICENSE", "dist", "docs/openapi-typescript/package.json"])
      cpSync(join(root, path), join(context, path), {
        recursive: true,
        filter: (from) => !/dist\/test|\.image$/.test(from), // the context has no tests, and the stage builds no images
      });
    const builtStages = new Map<string, BuiltStage>();
    for (const [i, stage] of stages.entries()) {
      const name = stage.alias ?? "final";
      const target = join(folder, name);
      if (name !== "final") cpSync(process.execPath, join(target, "usr/local/bin/node"), { recursive: true });
      builtStages.set(
        name,
        buildStage(stage, target, context, builtStages, (command, cwd) => {
          // The build is in the context already, and packages of the system do not fit this machine.
          if (i === 0 && command.startsWith("npm ")) return;
          if (command.startsWith("apk ")) return;
          execFileSync("sh", ["-c", command], { cwd, env: { ...process.env, npm_config_prefer_offline: "true" } });
        }),
      );
    }
    const tree = join(folder, "final/relapi");

    const database = await testDatabase();
    const [program = "", script = ""] = splitWords(listTexts(final, "ENTRYPOINT")[0] ?? "");
    expect(program).toBe("node");
    const ports = { PORT: "0", ADMIN_PORT: String(await freePort()) };
    const child = spawn(join(folder, "final/usr/local/bin/node"), [join(folder, "final", script)], {
      cwd: tree,
      ...(process.getuid?.() === 0 ? { uid: 10_001, gid: 10_001 } : {}),
      env: {
        ...readEnvironment(final),
        ...ports,
        DATABASE_URL: database.options.databaseUrl,
        DB_SCHEMAS: "sea",
        ANON_ROLE: "sea_anon",
      },
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += String(text)));
    const exit = new Promise<number | null>((resolve) => child.on("close", resolve));
    atFileEnd(async () => void child.kill("SIGKILL"));
    const addressIn = () => /"address":"(http:[^"]+)"/.exec(output)?.[1];
    await until(() => addressIn() !== undefined, "the server prints its address");
    const address = (addressIn() ?? "").replace("localhost", "127.0.0.1");
    const answer = await fetch(`${address}/api/ports?select=id&id=eq.1`);
    expect([answer.status, await answer.json()]).toEqual([200, [{ id: 1 }]]);
    const page = await fetch(`${new URL(address).origin}/v1/graphql`, { headers: { accept: "text/html" } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("GraphQL playground")]);
    const ready = await fetch(health.replace(/:\d+\//, `:${ports.ADMIN_PORT}/`));
    expect(ready.status).toBe(200);
    child.kill("SIGTERM");
    expect([await exit, output]).toEqual([0, expect.not.stringMatching(/"error"/)]);
  },
);

test("C-IMG-2 compose.yaml and kubernetes.yaml name only settings that exist", () => {
  const knownVariables = listKnownVariables();
  const [{ services }] = parseDocuments("docs/deploy/compose.yaml");
  for (const name of Object.keys(services.relapi.environment)) expect(knownVariables).toContain(name);
  expect(join("docs/deploy", services.relapi.build.context, services.relapi.build.dockerfile)).toBe(
    "docs/deploy/Dockerfile",
  );
  expect(services.relapi.depends_on.database.condition).toBe("service_healthy");
  expect(services.database.healthcheck.test).toContain("pg_isready");
  const requiredVariables = [...read("docs/deploy/compose.yaml").matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
  for (const name of new Set(requiredVariables))
    expect(read("docs/deploy/.env.example")).toMatch(new RegExp(`^${name}=$`, "m"));

  const [deployment, service] = parseDocuments("docs/deploy/kubernetes.yaml");
  const [container] = deployment.spec.template.spec.containers;
  for (const { name } of container.env) expect(knownVariables).toContain(name);
  expect(container.ports[0].containerPort).toBe(Number(readEnvironment(final)["PORT"]));
  expect(service.spec.selector).toEqual(deployment.spec.template.metadata.labels);
  expect(service.spec.ports[0].targetPort).toBe(container.ports[0].name);
  expect(container.readinessProbe.exec.command.at(-1)).toBe(health);
  for (const probe of ["startupProbe", "livenessProbe"])
    expect(container[probe].exec.command.at(-1)).toBe(health.replace("/ready", "/live"));
});

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

test.skipIf(!has("systemd-analyze"))("C-IMG-2 systemd accepts the unit file", () => {
  const { status, stdout, stderr } = spawnSync(
    "systemd-analyze",
    ["verify", join(root, "docs/deploy/relapi.service")],
    {
      encoding: "utf8",
    },
  );
  expect([status, stdout + stderr]).toEqual([0, ""]);
});

test.skipIf(!capabilities.realServer || !has("psql"))(
  "C-IMG-2 with the roles of roles.sql the check succeeds, and callers may read",
  async () => {
    const database = await testDatabase();
    const suffix = `_c_img_${process.pid}`;
    // Other tests use the same roles, because roles belong to the whole server.
    const script = read("docs/deploy/roles.sql").replace(/\b(web_anon|relapi)\b/g, `$1${suffix}`);
    atFileEnd(async () => {
      await database.query(`drop owned by web_anon${suffix}; drop role relapi${suffix}; drop role web_anon${suffix}`);
    });
    execFileSync("psql", ["--set", "ON_ERROR_STOP=1", "--quiet", database.options.databaseUrl ?? ""], {
      input: script,
      env: { ...process.env, RELAPI_PASSWORD: "it's secret" },
    });
    const environment = {
      DATABASE_URL: database.urlAs(`relapi${suffix}`, "it's secret"),
      ANON_ROLE: `web_anon${suffix}`,
      DB_SCHEMAS: "public",
    };
    expect(await relapi(["check", "--strict"], environment)).toMatchObject({ code: 0, stderr: "" });
    const { stdout } = await relapi(["explain", "/note?select=text", "--role", `web_anon${suffix}`], environment);
    expect(stdout).toContain("note");
  },
);
