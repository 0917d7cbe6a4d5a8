/** Finds the conditions of a request that remove rows, and counts the rows. */
import {
  RelApiError,
  buildNameKey,
  findRelation,
  visitPlan,
  type BoundValue,
  type Embed,
  type Execution,
  type Model,
  type Output,
  type Plan,
  type Predicate,
  type QualifiedName,
  type Read,
  type Relation,
  type Session,
  type ValueRef,
} from "../../../core/index.ts";
import { GQL_METADATA } from "../../graphql/api.ts";
import { formatCondition, listConjuncts, formatValue } from "./conditions.ts";
import type { Command, RowSecurity } from "./policies.ts";

/** The number of rows that remain after a condition. */
export interface RemainingRows {
  readonly kind:
    | "table"
    | "seen"
    | "function"
    | "policies"
    | "permission"
    | "filter"
    | "embed"
    | "written"
    | "offset"
    | "limit"
    | "returned";
  readonly condition?: string;
  /** The number of rows, as in the JSON of `relapi explain`. */
  readonly left: number;
}

export interface RelationReport {
  /** The name of the relation, or of the function that returns the rows. */
  readonly relation: string;
  readonly command: Command;
  /** True if the rows belong to an embed. The rows are then counted for the whole table, not for one parent. */
  readonly isEmbedded: boolean;
  /** The row security of the relation. Undefined for functions. */
  readonly security?: RowSecurity;
  /** The permission's check of written rows. */
  readonly check?: string;
  readonly steps: readonly RemainingRows[];
  readonly note?: string;
}

/** A position in a plan at which rows are read or written. */
interface ReportedRead {
  readonly command: Command;
  readonly name: QualifiedName;
  /** The relation. Undefined for the rows of a function. */
  readonly relation: Relation | undefined;
  readonly read: Read;
  readonly isEmbedded: boolean;
}

/** The context of counting. */
export interface ReportContext {
  readonly model: Model;
  readonly execution: Execution;
  readonly values: readonly BoundValue[];
  readonly counts: boolean;
  /** Counts the rows of a read, with or without the permissions of the metadata, depending on the session. */
  readonly countRows: (read: Read, session: Session) => Promise<number>;
  /** Returns the row security. Undefined if row policies must not be reported. */
  readonly security: (table: QualifiedName, command: Command) => Promise<RowSecurity | undefined>;
  /** True if the report includes hidden facts: rows that policies and permissions hide from the role, and their
   *  conditions. */
  readonly includesHidden: boolean;
}

const listEmbeds = (outputs: readonly Output[]): readonly Embed[] =>
  outputs.flatMap((output) => (output.kind === "embed" ? [output] : []));

/** Returns every position at which the plan reads or writes a relation, the outermost first. */
const listReportedReads = (plan: Plan, model: Model): readonly ReportedRead[] => {
  const reads: ReportedRead[] = [];
  const embeddedReads = new Set<Read>();
  const addRead = (command: Command, name: QualifiedName, read: Read): void => {
    const relation = findRelation(model, name);
    if (relation !== undefined) reads.push({ command, name, relation, read, isEmbedded: false });
  };
  const buildRead = (relation: QualifiedName, where: Predicate | undefined): Read => ({
    kind: "read",
    from: { relation },
    shape: "rows",
    output: [],
    ...(where === undefined ? {} : { where }),
  });
  visitPlan(plan, model, {
    embed: ({ read }) => void embeddedReads.add(read),
    read: (read) => {
      if ("relation" in read.from) addRead("SELECT", read.from.relation, read);
      if ("call" in read.from)
        reads.push({
          command: "SELECT",
          name: read.from.call.routine,
          relation: undefined,
          read,
          isEmbedded: false,
        });
    },
    insert: ({ into }) => addRead("INSERT", into, buildRead(into, undefined)),
    update: ({ relation, where }) => addRead("UPDATE", relation, buildRead(relation, where)),
    delete: ({ from, where }) => addRead("DELETE", from, buildRead(from, where)),
  });
  // Inner reads are visited before outer ones, and the read of an embed before the embed.
  return reads.map((reportedRead) => ({ ...reportedRead, isEmbedded: embeddedReads.has(reportedRead.read) })).reverse();
};

/** Returns a session for which no metadata permissions are added, while SQL sees the same caller. */
const createAdminSession = (session: Session): Session => ({
  ...session,
  role: "admin",
  isAdmin: true,
  claimsText: session.claimsText ?? JSON.stringify({ ...session.claims, role: session.role }),
});

const OPERATIONS = { SELECT: "select", INSERT: "insert", UPDATE: "update", DELETE: "delete" } as const;

interface Rights {
  readonly filter?: Predicate;
  readonly check?: Predicate;
}

/** The members that this file needs of the model part of the plugin `metadata`, by role and table. */
interface MetadataPart {
  readonly permissions: ReadonlyMap<
    string,
    ReadonlyMap<string, Readonly<Partial<Record<(typeof OPERATIONS)[Command], Rights>>>>
  >;
}

const findRights = (
  { model, execution: { session }, includesHidden }: ReportContext,
  { relation, command }: ReportedRead,
): Rights => {
  if (!includesHidden) return {};
  if (relation === undefined || session.databaseRole !== undefined || session.isAdmin) return {};
  const part = model.pluginFacts[GQL_METADATA] as MetadataPart | undefined; // only that plugin writes this part
  return part?.permissions.get(session.role)?.get(buildNameKey(relation))?.[OPERATIONS[command]] ?? {};
};

const countSteps = async (
  context: ReportContext,
  reportedRead: ReportedRead,
  security: RowSecurity | undefined,
  rights: Rights,
) => {
  const { execution, values, countRows } = context;
  const { read, command } = reportedRead;
  const knownValues = { values, session: execution.session };
  const reader = context.includesHidden ? createAdminSession(execution.session) : execution.session;
  const embeds = listEmbeds(read.output);
  const base: Read = {
    kind: "read",
    from: read.from,
    shape: "rows",
    output: [{ kind: "constant", as: "_", value: "" }, ...embeds.map((embed) => ({ ...embed, join: "left" }) as const)],
  };
  const steps: RemainingRows[] = [];
  const conditions: Predicate[] = [];
  const addStep = async (
    kind: RemainingRows["kind"],
    changes: Partial<Read> = {},
    condition?: string,
  ): Promise<void> => {
    const where: Predicate | undefined =
      conditions.length === 0 ? undefined : { kind: "and", predicates: [...conditions] };
    const remainingRows = await countRows({ ...base, ...(where === undefined ? {} : { where }), ...changes }, reader);
    steps.push({ kind, ...(condition === undefined ? {} : { condition }), left: remainingRows });
  };
  if (security?.total !== undefined) steps.push({ kind: "table", left: security.total });
  // The count of a write shows the rows that the write could not change.
  await addStep(chooseFirstKind(context, reportedRead, security));
  if (rights.filter !== undefined) {
    conditions.push({ kind: "and", predicates: [rights.filter], isRoot: true });
    await addStep("permission", {}, formatCondition(rights.filter, knownValues));
  }
  for (const condition of listConjuncts(read.where)) {
    conditions.push(condition);
    await addStep("filter", {}, formatCondition(condition, knownValues));
  }
  const inner = embeds.filter(({ join }) => join === "inner");
  if (inner.length > 0)
    await addStep(
      "embed",
      { output: [{ kind: "constant", as: "_", value: "" }, ...embeds] },
      inner.map(({ as }) => as).join(", "),
    );
  if (command === "SELECT" && !reportedRead.isEmbedded && read.shape === "rows") {
    const output: readonly Output[] = [{ kind: "constant", as: "_", value: "" }, ...embeds];
    const { limit, offset, ...unlimitedRead } = read;
    const formatUnquotedValue = (ref: ValueRef): string => formatValue(ref, knownValues).replaceAll('"', "");
    if (offset !== undefined) {
      const remainingRows = await countRows({ ...unlimitedRead, output, offset }, execution.session);
      steps.push({ kind: "offset", condition: formatUnquotedValue(offset), left: remainingRows });
    }
    const remainingRows = await countRows({ ...read, output }, execution.session);
    if (limit !== undefined) steps.push({ kind: "limit", condition: formatUnquotedValue(limit), left: remainingRows });
    steps.push({ kind: "returned", left: remainingRows });
  }
  return steps;
};

const chooseFirstKind = (
  { includesHidden }: ReportContext,
  { relation }: ReportedRead,
  security: RowSecurity | undefined,
): RemainingRows["kind"] => {
  if (relation === undefined) return "function";
  if (!includesHidden) return "seen";
  return security?.bypass === undefined ? "policies" : "table";
};

/** Explains an error. A condition of an embed may refer to the outer row and cannot be compiled without it. */
const formatNote = (error: unknown): string => {
  if (error instanceof RelApiError) return `not counted: ${error.message}`;
  if (error instanceof Error && error.message.startsWith("bad plan: "))
    return "not counted: a condition needs the row around it";
  throw error;
};

/**
 * Reports the relations of a plan. `written` is the number of rows that the write has written, if it ran. @rule C-EXP-3
 */
export const reportRelations = async (
  plan: Plan,
  context: ReportContext,
  writtenCount: number | undefined,
): Promise<readonly RelationReport[]> => {
  const reports: RelationReport[] = [];
  const reportedReads = listReportedReads(plan, context.model);
  for (const reportedRead of reportedReads) {
    const { name, relation, command, isEmbedded } = reportedRead;
    const security = relation === undefined ? undefined : await context.security(relation, command);
    const rights = findRights(context, reportedRead);
    const { check } = rights;
    const knownValues = { values: context.values, session: context.execution.session };
    let steps: readonly RemainingRows[] = [];
    let note: string | undefined;
    if (context.counts && command !== "INSERT") {
      try {
        steps = await countSteps(context, reportedRead, security, rights);
      } catch (error) {
        note = formatNote(error);
      }
    }
    if (command !== "SELECT" && writtenCount !== undefined) steps = [...steps, { kind: "written", left: writtenCount }];
    reports.push({
      relation: `${name.schema}.${name.name}`,
      command,
      isEmbedded,
      ...(security === undefined ? {} : { security }),
      ...(check === undefined ? {} : { check: formatCondition(check, knownValues) }),
      steps,
      ...(note === undefined ? {} : { note }),
    });
  }
  return reports;
};
