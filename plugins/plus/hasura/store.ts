/**
 * Writes metadata to the file or folder that it was read from: atomically, and by one process at a time. @rule P-HAS-5
 */
import { chmod, mkdir, open, readFile, realpath, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { RelApiError } from "../../../core/index.ts";
import type { Entry } from "./document.ts";
import { metadataReadOnly, metadataError } from "./errors.ts";
import { buildFileText, buildFolderFiles, type Files } from "./files.ts";

/** The journal of a pending write, in the metadata folder. Once this file exists, the write counts as done. */
const JOURNAL = ".metadata-journal.json";
const LOCK = ".metadata-lock";
const LOCK_WAIT_MS = 10_000;
const LOCK_RETRY_MS = 50;
/** The age at which a lock is stale, because its owner has ended without removing it. Owners refresh a lock more
 *  often. */
const LOCK_STALE_MS = 30_000;
const LOCK_ALIVE_MS = 5_000;

/** The files to write. A file without `text` is deleted. */
type Journal = readonly { readonly path: string; readonly text?: string }[];

const isFolder = async (path: string): Promise<boolean> => (await stat(path)).isDirectory();

const getErrorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const WRITE_ERROR_CODES: ReadonlySet<string | undefined> = new Set([
  "EACCES",
  "EPERM",
  "EROFS",
  "EBUSY",
  "ENOSPC",
  "EDQUOT",
]);

/** Runs work that writes files, and translates its errors.
 *  @throws RelApiError `not-supported` if the files cannot be written */
const withWriteErrors = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RelApiError || !WRITE_ERROR_CODES.has(getErrorCode(error))) throw error;
    throw metadataReadOnly(`it cannot be written where it was read from (${getErrorCode(error)})`);
  }
};

/** Replaces a file atomically. */
const replaceFile = async (path: string, text: string): Promise<void> => {
  const temporary = `${path}.${process.pid}.new`;
  const mode = await stat(path).then(
    (stats) => stats.mode,
    () => undefined,
  );
  try {
    const file = await open(temporary, "w", mode);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    if (mode !== undefined) await chmod(temporary, mode);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
};

const applyJournal = async (root: string, journal: Journal): Promise<void> => {
  for (const { path, text } of journal) {
    const target = resolve(root, path);
    if (relative(root, target).startsWith("..")) throw new Error(`the journal names ${path}, outside its folder`);
    if (text === undefined) await rm(target, { force: true });
    else {
      await mkdir(dirname(target), { recursive: true });
      await replaceFile(target, text);
    }
  }
  await rm(join(root, JOURNAL), { force: true });
};

/** Finishes the write that an interrupted process has left in the journal. */
const finishJournal = async (root: string): Promise<void> => {
  const text = await readFile(join(root, JOURNAL), "utf8").catch(() => undefined);
  if (text !== undefined) await applyJournal(root, JSON.parse(text) as Journal); // this file wrote the JSON
};

/** Runs work while no other process changes the metadata.
 *  @throws RelApiError `conflict` if another process does not release the lock */
const runLocked = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
  const lock = (await isFolder(path)) ? join(path, LOCK) : `${path}.lock`;
  const endMs = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      await (await open(lock, "wx")).close();
      break;
    } catch (error) {
      if (getErrorCode(error) !== "EEXIST") throw error;
      const age = await stat(lock).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      );
      if (age > LOCK_STALE_MS) await rm(lock, { force: true });
      else if (Date.now() > endMs)
        throw metadataError("conflict", "another process is changing the metadata", "$", undefined, 409);
      else await new Promise((retry) => setTimeout(retry, LOCK_RETRY_MS));
    }
  }
  const alive = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), LOCK_ALIVE_MS);
  alive.unref();
  try {
    return await work();
  } finally {
    clearInterval(alive);
    await rm(lock, { force: true });
  }
};

/** Runs `work` while holding the lock, after any interrupted write has been finished. */
export const runWithRecoveredSource = async <Result>(
  source: string,
  work: (path: string) => Promise<Result>,
): Promise<Result> => {
  const path = await realpath(source);
  return withWriteErrors(() =>
    runLocked(path, async () => {
      if (await isFolder(path)) await finishJournal(path);
      return work(path);
    }),
  );
};

/** Called before metadata is read: waits for a writer, or finishes an interrupted write. */
export const recoverSource = async (source: string): Promise<void> => {
  const isPending = await stat(join(source, JOURNAL)).then(
    () => true,
    () => false,
  );
  if (isPending) await runWithRecoveredSource(source, async () => undefined);
};

/** Returns whether the file is part of the layout, and may therefore be deleted. */
const belongsToLayout = (path: string): boolean => path.startsWith("databases/") || !path.includes("/");

/**
 * Writes the document while the lock is held. `read` lists the files that the metadata was read from.
 * @throws RelApiError
 */
export const writeMetadata = async (path: string, read: readonly string[], document: Entry): Promise<void> => {
  if (!(await isFolder(path))) return replaceFile(path, await buildFileText(document, await readFile(path, "utf8")));
  const current = new Map<string, string>();
  for (const file of read) current.set(relative(path, await realpath(file)), await readFile(file, "utf8"));
  const next: Files = await buildFolderFiles(document, current);
  const journal: Journal = [
    ...[...next].flatMap(([file, text]) => (current.get(file) === text ? [] : [{ path: file, text }])),
    ...[...current.keys()].filter((file) => belongsToLayout(file) && !next.has(file)).map((file) => ({ path: file })),
  ];
  if (journal.length === 0) return;
  await replaceFile(join(path, JOURNAL), JSON.stringify(journal));
  try {
    await applyJournal(path, journal);
  } catch (error) {
    // A part of the folder is not writable, so the old files are restored as far as possible.
    await applyJournal(
      path,
      journal.map(({ path: file }) => {
        const text = current.get(file);
        return text === undefined ? { path: file } : { path: file, text };
      }),
    );
    throw error;
  }
};
