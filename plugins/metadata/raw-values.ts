/** The types of unparsed metadata, before it is matched with the model. */
import { type Json, type JsonObject, type QualifiedName } from "../../core/index.ts";
import type { MetadataProblem } from "./api.ts";
import { readText, readObjectOrEmpty } from "../shared/json-values.ts";

/** A value of the metadata. Numbers in it may be raw numbers (`getNumberText`). */
export type RawValue = Json;
export type RawObject = JsonObject;

/** Reads `name` or `{ schema, name }`. */
export const readQualifiedName = (rawValue: RawValue | undefined): QualifiedName | undefined => {
  if (typeof rawValue === "string") return { schema: "public", name: rawValue };
  const { schema, name } = readObjectOrEmpty(rawValue);
  return typeof name === "string" ? { schema: readText(schema) ?? "public", name } : undefined;
};

/** Logs an ignored part of the metadata with its location, and its object if the object is known. */
export type LogIgnored = (message: string, object?: Omit<MetadataProblem, "reason">) => void;
