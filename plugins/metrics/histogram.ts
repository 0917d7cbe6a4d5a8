/** Histograms whose series are held by whoever observes: the library finds a series by its sorted and joined labels each
 *  time, which for a small request is a twentieth of its work. */
import type { Metric, Registry } from "prom-client";

export interface HistogramSpec {
  readonly name: string;
  readonly help: string;
  /** Upper bounds in seconds, ascending. */
  readonly buckets: readonly number[];
}

/** One combination of labels. */
export interface HistogramSeries {
  observe(seconds: number): void;
}

interface Held {
  readonly labels: Readonly<Record<string, string>>;
  /** By bucket, each without those below; the last one is beyond all bounds. */
  readonly counts: number[];
  sum: number;
}

/** Returns what makes series; each combination of labels once. */
export const registerHistogram = (
  registry: Registry,
  { name, help, buckets }: HistogramSpec,
): ((labels?: Readonly<Record<string, string>>) => HistogramSeries) => {
  const all: Held[] = [];
  const samplesOf = ({ labels, counts, sum }: Held) => {
    let count = 0;
    const samples = counts.map((each, i) => {
      count += each;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: buckets[i] ?? "+Inf" }, value: count };
    });
    return [
      ...samples,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  };
  const metric = {
    name,
    help,
    get: async () => ({ name, help, type: "histogram", values: all.flatMap(samplesOf), aggregator: "sum" }),
    reset: () => undefined,
  };
  registry.registerMetric(metric as unknown as Metric); // what the registry asks of one
  return (labels = {}) => {
    const held: Held = { labels, counts: Array.from({ length: buckets.length + 1 }, () => 0), sum: 0 };
    all.push(held);
    return {
      observe: (seconds) => {
        let i = 0;
        while (i < buckets.length && seconds > (buckets[i] as number)) i++; // within its length
        held.counts[i] = (held.counts[i] as number) + 1;
        held.sum += seconds;
      },
    };
  };
};
