/** Changes the metadata: tries the change on the database, writes the new metadata, and notifies the other
 *  processes. */
import { createHash } from "node:crypto";
import { writeJson, type PluginContext } from "../../../core/index.ts";
import { copyProblems, metadataSourceService, type MetadataProblem, type MetadataSource } from "../../metadata/api.ts";
import { reloadOthersService } from "../../database/api.ts";
import { removeObject, readEntry, normalizeMetadata, type Entry } from "./document.ts";
import { metadataReadOnly, metadataError, versionOutdated } from "./errors.ts";
import { encodeDependent, encodeProblem } from "./inconsistent-metadata.ts";
import { recoverSource, runWithRecoveredSource, writeMetadata } from "./store.ts";

/** The inconsistent objects that a change may leave behind: any, only those that existed before, or none. */
type AllowedProblems = "any" | "known" | "none";

export interface Change {
  /** Returns the new metadata, computed from the current metadata. The function has no side effects. @throws
   *  RelApiError */
  readonly apply: (document: Entry) => Entry;
  readonly allowedProblems: AllowedProblems;
  /** True if objects that become inconsistent are removed too. */
  readonly cascades?: boolean;
  /** True if the change removes something. */
  readonly isDrop?: boolean;
  /** True if the change only renames an object that others refer to. */
  readonly isRename?: boolean;
  /** The version of the metadata that the change was made for. */
  readonly version?: number;
  readonly path: string;
  /** The changes of which this one consists, in order. */
  readonly parts?: readonly Change[];
}

/** The metadata as it is written, and its version, which differs for different metadata. */
interface CurrentMetadata {
  readonly document: Entry;
  readonly version: number;
}

export interface Editor {
  current(): Promise<CurrentMetadata>;
  problems(): readonly MetadataProblem[];
  /** Applies changes in order, all of them or none. @throws RelApiError, and nothing has changed */
  change(...changes: readonly Change[]): Promise<void>;
  /** Reloads the schema and the metadata in all processes. */
  reload(): Promise<void>;
}

const EMPTY: Entry = { version: 3, sources: [] };
/** The maximum number of rounds of a cascading drop. Dropping an object may make others inconsistent, which the next
 *  round drops. */
const MAX_CASCADES = 20;

/** Returns the version of the document, a hash that is equal in every process. */
const hashVersion = (document: Entry): number =>
  Number.parseInt(createHash("sha256").update(writeJson(document)).digest("hex").slice(0, 12), 16);

const buildProblemKey = ({ type, owner, name }: MetadataProblem): string =>
  JSON.stringify([type, owner?.schema, owner?.name, name]);

/** Returns the definition of an object in the document, for comparison. */
const encodeObjectState = (problem: MetadataProblem, document: Entry): string =>
  writeJson([
    readEntry(encodeProblem(problem, document))["definition"] ?? null,
    writeJson(removeObject(document, problem)) !== writeJson(document),
  ]);

/** Returns the path of the change that wrote the object last. */
const findChangePath = ({ parts = [], path }: Change, before: Entry, problem: MetadataProblem | undefined): string => {
  if (problem === undefined) return path;
  let [document, changePath] = [before, path];
  for (const part of parts) {
    const next = part.apply(document);
    if (encodeObjectState(problem, document) !== encodeObjectState(problem, next)) changePath = part.path;
    document = next;
  }
  return changePath;
};

/** Returns the error for a change that would make the metadata inconsistent. @rule P-HAS-4 */
const changeRejected = (problems: readonly MetadataProblem[], change: Change, before: Entry, next: Entry): Error => {
  const { allowedProblems, isDrop, isRename } = change;
  const path = findChangePath(change, before, problems[0]);
  const internal = problems.map((problem) => encodeProblem(problem, next));
  if (allowedProblems === "none")
    return metadataError("unexpected", "cannot continue due to inconsistent metadata", path, internal);
  if (isDrop === true) {
    const dependents = problems.map((problem) => encodeDependent(problem, next)).join(", ");
    return metadataError(
      "dependency-error",
      `cannot drop due to the following dependent objects: ${dependents}`,
      path,
      internal,
    );
  }
  if (isRename === true)
    return metadataError("unexpected", "cannot continue due to new inconsistent metadata", path, internal);
  const reasons = internal.map((problem) => String(readEntry(problem)["reason"])).join(", ");
  return metadataError("invalid-configuration", reasons, path, internal);
};

/** Creates the editor that changes the metadata. */
export const createEditor = (context: PluginContext): Editor => {
  const getSource = (): MetadataSource | undefined => context.use(metadataSourceService);
  const listProblems = (): readonly MetadataProblem[] => copyProblems(context.model());
  const notifyOtherProcesses = (): void => context.use(reloadOthersService)?.requestReload();

  let last: Promise<unknown> = Promise.resolve();
  /** Runs changes one after the other, because trying a change temporarily replaces the metadata of the process. */
  const runInOrder = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };

  /**
   * Loads the document and keeps it unless it has problems that are not allowed. @returns the problems that are not
   * allowed
   */
  const tryDocument = async (
    source: MetadataSource,
    document: Entry,
    isAllowed: (problem: MetadataProblem) => boolean,
  ): Promise<readonly MetadataProblem[]> => {
    let bad: readonly MetadataProblem[] = [];
    source.propose({
      raw: document,
      accept: (newProblems) => {
        bad = newProblems.filter((problem) => !isAllowed(problem));
        if (bad.length > 0) throw metadataError("preset", "the metadata does not fit the database", "$");
      },
    });
    try {
      await context.reload();
      return [];
    } catch (error) {
      if (bad.length === 0) throw error;
      return bad;
    }
  };

  /** Loads the changed document. @returns the document, without the objects that cascades dropped */
  const tryChange = async (
    source: MetadataSource,
    before: Entry,
    changedDocument: Entry,
    change: Change,
  ): Promise<Entry> => {
    const knownKeys = new Set(listProblems().map(buildProblemKey));
    const isAllowed = (problem: MetadataProblem): boolean =>
      change.allowedProblems === "any" ||
      (change.allowedProblems === "known" && knownKeys.has(buildProblemKey(problem)));
    let next = changedDocument;
    for (let cascades = 0; ; cascades++) {
      const bad = await tryDocument(source, next, isAllowed);
      if (bad.length === 0) return next;
      if (change.cascades !== true || cascades === MAX_CASCADES) throw changeRejected(bad, change, before, next);
      next = bad.reduce(removeObject, next);
    }
  };

  const applyChanges = async (source: MetadataSource, path: string, changes: readonly Change[]): Promise<void> => {
    const { raw: rawMetadata, files } = await source.read();
    const before = normalizeMetadata(rawMetadata);
    const current = hashVersion(before);
    const version = changes.find((change) => change.version !== undefined)?.version;
    if (version !== undefined && version !== current) throw versionOutdated(version, current);
    let next = before;
    let isTried = false;
    try {
      for (const change of changes) {
        const changedDocument = change.apply(next);
        isTried = true;
        next = await tryChange(source, next, changedDocument, change);
      }
      await writeMetadata(path, files, next);
      source.propose(undefined);
    } catch (error) {
      source.propose(undefined);
      // This restores the old model; if the database prevents that, the next regular reload tries again.
      if (isTried) await context.reload().catch(() => undefined);
      throw error;
    }
    notifyOtherProcesses();
  };

  return {
    current: async () => {
      const source = getSource();
      if (source?.path !== undefined) await recoverSource(source.path);
      const document = source === undefined ? EMPTY : normalizeMetadata((await source.read()).raw);
      return { document, version: hashVersion(document) };
    },
    problems: listProblems,
    change: (...changes) => {
      const source = getSource();
      if (source === undefined) throw metadataReadOnly("there is none: the setting METADATA names a folder or a file");
      const { path } = source;
      if (path === undefined) throw metadataReadOnly("the program gives it as an object");
      return runInOrder(() => runWithRecoveredSource(path, (real) => applyChanges(source, real, changes)));
    },
    reload: async () => {
      await runInOrder(() => context.reload());
      notifyOtherProcesses();
    },
  };
};
