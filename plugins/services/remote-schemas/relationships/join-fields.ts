/** Builds fields of rows that a remote schema answers. Each selected field causes one request for all rows. @rule
 *  X-RMT-13a X-RMT-13b X-RMT-13d X-RMT-13e */
import {
  coerceInputValue,
  getNamedType,
  getNullableType,
  getVariableValues,
  Kind,
  OperationTypeNode,
  isCompositeType,
  isObjectType,
  isInterfaceType,
  parseType,
  validate,
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type NameNode,
  type SelectionSetNode,
  type VariableDefinitionNode,
} from "graphql";
import { isJsonObject, writeJson, type Json } from "../../../../core/index.ts";
import type { GqlField, GqlForwardRequest, GqlDelegate, GqlLoadedRow } from "../../../graphql/api.ts";
import { remoteRejected, selectionRejected, valueRejected } from "../errors.ts";
import { fillTemplate } from "./join-values.ts";
import { convertVariables, readLiteral } from "../schema/large-numbers.ts";
import { createOwnNames } from "../remote-names.ts";
import type { RemoteRelationship } from "./relationships.ts";
import { encodeError, findOwnError } from "../requests/result-errors.ts";
import { getOperation, RULES, type RemoteRoleSchema } from "../schema/role-schema.ts";

/** A field with the types of the arguments that the relationship sets. */
interface Step {
  readonly name: string;
  readonly arguments: readonly { readonly name: string; readonly type: string }[];
}

/** The parts of a document that come from the client. */
interface ClientParts {
  readonly as: string;
  readonly variables: readonly VariableDefinitionNode[];
  readonly fragments: readonly FragmentDefinitionNode[];
  readonly arguments: readonly ArgumentNode[];
  /** The selection on the value. Undefined for scalars. */
  readonly selection: { readonly type: string; readonly set: SelectionSetNode } | undefined;
}

const buildNameNode = (value: string): NameNode => ({ kind: Kind.NAME, value });

/** The response name (alias) of each field below the root. */
const NESTED_FIELD_ALIAS = "below";

/** Returns a prefix for the names that are added to a document. No name of the client begins with it. */
const choosePrefix = ({ variables, fragments }: ClientParts): string => {
  const takenNames = [
    ...variables.map(({ variable }) => variable.name.value),
    ...fragments.map((fragment) => fragment.name.value),
  ];
  let prefix = "join_";
  while (takenNames.some((takenName) => takenName.startsWith(prefix))) prefix += "_";
  return prefix;
};

const buildRootName = (row: number): string => `row_${row}`;

/** Returns a document with one root field per set of values. Their selection is one fragment. */
const buildDocument = (steps: readonly Step[], client: ClientParts, count: number): DocumentNode => {
  const prefix = choosePrefix(client);
  const variables: VariableDefinitionNode[] = [...client.variables];
  const buildField = (row: number, depth: number): FieldNode => {
    const step = steps[depth] as Step; // `depth` is less than the number of steps
    const isLast = depth === steps.length - 1;
    const args = step.arguments.map((argument, i): ArgumentNode => {
      const variable = { kind: Kind.VARIABLE, name: buildNameNode(buildVariableName(prefix, row, depth, i)) } as const;
      variables.push({ kind: Kind.VARIABLE_DEFINITION, variable, type: parseType(argument.type) });
      return { kind: Kind.ARGUMENT, name: buildNameNode(argument.name), value: variable };
    });
    const spread = { kind: Kind.FRAGMENT_SPREAD, name: buildNameNode(prefix) } as const;
    const below = isLast ? (client.selection === undefined ? [] : [spread]) : [buildField(row, depth + 1)];
    return {
      kind: Kind.FIELD,
      name: buildNameNode(step.name),
      alias: buildNameNode(depth === 0 ? buildRootName(row) : NESTED_FIELD_ALIAS),
      arguments: isLast ? [...args, ...client.arguments] : args,
      ...(below.length > 0 && { selectionSet: { kind: Kind.SELECTION_SET, selections: below } }),
    };
  };
  const selections = Array.from({ length: count }, (_, row) => buildField(row, 0));
  const { selection } = client;
  return {
    kind: Kind.DOCUMENT,
    definitions: [
      {
        kind: Kind.OPERATION_DEFINITION,
        operation: OperationTypeNode.QUERY,
        variableDefinitions: variables,
        selectionSet: { kind: Kind.SELECTION_SET, selections },
      },
      ...(selection === undefined
        ? []
        : [
            {
              kind: Kind.FRAGMENT_DEFINITION,
              name: buildNameNode(prefix),
              typeCondition: { kind: Kind.NAMED_TYPE, name: buildNameNode(selection.type) },
              selectionSet: selection.set,
            } as const,
          ]),
      ...client.fragments,
    ],
  };
};

const buildVariableName = (prefix: string, row: number, depth: number, argument: number): string =>
  `${prefix}${row}_${depth}_${argument}`;

const isFragment = (node: DocumentNode["definitions"][number]): node is FragmentDefinitionNode =>
  node.kind === Kind.FRAGMENT_DEFINITION;

/** Reads the document that the surface makes of the field. `type` is the name of the field's type. */
const readClientParts = (document: DocumentNode, type: string): ClientParts => {
  const { variableDefinitions = [], selectionSet } = getOperation(document);
  const [field] = selectionSet.selections;
  if (field?.kind !== Kind.FIELD) throw new TypeError("the operation has one root field");
  return {
    as: field.alias?.value ?? field.name.value,
    variables: variableDefinitions,
    fragments: document.definitions.filter(isFragment),
    arguments: field.arguments ?? [],
    selection: field.selectionSet && { type, set: field.selectionSet },
  };
};

/** Reads the client's parts again from a converted document. */
const convertClientParts = (parts: ClientParts, document: DocumentNode): ClientParts => {
  const [selection, ...fragments] = document.definitions.filter(isFragment);
  const isSelected = parts.selection !== undefined;
  const { variableDefinitions = [] } = getOperation(document);
  return {
    ...parts,
    variables: variableDefinitions.slice(0, parts.variables.length),
    fragments: isSelected ? fragments : document.definitions.filter(isFragment),
    selection:
      isSelected && selection !== undefined
        ? { type: selection.typeCondition.name.value, set: selection.selectionSet }
        : undefined,
  };
};

/** Finds the fields of the relationship as the role sees them. Undefined if the role lacks a field or an argument. */
const findFields = (
  { schema, names }: RemoteRoleSchema,
  { steps }: RemoteRelationship,
): readonly GraphQLField<unknown, unknown>[] | undefined => {
  const fields: GraphQLField<unknown, unknown>[] = [];
  for (const step of steps) {
    const last = fields.at(-1);
    const type = last === undefined ? schema.getQueryType() : getNamedType(last.type);
    if (!isObjectType(type) && !isInterfaceType(type)) return undefined;
    const field = type.getFields()[names.renameField(step.parent, step.name)];
    if (field === undefined) return undefined;
    if (!step.arguments.every((argument) => field.args.some((fieldArgument) => fieldArgument.name === argument.name)))
      return undefined;
    fields.push(field);
  }
  return fields;
};

/** Returns the value of the last field. `depth` is the number of fields between it and the root. */
const readLastField = (root: unknown, depth: number): Json => {
  let value = root;
  for (let i = 0; i < depth; i++)
    value = (value as { readonly [NESTED_FIELD_ALIAS]?: unknown } | null | undefined)?.[NESTED_FIELD_ALIAS];
  return (value ?? null) as Json; // results of GraphQL are JSON
};

const encodeErrors = (errors: readonly unknown[], as: string, depth: number): readonly Json[] => {
  const encodedErrors = errors.map((rawError) => {
    const { message, path, extensions } = (rawError ?? {}) as Readonly<Record<string, unknown>>;
    return encodeError(
      {
        message: String(message),
        path: [as, ...(Array.isArray(path) ? path.slice(depth) : [])],
        extensions: typeof extensions === "object" && extensions !== null ? { ...extensions } : {},
      },
      [],
    );
  });
  // Many rows may have the same error.
  return [...new Map(encodedErrors.map((error) => [writeJson(error), error])).values()];
};

/** Returns the field of a relationship, or undefined if the role does not have it. */
export const buildJoinField = (
  roleSchema: RemoteRoleSchema,
  relationship: RemoteRelationship,
): GqlField | undefined => {
  const fields = findFields(roleSchema, relationship);
  const last = fields?.at(-1);
  if (fields === undefined || last === undefined) return undefined;
  const { columns, steps } = relationship;
  const isSet = ({ name: argument }: GraphQLArgument): boolean =>
    steps.at(-1)?.arguments.some((joinArgument) => joinArgument.name === argument) === true;
  return {
    config: {
      type: getNullableType(last.type),
      description: last.description,
      args: Object.fromEntries(
        last.args.flatMap((argument) => (isSet(argument) ? [] : [[argument.name, { ...argument, extensions: {} }]])),
      ),
    },
    toPlan: { kind: "custom", columns, delegate: createDelegate(roleSchema, relationship, fields, isSet) },
  };
};

const createDelegate = (
  roleSchema: RemoteRoleSchema,
  { columns, steps }: RemoteRelationship,
  fields: readonly GraphQLField<unknown, unknown>[],
  isSet: (argument: GraphQLArgument) => boolean,
): GqlDelegate => {
  const last = fields.at(-1) as GraphQLField<unknown, unknown>; // a relationship has at least one field
  const surfaceSteps = fields.map((field, i): Step => ({
    name: field.name,
    arguments: (steps[i]?.arguments ?? []).flatMap((argument) => {
      const type = field.args.find((fieldArgument) => fieldArgument.name === argument.name)?.type;
      return type === undefined ? [] : [{ name: argument.name, type: String(type) }];
    }),
  }));
  const ownSteps = steps.map((step): Step => ({
    name: step.name,
    arguments: step.arguments.map((argument) => ({ name: argument.name, type: String(argument.type) })),
  }));
  const ownNames = createOwnNames(roleSchema);
  const valueType = getNamedType(last.type);

  /** Returns the client's parts in the remote's own names. */
  const readOwnParts = (document: DocumentNode): ClientParts => {
    const parts = readClientParts(document, valueType.name);
    return convertClientParts(parts, ownNames.convertDocument(buildDocument(surfaceSteps, parts, 1)));
  };

  /** Returns the values of all arguments, or undefined if a column is null. @throws RelApiError */
  const readValues = (row: GqlLoadedRow): readonly (readonly Json[])[] | undefined =>
    columns.some((column) => (row[column] ?? null) === null)
      ? undefined
      : steps.map((step) =>
          step.arguments.map(({ name: argument, type, template }) => {
            const value = fillTemplate(template, type, row);
            coerceInputValue(value, type, (_path, _value, { message }) => {
              throw valueRejected(argument, message);
            });
            return value;
          }),
        );

  /** Returns the values of the client's variables as the client gave them, with defaults. @throws RelApiError */
  const readVariables = (
    document: DocumentNode,
    variables: GqlForwardRequest["variables"],
  ): Readonly<Record<string, unknown>> => {
    const operation = getOperation(document);
    const { variableDefinitions = [] } = operation;
    const variableValues = convertVariables(variables, operation, roleSchema.schema);
    const { errors } = getVariableValues(roleSchema.schema, variableDefinitions, variableValues);
    if (errors?.[0] !== undefined) throw selectionRejected(errors[0].message, "$.variables");
    // Presets are added to values, so they need the defaults.
    const defaults = variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, readLiteral(defaultValue)] as const],
    );
    return { ...Object.fromEntries(defaults), ...variableValues };
  };

  return {
    types: roleSchema.types,
    check: (document, path) => {
      const parts = readClientParts(document, valueType.name);
      const fixedArgument = parts.arguments.find((node) =>
        last.args.some((arg) => arg.name === node.name.value && isSet(arg)),
      );
      if (fixedArgument !== undefined)
        throw selectionRejected(`the relationship sets the argument '${fixedArgument.name.value}' itself`, path);
      if (parts.selection === undefined && isCompositeType(valueType))
        throw selectionRejected(`missing selection set for '${valueType.name}'`, `${path}.selectionSet`);
      const [error] = validate(roleSchema.schema, buildDocument(surfaceSteps, parts, 1), RULES, { maxErrors: 1 });
      if (error !== undefined) throw selectionRejected(error.message, path);
    },
    load: async (rows, { document, variables, session, exchange, signal }) => {
      const clientValues = readVariables(document, variables);
      const valuesOfRows = rows.map((row) => {
        const values = readValues(row);
        return values && { values, key: writeJson(values as Json) };
      });
      const distinct = new Map(
        valuesOfRows.flatMap((rowValues) => (rowValues === undefined ? [] : [[rowValues.key, rowValues.values]])),
      );
      if (distinct.size === 0) return rows.map(() => "null");
      const parts = readOwnParts(document);
      const prefix = choosePrefix(parts);
      const joinValues = [...distinct.values()].flatMap((stepValues, row) =>
        stepValues.flatMap((values, depth) =>
          values.map((value, i) => [buildVariableName(prefix, row, depth, i), value] as const),
        ),
      );
      const { data, errors } = await roleSchema.send(
        {
          document: buildDocument(ownSteps, parts, distinct.size),
          variables: { ...clientValues, ...Object.fromEntries(joinValues) },
        },
        { session, exchange, signal },
      );
      if (Array.isArray(errors) && errors.length > 0) {
        const ownError = errors.map(findOwnError).find((error) => error !== undefined);
        if (ownError !== undefined) throw ownError;
        const encodedErrors = encodeErrors(errors, parts.as, steps.length);
        const [first] = encodedErrors;
        throw remoteRejected(encodedErrors, isJsonObject(first) ? String(first["message"]) : "");
      }
      const texts = new Map(
        [...distinct.keys()].map((key, row) => {
          const value = readLastField(
            (data as Readonly<Record<string, unknown>> | null)?.[buildRootName(row)],
            steps.length - 1,
          );
          return [key, writeJson(ownNames.convertData(value))];
        }),
      );
      return valuesOfRows.map((rowValues) => (rowValues && texts.get(rowValues.key)) ?? "null");
    },
  };
};
