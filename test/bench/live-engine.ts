/**
 * Runs the engine of live queries in a separate process, with subscribers without sockets: `node live-engine.js
 * <database url> <subscribers> <query>`.
 */
import { compose, definePlugin, relApi, type PluginContext, type Session } from "../../core/index.ts";
import { graphqlService } from "../../plugins/graphql/api.ts";
import { liveQueriesService } from "../../plugins/live/api.ts";
import { fullCompat } from "../../presets/index.ts";
import { nowMs } from "./live-swarm.ts";
import { readUsage } from "./live-used.ts";

export type EngineOrder =
  | { readonly do: "subscribe" }
  | { readonly do: "expect"; readonly n: number; readonly count: number; readonly patienceMs: number }
  | { readonly do: "report" }
  | { readonly do: "used"; readonly isCollecting: boolean }
  | { readonly do: "stop" };

const [, , databaseUrl = "", countArgument = "", query = ""] = process.argv;
const count = Number(countArgument);

let context: PluginContext | undefined;
const watching = definePlugin({
  name: "watching",
  requires: ["live-queries"],
  apply: (_hooks, pluginContext) => void (context = pluginContext),
});
const api = relApi(compose(fullCompat({ databaseUrl, logLevel: "warn", anonRole: "bench_anon" }), watching));
await api.ready;
const live = context?.use(liveQueriesService);
const engine = context?.use(graphqlService);
if (live === undefined || engine === undefined) throw new Error("the preset has no live queries");
const ROLE = "bench_anon";
const session: Session = {
  role: ROLE,
  databaseRole: ROLE,
  isAdmin: false,
  claims: { role: ROLE },
  variables: { "x-session-role": ROLE },
};

let onAnswer = (_text: string): void => undefined;
let times: number[] = [];
let expectedResults: Promise<void> = Promise.resolve();

const expectResults = (
  isExpected: (text: string) => boolean,
  expectedCount: number,
  patienceMs: number,
): Promise<void> =>
  new Promise((resolve) => {
    times = [];
    const timer = setTimeout(resolve, patienceMs);
    onAnswer = (text) => {
      if (!isExpected(text)) return;
      times.push(nowMs());
      if (times.length < expectedCount) return;
      clearTimeout(timer);
      resolve();
    };
  });

const take = async (order: EngineOrder): Promise<object> => {
  switch (order.do) {
    case "subscribe": {
      const first = expectResults(() => true, count, 60_000);
      const startedAtMs = nowMs();
      for (let id = 1; id <= count; id++)
        live.subscribe(live.graphqlSource(engine, engine.readRequest({ query, variables: { id } }), session), {
          answer: ({ text }) => onAnswer(text),
          end: (error) => {
            if (error !== undefined) throw error;
          },
        });
      await first;
      return { times: [nowMs() - startedAtMs], count: times.length };
    }
    case "expect":
      expectedResults = expectResults((text) => text.includes(`"n":${order.n},`), order.count, order.patienceMs);
      return {};
    case "report":
      await expectedResults;
      return { times, count: times.length };
    case "used":
      return readUsage(order.isCollecting);
    case "stop":
      await api.close();
      process.exit(0);
  }
};

process.on("message", (order: EngineOrder) => void take(order).then((answer) => process.send?.(answer)));
process.on("disconnect", () => process.exit(0));
process.send?.({});
