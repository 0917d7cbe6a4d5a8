/** Runs the jobs of event triggers and schedules in one queue per process. */
import { definePlugin } from "../../../core/index.ts";
import { createJobQueue, jobQueueService } from "./job-queue.ts";
import { queueSettings } from "./settings.ts";

/** Provides the queue of jobs for events and schedules. @rule X-EVT-9 X-EVT-11 */
export const jobQueue = definePlugin({
  name: "job-queue",
  settings: queueSettings,
  apply: (_hooks, context) => {
    const queue = createJobQueue(context);
    context.offer(jobQueueService, queue);
    context.onClose(queue.close);
  },
});
