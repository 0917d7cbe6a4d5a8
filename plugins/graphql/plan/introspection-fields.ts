/** Plans `__schema` and `__type` in a query. @rule G-INT-1 G-INT-3 */
import type { FieldNode, GraphQLObjectType, SelectionSetNode } from "graphql";
import type { Json } from "../../../core/index.ts";
import { convertLiteral } from "../values/leaf.ts";
import { createVariableGetter } from "../document/variables.ts";
import { graphqlLimitExceeded } from "../errors.ts";
import { checkBuiltInValue } from "./input.ts";
import type { Planner, SelectedField } from "./planner.ts";
import type { GqlOutput } from "../operations.ts";
import type { TextParts } from "../types/role-schema.ts";
import { visitArguments, visitSelections, checkSubselection } from "./selection.ts";

/** Validates a meta field like any other field, and resolves it as JSON text. `pieces` writes the text in time slices,
 *  because the text of a large schema takes long. `text` writes it synchronously. */
export const planMetaField = (
  planner: Planner,
  selectedField: SelectedField,
): Extract<GqlOutput, { readonly pieces: unknown }> => {
  checkField(planner, selectedField, 0);
  const { schema, document } = planner;
  const node = mergeNodes(selectedField);
  const values = readVariableValues(planner);
  const writePieces = (): TextParts => schema.introspect(node, document, values);
  return {
    as: selectedField.as,
    pieces: writePieces,
    get text() {
      return Buffer.concat([...writePieces()].filter((part) => part !== undefined)).toString();
    },
  };
};

/** Lists whose elements contain types again. Each multiplies the size of the response by the size of the schema. */
const LIST_FIELDS: ReadonlySet<string> = new Set(["fields", "inputFields", "interfaces", "possibleTypes"]);

/** Fields whose result requires a visit of all types. */
const SCANNING_FIELDS: ReadonlySet<string> = new Set(["__type", "types"]);

/** Rejects introspection with too many nested lists. `enclosingLists` is the number of enclosing lists. @rule
 *  G-LIM-5 */
const checkField = (planner: Planner, selectedField: SelectedField, enclosingLists: number): void => {
  const isList = LIST_FIELDS.has(selectedField.name);
  const lists = isList ? enclosingLists + 1 : enclosingLists;
  const { options } = planner.schema;
  if (lists > options.maxIntrospectionDepth)
    throw graphqlLimitExceeded(options, "maxIntrospectionDepth", "lists of fields inside each other in introspection");
  if ((isList || SCANNING_FIELDS.has(selectedField.name)) && --planner.budget.introspectionLists < 0)
    throw graphqlLimitExceeded(options, "maxIntrospectionLists", "lists of types and fields in its introspection");
  // The check reads the arguments, so their variables become part of the cache key.
  visitArguments(planner, selectedField, (argument) => checkBuiltInValue(planner, argument));
  const type: GraphQLObjectType | undefined = checkSubselection(selectedField);
  if (type === undefined) return;
  visitSelections(planner, type, selectedField, (selection) => {
    if (selection.kind === "field") checkField(planner, selection, lists);
  });
};

/** Returns one node with the selections of all occurrences of the field. */
const mergeNodes = ({ node, selections }: SelectedField): FieldNode => {
  if (selections.length < 2) return node;
  const selectionSet: SelectionSetNode = {
    ...(selections[0] as SelectionSetNode),
    selections: selections.flatMap((set) => set.selections),
  };
  return { ...node, selectionSet };
};

/** Returns the values of all variables, because variables in directives and arguments determine the result. */
const readVariableValues = ({ variables, declarations }: Planner): Readonly<Record<string, Json>> => {
  const getVariable = createVariableGetter(variables.boundValues);
  return Object.fromEntries(
    [...declarations.keys()].flatMap((name): [string, Json][] => {
      const value = variables.open(name);
      return value === undefined
        ? []
        : [[name, "literal" in value ? convertLiteral(value.literal, getVariable, true) : value.value()]];
    }),
  );
};
