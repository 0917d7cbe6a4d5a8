/** Declares directives, checks where they are allowed, and decides whether a selection is included. @rule G-DOC-12
 *  G-INT-8 */
import type { DirectiveNode, OperationDefinitionNode } from "graphql";
import { GraphQLBoolean, GraphQLInt, GraphQLNonNull } from "graphql";
import { buildUnknownNameFacts } from "../../shared/name-hints.ts";
import { fieldMissing, argumentNotFound, validationFailed } from "../errors.ts";
import { getPosition, readBoolean, readInt, type InputContext, type LocatedInput } from "../plan/input.ts";
import type { DirectiveTarget, Directives, DirectiveSpec, GqlDirective, ReadDirectives } from "../directives.ts";

const FLAG = new GraphQLNonNull(GraphQLBoolean);

const CONDITION = { if: { type: FLAG } };

const SELECTIONS = ["a field", "a fragment spread", "an inline fragment"] as const;

const DIALECT_DIRECTIVES: Directives = {
  include: { description: "whether this query should be included", targets: SELECTIONS, arguments: CONDITION },
  skip: { description: "whether this query should be skipped", targets: SELECTIONS, arguments: CONDITION },
  cached: {
    description: "whether this query should be cached (Hasura Cloud only)",
    targets: ["a query"],
    arguments: {
      refresh: { type: FLAG, defaultValue: false },
      ttl: { type: new GraphQLNonNull(GraphQLInt), defaultValue: 60 },
    },
  },
  _multiple_top_level_fields: { targets: ["a subscription"], arguments: {} },
};

const OPERATION_TARGETS: Readonly<Record<OperationDefinitionNode["operation"], DirectiveTarget>> = {
  query: "a query",
  mutation: "a mutation",
  subscription: "a subscription",
};

/** Returns the directives of the dialect and the directives that plugins read. */
export const buildDirectives = (pluginDirectives: readonly GqlDirective[]): Directives => ({
  ...Object.fromEntries(
    pluginDirectives.map((directive) => [
      directive.name,
      {
        description: directive.description,
        targets: directive.on.map((operation) => OPERATION_TARGETS[operation]),
        arguments: Object.fromEntries(
          Object.entries(directive.arguments).map(([argument, defaultValue]) => [
            argument,
            { type: FLAG, defaultValue },
          ]),
        ),
        pluginDirective: directive,
      },
    ]),
  ),
  ...DIALECT_DIRECTIVES,
});

/** Checks that each directive is known, allowed at the target, and not repeated. `path` is the path of the selection
 *  set, or `$` for the operation. @throws RelApiError */
const checkTargets = (
  knownDirectives: Directives,
  directives: readonly DirectiveNode[],
  target: DirectiveTarget,
  path: string,
): void => {
  const seenNames = new Set<string>();
  const repeatedNames = new Set<string>();
  for (const { name } of directives) {
    const spec = Object.hasOwn(knownDirectives, name.value) ? knownDirectives[name.value] : undefined;
    if (spec === undefined)
      throw validationFailed(
        `directive '${name.value}' is not defined in the schema`,
        path,
        buildUnknownNameFacts(name.value, Object.keys(knownDirectives)),
      );
    if (!spec.targets.includes(target))
      throw validationFailed(`directive '${name.value}' is not allowed on ${target}`, path);
    if (seenNames.has(name.value)) repeatedNames.add(name.value);
    seenNames.add(name.value);
  }
  if (repeatedNames.size > 0)
    throw validationFailed(
      `the following directives are used more than once: [${[...repeatedNames]
        .sort()
        .map((name) => `'${name}'`)
        .join(", ")}]`,
      path,
    );
};

const checkArguments = (
  knownDirectives: Directives,
  directive: DirectiveNode,
  path: string,
  take: (name: string, locatedInput: LocatedInput) => void,
): void => {
  const name = directive.name.value;
  const spec = knownDirectives[name] as DirectiveSpec; // `checkTargets` has found the directive
  const argumentNodes = new Map((directive.arguments ?? []).map((argument) => [argument.name.value, argument.value]));
  for (const argument of [...argumentNodes.keys()].sort()) {
    if (!Object.hasOwn(spec.arguments, argument))
      throw argumentNotFound(name, argument, `${path}.${name}`, Object.keys(spec.arguments));
  }
  for (const [argument, declaration] of Object.entries(spec.arguments)) {
    const node = argumentNodes.get(argument);
    const position = getPosition(declaration);
    const at = `${path}.${name}.args.${argument}`;
    if (node !== undefined) take(argument, { input: { kind: "literal", node }, position, path: at });
    else if (!position.hasDefault) throw fieldMissing(argument, at);
  }
};

/** Returns whether the selection is included. `path` is the path of its selection set. @throws RelApiError */
export const isIncluded = (
  context: InputContext,
  directives: readonly DirectiveNode[] | undefined,
  target: DirectiveTarget,
  path: string,
): boolean => {
  if (directives === undefined || directives.length === 0) return true;
  const knownDirectives = context.schema.directives;
  checkTargets(knownDirectives, directives, target, path);
  let isKept = true;
  for (const directive of directives) {
    checkArguments(knownDirectives, directive, path, (_, locatedInput) => {
      if (readBoolean(context, locatedInput) === (directive.name.value === "skip")) isKept = false;
    });
  }
  return isKept;
};

const NO_DIRECTIVES: ReadDirectives = new Map();

/** Reads the directives of the operation itself. Returns the arguments of the directives that plugins read. @throws
 *  RelApiError */
export const readOperationDirectives = (context: InputContext, operation: OperationDefinitionNode): ReadDirectives => {
  const directives = operation.directives ?? [];
  if (directives.length === 0) return NO_DIRECTIVES;
  const knownDirectives = context.schema.directives;
  checkTargets(knownDirectives, directives, OPERATION_TARGETS[operation.operation], "$");
  const read = new Map<string, Readonly<Record<string, boolean>>>();
  for (const directive of directives) {
    const name = directive.name.value;
    const argumentValues: Record<string, boolean> = { ...knownDirectives[name]?.pluginDirective?.arguments };
    checkArguments(knownDirectives, directive, "$", (argument, locatedInput) => {
      if (argument === "ttl") readInt(context, locatedInput);
      else argumentValues[argument] = readBoolean(context, locatedInput);
    });
    if (knownDirectives[name]?.pluginDirective !== undefined) read.set(name, argumentValues);
  }
  return read;
};

export const hasDirective = (operation: OperationDefinitionNode, name: string): boolean =>
  operation.directives?.some((directive) => directive.name.value === name) === true;
