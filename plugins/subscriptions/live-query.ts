/** What a live query is to the engine, whichever surface and transport it comes through. */
import { fillSlots, type Execution, type Plan, type PluginContext, type Session } from "../../core/index.ts";
import type { GqlEngine, GqlRequest } from "../graphql/api.ts";

/** A planned query: what runs, as whom, and how the bodies make the answer. */
export interface LiveQuery {
  readonly session: Session;
  readonly schema: string;
  readonly keepsLoginPath?: Execution["keepsLoginPath"];
  readonly settings?: Execution["settings"];
  readonly isolation?: string;
  readonly programs: Execution["programs"];
  /** What the one program was compiled from, where it is one. */
  readonly read?: Plan;
  /** Tells apart queries that make different texts of equal bodies. */
  readonly form: string;
  assemble(bodies: readonly (string | null)[]): string;
  /** Functions of plugins answer a part of it, each time that `assemble` gives another text. They know the caller, so
   *  the answers are nobody else's. @rule X-GQL-7 */
  readonly complete?: (bodies: readonly (string | null)[]) => Promise<string>;
}

/** @throws RelApiError `missing-session-variable` */
export const refuseMissing = ({ programs, session }: LiveQuery): void => {
  for (const { program, values } of programs)
    for (const statement of program.statements) fillSlots(statement.slots, values, session);
};

/** Where a live query comes from. */
export interface LiveSource {
  /** On the model in force; asked again after each reload. @throws RelApiError when it is not (or no longer) a query */
  plan(): LiveQuery;
  /** The text of the answer that an error of a run is. */
  encodeError(error: unknown): string;
}

export interface LiveAnswer {
  /** Equal texts have equal hashes. */
  readonly hash: string;
  readonly text: string;
  /** `text` is what `encodeError` made. */
  readonly isError: boolean;
}

export interface Subscriber {
  answer(answer: LiveAnswer): void;
  /** The live query has ended: it is no longer a query (G-SUB-8), or the api closes (without an error). */
  end(error?: unknown): void;
}

/** Offered under `LIVE_QUERIES` by the plugin of that name. */
export interface LiveQueries {
  /** `lastHash`: of the answer that the subscriber has already. Returns how to stop. @throws what `plan` throws, and
   *  `missing-session-variable` */
  subscribe(source: LiveSource, subscriber: Subscriber, lastHash?: string): () => void;
  /** Asks the change sources anew: one has come or gone. Everything runs once, since nobody watched in between. */
  rewatch(): void;
}

export const LIVE_QUERIES = "live-queries";

/** A subscription of the GraphQL surface; its answers are texts of the `data` object. */
export const graphqlSource = (
  context: PluginContext,
  engine: GqlEngine,
  request: GqlRequest,
  session: Session,
  settings?: Execution["settings"],
): LiveSource => ({
  plan: () => {
    const operation = engine.prepare(request, session).bind(request.variables);
    const programs = operation.steps.map(({ planned, values, path }) => ({
      program: context.prepare(planned, session, "graphql"),
      values,
      path,
    }));
    operation.keep();
    return {
      session,
      schema: context.model().schemas[0] ?? "public",
      keepsLoginPath: true,
      ...(settings === undefined ? {} : { settings }),
      programs,
      ...(operation.steps.length === 1 && operation.steps[0] !== undefined
        ? { read: operation.steps[0].planned.plan }
        : {}),
      // the usual one is its one body, whatever the selection is called
      form:
        operation.outputs.length === 1 && "bundle" in (operation.outputs[0] ?? {}) && operation.loads.length === 0
          ? ""
          : JSON.stringify([operation.outputs, operation.loads.map(({ fields }) => fields.map(({ form }) => form))]),
      assemble: (bodies) => engine.assemble(operation, bodies),
      ...(operation.loads.length === 0
        ? {}
        : { complete: (bodies: readonly (string | null)[]) => engine.complete(operation, bodies, session) }),
    };
  },
  encodeError: (error) => engine.encodeErrors(error, session).body,
});
