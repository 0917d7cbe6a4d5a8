/** Reads actions and their types from SDL: `type Mutation { login(name: String!): Token } type Token { value: String!
 *  }`. */
import {
  Kind,
  parse,
  print,
  type EnumTypeDefinitionNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
} from "graphql";
import type { Json, JsonObject } from "../../core/index.ts";

/** Actions and custom types in the form of the metadata. */
interface ActionSdl {
  /** The definitions by the name of the action. A definition has `type`, `arguments` and `output_type`. */
  readonly definitions: ReadonlyMap<string, JsonObject>;
  readonly customTypes: Readonly<Record<"input_objects" | "objects" | "scalars" | "enums", readonly JsonObject[]>>;
}

const describe = (node: { readonly description?: { readonly value: string } }): JsonObject =>
  node.description === undefined ? {} : { description: node.description.value };

const readFields = (fields: readonly (FieldDefinitionNode | InputValueDefinitionNode)[] = []): readonly Json[] =>
  fields.map((field) => {
    const name = field.name.value;
    if ("defaultValue" in field && field.defaultValue !== undefined)
      throw new Error(`${name}: default values are not supported`);
    return { name, type: print(field.type), ...describe(field) };
  });

const readEnum = ({ values = [] }: EnumTypeDefinitionNode): readonly Json[] =>
  values.map((value) => ({ value: value.name.value, ...describe(value) }));

/** Matches a text of blanks and comments: `# no actions`. */
const EMPTY = /^(?:[\s,]|#[^\n\r]*(?:[\n\r]|$))*$/;

const ROOTS: Readonly<Record<string, string>> = { Query: "query", Mutation: "mutation" };

/** Reads actions and custom types. @throws GraphQLError for a syntax error @throws Error for a definition that is
 *  neither an action nor a type of an action @rule X-ACT-2 */
export const readActionSdl = (text: string): ActionSdl => {
  const definitions = new Map<string, JsonObject>();
  const customTypes = { input_objects: [], objects: [], scalars: [], enums: [] } as {
    readonly [Key in keyof ActionSdl["customTypes"]]: JsonObject[];
  };
  // The file of a project without actions is empty, and the parser of GraphQL rejects an empty document.
  const nodes = EMPTY.test(text) ? [] : parse(text).definitions;
  for (const node of nodes) {
    if (!("name" in node) || node.name === undefined) throw new Error(`${node.kind} is not a type of an action`);
    const namedType = { name: node.name.value, ...describe("description" in node ? node : {}) };
    switch (node.kind) {
      case Kind.OBJECT_TYPE_DEFINITION:
      case Kind.OBJECT_TYPE_EXTENSION: {
        const root = ROOTS[namedType.name];
        if (root === undefined) customTypes.objects.push({ ...namedType, fields: readFields(node.fields) });
        else
          for (const field of node.fields ?? [])
            definitions.set(field.name.value, {
              type: root,
              arguments: readFields(field.arguments),
              output_type: print(field.type),
            });
        break;
      }
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
        customTypes.input_objects.push({ ...namedType, fields: readFields(node.fields) });
        break;
      case Kind.ENUM_TYPE_DEFINITION:
        customTypes.enums.push({ ...namedType, values: readEnum(node) });
        break;
      case Kind.SCALAR_TYPE_DEFINITION:
        customTypes.scalars.push(namedType);
        break;
      default:
        throw new Error(`${node.kind} is not a type of an action`);
    }
  }
  return { definitions, customTypes };
};
