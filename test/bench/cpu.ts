/** CPU time of processes, as Linux tells it. */
import { readdirSync, readFileSync } from "node:fs";

/** Of the kernel's clock, which is the same everywhere. */
const TICKS_PER_SECOND = 100;

/** Those that the process has started, and it; what ended in between counts with its parent. */
export const cpuSeconds = (pid: number): number => {
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, "utf8");
      // the name of the program may hold anything
      const fields = text
        .slice(text.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      const [parent = 0] = fields.slice(1);
      const [own = 0, system = 0, ofEnded = 0, systemOfEnded = 0] = fields.slice(11);
      if (Number(name) === pid) ticks += own + system + ofEnded + systemOfEnded;
      else if (parent === pid) ticks += own + system;
    } catch {
      // it has ended
    }
  }
  return ticks / TICKS_PER_SECOND;
};

/** Of all threads of a process, in microseconds: the process has nothing to do for it. */
export const cpuMicroseconds = (pid: number): number => {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return nanoseconds / 1000;
};

export const parentOf = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
};
