/** Finds the GraphQL names that the tables and functions of a source use. @rule P-NAT-6a */
import type { QualifiedName } from "../../core/index.ts";
import type { GqlNamePart, GqlNameBuilder } from "../graphql/api.ts";
import { buildName } from "./names.ts";
import { type RawObject } from "./raw-values.ts";
import { readObjectOrEmpty, readText } from "../shared/json-values.ts";

interface NamedObject {
  readonly name: QualifiedName;
  readonly configuration: RawObject;
}

const TABLE_ROOTS = [
  ["select", []],
  ["select_by_pk", ["by", "pk"]],
  ["select_aggregate", ["aggregate"]],
] as const;

const FUNCTION_ROOTS = [
  ["function", []],
  ["function_aggregate", ["aggregate"]],
] as const;

const buildPart = ({ name, configuration }: NamedObject): GqlNamePart => ({
  text: buildName(name, configuration),
  isCustom: readText(configuration["custom_name"]) !== undefined,
});

/** Returns the name that `custom_root_fields` gives to a root field. */
const findCustomName = ({ configuration }: NamedObject, key: string): string | undefined => {
  const custom = readObjectOrEmpty(configuration["custom_root_fields"])[key];
  return readText(custom as never) ?? readText(readObjectOrEmpty(custom as never)["name"]);
};

/** Returns the names of root fields and types that the tables and functions use. */
export const findTakenNames = (
  { rootName, typeName }: GqlNameBuilder,
  tables: readonly NamedObject[],
  functions: readonly NamedObject[],
): { readonly roots: ReadonlySet<string>; readonly types: ReadonlySet<string> } => {
  const listRoots = (namedObject: NamedObject, roots: readonly (readonly [key: string, end: readonly string[]])[]) =>
    roots.map(([key, end]) => findCustomName(namedObject, key) ?? rootName(buildPart(namedObject), ...end));
  return {
    roots: new Set([
      ...tables.flatMap((table) => listRoots(table, TABLE_ROOTS)),
      ...functions.flatMap((fn) => listRoots(fn, FUNCTION_ROOTS)),
    ]),
    types: new Set(tables.map((table) => typeName(buildPart(table)))),
  };
};
