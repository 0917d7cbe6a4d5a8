/** Plans a whole operation: its root fields become steps, and their results form the response. @rule G-DOC-13 G-DOC-14
 *  G-SUB-2 G-INT-9 G-INT-10 */
import type { JoinTemplate, StepTemplate, StepLoads } from "./function-field.ts";
import type { GraphQLField, GraphQLObjectType } from "graphql";
import type { BundleField, Plan } from "../../../core/index.ts";
import { hasDirective, readOperationDirectives } from "../document/directives.ts";
import type { ParsedDocument } from "../document/parse.ts";
import type { ValueSource } from "../document/variables.ts";
import { requestUnsupported, validationFailed } from "../errors.ts";
import { collectLoads } from "./loaded-fields.ts";
import { isCall, planCall, type CallPart, type OperationParts } from "./operation-parts.ts";
import { planMetaField } from "./introspection-fields.ts";
import { planMutationFields } from "./mutation.ts";
import { openStep, type Planner, type SelectedField, type SelectionSets } from "./planner.ts";
import { planReadField } from "./query.ts";
import { visitSelections, checkSubselection } from "./selection.ts";
import { buildStep } from "./writes.ts";
import type { GqlOperation, GqlOutput } from "../operations.ts";

const findUnsentValues = ({ allSources, joins }: Planner, parts: OperationParts): readonly ValueSource[] => {
  const sentSources = new Set([...parts.steps, ...joins].map(({ sources }) => sources));
  return allSources.filter((sources) => !sentSources.has(sources)).flat();
};

const listPlans = ({ joins }: Planner, parts: OperationParts): readonly Plan[] =>
  [...parts.steps, ...joins].map(({ planned: plannedProgram }) => plannedProgram.plan);

/** An operation without the values of its variables. */
export interface OperationTemplate extends Omit<GqlOperation, "document" | "steps" | "calls" | "loads" | "cachePlan"> {
  readonly steps: readonly StepTemplate[];
  /** The values of steps that do not run, such as an empty update. */
  readonly unsent: readonly ValueSource[];
  readonly calls: OperationParts["calls"];
  readonly loads: readonly StepLoads[];
  /** The reads of rows that belong to results of functions. */
  readonly joins: readonly JoinTemplate[];
}

/** Returns the root type of the operation. @throws RelApiError G-DOC-13 */
export const getRootType = (planner: Pick<Planner, "schema">, { operation }: ParsedDocument): GraphQLObjectType => {
  const { schema } = planner;
  if (operation.operation === "query") return schema.query;
  const root = operation.operation === "mutation" ? schema.mutation : schema.subscription;
  if (root === undefined) throw validationFailed(`no ${operation.operation}s exist`, "$");
  return root;
};

/** Plans an operation of a validated document. */
export const planOperation = (
  planner: Planner,
  parsedDocument: ParsedDocument,
  root: GraphQLObjectType,
): OperationTemplate => {
  const { operation } = parsedDocument;
  const selections: SelectionSets = { selections: [operation.selectionSet], path: "$" };
  if (operation.operation === "mutation") {
    const parts: OperationParts = { steps: [], calls: [] };
    const outputs = planMutationFields(planner, root, selections, parts);
    return {
      kind: "mutation",
      directives: readOperationDirectives(planner, operation),
      access: "read write",
      ...parts,
      plans: listPlans(planner, parts),
      unsent: findUnsentValues(planner, parts),
      loads: collectLoads(planner, parts.steps),
      joins: planner.joins,
      outputs,
    };
  }
  const reads = planReads(planner, root, selections, operation.operation);
  const template = { ...reads, directives: readOperationDirectives(planner, operation) };
  if (
    operation.operation === "subscription" &&
    countFields(template) !== 1 &&
    !hasDirective(operation, "_multiple_top_level_fields")
  )
    throw validationFailed("subscriptions must select one top level field", "$");
  return template;
};

const countFields = ({ outputs, steps }: Pick<OperationTemplate, "outputs" | "steps">): number =>
  outputs.reduce((count, output) => {
    if (!("bundle" in output)) return count + 1;
    const plan = steps[output.bundle]?.planned.plan;
    return count + (plan?.kind === "bundle" ? plan.fields.length : 1);
  }, 0);

/** The maximum number of fields in one statement. PostgreSQL's limit is 1664 columns. */
const MAX_BUNDLE = 1600;

interface PendingReads {
  readonly planner: Planner;
  readonly kind: "query" | "subscription";
  isVolatile: boolean;
  fields: BundleField[];
  step: Planner;
  readonly parts: OperationParts;
  readonly outputs: GqlOutput[];
}

/** Puts all fields that read into one statement, up to `MAX_BUNDLE` fields in a query. An introspection field between
 *  them splits it, because the response has the order of selection. */
const planReads = (
  planner: Planner,
  root: GraphQLObjectType,
  selections: SelectionSets,
  kind: "query" | "subscription",
): Omit<OperationTemplate, "directives"> => {
  const reads: PendingReads = {
    planner,
    kind,
    isVolatile: false,
    fields: [],
    step: openStep(planner),
    parts: { steps: [], calls: [] },
    outputs: [],
  };
  const meta = kind === "query" ? planner.schema.metaFields : undefined;
  const find = (name: string): GraphQLField<unknown, unknown> | undefined => meta?.get(name);
  visitSelections(
    planner,
    root,
    selections,
    (selection) => {
      if (selection.kind === "typename") reads.fields.push({ as: selection.as, value: selection.value });
      else if (meta?.get(selection.name) === selection.field) addMetaField(reads, selection);
      else if (selection.part?.kind === "constant") addText(reads, selection.as, selection.part.text, selection);
      else if (isCall(selection)) addCall(reads, selection, selection.part);
      else if (selection.part?.kind === "namespace" && containsCall(planner, selection)) addNamespace(reads, selection);
      else reads.fields.push(planField(reads, selection));
      if (kind === "query" && reads.fields.length === MAX_BUNDLE) closeBundle(reads);
    },
    find,
  );
  closeBundle(reads);
  return {
    kind,
    access: reads.isVolatile ? "read write" : "read only",
    ...reads.parts,
    plans: listPlans(planner, reads.parts),
    unsent: findUnsentValues(planner, reads.parts),
    loads: collectLoads(planner, reads.parts.steps),
    joins: planner.joins,
    outputs: reads.outputs,
    isIntrospecting: reads.outputs.some((output) => "pieces" in output),
  };
};

const planField = (reads: PendingReads, selectedField: SelectedField): BundleField => {
  const { part, as } = selectedField;
  if (part?.kind === "namespace") {
    const fields: BundleField[] = [];
    const type = checkSubselection(selectedField) as GraphQLObjectType; // a namespace is an object
    visitSelections(reads.planner, type, selectedField, (selection) => {
      fields.push(
        selection.kind === "typename" ? { as: selection.as, value: selection.value } : planField(reads, selection),
      );
    });
    return { as, bundle: { kind: "bundle", fields } };
  }
  if (part?.kind === "function" && part.routine.volatility === "volatile") reads.isVolatile = true;
  const field = planReadField(reads.step, selectedField);
  if (field === undefined) throw new TypeError(`a query field stands for ${part?.kind ?? "nothing"}`);
  return field;
};

/** Adds a call, which splits the statement, as an introspection field does. */
const addCall = (reads: PendingReads, selectedField: SelectedField, part: CallPart): void => {
  closeBundle(reads);
  reads.outputs.push(planCall(reads.planner, selectedField, part, reads.parts));
};

/** Returns whether a function resolves a field of the namespace. The planner must know it before it plans any field of
 *  the namespace. */
const containsCall = (planner: Planner, selectedField: SelectedField): boolean => {
  const { fields } = planner.budget;
  let hasCall = false;
  const type = checkSubselection(selectedField) as GraphQLObjectType; // a namespace is an object
  visitSelections(planner, type, selectedField, (selection) => {
    if (selection.kind === "field" && isCall(selection)) hasCall = true;
  });
  planner.budget.fields = fields;
  return hasCall;
};

/** Adds a namespace that needs several outputs. */
const addNamespace = (reads: PendingReads, selectedField: SelectedField): void => {
  closeBundle(reads);
  const outer = reads.outputs.splice(0);
  const type = checkSubselection(selectedField) as GraphQLObjectType; // a namespace is an object
  visitSelections(reads.planner, type, selectedField, (selection) => {
    if (selection.kind === "typename") reads.fields.push({ as: selection.as, value: selection.value });
    else if (isCall(selection)) addCall(reads, selection, selection.part);
    else reads.fields.push(planField(reads, selection));
  });
  closeBundle(reads);
  const outputs = reads.outputs.splice(0);
  reads.outputs.push(...outer, { as: selectedField.as, outputs });
};

const addText = (reads: PendingReads, as: string, text: string, selectedField: SelectedField): void => {
  checkSubselection(selectedField);
  closeBundle(reads);
  reads.outputs.push({ as, text });
};

const addMetaField = (reads: PendingReads, selectedField: SelectedField): void => {
  const { schema } = reads.planner;
  // The metadata can close introspection for a role. @rule G-INT-9
  if (schema.isIntrospectionClosed)
    throw requestUnsupported(`introspection is disabled for role: "${schema.role}"`, "$");
  closeBundle(reads);
  reads.outputs.push(planMetaField(reads.planner, selectedField));
};

/** Closes the bundle. Known results need no statement. The result of a single field is spliced into the response here,
 *  because PostgreSQL would copy it twice to add the braces. */
const closeBundle = (reads: PendingReads): void => {
  const { fields, step } = reads;
  const [firstField, ...otherFields] = fields;
  if (firstField === undefined) return;
  if (otherFields.length === 0 && "read" in firstField) {
    const { as, read, isOne } = firstField;
    reads.outputs.push({ as, step: reads.parts.steps.push(buildStep(step, read, "$", isOne)) - 1 });
  } else if (fields.every((field) => "value" in field)) {
    for (const field of fields)
      if ("value" in field) reads.outputs.push({ as: field.as, text: JSON.stringify(field.value) });
  } else {
    reads.outputs.push({
      bundle:
        reads.parts.steps.push({
          planned: { plan: { kind: "bundle", fields }, envelope: {} },
          sources: step.sources,
          path: "$",
        }) - 1,
    });
  }
  reads.fields = [];
  reads.step = openStep(reads.planner);
};
