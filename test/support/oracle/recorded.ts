/**
 * `npm run oracle`: runs the oracle on the requests of a test file and mutations of them, on the database that the file
 * left.
 */
import { basename } from "node:path";
import { expect } from "vitest";
import { openApi, type HeaderValues, type StartOptions, type TestApi } from "../api.ts";
import { atFileEnd } from "../file-end.ts";
import { chosenSeed, createRandom } from "../random.ts";
import {
  pickCallerHeaders,
  consult,
  formatRequest,
  report,
  summary,
  useSteadyPlans,
  withMutations,
  type OracleRequest,
} from "./oracle.ts";
import { CALLERS } from "./callers.ts";

/** Mutations of each request. */
const PER_REQUEST = Number(process.env["ORACLE_MUTATIONS"] ?? 4);

/** Larger requests are skipped, because they come from tests of sizes. */
const MAX_TEXT = 16_384;

const measureSize = (body: unknown): number =>
  body === undefined
    ? 0
    : typeof body === "string" || body instanceof Uint8Array
      ? body.length
      : (JSON.stringify(body)?.length ?? 0);

/**
 * Requests that are skipped. They wait, never end, change things despite the rollback, use numbers of a sequence, or
 * store documents under hashes. Others show statistics or the state of the connection: a setting once made in a
 * transaction reads as "" afterwards, and as null elsewhere.
 */
const SKIPPED_REQUESTS =
  /sleep|event-stream|advisory|count=(planned|estimated)|huge|rpc.(prepared|backend)|plan.*analyze|setting\?name=app\.|persistedQuery|identified\?columns=id/i;

const isRepeatable = (request: OracleRequest): boolean =>
  request.path.length + measureSize(request.body) < MAX_TEXT && !SKIPPED_REQUESTS.test(formatRequest(request));

const asText = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) => (typeof member === "bigint" ? String(member) : member)) ?? "";

/** Returns whether these options make the server reject requests depending on time, or on other requests. */
const dependsOnTime = (options: StartOptions): boolean =>
  options.maxPendingBodyBytes !== undefined ||
  options.rateLimits !== undefined ||
  options.anonStatementTimeout !== undefined ||
  asText([options.apiLimits, options.metadata]).includes("rate_limit");

const distinctCallers = (requests: readonly OracleRequest[]): HeaderValues[] => {
  const fileCallers = new Map(
    requests.map(({ headers }) => pickCallerHeaders(headers)).map((caller) => [JSON.stringify(caller), caller]),
  );
  return [...fileCallers.values(), ...CALLERS];
};

export const startRecorded = async (options: StartOptions): Promise<TestApi> => {
  const requests = new Map<string, OracleRequest>();
  const api = await openApi(options, (method, path, { headers, body } = {}) => {
    const request: OracleRequest = {
      method,
      path,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
    };
    if (isRepeatable(request)) requests.set(formatRequest(request), request);
  });
  // This closes before the database.
  atFileEnd(async () => {
    await api.close();
    if (requests.size === 0 || dependsOnTime(options)) return;
    const file = basename(expect.getState().testPath ?? "");
    // A test may have removed files that its options name, such as a metadata folder.
    const probe = await openApi({ on: api.database, ...options }).catch((error: Error) =>
      console.log(`${file}: the requests cannot be repeated: ${error.message}`),
    );
    if (probe === undefined) return;
    await probe.close();
    const seed = chosenSeed();
    const random = createRandom(seed);
    const base = [...requests.values()];
    const all = withMutations(base, random, { callers: distinctCallers(base), countPerRequest: PER_REQUEST });
    await useSteadyPlans(api.sql);
    const verdict = await consult(all, { start: openApi, options: { on: api.database, ...options }, seed });
    const { differences } = verdict;
    console.log(`${file}: ${summary(verdict, seed, all)}`);
    if (differences.length > 0)
      throw new Error(
        `${file}, SEED=${seed}: ${differences.length} answers differ from those of a server that caches nothing\n\n${differences.map(report).join("\n\n")}`,
      );
  });
  return api;
};
