/** `__schema` and `__type` in a query. @rule G-INT-1 G-INT-3 */
import type { FieldNode, GraphQLObjectType, SelectionSetNode } from "graphql";
import type { Json } from "../../../core/index.ts";
import { leafOf } from "../coerce/leaf.ts";
import { lookUpIn } from "../document/variables.ts";
import { checkPlain } from "./input.ts";
import type { Planner } from "./planner.ts";
import { eachArgument, eachSelection, subselection, type Selected } from "./selection.ts";

/** Checked like any other field, then answered by the schema: its JSON text. */
export const planMetaField = (planner: Planner, selected: Selected): string => {
  checkField(planner, selected);
  return planner.schema.introspect(answeredNode(selected), planner.document, valuesOf(planner));
};

const checkField = (planner: Planner, selected: Selected): void => {
  // read, so that their variables count among those that make the plan
  eachArgument(planner, selected, ({ input, place, path }) => checkPlain(planner, input, place, path));
  const type: GraphQLObjectType | undefined = subselection(selected);
  if (type === undefined) return;
  eachSelection(planner, type, selected.selections, selected.path, (selection) => {
    if (selection.kind === "field") checkField(planner, selection);
  });
};

/** The selections of all occurrences under one node. */
const answeredNode = ({ node, selections }: Selected): FieldNode => {
  if (selections.length < 2) return node;
  const selectionSet: SelectionSetNode = { ...(selections[0] as SelectionSetNode), selections: selections.flatMap((set) => set.selections) };
  return { ...node, selectionSet };
};

/** All of them: those in directives and arguments decide what is answered. */
const valuesOf = ({ variables, declarations }: Planner): Readonly<Record<string, Json>> => {
  const lookUp = lookUpIn(variables.bound);
  return Object.fromEntries(
    [...declarations.keys()].flatMap((name): [string, Json][] => {
      const value = variables.open(name);
      return value === undefined ? [] : [[name, "literal" in value ? leafOf(value.literal, lookUp, true) : value.value()]];
    }),
  );
};
