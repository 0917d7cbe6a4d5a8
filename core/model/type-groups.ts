/** Matches the types that a declared part accepts: names of base types, or groups of types. */
import type { PgType } from "./model.ts";

export interface AcceptedTypes {
  readonly types: readonly string[];
  readonly exceptTypes?: readonly string[];
}

/** Returns whether a type (without its domains) is one of the names or groups of a declared part. `any` includes
 *  unknown types. @experimental */
export const matchesType = (spec: AcceptedTypes, type: PgType | undefined): boolean =>
  spec.types.some((name) => isTypeNamed(name, type)) &&
  spec.exceptTypes?.some((name) => name !== "any" && isTypeNamed(name, type)) !== true;

const isTypeNamed = (name: string, type: PgType | undefined): boolean => {
  if (name === "any") return true;
  if (type === undefined) return false;
  if (type.name === name) return true;
  switch (name) {
    case "array":
    case "enum":
    case "composite":
      return type.kind === name;
    case "range":
      return type.kind === "range" || type.kind === "multirange";
    default:
      return false;
  }
};
