/** Computes the size of an operation with its fragments inlined, without inlining them. @rule G-LIM-3 */
import type { FragmentDefinitionNode, SelectionSetNode } from "graphql";
import type { RequestLimits } from "../../../core/index.ts";
import { fieldsTooDeep, graphqlLimitExceeded } from "../errors.ts";

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

interface Size {
  /** The number of fields in the set itself. */
  readonly directFields: number;
  /** The number of fields at every level. */
  readonly fields: number;
  readonly aliases: number;
  readonly depth: number;
  /** The depth and the number of fields with a selection, without introspection. */
  readonly levels: number;
  readonly nodes: number;
}

/** Measures a selection set. `sizes` has the sizes of fragments, which have no cycle. */
const measureSelection = (set: SelectionSetNode, fragments: Fragments, sizes: Map<string, Size>): Size => {
  let directFields = 0;
  let fields = 0;
  let aliases = 0;
  let depth = 1;
  let levels = 0;
  let nodes = 0;
  for (const selection of set.selections) {
    if (selection.kind === "Field") {
      directFields++;
      fields++;
      if (selection.alias !== undefined) aliases++;
      if (selection.selectionSet === undefined) continue;
      const inner = measureSelection(selection.selectionSet, fragments, sizes);
      fields += inner.fields;
      aliases += inner.aliases;
      depth = Math.max(depth, inner.depth + 1);
      if (selection.name.value.startsWith("__")) continue;
      levels = Math.max(levels, inner.levels + 1);
      nodes += inner.nodes + 1;
      continue;
    }
    const inner =
      selection.kind === "InlineFragment"
        ? measureSelection(selection.selectionSet, fragments, sizes)
        : measureFragment(selection.name.value, fragments, sizes);
    directFields += inner.directFields;
    fields += inner.fields;
    aliases += inner.aliases;
    depth = Math.max(depth, inner.depth);
    levels = Math.max(levels, inner.levels);
    nodes += inner.nodes;
  }
  return { directFields, fields, aliases, depth, levels, nodes };
};

const NOTHING: Size = { directFields: 0, fields: 0, aliases: 0, depth: 0, levels: 0, nodes: 0 };

const measureFragment = (name: string, fragments: Fragments, sizes: Map<string, Size>): Size => {
  let size = sizes.get(name);
  if (size === undefined) {
    const fragment = fragments.get(name);
    size = fragment === undefined ? NOTHING : measureSelection(fragment.selectionSet, fragments, sizes);
    sizes.set(name, size);
  }
  return size;
};

/** Rejects an operation that is too large. Repeated fields count each time, even if they are merged. `checkFragments`
 *  must run before. @throws RelApiError `validation-failed` @rule G-LIM-3 */
export const checkSize = (limits: RequestLimits, set: SelectionSetNode, fragments: Fragments): Size => {
  const size = measureSelection(set, fragments, new Map());
  if (size.depth > limits.maxDocumentDepth) throw fieldsTooDeep(limits);
  if (size.directFields > limits.maxRootFields) throw graphqlLimitExceeded(limits, "maxRootFields", "root fields");
  if (size.aliases > limits.maxAliases) throw graphqlLimitExceeded(limits, "maxAliases", "aliases");
  if (size.fields > limits.maxDocumentFields) throw graphqlLimitExceeded(limits, "maxDocumentFields", "fields");
  return size;
};
