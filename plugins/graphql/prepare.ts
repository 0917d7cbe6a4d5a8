/** A cached document: parsed and validated once, planned once per shape of its variables. @rule G-DOC-14 G-OP-36
 *  R-CAC-1 */
import { planKey, type Ask, type Cache, type Caches, type Found, type Json, type Question } from "../../core/index.ts";
import { checkFragments } from "./document/fragments.ts";
import { observeVariables, type WithVariables } from "./document/observed.ts";
import { parseDocument, type ParsedDocument } from "./document/parse.ts";
import { checkSize, type Size } from "./document/size.ts";
import { declareVariables, readVariables, type DeclaredVariables, type VariableValues } from "./document/variables.ts";
import { notAGraphqlQuery, variablesTooDeep } from "./errors.ts";
import { fill, planOperation, rootOf, type OperationTemplate } from "./plan/operation.ts";
import { openBudget, type Planner } from "./plan/planner.ts";
import type { RoleSchema } from "./parts.ts";
import type { GqlOperation, GqlRequest, PreparedDocument } from "./operations.ts";

/** Memory of syntax trees and plans, as multiples of their text. */
const BYTES_PER_CHARACTER = 60;
const BYTES_PER_PLANNED_CHARACTER = 8;

/** Throws `refuse()` if the input nests too deeply for a recursive walk. */
const guarded = <Result>(walk: () => Result, refuse: () => Error): Result => {
  try {
    return walk();
  } catch (error) {
    if (error instanceof RangeError) throw refuse();
    throw error;
  }
};

/** What depends only on the role schema and the text. */
interface ReadDocument {
  readonly schema: RoleSchema;
  readonly parsed: ParsedDocument;
  readonly declared: DeclaredVariables;
  readonly size: Size;
  readonly length: number;
}

interface DocumentSource {
  readonly schema: RoleSchema;
  readonly request: GqlRequest;
}

const SCHEMA: Question<DocumentSource, RoleSchema> = { name: "schema", of: ({ schema }) => schema };
const TEXT: Question<DocumentSource, string> = { name: "text", of: ({ request }) => request.query };
const OPERATION_NAME: Question<DocumentSource, string | undefined> = {
  name: "operation name",
  of: ({ request }) => request.operationName,
};

interface OperationSource extends WithVariables {
  readonly document: ReadDocument;
}

const DOCUMENT: Question<OperationSource, ReadDocument> = { name: "document", of: ({ document }) => document };
/** Read once when the planner is created; planning sees the values only through questions. */
const AT_HAND: Question<OperationSource, VariableValues> = {
  name: "variables",
  of: ({ variables }) => variables,
  key: () => undefined,
};

const readDocument = (ask: Ask<DocumentSource>): ReadDocument => {
  const schema = ask(SCHEMA);
  const text = ask(TEXT);
  const parsed = parseDocument(text, ask(OPERATION_NAME), schema.options.maxDocumentBytes);
  const { operation, fragments } = parsed;
  checkFragments(operation.selectionSet, fragments);
  const size = checkSize(schema.options, operation.selectionSet, fragments);
  rootOf({ schema }, parsed);
  return { schema, parsed, declared: declareVariables(operation, fragments), size, length: text.length };
};

const plan = (ask: Ask<OperationSource>): OperationTemplate => {
  const { schema, parsed, declared } = ask(DOCUMENT);
  const { document, fragments } = parsed;
  const variables = observeVariables(ask, ask(AT_HAND));
  const planner: Planner = {
    schema,
    document,
    fragments,
    declarations: declared.declarations,
    variables,
    budget: openBudget(schema.options),
    sources: [],
    opened: [],
    loads: new Map(),
  };
  const template = planOperation(planner, parsed, rootOf({ schema }, parsed));
  variables.close();
  return template;
};

const lengthOfTexts = (outputs: GqlOperation["outputs"]): number =>
  outputs.reduce(
    (length, output) =>
      length + ("text" in output ? output.text.length : "of" in output ? lengthOfTexts(output.of) : 0),
    0,
  );

const bytesOfOperation = ({ steps, outputs }: OperationTemplate): number =>
  2000 +
  steps.reduce(
    (bytes, { planned, sources }) =>
      bytes + planKey(planned.plan).length * BYTES_PER_PLANNED_CHARACTER + sources.length * 500,
    0,
  ) +
  lengthOfTexts(outputs) * 2;

/** @throws RelApiError: syntax, choice of the operation, fragments, root, declarations (G-DOC-1 … 3, 8, 13, G-VAR-2) */
export type Prepare = (schema: RoleSchema, request: GqlRequest) => PreparedDocument;

export const createPrepare = (caches: Caches): Prepare => {
  const documents = caches.create({
    name: "graphql documents",
    make: readDocument,
    bytesOf: ({ length }) => 2000 + length * BYTES_PER_CHARACTER,
  });
  const operations: Cache<OperationSource, OperationTemplate> = caches.create({
    name: "graphql operations",
    make: plan,
    bytesOf: bytesOfOperation,
  });

  const bind = (
    schema: RoleSchema,
    found: Found<ReadDocument>,
    given: Readonly<Record<string, Json>> | undefined,
  ): GqlOperation => {
    const variables = readVariables(found.made.declared, given);
    const { made, keep } = operations.get({ document: found.made, variables });
    return fill(made, variables, schema.options, () => {
      found.keep();
      keep();
    });
  };

  return (schema, request) => {
    const found = guarded(() => documents.get({ schema, request }), notAGraphqlQuery);
    return {
      operation: found.made.parsed.operation.operation,
      levels: found.made.size.levels,
      nodes: found.made.size.nodes,
      bind: (given) =>
        guarded(() => bind(schema, found, given), given === undefined ? notAGraphqlQuery : variablesTooDeep),
    };
  };
};
