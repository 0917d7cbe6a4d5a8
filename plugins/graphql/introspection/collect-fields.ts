/** Reads selections on the introspection types. */
import { Kind, valueFromASTUntyped, type DocumentNode, type FieldNode, type SelectionSetNode } from "graphql";

export interface MetaField {
  readonly key: string;
  readonly name: string;
  readonly nodes: readonly FieldNode[];
}

type Variables = Readonly<Record<string, unknown>>;

/** Collects the fields of one selection set: inlines fragments and merges equal response names. */
export const createCollector = (document: DocumentNode, variables: Variables) => {
  const fragments = new Map(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition] as const] : [],
    ),
  );

  const readArgument = (node: FieldNode, name: string): unknown => {
    const argument = node.arguments?.find((argumentNode) => argumentNode.name.value === name);
    return argument && valueFromASTUntyped(argument.value, variables);
  };

  const isIncluded = (directives: FieldNode["directives"]): boolean =>
    (directives ?? []).every((directive) => {
      const condition = directive.arguments?.find((argumentNode) => argumentNode.name.value === "if");
      const holds = condition !== undefined && valueFromASTUntyped(condition.value, variables) === true;
      return directive.name.value === "skip" ? !holds : directive.name.value === "include" ? holds : true;
    });

  const collect = (sets: readonly (SelectionSetNode | undefined)[], type: string): MetaField[] => {
    const fieldsByKey = new Map<string, { name: string; nodes: FieldNode[] }>();
    const visit = (set: SelectionSetNode | undefined): void => {
      for (const selection of set?.selections ?? []) {
        if (!isIncluded(selection.directives)) continue;
        if (selection.kind === Kind.FIELD) {
          const key = selection.alias?.value ?? selection.name.value;
          const entry = fieldsByKey.get(key);
          if (entry === undefined) fieldsByKey.set(key, { name: selection.name.value, nodes: [selection] });
          else entry.nodes.push(selection);
          continue;
        }
        const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? fragments.get(selection.name.value) : selection;
        const condition = fragment?.typeCondition?.name.value;
        if (condition === undefined || condition === type) visit(fragment?.selectionSet);
      }
    };
    sets.forEach(visit);
    return [...fieldsByKey].map(([key, { name, nodes }]) => ({ key, name, nodes }));
  };
  return { collect, readArgument };
};

export type Collector = ReturnType<typeof createCollector>;
