/** Caches documents: each is parsed and validated once, and planned once per shape of its variables. @rule G-DOC-14
 *  G-OP-36 R-CAC-1 */
import {
  boundOf,
  membersOf,
  planKey,
  type Ask,
  type Cache,
  type Caches,
  type Found,
  type Limits,
  type Model,
  type Operation,
  type SentValue,
  type Session,
  type ValueOf,
} from "../../core/index.ts";
import { checkFragments } from "./document/fragments.ts";
import { observeVariables, type WithVariables } from "./document/observed.ts";
import { parseDocument, type ParsedDocument } from "./document/parse.ts";
import { checkSize, type Size } from "./document/size.ts";
import {
  boundValue,
  declareVariables,
  readVariables,
  type DeclaredVariables,
  type ValueSource,
  type VariableValues,
} from "./document/variables.ts";
import { notAGraphqlQuery, variablesTooDeep } from "./errors.ts";
import { fillCall } from "./plan/call.ts";
import { fillLoads } from "./plan/load.ts";
import { planOperation, rootOf, type OperationTemplate } from "./plan/operation.ts";
import { BOUND_SHARE, openBudget, tooMuchBound, type Planner } from "./plan/planner.ts";
import type { Caller, Schemas } from "./schema.ts";
import type { GqlVariant, RoleSchema } from "./parts.ts";
import { checkGqlDocumentHook } from "./api.ts";
import type { GqlOperation, GqlRequest, GqlSender, ValidatedDocument } from "./operations.ts";

/** The estimated memory of syntax trees and plans, as multiples of their text. */
const BYTES_PER_CHARACTER = 60;
const BYTES_PER_PLANNED_CHARACTER = 8;

/** The part of a document that depends only on the role schema and the text. */
interface ReadDocument {
  readonly schema: RoleSchema;
  readonly parsed: ParsedDocument;
  readonly asked: Operation;
  readonly declared: DeclaredVariables;
  readonly size: Size;
  readonly directives: readonly string[];
  readonly length: number;
}

interface DocumentSource extends Caller {
  readonly text: string;
  readonly operationName: string | undefined;
}

const ofDocument = membersOf<DocumentSource>();
const TEXT = ofDocument("text");
const OPERATION_NAME = ofDocument("operationName");

interface OperationSource extends WithVariables {
  readonly document: ReadDocument;
}

const DOCUMENT = membersOf<OperationSource>()("document");
/** The planner reads it once, when it is created. Planning reads values only through cache questions. */
const AT_HAND = membersOf<OperationSource>()("variables", () => undefined);

const readDocument = (ask: Ask<DocumentSource>, schemas: Schemas): ReadDocument => {
  const found = schemas.within(ask);
  found.keep();
  const schema = found.made;
  const text = ask(TEXT);
  const parsed = parseDocument(text, ask(OPERATION_NAME), schema.options.maxDocumentBytes);
  const { operation, fragments } = parsed;
  checkFragments(operation.selectionSet, fragments);
  const size = checkSize(schema.options, operation.selectionSet, fragments);
  rootOf({ schema }, parsed);
  const directives = (operation.directives ?? []).map(({ name }) => name.value);
  const asked = { kind: operation.operation, name: operation.name?.value };
  return {
    schema,
    parsed,
    asked,
    declared: declareVariables(operation, fragments),
    size,
    directives,
    length: text.length,
  };
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
      length +
      ("pieces" in output ? 0 : "text" in output ? output.text.length : "of" in output ? lengthOfTexts(output.of) : 0),
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

/** Returns the operation with the values of these variables. @throws RelApiError G-LIM-2 */
const fill = (
  template: OperationTemplate,
  variables: VariableValues,
  limits: Limits,
  keep: GqlOperation["keep"],
): GqlOperation => {
  const { kind, directives, access, plans, outputs, isIntrospecting } = template;
  let room = limits.maxVariablesBytes * BOUND_SHARE;
  const fillAll = (sources: readonly ValueSource[]): readonly SentValue[] => {
    const values: SentValue[] = [];
    for (const source of sources) {
      const value = boundValue(source, variables);
      room -= boundOf(value)?.length ?? 0;
      if (room < 0) throw tooMuchBound(limits);
      values.push(value);
    }
    return values;
  };
  const steps = template.steps.map(({ planned, sources, path }) => ({ planned, path, values: fillAll(sources) }));
  // values of steps that do not run, such as an empty update, are checked as well
  fillAll(template.unsent);
  return {
    kind,
    directives,
    access,
    steps,
    plans,
    outputs,
    isIntrospecting,
    calls: template.calls.map((call) => fillCall(call, variables)),
    loads: template.loads.map((loads) => fillLoads(loads, variables)),
    keep,
  };
};

/** @throws RelApiError for syntax, the choice of the operation, fragments, the root and declarations (G-DOC-1 … 3, 8,
 *  13, G-VAR-2) */
export type Prepare = (
  request: GqlRequest,
  session: Session,
  model: Model,
  sender: GqlSender | undefined,
) => ValidatedDocument;

/** `variant` is set for another surface. */
export const createPrepare = (
  caches: Caches,
  schemas: Schemas,
  check: ValueOf<typeof checkGqlDocumentHook>,
  variant?: GqlVariant,
): Prepare => {
  const kept = (name: string): string => (variant === undefined ? name : `${variant.name} ${name}`);
  const documents: Cache<DocumentSource, ReadDocument> = caches.create({
    name: kept("graphql documents"),
    make: (ask: Ask<DocumentSource>) => readDocument(ask, schemas),
    bytesOf: ({ length }) => 2000 + length * BYTES_PER_CHARACTER,
  });
  const operations: Cache<OperationSource, OperationTemplate> = caches.create({
    name: kept("graphql operations"),
    make: plan,
    bytesOf: bytesOfOperation,
  });

  return ({ query, operationName }, session, model, sender) => {
    let found: Found<ReadDocument>;
    try {
      found = documents.get({ text: query, operationName, session, model });
    } catch (error) {
      throw error instanceof RangeError ? notAGraphqlQuery() : error;
    }
    const { made: document } = found;
    const validated: ValidatedDocument = {
      operation: document.parsed.operation.operation,
      asked: document.asked,
      levels: document.size.levels,
      nodes: document.size.nodes,
      rootFields: document.size.own,
      aliases: document.size.aliases,
      directives: document.directives,
      bind: (given) => {
        try {
          const variables = readVariables(document.declared, given, variant?.takesUnknownVariables);
          const { made, keep } = operations.get({ document, variables });
          return fill(made, variables, document.schema.options, () => {
            found.keep();
            keep();
          });
        } catch (error) {
          // the nesting is too deep for a recursive function
          if (error instanceof RangeError) throw given === undefined ? notAGraphqlQuery() : variablesTooDeep();
          throw error;
        }
      },
    };
    if (check.isUsed()) check.call(query, session, validated, sender);
    return validated;
  };
};
