/** What a cohort shows of itself to operators: its statements and numbers, and nothing of its callers but the role. */
import { createHash } from "node:crypto";
import type { Program } from "../../core/index.ts";
import type { CohortFigures } from "./api.ts";
import type { Cohort } from "./cohort.ts";

/** Enough to tell the plans of one server apart. */
const KEY_LENGTH = 12;

const textsOf = ({ statements }: Program): readonly string[] => statements.map(({ text }) => text);

/** No figures of a cohort that is about to end. */
export const createFigures = (): ((cohort: Cohort) => readonly CohortFigures[]) => {
  /** Cached by program: it never changes. */
  const keys = new WeakMap<Program, string>();
  const keyOf = (program: Program): string => {
    let key = keys.get(program);
    if (key === undefined) {
      key = createHash("sha256").update(textsOf(program).join(";")).digest("hex").slice(0, KEY_LENGTH);
      keys.set(program, key);
    }
    return key;
  };
  return ({ facts, entries, counts }) => {
    const [first] = entries.values();
    if (first === undefined) return [];
    const programs = first.query.programs.map(({ program }) => program);
    let subscribers = 0;
    for (const { subscriptions } of entries.values()) subscribers += subscriptions.size;
    return [
      {
        ...counts,
        planKey: programs.map(keyOf).join("."),
        statements: programs.flatMap(textsOf),
        relations: [...facts.relations],
        role: facts.session.role,
        isShared: facts.isShared,
        subscribers,
        queries: entries.size,
      },
    ];
  };
};
