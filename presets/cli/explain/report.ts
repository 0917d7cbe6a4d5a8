/** Formats the output of `relapi explain` for people. */
import type { ExplainedStatement } from "./plans.ts";
import type { Policy, RelationReport, RowSecurity, RemainingRows } from "../../../plugins/plus/why/index.ts";
import { formatCount } from "../../../plugins/shared/plural.ts";

export interface ExplainedRequest {
  readonly role: string;
  readonly statements: readonly ExplainedStatement[];
  readonly relations: readonly RelationReport[];
  /** The error of the request. */
  readonly error?: string;
}

const formatStatement = ({ sql, values, plan }: ExplainedStatement): string =>
  [
    `${sql};`,
    ...values.map((value, i) => `-- $${i + 1} = ${value === null ? "null" : JSON.stringify(value)}`),
    "",
    plan,
    "",
  ].join("\n");

const STEP_WORDS: Readonly<Record<RemainingRows["kind"], string>> = {
  table: "in the table",
  seen: "that the role sees",
  function: "of the function",
  policies: "after the row policies for select",
  permission: "after the permission",
  filter: "after the filter",
  embed: "after inner embeds",
  written: "written",
  offset: "after the offset",
  limit: "within the limit",
  returned: "returned",
};

const INDENT = "  ";

const formatStep = (step: RemainingRows, before: RemainingRows | undefined): string => {
  const removedCount = before === undefined ? 0 : before.left - step.left;
  const description = [STEP_WORDS[step.kind], ...(step.condition === undefined ? [] : [step.condition])].join(" ");
  return `${INDENT}${String(step.left).padStart(8)}  ${description}${removedCount > 0 ? `  (removes ${removedCount})` : ""}`;
};

const joinLines = (expression: string): string => expression.replaceAll(/\s+/g, " ");

const formatPolicy = (
  { name, isPermissive, command, using, check, passes }: Policy,
  total: number | undefined,
): string => {
  const countText =
    passes === undefined || total === undefined ? "" : `, lets ${passes} of ${formatCount(total, "row")} through`;
  const conditions = [
    ...(using === null ? [] : [`using ${joinLines(using)}`]),
    ...(check === null ? [] : [`with check ${joinLines(check)}`]),
  ].join(" ");
  return `${INDENT}policy "${name}" (${isPermissive ? "permissive" : "restrictive"}, for ${command.toLowerCase()}${countText}): ${conditions}`;
};

const formatSecurity = ({ bypass, policies, forOthers, note, total }: RowSecurity): readonly string[] => [
  ...(bypass === undefined ? [] : [`${INDENT}no row policies: ${bypass}`]),
  ...(bypass === undefined ? policies.map((policy) => formatPolicy(policy, total)) : []),
  ...(bypass === undefined && policies.length === 0 ? [`${INDENT}no policy is for this role and command: no row`] : []),
  ...(forOthers.length === 0 || bypass !== undefined
    ? []
    : [`${INDENT}policies for other roles: ${forOthers.join(", ")}`]),
  ...(note === undefined ? [] : [`${INDENT}policies ${note}`]),
];

const formatRelation = (report: RelationReport, role: string): string => {
  const { relation, command, isEmbedded, security, check, steps, note } = report;
  return [
    `rows of ${relation}, ${command.toLowerCase()} as ${role}${isEmbedded ? ", of all parents" : ""}`,
    ...(security === undefined ? [] : formatSecurity(security)),
    ...(check === undefined ? [] : [`${INDENT}the permission checks what is written: ${check}`]),
    ...steps.map((step, i) => formatStep(step, steps[i - 1])),
    ...(note === undefined ? [] : [`${INDENT}${note}`]),
    "",
  ].join("\n");
};

export const formatReport = ({ role, statements, relations, error }: ExplainedRequest): string =>
  [
    ...(statements.length === 0 && error === undefined
      ? ["no statement was needed\n"]
      : statements.map(formatStatement)),
    ...relations.map((relation) => formatRelation(relation, role)),
  ].join("\n");
