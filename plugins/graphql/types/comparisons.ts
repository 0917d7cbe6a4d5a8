/** `{ id: { _eq: 5 } }`: builds comparison types, one per scalar, from the declared operators. @rule G-INP-2 G-INP-24 …
 *  G-INP-28 G-OP-34 G-OP-35 */
import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLString,
  type GraphQLInputType,
} from "graphql";
import { definePlugin, matchesType, type OperatorSpec } from "../../../core/index.ts";
import { getOperatorName } from "../part-names.ts";
import type { NameBuilder } from "./names.ts";
import { collectFields, tapFields } from "./field-taps.ts";
import { wrapList, wrapNonNull } from "./non-null-list.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields, GqlTypeSpec } from "../field-types.ts";
import type { GqlValueType } from "../value-types.ts";

/** The operators of enum-table columns. */
const ENUM_OPERATORS: ReadonlySet<string> = new Set(["_eq", "_neq", "_in", "_nin", "_is_null"]);

/** Returns the specification of a comparison type: `Int_comparison_exp`, `String_array_comparison_exp`. */
export const buildComparisonSpec = (names: NameBuilder, value: GqlValueType): GqlTypeSpec => ({
  name:
    value.enumTable === undefined
      ? names.sharedTypeName(value.scalar, value.element === undefined ? "comparison_exp" : "array_comparison_exp")
      : names.sharedTypeName({ text: value.scalar, isCustom: true }, "comparison_exp"),
  scope: "comparison_exp",
  value,
  description: `Boolean expression to compare columns of type "${value.scalar}". All fields are combined with logical 'AND'.`,
});

const isOffered = (operator: OperatorSpec, name: string, value: GqlValueType): boolean =>
  value.enumTable === undefined ? matchesType(operator, value.type) : ENUM_OPERATORS.has(name);

const getKeywords = (operator: OperatorSpec) =>
  typeof operator.graphql === "object" ? operator.graphql.keywords : undefined;

const BUILT_IN: Readonly<Record<string, GraphQLInputType>> = {
  Float: GraphQLFloat,
  Boolean: GraphQLBoolean,
  Int: GraphQLInt,
  String: GraphQLString,
};

/** Parses `Boolean = true` or `geometry!` to the type and its default. */
const parseDeclaration = (declaration: string): { type: string; isRequired: boolean; defaultValue: unknown } => {
  const [type = "", literal] = declaration.split("=").map((part) => part.trim());
  return {
    type: type.replace(/!$/, ""),
    isRequired: type.endsWith("!"),
    defaultValue: literal === undefined ? undefined : (JSON.parse(literal) as unknown),
  };
};

const buildOperandType = (build: GqlBuild, operator: OperatorSpec): GraphQLInputType | undefined =>
  operator.input &&
  build.inputObject({ name: operator.input.typeName, scope: "operand", fn: operator.input.typeName, isOptional: true });

const buildOperatorField = (build: GqlBuild, operator: OperatorSpec, value: GqlValueType): GqlField | undefined => {
  const operandType = operator.operandType === undefined ? undefined : build.valueType(operator.operandType);
  if (operator.operandType !== undefined && operandType === undefined) return undefined;
  const keywords = getKeywords(operator);
  const part = {
    kind: "operator",
    operator,
    ...(keywords && { keywords }),
    ...(operandType && { value: operandType }),
  } as const;
  const single = build.valueInput(operandType ?? value);
  const type =
    operator.operand === "keyword"
      ? GraphQLBoolean
      : operator.operand === "fields"
        ? buildOperandType(build, operator)
        : operator.operand === "list"
          ? wrapList(single)
          : single;
  return type && { config: { type, description: operator.description ?? null }, toPlan: part };
};

const buildOperatorFields = ({ build, value }: GqlFieldContext): GqlFields => {
  if (value === undefined) return {};
  return collectFields(
    build.schema.registry.operators.map((operator) => {
      const name = getOperatorName(operator);
      if (name === undefined || !isOffered(operator, name, value)) return undefined;
      const field = buildOperatorField(build, operator, value);
      return field && ([build.fieldName(name), field] as const);
    }),
  );
};

/** Returns the fields of an operand object. The naming convention does not change the declared names. @rule G-NAM-8 */
const buildOperandFields = ({ build, fn }: GqlFieldContext): GqlFields => {
  const inputDeclaration = build.schema.registry.operators.find((operator) => operator.input?.typeName === fn)?.input;
  return collectFields(
    Object.entries(inputDeclaration?.fields ?? {}).map(([name, declaration]) => {
      const { type, isRequired, defaultValue } = parseDeclaration(declaration);
      const value = build.valueType(type, !isRequired);
      if (value === undefined) return undefined;
      const input = BUILT_IN[type] ?? build.valueInput(value);
      const config = {
        type: isRequired ? wrapNonNull(input) : input,
        ...(defaultValue === undefined ? {} : { defaultValue }),
      };
      return [name, { config, toPlan: { kind: "operand-field", name, value } }] as const;
    }),
  );
};

/** Builds the comparison type of each scalar from the declared operators. */
export const graphqlComparisons = definePlugin({
  name: "graphql-comparisons",
  requires: ["graphql"],
  apply: (hooks) =>
    tapFields(hooks, "graphql-comparisons", { comparison_exp: buildOperatorFields, operand: buildOperandFields }),
});

/** The types to which a comparison can cast, by the type of the column. The operators of the result type apply to the
 *  cast value. */
const CASTS: ReadonlyMap<string, string> = new Map([
  ["jsonb", "text"],
  ["geometry", "geography"],
  ["geography", "geometry"],
]);

const buildCastFields = ({ build, value }: GqlFieldContext): GqlFields => {
  const target = value?.enumTable === undefined ? CASTS.get(value?.type.name ?? "") : undefined;
  if (value === undefined || target === undefined || build.valueType(target) === undefined) return {};
  const type: GraphQLInputObjectType | undefined = build.inputObject({
    name: build.sharedTypeName(value.scalar, "cast_exp"),
    scope: "cast_exp",
    value,
    isOptional: true,
  });
  return type === undefined ? {} : { [build.fieldName("_cast")]: { config: { type }, toPlan: { kind: "cast" } } };
};

const buildCastToFields = ({ build, value }: GqlFieldContext): GqlFields => {
  const target = build.valueType(CASTS.get(value?.type.name ?? "") ?? "");
  const type = target && build.comparison(target);
  return target === undefined || type === undefined
    ? {}
    : { [target.scalar]: { config: { type }, toPlan: { kind: "cast-to", value: target } } };
};

/** `{ stats: { _cast: { String: { _like: "%x%" } } } }`: adds casts to comparisons. @rule G-OP-17 G-OP-28 */
export const graphqlCasts = definePlugin({
  name: "graphql-casts",
  requires: ["graphql-comparisons"],
  apply: (hooks) => tapFields(hooks, "graphql-casts", { comparison_exp: buildCastFields, cast_exp: buildCastToFields }),
});
