/** Declared parts that give the same thing twice: refused at the start, with both plugins. Core looks at the names that
 *  plans store; a surface looks at those of its own. */
import { presetError } from "../kernel/errors.ts";
import type { Registry } from "../plugin.ts";
import type { Typed } from "./model/type-groups.ts";

type Owners = Pick<Registry, "pluginOf">;

/** Parts of one name must be for different types. `nameOf`: `undefined` where the part is not offered. `what`: the kind
 *  of part, for the message. @throws RelApiError `preset` @rule X-START-3 */
export const refuseOverlaps = <Spec extends Typed>(
  { pluginOf }: Owners,
  parts: Iterable<Spec>,
  nameOf: (spec: Spec) => string | undefined,
  what: string,
): void => {
  const byName = new Map<string, Spec[]>();
  for (const spec of parts) {
    const name = nameOf(spec);
    if (name === undefined) continue;
    const rivals = byName.get(name) ?? [];
    for (const rival of rivals) {
      const type = sharedType(rival, spec);
      if (type !== undefined)
        throw presetError(
          `${what} "${name}" on ${type} is declared by plugins "${pluginOf(rival)}" and "${pluginOf(spec)}": their types must not overlap`,
        );
    }
    byName.set(name, [...rivals, spec]);
  }
};

/** No two parts of one name. @throws RelApiError `preset` @rule X-START-3 */
export const refuseDoubles = <Spec extends object>(
  { pluginOf }: Owners,
  parts: Iterable<Spec>,
  nameOf: (spec: Spec) => string | undefined,
  what: string,
): void => {
  const known = new Map<string, Spec>();
  for (const spec of parts) {
    const name = nameOf(spec);
    if (name === undefined) continue;
    const rival = known.get(name);
    if (rival !== undefined)
      throw presetError(
        `${what} "${name}" is declared by plugins "${pluginOf(rival)}" and "${pluginOf(spec)}": rename one or remove one of the plugins`,
      );
    known.set(name, spec);
  }
};

/** Aggregate functions and orderings: their names are read in the middle of longer texts. @throws RelApiError `preset` */
export const refuseOddNames = <Spec extends object>(
  { pluginOf }: Owners,
  parts: Iterable<Spec>,
  namesOf: (spec: Spec) => readonly (string | undefined)[],
  what: string,
): void => {
  for (const spec of parts)
    for (const name of namesOf(spec))
      if (name !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
        throw presetError(`${what} "${name}" of "${pluginOf(spec)}" must consist of letters, digits and "_"`);
};

/** A type or group both are for, as a message names it. */
const sharedType = (a: Typed, b: Typed): string | undefined => {
  for (const mine of a.types) {
    for (const theirs of b.types) {
      const narrow = narrower(mine, theirs);
      if (narrow !== undefined && !isExcepted(a, narrow) && !isExcepted(b, narrow)) return narrow;
    }
  }
  return undefined;
};

/** The overlap of two type names, by name only: `_int4` is an array, `int4range` a range. */
const narrower = (a: string, b: string): string | undefined => {
  if (a === b || isOfGroup(b, a)) return b;
  return isOfGroup(a, b) ? a : undefined;
};

const isOfGroup = (name: string, group: string): boolean =>
  group === "any" ||
  (group === "array" && name.startsWith("_")) ||
  (group === "range" && /^[a-z0-9]+(multi)?range$/.test(name));

const isExcepted = (spec: Typed, name: string): boolean =>
  spec.exceptTypes?.some((except) => except === name || isOfGroup(name, except)) === true;
