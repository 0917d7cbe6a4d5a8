/** The GraphQL names that the tables and functions of a source use. @rule P-NAT-6 */
import type { QualifiedName } from "../../core/index.ts";
import { readObject, readText, type RawObject } from "./document.ts";
import { buildName } from "./names.ts";

interface Named {
  readonly name: QualifiedName;
  readonly configuration: RawObject;
}

const TABLE_ROOTS = [
  ["select", ""],
  ["select_by_pk", "_by_pk"],
  ["select_aggregate", "_aggregate"],
] as const;

const FUNCTION_ROOTS = [
  ["function", ""],
  ["function_aggregate", "_aggregate"],
] as const;

/** Converts `album_item_by_pk` to `albumItemByPk`. Leading underscores stay. */
const toCamelCase = (name: string): string =>
  name.replace(/(?<=[^_])_+([^_])/g, (_, letter: string) => letter.toUpperCase());

const readName = (raw: unknown): string | undefined =>
  readText(raw as never) ?? readText(readObject(raw as never)["name"]);

/** The names that the metadata determines. */
export const findTakenNames = (
  customization: RawObject,
  tables: readonly Named[],
  functions: readonly Named[],
): { readonly roots: ReadonlySet<string>; readonly types: ReadonlySet<string> } => {
  const isCamel = customization["naming_convention"] === "graphql-default";
  const createAffixer = (key: string) => {
    const { prefix, suffix } = readObject(customization[key]);
    return (name: string): string => {
      const whole = (readText(prefix) ?? "") + name + (readText(suffix) ?? "");
      return isCamel ? toCamelCase(whole) : whole;
    };
  };
  const rootName = createAffixer("root_fields");
  const typeName = createAffixer("type_names");
  const findRootNames = (
    { name, configuration }: Named,
    kinds: readonly (readonly [string, string])[],
  ): readonly string[] => {
    const custom = readObject(configuration["custom_root_fields"]);
    return kinds.map(([key, end]) => readName(custom[key]) ?? rootName(buildName(name, configuration) + end));
  };
  const types = tables.map(({ name, configuration }) => typeName(buildName(name, configuration)));
  return {
    roots: new Set([
      ...tables.flatMap((table) => findRootNames(table, TABLE_ROOTS)),
      ...functions.flatMap((fn) => findRootNames(fn, FUNCTION_ROOTS)),
    ]),
    types: new Set(isCamel ? types.map((name) => name.charAt(0).toUpperCase() + name.slice(1)) : types),
  };
};
