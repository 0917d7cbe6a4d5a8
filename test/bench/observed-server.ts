/** All variants of `observability.ts` in one process, so that they have the same compiler, heap and caches: `node
 *  observed-server.js <database url> [numbers of variants] [folder of another checkout]`. It tells the ports, that of the
 *  other checkout's server last. */
import { AsyncLocalStorage } from "node:async_hooks";
import { resolve } from "node:path";
import { context, propagation, ROOT_CONTEXT, trace, TraceFlags, type Context } from "@opentelemetry/api";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { serve } from "../../presets/serve.ts";
import { VARIANTS, type Variant } from "./observed-variants.ts";

const [, , databaseUrl, numbers = "", baseline] = process.argv;
if (databaseUrl === undefined)
  throw new Error("usage: observed-server.js <database url> [numbers of variants] [folder of another checkout]");

// as many spans at once as usual; what becomes of them then is a matter of the exporter
const exporter = {
  export: (_: unknown, done: (result: { readonly code: number }) => void): void => done({ code: 0 }),
  shutdown: async (): Promise<void> => undefined,
};
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }));

// what an SDK sets up beside that; nothing else makes spans
const contexts = new AsyncLocalStorage<Context>();
context.setGlobalContextManager({
  active: () => contexts.getStore() ?? ROOT_CONTEXT,
  with: (of, run, self, ...values) => contexts.run(of, () => run.apply(self, values)),
  bind: (_, target) => target,
  enable() {
    return this;
  },
  disable() {
    return this;
  },
});
propagation.setGlobalPropagator({
  inject: () => undefined,
  extract: (of, { traceparent = "" }: { readonly traceparent?: string }) => {
    const [, traceId = "", spanId = ""] = traceparent.split("-");
    return trace.setSpanContext(of, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  },
  fields: () => ["traceparent", "tracestate", "baggage"],
});

const start = async (serveVariant: typeof serve, { options, hasMetrics }: Variant): Promise<number> => {
  const { api, address } = await serveVariant({
    options: { databaseUrl, anonRole: "bench_anon", dbPool: 4, ...options },
    server: {
      host: "127.0.0.1",
      port: 0,
      unixSocketMode: 0o660,
      workers: 1,
      ...(hasMetrics === true ? { adminPort: 0 } : {}),
    },
  });
  await api.ready;
  return Number(new URL(address).port);
};

const ports: number[] = [];
for (const number of numbers.split(",")) ports.push(await start(serve, VARIANTS[Number(number)] as Variant)); // named by the benchmark
if (baseline !== undefined) {
  const other = (await import(resolve(baseline, "dist/presets/serve.js"))) as { readonly serve: typeof serve };
  ports.push(await start(other.serve, VARIANTS[0] as Variant)); // there is one
}
process.on("disconnect", () => process.exit());
process.send?.({ ports });
