/** Builds another commit of this repository beside this one, with the packages of this one. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

const git = (...words: readonly string[]): string =>
  execFileSync("git", words, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

/** Returns undefined if the commit does not exist, as in a shallow clone. */
export const findCommit = (name: string): string | undefined => {
  try {
    return git("rev-parse", "--short", "--verify", `${name}^{commit}`);
  } catch {
    return undefined;
  }
};

/** Builds a commit in a folder of its own. @throws Error if there is no such commit, or it cannot be built */
export const builtCheckout = async (commit: string): Promise<{ readonly dist: string; remove(): void }> => {
  if (findCommit(commit) === undefined) throw new Error(`there is no commit ${commit} here`);
  const folder = mkdtempSync(join(tmpdir(), "relapi-compare-"));
  const remove = (): void => {
    git("worktree", "remove", "--force", folder);
    rmSync(folder, { recursive: true, force: true });
  };
  git("worktree", "add", "--detach", folder, commit);
  try {
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
    // Type errors from newer packages do not matter.
    execFileSync("npx", ["--no-install", "tsc", "-p", "tsconfig.json", "--noCheck", "--outDir", "dist"], {
      cwd: folder,
      stdio: ["ignore", "inherit", "inherit"],
    });
  } catch (error) {
    remove();
    throw error;
  }
  return { dist: join(folder, "dist"), remove };
};
