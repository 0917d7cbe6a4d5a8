/** Logs transactions that exceed a duration, with their plans if configured: `SLOW_QUERY_MS=500`. */
import { createHash } from "node:crypto";
import {
  definePlugin,
  buildErrorFields,
  hashPlan,
  transactionEndedSignal,
  type EndedTransaction,
} from "../../../core/index.ts";
import { explain, isExplaining } from "./explain.ts";
import { slowQuerySettings } from "../settings.ts";

const MINUTE_MS = 60_000;
const MAX_EXPLAINED = 1000;
const MAX_TEXT_LENGTH = 10_000;

const buildPlanKey = ({ execution: { exchange, programs } }: EndedTransaction): string => {
  const plans = exchange?.plans;
  if (typeof plans === "object" && plans !== null) return hashPlan(plans);
  const texts = programs.flatMap(({ program }) => program.statements.map(({ text }) => text));
  return createHash("sha256").update(texts.join("\n")).digest("base64url").slice(0, 22);
};

/** Logs transactions that take longer than a duration. @rule X-SLW-1 X-SLW-2 */
export const slowQueries = definePlugin({
  name: "slow-queries",
  settings: slowQuerySettings,
  apply: (_hooks, context) => {
    const { logger } = context;
    /** The time at which the plan of each statement was last logged. */
    const explainTimes = new Map<string, number>();

    const mayExplain = (text: string): boolean => {
      const nowMs = performance.now();
      if (nowMs - (explainTimes.get(text) ?? -MINUTE_MS) < MINUTE_MS) return false;
      if (explainTimes.size >= MAX_EXPLAINED) explainTimes.clear();
      explainTimes.set(text, nowMs);
      return true;
    };

    const logPlan = async ({ execution }: EndedTransaction, planKey: string): Promise<void> => {
      for (const { program } of execution.programs) {
        const main = program.statements[program.main];
        if (main === undefined || !mayExplain(main.text)) continue;
        const { role } = execution.session;
        try {
          const plan = await explain(context, execution, main, program.relations);
          if (plan !== undefined) logger.warn("plan of a slow query", { planKey, role, plan });
        } catch (error) {
          logger.warn("a slow query could not be explained", { planKey, role, ...buildErrorFields(error) });
        }
      }
    };

    const logIfSlow = (transaction: EndedTransaction): void => {
      const { slowQueryMs, slowQueryPlans } = context.options;
      const { execution, askedAtMs, beganAtMs, endedAtMs } = transaction;
      if (slowQueryMs === undefined || beganAtMs === undefined || endedAtMs - beganAtMs < slowQueryMs) return;
      if (isExplaining(execution)) return;
      const { exchange, session, programs } = execution;
      const planKey = buildPlanKey(transaction);
      logger.warn("slow query", {
        durationMs: Math.round(endedAtMs - beganAtMs),
        waitMs: Math.round(beganAtMs - askedAtMs),
        role: session.role,
        surface: exchange?.surface,
        operation: exchange?.operation?.kind,
        operationName: exchange?.operation?.name,
        requestId: exchange?.requestId,
        planKey,
        hasFailed: transaction.rows === undefined,
        statement: programs
          .flatMap(({ program }) => program.statements.map(({ text }) => text))
          .join(";\n")
          .slice(0, MAX_TEXT_LENGTH),
      });
      // A failed statement is not explained, because it may fail again, or the database may be too busy.
      if (slowQueryPlans && transaction.rows !== undefined) void logPlan(transaction, planKey);
    };

    // The listener has a cost, so it is registered once the setting has a value, which may come from the database.
    let isListening = false;
    context.onModel(() => {
      if (isListening || context.options.slowQueryMs === undefined) return;
      isListening = true;
      context.use(transactionEndedSignal).listen(logIfSlow);
    });
  },
});
