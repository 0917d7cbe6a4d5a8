/** Reads JSON values of unknown shape. A value of another type counts as absent. */
import { isJsonObject, type Json, type JsonObject } from "../../core/index.ts";

/** Returns the string, or undefined for another value. @experimental */
export const readText = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Returns the list, or an empty one for another value. @experimental */
export const readListOrEmpty = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** Returns the object, or an empty one for another value. @experimental */
export const readObjectOrEmpty = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** Returns the member of an object or the item of a list, or undefined without one. */
export const readMember = (value: Json | undefined, key: string | number): Json | undefined => {
  if (typeof key === "number") return Array.isArray(value) ? (value as readonly Json[])[key] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
};
