/** Builds live queries of the GraphQL surface, and provides checks that all sources need. */
import { fillSlots, type Execution, type PluginContext, type Session } from "../../../core/index.ts";
import { eventsRequireSingleField, functionFieldNotLive } from "./errors.ts";
import type { GqlEngine, GqlLiveCall, GqlOperation, GqlRequest, ValidatedDocument } from "../../graphql/api.ts";
import type { LiveEvents, LiveQuery, LiveSource } from "../api.ts";

/** Throws if a session variable that the query needs is missing. @throws RelApiError `missing-session-variable` */
export const rejectMissingVariables = ({ programs, session }: LiveQuery): void => {
  for (const { program, values } of programs)
    for (const statement of program.statements) fillSlots(statement.slots, values, session);
};

/** A GraphQL subscription, whose results are the text of the `data` object. The class saves memory, because there is
 *  one object for every live query. */
class GraphqlSource implements LiveSource {
  readonly #context: PluginContext;
  readonly #engine: GqlEngine;
  readonly #request: GqlRequest;
  readonly #session: Session;
  readonly #settings: Execution["settings"];
  /** Translates errors of the current plan into errors for the client. */
  #convertError: ((error: unknown) => unknown) | undefined;

  constructor(
    context: PluginContext,
    engine: GqlEngine,
    request: GqlRequest,
    session: Session,
    settings?: Execution["settings"],
  ) {
    this.#context = context;
    this.#engine = engine;
    this.#request = request;
    this.#session = session;
    this.#settings = settings;
  }

  plan(): LiveQuery | LiveEvents | Promise<LiveQuery | LiveEvents> {
    const document = this.#engine.prepare(this.#request, this.#session);
    return document instanceof Promise ? document.then((prepared) => this.#planOf(prepared)) : this.#planOf(document);
  }

  #planOf(document: ValidatedDocument): LiveQuery | LiveEvents {
    const operation = document.bind();
    const events = operation.calls.find((call) => call.events !== undefined);
    if (events !== undefined) {
      if (operation.outputs.length > 1) throw eventsRequireSingleField(events.path);
      operation.cachePlan();
      return new GraphqlEvents(this.#engine, operation, this.#session, this.#settings);
    }
    const calls = operation.calls.map(({ live, path }) => {
      if (live === undefined || operation.loads.length > 0) throw functionFieldNotLive(path);
      return { ...live(this.#session), path };
    });
    this.#convertError = calls[0]?.convertError;
    operation.cachePlan();
    return new GraphqlQuery(this.#context, this.#engine, operation, calls, this.#session, this.#settings);
  }

  encodeError(error: unknown): string {
    return this.#engine.encodeErrors(this.#convertError?.(error) ?? error, this.#session).body;
  }
}

/** The events of a subscription that another GraphQL schema sends. */
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

interface LiveCall extends GqlLiveCall {
  readonly path: string;
}

class GraphqlQuery implements LiveQuery {
  readonly session: Session;
  readonly schema: string;
  readonly keepsLoginPath = true;
  readonly settings: Execution["settings"];
  readonly programs: LiveQuery["programs"];
  readonly form: string;
  readonly complete: LiveQuery["complete"];
  readonly #engine: GqlEngine;
  readonly #operation: GqlOperation;
  readonly #calls: readonly LiveCall[];

  constructor(
    context: PluginContext,
    engine: GqlEngine,
    operation: GqlOperation,
    calls: readonly LiveCall[],
    session: Session,
    settings: Execution["settings"],
  ) {
    const { steps, outputs, loads } = operation;
    this.#engine = engine;
    this.#operation = operation;
    this.#calls = calls;
    this.session = session;
    this.schema = context.model().schemas[0] ?? "public";
    this.settings = settings;
    this.programs = [
      ...steps.map(({ program, values, path }) => ({
        program,
        // The slice is an exact copy, because an array that has grown reserves more memory.
        values: values.slice(),
        path,
      })),
      ...calls.map(({ program, path }) => ({ program, values: [], path })),
    ];
    // An operation with one body is assembled in the same way under any name.
    this.form =
      outputs.length === 1 && "bundle" in (outputs[0] ?? {}) && loads.length === 0
        ? ""
        : JSON.stringify([outputs, loads.map(({ fields }) => fields.map(({ key }) => key))]);
    this.complete =
      loads.length === 0 && calls.every(({ complete }) => complete === undefined)
        ? undefined
        : (bodies) => engine.completeLive(operation, calls, bodies, session, settings);
  }

  assemble(bodies: readonly (string | null)[]): string {
    const { length } = this.#operation.steps;
    const texts = this.#calls.map(({ text }, i) => text(bodies[length + i] ?? null));
    return this.#engine.assemble(this.#operation, bodies, texts);
  }
}

export const createGraphqlSource = (...parts: ConstructorParameters<typeof GraphqlSource>): LiveSource =>
  new GraphqlSource(...parts);
