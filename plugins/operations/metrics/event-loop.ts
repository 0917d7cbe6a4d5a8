/** Metrics of the event loop: the delay of timers, and the time in which it is busy. */
import { performance } from "node:perf_hooks";
import type { Registry } from "prom-client";
import type { PromClient } from "./prom-client.ts";

const SAMPLE_MS = 20;
const MS_PER_SECOND = 1000;
const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The length of a window. The maximum covers one or two windows, so that scrapes at this interval see each delay. */
const WINDOW_MS = 60_000;

/** Measures the event loop from now on. Returns a function that stops the measurement. @rule X-MET-5 */
export const registerEventLoop = ({ Counter, Gauge, Histogram }: PromClient, registry: Registry): (() => void) => {
  const delays = new Histogram({
    name: "relapi_event_loop_delay_seconds",
    help: "Delay of a timer that runs every 20 ms: a blocked process has one delay, as long as it was blocked",
    buckets: BUCKETS,
    registers: [registry],
  });
  let largest = 0;
  let previousLargest = 0;
  let windowEndMs = performance.now() + WINDOW_MS;
  new Gauge({
    name: "relapi_event_loop_delay_max_seconds",
    help: "Largest delay of the timer in the last one or two minutes",
    registers: [registry],
    aggregator: "max",
    collect() {
      this.set(Math.max(largest, previousLargest));
    },
  });
  for (const kind of ["active", "idle"] as const)
    new Counter({
      name: `relapi_event_loop_${kind}_seconds_total`,
      help: kind === "active" ? "Seconds in which the event loop was busy" : "Seconds in which the event loop was idle",
      registers: [registry],
      collect() {
        this.reset();
        this.inc(performance.eventLoopUtilization()[kind] / MS_PER_SECOND);
      },
    });

  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    const late = Math.max(0, nowMs - lastMs - SAMPLE_MS) / MS_PER_SECOND;
    lastMs = nowMs;
    if (nowMs > windowEndMs) {
      previousLargest = largest;
      largest = 0;
      windowEndMs = nowMs + WINDOW_MS;
    }
    if (late > largest) largest = late;
    delays.observe(late);
  }, SAMPLE_MS);
  timer.unref();
  return () => clearInterval(timer);
};
