/** Parses the text of a request to one operation and the fragments that it may use. @rule G-DOC-1 G-DOC-2 G-DOC-3 */
import {
  GraphQLError,
  parse,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type ValueNode,
} from "graphql";
import { buildUnknownNameFacts } from "../../shared/name-hints.ts";
import { documentTooLarge, documentInvalid, parseFailed, validationFailed, type HintFacts } from "../errors.ts";

export interface ParsedDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** The maximum depth of selection sets and values, counted together. Functions that visit a document are recursive. */
export const MAX_DEPTH = 500;

/** Parses the text and chooses the operation. @throws RelApiError `validation-failed`, `parse-failed` */
export const parseDocument = (text: string, operationName: string | undefined, maxBytes: number): ParsedDocument => {
  if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes))
    throw documentTooLarge(maxBytes);
  const document = parseText(text);
  for (const definition of document.definitions) {
    if (definition.kind !== "OperationDefinition" && definition.kind !== "FragmentDefinition") throw documentInvalid();
    checkSelectionSet(definition.selectionSet, 0);
    for (const directive of definition.directives ?? []) checkNames(directive.arguments ?? [], 0);
    if (definition.kind === "OperationDefinition") {
      for (const variable of definition.variableDefinitions ?? [])
        if (variable.defaultValue !== undefined) checkValue(variable.defaultValue, 0);
    }
  }
  const operation = chooseOperation(document, text, operationName);
  return { document, operation, fragments: collectFragments(document) };
};

const parseText = (text: string): DocumentNode => {
  try {
    return parse(text, { noLocation: true });
  } catch (error) {
    if (error instanceof GraphQLError) throw documentInvalid(describeSyntaxError(error));
    if (error instanceof RangeError) throw documentInvalid();
    throw error;
  }
};

/** Converts an error such as `Syntax Error: Expected Name, found "}".` to facts for hints. */
const describeSyntaxError = ({ message, locations: [location] = [] }: GraphQLError): HintFacts =>
  location === undefined
    ? {}
    : { line: location.line, column: location.column, reason: message.replace(/^Syntax Error: (.*?)\.?$/s, "$1") };

const checkSelectionSet = (set: SelectionSetNode, depth: number): void => {
  if (depth > MAX_DEPTH) throw documentInvalid();
  for (const selection of set.selections) {
    for (const directive of selection.directives ?? []) checkNames(directive.arguments ?? [], depth);
    if (selection.kind === "Field") checkNames(selection.arguments ?? [], depth);
    if (selection.kind !== "FragmentSpread" && selection.selectionSet !== undefined)
      checkSelectionSet(selection.selectionSet, depth + 1);
  }
};

/** Rejects duplicate names among arguments or input fields. */
const checkNames = (
  fields: readonly { readonly name: { readonly value: string }; readonly value: ValueNode }[],
  depth: number,
): void => {
  const names = new Set<string>();
  for (const field of fields) {
    if (names.has(field.name.value)) throw documentInvalid();
    names.add(field.name.value);
    checkValue(field.value, depth + 1);
  }
};

const checkValue = (value: ValueNode, depth: number): void => {
  if (depth > MAX_DEPTH) throw documentInvalid();
  if (value.kind === "ObjectValue") checkNames(value.fields, depth);
  else if (value.kind === "ListValue") for (const item of value.values) checkValue(item, depth + 1);
};

export const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;

const chooseOperation = (
  document: DocumentNode,
  text: string,
  operationName: string | undefined,
): OperationDefinitionNode => {
  const operations = document.definitions.filter((definition) => definition.kind === "OperationDefinition");
  if (operationName === undefined) {
    const [operation] = operations;
    if (operation === undefined || operations.length > 1)
      throw validationFailed(
        "exactly one operation has to be present in the document when operationName is not specified",
        "$",
      );
    return operation;
  }
  if (!NAME.test(operationName)) throw parseFailed(`${operationName} is not valid GraphQL name`, "$.operationName");
  if (operations.some((operation) => operation.name === undefined) && hasShortForm(text))
    throw validationFailed("operationName cannot be used when an anonymous operation exists in the document", "$");
  const namedOperation = operations.find((operation) => operation.name?.value === operationName);
  if (namedOperation === undefined)
    throw validationFailed(
      `no such operation found in the document: "${operationName}"`,
      "$",
      buildUnknownNameFacts(
        operationName,
        operations.flatMap(({ name }) => name?.value ?? []),
      ),
    );
  return namedOperation;
};

/** Detects `{ … }` without the keyword `query`, which only the tokens show. */
const hasShortForm = (text: string): boolean =>
  parse(text).definitions.some(
    (definition) => definition.kind === "OperationDefinition" && definition.loc?.startToken.kind === "{",
  );

const collectFragments = (document: DocumentNode): ReadonlyMap<string, FragmentDefinitionNode> => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind !== "FragmentDefinition") continue;
    const name = definition.name.value;
    // Each name has only one fragment. @rule G-DOC-8
    if (fragments.has(name)) throw parseFailed(`multiple definitions for fragment "${name}"`, "$");
    fragments.set(name, definition);
  }
  return fragments;
};
