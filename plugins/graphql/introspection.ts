/** `{ __schema { types { name } } }`: writes the types of the caller's role. @rule G-INT-1 … G-INT-9 */
import { isObjectType, SchemaMetaFieldDef, TypeMetaFieldDef, type FieldNode, type GraphQLNamedType } from "graphql";
import { definePlugin, defineService, type Slices } from "../../core/index.ts";
import { directivesOf } from "./introspected/directives.ts";
import { createCollector, type Collector, type SelectedField } from "./introspected/collect-fields.ts";
import { createWriters } from "./introspected/writers.ts";
import { forEachType } from "./types/reachable-types.ts";
import { isRootScope } from "./types/lazy-types.ts";
import { gqlTypeFacts, type GqlRootName } from "./build.ts";
import type { Parts, RoleSchema } from "./role-schema.ts";

export const introspectionService = defineService<IntrospectionService>("graphql-introspection");

export interface IntrospectionService {
  readonly metaFields: RoleSchema["metaFields"];
  introspect(schema: RoleSchema): RoleSchema["introspect"];
}

type Types = ReadonlyMap<string, GraphQLNamedType>;

const bytesOf = (text: string): Buffer => Buffer.from(text);

const typesOf = function* (schema: RoleSchema): Slices<Types> {
  const types = new Map<string, GraphQLNamedType>();
  for (const type of forEachType(schema)) {
    if (type !== undefined) types.set(type.name, type);
    yield;
  }
  return types;
};

/** The number of names that are sorted in one slice. */
const NAMES_PER_SLICE = 4000;

/** Sorts names in time slices, because tens of thousands of them take longer than one slice. */
const sortSliced = function* (names: readonly string[]): Slices<readonly string[]> {
  if (names.length <= NAMES_PER_SLICE) return [...names].sort();
  const half = Math.ceil(names.length / 2);
  const left = yield* sortSliced(names.slice(0, half));
  yield;
  const right = yield* sortSliced(names.slice(half));
  const all: string[] = [];
  let at = 0;
  for (const name of left) {
    while (at < right.length && right[at]! < name) all.push(right[at++]!); // the index is below its length
    all.push(name);
    if (all.length % 100 === 0) yield;
  }
  return all.concat(right.slice(at));
};

/** Root types have fields of every table. */
const isRoot = (type: GraphQLNamedType): boolean => isObjectType(type) && isRootScope(gqlTypeFacts(type)?.scope);

const COMMA = Buffer.from(",");

/** Writes the selected members of `__schema`, in order. */
const writeSchema = function* (schema: RoleSchema, collector: Collector, node: FieldNode): Parts {
  let known: Types = new Map();
  const { type, directive } = createWriters(collector, () => known);

  const writeLarge = function* (one: GraphQLNamedType, of: ReturnType<typeof type>) {
    const parts: Buffer[] = [];
    for (const part of of.parts(one)) {
      if (typeof part === "string") {
        parts.push(bytesOf(part));
        continue;
      }
      let before = "";
      for (const item of part) {
        parts.push(bytesOf(before + item));
        before = ",";
        yield;
      }
    }
    return parts;
  };

  /** Writes each type when it is found, while its fields exist. The output is sorted by type name. */
  const allTypes = function* (nodes: readonly FieldNode[]): Parts {
    const of = type(nodes);
    const whole = yield* schema.whole();
    if (whole.hasInterfaces) known = yield* typesOf(whole);
    const texts = new Map<string, readonly Buffer[]>();
    for (const one of forEachType(whole)) {
      if (one !== undefined) texts.set(one.name, isRoot(one) ? yield* writeLarge(one, of) : [bytesOf(of.write(one))]);
      yield;
    }
    let before = bytesOf("[");
    for (const name of yield* sortSliced([...texts.keys()])) {
      yield before;
      yield* texts.get(name)!; // the name is one of its keys
      before = COMMA;
    }
    yield bytesOf("]");
  };

  const member = function* ({ name, nodes }: SelectedField): Parts {
    const root = function* (of: GqlRootName) {
      const hasFields = collector
        .collect(
          nodes.map(({ selectionSet }) => selectionSet),
          "__Type",
        )
        .some((selected) => selected.name === "fields");
      const { [of]: one } = hasFields ? yield* schema.whole() : schema;
      if (one === undefined) yield bytesOf("null");
      else yield* yield* writeLarge(one, type(nodes));
    };
    switch (name) {
      case "__typename":
        return yield bytesOf('"__Schema"');
      case "directives":
        return yield bytesOf(`[${directivesOf(schema).map(directive(nodes).write).join(",")}]`);
      case "types":
        return yield* allTypes(nodes);
      case "queryType":
        return yield* root("query");
      case "mutationType":
        return yield* root("mutation");
      case "subscriptionType":
        return yield* root("subscription");
      default:
        return yield bytesOf("null");
    }
  };

  let before = "{";
  for (const selected of collector.collect([node.selectionSet], "__Schema")) {
    yield bytesOf(`${before}${JSON.stringify(selected.key)}:`);
    yield* member(selected);
    before = ",";
  }
  yield bytesOf(before === "{" ? "{}" : "}");
};

const introspect = (schema: RoleSchema): RoleSchema["introspect"] =>
  function* (field, document, variables) {
    const collector = createCollector(document, variables);
    if (field.name.value === "__schema") return yield* writeSchema(schema, collector, field);
    const types = yield* typesOf(yield* schema.whole());
    const named = types.get(String(collector.valueOf(field, "name")));
    yield bytesOf(
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
  apply: (_hooks, context) => context.offer(introspectionService, service),
});
