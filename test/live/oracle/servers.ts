/** The servers of a run: one or two with live queries, and one without caches that provides the correct results. */
import { writeFile } from "node:fs/promises";
import { definePlugin, without, type PresetPart } from "../../../core/index.ts";
import { liveRunEndedSignal } from "../../../plugins/live/api.ts";
import { liveTriggers } from "../../../presets/cli/live-triggers-command.ts";
import { openApi, type Answer, type StartOptions, type TestApi } from "../../support/api.ts";
import { capabilities, type TestDatabase } from "../../support/database.ts";
import { NO_CACHING } from "../../support/oracle/oracle.ts";
import { fetchSchema } from "../../support/schema.ts";
import { until } from "../../support/until.ts";
import { graphqlHeaders, restHeaders, type Caller } from "./callers.ts";
import type { Capacity } from "./steps.ts";
import { errorText, type LiveRequest } from "./subscribers.ts";
import { buildMetadata, SCHEMA, type ClosedTables, type World } from "./world.ts";

export interface Servers {
  readonly apis: readonly TestApi[];
  /** The GraphQL type of a column's values. Undefined if the column cannot be compared. */
  findType(relation: string, column: string): string | undefined;
  /** The result of a fresh query: the data as JSON text, or an error. */
  ask(caller: Caller, question: LiveRequest): Promise<string>;
  /** Reloads the schema of the server without caches. */
  reloadAsked(): Promise<void>;
  /** Notifies the other servers of a new schema, in the way that the world has chosen. */
  tellOfSchema(): Promise<void>;
  setMetadata(closedTables: ClosedTables): Promise<void>;
  restart(index: number): Promise<void>;
  /** The start of the earliest run that ended after `sinceMs`. Undefined if there was no run. */
  runningSince(sinceMs: number): number | undefined;
  close(): Promise<void>;
}

const MAX_RUNS = 2000;

/** The maximum number of servers for the database. */
export const getCapacity = (): Capacity =>
  capabilities.realServer ? { lanes: 3, apis: 2, isServer: true } : { lanes: 1, apis: 1, isServer: false };

export const stringify = (value: unknown): string => JSON.stringify(value) ?? "nothing";

export const startServers = async (
  world: World,
  database: TestDatabase,
  metadata: string,
  { apis: count, isServer }: Capacity,
): Promise<Servers> => {
  /** The runs, the newest last. */
  const runs: { readonly startedAtMs: number; readonly endedAtMs: number }[] = [];
  const runListener = definePlugin({
    name: "oracle-runs",
    apply: (_hooks, context) =>
      context.use(liveRunEndedSignal).listen((run) => {
        runs.push(run);
        if (runs.length > MAX_RUNS) runs.splice(0, MAX_RUNS / 2);
      }),
  });

  const options: StartOptions = {
    on: database,
    dbSchemas: [SCHEMA],
    anonRole: "music_nobody",
    metadata,
    dbSchemaPollInterval: world.reload === "poll" && isServer ? 1 : 0,
    liveQueryBatchSize: world.batchSize,
    liveQueryInterval: 20,
    dbPool: isServer ? 4 : 1,
  };
  const leftOut: readonly PresetPart[] =
    world.source === "replication"
      ? []
      : [without("replication-changes"), ...(world.source === "poll" ? [without("notify-changes")] : [])];

  let triggers: string | undefined;
  const startApi = (): Promise<TestApi> =>
    openApi({
      ...options,
      parts: [
        ...leftOut,
        runListener,
        ...(world.source === "notify" ? [liveTriggers((sql) => (triggers ??= sql))] : []),
      ],
    });

  const writeMetadata = (closedTables: ClosedTables): Promise<void> =>
    writeFile(metadata, stringify(buildMetadata(world, closedTables)));

  await writeMetadata({});
  const apis: TestApi[] = [];
  for (let index = 0; index < count; index++) apis.push(await startApi());
  const reloadAll = async (): Promise<void> => {
    for (const api of apis) await api.reload().catch(() => undefined); // a step may have interrupted the database
  };
  if (world.source === "notify") {
    await until(() => triggers !== undefined, "the SQL of the triggers");
    await database.query(triggers ?? "");
    await reloadAll();
  }
  const referenceApi = await openApi({
    ...options,
    ...NO_CACHING,
    dbChannelEnabled: false,
    dbSchemaPollInterval: 0,
    dbPool: 1,
  });

  const schema = await fetchSchema(referenceApi);
  const types = new Map<string, string | undefined>();
  for (const name of schema.names) {
    const relation = new RegExp(`^${SCHEMA}_(\\w+)_bool_exp$`).exec(name)?.[1];
    if (relation === undefined) continue;
    for (const [column, comparison] of Object.entries(schema.members(name)))
      if (schema.has(comparison)) types.set(`${relation} ${column}`, schema.members(comparison)["_eq"]);
  }

  const send = (caller: Caller, question: LiveRequest): Promise<Answer> =>
    typeof question === "string"
      ? referenceApi.get(question, { headers: restHeaders(caller) })
      : referenceApi.post("/v1/graphql", { headers: graphqlHeaders(caller), body: question });

  const ask = async (caller: Caller, question: LiveRequest): Promise<string> => {
    let answer = await send(caller, question);
    await until(async () => {
      if (answer.status === 503) answer = await send(caller, question);
      return answer.status !== 503;
    }, "the server that is asked reaches its database");
    const payload = answer.json();
    if (typeof question === "string") return answer.status === 200 ? stringify(payload) : errorText(payload);
    return "data" in payload && !("errors" in payload) ? stringify(payload.data) : errorText(payload);
  };

  return {
    apis,
    findType: (relation, column) => types.get(`${relation} ${column}`),
    ask,
    reloadAsked: () => referenceApi.reload(),
    tellOfSchema: async () => {
      if (world.reload === "call" || !isServer) await reloadAll();
      else if (world.reload === "notify") await database.query("notify pgrst, 'reload schema'");
    },
    setMetadata: async (closedTables) => {
      await writeMetadata(closedTables);
      await reloadAll();
    },
    restart: async (index) => {
      await apis[index]?.close();
      apis[index] = await startApi();
    },
    runningSince: (sinceMs) => {
      let earliestMs: number | undefined;
      for (let index = runs.length - 1; index >= 0; index--) {
        const run = runs[index] as (typeof runs)[number]; // the index is within the length
        if (run.endedAtMs < sinceMs) break;
        earliestMs = Math.min(earliestMs ?? Infinity, run.startedAtMs);
      }
      return earliestMs;
    },
    close: async () => {
      for (const api of [...apis, referenceApi]) await api.close();
    },
  };
};
