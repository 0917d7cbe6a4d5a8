/** Errors of function calls. */
import { RelApiError, type Model, type Routine, type RoutineParameter } from "../../core/index.ts";
import { declaredName } from "./openapi-types.ts";
import type { CallShape } from "./overload.ts";

/** `s.f(a => integer)`, types as declared; an unnamed parameter shows its type alone. */
const signature = (model: Model, { schema, name, parameters }: Routine): string => {
  const typeOf = ({ type, sqlType }: RoutineParameter): string => {
    const declared = model.types.get(type);
    return declared === undefined ? sqlType : declaredName(declared);
  };
  return `${schema}.${name}(${parameters.map((parameter) => `${parameter.name} => ${typeOf(parameter)}`).join(", ")})`;
};

/** @rule R-RPC-8 PGRST203 */
export const ambiguousRoutine = (model: Model, candidates: readonly Routine[]): RelApiError => {
  const sorted = [...candidates].sort((a, b) => a.parameters.length - b.parameters.length);
  return new RelApiError({
    code: "ambiguous-routine",
    status: 300,
    message: `Could not choose the best candidate function between: ${sorted.map((routine) => signature(model, routine)).join(", ")}`,
    hint: "Try renaming the parameters or the function itself in the database so function overloading can be resolved",
  });
};

const RAW_NAMES = { json: "json/jsonb", text: "text", xml: "xml", bytea: "bytea" } as const;

/** What was looked for, in the words of the details. @rule R-RPC-9 */
const searched = ({ names, raw }: CallShape): string => {
  if (raw !== undefined && raw !== "json") return ` with a single unnamed ${RAW_NAMES[raw]} parameter`;
  const named =
    names.length === 0
      ? " without parameters"
      : names.length === 1
        ? ` with parameter ${names[0]}`
        : ` with parameters ${names.join(", ")}`;
  return raw === "json" ? `${named} or with a single unnamed ${RAW_NAMES.json} parameter` : named;
};

/** `suggestion`: `f`, or `f(a, b)` for another overload. @rule R-RPC-9 R-RPC-10 PGRST202 */
export const routineNotFound = (
  schema: string,
  name: string,
  call: CallShape,
  suggestion: string | undefined,
): RelApiError => {
  const isRaw = call.raw !== undefined && call.raw !== "json";
  const shown = isRaw ? "" : call.names.length === 0 ? " without parameters" : `(${call.names.join(", ")})`;
  return new RelApiError({
    code: "routine-not-found",
    status: 404,
    message: `Could not find the function ${schema}.${name}${shown} in the schema cache`,
    details: `Searched for the function ${schema}.${name}${searched(call)}, but no matches were found in the schema cache.`,
    hint: suggestion === undefined ? null : `Perhaps you meant to call the function ${schema}.${suggestion}`,
    facts:
      suggestion === undefined ? {} : { schema, suggestion: suggestion.startsWith(`${name}(`) ? name : suggestion },
  });
};

/** @rule R-PRF-5 PGRST128 */
export const maxAffectedOnSingle = (): RelApiError =>
  new RelApiError({
    code: "max-affected-on-single",
    status: 400,
    message: "Function must return SETOF or TABLE when max-affected preference is used with handling=strict",
  });
