/** Exports metrics of requests, transactions and live queries, by operation and role. */
import type { Registry } from "prom-client";
import { requestEndedSignal, transactionEndedSignal, type PluginContext } from "../../../core/index.ts";
import { liveRunEndedSignal } from "../../live/api.ts";
import { webhookCallEndedSignal } from "../../services/api.ts";
import { createBoundedLabel, createRoleLabel } from "./labels.ts";
import { registerLivePlans } from "./live-plans.ts";
import type { PromClient } from "./prom-client.ts";

const MS_PER_SECOND = 1000;
const REQUEST_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const LABELS = ["surface", "operation", "role", "status"] as const;

/** Registers the metrics of requests, transactions, webhooks and live queries. @rule X-MET-2 X-MET-3 X-MET-4 X-MET-9 */
export const registerTraffic = (prom: PromClient, registry: Registry, context: PluginContext): void => {
  const { Counter, Histogram } = prom;
  const registers = [registry];
  const labelRole = createRoleLabel(context);
  const labelErrorCode = createBoundedLabel();

  const requests = new Counter({
    name: "relapi_requests_total",
    help: "Answered requests, and operations of WebSockets",
    labelNames: LABELS,
    registers,
  });
  const durations = new Histogram({
    name: "relapi_request_duration_seconds",
    help: "Time from a request to its response, or from a subscription to its first result",
    labelNames: LABELS,
    buckets: REQUEST_BUCKETS,
    registers,
  });
  const errors = new Counter({
    name: "relapi_request_errors_total",
    help: "Requests and operations whose response is an error, including GraphQL errors with status 200",
    labelNames: ["surface", "operation", "code"],
    registers,
  });
  const acquisition = new Histogram({
    name: "relapi_db_acquisition_seconds",
    help: "Time for which transactions waited for a connection",
    buckets: [0.0001, ...REQUEST_BUCKETS],
    registers,
  });
  const transactions = new Histogram({
    name: "relapi_db_transaction_seconds",
    help: "Time for which transactions held a connection",
    labelNames: ["outcome"],
    buckets: REQUEST_BUCKETS,
    registers,
  });
  for (const outcome of ["ok", "error"]) transactions.zero({ outcome });

  context.use(requestEndedSignal).listen(({ surface, operation, session, status, durationMs, errorCode }) => {
    const kind = operation?.kind ?? "other";
    const labels = { surface, operation: kind, role: labelRole(session, surface), status: String(status) };
    requests.inc(labels);
    durations.observe(labels, durationMs / MS_PER_SECOND);
    if (errorCode !== undefined) errors.inc({ surface, operation: kind, code: labelErrorCode(errorCode) });
  });
  context.use(transactionEndedSignal).listen(({ askedAtMs, beganAtMs, endedAtMs, error }) => {
    acquisition.observe(((beganAtMs ?? endedAtMs) - askedAtMs) / MS_PER_SECOND);
    if (beganAtMs === undefined) return;
    transactions.observe({ outcome: error === undefined ? "ok" : "error" }, (endedAtMs - beganAtMs) / MS_PER_SECOND);
  });
  registerWebhooks(prom, registry, context);
  registerLive(prom, registry, context);
  registerLivePlans(prom, registry, context, labelRole);
};

/** Registers the metrics of webhook calls. @rule X-MET-9 */
const registerWebhooks = ({ Histogram }: PromClient, registry: Registry, context: PluginContext): void => {
  const durations = new Histogram({
    name: "relapi_webhook_duration_seconds",
    help: "Time from a request to a webhook to its complete response",
    labelNames: ["purpose", "outcome"],
    buckets: REQUEST_BUCKETS,
    registers: [registry],
  });
  context
    .use(webhookCallEndedSignal)
    .listen(({ purpose, outcome, durationMs }) => durations.observe({ purpose, outcome }, durationMs / MS_PER_SECOND));
};

const registerLive = ({ Counter, Histogram }: PromClient, registry: Registry, context: PluginContext): void => {
  const registers = [registry];
  const runs = new Counter({
    name: "relapi_live_runs_total",
    help: "Statements that ran for one or several live queries",
    registers,
  });
  const rows = new Counter({
    name: "relapi_live_rows_total",
    help: "Results of live queries in these statements",
    registers,
  });
  const reruns = new Counter({
    name: "relapi_live_reruns_total",
    help: "Live queries that ran because of a change",
    registers,
  });
  const deliveries = new Counter({
    name: "relapi_live_deliveries_total",
    help: "Results that were sent to subscribers",
    registers,
  });
  const lag = new Histogram({
    name: "relapi_live_lag_seconds",
    help: "Time from the report of a change until the last subscriber was sent the new result",
    buckets: REQUEST_BUCKETS,
    registers,
  });
  context.use(liveRunEndedSignal).listen(({ changedAtMs, endedAtMs, queries, deliveries: deliveryCount }) => {
    runs.inc();
    rows.inc(queries);
    deliveries.inc(deliveryCount);
    if (changedAtMs === undefined) return;
    reruns.inc(queries);
    if (deliveryCount > 0) lag.observe((endedAtMs - changedAtMs) / MS_PER_SECOND);
  });
};
