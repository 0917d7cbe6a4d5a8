/** Reads JSON values of unknown shape. A value of another type counts as absent. */
import { isJsonObject, type Json, type JsonObject } from "../../core/index.ts";

/** Returns the string, or undefined for another value. @experimental */
export const readText = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : undefined;

/** Returns the list, or an empty one for another value. @experimental */
export const readListOrEmpty = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** Returns the object, or an empty one for another value. @experimental */
export const readObjectOrEmpty = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
