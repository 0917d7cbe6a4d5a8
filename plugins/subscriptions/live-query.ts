/** Live queries of the GraphQL surface, and what every source shares. */
import { fillSlots, type Execution, type PluginContext, type Session } from "../../core/index.ts";
import { answeredByFunction } from "./errors.ts";
import type { GqlEngine, GqlRequest } from "../graphql/api.ts";
import type { LiveQuery, LiveSource } from "./api.ts";

/** @throws RelApiError `missing-session-variable` */
export const refuseMissing = ({ programs, session }: LiveQuery): void => {
  for (const { program, values } of programs)
    for (const statement of program.statements) fillSlots(statement.slots, values, session);
};

/** A subscription of the GraphQL surface; its results are the text of the `data` object. */
export const graphqlSource = (
  context: PluginContext,
  engine: GqlEngine,
  request: GqlRequest,
  session: Session,
  settings?: Execution["settings"],
): LiveSource => ({
  plan: () => {
    const operation = engine.prepare(request, session).bind(request.variables);
    if (operation.calls.length > 0) throw answeredByFunction(operation.calls[0]?.path);
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
