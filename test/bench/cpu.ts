/** The CPU time of processes, from Linux's /proc. */
import { readdirSync, readFileSync } from "node:fs";

/** The ticks of the kernel's clock, the same on all platforms. */
const TICKS_PER_SECOND = 100;

/** The CPU time of a process and its descendants. The time of ended processes counts as their parent's. */
export const cpuSeconds = (pid: number): number => {
  let ticks = 0;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const text = readFileSync(`/proc/${name}/stat`, "utf8");
      // The program name may contain any characters.
      const fields = text
        .slice(text.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      const [parent = 0] = fields.slice(1);
      const [user = 0, system = 0, userOfChildren = 0, systemOfChildren = 0] = fields.slice(11);
      if (Number(name) === pid) ticks += user + system + userOfChildren + systemOfChildren;
      else if (parent === pid) ticks += user + system;
    } catch {
      // The process has ended.
    }
  }
  return ticks / TICKS_PER_SECOND;
};

/** The CPU time of all threads of a process in microseconds, read without involving the process. */
export const cpuMicroseconds = (pid: number): number => {
  let nanoseconds = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ")[0]);
  return nanoseconds / 1000;
};

export const readParentPid = (pid: number): number => {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
};
