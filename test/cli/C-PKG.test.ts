/** The first steps with the package: runs the commands of the README. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { freePort } from "../support/ports.ts";
import { until } from "../support/until.ts";
import { temporaryFolder } from "../support/temporary-files.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const section = readme.split("\n## ").find((text) => text.startsWith("Ten commands")) ?? "";
const script = /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? "";

/** The environment without the variables that `npm test` sets for its scripts. */
const environment = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(?:package|lifecycle|config_local_prefix)|^NODE_ENV$/.test(name),
  ),
);

/** The commands of a script. Quoted text and here-documents have lines of their own. */
const splitCommands = (text: string): readonly string[] => {
  const commands: string[] = [];
  let open = "";
  let end: string | undefined;
  for (const line of text.trimEnd().split("\n")) {
    open += (open === "" ? "" : "\n") + line;
    end ??= /<< '(\w+)'/.exec(line)?.[1];
    if (end === undefined ? (open.match(/"/g) ?? []).length % 2 === 0 : line === end) {
      commands.push(open);
      open = "";
      end = undefined;
    }
  }
  return commands;
};

test("C-PKG-6 the README has ten commands", () => {
  expect(splitCommands(script)).toHaveLength(10);
});

const hasPsql = spawnSync("psql", ["--version"]).status === 0;
/** The commands install packages from the registry of npm, so they do not run in the checks of a change. */
const asksRegistry = capabilities.realServer && process.env["TEST_REGISTRY"] === "1";

test.skipIf(!hasPsql || !asksRegistry)(
  "C-PKG-6 the commands lead to a typed call, and a wrong column does not compile",
  async () => {
    const folder = temporaryFolder();
    const database = await testDatabase();
    const port = await freePort();
    const role = `c_pkg_anon_${process.pid}`; // roles belong to the whole server
    atFileEnd(async () => {
      const [existingRole] = await database.query("select from pg_roles where rolname = $1", [role]);
      if (existingRole !== undefined) await database.query(`drop owned by ${role}; drop role ${role}`);
    });
    const tarball = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], {
      cwd: root,
      encoding: "utf8",
    }).trim();
    // Only the package, the database, the port and the role of the text are replaced.
    const replaceText = (text: string, from: string, to: string): string => {
      expect(text).toContain(from);
      return text.replaceAll(from, to);
    };
    let text = replaceText(script, "cinema relapi ", `cinema ${join(folder, tarball)} `);
    text = replaceText(text, "postgres://postgres@localhost/cinema", `'${database.options.databaseUrl}'`);
    text = replaceText(text, "localhost:3000", `127.0.0.1:${port}`);
    text = replaceText(text, "web_anon", role);
    const wrong = `sed s/title,/titel,/ client.mts > wrong.mts && node_modules/.bin/tsc --strict --module nodenext --target es2022 --skipLibCheck --noEmit wrong.mts`;
    const child = spawn(
      "bash",
      [
        "-c",
        `set -em\ntrap 'kill %1 2>/dev/null || true' EXIT\n${text}\necho --- wrong\n${wrong} && exit 9 || echo rejected`,
      ],
      {
        cwd: folder,
        detached: true, // a group of its own, with the server that it leaves running
        env: { ...environment, PORT: String(port), LOG_LEVEL: "error" },
      },
    );
    atFileEnd(async () => {
      try {
        process.kill(-(child.pid as number), "SIGKILL");
      } catch {
        // All processes of the group have ended.
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
    // The event is `exit`, because the server keeps the outputs open.
    const code = await new Promise<number | null>((resolve) => child.on("exit", resolve));
    expect(code, output).toBe(0);
    await until(() => output.includes("\nrejected\n"), "the outputs have been read");
    const [rightOutput = "", wrongOutput = ""] = output.split("--- wrong");
    expect(rightOutput).toMatch(/^fine: \d+ relations, /m);
    expect(rightOutput).toMatch(/^\[ 'Vagabond' \]$/m);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
    expect(wrongOutput).toMatch(/wrong\.mts\(\d+,\d+\): error TS\d+:.*'?title'?/);
  },
);

describe("an installed clone", () => {
  test("C-PKG-7 npm start serves requests", async () => {
    const child = spawn("npm", ["start"], {
      cwd: root,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...environment, PORT: "0" },
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    try {
      const address = (): string | undefined => /REST +(http\S+)/.exec(output)?.[1];
      await until(() => address() !== undefined, "the server prints its address");
      const response = await fetch(`${address()}/album?select=title&album_id=eq.1`);
      expect(await response.json()).toEqual([{ title: "For Those About To Rock We Salute You" }]);
    } finally {
      process.kill(-(child.pid as number), "SIGTERM");
    }
  });
});
