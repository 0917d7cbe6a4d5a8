/** Checks the result of an action against its output type. @rule X-ACT-6 */
import type { TypeNode } from "graphql";
import { isJsonObject, getNumberText, type Json } from "../../../core/index.ts";
import type { CustomType, CustomTypes } from "./definitions.ts";

const describe = (value: Json): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (getNumberText(value) !== undefined) return "a number";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
};

const isInteger = (value: Json): boolean => Number.isInteger(Number(getNumberText(value) ?? Number.NaN));

/** The built-in scalars. Other scalars take any JSON. */
const SCALARS: Readonly<Record<string, readonly [expected: string, accepts: (value: Json) => boolean]>> = {
  Int: ["an integer", isInteger],
  Float: ["a number", (value) => getNumberText(value) !== undefined],
  String: ["a string", (value) => typeof value === "string"],
  Boolean: ["a boolean", (value) => typeof value === "boolean"],
  ID: ["a string or an integer", (value) => typeof value === "string" || isInteger(value)],
};

/** Returns the reason why the value does not fit the type, with the position: `expecting a string for "token", but got
 *  null`. Members that the type does not have are ignored. */
export const findResultProblem = (
  type: TypeNode,
  value: Json,
  types: CustomTypes,
  position = "the result",
): string | undefined => {
  const describeMismatch = (expectation: string): string =>
    `expecting ${expectation} for ${position}, but got ${describe(value)}`;
  if (type.kind === "NonNullType")
    return value === null ? describeMismatch("a value") : findResultProblem(type.type, value, types, position);
  if (value === null) return undefined;
  if (type.kind === "ListType") {
    if (!Array.isArray(value)) return describeMismatch("a list");
    return findFirst(value as readonly Json[], (item, i) =>
      findResultProblem(type.type, item, types, `${position}[${i}]`),
    );
  }
  const name = type.name.value;
  const custom = types.get(name);
  if (custom !== undefined) return findCustomProblem(custom, value, types, position, describeMismatch);
  const scalar = SCALARS[name];
  return scalar === undefined || scalar[1](value) ? undefined : describeMismatch(scalar[0]);
};

const findCustomProblem = (
  custom: CustomType,
  value: Json,
  types: CustomTypes,
  position: string,
  describeMismatch: (expectation: string) => string,
): string | undefined => {
  if (custom.kind === "enum")
    return custom.values.some(({ name }) => name === value)
      ? undefined
      : describeMismatch(`a value of "${custom.name}"`);
  if (custom.kind !== "object") return undefined;
  if (!isJsonObject(value)) return describeMismatch("an object");
  return findFirst(custom.fields, (field) =>
    findResultProblem(
      field.type,
      Object.hasOwn(value, field.name) ? (value[field.name] ?? null) : null,
      types,
      position === "the result" ? `"${field.name}"` : `${position}."${field.name}"`,
    ),
  );
};

const findFirst = <Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => string | undefined,
): string | undefined => {
  for (const [i, item] of items.entries()) {
    const problem = find(item, i);
    if (problem !== undefined) return problem;
  }
  return undefined;
};
