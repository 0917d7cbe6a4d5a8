/** Separates the fields of another GraphQL schema's types that have rows of tables or belong to another schema. The
 *  document of the schema has the members that these fields need, and the fields replace them in the result.
 *  @rule X-GQL-15 */
import {
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
  isUnionType,
  Kind,
  visit,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLInterfaceType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLUnionType,
  type SelectionNode,
  type SelectionSetNode,
} from "graphql";
import { isJsonObject, type Json, type JsonObject } from "../../../core/index.ts";
import { appendKey } from "../values/request-paths.ts";
import { parseJson, writeJson } from "../values/numbers.ts";
import type { VariableValues } from "../document/variables.ts";
import { graphqlLimitExceeded } from "../errors.ts";
import type { GqlFollowUp } from "../operations.ts";
import { getFieldPart } from "../plan-parts.ts";
import type { CustomPartWith, FindRead, JoinTemplate, LoadTemplate } from "./function-field.ts";
import { bindObjects, readKeys } from "./join-objects.ts";
import type { Planner, SelectedField } from "./planner.ts";
import { collectFields, type CollectedField } from "./selection.ts";

type LinkPart = CustomPartWith<"join"> | CustomPartWith<"delegate">;

/** Plans the rows of a link, or its load. */
export type PlanLink = (
  planner: Planner,
  selectedField: SelectedField,
  part: LinkPart,
) => { readonly join: JoinTemplate } | { readonly load: LoadTemplate };

/** A field that the document of the other schema does not have. */
type Link = ReturnType<PlanLink> & {
  readonly as: string;
  /** The members of the object that the link needs. */
  readonly members: readonly string[];
};

/** The parts of a result that contain links, by response name. */
type LinkTree = ReadonlyMap<string, LinkTree>;

/** The selection without its links, and the function that adds their values to results. */
export interface Links {
  readonly selectionSet: SelectionSetNode;
  /** Returns the texts of results with the values of all links. */
  complete(
    texts: readonly string[],
    variables: VariableValues,
    followUp: GqlFollowUp,
    findRead: FindRead,
  ): Promise<readonly string[]>;
}

const NO_LINKS: LinkTree = new Map();

const isLink = (part: ReturnType<typeof getFieldPart>): part is LinkPart =>
  part?.kind === "custom" && ("join" in part || "delegate" in part);

const listMembers = (part: LinkPart): readonly string[] =>
  "join" in part ? part.join.columns.map(([member]) => member) : part.columns;

/** Chooses the beginning of the response names of members. No name in the document begins with it. */
const choosePrefix = (sets: readonly SelectionSetNode[], fragments: Planner["fragments"]): string => {
  const names: string[] = [];
  for (const node of [...sets, ...fragments.values()])
    visit(node, { Field: ({ alias, name }) => void names.push(alias?.value ?? name.value) });
  let prefix = "link_";
  while (names.some((name) => name.startsWith(prefix))) prefix += "_";
  return prefix;
};

const mergeSets = (sets: readonly SelectionSetNode[]): SelectionSetNode => ({
  kind: Kind.SELECTION_SET,
  selections: sets.flatMap(({ selections }) => selections),
});

/** Returns the names of the types in the conditions of fragments that apply to the objects of these sets. */
const listConditions = (sets: readonly SelectionSetNode[], { fragments }: Planner): ReadonlySet<string> => {
  const conditions = new Set<string>();
  const spread = new Set<string>();
  const walk = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections)
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (selection.typeCondition !== undefined) conditions.add(selection.typeCondition.name.value);
        walk(selection.selectionSet);
      } else if (selection.kind === Kind.FRAGMENT_SPREAD && !spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment === undefined) continue;
        conditions.add(fragment.typeCondition.name.value);
        walk(fragment.selectionSet);
      }
  };
  sets.forEach(walk);
  return conditions;
};

const listInterfaces = (type: GraphQLNamedType): readonly string[] =>
  isObjectType(type) || isInterfaceType(type) ? type.getInterfaces().map(({ name }) => name) : [];

/** The selection on one level, and the links in it. */
interface SeparatedSelection {
  readonly set: SelectionSetNode;
  readonly tree: LinkTree | undefined;
}

const mergeTrees = (trees: readonly (LinkTree | undefined)[]): LinkTree | undefined => {
  const mergedTree = new Map<string, LinkTree>();
  const knownTrees = trees.filter((tree) => tree !== undefined);
  for (const tree of knownTrees)
    for (const [name, below] of tree) mergedTree.set(name, mergeTrees([mergedTree.get(name), below]) ?? NO_LINKS);
  return knownTrees.length === 0 ? undefined : mergedTree;
};

/** Returns the selection of a field without its links, or undefined if it has none. `types` has the object types that
 *  implement interfaces. @throws RelApiError */
export const separateLinks = (
  planner: Planner,
  { field, selections: sets, path: fieldPath }: SelectedField,
  types: readonly GraphQLNamedType[],
  planLink: PlanLink,
): Links | undefined => {
  const { options } = planner.schema;
  const prefix = choosePrefix(sets, planner.fragments);
  const links: Link[] = [];
  let fieldCount = 0;

  const separateField = (
    type: GraphQLCompositeType,
    { as, node, selections }: CollectedField,
    setPath: string,
  ): { readonly nodes: readonly FieldNode[]; readonly tree: LinkTree | undefined } => {
    // A selection on an interface is repeated for the object types that fragments name.
    if (++fieldCount > options.maxDocumentFields) throw graphqlLimitExceeded(options, "maxDocumentFields", "fields");
    const name = node.name.value;
    const path = appendKey(setPath, name);
    const definition = isUnionType(type) ? undefined : type.getFields()[name];
    const part = definition && getFieldPart(definition);
    if (definition !== undefined && isLink(part)) {
      const members = listMembers(part);
      const selectedField: SelectedField = { as, name, node, field: definition, part, path, selections };
      const number = links.push({ ...planLink(planner, selectedField, part), as, members }) - 1;
      // The member of a link without members says only that the object has the link.
      const names = members.length === 0 ? ["__typename"] : members;
      return {
        nodes: names.map((member, i) => ({
          kind: Kind.FIELD,
          alias: { kind: Kind.NAME, value: `${prefix}${number}_${i}` },
          name: { kind: Kind.NAME, value: member },
        })),
        tree: NO_LINKS,
      };
    }
    const valueType = definition && getNamedType(definition.type);
    if (selections.length === 0 || !isCompositeType(valueType))
      return {
        nodes: [{ ...node, directives: [], ...(selections.length > 0 && { selectionSet: mergeSets(selections) }) }],
        tree: undefined,
      };
    const { set, tree } = separate(valueType, selections, path);
    return { nodes: [{ ...node, directives: [], selectionSet: set }], tree: tree && new Map([[as, tree]]) };
  };

  /** Separates the fields that a selection on the type itself has. */
  const separateTypeFields = (
    type: GraphQLCompositeType,
    from: readonly SelectionSetNode[],
    path: string,
  ): SeparatedSelection => {
    const setPath = `${path}.selectionSet`;
    const fields = [...collectFields(planner, type, from, setPath).values()].map((collectedField) =>
      separateField(type, collectedField, setPath),
    );
    return {
      set: { kind: Kind.SELECTION_SET, selections: fields.flatMap(({ nodes }) => nodes) },
      tree: mergeTrees(fields.map(({ tree }) => tree)),
    };
  };

  const listObjects = (type: GraphQLInterfaceType | GraphQLUnionType): readonly GraphQLObjectType[] =>
    isUnionType(type)
      ? type.getTypes()
      : types.filter(
          (candidate): candidate is GraphQLObjectType =>
            isObjectType(candidate) && listInterfaces(candidate).includes(type.name),
        );

  /** Separates the selection on an interface or union: the object types that fragments name have selections of their
   *  own, which come first, so that fields keep the order of the document. */
  const separateAbstract = (
    type: GraphQLInterfaceType | GraphQLUnionType,
    from: readonly SelectionSetNode[],
    path: string,
  ): SeparatedSelection => {
    const conditions = [...listConditions(from, planner)].filter(
      (name) => name !== type.name && !listInterfaces(type).includes(name),
    );
    const separatedObjects = listObjects(type)
      .filter((objectType) =>
        conditions.some((name) => name === objectType.name || listInterfaces(objectType).includes(name)),
      )
      .map((objectType) => ({ name: objectType.name, ...separateTypeFields(objectType, from, path) }));
    const separatedFields = separateTypeFields(type, from, path);
    const selections: SelectionNode[] = separatedObjects
      .filter(({ set }) => set.selections.length > 0)
      .map(({ name, set }) => ({
        kind: Kind.INLINE_FRAGMENT,
        typeCondition: { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: name } },
        selectionSet: set,
      }));
    return {
      set: { kind: Kind.SELECTION_SET, selections: [...selections, ...separatedFields.set.selections] },
      tree: mergeTrees([...separatedObjects.map(({ tree }) => tree), separatedFields.tree]),
    };
  };

  /** Returns the selection as it is if it has no links, so that the other schema checks all of it. */
  const separate = (
    type: GraphQLCompositeType,
    from: readonly SelectionSetNode[],
    path: string,
  ): SeparatedSelection => {
    const separatedSelection = isObjectType(type)
      ? separateTypeFields(type, from, path)
      : separateAbstract(type, from, path);
    return separatedSelection.tree === undefined ? { set: mergeSets(from), tree: undefined } : separatedSelection;
  };

  const rootType = getNamedType(field.type);
  if (!isCompositeType(rootType) || sets.length === 0) return undefined;
  const { set, tree } = separate(rootType, sets, fieldPath);
  return tree && { selectionSet: set, complete: createCompletion(prefix, links, tree) };
};

/** Writes the value of a link of an object. */
type WriteLink = (link: number, object: JsonObject) => string;

const createCompletion = (prefix: string, links: readonly Link[], tree: LinkTree): Links["complete"] => {
  /** Returns the link of a member. Undefined for a member that the document did not ask for. */
  const findLink = (key: string): { readonly as: string; readonly number: number } | undefined => {
    const number = Number.parseInt(key.slice(prefix.length), 10);
    const link = links[number];
    return link && { as: link.as, number };
  };

  /** Returns the links of an object by response name. The first of several links with one name has the whole
   *  selection. */
  const findLinks = (object: JsonObject): ReadonlyMap<string, number> => {
    const numbers = new Map<string, number>();
    for (const key of Object.keys(object)) {
      const link = key.startsWith(prefix) ? findLink(key) : undefined;
      if (link !== undefined) numbers.set(link.as, Math.min(numbers.get(link.as) ?? link.number, link.number));
    }
    return numbers;
  };

  const encode = (value: Json, below: LinkTree | undefined, write: WriteLink): string => {
    if (below === undefined) return writeJson(value);
    if (Array.isArray(value)) return `[${value.map((item: Json) => encode(item, below, write)).join(",")}]`;
    if (!isJsonObject(value)) return writeJson(value);
    const numbers = findLinks(value);
    const writtenNames = new Set<string>();
    const members: string[] = [];
    for (const [key, member] of Object.entries(value)) {
      if (!key.startsWith(prefix)) {
        members.push(`${JSON.stringify(key)}:${encode(member, below.get(key), write)}`);
        continue;
      }
      const name = findLink(key)?.as;
      const number = name === undefined ? undefined : numbers.get(name);
      if (name === undefined || number === undefined || writtenNames.has(name)) continue;
      writtenNames.add(name);
      members.push(`${JSON.stringify(name)}:${write(number, readMembers(number, value))}`);
    }
    return `{${members.join(",")}}`;
  };

  const readMembers = (number: number, object: JsonObject): JsonObject =>
    Object.fromEntries(
      (links[number]?.members ?? []).map((name, i) => [name, object[`${prefix}${number}_${i}`] ?? null]),
    );

  return async (texts, variables, followUp, findRead) => {
    const results = texts.map((text) => parseJson(text));
    const objects = links.map((): JsonObject[] => []);
    for (const result of results)
      encode(result, tree, (link, object) => {
        objects[link]!.push(object); // a link is an index of `links`
        return "";
      });
    const usedLinks = links.flatMap((link, i) =>
      objects[i]?.length === 0 ? [] : [{ ...link, i, parents: objects[i] ?? [] }],
    );
    const joins = usedLinks.flatMap((link) => ("join" in link ? [link] : []));
    const loads = usedLinks.flatMap((link) => ("load" in link ? [link] : []));
    const [rows, loadResults] = await Promise.all([
      joins.length === 0
        ? []
        : followUp.read(
            joins.map(({ join, parents }) =>
              bindObjects(
                join,
                parents.map((object) => readKeys(join, object)),
                findRead,
              ),
            ),
          ),
      Promise.all(loads.map(({ load, parents }) => followUp.load(load(variables, findRead), parents))),
    ]);
    const values = new Map([
      ...joins.map(({ i }, position) => [i, rows[position]?.values()] as const),
      ...loads.map(({ i }, position) => [i, loadResults[position]?.values()] as const),
    ]);
    return results.map((result) => encode(result, tree, (link) => values.get(link)?.next().value ?? "null"));
  };
};
