/** What processes tell each other of changes, as JSON on the bus. */

/** By `schema.name`. `column`, `keys`: values of the key column in the changed rows; absent: any row. */
export type KeyedChanges = ReadonlyMap<string, Keys | undefined>;

export interface Keys {
  readonly column: string;
  readonly values: ReadonlySet<string>;
}

/** `want`: the sender has live queries, and asks for the values of these columns, by relation; again every few seconds.
 *  `leave`: it has none any more. `lead`: the sender reads the changes for all, again every second; a later `epoch`, in
 *  milliseconds of the database's clock, means that changes in between may be missing. `end`: it does so no longer. */
export type ChangeMessage =
  | readonly ["want", Readonly<Record<string, string>>]
  | readonly ["leave"]
  | readonly ["lead", number]
  | readonly ["change", number, readonly ChangedRelation[]]
  | readonly ["end"];

export type ChangedRelation =
  readonly [relation: string] | readonly [relation: string, column: string, keys: readonly string[]];

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

const isChanged = (value: unknown): value is ChangedRelation =>
  Array.isArray(value) &&
  typeof value[0] === "string" &&
  (value.length === 1 || (value.length === 3 && typeof value[1] === "string" && isTexts(value[2])));

const isMessage = (value: unknown): value is ChangeMessage => {
  if (!Array.isArray(value)) return false;
  const [kind, first, second] = value as readonly unknown[];
  if (kind === "leave" || kind === "end") return true;
  if (kind === "want") return typeof first === "object" && first !== null && isTexts(Object.values(first));
  if (typeof first !== "number") return false;
  return kind === "lead" || (kind === "change" && Array.isArray(second) && second.every(isChanged));
};

/** Undefined: not of this version, or not ours at all. */
export const readMessage = (text: string): ChangeMessage | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export const keyedChanges = (changed: readonly ChangedRelation[]): KeyedChanges =>
  new Map(
    changed.map(([relation, column, keys]) => [
      relation,
      column === undefined || keys === undefined ? undefined : { column, values: new Set(keys) },
    ]),
  );

/** The part of the columns that fits: of the others any row is told. */
export const encodeWant = (columns: ReadonlyMap<string, string>, maxBytes: number): string => {
  const fitting: Record<string, string> = {};
  let bytes = FRAME_BYTES;
  for (const [relation, column] of columns) {
    bytes += Buffer.byteLength(JSON.stringify(relation) + JSON.stringify(column)) + 2;
    if (bytes > maxBytes) break;
    fitting[relation] = column;
  }
  return JSON.stringify(["want", fitting] satisfies ChangeMessage);
};

/** `["change",9007199254740991,[]]` and the like. */
const FRAME_BYTES = 40;
/** Of a message that the keys of one relation may take; if they are longer, any row is told. */
const SHARE = 4;

/** As few messages as the size allows. */
export const encodeChanges = (epoch: number, changes: KeyedChanges, maxBytes: number): readonly string[] => {
  const texts: string[] = [];
  let items: string[] = [];
  let bytes = FRAME_BYTES;
  const flush = (): void => {
    if (items.length > 0) texts.push(`["change",${epoch},[${items.join(",")}]]`);
    items = [];
    bytes = FRAME_BYTES;
  };
  for (const [relation, keys] of changes) {
    const plain = JSON.stringify([relation]);
    const keyed = keys === undefined ? plain : JSON.stringify([relation, keys.column, [...keys.values]]);
    const item = Buffer.byteLength(keyed) > maxBytes / SHARE ? plain : keyed;
    const size = Buffer.byteLength(item) + 1;
    if (bytes + size > maxBytes) flush();
    items.push(item);
    bytes += size;
  }
  flush();
  return texts;
};
