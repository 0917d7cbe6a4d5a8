/** Checks the arguments of actions by schemas of other libraries. @rule X-ACT-16 */
import type { Json } from "../../../core/index.ts";
import { actionInputInvalid } from "./errors.ts";

/** The arguments of an action without `inputSchema`. Numbers that JavaScript would change keep their text
 *  (`getNumberText`). */
export type ActionArguments = Readonly<Record<string, Json>>;

/** A schema of zod, Valibot, ArkType or another library that implements Standard Schema
 *  (https://standardschema.dev). */
export interface InputSchema<Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Input> | Promise<SchemaResult<Input>>;
    readonly types?: { readonly input: unknown; readonly output: Input } | undefined;
  };
}

type SchemaResult<Input> =
  | { readonly value: Input; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

const describeIssue = ({ message, path = [] }: SchemaIssue): string => {
  const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
  return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
};

export const isInputSchema = (value: unknown): value is InputSchema<unknown> => {
  const standard = (value as Partial<InputSchema<unknown>> | null)?.["~standard"];
  return standard?.version === 1 && typeof standard.validate === "function";
};

/** Returns the arguments as the schema converts them. The result has the type that `actions` gives the function's
 *  input. @throws RelApiError `validation-failed` @rule X-ACT-16 */
export const parseInput = async (
  schema: InputSchema<unknown> | undefined,
  input: ActionArguments,
): Promise<ActionArguments> => {
  if (schema === undefined) return input;
  const result = await schema["~standard"].validate(input);
  if (result.issues !== undefined) throw actionInputInvalid(result.issues.map(describeIssue).join("; "));
  return result.value as ActionArguments;
};
