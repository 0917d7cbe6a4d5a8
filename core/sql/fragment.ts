/** Builds SQL text with interpolations. Each interpolation is a quoted identifier, another fragment, or a bound value,
 *  but never text from outside. */

import { valueCountExceeded } from "../kernel/errors.ts";

/** The value of a parameter, as the server receives it. Strings are sent without a declared type. @experimental */
export type BoundValue = string | null | Uint8Array;

/** A bound value, or a JSON list of objects. @experimental */
export type SentValue = BoundValue | JsonList;

/** A JSON list of objects that a plugin may send in another form (X-INS-1). @experimental */
export interface JsonList {
  readonly json: string;
  /** Returns the rows, or undefined if an object has a value that is neither a scalar nor null. Callers must not call
   *  this function for a list that is longer than `MAX_LIST_LENGTH`. */
  rows(): readonly TextRow[] | undefined;
}

/** The length of JSON up to which a list may be sent as values. The limit exists because both forms are in memory at
 *  the same time. */
export const MAX_LIST_LENGTH = 64 * 1024;

/** The values of an object by their keys, as PostgreSQL reads them. @experimental */
export type TextRow = Readonly<Record<string, string | null>>;

/** The source of a parameter's value, which is read when the statement runs. @experimental */
export type Slot =
  /** An index into the plan's values. With `isJson`, the statement reads the strings of the JSON text. */
  | { readonly param: number; readonly isJson?: true }
  /** A session variable by lower-case name. A missing variable is an error unless `optional` is true. */
  | { readonly session: string; readonly optional?: boolean }
  /** All session variables as a JSON object, which also contains each variable under each of these prefixes
   *  (G-SES-5). */
  | { readonly sessionJson: readonly string[] }
  /** A value that is a part of the plan itself, and the same for every run. */
  | { readonly fixed: BoundValue };

/** Returns the bound value itself, or the JSON text of a list. @experimental */
export const getBoundValue = (sentValue: SentValue): BoundValue =>
  sentValue !== null && typeof sentValue === "object" && "json" in sentValue ? sentValue.json : sentValue;

type Chunk = string | { readonly slot: Slot };

declare const sqlBrand: unique symbol;

/** A fragment of SQL. Only the functions of this file create fragments. */
export interface Sql {
  readonly [sqlBrand]: true;
  readonly parts: readonly (Chunk | Sql)[];
}

// The brand exists only in types, so the cast is safe.
const createFragment = (parts: readonly (Chunk | Sql)[]): Sql => ({ parts }) as unknown as Sql;

const isSql = (value: unknown): value is Sql =>
  typeof value === "object" && value !== null && Array.isArray((value as { parts?: unknown }).parts);

/** Returns the texts and slots of a fragment, in order. */
export const flattenFragment = (fragment: Sql): readonly Chunk[] => {
  const chunks: Chunk[] = [];
  const stack: (Chunk | Sql)[] = [fragment];
  for (let part = stack.pop(); part !== undefined; part = stack.pop()) {
    if (!isSql(part)) chunks.push(part);
    // The index is below the length.
    else for (let i = part.parts.length - 1; i >= 0; i--) stack.push(part.parts[i] as Chunk | Sql);
  }
  return chunks;
};

/** Creates a fragment: ``sql`select ${column} from ${relation}` ``. Only fragments can be interpolated; a string
 *  throws. */
export const sql = (strings: TemplateStringsArray, ...interpolations: readonly Sql[]): Sql => {
  const parts: (Chunk | Sql)[] = [];
  strings.forEach((text, i) => {
    if (text !== "") parts.push(text);
    if (i >= interpolations.length) return;
    const interpolation: unknown = interpolations[i];
    if (!isSql(interpolation))
      throw new TypeError(
        `expected an SQL fragment, not a ${typeof interpolation}: use quoteIdentifier() or bindValue()`,
      );
    if (!isEmpty(interpolation)) parts.push(interpolation);
  });
  return createFragment(parts);
};

/** The fragment without any text. */
export const empty: Sql = createFragment([]);

export const isEmpty = (fragment: Sql): boolean => fragment.parts.length === 0;

/** Creates `"a"."b"`: each part is quoted, `"` is doubled, and everything from a NUL on is dropped. @rule R-PROF-5 */
export const quoteIdentifier = (...parts: readonly string[]): Sql => createFragment([parts.map(quoteName).join(".")]);

const quoteName = (name: string): string => {
  const nul = name.indexOf("\u0000");
  return `"${(nul === -1 ? name : name.slice(0, nul)).replaceAll('"', '""')}"`;
};

/** Creates a parameter whose value is part of the plan. `type` is a catalog type name to cast to. */
export const bindValue = (boundValue: BoundValue, type?: string): Sql => bindSlot({ fixed: boundValue }, type);

/** Creates a parameter whose value is bound for each run. */
export const bindSlot = (source: Slot, type?: string): Sql =>
  createFragment(type === undefined ? [{ slot: source }] : [{ slot: source }, `::${type}`]);

/** Creates a fragment of text that the catalog wrote (type names, default expressions). The text must never come from a
 *  request. */
export const trustedSql = (text: string): Sql => createFragment([text]);

/** Joins fragments with a separator. */
export const joinSql = (fragments: readonly Sql[], separator = ", "): Sql => {
  const parts: (Chunk | Sql)[] = [];
  fragments.forEach((fragment, i) => {
    if (i > 0) parts.push(separator);
    if (!isEmpty(fragment)) parts.push(fragment);
  });
  return createFragment(parts);
};

/** Creates a string constant in the text itself. The constant is for output names from the schema, which must be part
 *  of the plan key. */
export const quoteLiteral = (text: string): Sql => {
  const clean = text.replaceAll("\u0000", "");
  const body = clean.replaceAll("'", "''");
  return createFragment([clean.includes("\\") ? `E'${body.replaceAll("\\", "\\\\")}'` : `'${body}'`]);
};

/** Creates a whole number in the text itself. @throws TypeError if the number is not a safe integer */
export const inlineInteger = (number: number): Sql => {
  if (!Number.isSafeInteger(number)) throw new TypeError("inlineInteger() requires a whole number");
  return createFragment([String(number)]);
};

/** The text of a statement, and its slots in the order of `$1`, `$2`, … @experimental */
export interface Statement {
  readonly text: string;
  readonly slots: readonly Slot[];
}

/** The protocol counts the values of a statement in two bytes. */
const MAX_VALUES = 65_535;

/** Numbers the slots `$1…`, one per occurrence, because a shared number would force one inferred type on different
 *  positions. @throws RelApiError `54000` if a statement has too many values @experimental */
export const compileSql = (fragment: Sql): Statement => {
  const slots: Slot[] = [];
  let text = "";
  for (const chunk of flattenFragment(fragment)) {
    if (typeof chunk === "string") {
      text += chunk;
      continue;
    }
    const { slot: source } = chunk;
    slots.push(source);
    text += `$${slots.length}`;
  }
  if (slots.length > MAX_VALUES) throw valueCountExceeded(MAX_VALUES);
  return { text, slots };
};
