/** All variants of `observability.ts` in one process, so that they have the same compiler, heap and caches: `node
 *  observed-server.js <database url>`. It tells their ports, and when it is asked the microseconds of CPU that it has
 *  used. */
import { trace } from "@opentelemetry/api";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { serve } from "../../presets/serve.ts";
import { VARIANTS } from "./observed-variants.ts";

const [, , databaseUrl] = process.argv;
if (databaseUrl === undefined) throw new Error("usage: observed-server.js <database url>");

const ports: number[] = [];
for (const { options, hasMetrics, hasSdk } of VARIANTS) {
  // spans are made, and go nowhere
  if (hasSdk === true) trace.setGlobalTracerProvider(new BasicTracerProvider());
  const { api, address } = await serve({
    options: { databaseUrl, anonRole: "bench_anon", dbPool: 2, ...options },
    server: {
      host: "127.0.0.1",
      port: 0,
      unixSocketMode: 0o660,
      workers: 1,
      ...(hasMetrics === true ? { adminPort: 0 } : {}),
    },
  });
  await api.ready;
  ports.push(Number(new URL(address).port));
}
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system });
});
process.on("disconnect", () => process.exit());
process.send?.({ ports });
