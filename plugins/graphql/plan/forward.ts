/** Plans fields of other GraphQL schemas: the field with its whole selection becomes a document of its own.
 *  @rule X-GQL-12 X-GQL-14 */
import {
  Kind,
  OperationTypeNode,
  print,
  visit,
  type DefinitionNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
} from "graphql";
import type { Json } from "../../../core/index.ts";
import { formatCount } from "../../shared/plural.ts";
import { writeJson } from "../values/numbers.ts";
import type { VariableValues } from "../document/variables.ts";
import type { GqlCall, GqlEvents, GqlFollowUp } from "../operations.ts";
import type { GqlCallContext, GqlForward, GqlForwardRequest } from "../plan-parts.ts";
import type { CustomPartWith, FindRead, LoadTemplate } from "./function-field.ts";
import { separateLinks, type Links, type PlanLink } from "./schema-links.ts";
import type { Planner, SelectedField } from "./planner.ts";
import { describeOrigin } from "./plugin-fields.ts";

/** A forwarded field without the values of variables. */
export interface ForwardTemplate {
  readonly origin: string;
  readonly path: string;
  readonly document: DocumentNode;
  readonly variables: readonly string[];
  readonly links: Links | undefined;
  readonly run: GqlForward["run"];
  /** Sends the events of a field of a subscription. */
  readonly subscribe: GqlForward["subscribe"];
}

/** Returns the fragments that the field uses, and the names of its variables, both in the order of their first use. */
const collectUses = (field: FieldNode, knownFragments: Planner["fragments"]) => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  const variables = new Set<string>();
  const stack: (FieldNode | FragmentDefinitionNode)[] = [field];
  for (let node = stack.pop(); node !== undefined; node = stack.pop())
    visit(node, {
      Variable: ({ name }) => void variables.add(name.value),
      FragmentSpread: ({ name }) => {
        const fragment = knownFragments.get(name.value);
        if (fragment === undefined || fragments.has(name.value)) return;
        fragments.set(name.value, fragment);
        stack.push(fragment);
      },
    });
  return { fragments: [...fragments.values()], variables: [...variables] };
};

const buildVariableDefinition = ({ declarations }: Planner, name: string): readonly VariableDefinitionNode[] => {
  const declaration = declarations.get(name);
  if (declaration === undefined) return []; // the binding of values rejects an undeclared variable
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

const buildDocument = (planner: Planner, field: FieldNode, operation: OperationTypeNode): ForwardedDocument => {
  const { fragments, variables } = collectUses(field, planner.fragments);
  const definitions: DefinitionNode[] = [
    {
      kind: Kind.OPERATION_DEFINITION,
      operation,
      variableDefinitions: variables.flatMap((variable) => buildVariableDefinition(planner, variable)),
      selectionSet: { kind: Kind.SELECTION_SET, selections: [field] },
    },
    ...fragments,
  ];
  return { document: { kind: Kind.DOCUMENT, definitions }, variables };
};

const buildField = ({ node }: SelectedField, selectionSet: SelectionSetNode | undefined): FieldNode => ({
  ...node,
  directives: [], // the planner has applied the directives
  selectionSet,
});

/** Builds the document of a field, and checks it. @throws RelApiError of the field's own check */
const planForwarded = (
  planner: Planner,
  selectedField: SelectedField,
  { check, types, hasLinks = false }: Pick<GqlForward, "check" | "types" | "hasLinks">,
  operation: OperationTypeNode,
): ForwardedDocument & { readonly links: Links | undefined } => {
  const { path, selections } = selectedField;
  const links = hasLinks ? separateLinks(planner, selectedField, types ?? [], planLink) : undefined;
  const selectionSet: SelectionSetNode | undefined =
    links?.selectionSet ??
    (selections.length === 0
      ? undefined
      : { kind: Kind.SELECTION_SET, selections: selections.flatMap((set) => set.selections) });
  const forwardedDocument = buildDocument(planner, buildField(selectedField, selectionSet), operation);
  check(forwardedDocument.document, path);
  return { ...forwardedDocument, links };
};

/** Plans a field. @throws RelApiError of the field's own check */
export const planForward = (
  planner: Planner,
  selectedField: SelectedField,
  part: CustomPartWith<"forward">,
): ForwardTemplate => {
  const { path } = selectedField;
  const { forward } = part;
  return {
    origin: describeOrigin(selectedField, part),
    path,
    ...planForwarded(planner, selectedField, forward, planner.operation),
    run: forward.run,
    subscribe: planner.operation === OperationTypeNode.SUBSCRIPTION ? forward.subscribe : undefined,
  };
};

export const checkResultCount = <Result>(rows: readonly unknown[], results: readonly Result[]): readonly Result[] => {
  if (Array.isArray(results) && results.length === rows.length) return results;
  throw new TypeError(`it was given ${formatCount(rows.length, "row")} and must return as many results`);
};

/** Plans the load of a field that belongs to another GraphQL schema. @throws RelApiError of the field's own check */
export const planDelegateLoad = (
  planner: Planner,
  selectedField: SelectedField,
  part: CustomPartWith<"delegate">,
): LoadTemplate => {
  const { path, selections } = selectedField;
  const { delegate } = part;
  const { document, variables, links } = planForwarded(planner, selectedField, delegate, OperationTypeNode.QUERY);
  const origin = describeOrigin(selectedField, part);
  const documentParts =
    links === undefined
      ? { document, variables }
      : buildDocument(
          planner,
          buildField(selectedField, {
            kind: Kind.SELECTION_SET,
            selections: selections.flatMap((set) => set.selections),
          }),
          OperationTypeNode.QUERY,
        );
  const text = print(documentParts.document);
  return (values, findRead) => {
    const sentVariables = readVariables(values, variables);
    return {
      origin,
      path,
      key: JSON.stringify([origin, path, text, writeJson(readVariables(values, documentParts.variables))]),
      run: async (rows, context, followUp) => {
        const texts = checkResultCount(
          rows,
          await delegate.load(rows, { ...context, document, variables: sentVariables }),
        );
        return links === undefined ? texts : links.complete(texts, values, followUp, findRead);
      },
    };
  };
};

const planLink: PlanLink = (planner, selectedField, part) =>
  "join" in part
    ? { join: planner.planJoin(planner, selectedField, part) }
    : { load: planDelegateLoad(planner, selectedField, part) };

const readVariable = (values: VariableValues, name: string): readonly (readonly [string, Json])[] => {
  const value = values.get(name);
  // The document has the default.
  return value === undefined || "literal" in value ? [] : [[name, value.json]];
};

/** Returns the values that the request gives to the variables. */
const readVariables = (values: VariableValues, names: readonly string[]): Readonly<Record<string, Json>> =>
  Object.fromEntries(names.flatMap((name) => readVariable(values, name)));

/** Returns the events of a field. They are the same for the same source and document. */
const createEvents = (
  document: DocumentNode,
  variables: GqlForwardRequest["variables"],
  subscribe: NonNullable<GqlForward["subscribe"]>,
  complete: GqlEvents["complete"],
): GqlEvents => {
  const key = `${print(document)}${writeJson(variables)}`;
  const events = {
    subscribe,
    key,
    isSame: (otherEvents: GqlEvents) =>
      "key" in otherEvents && otherEvents.key === key && (otherEvents as typeof events).subscribe === subscribe,
    open: (context: GqlCallContext, emit: Parameters<typeof subscribe>[1]) =>
      subscribe({ ...context, document, variables }, emit),
    complete,
  };
  return events;
};

/** Fills the template of a request to another GraphQL schema with the variables of a request. */
export const fillForward = (
  { document, variables, links, run, subscribe, ...call }: ForwardTemplate,
  values: VariableValues,
  findRead: FindRead,
): GqlCall => {
  const variableValues = readVariables(values, variables);
  const complete = async (text: string, followUp: GqlFollowUp): Promise<string> => {
    if (links === undefined) return text;
    const [completedText = "null"] = await links.complete([text], values, followUp, findRead);
    return completedText;
  };
  return {
    ...call,
    live: undefined,
    events: subscribe && createEvents(document, variableValues, subscribe, complete),
    run: async (context, followUp) =>
      complete(await run({ ...context, document, variables: variableValues }), followUp),
  };
};
