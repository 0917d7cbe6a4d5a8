/** Parses a Dockerfile, and applies the instructions of a stage to a folder, because no container engine runs here. */
import { cpSync, existsSync, mkdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";

interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly image: string;
  readonly alias: string | undefined;
  readonly instructions: readonly Instruction[];
}

/**
 * The instructions, with the `ARG`s of the top replaced. @throws Error for an instruction that is not supported here
 */
export const readDockerfile = (text: string): readonly Stage[] => {
  const argumentValues = new Map<string, string>();
  const stages: { image: string; alias: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of text.replace(/\\\n/g, " ").split("\n")) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, name = "", rest = ""] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
    if (!/^(?:ARG|FROM|WORKDIR|COPY|RUN|ENV|USER|EXPOSE|HEALTHCHECK|ENTRYPOINT)$/.test(name))
      throw new Error(`not an instruction that is known here: ${line}`);
    const expandedText = rest.replace(
      /\$\{(\w+)\}/g,
      (match, variable: string) => argumentValues.get(variable) ?? match,
    );
    if (name === "ARG") argumentValues.set(...(expandedText.split("=", 2) as [string, string]));
    else if (name === "FROM") {
      const [image = "", , alias] = expandedText.split(/\s+/);
      stages.push({ image, alias, instructions: [] });
    } else stages.at(-1)?.instructions.push({ name, text: expandedText });
  }
  return stages;
};

export const listTexts = (stage: Stage, name: string): readonly string[] =>
  stage.instructions.filter((instruction) => instruction.name === name).map(({ text }) => text);

/** `["node", "x.js"]` or `node x.js`. */
export const splitWords = (text: string): readonly string[] =>
  text.startsWith("[") ? (JSON.parse(text) as string[]) : text.split(/\s+/);

export interface BuiltStage {
  /** The stage's root, as a folder. */
  readonly root: string;
}

/**
 * Applies a stage's WORKDIR, COPY and RUN to a folder. `from` has the earlier stages. `run` handles the commands,
 * because commands of the system (`apk`) cannot run here.
 */
export const buildStage = (
  stage: Stage,
  folder: string,
  context: string,
  from: ReadonlyMap<string, BuiltStage>,
  run: (command: string, cwd: string) => void,
): BuiltStage => {
  let workdir = "/";
  const resolvePath = (path: string): string => join(folder, path.startsWith("/") ? path : join(workdir, path));
  for (const { name, text } of stage.instructions) {
    if (name === "WORKDIR") {
      workdir = text;
      mkdirSync(resolvePath("."), { recursive: true });
    }
    if (name === "RUN") run(text, resolvePath("."));
    if (name !== "COPY") continue;
    const words = text.split(/\s+/);
    const source = words[0]?.startsWith("--from=") ? from.get(words.shift()?.slice("--from=".length) ?? "") : undefined;
    const to = words.pop() ?? ".";
    for (const path of words) {
      const origin = join(source?.root ?? context, path);
      if (!existsSync(origin)) throw new Error(`COPY ${text}: there is no ${path}`);
      // A folder's content goes into the target, a file into a target that ends with a slash or exists.
      const isInto = to.endsWith("/") || to === "." || to === "./";
      const target =
        statSync(origin).isDirectory() || !isInto ? resolvePath(to) : join(resolvePath(to), basename(path));
      cpSync(origin, target, { recursive: true, verbatimSymlinks: true });
    }
  }
  return { root: folder };
};
