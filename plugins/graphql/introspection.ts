/** `{ __schema { types { name } } }`: the types of the caller's role. @rule G-INT-1 … G-INT-9 */
import { isObjectType, SchemaMetaFieldDef, TypeMetaFieldDef, type FieldNode, type GraphQLNamedType } from "graphql";
import { definePlugin, type Pieces, type Token } from "../../core/index.ts";
import { directivesOf } from "./introspected/directives.ts";
import { createCollector, type Collector, type Selected } from "./introspected/selected.ts";
import { createSlabs, type Slabs } from "./introspected/slabs.ts";
import { createWriters } from "./introspected/writers.ts";
import { eachType } from "./types/collect.ts";
import { isRootScope } from "./types/lazy-types.ts";
import { gqlTypeFacts, type RoleSchema } from "./parts.ts";

export type IntrospectionToken = Token<"graphql-introspection", IntrospectionService>;

export interface IntrospectionService {
  readonly metaFields: RoleSchema["metaFields"];
  introspect(schema: RoleSchema): RoleSchema["introspect"];
}

type Types = ReadonlyMap<string, GraphQLNamedType>;

const bytesOf = (text: string): readonly Buffer[] => [Buffer.from(text)];

const typesOf = function* (schema: RoleSchema): Pieces<Types> {
  const types = new Map<string, GraphQLNamedType>();
  for (const type of eachType(schema)) {
    if (type !== undefined) types.set(type.name, type);
    yield;
  }
  return types;
};

/** They have fields of every table. */
const isRoot = (type: GraphQLNamedType): boolean => isObjectType(type) && isRootScope(gqlTypeFacts(type)?.scope);

const COMMA = Buffer.from(",");

/** `__schema`: what is selected of it, in order. */
const writeSchema = function* (
  schema: RoleSchema,
  whole: RoleSchema,
  collector: Collector,
  node: FieldNode,
): Pieces<readonly Buffer[]> {
  let known: Types = new Map();
  const { type, directive } = createWriters(collector, () => known);

  const writeLarge = function* (one: GraphQLNamedType, of: ReturnType<typeof type>, slabs: Slabs) {
    const parts: Buffer[] = [];
    for (const part of of.parts(one)) {
      parts.push(slabs.write(part));
      yield;
    }
    return parts;
  };

  /** Each is written when it is found, while its fields are there, and they stand in the order of their names. */
  const allTypes = function* (nodes: readonly FieldNode[]): Pieces<readonly Buffer[]> {
    if (whole.hasInterfaces) known = yield* typesOf(whole);
    const of = type(nodes);
    const slabs = createSlabs();
    const texts = new Map<string, Buffer | readonly Buffer[]>();
    for (const one of eachType(whole)) {
      if (one !== undefined)
        texts.set(one.name, isRoot(one) ? yield* writeLarge(one, of, slabs) : slabs.write(of.write(one)));
      yield;
    }
    const parts: Buffer[] = [];
    for (const name of [...texts.keys()].sort()) {
      const bytes = texts.get(name)!; // one of its keys
      parts.push(COMMA);
      if (Buffer.isBuffer(bytes)) parts.push(bytes);
      else for (const each of bytes) parts.push(each);
    }
    return [Buffer.from("["), ...parts.slice(1), Buffer.from("]")];
  };

  const member = function* ({ name, nodes }: Selected): Pieces<readonly Buffer[]> {
    const root = function* (one: GraphQLNamedType | undefined) {
      return one === undefined ? bytesOf("null") : yield* writeLarge(one, type(nodes), createSlabs());
    };
    switch (name) {
      case "__typename":
        return bytesOf('"__Schema"');
      case "directives":
        return bytesOf(`[${directivesOf(schema).map(directive(nodes).write).join(",")}]`);
      case "types":
        return yield* allTypes(nodes);
      case "queryType":
        return yield* root(whole.query);
      case "mutationType":
        return yield* root(whole.mutation);
      case "subscriptionType":
        return yield* root(whole.subscription);
      default:
        return bytesOf("null");
    }
  };

  const parts: (readonly Buffer[])[] = [];
  let before = "{";
  for (const selected of collector.collect([node.selectionSet], "__Schema")) {
    parts.push(bytesOf(`${before}${JSON.stringify(selected.key)}:`), yield* member(selected));
    before = ",";
  }
  parts.push(bytesOf(parts.length === 0 ? "{}" : "}"));
  return parts.flat();
};

const introspect = (schema: RoleSchema): RoleSchema["introspect"] =>
  function* (field, document, variables) {
    const collector = createCollector(document, variables);
    const whole = yield* schema.whole();
    if (field.name.value === "__schema") return yield* writeSchema(schema, whole, collector, field);
    const types = yield* typesOf(whole);
    const named = types.get(String(collector.valueOf(field, "name")));
    return bytesOf(
      named === undefined
        ? "null"
        : createWriters(collector, () => types)
            .type([field])
            .write(named),
    );
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
