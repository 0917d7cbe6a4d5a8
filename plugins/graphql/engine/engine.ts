/** Processes a request up to the text of its response. A document is parsed and validated once per role. Then values
 *  are bound, one transaction runs, and results are spliced. */
import {
  countRejection,
  buildErrorFields,
  exceedsJsonDepth,
  RelApiError,
  type Execution,
  type PluginContext,
  type RelApiHooks,
  type ResultRow,
  type Session,
  type ValueOf,
} from "../../../core/index.ts";
import { parseJson } from "../values/numbers.ts";
import { graphqlBodyTooDeep } from "../errors.ts";
import { QUERY_CANCELED } from "../translate-error.ts";
import { credentialRules } from "../credential-rules.ts";
import { buildExampleQuery, buildLiveExample } from "../example.ts";
import { createFunctionRunner } from "./run-functions.ts";
import { encodeErrors } from "../encode-error.ts";
import { PATH } from "../http/surface-paths.ts";
import { createPrepare } from "./prepare.ts";
import { parseRequestJson, readRequest } from "../http/request.ts";
import { runRequest } from "../http/run-request.ts";
import { createNames } from "../types/names.ts";
import { apiLimitsService, type ApiLimits } from "../../limits/api.ts";
import { streamedAnswersService, type ArrivingBody } from "../../speed/api.ts";
import { checkGqlDocumentHook, findGqlDocumentHook, graphqlHintsService } from "../api.ts";
import type { GqlVariant } from "../field-types.ts";
import type { RoleSchema } from "../types/role-schema.ts";
import { createSchemas } from "../types/schema.ts";
import { createIntrospectionWriter } from "../introspection/text-cache.ts";
import type { GqlCall, GqlEngine, GqlOperation, GqlOutput, GqlRunOptions } from "../operations.ts";

/** Returns the members of an object: `{"a":1}` without its braces. */
const removeBraces = (body: string): string => body.slice(1, -1);

/** The texts from which an answer is assembled. */
interface Texts {
  readonly bodies: readonly (string | null)[];
  readonly calls: readonly string[];
}

const assembleFields = (outputs: readonly GqlOutput[], texts: Texts): string => {
  const { bodies, calls } = texts;
  let data = "{";
  const add = (member: string): void => {
    data += data.length === 1 || member === "" ? member : `,${member}`;
  };
  const getBody = (step: number): string => bodies[step] ?? "null";
  for (const output of outputs) {
    if ("bundle" in output) {
      add(removeBraces(getBody(output.bundle)));
      continue;
    }
    const key = JSON.stringify(output.as);
    if ("text" in output) add(`${key}:${output.text}`);
    else if ("call" in output) add(`${key}:${calls[output.call] ?? "null"}`);
    else if ("step" in output) add(`${key}:${getBody(output.step)}`);
    else if ("list" in output)
      add(
        `${key}:[${output.list.map((element) => (typeof element === "number" ? getBody(element) : element)).join(",")}]`,
      );
    else add(`${key}:${assembleFields(output.outputs, texts)}`);
  }
  return `${data}}`;
};

/** Assembles the text of `data` from the bodies and calls. @rule G-HTTP-13 G-DOC-11 */
const assemble = (
  { outputs }: Pick<GqlOperation, "outputs">,
  bodies: readonly (string | null)[],
  calls: readonly string[] = [],
): string => {
  const [output] = outputs;
  // The body is the text that PostgreSQL wrote.
  if (outputs.length === 1 && output !== undefined && "bundle" in output) return bodies[output.bundle] ?? "{}";
  return assembleFields(outputs, { bodies, calls });
};

/** Returns the text before and after the body of the only step, if all three together are `data`. Undefined if `data`
 *  has other parts. */
const findBodyFrame = ([output, ...otherOutputs]: readonly GqlOutput[]):
  | readonly [before: string, after: string]
  | undefined => {
  if (output === undefined || otherOutputs.length > 0) return undefined;
  if ("bundle" in output) return ["", ""];
  return "step" in output ? [`{${JSON.stringify(output.as)}:`, "}"] : undefined;
};

/** The hooks through which plugins take part in reading requests. */
interface DocumentHooks {
  readonly find: ValueOf<typeof findGqlDocumentHook>;
  readonly check: ValueOf<typeof checkGqlDocumentHook>;
}

/** Runs the steps and calls of a mutation in their order. The steps between two calls are one transaction.
 *  @rule X-GQL-12b */
const runInOrder = async (
  { steps, calls }: Pick<GqlOperation, "steps" | "calls">,
  execute: (steps: GqlOperation["steps"]) => Promise<readonly ResultRow[]>,
  run: (call: GqlCall) => Promise<void>,
): Promise<readonly ResultRow[]> => {
  const rows: ResultRow[] = [];
  const executeUntil = async (end: number): Promise<void> => {
    if (end > rows.length) rows.push(...(await execute(steps.slice(rows.length, end))));
  };
  for (const call of calls) {
    await executeUntil(call.afterSteps ?? 0);
    await run(call);
  }
  await executeUntil(steps.length);
  return rows;
};

/** The caller whose schema has every table. */
const ADMIN: Session = { role: "admin", isAdmin: true, claims: {}, variables: {} };

/** Creates the engine that runs GraphQL requests. `variant` changes the names and the fields of the schema. */
export const createEngine = (
  hooks: RelApiHooks,
  context: PluginContext,
  documents: DocumentHooks,
  variant?: GqlVariant,
): GqlEngine => {
  const { find, check } = documents;
  const { schemas, whenOpen } = createSchemas(hooks, context, variant);
  const prepare = createPrepare(context, schemas, check, variant);

  const functions = createFunctionRunner(context.logger);
  const introspectionWriter = createIntrospectionWriter(
    context.caches,
    `${variant === undefined ? "" : `${variant.name} `}graphql introspections`,
  );

  let limits: ApiLimits | undefined;
  context.onModel(() => {
    limits = context.use(apiLimitsService)?.current();
  });

  /** Returns the function that runs the transactions of an operation. Members are listed, because a spread of two
   *  objects takes a tenth of a small request. */
  const createRun = (
    session: Session,
    {
      onDisconnect,
      settings: runSettings,
      requestSettings,
      exchange,
    }: Pick<GqlRunOptions, "settings" | "requestSettings" | "onDisconnect" | "exchange">,
  ) => {
    const currentLimits = limits;
    const seconds = currentLimits?.findTimeLimitSeconds(session);
    const schema = context.model().schemas[0] ?? "public";
    const settings =
      seconds === undefined ? runSettings : ([...(runSettings ?? []), ["statement_timeout", `${seconds}s`]] as const);
    return ({
      programs,
      access,
      end,
      mayUseReplica,
      longRows,
    }: Pick<Execution, "programs" | "access" | "end" | "mayUseReplica" | "longRows">): Promise<
      readonly ResultRow[]
    > => {
      const rows = context.execute({
        session,
        schema,
        keepsLoginPath: true,
        requestSettings,
        exchange,
        settings,
        onDisconnect,
        programs,
        access,
        end,
        mayUseReplica,
        longRows,
      });
      if (currentLimits === undefined || seconds === undefined) return rows;
      return rows.catch((error: unknown) => {
        throw error instanceof RelApiError && error.code === QUERY_CANCELED
          ? currentLimits.createTimeExceededError(seconds)
          : error;
      });
    };
  };

  /** Returns the function that runs reads which complete results, outside of a request. */
  const createReads = (session: Session, settings: GqlRunOptions["settings"]) => {
    const run = createRun(session, { settings });
    return (programs: Execution["programs"]): Promise<readonly ResultRow[]> =>
      run({ programs, access: "read only", end: "commit", mayUseReplica: true });
  };

  const getSchema = (session: Session): RoleSchema => schemas.getAndCommit({ session, model: context.model() });

  /** Returns the hints for an error. Some clients compare whole errors, such as generated tests, so hints can be
   *  switched off. */
  const buildHints = (error: unknown, session: Session | undefined): object | undefined => {
    const { errorHints, compatMode } = context.options;
    if (!errorHints || compatMode || !(error instanceof RelApiError) || session === undefined) return undefined;
    return context.use(graphqlHintsService)?.buildHints(error, session, () => getSchema(session));
  };

  const engine: GqlEngine = {
    credentialRules,
    path: PATH,
    derive: (engineVariant) => createEngine(hooks, context, documents, engineVariant),
    buildExampleQuery: (session) => whenOpen(() => buildExampleQuery(getSchema(session))),
    buildLiveExample: (session) => whenOpen(() => buildLiveExample(getSchema(session), () => getSchema(ADMIN))),
    prepare: (request, session, sender) => whenOpen(() => prepare(request, session, context.model(), sender)),
    assemble,
    runRequest: (exchange, request, options) => runRequest(engine, context, exchange, request, options),
    completeLive: async (operation, calls, bodies, session, settings) => {
      const reads = createReads(session, settings);
      const { length } = operation.steps;
      const loadedBodies = await functions.load(operation, bodies.slice(0, length), reads, session, {});
      return assemble(
        operation,
        loadedBodies,
        await functions.completeLive(operation, calls, bodies.slice(length), reads, session),
      );
    },
    openEvents: functions.openEvents,
    assembleEvent: async (operation, event, session, settings) =>
      assemble(
        operation,
        [],
        [await functions.completeEvent(operation, event, createReads(session, settings), session)],
      ),
    run: async <LongResult = never>(
      operation: GqlOperation,
      session: Session,
      {
        requestSettings,
        settings,
        onDisconnect,
        exchange,
        longBody,
        end = "commit",
        access,
      }: GqlRunOptions<LongResult> = {},
    ): Promise<string | LongResult> => {
      const isReadOnly = operation.access === "read only";
      const { outputs, loads, steps } = operation;
      const frame = steps.length === 1 && loads.length === 0 ? findBodyFrame(outputs) : undefined;
      let longResult: { readonly result: LongResult | Promise<LongResult> } | undefined;
      const takeLong =
        longBody === undefined || frame === undefined
          ? undefined
          : {
              aboveBytes: longBody.aboveBytes,
              onBody: (_row: ResultRow, body: ArrivingBody) => {
                const bodyResult = longBody.take(body, ...frame);
                longResult = bodyResult;
                return bodyResult?.receiver;
              },
            };
      const runWith = createRun(session, { settings, requestSettings, onDisconnect, exchange });
      const execute = (programs: Execution["programs"]): Promise<readonly ResultRow[]> =>
        runWith({
          programs,
          access: access ?? operation.access,
          end: isReadOnly ? "commit" : end,
          mayUseReplica: isReadOnly,
          longRows: takeLong && context.use(streamedAnswersService)?.createRowReader(takeLong),
        });
      const executeReads = (programs: Execution["programs"]): Promise<readonly ResultRow[]> =>
        runWith({ programs, access: "read only", end: "commit", mayUseReplica: isReadOnly });
      const runCalls = (gqlCalls: readonly GqlCall[]): Promise<readonly string[]> =>
        functions.call({ calls: gqlCalls, document: operation.document }, executeReads, session, {
          onDisconnect,
          exchange,
        });
      const isMutation = operation.kind === "mutation";
      const calls: string[] = isMutation || operation.calls.length === 0 ? [] : [...(await runCalls(operation.calls))];
      if (operation.isIntrospecting && longBody?.takePacked !== undefined) {
        const packedBody = await introspectionWriter.writeBody(operation.outputs);
        if (packedBody !== undefined) {
          operation.cachePlan();
          return longBody.takePacked(packedBody);
        }
      }
      const writtenOperation = operation.isIntrospecting
        ? { outputs: await introspectionWriter.writeTexts(operation.outputs) }
        : operation;
      let rows: readonly ResultRow[] = [];
      if (isMutation)
        rows = await runInOrder(operation, execute, async (call) => void calls.push(...(await runCalls([call]))));
      else if (steps.length > 0) rows = await execute(steps);
      operation.cachePlan();
      // `take` sets the result.
      if (longResult !== undefined) return (longResult as { readonly result: LongResult | Promise<LongResult> }).result;
      const bodies = rows.map((row) => row["body"] ?? null);
      const complete =
        operation.loads.length === 0
          ? bodies
          : await functions.load(operation, bodies, executeReads, session, { onDisconnect, exchange });
      return assemble(writtenOperation, complete, calls);
    },
    parseJson: (text) => {
      const { maxJsonDepth } = context.options;
      if (!exceedsJsonDepth(text, maxJsonDepth)) return parseJson(text);
      const error = graphqlBodyTooDeep(context.options);
      countRejection(context.counters, error);
      throw error;
    },
    parseRequestJson: (text, at) => parseRequestJson(text, context.options, at),
    createNames: ({ namingConvention = context.options.defaultNamingConvention, ...customization }) =>
      createNames({ ...customization, namingConvention }),
    readRequest: (value) => readRequest(value, (request) => find.call(request)),
    encodeErrors: (error, session) => {
      countRejection(context.counters, error);
      if (!(error instanceof RelApiError))
        context.logger.error("unhandled error while serving a GraphQL request", buildErrorFields(error));
      return encodeErrors(error, session, buildHints(error, session));
    },
  };
  return engine;
};
