/** Templates with what tables put into their places, and which of their types a schema has. @rule R-SC-15 */
import type { Pieces } from "../../../core/index.ts";
import { ALWAYS_THERE } from "../types/collect.ts";
import type { GqlTable } from "../served.ts";
import { fill } from "./marks.ts";
import type { StandIn } from "./stand-ins.ts";
import { Unlike, type SharedType, type Template } from "./templates.ts";

/** A template, filled in. */
export interface Filled {
  readonly template: Template;
  /** Of a table; absent: of functions. */
  readonly table: GqlTable | undefined;
  readonly values: readonly string[];
  /** Numbers of its types that are in the schema beside those that its root fields lead to. */
  readonly further: Set<number>;
}

export const filled = (template: Template, table: GqlTable | undefined): Filled => ({
  template,
  table,
  // places of functions are of fixed tables
  values: template.standIns.values.map((value) => value(table as GqlTable)),
  further: new Set(),
});

/** Whether its fields stand in the order of the template's. */
export const isInOrder = ({ template, values }: Filled): boolean =>
  template.ordered.every(([a, b]) => fill(a, values) < fill(b, values));

/** Names and texts of its types and root fields. */
const textsOf = ({ template, values }: Filled): string => {
  const parts = [["types", template.types] as const, ...template.roots].flatMap(([place, all]) =>
    all.map(({ name, texts }) => JSON.stringify([place, fill(name, values), texts.map((text) => fill(text, values))])),
  );
  return parts.sort().join("\n");
};

/** Whether a table has the same types from both. */
export const areEqual = (one: Filled, other: Filled): boolean => textsOf(one) === textsOf(other);

type Queue = (readonly [Filled, number])[];

const has = ({ template, further }: Filled, number: number): boolean =>
  template.reached.own.has(number) || further.has(number);

const add = (one: Filled, number: number, queue: Queue): void => {
  if (has(one, number)) return;
  one.further.add(number);
  queue.push([one, number]);
};

type ByTable = ReadonlyMap<GqlTable | undefined, Filled>;

/** Adds types of the table that a stand-in of this one is for. */
const lead = (from: Filled, of: StandIn, keys: readonly string[], byTable: ByTable, queue: Queue): void => {
  const to = byTable.get(of.of(from.table as GqlTable)); // functions have fixed ones
  if (to === undefined) throw new Unlike();
  for (const key of keys) {
    const number = to.template.numbers.get(key);
    if (number === undefined) throw new Unlike();
    add(to, number, queue);
  }
};

/** Adds to each what others lead to; names of the types of no table. @throws Unlike */
export const reachAll = function* (
  all: readonly Filled[],
  shared: ReadonlyMap<string, SharedType>,
): Pieces<ReadonlySet<string>> {
  const byTable: ByTable = new Map(all.map((one) => [one.table, one]));
  const names = new Set(ALWAYS_THERE.map(({ name }) => name));
  const queue: Queue = [];
  for (const one of all) {
    for (const [of, keys] of one.template.reached.others) lead(one, of, keys, byTable, queue);
    yield;
  }
  for (const template of new Set(all.map((one) => one.template)))
    for (const name of template.reached.shared) names.add(name);
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [one, number] = next;
    const { ways } = one.template.types[number]!; // one of its numbers
    for (const own of ways.own) add(one, own, queue);
    for (const { of, key } of ways.others) lead(one, of, [key], byTable, queue);
    for (const name of ways.shared) names.add(name);
    yield;
  }
  for (const name of names) for (const way of shared.get(name)?.ways ?? []) names.add(way); // grows on its way
  return names;
};
