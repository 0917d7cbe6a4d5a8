/** Serves functions of the application as root fields: `actions({ login: { args: "name: String!", output: "String", … } })`. */
import {
  definePlugin,
  memoize,
  presetError,
  type Json,
  type Model,
  type OpenExchange,
  type Plugin,
  type Session,
} from "../../../core/index.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields } from "../../graphql/api.ts";
import { readActionSdl } from "../../shared/action-sdl.ts";
import {
  getDatabaseTypes,
  readActionField,
  readCustomTypes,
  type ActionField,
  type ActionSurroundings,
  type CustomTypes,
} from "./definitions.ts";
import { createActionTypes } from "./graphql-types.ts";
import { findResultProblem } from "./result.ts";

/** The argument of an action's function. */
export interface ActionRequest {
  /** The coerced arguments. Numbers that JavaScript would change keep their text (`numberText`). */
  readonly input: Readonly<Record<string, Json>>;
  readonly session: Session;
  /** The signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** The request of the client. Undefined for operations of WebSockets. */
  readonly exchange: OpenExchange | undefined;
}

/** An action with a function. */
export interface Action {
  /** The root of the field, by default `mutation`. */
  readonly type?: "query" | "mutation";
  /** The arguments as SDL: `name: String!, tags: [String!]`. */
  readonly args?: string;
  /** The type of the result as SDL: `Token!`. */
  readonly output: string;
  /** The roles that may call the action, in addition to administrators. */
  readonly roles?: readonly string[];
  readonly description?: string;
  /** Returns JSON that fits the output type. @throws RelApiError for an error that the client sees */
  readonly run: (request: ActionRequest) => Json | Promise<Json>;
}

interface OwnActions {
  readonly types: CustomTypes;
  readonly fields: readonly (readonly [field: ActionField, action: Action])[];
}

/** Returns a plugin that serves functions as root fields. `types` is SDL of the types that arguments and outputs name:
 *  `type Token { value: String! }`. @throws RelApiError `preset` if the SDL cannot be read @rule X-ACT-9 */
export const actions = (definitions: Readonly<Record<string, Action>>, types = ""): Plugin =>
  definePlugin({
    name: "actions",
    requires: ["graphql-queries"],
    apply: (hooks) => {
      const read = memoize((model: Model) => readOwnActions(definitions, types, model));
      const getTypes = memoize((build: GqlBuild) => createActionTypes(build, read(build.schema.model).types));
      hooks.introspect.tap("actions", (model) => {
        read(model); // a mistake is found at the start
        return model;
      });
      hooks.buildGqlField.tap("actions", (fields: GqlFields, { scope, role, model, build }: GqlFieldContext) => {
        if (scope !== "query_root" && scope !== "mutation_root") return fields;
        const own = read(model);
        const added: Record<string, GqlField> = {};
        for (const [field, action] of own.fields) {
          if (scope !== `${field.root}_root` || !(role === "admin" || field.roles.has(role))) continue;
          const config = getTypes(build).buildField(field);
          if (config !== undefined) added[field.name] = buildField(config, field, action, own.types);
        }
        return { ...fields, ...added };
      });
    },
  });

const buildField = (config: GqlField["config"], field: ActionField, { run }: Action, types: CustomTypes): GqlField => ({
  config,
  toPlan: {
    kind: "custom",
    run: async ({ arguments: input, session, signal, exchange }) => {
      const value = await run({ input, session, signal, exchange });
      const problem = findResultProblem(field.output, value ?? null, types);
      if (problem !== undefined) throw new TypeError(`action ${field.name}: ${problem}`);
      return value;
    },
  },
});

/** @throws RelApiError `preset` */
const readOwnActions = (definitions: Readonly<Record<string, Action>>, sdl: string, model: Model): OwnActions => {
  const surroundings: ActionSurroundings = {
    takenRoots: new Set(),
    takenTypes: new Set(),
    isDatabaseType: (name) => getDatabaseTypes(model).has(name),
  };
  const types = refuseMistakes("types", () =>
    readCustomTypes({ ...readActionSdl(sdl).customTypes }, surroundings, (_, name, reason) => {
      throw new Error(`${name}: ${reason}`);
    }),
  );
  const fields = Object.entries(definitions).map(([name, action]) =>
    refuseMistakes(name, () => {
      const { args = "", type = "mutation", output, roles = [], description } = action;
      const root = type === "query" ? "Query" : "Mutation";
      const field = `${name}${args.trim() === "" ? "" : `(${args})`}: ${output}`;
      const definition = readActionSdl(`type ${root} { ${field} }`).definitions.get(name);
      const raw = {
        name,
        definition: definition ?? {},
        permissions: roles.map((role) => ({ role })),
        ...(description === undefined ? {} : { comment: description }),
      };
      return [readActionField(raw, types, surroundings), action] as const;
    }),
  );
  return { types, fields };
};

const refuseMistakes = <Result>(name: string, read: () => Result): Result => {
  try {
    return read();
  } catch (error) {
    throw presetError(`actions: ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
};
