/** `{ __schema { types { name } } }`: the types of the caller's role. Written as text straight from the types: the
 *  generic executor takes seconds for the schema of a large database, this a fraction, since a type reference is
 *  written once per selection. @rule G-INT-1 … G-INT-9 */
import {
  astFromValue,
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  Kind,
  print,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  valueFromASTUntyped,
  type DocumentNode,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLEnumValue,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLType,
  type SelectionSetNode,
} from "graphql";
import { definePlugin, type Pieces, type Token } from "../../core/index.ts";
import type { RoleSchema } from "./parts.ts";

export type IntrospectionToken = Token<"graphql-introspection", IntrospectionService>;

export interface IntrospectionService {
  readonly metaFields: RoleSchema["metaFields"];
  introspect(schema: RoleSchema): RoleSchema["introspect"];
}

const { FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT, QUERY } = DirectiveLocation;
const WHERE_FIELDS_ARE = [FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT];

/** @rule G-INT-8 */
const DIRECTIVES: readonly GraphQLDirective[] = [
  new GraphQLDirective({
    name: "cached",
    description: "whether this query should be cached (Hasura Cloud only)",
    locations: [QUERY],
    args: {
      refresh: { type: new GraphQLNonNull(GraphQLBoolean), defaultValue: false },
      ttl: { type: new GraphQLNonNull(GraphQLInt), defaultValue: 60 },
    },
  }),
  new GraphQLDirective({
    name: "include",
    description: "whether this query should be included",
    locations: WHERE_FIELDS_ARE,
    args: { if: { type: new GraphQLNonNull(GraphQLBoolean) } },
  }),
  new GraphQLDirective({
    name: "skip",
    description: "whether this query should be skipped",
    locations: WHERE_FIELDS_ARE,
    args: { if: { type: new GraphQLNonNull(GraphQLBoolean) } },
  }),
];

const LOCATIONS = {
  query: QUERY,
  mutation: DirectiveLocation.MUTATION,
  subscription: DirectiveLocation.SUBSCRIPTION,
};

/** Those of plugins too, sorted. @rule G-INT-2 X-DIR-1 */
const directivesOf = ({ directives }: RoleSchema): readonly GraphQLDirective[] => {
  const added = Object.values(directives).flatMap(({ added: one }) =>
    one === undefined
      ? []
      : new GraphQLDirective({
          name: one.name,
          description: one.description,
          locations: one.on.map((operation) => LOCATIONS[operation]),
          args: Object.fromEntries(
            Object.entries(one.arguments)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([name, defaultValue]) => [name, { type: new GraphQLNonNull(GraphQLBoolean), defaultValue }]),
          ),
        }),
  );
  return added.length === 0 ? DIRECTIVES : [...DIRECTIVES, ...added].sort((a, b) => (a.name < b.name ? -1 : 1));
};

interface Selected {
  readonly key: string;
  readonly name: string;
  readonly nodes: readonly FieldNode[];
}

type Variables = Readonly<Record<string, unknown>>;

/** The fields of one selection set: fragments inlined, equal response names merged. */
const createCollector = (document: DocumentNode, variables: Variables) => {
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );

  const valueOf = (node: FieldNode, name: string): unknown => {
    const argument = node.arguments?.find((each) => each.name.value === name);
    return argument && valueFromASTUntyped(argument.value, variables);
  };

  const isWanted = (directives: FieldNode["directives"]): boolean =>
    (directives ?? []).every((directive) => {
      const condition = directive.arguments?.find((each) => each.name.value === "if");
      const holds = condition !== undefined && valueFromASTUntyped(condition.value, variables) === true;
      return directive.name.value === "skip" ? !holds : directive.name.value === "include" ? holds : true;
    });

  const collect = (sets: readonly (SelectionSetNode | undefined)[], type: string): Selected[] => {
    const found = new Map<string, { name: string; nodes: FieldNode[] }>();
    const visit = (set: SelectionSetNode | undefined): void => {
      for (const selection of set?.selections ?? []) {
        if (!isWanted(selection.directives)) continue;
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          const entry = found.get(key);
          if (entry === undefined) found.set(key, { name: selection.name.value, nodes: [selection] });
          else entry.nodes.push(selection);
          continue;
        }
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
        const condition = fragment?.typeCondition?.name.value;
        if (condition === undefined || condition === type) visit(fragment?.selectionSet);
      }
    };
    sets.forEach(visit);
    return [...found].map(([key, { name, nodes }]) => ({ key, name, nodes }));
  };
  return { collect, valueOf };
};

const text = (value: string | null | undefined): string =>
  value === null || value === undefined ? "null" : JSON.stringify(value);

/** Joined rather than added up: the parts are copied into one flat text and can be forgotten at once. */
const listOf = <Source>(sources: readonly Source[], write: (source: Source) => string): string =>
  `[${sources.map(write).join(",")}]`;

/** Cached texts per kind: enough for what repeats soon, small compared with the text of a large schema. */
const MAX_KEPT = 4000;
const MAX_FIELDS_KEPT = 100;

/** Writes once what many places share: references to a type, the arguments of a table's lists, the fields of types that
 *  have the same ones. */
const keeping = <Source extends object>(
  write: (source: Source) => string,
  maxKept = MAX_KEPT,
): ((source: Source) => string) => {
  const written = new Map<Source, string>();
  return (source) => {
    let known = written.get(source);
    if (known === undefined) {
      if (written.size >= maxKept) written.clear();
      written.set(source, (known = write(source)));
    }
    return known;
  };
};

// `isObjectType` and its like take longer for the types that are not: they look for other copies of graphql
const isNonNullType = (type: GraphQLType) => type instanceof GraphQLNonNull;
const isListType = (type: GraphQLType) => type instanceof GraphQLList;
const isObjectType = (type: GraphQLType) => type instanceof GraphQLObjectType;
const isInputObjectType = (type: GraphQLType) => type instanceof GraphQLInputObjectType;
const isInterfaceType = (type: GraphQLType) => type instanceof GraphQLInterfaceType;
const isEnumType = (type: GraphQLType) => type instanceof GraphQLEnumType;

const kindOf = (type: GraphQLType): string =>
  isNonNullType(type)
    ? "NON_NULL"
    : isListType(type)
      ? "LIST"
      : isObjectType(type)
        ? "OBJECT"
        : isInputObjectType(type)
          ? "INPUT_OBJECT"
          : isEnumType(type)
            ? "ENUM"
            : isInterfaceType(type)
              ? "INTERFACE"
              : "SCALAR";

type NamedThing = { readonly name?: string; readonly description?: string | null };

const nameOf = (type: GraphQLType): string | null => (isNonNullType(type) || isListType(type) ? null : type.name);

/** @rule G-TYP-40 */
const descriptionOf = (type: GraphQLType): string | null | undefined =>
  isNonNullType(type) || isListType(type) || type instanceof GraphQLScalarType ? null : type.description;

const defaultOf = ({ defaultValue, type }: GraphQLArgument | GraphQLInputField): string | null => {
  if (defaultValue === undefined) return null;
  const node = astFromValue(defaultValue, type);
  return node === null || node === undefined ? null : print(node);
};

/** Fields of our types are in order already. */
const sorted = <Item extends { readonly name: string }>(items: readonly Item[]): readonly Item[] =>
  [...items].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

/** Compiles selections on the introspection types to functions that write text. */
const createWriters = (
  schema: RoleSchema,
  types: ReadonlyMap<string, GraphQLNamedType>,
  { collect }: ReturnType<typeof createCollector>,
) => {
  /** An object written member by member; `memberOf` writes one. */
  const object = <Source>(
    typeName: string,
    parents: readonly FieldNode[],
    memberOf: (selected: Selected) => (source: Source) => string,
  ): ((source: Source) => string) => {
    const members = collect(
      parents.map((node) => node.selectionSet),
      typeName,
    ).map((selected) => ({
      prefix: `${JSON.stringify(selected.key)}:`,
      write: selected.name === "__typename" ? () => JSON.stringify(typeName) : memberOf(selected),
    }));
    return (source) => {
      let body = "{";
      for (const { prefix, write } of members)
        body += body.length === 1 ? prefix + write(source) : `,${prefix}${write(source)}`;
      return `${body}}`;
    };
  };

  const none = () => "null";
  const no = () => "false";

  const named = <Source extends NamedThing>(name: string): ((source: Source) => string) | undefined => {
    switch (name) {
      case "name":
        return (source) => text(source.name);
      case "description":
        return (source) => text(source.description);
      case "isDeprecated":
        return no;
      case "deprecationReason":
        return none;
      default:
        return undefined;
    }
  };

  const inputValue = (nodes: readonly FieldNode[]) =>
    object<GraphQLArgument | GraphQLInputField>("__InputValue", nodes, ({ name, nodes: inner }) => {
      if (name === "defaultValue") return (source) => text(defaultOf(source));
      if (name !== "type") return named(name) ?? none;
      const write = type(inner);
      return (source) => write(source.type);
    });

  const field = (nodes: readonly FieldNode[]) =>
    object<GraphQLField<unknown, unknown>>("__Field", nodes, ({ name, nodes: inner }) => {
      if (name === "args") {
        const write = inputValue(inner);
        const writeAll = keeping((args: GraphQLField<unknown, unknown>["args"]) => listOf(args, write));
        return ({ args }) => (args.length === 0 ? "[]" : writeAll(args));
      }
      if (name !== "type") return named(name) ?? none;
      const write = type(inner);
      return (source) => write(source.type);
    });

  const enumValue = (nodes: readonly FieldNode[]) =>
    object<GraphQLEnumValue>("__EnumValue", nodes, ({ name }) => named(name) ?? none);

  const objectsWith = (of: GraphQLInterfaceType): readonly GraphQLObjectType[] =>
    [...types.values()].filter((one) => isObjectType(one)).filter((one) => one.getInterfaces().includes(of));

  const typeMember = ({ name, nodes }: Selected): ((type: GraphQLType) => string) => {
    switch (name) {
      case "kind":
        return (of) => JSON.stringify(kindOf(of));
      case "name":
        return (of) => text(nameOf(of));
      case "description":
        return (of) => text(descriptionOf(of));
      case "isOneOf":
        return (of) => (isInputObjectType(of) ? "false" : "null");
      case "interfaces": {
        const write = type(nodes);
        return (of) => (isObjectType(of) ? listOf(of.getInterfaces(), write) : "null");
      }
      case "possibleTypes": {
        const write = type(nodes);
        return (of) => (isInterfaceType(of) ? listOf(objectsWith(of), write) : "null");
      }
      case "fields": {
        const write = field(nodes);
        const writeAll = keeping(
          (fields: ReturnType<GraphQLObjectType["getFields"]>) => listOf(Object.values(fields), write),
          MAX_FIELDS_KEPT,
        );
        return (of) =>
          !isObjectType(of) && !isInterfaceType(of)
            ? "null"
            : isIntrospectionType(of.name)
              ? listOf(sorted(Object.values(of.getFields())), write)
              : writeAll(of.getFields());
      }
      case "inputFields": {
        const write = inputValue(nodes);
        const writeAll = keeping(
          (fields: ReturnType<GraphQLInputObjectType["getFields"]>) => listOf(Object.values(fields), write),
          MAX_FIELDS_KEPT,
        );
        return (of) => (isInputObjectType(of) ? writeAll(of.getFields()) : "null");
      }
      case "enumValues": {
        const write = enumValue(nodes);
        return (of) =>
          isEnumType(of)
            ? listOf(isIntrospectionType(of.name) ? sorted(of.getValues()) : of.getValues(), write)
            : "null";
      }
      case "ofType": {
        const write = type(nodes);
        return (of) => (isNonNullType(of) || isListType(of) ? write(of.ofType) : "null");
      }
      default:
        return none; // specifiedByURL: none here
    }
  };

  /** Each type is written once per selection: `[album!]!` occurs in many places. */
  const describeType = (nodes: readonly FieldNode[]): ((type: GraphQLType) => string) =>
    object("__Type", nodes, typeMember);

  /** A reference: each type is written once per selection, `[album!]!` occurs in many places. */
  const type = (nodes: readonly FieldNode[]): ((type: GraphQLType) => string) => keeping(describeType(nodes));

  const directive = (nodes: readonly FieldNode[]) =>
    object<GraphQLDirective>("__Directive", nodes, ({ name, nodes: inner }) => {
      if (name === "isRepeatable") return no;
      if (name === "locations") return (source) => JSON.stringify([...source.locations].sort());
      if (name !== "args") return named(name) ?? none;
      const write = inputValue(inner);
      return (source) => listOf(source.args, write);
    });

  /** Type by type, since there may be fifty thousand. */
  const allTypes = function* (nodes: readonly FieldNode[]): Pieces<string> {
    const write = describeType(nodes);
    const texts: string[] = [];
    for (const one of types.values()) {
      texts.push(write(one));
      yield;
    }
    return `[${texts.join(",")}]`;
  };

  const rootMember = function* ({ name, nodes }: Selected): Pieces<string> {
    const of = (one: GraphQLNamedType | undefined): string => {
      const made = one && types.get(one.name); // that of the role has only what documents have used
      return made === undefined ? "null" : describeType(nodes)(made);
    };
    switch (name) {
      case "__typename":
        return JSON.stringify("__Schema");
      case "directives":
        return listOf(directivesOf(schema), directive(nodes));
      case "types":
        return yield* allTypes(nodes);
      case "queryType":
        return of(schema.query);
      case "mutationType":
        return of(schema.mutation);
      case "subscriptionType":
        return of(schema.subscription);
      default:
        return "null";
    }
  };

  const root = function* (node: FieldNode): Pieces<string> {
    const members: string[] = [];
    for (const selected of collect([node.selectionSet], "__Schema"))
      members.push(`${JSON.stringify(selected.key)}:${yield* rootMember(selected)}`);
    return `{${members.join(",")}}`;
  };

  return { root, type };
};

const isIntrospectionType = (name: string): boolean => name.startsWith("__");

const introspect = (schema: RoleSchema): RoleSchema["introspect"] =>
  function* (field, document, variables) {
    const types = yield* schema.types();
    const collector = createCollector(document, variables);
    const { root, type } = createWriters(schema, types, collector);
    if (field.name.value === "__schema") return yield* root(field);
    const named = types.get(String(collector.valueOf(field, "name")));
    return named === undefined ? "null" : type([field])(named);
  };

const service: IntrospectionService = {
  metaFields: new Map([
    [SchemaMetaFieldDef.name, SchemaMetaFieldDef],
    [TypeMetaFieldDef.name, TypeMetaFieldDef],
  ]),
  introspect,
};

export const graphqlIntrospection = definePlugin({
  name: "graphql-introspection",
  requires: ["graphql"],
  apply: (_hooks, context) => context.offer<IntrospectionToken>("graphql-introspection", service),
});
