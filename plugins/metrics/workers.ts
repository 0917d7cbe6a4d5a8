/** Metrics of all workers, asked for by one of them: they reach each other through the primary process. */
import cluster from "node:cluster";
import { AggregatorRegistry, Gauge, type MetricObject, type Registry } from "prom-client";

type Metrics = readonly MetricObject[];

/** The primary passes on what has `relay`: to the worker of that number, else to all others, and tells the sender who
 *  those were (`reached`). */
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
  readonly of: number;
  readonly metrics: Metrics;
}

interface Reached {
  readonly reached: readonly number[];
  readonly topic: typeof TOPIC;
  readonly ask: number;
}

type Message = Partial<Omit<Ask & Reply & Reached, "relay">>;

const TOPIC = "metrics";

/** Names of gauges, and what they say. */
export const ANSWERING = ["relapi_workers", "Workers that these numbers are the sum of"] as const;
export const SILENT = [
  "relapi_workers_silent",
  "Workers that did not answer in time: their gauges are missing, their counters as they said last",
] as const;

/** A worker that does not answer in this time is blocked, or has just ended. */
const PATIENCE_MS = 1000;

interface Question {
  /** By worker. */
  readonly answers: Map<number, Metrics>;
  others: readonly number[];
  readonly done: () => void;
}

export interface WorkerMetrics {
  text(): Promise<string>;
  close(): void;
}

/** What only grows stays in the sum when its worker does not answer or has ended: a sum that falls is a restart to
 *  Prometheus, which then takes all of it for new. */
const growing = (metrics: Metrics): Metrics => metrics.filter(({ type }) => GROWING.has(type));

const GROWING: ReadonlySet<unknown> = new Set(["counter", "histogram"]);

const sumOf = (all: readonly Metrics[]): Registry => AggregatorRegistry.aggregate(all as object[]); // the library's types leave the lists out

/** `registry`: of this worker. @rule X-MET-6 */
export const createWorkerMetrics = (registry: Registry): WorkerMetrics => {
  const questions = new Map<number, Question>();
  let last = 0;
  const self = cluster.worker?.id ?? 0;
  const own = (): Promise<Metrics> => registry.getMetricsAsJSON();
  const send = (message: Ask | Reply): void => void process.send?.(message);

  const hear = (message: Message): void => {
    if (message?.topic !== TOPIC) return;
    if (message.from !== undefined && message.ask !== undefined) {
      const { from, ask } = message;
      void own().then((metrics) => send({ relay: from, topic: TOPIC, answer: ask, of: self, metrics }));
      return;
    }
    const question = questions.get(message.answer ?? message.ask ?? 0);
    if (question === undefined) return;
    if (message.metrics !== undefined && message.of !== undefined) question.answers.set(message.of, message.metrics);
    if (message.reached !== undefined) question.others = message.reached;
    if (question.others.every((id) => question.answers.has(id))) question.done();
  };
  process.on("message", hear);

  const askOthers = async (): Promise<Question> => {
    const ask = ++last;
    let timer: NodeJS.Timeout | undefined;
    let question: Question | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
      // not all before it is known who there is
      question = { answers: new Map(), others: [self], done: resolve };
      questions.set(ask, question);
      send({ relay: "all", topic: TOPIC, ask, from: self });
    });
    clearTimeout(timer);
    questions.delete(ask);
    return question as unknown as Question; // made at once
  };

  /** Of the other workers, what they said last. */
  const known = new Map<number, Metrics>();
  /** Of those that have ended, together. */
  let ended: Metrics = [];

  return {
    text: async () => {
      const { answers, others } = await askOthers();
      const isPrimarySilent = others.includes(self);
      const kept: Metrics[] = [];
      for (const [id, metrics] of known) {
        if (answers.has(id)) continue;
        if (isPrimarySilent || others.includes(id)) kept.push(growing(metrics));
        else {
          known.delete(id);
          ended = sumOf([ended, growing(metrics)]).getMetricsAsArray();
        }
      }
      for (const [id, metrics] of answers) known.set(id, metrics);
      const silent = others.filter((id) => id !== self && !answers.has(id)).length;
      const sum = sumOf([await own(), ...answers.values(), ...kept, ended]);
      for (const [[name, help], count] of [
        [ANSWERING, answers.size + 1],
        [SILENT, silent],
      ] as const)
        new Gauge({ name, help, registers: [sum] }).set(count);
      return sum.metrics();
    },
    close: () => void process.off("message", hear),
  };
};
