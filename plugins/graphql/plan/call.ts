/** Fields that a plugin's function resolves: the request to the function, and the selection on its result.
 *  @rule X-GQL-4 */
import { getNamedType, isListType, isNonNullType, isObjectType, type GraphQLOutputType } from "graphql";
import { RelApiError, type Json } from "../../../core/index.ts";
import { isPlainObject } from "../values/leaf.ts";
import { writeJson } from "../values/numbers.ts";
import { computeValue, type VariableValues } from "../document/variables.ts";
import { functionRejected } from "../errors.ts";
import type { GqlCall, GqlFollowUp, GqlLiveCall } from "../operations.ts";
import type { GqlFunctionRequest, GqlLiveField, GqlSelected } from "../plan-parts.ts";
import { describeOrigin, fieldMisplaced, readArgumentLeaves } from "./plugin-fields.ts";
import type { CustomPart, CustomPartWith, FindRead, FunctionField, JoinTemplate, WriteJoin } from "./function-field.ts";
import { bindObjects, readKeys } from "./join-objects.ts";
import type { Planner, PlanJoin, SelectedField } from "./planner.ts";
import { visitSelections, checkSubselection } from "./selection.ts";

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
  /** The shape of the member's value. Undefined for `__typename` and for rows of a table. */
  readonly shape: ResultShape | undefined;
  /** The index of the read that gives the member its rows. */
  readonly join?: number;
}

/** Plans a field with rows of a table, and returns its index among those of the result. */
type AddJoin = (selectedField: SelectedField, part: CustomPartWith<"join">) => number;

const planShape = (planner: Planner, selectedField: SelectedField, addJoin: AddJoin): ResultShape => {
  const { type } = selectedField.field;
  const object = checkSubselection(selectedField);
  if (object === undefined) return { type, members: [] };
  const members: ShapeMember[] = [];
  visitSelections(planner, object, selectedField, (selection) => {
    if (selection.kind === "typename") {
      members.push({ as: selection.as, name: "__typename", key: "", leaves: [], shape: undefined });
      return;
    }
    const { as, name, field, part } = selection;
    if (part?.kind === "custom" && "join" in part) {
      const join = addJoin(selection, part);
      members.push({ as, name, key: "", leaves: [], shape: undefined, join });
      return;
    }
    const key = field.args.length === 0 ? name : `:${members.length}`;
    members.push({
      as,
      name,
      key,
      leaves: readArgumentLeaves(planner, selection),
      shape: planShape(planner, selection, addJoin),
    });
  });
  return { type, members };
};

const computeLeafValues = (leaves: FunctionField["leaves"], variables: VariableValues): GqlSelected["arguments"] =>
  Object.fromEntries(leaves.map(([name, leaf]) => [name, computeValue(leaf, variables)]));

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
const encodeResult = ({ type, members }: ResultShape, value: Json | undefined, writeJoin: WriteJoin): string => {
  if (isNonNullType(type)) {
    if (value === null || value === undefined) throw new TypeError(`null where the schema says "${type.toString()}"`);
    return encodeResult({ type: type.ofType, members }, value, writeJoin);
  }
  if (value === null || value === undefined) return "null";
  if (isListType(type)) {
    if (!Array.isArray(value)) throw new TypeError(`no list where the schema says "${type.toString()}"`);
    return `[${value.map((item: Json) => encodeResult({ type: type.ofType, members }, item, writeJoin)).join(",")}]`;
  }
  if (!isObjectType(type)) return writeJson(value);
  if (!isPlainObject(value)) throw new TypeError(`no object where the schema says "${type.name}"`);
  const texts = members.map(({ as, key, shape, join }) => {
    const text =
      join !== undefined
        ? writeJoin(join, value)
        : shape === undefined
          ? JSON.stringify(getNamedType(type).name)
          : encodeResult(shape, Object.hasOwn(value, key) ? value[key] : null, writeJoin);
    return `${JSON.stringify(as)}:${text}`;
  });
  return `{${texts.join(",")}}`;
};

/** Plans a field that a function resolves. `planJoin` plans the fields of its result that have rows of tables. The
 *  planner rejects such fields if the argument is missing. */
export const planFunctionField = (
  planner: Planner,
  selectedField: SelectedField,
  part: CustomPart,
  planJoin?: PlanJoin,
): FunctionField => {
  const joins: JoinTemplate[] = [];
  const shape = planShape(planner, selectedField, (inner, join) => {
    if (planJoin === undefined) throw fieldMisplaced(join);
    return joins.push(planJoin(planner, inner, join)) - 1;
  });
  return {
    origin: describeOrigin(selectedField, part),
    path: selectedField.path,
    leaves: readArgumentLeaves(planner, selectedField),
    selection: (variables) => buildSelection(shape, variables),
    joins,
    text: (result, writeJoin = () => "null") => encodeResult(shape, result, writeJoin),
  };
};

/** Computes the arguments of a function field for the variables of a request. */
export const computeArguments = (
  { leaves }: FunctionField,
  variables: VariableValues,
): GqlFunctionRequest["arguments"] => computeLeafValues(leaves, variables);

export interface CallTemplate {
  readonly field: FunctionField;
  readonly run: CustomPartWith<"run">["run"];
  readonly live: CustomPartWith<"run">["live"];
}

/** Returns the text of a result. The rows that belong to its objects are read first. */
const writeResult = async (
  field: FunctionField,
  result: Json,
  { read }: GqlFollowUp,
  findRead: FindRead,
): Promise<string> => {
  const objects = field.joins.map((): Readonly<Record<string, Json>>[] => []);
  const text = field.text(result, (join, object) => {
    objects[join]!.push(readKeys(field.joins[join]!, object)); // a join is an index of `joins`
    return "";
  });
  const usedJoins = field.joins.flatMap((join, i) => (objects[i]?.length === 0 ? [] : [{ join, i }]));
  if (usedJoins.length === 0) return text;
  const rows = await read(usedJoins.map(({ join, i }) => bindObjects(join, objects[i] ?? [], findRead)));
  const texts = new Map(usedJoins.map(({ i }, position) => [i, rows[position]?.values()]));
  return field.text(result, (join) => texts.get(join)?.next().value ?? "null");
};

/** Builds the call of a live query, whose statement replaces the function. */
const buildLiveCall = (
  field: FunctionField,
  { program, read, convertError }: GqlLiveField,
  findRead: FindRead,
): GqlLiveCall => {
  /** The errors of reads that complete a result. They have a path of their own. */
  const completionErrors = new WeakSet<object>();
  const complete: GqlLiveCall["complete"] = async (body, followUp) => {
    try {
      return await writeResult(field, read(body ?? "null"), followUp, findRead);
    } catch (error) {
      completionErrors.add(error as Error); // only errors are thrown
      throw error;
    }
  };
  return {
    program,
    // A join is an index of `joins`.
    text: (body) => field.text(read(body ?? "null"), (join, object) => writeJson(readKeys(field.joins[join]!, object))),
    complete: field.joins.length === 0 ? undefined : complete,
    convertError: (error) => {
      if (completionErrors.has(error as Error)) return error;
      const convertedError = convertError(error);
      return convertedError instanceof RelApiError ? functionRejected(convertedError, field.path) : convertedError;
    },
  };
};

/** Fills the template of a call with the variables of a request. */
export const fillCall = (
  { field, run, live }: CallTemplate,
  variables: VariableValues,
  findRead: FindRead,
): GqlCall => {
  const request = { arguments: computeArguments(field, variables), selection: field.selection(variables) };
  return {
    origin: field.origin,
    path: field.path,
    run: async (context, followUp) => writeResult(field, await run({ ...context, ...request }), followUp, findRead),
    live: live && ((session) => buildLiveCall(field, live({ ...request, session }), findRead)),
  };
};
