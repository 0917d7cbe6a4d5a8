import type { Model } from "../model/model.ts";

/** A declared part that lists the built-ins in its SQL. */
export interface BuiltIn {
  /** The built-in operators and functions that the SQL names without a schema. A list, even an empty one, promises
   *  that the SQL calls only built-ins and does not depend on the caller. Without a list, the SQL may do anything.
   *  @rule R-TX-10 */
  readonly builtIn?: readonly string[];
}

/** Returns whether the part lists its built-ins, and the database has no other operator or function of these names. */
export const usesOnlyBuiltIns = (part: BuiltIn | undefined, { shadowedNames }: Model): boolean =>
  part?.builtIn?.every((name) => !shadowedNames.has(name)) === true;
