/** `X-Relapi-Why: yes`: which row policy, permission or filter took rows away, in a header of the answer. */
import type { IncomingMessage } from "node:http";
import {
  definePlugin,
  faultFacts,
  type Credentials,
  type Execution,
  type Exchange,
  type OpenExchange,
  type PluginContext,
} from "../../../core/index.ts";
import { relationsOf, type Looking } from "./relations.ts";
import type { RelationReport } from "./rows.ts";
import { whySettings } from "./settings.ts";

/** For the command line, which explains more of the same. */
export { relationsOf } from "./relations.ts";
export type { Policy, RowSecurity } from "./policies.ts";
export type { RelationReport, Step } from "./rows.ts";

const HEADER = "x-relapi-why";

/** What proxies and clients take without ado. */
const MAX_LENGTH = 4000;

/** Why nothing is said of more. */
const CUT = "the rest is too long for a header: relapi explain tells it";

const inAscii = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** One relation, short. */
const told = ({ relation, command, isEmbedded, security, steps, note }: RelationReport) => ({
  relation,
  ...(command === "SELECT" ? {} : { command: command.toLowerCase() }),
  ...(isEmbedded ? { of: "all parents" } : {}),
  rows: steps.map(({ kind, condition, left }) => ({ [kind]: left, ...(condition === undefined ? {} : { condition }) })),
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

const headerOf = (role: string, reports: readonly RelationReport[]): string => {
  const relations: object[] = [];
  const text = (more: object = {}): string => inAscii(JSON.stringify({ role, relations, ...more }));
  for (const report of reports) {
    relations.push(told(report));
    if (text().length <= MAX_LENGTH) continue;
    relations.pop();
    return text({ note: CUT });
  }
  return text();
};

/** The admin secret of a request, and nothing else of it. */
const secretOf = (exchange: Pick<OpenExchange, "request" | "header" | "surface">): Credentials | undefined => {
  const names = ["x-session-admin-secret", "x-hasura-admin-secret"];
  const header = (name: string): string | undefined =>
    names.includes(name.toLowerCase()) ? exchange.header(name) : undefined;
  if (names.every((name) => header(name) === undefined)) return undefined;
  const { request, surface } = exchange;
  return { header, headers: () => [], cookie: () => undefined, request, surface, rules: undefined, isSocket: false };
};

const isAdministrator = async (context: PluginContext, exchange: Exchange): Promise<boolean> => {
  if (exchange.session.isAdmin) return true;
  const credentials = secretOf(exchange);
  return credentials !== undefined && (await context.authorize(credentials)).isAdmin;
};

/** All that there is to tell, what the role sees, or nothing. @rule P-WHY-1 P-WHY-3 */
const mayKnow = async (context: PluginContext, exchange: Exchange): Promise<"all" | "own" | undefined> => {
  const { explainEmpty } = context.options;
  if (explainEmpty === "off") return undefined;
  if (await isAdministrator(context, exchange)) return "all";
  return explainEmpty === "roles" && exchange.session.isAnonymous !== true ? "own" : undefined;
};

/** @rule P-WHY-1 … P-WHY-5 */
export const whyEmpty = definePlugin({
  name: "why-empty",
  settings: whySettings,
  apply: (_hooks, context) => {
    if (context.options.explainEmpty === "off") return;
    const answers = new WeakMap<IncomingMessage, RelationReport[]>();
    const knowing = new WeakMap<IncomingMessage, "all" | "own">();

    const look = async (
      execution: Execution,
      run: Looking["run"],
      surface: string,
      knows: "all" | "own",
    ): Promise<readonly RelationReport[]> => {
      try {
        return await relationsOf(
          {
            prepare: context.prepare,
            model: context.model(),
            run,
            surface,
            counts: true,
            tellsAll: knows === "all",
          },
          execution,
          undefined,
        );
      } catch (error) {
        context.logger.warn("what took rows away could not be counted", faultFacts(error)); // the answer itself is right
        return [];
      }
    };

    context.wrap({
      execute: (next) => async (execution) => {
        const { exchange } = execution;
        const knows = exchange && knowing.get(exchange.request);
        if (exchange === undefined || knows === undefined) return next(execution);
        const run: Looking["run"] = (one) => next({ ...one, end: "rollback", mayUseReplica: false });
        // what a write has changed does not fit its conditions any more
        const mayWrite = execution.access === "read write";
        const before = mayWrite ? await look(execution, run, exchange.surface, knows) : [];
        const rows = await next(execution);
        const reports = mayWrite ? before : await look(execution, run, exchange.surface, knows);
        answers.set(exchange.request, [...(answers.get(exchange.request) ?? []), ...reports]);
        return rows;
      },
    });
    context.addStep({
      name: "why-empty",
      authorized: async (exchange) => {
        if (exchange.header(HEADER) === undefined) return undefined;
        const knows = await mayKnow(context, exchange);
        if (knows !== undefined) knowing.set(exchange.request, knows);
        return undefined;
      },
      headers: ({ request, session }) => {
        const reports = answers.get(request);
        return reports === undefined ? [] : [["X-Relapi-Why", headerOf(session?.role ?? "", reports)]];
      },
    });
  },
});
