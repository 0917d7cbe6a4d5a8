/** `X-Relapi-Why: yes`: a response header reports which row policy, permission or filter removed rows. */
import type { IncomingMessage } from "node:http";
import {
  definePlugin,
  buildErrorFields,
  type Credentials,
  type Execution,
  type Exchange,
  type OpenExchange,
  type PluginContext,
} from "../../../core/index.ts";
import { reportExecution, type ReportParts } from "./relations.ts";
import type { RelationReport } from "./rows.ts";
import { whySettings } from "./settings.ts";

/** Exported for the command line, whose explanations include the same report. */
export { reportExecution } from "./relations.ts";
export type { Policy, RowSecurity } from "./policies.ts";
export type { RelationReport, RemainingRows } from "./rows.ts";

const HEADER = "x-relapi-why";

/** The header length that proxies and clients generally accept. */
const MAX_LENGTH = 4000;

/** The note that replaces reports beyond that length. */
const TRUNCATION_NOTE = "the rest is too long for a header: relapi explain shows it";

const escapeNonAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Returns the report of one relation in short form. */
const buildShortReport = ({ relation, command, isEmbedded, security, steps, note }: RelationReport) => ({
  relation,
  ...(command === "SELECT" ? {} : { command: command.toLowerCase() }),
  ...(isEmbedded ? { of: "all parents" } : {}),
  rows: steps.map(({ kind, condition, left: rowCount }) => ({
    [kind]: rowCount,
    ...(condition === undefined ? {} : { condition }),
  })),
  ...(security?.bypass === undefined && security !== undefined
    ? {
        policies: security.policies.map(({ name, isPermissive, passes }) => ({
          name,
          ...(isPermissive ? {} : { isRestrictive: true }),
          ...(passes === undefined ? {} : { passes }),
        })),
        ...(security.forOthers.length === 0 ? {} : { forOthers: security.forOthers }),
      }
    : {}),
  ...(note === undefined && security?.note === undefined ? {} : { note: note ?? `policies ${security?.note ?? ""}` }),
});

const encodeHeader = (role: string, reports: readonly RelationReport[]): string => {
  const relations: object[] = [];
  const encodeReports = (addedMembers: object = {}): string =>
    escapeNonAscii(JSON.stringify({ role, relations, ...addedMembers }));
  for (const report of reports) {
    relations.push(buildShortReport(report));
    if (encodeReports().length <= MAX_LENGTH) continue;
    relations.pop();
    return encodeReports({ note: TRUNCATION_NOTE });
  }
  return encodeReports();
};

/** Reads the admin secret, and no other credential, of a request. */
const readAdminSecret = (exchange: Pick<OpenExchange, "request" | "header" | "surface">): Credentials | undefined => {
  const names = ["x-session-admin-secret", "x-hasura-admin-secret"];
  const header = (name: string): string | undefined =>
    names.includes(name.toLowerCase()) ? exchange.header(name) : undefined;
  if (names.every((name) => header(name) === undefined)) return undefined;
  const { request, surface } = exchange;
  return { header, headers: () => [], cookie: () => undefined, request, surface, rules: undefined, isSocket: false };
};

const isAdministrator = async (context: PluginContext, exchange: Exchange): Promise<boolean> => {
  if (exchange.session.isAdmin) return true;
  const credentials = readAdminSecret(exchange);
  return credentials !== undefined && (await context.authorize(credentials)).isAdmin;
};

/** The scope of reports: everything, or only the facts that the role of the caller may see. */
type ReportScope = "all" | "own";

/** A request for reports. */
interface ReportedRequest {
  readonly scope: ReportScope;
  /** The reports of the request's finished transactions. Undefined if no transaction has finished. */
  reports?: readonly RelationReport[];
}

/** Returns the scope of reports, or undefined if the caller may see no report. @rule P-WHY-1 P-WHY-3 */
const findReportScope = async (context: PluginContext, exchange: Exchange): Promise<ReportScope | undefined> => {
  const { explainEmpty } = context.options;
  if (explainEmpty === "off") return undefined;
  if (await isAdministrator(context, exchange)) return "all";
  return explainEmpty === "roles" && exchange.session.isAnonymous !== true ? "own" : undefined;
};

/** Reports in a response header which row policy, permission or filter removed rows. @rule P-WHY-1 … P-WHY-5
 *  @experimental */
export const whyEmpty = definePlugin({
  name: "why-empty",
  settings: whySettings,
  apply: (_hooks, context) => {
    if (context.options.explainEmpty === "off") return;
    const requests = new WeakMap<IncomingMessage, ReportedRequest>();

    const buildReport = async (
      execution: Execution,
      run: ReportParts["run"],
      surface: string,
      scope: ReportScope,
    ): Promise<readonly RelationReport[]> => {
      try {
        return await reportExecution(
          {
            prepare: context.prepare,
            model: context.model(),
            run,
            surface,
            counts: true,
            includesHidden: scope === "all",
          },
          execution,
          undefined,
        );
      } catch (error) {
        // The response itself is correct.
        context.logger.warn("could not count the rows that each condition removed", buildErrorFields(error));
        return [];
      }
    };

    context.wrap({
      execute: (next) => async (execution) => {
        const { exchange } = execution;
        const reportedRequest = exchange && requests.get(exchange.request);
        if (exchange === undefined || reportedRequest === undefined) return next(execution);
        const run: ReportParts["run"] = (innerExecution) =>
          next({ ...innerExecution, end: "rollback", mayUseReplica: false });
        // Changed rows may no longer match the conditions of the write.
        const mayWrite = execution.access === "read write";
        const reportBefore = mayWrite ? await buildReport(execution, run, exchange.surface, reportedRequest.scope) : [];
        const rows = await next(execution);
        const reports = mayWrite
          ? reportBefore
          : await buildReport(execution, run, exchange.surface, reportedRequest.scope);
        reportedRequest.reports = [...(reportedRequest.reports ?? []), ...reports];
        return rows;
      },
    });
    context.addStep({
      name: "why-empty",
      afterAuthorize: async (exchange) => {
        if (exchange.header(HEADER) === undefined) return undefined;
        const scope = await findReportScope(context, exchange);
        if (scope !== undefined) requests.set(exchange.request, { scope });
        return undefined;
      },
      headers: ({ request, session }) => {
        const reports = requests.get(request)?.reports;
        return reports === undefined ? [] : [["X-Relapi-Why", encodeHeader(session?.role ?? "", reports)]];
      },
    });
  },
});
