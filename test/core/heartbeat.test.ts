/** The heartbeat of WebSocket connections, on a clock that the test advances. */
import { afterEach, expect, test, vi } from "vitest";
import { createHeartbeat } from "../../plugins/live/transports/heartbeat.ts";

afterEach(() => void vi.useRealTimers());

test("G-WS-22 heartbeats to thousands of connections are less frequent, but at least every twenty seconds", () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  for (const [count, periodMs] of [
    [10, 1000],
    [2000, 1000],
    [3000, 1500],
    [100_000, 20_000],
  ] as const) {
    const heartbeat = createHeartbeat(1000);
    let beats = 0;
    for (let i = 0; i < count; i++) heartbeat.join({ beat: () => void beats++ });
    expect(beats).toBe(count);
    vi.advanceTimersByTime(periodMs - periodMs / 50);
    expect(beats).toBe(count);
    vi.advanceTimersByTime(periodMs / 50);
    expect(beats).toBe(2 * count);
    heartbeat.close();
  }
});
