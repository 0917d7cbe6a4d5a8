/** Builds live queries of the GraphQL surface, and provides checks that all sources need. */
import { fillSlots, type Execution, type PluginContext, type Session } from "../../../core/index.ts";
import { remoteSubscriptionNotAlone, functionFieldNotLive } from "./errors.ts";
import type { GqlEngine, GqlLiveCall, GqlOperation, GqlRequest, ValidatedDocument } from "../../graphql/api.ts";
import type { LiveEvents, LiveQuery, LiveSource } from "../api.ts";

/** Throws if a session variable that the query needs is missing. @throws RelApiError `missing-session-variable` */
export const rejectMissingVariables = ({ programs, session }: LiveQuery): void => {
  for (const { program, values } of programs)
    for (const statement of program.statements) fillSlots(statement.slots, values, session);
};

/** Creates the source of a GraphQL subscription, whose results are the text of the `data` object. */
export const createGraphqlSource = (
  context: PluginContext,
  engine: GqlEngine,
  request: GqlRequest,
  session: Session,
  settings?: Execution["settings"],
): LiveSource => {
  /** Translates errors of the current plan into errors for the client. */
  let convertError: ((error: unknown) => unknown) | undefined;

  const buildPlan = (document: ValidatedDocument): LiveQuery | LiveEvents => {
    const operation = document.bind();
    const events = operation.calls.find((call) => call.events !== undefined);
    if (events !== undefined) {
      if (operation.outputs.length > 1) throw remoteSubscriptionNotAlone(events.path);
      operation.cachePlan();
      return new GraphqlEvents(engine, operation, session, settings);
    }
    const calls = operation.calls.map(({ live, path }) => {
      if (live === undefined || operation.loads.length > 0) throw functionFieldNotLive(path);
      return { ...live(session), path };
    });
    convertError = calls[0]?.convertError;
    operation.cachePlan();
    return buildQuery(context, engine, operation, calls, session, settings);
  };

  return {
    plan: () => {
      const document = engine.prepare(request, session);
      return document instanceof Promise ? document.then(buildPlan) : buildPlan(document);
    },
    encodeError: (error) => engine.encodeErrors(convertError?.(error) ?? error, session).body,
  };
};

/** The events of a subscription that another GraphQL schema sends. It is a class, so that `isSame` recognizes it. */
class GraphqlEvents implements LiveEvents {
  readonly #engine: GqlEngine;
  readonly #operation: GqlOperation;
  readonly #session: Session;
  readonly #settings: Execution["settings"];

  constructor(engine: GqlEngine, operation: GqlOperation, session: Session, settings: Execution["settings"]) {
    this.#engine = engine;
    this.#operation = operation;
    this.#session = session;
    this.#settings = settings;
  }

  isSame(otherEvents: LiveEvents): boolean {
    if (!(otherEvents instanceof GraphqlEvents)) return false;
    const [gqlEvents, otherGqlEvents] = [this.#operation, otherEvents.#operation].map(({ calls }) => calls[0]?.events);
    return gqlEvents !== undefined && otherGqlEvents !== undefined && gqlEvents.isSame(otherGqlEvents);
  }

  open(signal: AbortSignal, emit: Parameters<LiveEvents["open"]>[1]): Promise<void> {
    return this.#engine.openEvents(this.#operation, this.#session, signal, emit);
  }

  complete(event: string): Promise<string> {
    return this.#engine.assembleEvent(this.#operation, event, this.#session, this.#settings);
  }
}

const buildQuery = (
  context: PluginContext,
  engine: GqlEngine,
  operation: GqlOperation,
  calls: readonly (GqlLiveCall & { readonly path: string })[],
  session: Session,
  settings: Execution["settings"],
): LiveQuery => {
  const { steps, outputs, loads } = operation;
  return {
    session,
    schema: context.model().schemas[0] ?? "public",
    keepsLoginPath: true,
    settings,
    programs: [
      ...steps.map(({ program, values, path }) => ({
        program,
        // The slice is an exact copy, because an array that has grown reserves more memory.
        values: values.slice(),
        path,
      })),
      ...calls.map(({ program, path }) => ({ program, values: [], path })),
    ],
    // An operation with one body is assembled in the same way under any name.
    form:
      outputs.length === 1 && "bundle" in (outputs[0] ?? {}) && loads.length === 0
        ? ""
        : JSON.stringify([outputs, loads.map(({ fields }) => fields.map(({ key }) => key))]),
    assemble: (bodies) => {
      const texts = calls.map(({ text }, i) => text(bodies[steps.length + i] ?? null));
      return engine.assemble(operation, bodies, texts);
    },
    complete:
      loads.length === 0 && calls.every(({ complete }) => complete === undefined)
        ? undefined
        : (bodies) => engine.completeLive(operation, calls, bodies, session, settings),
  };
};
