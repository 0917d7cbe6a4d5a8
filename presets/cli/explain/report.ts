/** Formats the output of `relapi explain` for people. */
import type { ExplainedStatement } from "./plans.ts";
import type { Policy, RelationReport, RowSecurity, Step } from "../../../plugins/plus/why/index.ts";

export interface Explained {
  readonly role: string;
  readonly statements: readonly ExplainedStatement[];
  readonly relations: readonly RelationReport[];
  /** The error of the request. */
  readonly error?: string;
}

const statementText = ({ sql, values, plan }: ExplainedStatement): string =>
  [
    `${sql};`,
    ...values.map((given, i) => `-- $${i + 1} = ${given === null ? "null" : JSON.stringify(given)}`),
    "",
    plan,
    "",
  ].join("\n");

const WORDS: Readonly<Record<Step["kind"], string>> = {
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

const indent = "  ";

const stepLine = (step: Step, before: Step | undefined): string => {
  const taken = before === undefined ? 0 : before.left - step.left;
  const said = [WORDS[step.kind], ...(step.condition === undefined ? [] : [step.condition])].join(" ");
  return `${indent}${String(step.left).padStart(8)}  ${said}${taken > 0 ? `  (takes away ${taken})` : ""}`;
};

const oneLine = (expression: string): string => expression.replaceAll(/\s+/g, " ");

const policyLine = (
  { name, isPermissive, command, using, check, passes }: Policy,
  total: number | undefined,
): string => {
  const counted = passes === undefined || total === undefined ? "" : `, lets ${passes} of ${total} rows through`;
  const conditions = [
    ...(using === null ? [] : [`using ${oneLine(using)}`]),
    ...(check === null ? [] : [`with check ${oneLine(check)}`]),
  ].join(" ");
  return `${indent}policy "${name}" (${isPermissive ? "permissive" : "restrictive"}, for ${command.toLowerCase()}${counted}): ${conditions}`;
};

const securityLines = ({ bypass, policies, forOthers, note, total }: RowSecurity): readonly string[] => [
  ...(bypass === undefined ? [] : [`${indent}no row policies: ${bypass}`]),
  ...(bypass === undefined ? policies.map((policy) => policyLine(policy, total)) : []),
  ...(bypass === undefined && policies.length === 0 ? [`${indent}no policy is for this role and command: no row`] : []),
  ...(forOthers.length === 0 || bypass !== undefined
    ? []
    : [`${indent}policies for other roles: ${forOthers.join(", ")}`]),
  ...(note === undefined ? [] : [`${indent}policies ${note}`]),
];

const relationText = (report: RelationReport, role: string): string => {
  const { relation, command, isEmbedded, security, check, steps, note } = report;
  return [
    `rows of ${relation}, ${command.toLowerCase()} as ${role}${isEmbedded ? ", of all parents" : ""}`,
    ...(security === undefined ? [] : securityLines(security)),
    ...(check === undefined ? [] : [`${indent}the permission checks what is written: ${check}`]),
    ...steps.map((step, i) => stepLine(step, steps[i - 1])),
    ...(note === undefined ? [] : [`${indent}${note}`]),
    "",
  ].join("\n");
};

export const reportText = ({ role, statements, relations, error }: Explained): string =>
  [
    ...(statements.length === 0 && error === undefined ? ["no statement was needed\n"] : statements.map(statementText)),
    ...relations.map((relation) => relationText(relation, role)),
  ].join("\n");
