/** Builds the part of a remote schema that a role may use, from SDL with `@preset` on arguments and input fields. */
import {
  buildASTSchema,
  coerceInputValue,
  GraphQLError,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isSpecifiedScalarType,
  isUnionType,
  Kind,
  parse,
  validateSchema,
  visit,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type InputValueDefinitionNode,
  type InterfaceTypeDefinitionNode,
  type ObjectTypeDefinitionNode,
} from "graphql";
import type { Json } from "../../../../core/index.ts";
import { rejectDefinition, RemoteSchemaProblem } from "../errors.ts";
import { readLiteral, toNumbers } from "./large-numbers.ts";

/** A value that the server gives to an argument or input field: a session variable, or a fixed value. */
export type PresetArgument = { readonly variable: string } | { readonly value: Json };

/** The presets by the remote's names: of the arguments of `Type.field`, and of the input fields of `Type`. */
export type Presets = ReadonlyMap<string, ReadonlyMap<string, PresetArgument>>;

export interface RolePart {
  readonly schema: GraphQLSchema;
  readonly presets: Presets;
}

const SESSION_VARIABLE = /^x-hasura-/i;

const readPreset = (node: InputValueDefinitionNode): PresetArgument | undefined => {
  const directive = node.directives?.find(({ name }) => name.value === "preset");
  if (directive === undefined) return undefined;
  const findArgument = (name: string) => directive.arguments?.find((argument) => argument.name.value === name)?.value;
  const value = findArgument("value");
  if (value === undefined) throw new RemoteSchemaProblem(`@preset of "${node.name.value}" has no value`);
  const isStatic = findArgument("static");
  if (
    value.kind === Kind.STRING &&
    SESSION_VARIABLE.test(value.value) &&
    !(isStatic?.kind === Kind.BOOLEAN && isStatic.value)
  )
    return { variable: value.value.toLowerCase() };
  return { value: readLiteral(value) ?? null };
};

/** Removes presets from the SDL, and collects them. */
const takePresets = (document: DocumentNode): { readonly document: DocumentNode; readonly presets: Presets } => {
  const presets = new Map<string, Map<string, PresetArgument>>();
  const omitPreset = (owner: string, nodes: readonly InputValueDefinitionNode[] = []) =>
    nodes.filter((node) => {
      const preset = readPreset(node);
      if (preset === undefined) return true;
      const knownPresets = presets.get(owner) ?? new Map<string, PresetArgument>();
      presets.set(owner, knownPresets.set(node.name.value, preset));
      return false;
    });
  const omitFromFields = <Type extends ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode>(type: Type): Type => ({
    ...type,
    fields: type.fields?.map((field) => ({
      ...field,
      arguments: omitPreset(`${type.name.value}.${field.name.value}`, field.arguments),
    })),
  });
  const documentWithoutPresets = visit(document, {
    ObjectTypeDefinition: omitFromFields,
    InterfaceTypeDefinition: omitFromFields,
    InputObjectTypeDefinition: (type) => ({ ...type, fields: omitPreset(type.name.value, type.fields) }),
  });
  return { document: documentWithoutPresets, presets };
};

/** Adds the definition of the root types, if the SDL has none and they have the names of the remote schema. */
const addRoots = (document: DocumentNode, full: GraphQLSchema): DocumentNode => {
  if (document.definitions.some(({ kind }) => kind === Kind.SCHEMA_DEFINITION)) return document;
  const definedNames = new Set(
    document.definitions.flatMap((definition) =>
      definition.kind === Kind.OBJECT_TYPE_DEFINITION ? [definition.name.value] : [],
    ),
  );
  const roots = (
    [
      ["query", full.getQueryType()],
      ["mutation", full.getMutationType()],
      ["subscription", full.getSubscriptionType()],
    ] as const
  ).flatMap(([operation, type]) => (type && definedNames.has(type.name) ? [`${operation}: ${type.name}`] : []));
  if (!roots.some((root) => root.startsWith("query"))) throw new RemoteSchemaProblem("it has no query root");
  const { definitions } = parse(`schema { ${roots.join(" ")} }`);
  return { ...document, definitions: [...document.definitions, ...definitions] };
};

interface Inputs {
  readonly subject: string;
  readonly roleInputs: readonly (GraphQLArgument | GraphQLInputField)[];
  readonly full: readonly (GraphQLArgument | GraphQLInputField)[];
  readonly presets: ReadonlyMap<string, PresetArgument> | undefined;
  isRequired(name: string): boolean;
}

const checkInputs = ({ subject, roleInputs, full, presets, isRequired }: Inputs): void => {
  const byName = new Map(full.map((input) => [input.name, input]));
  for (const { name, type } of roleInputs) {
    const foundItem = byName.get(name) ?? rejectDefinition(`${subject} has no "${name}" in the remote schema`);
    if (String(foundItem.type) !== String(type))
      rejectDefinition(
        `"${name}" of ${subject} has the type ${String(foundItem.type)} in the remote schema, not ${String(type)}`,
      );
  }
  const names = new Set(roleInputs.map(({ name }) => name));
  for (const [name, preset] of presets ?? []) {
    const { type } = byName.get(name) ?? rejectDefinition(`${subject} has no "${name}" to preset`);
    if ("value" in preset)
      coerceInputValue(toNumbers(preset.value), type, (_path, _value, { message }) =>
        rejectDefinition(`@preset of "${name}" of ${subject}: ${message}`),
      );
  }
  for (const { name } of full)
    if (!names.has(name) && presets?.has(name) !== true && isRequired(name))
      rejectDefinition(`${subject} needs "${name}"`);
};

/** Checks that a type has only parts of the type of the remote schema. @throws RemoteSchemaProblem */
const checkType = (roleType: GraphQLNamedType, full: GraphQLNamedType | undefined, presets: Presets): void => {
  const { name } = roleType;
  if (full === undefined) return rejectDefinition(`the remote schema has no type "${name}"`);
  if (roleType.constructor.name !== full.constructor.name)
    return rejectDefinition(`the type "${name}" is of another kind`);
  if ((isObjectType(roleType) && isObjectType(full)) || (isInterfaceType(roleType) && isInterfaceType(full))) {
    const interfaces = new Set(full.getInterfaces().map((fullInterface) => fullInterface.name));
    for (const roleInterface of roleType.getInterfaces())
      if (!interfaces.has(roleInterface.name))
        rejectDefinition(`the type "${name}" does not implement "${roleInterface.name}"`);
    const fields = full.getFields();
    for (const field of Object.values(roleType.getFields())) {
      // A selection through the interface would leave the preset out.
      for (const roleInterface of roleType.getInterfaces())
        for (const argument of presets.get(`${name}.${field.name}`)?.keys() ?? [])
          if (
            roleInterface.getFields()[field.name] !== undefined &&
            !presets.get(`${roleInterface.name}.${field.name}`)?.has(argument)
          )
            rejectDefinition(
              `the interface "${roleInterface.name}" has "${field.name}" without the preset of "${name}.${field.name}"`,
            );
      const foundField = Object.hasOwn(fields, field.name) ? fields[field.name] : undefined;
      if (foundField === undefined)
        return rejectDefinition(`the type "${name}" has no field "${field.name}" in the remote schema`);
      if (String(foundField.type) !== String(field.type))
        rejectDefinition(
          `the field "${name}.${field.name}" has the type ${String(foundField.type)} in the remote schema`,
        );
      checkInputs({
        subject: `the field "${name}.${field.name}"`,
        roleInputs: field.args,
        full: foundField.args,
        presets: presets.get(`${name}.${field.name}`),
        isRequired: (argument) =>
          foundField.args.some((fullArgument) => fullArgument.name === argument && isRequiredArgument(fullArgument)),
      });
    }
  } else if (isInputObjectType(roleType) && isInputObjectType(full)) {
    const fields = full.getFields();
    checkInputs({
      subject: `the input type "${name}"`,
      roleInputs: Object.values(roleType.getFields()),
      full: Object.values(fields),
      presets: presets.get(name),
      isRequired: (field) => fields[field] !== undefined && isRequiredInputField(fields[field]),
    });
  } else if (isEnumType(roleType) && isEnumType(full)) {
    for (const value of roleType.getValues())
      if (full.getValue(value.name) === undefined) rejectDefinition(`the enum "${name}" has no value "${value.name}"`);
  } else if (isUnionType(roleType) && isUnionType(full)) {
    const members = new Set(full.getTypes().map((member) => member.name));
    for (const member of roleType.getTypes())
      if (!members.has(member.name)) rejectDefinition(`the union "${name}" has no "${member.name}"`);
  }
};

/** Reads the SDL of a permission. @throws RemoteSchemaProblem @rule X-RMT-9 X-RMT-10 */
export const buildRolePart = (sdl: string, full: GraphQLSchema): RolePart => {
  try {
    const { document, presets } = takePresets(addRoots(parse(sdl, { noLocation: true }), full));
    const schema = buildASTSchema(document, { assumeValidSDL: true });
    const [invalid] = validateSchema(schema);
    if (invalid !== undefined) return rejectDefinition(invalid.message);
    for (const type of Object.values(schema.getTypeMap()))
      if (!isIntrospectionType(type) && !isSpecifiedScalarType(type))
        checkType(type, full.getType(type.name) ?? undefined, presets);
    for (const [root, roleRoot] of [
      [full.getQueryType(), schema.getQueryType()],
      [full.getMutationType(), schema.getMutationType()],
      [full.getSubscriptionType(), schema.getSubscriptionType()],
    ] as const)
      if (roleRoot && roleRoot.name !== root?.name)
        rejectDefinition(`the root type "${roleRoot.name}" is not a root type of the remote schema`);
    return { schema, presets };
  } catch (error) {
    if (error instanceof RemoteSchemaProblem) throw error;
    // The parser and the builder of graphql-js throw errors about the SDL.
    if (error instanceof GraphQLError || error instanceof Error) throw new RemoteSchemaProblem(error.message);
    throw error;
  }
};
