/** Shifts the clock of a process by `CLOCK_SHIFT_HOURS`: `node --import ./shifted-clock.js program.js`. The timers of
 *  Node do not use this clock. */
const RealDate = Date;
const shiftMs = Number(process.env["CLOCK_SHIFT_HOURS"]) * 3_600_000;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: readonly unknown[], newTarget: typeof Function) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + shiftMs] : args, newTarget) as Date,
  apply: () => new Date().toString(),
  get: (target, key, receiver: unknown) =>
    key === "now" ? () => target.now() + shiftMs : (Reflect.get(target, key, receiver) as unknown),
});
