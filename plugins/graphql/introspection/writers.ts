/** Writes types as JSON text, directly from the types of graphql-js. The generic executor takes seconds for the schema
 *  of a large database. @rule G-INT-2 … G-INT-6 */
import {
  astFromValue,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLUnionType,
  print,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLDirective,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLType,
} from "graphql";
import type { Collector, MetaField } from "./collect-fields.ts";

type Write<Source> = (source: Source) => string;

/** A text, or the items of a list, which the caller separates with commas. */
type Part = string | Iterable<string>;

/** Writes values in parts, because the text may be long. All sources of a kind have the same number of parts. */
interface WriteParts<Source> {
  readonly write: Write<Source>;
  readonly parts: (source: Source) => Iterable<Part>;
}

/** A member of an object: its text if all sources share it, otherwise its writer. */
type Member<Source> = string | Write<Source> | WriteParts<Source>;

const NULL = "null";

const encodeJson = (value: string | null | undefined): string =>
  value === null || value === undefined ? NULL : JSON.stringify(value);

/** Quotes a GraphQL name, which contains no characters that JSON escapes. */
const quoteName = (name: string): string => `"${name}"`;

const writeList = <Source>(sources: readonly Source[], write: Write<Source>): string => {
  let body = "[";
  for (const source of sources) body += body.length === 1 ? write(source) : `,${write(source)}`;
  return `${body}]`;
};

const writeEach = function* <Source>(sources: readonly Source[], write: Write<Source>) {
  for (const source of sources) yield write(source);
};

/** The maximum number of cached references, which covers references that repeat soon. */
const MAX_REFERENCES = 4000;

/** Caches the texts of references to types, because `[album!]!` occurs in many places. */
const cacheReferences = (write: Write<GraphQLType>): Write<GraphQLType> => {
  const writtenTypes = new Map<GraphQLType, string>();
  return (type) => {
    let cachedText = writtenTypes.get(type);
    if (cachedText === undefined) {
      if (writtenTypes.size >= MAX_REFERENCES) writtenTypes.clear();
      writtenTypes.set(type, (cachedText = write(type)));
    }
    return cachedText;
  };
};

// `instanceof` is faster than `isObjectType` and similar functions, which check for other copies of graphql.
const isNonNullType = (type: GraphQLType) => type instanceof GraphQLNonNull;
const isListType = (type: GraphQLType) => type instanceof GraphQLList;
const isObjectType = (type: GraphQLType) => type instanceof GraphQLObjectType;
const isInputObjectType = (type: GraphQLType) => type instanceof GraphQLInputObjectType;
const isInterfaceType = (type: GraphQLType) => type instanceof GraphQLInterfaceType;
const isUnionType = (type: GraphQLType) => type instanceof GraphQLUnionType;
const isEnumType = (type: GraphQLType) => type instanceof GraphQLEnumType;
const isIntrospectionType = (name: string): boolean => name.startsWith("__");

const writeKind = (type: GraphQLType): string =>
  isObjectType(type)
    ? '"OBJECT"'
    : isInputObjectType(type)
      ? '"INPUT_OBJECT"'
      : isNonNullType(type)
        ? '"NON_NULL"'
        : isListType(type)
          ? '"LIST"'
          : isEnumType(type)
            ? '"ENUM"'
            : isInterfaceType(type)
              ? '"INTERFACE"'
              : isUnionType(type)
                ? '"UNION"'
                : '"SCALAR"';

const writeName = (type: GraphQLType): string =>
  isNonNullType(type) || isListType(type) ? NULL : quoteName(type.name);

/** Writes the description of a type. @rule G-TYP-40 */
const writeDescription = (type: GraphQLType): string =>
  isNonNullType(type) || isListType(type) || type instanceof GraphQLScalarType ? NULL : encodeJson(type.description);

const writeDefault = ({ defaultValue, type }: GraphQLArgument | GraphQLInputField): string => {
  if (defaultValue === undefined) return NULL;
  const node = astFromValue(defaultValue, type);
  return node === null || node === undefined ? NULL : encodeJson(print(node));
};

/** Returns the items sorted by name. The fields of types that the builder made are already sorted. */
const sortByName = <Item extends { readonly name: string }>(items: readonly Item[]): readonly Item[] =>
  [...items].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

/** Writes the members that fields, arguments and enum values share. @rule G-INT-3 */
const findCommonMember = (
  name: string,
): Member<{ readonly name: string; readonly description?: string | null | undefined }> => {
  switch (name) {
    case "name":
      return (source) => quoteName(source.name);
    case "description":
      return (source) => encodeJson(source.description);
    case "isDeprecated":
    case "isRepeatable":
      return "false";
    default:
      return NULL; // no member is deprecated, so `deprecationReason` is null
  }
};

interface Writers {
  /** Returns the writer of a type for the selections. */
  type(nodes: readonly FieldNode[]): WriteParts<GraphQLType>;
  directive(nodes: readonly FieldNode[]): WriteParts<GraphQLDirective>;
}

/** Converts selections on the introspection types to functions that write text. `types` returns all types, which only
 *  interfaces need. */
export const createWriters = ({ collect }: Collector, types: () => ReadonlyMap<string, GraphQLNamedType>): Writers => {
  /** Joins the constant text between two members in advance. */
  const createObjectWriter = <Source>(
    typeName: string,
    parents: readonly FieldNode[],
    findMember: (metaField: MetaField) => Member<Source>,
  ): WriteParts<Source> => {
    const members: (Partial<WriteParts<Source>> & { readonly before: string; readonly write: Write<Source> })[] = [];
    let before = "{";
    for (const metaField of collect(
      parents.map((node) => node.selectionSet),
      typeName,
    )) {
      const member = metaField.name === "__typename" ? quoteName(typeName) : findMember(metaField);
      before += `${members.length === 0 && before === "{" ? "" : ","}${JSON.stringify(metaField.key)}:`;
      if (typeof member === "string") {
        before += member;
      } else {
        members.push({ before, ...(typeof member === "function" ? { write: member } : member) });
        before = "";
      }
    }
    const end = `${before}}`;
    return {
      write: (source) => {
        let body = "";
        for (const member of members) body += member.before + member.write(source);
        return body + end;
      },
      parts: function* (source) {
        for (const { before, write, parts } of members) {
          yield before;
          if (parts === undefined) yield write(source);
          else yield* parts(source);
        }
        yield end;
      },
    };
  };

  const createInputValueWriter = (nodes: readonly FieldNode[]) =>
    createObjectWriter<GraphQLArgument | GraphQLInputField>("__InputValue", nodes, ({ name, nodes: inner }) => {
      if (name === "defaultValue") return writeDefault;
      if (name !== "type") return findCommonMember(name);
      const write = createReferenceWriter(inner);
      return (source) => write(source.type);
    });

  const createFieldWriter = (nodes: readonly FieldNode[]) =>
    createObjectWriter<GraphQLField<unknown, unknown>>("__Field", nodes, ({ name, nodes: inner }) => {
      if (name === "args") {
        const { write } = createInputValueWriter(inner);
        return ({ args }) => writeList(args, write);
      }
      if (name !== "type") return findCommonMember(name);
      const write = createReferenceWriter(inner);
      return (source) => write(source.type);
    });

  const createEnumValueWriter = (nodes: readonly FieldNode[]) =>
    createObjectWriter<GraphQLEnumValue>("__EnumValue", nodes, ({ name }) => findCommonMember(name));

  const findImplementations = (type: GraphQLInterfaceType): readonly GraphQLObjectType[] =>
    sortByName(
      [...types().values()]
        .filter((candidate) => isObjectType(candidate))
        .filter((candidate) => candidate.getInterfaces().includes(type)),
    );

  const findTypeMember = ({ name, nodes }: MetaField): Member<GraphQLType> => {
    switch (name) {
      case "kind":
        return writeKind;
      case "name":
        return writeName;
      case "description":
        return writeDescription;
      case "isOneOf":
        return (type) => (isInputObjectType(type) ? String(type.isOneOf) : NULL);
      case "interfaces": {
        const write = createReferenceWriter(nodes);
        return (type) =>
          isObjectType(type) || (isInterfaceType(type) && type.getInterfaces().length > 0)
            ? writeList(type.getInterfaces(), write)
            : NULL;
      }
      case "possibleTypes": {
        const write = createReferenceWriter(nodes);
        return (type) =>
          isInterfaceType(type)
            ? writeList(findImplementations(type), write)
            : isUnionType(type)
              ? writeList(type.getTypes(), write)
              : NULL;
      }
      case "fields": {
        const { write } = createFieldWriter(nodes);
        return {
          write: (type) =>
            !isObjectType(type) && !isInterfaceType(type)
              ? NULL
              : isIntrospectionType(type.name)
                ? writeList(sortByName(Object.values(type.getFields())), write)
                : writeList(Object.values(type.getFields()), write),
          parts: function* (type) {
            if (!isObjectType(type)) return yield NULL;
            yield "[";
            yield writeEach(Object.values(type.getFields()), write);
            yield "]";
          },
        };
      }
      case "inputFields": {
        const { write } = createInputValueWriter(nodes);
        return (type) => (isInputObjectType(type) ? writeList(Object.values(type.getFields()), write) : NULL);
      }
      case "enumValues": {
        const { write } = createEnumValueWriter(nodes);
        return (type) =>
          isEnumType(type)
            ? writeList(isIntrospectionType(type.name) ? sortByName(type.getValues()) : type.getValues(), write)
            : NULL;
      }
      case "ofType": {
        const write = createReferenceWriter(nodes);
        return (type) => (isNonNullType(type) || isListType(type) ? write(type.ofType) : NULL);
      }
      default:
        return NULL; // no type has a `specifiedByURL`
    }
  };

  const createTypeWriter = (nodes: readonly FieldNode[]): WriteParts<GraphQLType> =>
    createObjectWriter("__Type", nodes, findTypeMember);

  const createReferenceWriter = (nodes: readonly FieldNode[]): Write<GraphQLType> =>
    cacheReferences(createTypeWriter(nodes).write);

  const createDirectiveWriter = (nodes: readonly FieldNode[]) =>
    createObjectWriter<GraphQLDirective>("__Directive", nodes, ({ name, nodes: inner }) => {
      if (name === "locations") return (source) => JSON.stringify([...source.locations].sort());
      if (name !== "args") return findCommonMember(name);
      const { write } = createInputValueWriter(inner);
      return (source) => writeList(source.args, write);
    });

  return { type: createTypeWriter, directive: createDirectiveWriter };
};
