/** Metrics of all workers, asked for by one of them: they reach each other through the primary process. */
import cluster from "node:cluster";
import { AggregatorRegistry, type MetricObject, type Registry } from "prom-client";

/** The primary passes on what has `relay`: to the worker of that number, else to all others, and tells the sender how
 *  many that were (`reached`). */
interface Ask {
  readonly relay: "all";
  readonly topic: typeof TOPIC;
  readonly ask: number;
  readonly from: number;
}

interface Reply {
  readonly relay: number;
  readonly topic: typeof TOPIC;
  readonly answer: number;
  readonly metrics: readonly MetricObject[];
}

interface Reached {
  readonly reached: number;
  readonly topic: typeof TOPIC;
  readonly ask: number;
}

type Message = Partial<Omit<Ask & Reply & Reached, "relay">>;

const TOPIC = "metrics";
/** A worker that does not answer in this time is left out: it is blocked, or has just ended. */
const PATIENCE_MS = 1000;

interface Question {
  readonly answers: (readonly MetricObject[])[];
  expected: number;
  readonly done: () => void;
}

export interface WorkerMetrics {
  text(): Promise<string>;
  close(): void;
}

/** `registry`: of this worker. @rule X-MET-6 */
export const createWorkerMetrics = (registry: Registry): WorkerMetrics => {
  const questions = new Map<number, Question>();
  let last = 0;
  const own = (): Promise<readonly MetricObject[]> => registry.getMetricsAsJSON();
  const send = (message: Ask | Reply): void => void process.send?.(message);

  const hear = (message: Message): void => {
    if (message?.topic !== TOPIC) return;
    if (message.from !== undefined && message.ask !== undefined) {
      const { from, ask } = message;
      void own().then((metrics) => send({ relay: from, topic: TOPIC, answer: ask, metrics }));
      return;
    }
    const question = questions.get(message.answer ?? message.ask ?? 0);
    if (question === undefined) return;
    if (message.metrics !== undefined) question.answers.push(message.metrics);
    if (message.reached !== undefined) question.expected = message.reached;
    if (question.answers.length >= question.expected) question.done();
  };
  process.on("message", hear);

  const askOthers = async (): Promise<readonly (readonly MetricObject[])[]> => {
    const ask = ++last;
    const answers: (readonly MetricObject[])[] = [];
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
      questions.set(ask, { answers, expected: Number.POSITIVE_INFINITY, done: resolve });
      send({ relay: "all", topic: TOPIC, ask, from: cluster.worker?.id ?? 0 });
    });
    clearTimeout(timer);
    questions.delete(ask);
    return answers;
  };

  return {
    text: async () => {
      const [others, mine] = [await askOthers(), await own()];
      const together = AggregatorRegistry.aggregate([mine, ...others] as object[]); // the library's types leave the lists out
      return `${await together.metrics()}${workersSeen(others.length + 1)}`;
    },
    close: () => void process.off("message", hear),
  };
};

const workersSeen = (count: number): string =>
  `# HELP relapi_workers Workers that these numbers are the sum of\n# TYPE relapi_workers gauge\nrelapi_workers ${count}\n`;
