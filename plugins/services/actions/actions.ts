/** Serves functions of the application as root fields: `actions({ login: { args: "name: String!", output: "String", …
 *  } })`. */
import {
  getErrorMessage,
  definePlugin,
  memoize,
  presetError,
  RelApiError,
  writeJson,
  type Json,
  type Model,
  type OpenExchange,
  type Plugin,
  type Session,
} from "../../../core/index.ts";
import { untilAborted } from "../../shared/abort.ts";
import type { GqlField, GqlFieldContext, GqlFields, GqlScope } from "../../graphql/api.ts";
import { readActionSdl } from "../../shared/action-sdl.ts";
import { createProblemLog, type ProblemLog } from "../webhook/problem-log.ts";
import { restoreSessionVariables } from "../webhook/session-variables.ts";
import { addDeliveries, buildBackgroundPlan, buildDelivery, type BackgroundAction } from "./asynchronous.ts";
import {
  checkAsynchronous,
  actionObjectExcluded,
  getDatabaseTypes,
  readActionField,
  readSeconds,
  readCustomTypes,
  type ActionField,
  type ActionSurroundings,
  type CustomTypes,
} from "./definitions.ts";
import { actionStatusInvalid } from "./errors.ts";
import { createFieldBuilder } from "./fields.ts";
import { isInputSchema, parseInput, type ActionArguments, type InputSchema } from "./input-schema.ts";
import { findResultProblem } from "./result.ts";

/** The input of a function: the output of the schema, or the arguments if there is no schema. */
type InputOf<Output> = unknown extends Output ? ActionArguments : Output;

/** The argument of an action's function. */
export interface ActionRequest<Input = ActionArguments> {
  /** The coerced arguments, or the output of `inputSchema`. */
  readonly input: Input;
  readonly session: Session;
  /** The signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** The request of the client. Undefined for operations of WebSockets. */
  readonly exchange: OpenExchange | undefined;
}

/** The argument of an asynchronous action's function. @rule X-ACT-14 */
export interface AsynchronousActionRequest<Input = ActionArguments> {
  /** The id that the mutation returned. Repeated calls of the function receive the same id. */
  readonly id: string;
  readonly createdAt: Date;
  /** The coerced arguments, or the output of `inputSchema`. */
  readonly input: Input;
  /** The session variables of the caller by `x-session-` name, with the role. */
  readonly session: Readonly<Record<string, string>>;
  /** The signal that is aborted when the time limit has passed, or when the process ends. */
  readonly signal: AbortSignal;
}

interface ActionDeclaration<Output> {
  /** The arguments as SDL: `name: String!, tags: [String!]`. */
  readonly args?: string;
  /** A schema of zod, Valibot or ArkType that checks and converts the arguments. @rule X-ACT-16 */
  readonly inputSchema?: InputSchema<Output>;
  /** The type of the result as SDL: `Token!`. */
  readonly output: string;
  /** The roles that may call the action, in addition to administrators. */
  readonly roles?: readonly string[];
  readonly description?: string;
}

/** An action whose field returns the result of a function. */
export interface SynchronousAction<Output = unknown> extends ActionDeclaration<Output> {
  readonly kind?: "synchronous";
  /** The root type that has the field, by default `mutation`. */
  readonly type?: "query" | "mutation";
  /** Returns JSON that fits the output type. @throws RelApiError for an error that the client sees */
  readonly run: (request: ActionRequest<InputOf<Output>>) => Json | Promise<Json>;
}

/** An action whose mutation returns an id, while a function runs in the background. @rule X-ACT-14 */
export interface AsynchronousAction<Output = unknown> extends ActionDeclaration<Output> {
  readonly kind: "asynchronous";
  /** The time limit of the function; by default 60 seconds. */
  readonly timeoutSeconds?: number;
  /** Returns JSON that fits the output type. The function is called again if the process ends before the function has
   *  returned. @throws RelApiError for an error that the client sees */
  readonly run: (request: AsynchronousActionRequest<InputOf<Output>>) => Json | Promise<Json>;
}

/** An action with a function. `Output` is the type that `inputSchema` gives the arguments. */
export type Action<Output = unknown> = SynchronousAction<Output> | AsynchronousAction<Output>;

interface OwnActions {
  readonly types: CustomTypes;
  readonly fields: readonly (readonly [field: ActionField, action: Action])[];
}

/** Returns a plugin that serves functions as root fields. `types` is SDL of the types that arguments and outputs name:
 *  `type Token { value: String! }`. @throws RelApiError `preset` if the SDL cannot be read @rule X-ACT-9 */
export const actions = <Outputs extends Readonly<Record<string, unknown>>>(
  definitions: { readonly [Name in keyof Outputs]: Action<Outputs[Name]> },
  types = "",
): Plugin => {
  if (!isObject(definitions)) throw presetError("actions: the first argument is not an object of actions");
  // Each function gets the output of its own schema.
  const actionsByName = definitions as Readonly<Record<string, Action>>;
  if (typeof types !== "string") throw presetError("actions: the second argument is not a string of SDL");
  for (const [name, action] of Object.entries(actionsByName)) addActionName(name, () => checkOptions(action));
  return definePlugin({
    name: "actions",
    requires: ["graphql-queries"],
    // Functions precede webhooks, and the tap of `events` delivers asynchronous actions.
    before: ["metadata-actions", "events"],
    apply: (hooks, context) => {
      const read = memoize((model: Model) =>
        readOwnActions(actionsByName, types, model, context.registry.has("events")),
      );
      const logProblem = createProblemLog((action, reason) =>
        context.logger.error("an action failed", { action, reason }),
      );
      const buildFields = createFieldBuilder((model) => {
        const { types: ownTypes, fields } = read(model);
        const served = fields.map(([field, action]) => ({
          field,
          isAsynchronous: action.kind === "asynchronous",
          buildPlan: (scope: GqlScope) =>
            action.kind === "asynchronous"
              ? buildBackgroundPlan(context, field.name, false, scope, (input) => parseInput(action.inputSchema, input))
              : buildPlan(field, action, ownTypes),
        }));
        return { types: ownTypes, actions: served };
      });
      hooks.introspect.tap("actions", (model) => {
        const ownActions = read(model); // `read` checks the definitions at the start, before a model is loaded
        const deliveries = ownActions.fields.flatMap(([field, action]) =>
          action.kind === "asynchronous"
            ? buildDelivery(context, buildBackgroundAction(field, action, ownActions.types, logProblem))
            : [],
        );
        return addDeliveries(model, deliveries);
      });
      hooks.buildGqlField.tap("actions", (fields: GqlFields, field: GqlFieldContext) => ({
        ...fields,
        ...buildFields(field),
      }));
    },
  });
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const OPTIONS: ReadonlySet<string> = new Set([
  "kind",
  "type",
  "args",
  "inputSchema",
  "output",
  "roles",
  "description",
  "run",
]);

/** Checks the options of an action, because JavaScript has no types. @throws Error with the reason */
const checkOptions = (action: unknown): void => {
  if (!isObject(action) || typeof action["run"] !== "function") throw actionObjectExcluded("it has no function run");
  const {
    kind = "synchronous",
    type = "mutation",
    args = "",
    inputSchema,
    output,
    roles = [],
    description = "",
  } = action;
  if (kind !== "synchronous" && kind !== "asynchronous") throw actionObjectExcluded("its kind is unknown");
  if (type !== "query" && type !== "mutation") throw actionObjectExcluded("its type is neither query nor mutation");
  for (const option of Object.keys(action))
    if (!OPTIONS.has(option) && !(option === "timeoutSeconds" && kind === "asynchronous"))
      throw actionObjectExcluded(`it has an unknown option "${option}"`);
  if (typeof args !== "string") throw actionObjectExcluded("its args are not a string of SDL");
  if (inputSchema !== undefined && !isInputSchema(inputSchema))
    throw actionObjectExcluded("its inputSchema does not implement Standard Schema");
  if (typeof output !== "string") throw actionObjectExcluded("its output is not a string of SDL");
  if (!(Array.isArray(roles) && roles.every((role) => typeof role === "string")))
    throw actionObjectExcluded("its roles are no list of names");
  if (typeof description !== "string") throw actionObjectExcluded("its description is not a string");
};

/** Returns the result of a function, with null in place of undefined.
 *  @throws TypeError if the result does not fit the output type */
const checkResult = ({ name, output }: ActionField, result: Json | undefined, types: CustomTypes): Json => {
  const checkedResult = result ?? null;
  const problem = findResultProblem(output, checkedResult, types);
  if (problem !== undefined) throw new TypeError(`action ${name}: ${problem}`);
  return checkedResult;
};

const buildPlan = (
  field: ActionField,
  { inputSchema, run }: SynchronousAction,
  types: CustomTypes,
): GqlField["toPlan"] => ({
  kind: "custom",
  run: async ({ arguments: args, session, signal, exchange }) => {
    const input = await parseInput(inputSchema, args);
    return checkResult(field, await run({ input, session, signal, exchange }), types);
  },
});

const DEFAULT_SECONDS = 60;

/** Runs a function. Rejects with the reason of the signal when the signal is aborted, even if the function
 *  continues. */
const runUntilAborted = async <Result>(run: () => Promise<Result>, signal: AbortSignal): Promise<Result> => {
  signal.throwIfAborted();
  const outcome = await untilAborted(
    run().then((result) => ({ result })),
    signal,
  );
  if (outcome === undefined) throw signal.reason;
  return outcome.result;
};

/** Builds the action of a function that runs in the background. @rule X-ACT-14 */
const buildBackgroundAction = (
  field: ActionField,
  { inputSchema, run, timeoutSeconds = DEFAULT_SECONDS }: AsynchronousAction,
  types: CustomTypes,
  logProblem: ProblemLog,
): BackgroundAction => ({
  name: field.name,
  timeoutMs: timeoutSeconds * 1000,
  call: async ({ id, createdAt, input, sessionVariables }, processSignal) => {
    const limit = AbortSignal.timeout(timeoutSeconds * 1000);
    const signal = AbortSignal.any([processSignal, limit]);
    const createRequest = async (): Promise<AsynchronousActionRequest> => ({
      id,
      createdAt: new Date(createdAt),
      input: await parseInput(inputSchema, input as ActionArguments), // the arguments were stored as an object
      // The variables were stored as texts.
      session: restoreSessionVariables(sessionVariables as Readonly<Record<string, string>>),
      signal,
    });
    try {
      const result = await runUntilAborted(async () => run(await createRequest()), signal);
      return writeJson(checkResult(field, result, types));
    } catch (error) {
      if (error instanceof RelApiError) throw error;
      processSignal.throwIfAborted(); // the process ends, and another process calls the function again
      logProblem(field.name, limit.aborted ? `no result within ${timeoutSeconds} s` : getErrorMessage(error));
      throw actionStatusInvalid();
    }
  },
});

/** Returns the actions that the application defines by functions. @throws RelApiError `preset` */
const readOwnActions = (
  definitions: Readonly<Record<string, Action>>,
  sdl: string,
  model: Model,
  hasQueue: boolean,
): OwnActions => {
  const surroundings: ActionSurroundings = {
    hasQueue,
    takenRoots: new Set(),
    takenTypes: new Set(),
    isDatabaseType: (name) => getDatabaseTypes(model).has(name),
  };
  const types = addActionName("types", () =>
    readCustomTypes({ ...readActionSdl(sdl).customTypes }, surroundings, (_, name, reason) => {
      throw new Error(`${name}: ${reason}`);
    }),
  );
  const fields = Object.entries(definitions).map(([name, action]) =>
    addActionName(name, () => {
      const { args = "", output, roles = [], description } = action;
      const { type = "mutation" } = action as { readonly type?: string }; // code in JavaScript may pass another value
      const root = type === "query" ? "Query" : "Mutation";
      const field = `${name}${args.trim() === "" ? "" : `(${args})`}: ${output}`;
      const read = readActionSdl(`type ${root} { ${field} }`).definitions;
      if (read.size !== 1) throw actionObjectExcluded("its args and output declare another field");
      const rawAction = {
        name,
        definition: read.get(name) ?? {},
        permissions: roles.map((role) => ({ role })),
        ...(description === undefined ? {} : { comment: description }),
      };
      const served = readActionField(rawAction, types, surroundings);
      if (action.kind === "asynchronous") {
        checkAsynchronous(served, types, surroundings);
        readSeconds(action.timeoutSeconds, DEFAULT_SECONDS);
      }
      return [served, action] as const;
    }),
  );
  return { types, fields };
};

const addActionName = <Result>(name: string, read: () => Result): Result => {
  try {
    return read();
  } catch (error) {
    throw presetError(`actions: ${name}: ${getErrorMessage(error)}`);
  }
};
