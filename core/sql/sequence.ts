/** Compiles sequences: one statement per step, and the result. */
import type { QualifiedName } from "../model/model.ts";
import type { Sequence, SequenceStep, StepRequirement, Update } from "../plan/plan.ts";
import { createCompiler } from "./compiler.ts";
import type { EnvelopeColumn } from "./envelope.ts";
import { empty, quoteIdentifier, inlineInteger, sql } from "./fragment.ts";
import { compileMissingKey } from "./keys.ts";
import type { ProgramCheck, ProgramStatement, Program } from "./program.ts";
import { quoteQualifiedName, type Compiler } from "./scope.ts";
import { compileReadJson, checkStatement, buildProgram, compileSelectList, buildStatement } from "./statement.ts";
import { compileWrittenCount, compileStepRowCount, compileStepSetting } from "./step-rows.ts";
import { compileWrite } from "./write.ts";

/** Returns the steps whose rows do not count. Such a step only finds rows, or another step writes its rows again.
 *  @rule X-SEQ-4 */
const findUncountedSteps = (steps: readonly SequenceStep[]): ReadonlySet<number> =>
  new Set(
    steps.flatMap(({ write, rewrittenStep }, i) => [
      ...(rewrittenStep === undefined ? [] : [rewrittenStep]),
      ...(write.kind === "read" || (write.kind === "update" && write.locks === true && changesNothing(write))
        ? [i]
        : []),
    ]),
  );

const changesNothing = ({ assignments, payload }: Update): boolean =>
  (assignments ?? []).length === 0 && (payload?.columns ?? []).length === 0;

/** Returns the requirements on each step that a count or key must satisfy. @rule X-SEQ-3 */
const collectCountRequirements = ({ steps }: Sequence): ReadonlyMap<number, readonly StepRequirement[]> => {
  const requirements = new Map<number, StepRequirement[]>();
  for (const requirement of steps.flatMap(({ requires = [] }) => requires)) {
    if (requirement.atMost === undefined && requirement.sameCountAs === undefined && requirement.keys === undefined)
      continue;
    const list = requirements.get(requirement.step);
    if (list === undefined) requirements.set(requirement.step, [requirement]);
    else if (list.every((listedRequirement) => nameCheckColumn(listedRequirement) !== nameCheckColumn(requirement)))
      list.push(requirement);
  }
  return requirements;
};

/** Compiles one statement per step, which stores its rows in a transaction setting for later steps, and then the
 *  result. The statements of all steps are sent in one batch. @rule G-NST-2 G-INS-5 */
export const compileSequence = (compiler: Compiler, sequence: Sequence): Program => {
  const statements: ProgramStatement[] = [];
  const checks: ProgramCheck[] = [];
  const relations: QualifiedName[] = [];
  const countRequirements = collectCountRequirements(sequence);
  /** The index of each step's statement. A statement that checks a step follows the statement of that step. */
  const statementIndexes: number[] = [];
  const buildStepCheck = (requirement: StepRequirement): ProgramCheck => ({
    statement: statementIndexes[requirement.step] ?? requirement.step,
    column: nameCheckColumn(requirement),
    kind: "step",
    message: requirement.message,
    path: requirement.path,
    paths: requirement.keys?.paths,
  });
  sequence.steps.forEach((step, i) => {
    const statementIndex = (statementIndexes[i] = statements.length);
    // Each statement has a compiler of its own, because aliases are unique only within a statement.
    const stepCompiler = createCompiler({ ...compiler, stepRelations: relations });
    const write = compileWrite(stepCompiler, step.write, {
      isStep: true,
      wantsBefore: assignsKey(step.write, countRequirements.get(i)),
      requires: (step.requires ?? [])
        .map((requirement) => requirement.step)
        .filter((requiredStep) => requiredStep !== i),
    });
    const row = quoteIdentifier(stepCompiler.alias("_s"));
    const rows = sql`(select coalesce(array_agg((${row}.*)::${quoteQualifiedName(write.relation)})::text, '{}') from ${write.name} as ${row})`;
    const columns: EnvelopeColumn[] = [
      { name: `kept_${i}`, sql: sql`pg_catalog.set_config(${compileStepSetting(i)}, ${rows}, true) is not null` },
      { name: `count_${i}`, sql: sql`(select count(*) from ${write.name} as _c)` },
    ];
    for (const requirement of countRequirements.get(i) ?? []) {
      const count = sql`(select count(*) from ${write.name} as _c)`;
      columns.push({
        name: nameCheckColumn(requirement),
        sql:
          requirement.keys !== undefined
            ? compileMissingKey(stepCompiler, requirement.keys, write)
            : requirement.sameCountAs === undefined
              ? sql`${count} <= ${inlineInteger(requirement.atMost ?? 0)}`
              : sql`${count} = ${compileStepRowCount(stepCompiler, requirement.sameCountAs)}`,
      });
    }
    const column = `check_${i}`;
    const { check, checkAfter } = write;
    if (check !== undefined) columns.push({ name: column, sql: check });
    if (checkAfter !== undefined) columns.push({ name: `checked_${i}`, sql: checkAfter.storesRows });
    if (check !== undefined || checkAfter !== undefined)
      checks.push({
        statement: checkAfter === undefined ? statementIndex : statementIndex + 1,
        column,
        kind: "permission",
        message: "",
        path: step.path ?? "$",
      });
    checks.push(...(step.requires ?? []).map(buildStepCheck));
    statements.push({
      ...buildStatement(sql`with ${write.cte} select ${compileSelectList(columns)}`, columns),
      path: step.path,
    });
    if (checkAfter !== undefined) statements.push({ ...checkStatement(column, checkAfter.check), path: step.path });
    relations.push({ schema: write.relation.schema, name: write.relation.name });
    for (const relation of stepCompiler.dependencies.relations) compiler.dependencies.relations.add(relation);
    if (stepCompiler.dependencies.isOpenEnded) compiler.dependencies.isOpenEnded = true;
    if (stepCompiler.dependencies.plansEachTime === true) compiler.dependencies.plansEachTime = true;
  });
  const { rejection } = sequence;
  if (rejection !== undefined)
    checks.push(...rejection.requires.map(buildStepCheck), {
      statement: statements.length,
      column: "refused",
      kind: "rejection",
      message: rejection.message,
      path: rejection.path,
    });
  const body =
    rejection === undefined
      ? compileReadJson(
          compiler,
          sequence.result,
          sequence.isOne === true,
          {},
          compileWrittenCount(relations, findUncountedSteps(sequence.steps)),
        )
      : sql`null`;
  statements.push(buildStatement(sql`select ${body}::text as "body"`, [{ name: "body", sql: empty }]));
  // The statements are listed in the order in which they run.
  return buildProgram(
    compiler,
    statements,
    statements.length - 1,
    checks.sort((a, b) => a.statement - b.statement),
  );
};

const assignsKey = (write: SequenceStep["write"], requirements: readonly StepRequirement[] = []): boolean =>
  write.kind === "update" &&
  requirements.some(({ keys }) => (write.assignments ?? []).some(({ column }) => keys?.columns.includes(column)));

const nameCheckColumn = ({ step, atMost, sameCountAs, keys }: StepRequirement): string => {
  if (keys !== undefined) return `missing_key_${step}`;
  if (sameCountAs !== undefined) return `as_many_${sameCountAs}_${step}`;
  return atMost === undefined ? `count_${step}` : `at_most_${atMost}_${step}`;
};
