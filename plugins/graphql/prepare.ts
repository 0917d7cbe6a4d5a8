/** A document as it is kept: parsed and chosen once, planned once per shape of its variables. @rule G-DOC-14 G-OP-36 */
import { createCache, type Json, type PreparedDocument, type PrepareDocument, type RoleSchema } from "../../core/index.ts";
import { checkFragments } from "./document/fragments.ts";
import { parseDocument } from "./document/parse.ts";
import { createShapes } from "./document/shapes.ts";
import { checkSize } from "./document/size.ts";
import { declareVariables, readVariables, type VariableValues } from "./document/variables.ts";
import { notAGraphqlQuery, variablesTooDeep } from "./errors.ts";
import { fill, planOperation, rootOf, type OperationTemplate } from "./plan/operation.ts";
import { openBudget, type Planner } from "./plan/planner.ts";

/** Plans kept per document, one per shape of the variables that decide it. */
const MAX_SHAPES = 64;

/** What nests too deeply for a walk over it is refused by `refuse`. */
const guarded = <Result>(walk: () => Result, refuse: () => Error): Result => {
  try {
    return walk();
  } catch (error) {
    if (error instanceof RangeError) throw refuse();
    throw error;
  }
};

/** @throws RelApiError: syntax, choice of the operation, fragments, root, declarations (G-DOC-1 … 3, 8, 13, G-VAR-2) */
export const prepareDocument: PrepareDocument = (schema, text, operationName) => guarded(() => prepare(schema, text, operationName), notAGraphqlQuery);

const prepare = (schema: RoleSchema, text: string, operationName: string | undefined): PreparedDocument => {
  const { options } = schema;
  const parsed = parseDocument(text, operationName, options.maxDocumentBytes);
  const { operation, fragments, document } = parsed;
  checkFragments(operation.selectionSet, fragments);
  checkSize(options, operation.selectionSet, fragments);
  const root = rootOf({ schema }, parsed);
  const declared = declareVariables(operation, fragments);
  const shapes = createShapes();
  const templates = createCache<OperationTemplate>(MAX_SHAPES);

  const plan = (variables: VariableValues): OperationTemplate => {
    const planner: Planner = { schema, document, fragments, declarations: declared.declarations, variables, shapes, budget: openBudget(options), sources: [] };
    const template = planOperation(planner, parsed, root);
    // what decides the plan is known better now than before
    const signature = shapes.signature(variables);
    if (signature !== undefined) templates.set(signature, template);
    return template;
  };

  return {
    operation: operation.operation,
    bind: (given: Readonly<Record<string, Json>> | undefined) =>
      guarded(() => {
        const variables = readVariables(declared, given);
        const signature = shapes.signature(variables);
        const template = (signature === undefined ? undefined : templates.get(signature)) ?? plan(variables);
        return fill(template, variables);
      }, given === undefined ? notAGraphqlQuery : variablesTooDeep),
  };
};
