/** `{ __schema { types { name } } }`: writes the types of the caller's role. @rule G-INT-1 … G-INT-9 */
import {
  DirectiveLocation,
  GraphQLDirective,
  isInterfaceType,
  isObjectType,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
  type FieldNode,
  type GraphQLNamedType,
} from "graphql";
import { definePlugin, defineService, type Slices } from "../../../core/index.ts";
import type { DirectiveTarget } from "../directives.ts";
import { createCollector, type Collector, type MetaField } from "./collect-fields.ts";
import { createWriters } from "./writers.ts";
import { walkTypes } from "../types/reachable-types.ts";
import { isRootScope } from "../types/lazy-types.ts";
import { getTypeExtension, type GqlRootName } from "../field-types.ts";
import type { TextParts, RoleSchema } from "../types/role-schema.ts";

export const introspectionService = defineService<IntrospectionService>("graphql-introspection");

export interface IntrospectionService {
  readonly metaFields: RoleSchema["metaFields"];
  introspect(schema: RoleSchema, ...question: Parameters<RoleSchema["introspect"]>): TextParts;
}

type Types = ReadonlyMap<string, GraphQLNamedType>;

const encodeUtf8 = (text: string): Buffer => Buffer.from(text);

const collectTypes = function* (schema: RoleSchema): Slices<Types> {
  const types = new Map<string, GraphQLNamedType>();
  for (const type of walkTypes(schema)) {
    types.set(type.name, type);
    yield;
  }
  return types;
};

const LOCATIONS: Readonly<Record<DirectiveTarget, DirectiveLocation>> = {
  "a query": DirectiveLocation.QUERY,
  "a mutation": DirectiveLocation.MUTATION,
  "a subscription": DirectiveLocation.SUBSCRIPTION,
  "a field": DirectiveLocation.FIELD,
  "a fragment spread": DirectiveLocation.FRAGMENT_SPREAD,
  "an inline fragment": DirectiveLocation.INLINE_FRAGMENT,
};

const sortByName = <Value>(record: Readonly<Record<string, Value>>): readonly (readonly [name: string, Value])[] =>
  Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));

/** Returns the directives of the schema, sorted, including those of plugins. @rule G-INT-2 X-DIR-1 */
const listDirectives = ({ directives }: RoleSchema): readonly GraphQLDirective[] =>
  sortByName(directives).flatMap(([name, { description, targets, arguments: declarations }]) => {
    if (description === undefined) return [];
    const locations = targets.map((target) => LOCATIONS[target]);
    return new GraphQLDirective({ name, description, locations, args: Object.fromEntries(sortByName(declarations)) });
  });

/** Returns true for root types, which have fields of every table. */
const isRoot = (type: GraphQLNamedType): boolean => isObjectType(type) && isRootScope(getTypeExtension(type)?.scope);

const COMMA = Buffer.from(",");

/** Writes the selected members of `__schema`, in order. */
const writeSchema = function* (schema: RoleSchema, collector: Collector, node: FieldNode): TextParts {
  let typesByName: Types = new Map();
  const { type, directive } = createWriters(collector, () => typesByName);

  const writeLarge = function* (namedType: GraphQLNamedType, write: ReturnType<typeof type>) {
    const parts: Buffer[] = [];
    for (const part of write.parts(namedType)) {
      if (typeof part === "string") {
        parts.push(encodeUtf8(part));
        continue;
      }
      let before = "";
      for (const item of part) {
        parts.push(encodeUtf8(before + item));
        before = ",";
        yield;
      }
    }
    return parts;
  };

  /** Writes each type when it is found, while its fields exist. The output is sorted by type name. */
  const writeAllTypes = function* (nodes: readonly FieldNode[]): TextParts {
    const write = type(nodes);
    const completeSchema = yield* schema.buildCompleteSchema();
    const implementations = new Map<string, GraphQLNamedType>();
    const interfaces: GraphQLNamedType[] = [];
    typesByName = implementations;
    const texts = new Map<string, readonly Buffer[]>();
    for (const namedType of walkTypes(completeSchema)) {
      if (isObjectType(namedType) && namedType.getInterfaces().length > 0)
        implementations.set(namedType.name, namedType);
      // The implementations are known when all types were visited.
      if (isInterfaceType(namedType)) interfaces.push(namedType);
      else
        texts.set(
          namedType.name,
          isRoot(namedType) ? yield* writeLarge(namedType, write) : [encodeUtf8(write.write(namedType))],
        );
      yield;
    }
    for (const interfaceType of interfaces) texts.set(interfaceType.name, [encodeUtf8(write.write(interfaceType))]);
    let before = encodeUtf8("[");
    for (const name of [...texts.keys()].sort()) {
      yield before;
      yield* texts.get(name)!; // the name is a key of the object
      before = COMMA;
    }
    yield encodeUtf8("]");
  };

  const writeMember = function* ({ name, nodes }: MetaField): TextParts {
    const writeRoot = function* (root: GqlRootName) {
      const hasFields = collector
        .collect(
          nodes.map(({ selectionSet }) => selectionSet),
          "__Type",
        )
        .some((metaField) => metaField.name === "fields");
      const { [root]: rootType } = hasFields ? yield* schema.buildCompleteSchema() : schema;
      if (rootType === undefined) yield encodeUtf8("null");
      else yield* yield* writeLarge(rootType, type(nodes));
    };
    switch (name) {
      case "__typename":
        return yield encodeUtf8('"__Schema"');
      case "directives":
        return yield encodeUtf8(`[${listDirectives(schema).map(directive(nodes).write).join(",")}]`);
      case "types":
        return yield* writeAllTypes(nodes);
      case "queryType":
        return yield* writeRoot("query");
      case "mutationType":
        return yield* writeRoot("mutation");
      case "subscriptionType":
        return yield* writeRoot("subscription");
      default:
        return yield encodeUtf8("null");
    }
  };

  let before = "{";
  for (const metaField of collector.collect([node.selectionSet], "__Schema")) {
    yield encodeUtf8(`${before}${JSON.stringify(metaField.key)}:`);
    yield* writeMember(metaField);
    before = ",";
  }
  yield encodeUtf8(before === "{" ? "{}" : "}");
};

const introspect: IntrospectionService["introspect"] = function* (schema, field, document, variables) {
  const collector = createCollector(document, variables);
  if (field.name.value === "__schema") return yield* writeSchema(schema, collector, field);
  const types = yield* collectTypes(yield* schema.buildCompleteSchema());
  const namedType = types.get(String(collector.readArgument(field, "name")));
  yield encodeUtf8(
    namedType === undefined
      ? "null"
      : createWriters(collector, () => types)
          .type([field])
          .write(namedType),
  );
};

const service: IntrospectionService = {
  metaFields: new Map([
    [SchemaMetaFieldDef.name, SchemaMetaFieldDef],
    [TypeMetaFieldDef.name, TypeMetaFieldDef],
  ]),
  introspect,
};

/** Answers introspection with the types of the caller's role. */
export const graphqlIntrospection = definePlugin({
  name: "graphql-introspection",
  requires: ["graphql"],
  apply: (_hooks, context) => context.offer(introspectionService, service),
});
