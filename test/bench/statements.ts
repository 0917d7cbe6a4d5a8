/** `npm run bench:statements`: what PostgreSQL does with the statements of usual requests on tables of a million rows,
 *  beside those that someone writes by hand for the same answers. Each request is sent once; its statement is taken on its
 *  way to the database, checked to answer the same as the other one, and both are explained and run in turn, as the same
 *  role, with what they read in memory. Times are PostgreSQL's own. `-- --json FILE` writes all of it, plans included;
 *  `-- --only "WORD|WORD"` those whose name has one of the words; BENCH_ROWS: rows of the large tables. The database
 *  `relapi_statements` stays for the next run. Needs a PostgreSQL: TEST_DATABASE_URL (superuser), or the server programs
 *  of one on this machine. */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { isDeepStrictEqual, parseArgs } from "node:util";
import pg from "pg";
import { boundOf, compose, definePlugin, relApi, type Execution, type ProgramStatement } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { bearer, jwtSecret, adminSecret } from "../support/tokens.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";
import { isJson, median, quantile, summaryOf, type PlanNode } from "./statements-figures.ts";
import { METADATA, statementsSchema } from "./statements-data.ts";
import { CASES, type StatementCase } from "./statements-requests.ts";

const ROWS = Number(process.env["BENCH_ROWS"] ?? 1_000_000);
const DATABASE = "relapi_statements";
const ROUNDS_AT_LEAST = 5;
const ROUNDS_AT_MOST = 301;
/** For both statements of a request together. */
const MS_PER_CASE = Number(process.env["BENCH_MS"] ?? 1500);

const { values: flags } = parseArgs({ options: { json: { type: "string" }, only: { type: "string" } } });
const words = (flags.only ?? "").split("|");

interface Prepared {
  readonly text: string;
  readonly values: readonly (string | null)[];
}

interface Times {
  readonly planningMs: number;
  readonly executionMs: number;
}

interface Result {
  readonly name: string;
  readonly rounds: number;
  /** Of the medians of execution. */
  readonly ratio: number;
  /** The middle half of the rounds' ratios. */
  readonly spread: readonly [number, number];
  /** Of the fastest runs: other programs on the machine disturb these least. */
  readonly fastest: number;
  /** Ours, and that by hand. */
  readonly executionMs: readonly [number, number];
  readonly planningMs: readonly [number, number];
  readonly plans: readonly [string, string];
  readonly statements: readonly [string, string];
}

const row = (cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);

const literal = (value: string | null): string => (value === null ? "null" : pg.escapeLiteral(value));

const argumentsOf = ({ values }: Prepared): string =>
  values.length === 0 ? "" : `(${values.map(literal).join(", ")})`;

const fillDatabase = async (server: Parameters<typeof openFreshDatabase>[0]): Promise<string> => {
  const sql = statementsSchema(ROWS);
  const mark = createHash("sha1").update(sql).digest("hex");
  const url = server.urlOf(DATABASE);
  const known = new pg.Client({ connectionString: url });
  try {
    await known.connect();
    const { rows } = await known.query(
      "select shobj_description(oid, 'pg_database') as mark from pg_database where datname = current_database()",
    );
    if (rows[0]?.mark === mark) return url;
  } catch {
    // there is none yet
  } finally {
    await known.end();
  }
  const startedAtMs = performance.now();
  const { client } = await openFreshDatabase(server, DATABASE);
  await client.query("do $$ begin create role bench_tenant; exception when duplicate_object then null; end $$");
  // one by one: vacuum stands in no transaction
  for (const statement of sql.split(/;\n/).filter((text) => text.trim() !== "")) await client.query(statement);
  await client.query(`comment on database ${DATABASE} is '${mark}'`);
  await client.end();
  process.stderr.write(`filled in ${Math.round((performance.now() - startedAtMs) / 1000)} s\n`);
  return url;
};

type Slot = ProgramStatement["slots"][number];

const filled = (slot: Slot, values: Execution["programs"][number]["values"], { session }: Execution): string | null => {
  if ("session" in slot) return session.variables[slot.session] ?? null;
  const value = "param" in slot ? values[slot.param] : "fixed" in slot ? slot.fixed : undefined;
  const bound = boundOf(value ?? null);
  return typeof bound === "string" ? bound : null;
};

/** The last statement of tables that has gone to the database. */
const taker = () => {
  const taken: { statements: Prepared[]; role: string | undefined; claims: string } = {
    statements: [],
    role: undefined,
    claims: "",
  };
  const plugin = definePlugin({
    name: "statement-taker",
    apply: (_hooks, context) =>
      context.wrap({
        execute: (next) => (execution: Execution) => {
          taken.statements = execution.programs.flatMap(({ program, values }) =>
            program.statements.map(({ text, slots }) => ({
              text,
              values: slots.map((slot) => filled(slot, values, execution)),
            })),
          );
          taken.role = execution.session.databaseRole;
          taken.claims = JSON.stringify(execution.session.claims);
          return next(execution);
        },
      }),
  });
  return { taken, plugin };
};

const server = await startServer();
try {
  const databaseUrl = await fillDatabase(server);
  const { taken, plugin } = taker();
  const options = {
    databaseUrl,
    anonRole: "bench_anon",
    logLevel: "error",
    dbAggregatesEnabled: true,
    dbTxEnd: "commit-allow-override",
    jwtSecret,
    adminSecret,
    anonStatementTimeout: 0,
    dbPool: 1,
  } as const;
  const open = async (more: object) => {
    const api = relApi(compose(plus({ ...options, ...more }), plugin));
    await api.ready;
    const http = createServer(api).listen(0, "127.0.0.1");
    await new Promise((resolve) => http.once("listening", resolve));
    return {
      url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
      close: async () => {
        http.closeAllConnections();
        http.close();
        await api.close();
      },
    };
  };
  const plain = await open({});
  const capped = await open({ dbMaxRows: 1000 });
  const permitted = await open({ metadata: METADATA });

  const send = async (one: StatementCase, path = one.path): Promise<Response> => {
    const { url } = one.as === "seller" ? permitted : one.prefer === "count=estimated" ? capped : plain;
    const headers = {
      "content-type": "application/json",
      ...(one.accept === undefined ? {} : { accept: one.accept }),
      prefer:
        one.method === undefined && !one.graphql?.startsWith("mutation")
          ? (one.prefer ?? "")
          : `${one.prefer ?? ""},tx=rollback`,
      ...(one.as === "tenant" ? bearer({ role: "bench_tenant", tenant: 7 }) : {}),
      ...(one.as === "seller"
        ? { "x-session-admin-secret": adminSecret, "x-session-role": "seller", "x-session-tenant-id": "7" }
        : {}),
    };
    const response =
      path === undefined
        ? await fetch(`${url}/v1/graphql`, {
            method: "POST",
            headers,
            body: JSON.stringify({ query: one.graphql, variables: one.variables ?? {} }),
          })
        : await fetch(`${url}/api${path}`, {
            method: one.method ?? "GET",
            headers,
            ...(one.body === undefined ? {} : { body: JSON.stringify(one.body) }),
          });
    return response;
  };

  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("set jit = off"); // as on connections of relapi

  const prepare = async (name: string, statements: readonly Prepared[]): Promise<void> => {
    for (const [i, { text }] of statements.entries()) await client.query(`prepare ${name}_${i} as ${text}`);
  };

  /** Of all statements of a request together. */
  const explain = async (
    name: string,
    statements: readonly Prepared[],
  ): Promise<Times & { readonly plans: readonly PlanNode[] }> => {
    await client.query("savepoint here");
    const sum = { planningMs: 0, executionMs: 0, plans: [] as PlanNode[] };
    for (const [i, prepared] of statements.entries()) {
      const { rows } = await client.query(
        `explain (analyze, timing off, format json) execute ${name}_${i}${argumentsOf(prepared)}`,
      );
      const [found] = rows[0]["QUERY PLAN"];
      sum.planningMs += found["Planning Time"];
      sum.executionMs += found["Execution Time"];
      sum.plans.push(found.Plan);
    }
    await client.query("rollback to here");
    return sum;
  };

  const answerOf = async (
    name: string,
    statements: readonly Prepared[],
  ): Promise<{ readonly body: unknown; readonly total: unknown }> => {
    await client.query("savepoint here");
    let last: Readonly<Record<string, string>> = {};
    for (const [i, prepared] of statements.entries())
      last = (await client.query(`execute ${name}_${i}${argumentsOf(prepared)}`)).rows[0];
    await client.query("rollback to here");
    const { body, total } = last;
    return { body: body === undefined || !isJson(body) ? undefined : JSON.parse(body), total };
  };

  const results: Result[] = [];
  for (const one of CASES) {
    if (!words.some((word) => one.name.includes(word))) continue;
    let response = await send(one);
    let text = await response.text();
    if (one.isNextPage === true) {
      const next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? "";
      response = await send(one, `${one.path?.replace(/\?.*/, "")}${next}`);
      text = await response.text();
    }
    if (!response.ok || text.startsWith('{"errors"')) throw new Error(`${one.name}: ${text}`);
    // a planner's count is an EXPLAIN of its own, which has no plan
    const ours = taken.statements.filter(({ text: sent }) => !sent.startsWith("explain"));
    if (ours.length === 0) throw new Error(`${one.name}: no statement`);
    const hand: readonly Prepared[] = [{ text: one.hand, values: one.values ?? [] }];

    await client.query("begin");
    if (taken.role !== undefined) await client.query(`set local role ${taken.role}`);
    await client.query("select set_config('request.jwt.claims', $1, true)", [taken.claims]);
    await client.query("set local plan_cache_mode = force_custom_plan"); // what happens without it is measured apart
    await prepare("ours", ours);
    await prepare("hand", hand);
    const [answer, byHand] = [await answerOf("ours", ours), await answerOf("hand", hand)];
    const sent = JSON.parse(text);
    const wanted = one.graphql === undefined ? sent : sent.data;
    // the statement of a mutation makes the text of its one field; that of a page has more behind the body
    const isOurs = [wanted, ...Object.values(wanted), undefined].some((part) => isDeepStrictEqual(answer.body, part));
    if (!isOurs || !isDeepStrictEqual(byHand.body, wanted) || answer.total !== byHand.total)
      throw new Error(
        `${one.name}: the answers differ\n${text.slice(0, 1000)}\n${JSON.stringify(byHand).slice(0, 1000)}`,
      );
    const runs = { ours: [] as Times[], hand: [] as Times[] };
    const plans = { ours: "", hand: "" };
    const startedAtMs = performance.now();
    for (let round = 0; round < ROUNDS_AT_MOST; round++) {
      if (round >= ROUNDS_AT_LEAST && performance.now() - startedAtMs > MS_PER_CASE) break;
      for (const name of round % 2 === 0 ? (["ours", "hand"] as const) : (["hand", "ours"] as const)) {
        const { plans: found, ...times } = await explain(name, name === "ours" ? ours : hand);
        runs[name].push(times);
        plans[name] = found.map(summaryOf).join("; ");
      }
    }
    await client.query("rollback");
    await client.query("deallocate all");
    const figure = (name: "ours" | "hand", what: keyof Times): number => median(runs[name].map((times) => times[what]));
    const least = (name: "ours" | "hand"): number => Math.min(...runs[name].map(({ executionMs }) => executionMs));
    const ratios = runs.ours.map(({ executionMs }, i) => executionMs / (runs.hand[i]?.executionMs ?? Number.NaN));
    const result: Result = {
      name: one.name,
      rounds: ratios.length,
      ratio: figure("ours", "executionMs") / figure("hand", "executionMs"),
      spread: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
      fastest: least("ours") / least("hand"),
      executionMs: [figure("ours", "executionMs"), figure("hand", "executionMs")],
      planningMs: [figure("ours", "planningMs"), figure("hand", "planningMs")],
      plans: [plans.ours, plans.hand],
      statements: [ours, hand].map((all) => all.map(({ text: sent }) => sent).join(";\n")) as [string, string], // of two
    };
    results.push(result);
    if (results.length === 1)
      row(["Request", "ratio", "middle half", "fastest", "ms", "by hand", "planning ms", "by hand"]);
    if (results.length === 1) row(Array.from({ length: 8 }, () => "---"));
    row([
      result.name,
      result.ratio.toFixed(2),
      result.spread.map((ratio) => ratio.toFixed(2)).join(" … "),
      result.fastest.toFixed(2),
      ...[...result.executionMs, ...result.planningMs].map((ms) => ms.toFixed(ms < 10 ? 3 : 1)),
    ]);
  }
  const load = loadavg().map((average) => average.toFixed(1));
  process.stdout.write(`\nload ${load.join(" ")}\n`);
  for (const { name, plans } of results)
    process.stdout.write(`\n${name}\n  ${plans[0]}\n${plans[0] === plans[1] ? "" : `  by hand: ${plans[1]}\n`}`);
  if (flags.json !== undefined)
    writeFileSync(
      flags.json,
      JSON.stringify({ date: new Date(), node: process.version, rows: ROWS, load, results }, undefined, 2),
    );
  await client.end();
  for (const api of [plain, capped, permitted]) await api.close();
} finally {
  await server.stop();
}
process.exit();
