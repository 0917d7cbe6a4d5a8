/** The schema of a remote as a role sees it, and its fields on the GraphQL surface. */
import {
  execute,
  isObjectType,
  Kind,
  specifiedRules,
  OperationTypeNode,
  OverlappingFieldsCanBeMergedRule,
  subscribe,
  validate,
  validateSchema,
  visit,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLArgument,
  type GraphQLArgumentConfig,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from "graphql";
import { writeJson, type Json } from "../../../../core/index.ts";
import type { GqlField, GqlForward, GqlForwardRequest, GqlRootName } from "../../../graphql/api.ts";
import type { RemoteRequest } from "../requests/client.ts";
import { buildTransforms, createSurfaceNames, type SurfaceNames } from "./customization.ts";
import type { RemoteDefinition } from "./definition.ts";
import { RemoteSchemaProblem, selectionRejected } from "../errors.ts";
import { convertVariables, keepDigits } from "./large-numbers.ts";
import { createRequests, type ClientCaller, type RemoteRequests, type RequestParts } from "../requests/requests.ts";
import { createErrorSearch } from "../requests/result-errors.ts";
import { isAsyncIterable, readUntilAborted } from "../requests/results.ts";
import type { Subschema, WrapTools } from "./wrap-tools.ts";

/** The part of a remote schema that a role sees, with its names on the surface. */
export interface RemoteRoleSchema {
  readonly schema: GraphQLSchema;
  readonly fields: Readonly<Record<GqlRootName, Readonly<Record<string, GqlField>>>>;
  /** The part of the role in the remote's own names. */
  readonly ownSchema: GraphQLSchema;
  readonly names: SurfaceNames;
  /** Runs a document in the remote's own names, with the presets of the role. @throws RelApiError */
  readonly send: RemoteRequests["send"];
  /** The types that are reachable only through interfaces of the remote. */
  readonly types: readonly GraphQLObjectType[];
}

interface RoleSchemaParts extends RequestParts {
  readonly tools: WrapTools;
}

type Executor = NonNullable<Subschema["executor"]>;

const createExecutor = (requests: RemoteRequests): Executor =>
  ((request: RemoteRequest & { readonly context: ClientCaller }) => {
    const { document, context } = request;
    return getOperation(document).operation === OperationTypeNode.SUBSCRIPTION
      ? requests.subscribe(request, context)
      : requests.send(request, context);
  }) as Executor; // results of GraphQL have the type that the caller expects

/** The validation rules for documents. `OverlappingFieldsCanBeMergedRule` is omitted: it takes quadratic time, and the
 *  remote applies it. */
export const RULES = specifiedRules.filter((rule) => rule !== OverlappingFieldsCanBeMergedRule);

export const getOperation = ({ definitions }: DocumentNode): OperationDefinitionNode =>
  definitions[0] as OperationDefinitionNode; // the surface writes the operation first

/** Returns the document without its only root field, the field of the namespace. */
const removeNamespace = (document: DocumentNode): DocumentNode => {
  const { definitions } = document;
  const operation = getOperation(document);
  const [field] = operation.selectionSet.selections;
  const selectionSet = (field?.kind === Kind.FIELD && field.selectionSet) || {
    kind: Kind.SELECTION_SET,
    selections: [],
  };
  return { ...document, definitions: [{ ...operation, selectionSet }, ...definitions.slice(1)] };
};

const getResponseName = (document: DocumentNode): string => {
  const [field] = getOperation(document).selectionSet.selections;
  if (field?.kind !== Kind.FIELD) throw new TypeError("the operation has one root field");
  return field.alias?.value ?? field.name.value;
};

/** Returns the function that gives all fields of an operation the same caller, so they go to the remote in one request.
 *  @rule X-RMT-4a */
const createCallerSource = (): ((request: GqlForwardRequest) => ClientCaller) => {
  const callers = new WeakMap<AbortSignal, ClientCaller>();
  return ({ signal, session, exchange }) => {
    const knownCaller = callers.get(signal);
    if (knownCaller !== undefined) return knownCaller;
    const caller: ClientCaller = { session, exchange, signal };
    callers.set(signal, caller);
    return caller;
  };
};

const createForward = (
  { name, target, customization: { namespace } }: RemoteDefinition,
  schema: GraphQLSchema,
  types: readonly GraphQLObjectType[],
): GqlForward => {
  const convert = (document: DocumentNode): DocumentNode =>
    namespace === undefined ? document : removeNamespace(document);
  const getCaller = createCallerSource();
  const findError = createErrorSearch(name, "url" in target);
  const getPrefix = (document: DocumentNode): readonly string[] =>
    namespace === undefined ? [] : [getResponseName(document)];
  const encodeData = ({ data }: ExecutionResult, document: DocumentNode): string => {
    const value = namespace === undefined ? data?.[getResponseName(document)] : data;
    return writeJson((value ?? null) as Json); // results of GraphQL are JSON
  };
  return {
    types,
    check: (document, path) => {
      const field = getOperation(document).selectionSet.selections[0];
      if (namespace !== undefined && (field?.kind !== Kind.FIELD || field.selectionSet === undefined))
        throw selectionRejected(`missing selection set for '${namespace}'`, `${path}.selectionSet`);
      // The surface itself answers introspection, which a role may be denied.
      visit(document, {
        Field: ({ name }) => {
          if (name.value === "__schema" || name.value === "__type")
            throw selectionRejected(
              `field '${name.value}' not found in type: '${schema.getQueryType()?.name ?? ""}'`,
              path,
            );
        },
      });
      const [error] = validate(schema, convert(document), RULES, { maxErrors: 1 });
      if (error !== undefined) throw selectionRejected(error.message, path);
    },
    run: async (request: GqlForwardRequest) => {
      const { document, variables } = request;
      const contextValue = getCaller(request);
      const result = await execute({
        schema,
        document: convert(document),
        variableValues: convertVariables(variables, getOperation(document), schema),
        contextValue,
      });
      const error = findError(result, getPrefix(document));
      if (error !== undefined) throw error;
      return encodeData(result, document);
    },
    subscribe: async (request, emit) => {
      const { document, variables, session, signal } = request;
      const results = await subscribe({
        schema,
        document: convert(document),
        variableValues: convertVariables(variables, getOperation(document), schema),
        contextValue: { session, signal } satisfies ClientCaller,
      });
      if (!isAsyncIterable(results)) throw findError(results, getPrefix(document)) ?? new TypeError("it has no events");
      await readUntilAborted(results, signal, (result) =>
        emit(findError(result, getPrefix(document)) ?? encodeData(result, document)),
      );
    },
  };
};

const buildArguments = (args: readonly GraphQLArgument[]): Record<string, GraphQLArgumentConfig> =>
  Object.fromEntries(
    args.map(({ name, type, description, defaultValue }) => [name, { type, description, defaultValue }]),
  );

const buildFields = (
  root: GraphQLObjectType | null | undefined,
  namespace: string | undefined,
  forward: GqlForward,
): Readonly<Record<string, GqlField>> => {
  if (!root) return {};
  const toPlan = { kind: "custom", forward } as const;
  if (namespace !== undefined) return { [namespace]: { config: { type: root }, toPlan } };
  return Object.fromEntries(
    Object.values(root.getFields()).map(({ name, type, description, args }) => [
      name,
      { config: { type, description, args: buildArguments(args) }, toPlan },
    ]),
  );
};

/** Builds the part of a remote schema that one role sees. @throws RemoteSchemaProblem if the names do not fit
 *  @rule X-RMT-1 X-RMT-5 */
export const buildRoleSchema = (parts: RoleSchemaParts): RemoteRoleSchema => {
  const { tools, definition, part } = parts;
  const { customization } = definition;
  const requests = createRequests(parts);
  const names = createSurfaceNames(part.schema, customization);
  const schema = tools.wrapSchema({
    schema: part.schema,
    executor: createExecutor(requests),
    batch: true,
    transforms: buildTransforms(tools, part.schema, customization, names),
  });
  if ("url" in definition.target) keepDigits(schema);
  const [invalid] = validateSchema(schema);
  if (invalid !== undefined) throw new RemoteSchemaProblem(invalid.message);
  const types = Object.values(schema.getTypeMap()).filter(
    (type): type is GraphQLObjectType => isObjectType(type) && type.getInterfaces().length > 0,
  );
  const forward = createForward(definition, schema, types);
  const { namespace } = customization;
  return {
    schema,
    ownSchema: part.schema,
    names,
    send: requests.send,
    types,
    fields: {
      query: buildFields(schema.getQueryType(), namespace, forward),
      mutation: buildFields(schema.getMutationType(), namespace, forward),
      subscription: buildFields(schema.getSubscriptionType(), namespace, forward),
    },
  };
};
