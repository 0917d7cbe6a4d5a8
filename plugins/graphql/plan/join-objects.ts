/** Binds the objects of a result to the reads of their rows. @rule X-GQL-13 */
import type { Json, JsonObject } from "../../../core/index.ts";
import { writeJson } from "../values/numbers.ts";
import type { GqlJoinedRead } from "../operations.ts";
import type { FindRead, JoinTemplate } from "./function-field.ts";

/** Returns the read for these objects, whose members are the keys `k0`, `k1`, …. */
export const bindObjects = (
  join: JoinTemplate,
  objects: readonly Readonly<Record<string, Json>>[],
  findRead: FindRead,
): GqlJoinedRead => {
  const read = findRead(join);
  const list = join.members.length; // the list follows the values of the members
  return { ...read, values: read.values.map((value, i) => (i === list ? writeJson(objects as Json) : value)) };
};

/** Returns the members of an object that select its rows. */
export const readKeys = ({ members }: JoinTemplate, object: JsonObject): Readonly<Record<string, Json>> =>
  Object.fromEntries(members.map((name, i) => [`k${i}`, Object.hasOwn(object, name) ? (object[name] ?? null) : null]));
