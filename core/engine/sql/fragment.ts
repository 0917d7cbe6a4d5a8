/** SQL text with holes. A hole is a quoted identifier, another fragment, or a value that is bound; never text from
 *  outside. */

import { tooManyValues } from "../../kernel/errors.ts";

/** What goes to the server for one parameter. Strings are sent without a declared type. */
export type BoundValue = string | null | Uint8Array;

/** The same, where it may be a JSON list of objects. */
export type SentValue = BoundValue | JsonList;

/** A JSON list of objects that a plugin may send in another form (X-INS-1). */
export interface JsonList {
  readonly json: string;
  /** Undefined if an object has a value that is neither a scalar nor null. */
  rows(): readonly TextRow[] | undefined;
}

/** The values of an object by their keys, as PostgreSQL reads them. */
export type TextRow = Readonly<Record<string, string | null>>;

/** Where a parameter's value comes from when the statement is run. */
export type Slot =
  /** index into the values that came with the plan. `isJson`: the statement reads the strings of the JSON text */
  | { readonly param: number; readonly isJson?: true }
  /** session variable by lower-case name; missing is an error unless `optional` */
  | { readonly session: string; readonly optional?: boolean }
  /** all session variables as a JSON object, under each of these prefixes too (G-SES-5) */
  | { readonly sessionJson: readonly string[] }
  /** part of the plan itself, the same for every run */
  | { readonly fixed: BoundValue };

/** The value itself, or the text of a list. */
export const boundOf = (sent: SentValue): BoundValue =>
  sent !== null && typeof sent === "object" && "json" in sent ? sent.json : sent;

type Chunk = string | { readonly slot: Slot };

declare const sqlBrand: unique symbol;

/** A fragment of SQL. Only the functions of this file make one. */
export interface Sql {
  readonly [sqlBrand]: true;
  readonly parts: readonly (Chunk | Sql)[];
}

const make = (parts: readonly (Chunk | Sql)[]): Sql => ({ parts }) as unknown as Sql; // the brand exists only in types

const isSql = (value: unknown): value is Sql =>
  typeof value === "object" && value !== null && Array.isArray((value as { parts?: unknown }).parts);

/** `sql` and `join` copy short fragments and keep longer ones whole, so that nesting takes linear time. */
const MAX_COPIED_PARTS = 8;

const append = (parts: (Chunk | Sql)[], fragment: Sql): void => {
  if (fragment.parts.length > MAX_COPIED_PARTS) parts.push(fragment);
  else for (const part of fragment.parts) parts.push(part);
};

/** The texts and slots of a fragment, in order. */
export const chunksOf = (fragment: Sql): readonly Chunk[] => {
  const chunks: Chunk[] = [];
  const pending: (Chunk | Sql)[] = [fragment];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if (!isSql(part)) chunks.push(part);
    else for (let i = part.parts.length - 1; i >= 0; i--) pending.push(part.parts[i] as Chunk | Sql); // i < length
  }
  return chunks;
};

/** ``sql`select ${column} from ${relation}` ``. Holes take fragments only: a string in a hole throws. */
export const sql = (strings: TemplateStringsArray, ...holes: readonly Sql[]): Sql => {
  const parts: (Chunk | Sql)[] = [];
  strings.forEach((text, i) => {
    if (text !== "") parts.push(text);
    if (i >= holes.length) return;
    const hole: unknown = holes[i];
    if (!isSql(hole)) throw new TypeError(`expected an SQL fragment, not a ${typeof hole}: use ident() or value()`);
    append(parts, hole);
  });
  return make(parts);
};

/** The empty fragment. */
export const empty: Sql = make([]);

export const isEmpty = (fragment: Sql): boolean => fragment.parts.length === 0;

/** `"a"."b"`: each part quoted, `"` doubled, everything from a NUL on dropped. @rule R-PROF-5 */
export const ident = (...parts: readonly string[]): Sql => make([parts.map(quoteIdent).join(".")]);

const quoteIdent = (name: string): string => {
  const nul = name.indexOf("\u0000");
  return `"${(nul === -1 ? name : name.slice(0, nul)).replaceAll('"', '""')}"`;
};

/** A parameter whose value is part of the plan. `type`: a catalog type name to cast to. */
export const value = (bound: BoundValue, type?: string): Sql => slot({ fixed: bound }, type);

/** A parameter filled per run. */
export const slot = (source: Slot, type?: string): Sql =>
  make(type === undefined ? [{ slot: source }] : [{ slot: source }, `::${type}`]);

/** Text that the catalog wrote (type names, default expressions). Never for anything from a request. */
export const catalogText = (text: string): Sql => make([text]);

/** Fragments with a separator between them. */
export const join = (fragments: readonly Sql[], separator = ", "): Sql => {
  const parts: (Chunk | Sql)[] = [];
  fragments.forEach((fragment, i) => {
    if (i > 0) parts.push(separator);
    append(parts, fragment);
  });
  return make(parts);
};

/** A string constant in the text itself. For names of the schema that are output, so that they stay in the plan key. */
export const literal = (text: string): Sql => {
  const clean = text.replaceAll("\u0000", "");
  const body = clean.replaceAll("'", "''");
  return make([clean.includes("\\") ? `E'${body.replaceAll("\\", "\\\\")}'` : `'${body}'`]);
};

/** A whole number, written into the SQL. @throws TypeError if it is not a safe integer */
export const integer = (number: number): Sql => {
  if (!Number.isSafeInteger(number)) throw new TypeError("integer() takes a whole number");
  return make([String(number)]);
};

/** The text of a statement, and its slots in the order of `$1`, `$2`, … */
export interface Statement {
  readonly text: string;
  readonly slots: readonly Slot[];
}

/** The protocol counts the values of a statement in two bytes. */
const MAX_VALUES = 65_535;

/** Numbers the slots `$1…`, one per hole: a shared number would force one inferred type on different places.
 *  @throws RelApiError `54000` when there are more than a statement can have */
export const toStatement = (fragment: Sql): Statement => {
  const slots: Slot[] = [];
  let text = "";
  for (const chunk of chunksOf(fragment)) {
    if (typeof chunk === "string") {
      text += chunk;
      continue;
    }
    const { slot: source } = chunk;
    slots.push(source);
    text += `$${slots.length}`;
  }
  if (slots.length > MAX_VALUES) throw tooManyValues(MAX_VALUES);
  return { text, slots };
};
