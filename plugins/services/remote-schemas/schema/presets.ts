/** Adds the presets of a role to a request in the remote's own names. @rule X-RMT-10 */
import {
  getNamedType,
  getNullableType,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLInt,
  isInputObjectType,
  isListType,
  isNonNullType,
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type ArgumentNode,
  type FieldNode,
  type GraphQLInputType,
  type GraphQLSchema,
  type VariableDefinitionNode,
  parseType,
} from "graphql";
import { isJsonObject, VARIABLE_PREFIX, type Json, type Session } from "../../../../core/index.ts";
import type { RemoteRequest } from "../requests/client.ts";
import { variableInvalid, variableMissing } from "../errors.ts";
import { readLiteral } from "./large-numbers.ts";
import type { PresetArgument, Presets } from "./permissions.ts";

/** Converts the text of a session variable to a value of the type. @throws RelApiError */
const convertVariable = (name: string, text: string, type: GraphQLInputType): Json => {
  const nullable = getNullableType(type);
  const namedType = getNamedType(type);
  const presetInvalid = () => variableInvalid(name, String(type));
  if (isListType(nullable) || isInputObjectType(namedType)) {
    try {
      return JSON.parse(text) as Json; // JSON.parse returns JSON
    } catch {
      throw presetInvalid();
    }
  }
  if (namedType === GraphQLBoolean) {
    if (text !== "true" && text !== "false") throw presetInvalid();
    return text === "true";
  }
  if (namedType !== GraphQLInt && namedType !== GraphQLFloat) return text;
  const number = Number(text);
  if (text.trim() === "" || !Number.isFinite(number)) throw presetInvalid();
  return number;
};

const resolvePreset = (preset: PresetArgument, type: GraphQLInputType, { variables, role }: Session): Json => {
  if ("value" in preset) return preset.value;
  const { variable } = preset;
  const sessionVariable = variable.replace("x-hasura-", VARIABLE_PREFIX);
  const text = sessionVariable === `${VARIABLE_PREFIX}role` ? role : variables[sessionVariable];
  if (text === undefined) throw variableMissing(variable);
  return convertVariable(variable, text, type);
};

/** Returns whether a value of the type may contain an input field with a preset. */
const mayHavePresets = (type: GraphQLInputType, presets: Presets, seenNames = new Set<string>()): boolean => {
  const namedType = getNamedType(type);
  if (!isInputObjectType(namedType) || seenNames.has(namedType.name)) return false;
  seenNames.add(namedType.name);
  return (
    presets.has(namedType.name) ||
    Object.values(namedType.getFields()).some((field) => mayHavePresets(field.type, presets, seenNames))
  );
};

/** Adds presets to the input objects in a value. */
const addToValue = (value: Json, type: GraphQLInputType, presets: Presets, session: Session): Json => {
  if (value === null) return null;
  const nullable = isNonNullType(type) ? type.ofType : type;
  if (isListType(nullable))
    return Array.isArray(value)
      ? value.map((item: Json) => addToValue(item, nullable.ofType, presets, session))
      : addToValue(value, nullable.ofType, presets, session);
  if (!isInputObjectType(nullable) || !isJsonObject(value)) return value;
  const fields = nullable.getFields();
  const members = Object.entries(value).map(([name, member]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return [name, field === undefined ? member : addToValue(member, field.type, presets, session)] as const;
  });
  const addedMembers = [...(presets.get(nullable.name) ?? [])].flatMap(([name, preset]) => {
    const field = fields[name];
    return field === undefined ? [] : [[name, resolvePreset(preset, field.type, session)] as const];
  });
  return Object.fromEntries([...members, ...addedMembers]);
};

/** Returns the request with presets, as values of new variables. `full` is the remote schema without permissions.
 *  @throws RelApiError `not-found`, `data-exception` */
export const addPresets = (
  { document, variables = {} }: RemoteRequest,
  full: GraphQLSchema,
  presets: Presets,
  session: Session,
): RemoteRequest => {
  if (presets.size === 0) return { document, variables };
  const addedVariables = new Map<string, { readonly type: GraphQLInputType; readonly value: Json }>();
  const addVariable = (type: GraphQLInputType, value: Json): string => {
    const name = `_preset_${addedVariables.size}`;
    addedVariables.set(name, { type, value });
    return name;
  };
  const build = (name: string, variable: string): ArgumentNode => ({
    kind: Kind.ARGUMENT,
    name: { kind: Kind.NAME, value: name },
    value: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: variable } },
  });
  const types = new TypeInfo(full);
  const withArguments = visit(
    document,
    visitWithTypeInfo(types, {
      Field: (node): FieldNode | undefined => {
        const field = types.getFieldDef();
        const parent = types.getParentType();
        if (!field || !parent || field.args.length === 0) return undefined;
        const fieldPresets = presets.get(`${parent.name}.${field.name}`);
        const argumentNodes = new Map((node.arguments ?? []).map((argument) => [argument.name.value, argument]));
        for (const { name, type } of field.args) {
          const preset = fieldPresets?.get(name);
          const argument = argumentNodes.get(name);
          if (preset !== undefined)
            argumentNodes.set(name, build(name, addVariable(type, resolvePreset(preset, type, session))));
          else if (argument !== undefined && mayHavePresets(type, presets)) {
            // The variables are JSON.
            const value = readLiteral(argument.value, variables as Readonly<Record<string, Json>>);
            if (value !== undefined)
              argumentNodes.set(name, build(name, addVariable(type, addToValue(value, type, presets, session))));
          }
        }
        return { ...node, arguments: [...argumentNodes.values()] };
      },
    }),
  );
  const definitions = [...addedVariables].map(([name, { type }]): VariableDefinitionNode => ({
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } },
    type: parseType(String(type)),
  }));
  const complete = visit(withArguments, {
    OperationDefinition: (node) => {
      const usedNames = new Set<string>();
      visit(withArguments, {
        VariableDefinition: () => false,
        Variable: ({ name }) => void usedNames.add(name.value),
      });
      const usedDefinitions = (node.variableDefinitions ?? []).filter((definition) =>
        usedNames.has(definition.variable.name.value),
      );
      return { ...node, variableDefinitions: [...usedDefinitions, ...definitions] };
    },
  });
  const values = Object.fromEntries([...addedVariables].map(([name, { value }]) => [name, value]));
  return { document: complete, variables: { ...variables, ...values } };
};
