/** Checks that the fragments of an operation are defined and have no cycle. @rule G-DOC-8 */
import type { FragmentDefinitionNode, SelectionSetNode } from "graphql";
import { buildUnknownNameFacts } from "../../shared/name-hints.ts";
import { validationFailed } from "../errors.ts";

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

/** Joins names for a message: `a`, `a and b`, `a, b, and c`. */
const formatNames = (names: readonly string[]): string => {
  if (names.length < 3) return names.join(" and ");
  return `${names.slice(0, -1).join(", ")}, and ${names[names.length - 1]}`;
};

/** Rejects undefined fragments and cycles. The path of an error has the name of each fragment around the spread.
 *  @throws RelApiError at the selection set that contains the spread */
export const checkFragments = (set: SelectionSetNode, fragments: Fragments): void => {
  const checkedFragments = new Set<string>();
  const openFragments = new Set<string>();
  const walk = (selections: SelectionSetNode, path: string): void => {
    for (const selection of selections.selections) {
      if (selection.kind === "Field") {
        if (selection.selectionSet !== undefined)
          walk(selection.selectionSet, `${path}.${selection.name.value}.selectionSet`);
      } else if (selection.kind === "InlineFragment") {
        walk(selection.selectionSet, path);
      } else {
        const name = selection.name.value;
        if (openFragments.has(name)) {
          const names = [...openFragments];
          const cycle = formatNames(names.slice(names.indexOf(name)));
          throw validationFailed(`the fragment definition(s) ${cycle} form a cycle`, path);
        }
        const fragment = fragments.get(name);
        if (fragment === undefined)
          throw validationFailed(
            `reference to undefined fragment "${name}"`,
            path,
            buildUnknownNameFacts(name, fragments.keys()),
          );
        // A fragment is checked once, because its contents do not depend on where it is spread.
        if (checkedFragments.has(name)) continue;
        openFragments.add(name);
        walk(fragment.selectionSet, `${path}.${name}.selectionSet`);
        openFragments.delete(name);
        checkedFragments.add(name);
      }
    }
  };
  walk(set, "$.selectionSet");
};
