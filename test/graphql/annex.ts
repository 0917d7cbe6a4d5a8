/** The SDL of the contract's example, and types in a form that compares: each type as its sorted members. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Kind, parse, print, type DefinitionNode } from "graphql";

const page = readFileSync(
  fileURLToPath(new URL("../../docs/reference/graphql/example-sdl.md", import.meta.url)),
  "utf8",
);

const argumentsOfLists = (table: string): string =>
  `(distinct_on: [${table}_select_column!], limit: Int, offset: Int, order_by: [${table}_order_by!], where: ${table}_bool_exp)`;

/** The SDL with its abbreviations written out. */
export const annexSdl = (): string => {
  const text = /```graphql\n([\s\S]*?)```/.exec(page)?.[1];
  if (text === undefined) throw new Error("the page has no SDL");
  return text
    .replace(/^schema .*$/m, "")
    .replace(
      / LIST: ((?:\[?)(album|artist)\w*!?\]?!?)/g,
      (_, type: string, table: string) => `${argumentsOfLists(table)}: ${type}`,
    )
    .replace(
      "_append: artist_append_input, …, _set:",
      "_append: artist_append_input, _delete_at_path: artist_delete_at_path_input, _delete_elem: artist_delete_elem_input, _delete_key: artist_delete_key_input, _inc: artist_inc_input, _prepend: artist_prepend_input, _set:",
    );
};

/** Members of a type in name order, without descriptions; arguments of fields in name order too. */
const printMembers = (definition: DefinitionNode): string[] => {
  switch (definition.kind) {
    case Kind.OBJECT_TYPE_DEFINITION:
      return (definition.fields ?? []).map((field) => {
        const args = (field.arguments ?? []).map((argument) => print({ ...argument, description: undefined })).sort();
        return `${field.name.value}${args.length === 0 ? "" : `(${args.join(", ")})`}: ${print(field.type)}`;
      });
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return (definition.fields ?? []).map((field) => print({ ...field, description: undefined }));
    case Kind.ENUM_TYPE_DEFINITION:
      return (definition.values ?? []).map((value) => value.name.value);
    default:
      return [];
  }
};

export const parseTypes = (sdl: string): Record<string, string[]> =>
  Object.fromEntries(
    parse(sdl).definitions.flatMap((definition) =>
      "name" in definition && definition.name ? [[definition.name.value, printMembers(definition).sort()]] : [],
    ),
  );
