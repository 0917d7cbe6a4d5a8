/** The GraphQL names that the tables and functions of a source use. @rule P-NAT-6 */
import type { QualifiedName } from "../../core/index.ts";
import { objectOf, textOf, type RawObject } from "./document.ts";
import { wordOf } from "./names.ts";

interface Named {
  readonly name: QualifiedName;
  readonly configuration: RawObject;
}

const ROOTS = [
  ["select", ""],
  ["select_by_pk", "_by_pk"],
  ["select_aggregate", "_aggregate"],
] as const;

const FUNCTION_ROOTS = [
  ["function", ""],
  ["function_aggregate", "_aggregate"],
] as const;

/** Converts `album_item_by_pk` to `albumItemByPk`. Leading underscores stay. */
const camel = (name: string): string => name.replace(/(?<=[^_])_+([^_])/g, (_, letter: string) => letter.toUpperCase());

const nameIn = (raw: unknown): string | undefined => textOf(raw as never) ?? textOf(objectOf(raw as never)["name"]);

/** The names that the metadata determines. */
export const takenNames = (
  customization: RawObject,
  tables: readonly Named[],
  functions: readonly Named[],
): { readonly roots: ReadonlySet<string>; readonly types: ReadonlySet<string> } => {
  const isCamel = customization["naming_convention"] === "graphql-default";
  const around = (key: string) => {
    const { prefix, suffix } = objectOf(customization[key]);
    return (name: string): string => {
      const whole = (textOf(prefix) ?? "") + name + (textOf(suffix) ?? "");
      return isCamel ? camel(whole) : whole;
    };
  };
  const rootName = around("root_fields");
  const typeName = around("type_names");
  const rootsOf = (
    { name, configuration }: Named,
    kinds: readonly (readonly [string, string])[],
  ): readonly string[] => {
    const custom = objectOf(configuration["custom_root_fields"]);
    return kinds.map(([key, end]) => nameIn(custom[key]) ?? rootName(wordOf(name, configuration) + end));
  };
  const types = tables.map(({ name, configuration }) => typeName(wordOf(name, configuration)));
  return {
    roots: new Set([
      ...tables.flatMap((table) => rootsOf(table, ROOTS)),
      ...functions.flatMap((fn) => rootsOf(fn, FUNCTION_ROOTS)),
    ]),
    types: new Set(isCamel ? types.map((name) => name.charAt(0).toUpperCase() + name.slice(1)) : types),
  };
};
