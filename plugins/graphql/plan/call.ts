/** Fields that a plugin's function resolves: the request to the function, and the selection on its result.
 *  @rule X-GQL-4 */
import { getNamedType, isListType, isNonNullType, isObjectType, type GraphQLOutputType } from "graphql";
import { RelApiError, type Json } from "../../../core/index.ts";
import { isPlainObject } from "../coerce/leaf.ts";
import { writeJson } from "../coerce/numbers.ts";
import type { VariableValues } from "../document/variables.ts";
import { functionRefused } from "../errors.ts";
import type { GqlCall, GqlLiveCall } from "../operations.ts";
import type { GqlFunctionRequest, GqlLiveField, GqlSelected } from "../parts.ts";
import { describeOrigin, readArgumentLeaves } from "./plugin-fields.ts";
import type { CustomPart, FunctionField, CustomPartWith } from "./function-field.ts";
import type { Planner } from "./planner.ts";
import { visitSelections, checkSubselection, type SelectedField } from "./selection.ts";

/** The type and the selected members of a result. */
interface ResultShape {
  readonly type: GraphQLOutputType;
  readonly members: readonly ShapeMember[];
}

interface ShapeMember {
  readonly as: string;
  readonly name: string;
  /** The key of the member in the result. */
  readonly key: string;
  readonly leaves: FunctionField["leaves"];
  /** The shape of the member's value. Undefined for `__typename`. */
  readonly shape: ResultShape | undefined;
}

const planShape = (planner: Planner, selected: SelectedField): ResultShape => {
  const { type } = selected.field;
  const object = checkSubselection(selected);
  if (object === undefined) return { type, members: [] };
  const members: ShapeMember[] = [];
  visitSelections(planner, object, selected.selections, selected.path, (selection) => {
    if (selection.kind === "typename") {
      members.push({ as: selection.as, name: "__typename", key: "", leaves: [], shape: undefined });
      return;
    }
    const { as, name, field } = selection;
    const key = field.args.length === 0 ? name : `:${members.length}`;
    members.push({
      as,
      name,
      key,
      leaves: readArgumentLeaves(planner, selection),
      shape: planShape(planner, selection),
    });
  });
  return { type, members };
};

const computeLeafValues = (leaves: FunctionField["leaves"], variables: VariableValues): GqlSelected["arguments"] =>
  Object.fromEntries(
    leaves.map(([name, { value: currentValue, recompute: recomputeValue }]) => [
      name,
      recomputeValue === undefined ? currentValue : recomputeValue(variables),
    ]),
  );

const buildSelection = ({ members }: ResultShape, variables: VariableValues): readonly GqlSelected[] =>
  members.flatMap(({ as, name, key, leaves, shape }) =>
    shape === undefined
      ? []
      : [
          {
            as,
            name,
            key,
            arguments: computeLeafValues(leaves, variables),
            selection: buildSelection(shape, variables),
          },
        ],
  );

/** Encodes the result as text, because the keys of a response may be any names, and must have the order of
 *  selection. */
const encodeResult = ({ type, members }: ResultShape, value: Json | undefined): string => {
  if (isNonNullType(type)) {
    if (value === null || value === undefined) throw new TypeError(`null where the schema says "${type.toString()}"`);
    return encodeResult({ type: type.ofType, members }, value);
  }
  if (value === null || value === undefined) return "null";
  if (isListType(type)) {
    if (!Array.isArray(value)) throw new TypeError(`no list where the schema says "${type.toString()}"`);
    return `[${value.map((item: Json) => encodeResult({ type: type.ofType, members }, item)).join(",")}]`;
  }
  if (!isObjectType(type)) return writeJson(value);
  if (!isPlainObject(value)) throw new TypeError(`no object where the schema says "${type.name}"`);
  const texts = members.map(({ as, key, shape }) => {
    const text =
      shape === undefined
        ? JSON.stringify(getNamedType(type).name)
        : encodeResult(shape, Object.hasOwn(value, key) ? value[key] : null);
    return `${JSON.stringify(as)}:${text}`;
  });
  return `{${texts.join(",")}}`;
};

export const planFunctionField = (planner: Planner, selected: SelectedField, part: CustomPart): FunctionField => {
  const shape = planShape(planner, selected);
  return {
    origin: describeOrigin(selected, part),
    path: selected.path,
    leaves: readArgumentLeaves(planner, selected),
    selection: (variables) => buildSelection(shape, variables),
    text: (result) => encodeResult(shape, result),
  };
};

export const computeArguments = (
  { leaves }: FunctionField,
  variables: VariableValues,
): GqlFunctionRequest["arguments"] => computeLeafValues(leaves, variables);

export interface CallTemplate {
  readonly field: FunctionField;
  readonly run: CustomPartWith<"run">["run"];
  readonly live: CustomPartWith<"run">["live"];
}

/** Builds the call of a live query, whose statement replaces the function. */
const buildLiveCall = (field: FunctionField, { program, read, convertError }: GqlLiveField): GqlLiveCall => ({
  program,
  text: (body) => field.text(read(body ?? "null")),
  convertError: (error) => {
    const convertedError = convertError(error);
    return convertedError instanceof RelApiError ? functionRefused(convertedError, field.path) : convertedError;
  },
});

export const fillCall = ({ field, run, live }: CallTemplate, variables: VariableValues): GqlCall => {
  const request = { arguments: computeArguments(field, variables), selection: field.selection(variables) };
  return {
    origin: field.origin,
    path: field.path,
    run: async (by) => field.text(await run({ ...by, ...request })),
    live: live && ((session) => buildLiveCall(field, live({ ...request, session }))),
  };
};
