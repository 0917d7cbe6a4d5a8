/** Which variables decide what a plan looks like, and which parts of their values do not: plans are kept by the rest. One per prepared document. */
import type { Json } from "../../../core/index.ts";
import { isPlainObject } from "../coerce/leaf.ts";
import { writeJson } from "../coerce/numbers.ts";
import type { VariableValues } from "./variables.ts";

type Key = string | number;

interface Branch {
  /** `value`: bound, whatever it is. `rows`: a list of rows that becomes one payload: only the columns that occur count. */
  kind?: "value" | "rows";
  readonly keys: Map<string, Branch>;
}

export interface Shapes {
  /** The variable's value was looked at to make the plan. */
  decides(variable: string): void;
  /** What stands there in a deciding variable is bound alone. Indexes of lists do not matter. */
  isBound(variable: string, keys: readonly Key[]): void;
  isRows(variable: string, keys: readonly Key[]): void;
  /** Equal for values that give equal plans, as far as is known yet; undefined: too long to be worth keeping. */
  signature(values: VariableValues): string | undefined;
}

const MAX_SIGNATURE_LENGTH = 8192;

const child = (branches: Map<string, Branch>, key: string): Branch => {
  let found = branches.get(key);
  if (found === undefined) {
    found = { keys: new Map() };
    branches.set(key, found);
  }
  return found;
};

export const createShapes = (): Shapes => {
  const roots = new Map<string, Branch>();
  const mark = (variable: string, keys: readonly Key[], kind: "value" | "rows"): void => {
    let at = child(roots, variable);
    for (const key of keys) at = child(at.keys, typeof key === "number" ? "*" : key);
    at.kind = kind;
  };
  return {
    decides: (variable) => {
      child(roots, variable);
    },
    isBound: (variable, keys) => mark(variable, keys, "value"),
    isRows: (variable, keys) => mark(variable, keys, "rows"),
    signature: (values) => {
      let text = "";
      for (const [variable, root] of roots) {
        const value = values.get(variable);
        text += value === undefined ? "-" : "json" in value ? shapeOf(value.json, root) : "=";
        text += ";";
        if (text.length > MAX_SIGNATURE_LENGTH) return undefined;
      }
      return text;
    },
  };
};

const shapeOf = (value: Json, branch: Branch | undefined): string => {
  if (branch === undefined || (branch.kind === undefined && branch.keys.size === 0)) return writeJson(value);
  // null alone may mean something else than a value would
  if (branch.kind === "value") return value === null ? "null" : "?";
  if (branch.kind === "rows") return columnsOf(value, branch.keys.get("*") ?? branch);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map((item) => shapeOf(item, branch.keys.get("*"))).join(",")}]`;
  // a single value where a list may stand
  if (!isPlainObject(value)) return writeJson(value);
  const single = branch.keys.get("*");
  return `{${Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}:${shapeOf(part, branch.keys.get(key) ?? single?.keys.get(key))}`).join(",")}}`;
};

/** `cells`: what is known of the fields of a row. */
const columnsOf = (rows: Json, cells: Branch): string => {
  const list: readonly Json[] = Array.isArray(rows) ? (rows as readonly Json[]) : [rows];
  if (list.length === 0) return "none";
  const names = new Set<string>();
  for (const row of list) {
    if (!isPlainObject(row)) return writeJson(rows);
    for (const key of Object.keys(row)) {
      // whatever is not plainly a cell may be nested data
      if (!names.has(key) && cells.keys.get(key)?.kind !== "value") return writeJson(rows);
      names.add(key);
    }
  }
  return JSON.stringify([...names].sort());
};
