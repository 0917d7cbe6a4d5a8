/** Plans fields of other GraphQL schemas: the field with its whole selection becomes a document of its own.
 *  @rule X-GQL-12 X-GQL-14 */
import {
  Kind,
  visit,
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationTypeNode,
  type VariableDefinitionNode,
} from "graphql";
import type { Json } from "../../../core/index.ts";
import type { VariableValues } from "../document/variables.ts";
import type { GqlCall } from "../operations.ts";
import type { GqlForward } from "../parts.ts";
import type { CustomPartWith } from "./function-field.ts";
import type { Planner } from "./planner.ts";
import { describeOrigin } from "./plugin-fields.ts";
import type { SelectedField } from "./selection.ts";

/** A forwarded field without the values of variables. */
export interface ForwardTemplate {
  readonly origin: string;
  readonly path: string;
  readonly document: DocumentNode;
  readonly variables: readonly string[];
  readonly run: GqlForward["run"];
}

/** Returns the fragments that the field uses, and the names of its variables, both in the order of their first use. */
const collectUses = (field: FieldNode, all: Planner["fragments"]) => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const variables = new Set<string>();
  const stack: (FieldNode | FragmentDefinitionNode)[] = [field];
  for (let node = stack.pop(); node !== undefined; node = stack.pop())
    visit(node, {
      Variable: ({ name }) => void variables.add(name.value),
      FragmentSpread: ({ name }) => {
        const fragment = all.get(name.value);
        if (fragment === undefined || fragments.has(name.value)) return;
        fragments.set(name.value, fragment);
        stack.push(fragment);
      },
    });
  return { fragments: [...fragments.values()], variables: [...variables] };
};

const buildVariableDefinition = ({ declarations }: Planner, name: string): readonly VariableDefinitionNode[] => {
  const declaration = declarations.get(name);
  if (declaration === undefined) return []; // the binding of values refuses an undeclared variable
  return [
    {
      kind: Kind.VARIABLE_DEFINITION,
      variable: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } },
      type: declaration.type,
      ...(declaration.default !== undefined && { defaultValue: declaration.default as never }), // a default is constant
    },
  ];
};

/** The document of a field, and the names of its variables. */
interface ForwardedDocument {
  readonly document: DocumentNode;
  readonly variables: readonly string[];
}

export const buildForwardedDocument = (
  planner: Planner,
  { node, selections }: SelectedField,
  operation: OperationTypeNode,
): ForwardedDocument => {
  const field: FieldNode = {
    ...node,
    directives: [], // the planner has applied them
    selectionSet:
      selections.length === 0
        ? undefined
        : { kind: Kind.SELECTION_SET, selections: selections.flatMap((set) => set.selections) },
  };
  const { fragments, variables } = collectUses(field, planner.fragments);
  const definitions: DefinitionNode[] = [
    {
      kind: Kind.OPERATION_DEFINITION,
      operation,
      variableDefinitions: variables.flatMap((one) => buildVariableDefinition(planner, one)),
      selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
    },
    ...fragments,
  ];
  return { document: { kind: Kind.DOCUMENT, definitions }, variables };
};

/** Plans a field. @throws RelApiError of the field's own check */
export const planForward = (
  planner: Planner,
  selected: SelectedField,
  part: CustomPartWith<"forward">,
): ForwardTemplate => {
  const { path } = selected;
  const { forward } = part;
  const { document, variables } = buildForwardedDocument(planner, selected, planner.operation);
  forward.check(document, path);
  return {
    origin: describeOrigin(selected, part),
    path,
    document,
    variables,
    run: forward.run,
  };
};

const readVariable = (values: VariableValues, name: string): readonly (readonly [string, Json])[] => {
  const value = values.get(name);
  // the document has the default
  return value === undefined || "literal" in value ? [] : [[name, value.json]];
};

/** Returns the values that the request gives to the variables. */
export const readVariables = (values: VariableValues, names: readonly string[]): Readonly<Record<string, Json>> =>
  Object.fromEntries(names.flatMap((name) => readVariable(values, name)));

export const fillForward = (
  { document, variables, run, ...call }: ForwardTemplate,
  values: VariableValues,
): GqlCall => {
  const variableValues = readVariables(values, variables);
  return {
    ...call,
    live: undefined,
    run: async (by) => {
      const text = await run({ ...by, document, variables: variableValues });
      return { joins: [], text: () => text };
    },
  };
};
