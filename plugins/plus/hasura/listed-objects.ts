/** Commands that add an object to a list of the metadata, and commands that change or remove it. @rule P-HAS-1 */
import {
  objectMissing,
  readEntry,
  readListOrEmpty,
  replaceEntry,
  requireText,
  type Arguments,
  type Command,
  type Entry,
} from "./document.ts";
import { metadataError } from "./errors.ts";

/** The error for an object that exists, or does not exist. */
type BuildError = (name: string, from: Arguments) => Error;

/** A kind of objects in lists of the metadata. */
export interface ListedKind {
  /** Changes the owner of the lists that the arguments name, such as a source or a table. */
  readonly changeOwner: (document: Entry, from: Arguments, change: (owner: Entry) => Entry) => Entry;
  /** The lists in which names are unique. New objects go to the first one. */
  readonly lists: readonly [string, ...string[]];
  /** The key that names the object in its list. */
  readonly key: string;
  /** The argument with the name of the object. By default, the value of `key`. */
  readonly argument?: string;
  readonly description: string;
  /** Returns whether a new object replaces the one of its name. Otherwise, the name is taken. */
  readonly mayReplace?: (from: Arguments) => boolean;
  readonly buildTakenError?: BuildError;
  readonly buildMissingError?: BuildError;
}

/** Returns the kind of the objects in a list outside of sources. */
export const buildTopLevelKind = (list: string, key: string, description: string): ListedKind => ({
  changeOwner: (document, _from, change) => change(document),
  lists: [list],
  key,
  description,
});

const findList = ({ lists, key }: ListedKind, owner: Entry, name: string): string | undefined =>
  lists.find((list) => readListOrEmpty(owner[list]).some((entry) => readEntry(entry)[key] === name));

export const createAddCommand =
  (kind: ListedKind, buildEntry: (from: Arguments, owner: Entry) => Entry): Command =>
  (document, from) => {
    const {
      changeOwner,
      lists: [list],
      key,
      argument = key,
      description,
    } = kind;
    const name = requireText(from, argument);
    const mayReplace = kind.mayReplace?.(from) === true;
    return changeOwner(document, from, (owner) => {
      if (!mayReplace && findList(kind, owner, name) !== undefined)
        throw (
          kind.buildTakenError?.(name, from) ??
          metadataError("already-exists", `${description} "${name}" already exists`, from.path)
        );
      return replaceEntry(
        owner,
        list,
        (entry) => entry[key] === name,
        () => ({ [key]: name, ...buildEntry(from, owner) }),
      );
    });
  };

/** Creates a command that changes an object, or removes it if `change` returns undefined. */
export const createChangeCommand =
  (kind: ListedKind, change: (entry: Entry, from: Arguments, owner: Entry) => Entry | undefined): Command =>
  (document, from) => {
    const { changeOwner, key, argument = key, description } = kind;
    const name = requireText(from, argument);
    return changeOwner(document, from, (owner) => {
      const list = findList(kind, owner, name);
      if (list === undefined)
        throw kind.buildMissingError?.(name, from) ?? objectMissing(`${description} "${name}"`, from.path);
      return replaceEntry(
        owner,
        list,
        (entry) => entry[key] === name,
        (entry) => change(readEntry(entry), from, owner),
      );
    });
  };
