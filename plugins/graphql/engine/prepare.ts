/** Caches documents: each is parsed and validated once, and planned once per shape of its variables. @rule G-DOC-14
 *  G-OP-36 R-CAC-1 */
import {
  getBoundValue,
  defineCacheQuestion,
  observeSession,
  planKey,
  type Ask,
  type Cache,
  type CacheEntry,
  type RequestLimits,
  type Model,
  type PluginContext,
  type CacheQuestion,
  type SentValue,
  type Session,
  type ValueOf,
} from "../../../core/index.ts";
import { checkFragments } from "../document/fragments.ts";
import { observeVariables, type WithVariables } from "../document/tracked-variables.ts";
import { parseDocument, type ParsedDocument } from "../document/parse.ts";
import { checkSize } from "../document/size.ts";
import {
  computeValue,
  declareVariables,
  readVariables,
  type DeclaredVariables,
  type ValueSource,
  type VariableValues,
} from "../document/variables.ts";
import { boundValuesTooLarge, documentInvalid, variablesTooDeep } from "../errors.ts";
import { fillCall } from "../plan/call.ts";
import { fillForward } from "../plan/forward.ts";
import { fillJoin, planJoin, prepareJoin, type PreparedJoin } from "../plan/join.ts";
import { fillLoads } from "../plan/loaded-fields.ts";
import { planOperation, getRootType, type OperationTemplate } from "../plan/operation.ts";
import type { FindRead, JoinTemplate, StepTemplate } from "../plan/function-field.ts";
import { createBudget, getMaxBoundLength, type Planner } from "../plan/planner.ts";
import { planRow } from "../plan/row-selection.ts";
import type { SchemaCaller, Schemas } from "../types/schema.ts";
import type { GqlVariant } from "../field-types.ts";
import type { RoleSchema } from "../types/role-schema.ts";
import { checkGqlDocumentHook } from "../api.ts";
import type { GqlJoinedRead, GqlOperation, GqlRequest, GqlSender, GqlStep, ValidatedDocument } from "../operations.ts";

/** The estimated memory of syntax trees and plans, as multiples of their text. */
const BYTES_PER_CHARACTER = 60;
const BYTES_PER_PLANNED_CHARACTER = 12;
const BYTES_PER_OPERATION = 4000;

/** The part of a document that depends only on the role schema and the text. */
interface CheckedDocument {
  readonly schema: RoleSchema;
  readonly parsedDocument: ParsedDocument;
  readonly declaredVariables: DeclaredVariables;
  readonly summary: Omit<ValidatedDocument, "bind">;
  readonly length: number;
}

interface DocumentSource extends SchemaCaller {
  readonly text: string;
  readonly operationName: string | undefined;
}

const TEXT = defineCacheQuestion("text", ({ text }: DocumentSource) => text);
const OPERATION_NAME = defineCacheQuestion("operation name", ({ operationName }: DocumentSource) => operationName);

const NO_VARIABLES: VariableValues = new Map();

/** The source of one request. It is a class, because an object literal with a getter is slow to create. */
class OperationSource implements DocumentSource, WithVariables {
  readonly text: string;
  readonly operationName: string | undefined;
  readonly session: Session;
  readonly model: Model;
  private readonly sentVariables: GqlRequest["variables"];
  private readonly takesUnknown: boolean | undefined;
  private values: VariableValues | undefined;

  constructor({ query, operationName, variables }: GqlRequest, session: Session, model: Model, takesUnknown?: boolean) {
    this.text = query;
    this.operationName = operationName;
    this.session = session;
    this.model = model;
    this.sentVariables = variables;
    this.takesUnknown = takesUnknown;
  }

  get variables(): VariableValues {
    return this.values ?? NO_VARIABLES;
  }

  /** Reads the declared variables, which are `variables` from then on. @throws RelApiError G-VAR-1, 3, 4, 5, 10 */
  read(declaredVariables: DeclaredVariables): VariableValues {
    return (this.values ??= readVariables(declaredVariables, this.sentVariables, this.takesUnknown));
  }
}

/** A document without its syntax tree, and its plan with the programs of the steps. */
interface PreparedOperation {
  readonly document: Omit<CheckedDocument, "parsedDocument" | "length">;
  readonly template: Omit<OperationTemplate, "steps" | "joins"> & {
    readonly steps: readonly (StepTemplate & Pick<GqlStep, "program">)[];
    readonly joins: ReadonlyMap<JoinTemplate, PreparedJoin>;
  };
}

/** Creates the cache question of the variables, which the planner reads once at its creation. Planning reads values
 *  only through cache questions. */
const createVariablesQuestion = (
  declaredVariables: DeclaredVariables,
): CacheQuestion<OperationSource, VariableValues> =>
  defineCacheQuestion(
    "variables",
    (source) => source.read(declaredVariables),
    () => undefined,
  );

const readDocument = (ask: Ask<DocumentSource>, schemas: Schemas): CheckedDocument => {
  const schemaEntry = schemas.derive(ask);
  schemaEntry.commit();
  const schema = schemaEntry.value;
  const text = ask(TEXT);
  const parsedDocument = parseDocument(text, ask(OPERATION_NAME), schema.options.maxDocumentBytes);
  const { operation, fragments } = parsedDocument;
  checkFragments(operation.selectionSet, fragments);
  const size = checkSize(schema.options, operation.selectionSet, fragments);
  getRootType({ schema }, parsedDocument);
  return {
    schema,
    parsedDocument,
    declaredVariables: declareVariables(operation, fragments),
    summary: {
      operation: operation.operation,
      namedOperation: { kind: operation.operation, name: operation.name?.value },
      levels: size.levels,
      nodes: size.nodes,
      rootFields: size.directFields,
      aliases: size.aliases,
      directives: (operation.directives ?? []).map(({ name }) => name.value),
    },
    length: text.length,
  };
};

const prepareOperation = (
  { prepare }: PluginContext,
  document: CheckedDocument,
  ask: Ask<OperationSource>,
): PreparedOperation => {
  const { schema, parsedDocument, declaredVariables, summary } = document;
  const variables = observeVariables(ask, ask(createVariablesQuestion(declaredVariables)));
  const planner: Planner = {
    schema,
    document: parsedDocument.document,
    operation: parsedDocument.operation.operation,
    fragments: parsedDocument.fragments,
    declarations: declaredVariables.declarations,
    variables,
    budget: createBudget(schema.options),
    sources: [],
    allSources: [],
    loads: new Map(),
    joins: [],
    planJoin,
    planRow,
  };
  const template = planOperation(planner, parsedDocument, getRootType({ schema }, parsedDocument));
  variables.close();
  const session = observeSession(ask);
  const steps = template.steps.map((step) => ({ ...step, program: prepare(step.planned, session, "graphql") }));
  const joins = new Map(template.joins.map((join) => [join, prepareJoin(prepare, join, session)]));
  return { document: { schema, declaredVariables, summary }, template: { ...template, steps, joins } };
};

const estimateOperationBytes = ({ template: { plans } }: PreparedOperation): number =>
  plans.reduce((bytes, plan) => bytes + planKey(plan).length * BYTES_PER_PLANNED_CHARACTER, BYTES_PER_OPERATION);

/** Returns the operation with the values of these variables. @throws RelApiError G-LIM-2 */
const fillOperation = (
  template: PreparedOperation["template"],
  variables: VariableValues,
  limits: RequestLimits,
  { document, cachePlan }: Pick<GqlOperation, "document" | "cachePlan">,
): GqlOperation => {
  const { kind, directives, access, plans, outputs, isIntrospecting } = template;
  let remainingBytes = getMaxBoundLength(limits);
  const fillAll = (sources: readonly ValueSource[]): readonly SentValue[] => {
    const values: SentValue[] = [];
    for (const source of sources) {
      const value = computeValue(source, variables);
      remainingBytes -= getBoundValue(value)?.length ?? 0;
      if (remainingBytes < 0) throw boundValuesTooLarge(getMaxBoundLength(limits));
      values.push(value);
    }
    return values;
  };
  const steps = template.steps.map(({ planned: plannedProgram, program, sources, path }) => ({
    planned: plannedProgram,
    program,
    path,
    values: fillAll(sources),
  }));
  // Values of steps that do not run, such as an empty update, are checked as well.
  fillAll(template.unsent);
  const reads = new Map<JoinTemplate, GqlJoinedRead>();
  const findRead: FindRead = (join) => {
    const read = reads.get(join);
    if (read === undefined) throw new TypeError("a read is filled after the reads of its rows");
    return read;
  };
  for (const [join, preparedJoin] of template.joins)
    reads.set(join, fillJoin(preparedJoin, variables, fillAll, findRead));
  return {
    kind,
    document,
    directives,
    access,
    steps,
    plans,
    outputs,
    isIntrospecting,
    calls: template.calls.map((call) => ({
      ...("document" in call ? fillForward(call, variables, findRead) : fillCall(call, variables, findRead)),
      afterSteps: call.afterSteps,
    })),
    loads: template.loads.map((loads) => fillLoads(loads, variables, findRead)),
    cachePlan,
  };
};

/** Returns the validated document. @throws RelApiError for syntax, the choice of the operation, fragments, the root and
 *  declarations (G-DOC-1 … 3, 8, 13, G-VAR-2) */
type Prepare = (
  request: GqlRequest,
  session: Session,
  model: Model,
  sender: GqlSender | undefined,
) => ValidatedDocument;

/** Calls a recursive function. If the nesting is too deep for the stack, it throws `error`. */
const rejectDeepNesting = <Result>(run: () => Result, error: () => Error): Result => {
  try {
    return run();
  } catch (thrownValue) {
    throw thrownValue instanceof RangeError ? error() : thrownValue;
  }
};

/** Creates the function that prepares requests. A cached request is one look-up. Other documents are checked before
 *  they are planned. `variant` is set for another surface. */
export const createPrepare = (
  context: PluginContext,
  schemas: Schemas,
  check: ValueOf<typeof checkGqlDocumentHook>,
  variant?: GqlVariant,
): Prepare => {
  const { caches } = context;
  const buildCacheName = (name: string): string => (variant === undefined ? name : `${variant.name} ${name}`);
  const documents: Cache<DocumentSource, CheckedDocument> = caches.create({
    name: buildCacheName("graphql documents"),
    make: (ask: Ask<DocumentSource>) => readDocument(ask, schemas),
    estimateBytes: ({ length }) => 2000 + length * BYTES_PER_CHARACTER,
  });
  const operations: Cache<OperationSource, PreparedOperation> = caches.create({
    name: buildCacheName("graphql operations"),
    make: (ask: Ask<OperationSource>) => prepareOperation(context, documents.derive(ask).value, ask),
    estimateBytes: estimateOperationBytes,
  });

  /** Looks up the operation. A value that the request cannot have is reported after the document has been checked. */
  const peekOperation = (source: OperationSource): CacheEntry<PreparedOperation> | undefined => {
    try {
      return operations.peek(source);
    } catch {
      return undefined;
    }
  };

  return (request, session, model, sender) => {
    const source = new OperationSource(request, session, model, variant?.takesUnknownVariables);
    const operationEntry = peekOperation(source);
    const { value: document, commit: keepDocument } =
      operationEntry === undefined
        ? rejectDeepNesting(() => documents.get(source), documentInvalid)
        : { value: operationEntry.value.document, commit: operationEntry.commit };
    const { operation, namedOperation, levels, nodes, rootFields, aliases, directives } = document.summary;
    const validatedDocument: ValidatedDocument = {
      operation,
      namedOperation,
      levels,
      nodes,
      rootFields,
      aliases,
      directives,
      bind: () =>
        rejectDeepNesting(
          () => {
            const { value, commit } = operationEntry ?? operations.get(source);
            return fillOperation(value.template, source.read(document.declaredVariables), document.schema.options, {
              document: request.query,
              cachePlan: commit,
            });
          },
          () => (request.variables === undefined ? documentInvalid() : variablesTooDeep()),
        ),
    };
    if (check.isUsed()) check.call(request.query, session, validatedDocument, sender);
    keepDocument();
    return validatedDocument;
  };
};
