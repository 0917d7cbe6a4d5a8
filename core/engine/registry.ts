/** The declared parts of plugins: collected for parsers and compilers, checked against each other, tapped by core. */
import { presetError } from "../kernel/errors.ts";
import { blamed } from "../kernel/faults.ts";
import type { FilterContext, CoreHooks } from "../hooks.ts";
import { matchesType, type Typed } from "./model/type-groups.ts";
import type { Comparison } from "./plan/plan.ts";
import type {
  AggregateSpec,
  EmbedSpec,
  OperatorSpec,
  OrderingSpec,
  PlanFunction,
  Plugin,
  PreferenceSpec,
  Registry,
  StatementSpec,
  UpdateOperatorSpec,
} from "../plugin.ts";
import type { Sql } from "./sql/fragment.ts";

interface Declared<Spec> {
  readonly spec: Spec;
  readonly plugin: string;
}

const declared = <Spec>(
  plugins: readonly Plugin[],
  specs: (plugin: Plugin) => readonly Spec[] | undefined,
): readonly Declared<Spec>[] =>
  plugins.flatMap((plugin) => (specs(plugin) ?? []).map((spec) => ({ spec, plugin: plugin.name })));

/** @throws RelApiError `preset` if two declared parts conflict */
export const buildRegistry = (plugins: readonly Plugin[]): Registry => {
  const operators = declared(plugins, (plugin) => plugin.operators);
  const embeds = declared(plugins, (plugin) => plugin.embeds);
  const updateOperators = declared(plugins, (plugin) => plugin.updateOperators);
  const functions = declared(plugins, (plugin) => plugin.functions);
  const preferences = declared(plugins, (plugin) => plugin.preferences);
  const statements = declared(plugins, (plugin) => plugin.statements);
  const aggregates = declared(plugins, (plugin) => plugin.aggregates);
  const orderings = declared(plugins, (plugin) => plugin.orderings);
  refuseOverlaps(operators, (spec) => spec.name, "operator");
  refuseOverlaps(operators, (spec) => restNameOf(spec), "REST operator");
  refuseOverlaps(operators, (spec) => graphqlNameOf(spec), "GraphQL operator");
  refuseOverlaps(updateOperators, (spec) => spec.name, "update operator");
  refuseOverlaps(updateOperators, (spec) => spec.graphql, "GraphQL update operator");
  refuseDoubles(embeds, (spec) => spec.mode, "embedding mode");
  refuseDoubles(embeds, (spec) => spec.rest?.prefix, "REST embed prefix");
  refuseDoubles(embeds, (spec) => spec.graphql?.suffix, "GraphQL embed suffix");
  refuseDoubles(functions, (spec) => spec.name, "function");
  refuseDoubles(preferences, (spec) => spec.name, "preference");
  for (const { spec, plugin } of preferences)
    if (!TOKEN.test(spec.name))
      throw presetError(
        `preference "${spec.name}" of plugin "${plugin}" cannot be sent: name it with letters, digits and dashes`,
      );
  refuseDoubles(statements, (spec) => spec.name, "statement");
  refuseDoubles(aggregates, (spec) => spec.name, "aggregate function");
  refuseDoubles(aggregates, (spec) => surfaceName(spec.rest, spec.name), "REST aggregate function");
  refuseDoubles(aggregates, (spec) => surfaceName(spec.graphql, spec.name), "GraphQL aggregate function");
  refuseOverlaps(orderings, (spec) => spec.name, "ordering");
  refuseOverlaps(orderings, (spec) => surfaceName(spec.rest, spec.name), "REST ordering");
  refuseOverlaps(orderings, (spec) => surfaceName(spec.graphql, `_${spec.name}`), "GraphQL ordering");
  for (const { spec, plugin } of orderings) {
    refuseOddNames(plugin, "ordering", [spec.name, spec.rest, spec.graphql, ...spec.operands.map(({ name }) => name)]);
    if (spec.operands.some(({ name }) => name === "order"))
      throw presetError(
        `an operand of the ordering "${spec.name}" of "${plugin}" is named "order", as its direction is`,
      );
  }
  for (const { spec, plugin } of aggregates)
    refuseOddNames(plugin, "aggregate function", [spec.name, spec.rest, spec.graphql]);
  const names = new Set(plugins.map((plugin) => plugin.name));
  return Object.freeze({
    operators: operators.map(({ spec, plugin }): OperatorSpec => {
      const { name, restOperand } = spec;
      return restOperand === undefined
        ? spec
        : { ...spec, restOperand: blamed(plugin, `operators("${name}").restOperand`, restOperand) };
    }),
    embeds: embeds.map(({ spec }): EmbedSpec => spec),
    updateOperators: updateOperators.map(({ spec, plugin }): UpdateOperatorSpec => ({
      ...spec,
      compile: blamed(plugin, `updateOperators("${spec.name}").compile`, spec.compile),
    })),
    functions: new Map(
      functions.map(({ spec, plugin }): [string, PlanFunction] => [
        spec.name,
        { ...spec, compile: blamed(plugin, `functions("${spec.name}").compile`, spec.compile) },
      ]),
    ),
    statements: new Map(
      statements.map(({ spec, plugin }): [string, StatementSpec] => [
        spec.name,
        { ...spec, compile: blamed(plugin, `statements("${spec.name}").compile`, spec.compile) },
      ]),
    ),
    aggregates: new Map(
      aggregates.map(({ spec, plugin }): [string, AggregateSpec] => [
        spec.name,
        { ...spec, compile: spec.compile && blamed(plugin, `aggregates("${spec.name}").compile`, spec.compile) },
      ]),
    ),
    orderings: orderings.map(({ spec, plugin }): OrderingSpec => ({
      ...spec,
      compile: blamed(plugin, `orderings("${spec.name}").compile`, spec.compile),
    })),
    preferences: new Map(preferences.map((entry): [string, PreferenceSpec] => [entry.spec.name, ofPlugin(entry)])),
    has: (plugin: string) => names.has(plugin),
  });
};

/** A name as HTTP lets a header have it. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** What its functions throw by mistake is laid to the plugin. */
const ofPlugin = ({ spec, plugin }: Declared<PreferenceSpec>): PreferenceSpec => {
  const { name, values, plan, settings } = spec;
  return {
    ...spec,
    values: typeof values === "function" ? blamed(plugin, `preferences("${name}").values`, values) : values,
    plan: plan && blamed(plugin, `preferences("${name}").plan`, plan),
    settings: settings && blamed(plugin, `preferences("${name}").settings`, settings),
  };
};

/** `undefined`: not offered there. */
export const restNameOf = (spec: OperatorSpec): string | undefined =>
  spec.rest === false ? undefined : (spec.rest ?? spec.name);

/** The operator's name on the GraphQL surface; undefined: not offered there. */
export const graphqlNameOf = (spec: OperatorSpec): string | undefined => {
  if (spec.graphql === false) return undefined;
  return typeof spec.graphql === "object" ? spec.graphql.name : (spec.graphql ?? `_${spec.name.replaceAll("-", "_")}`);
};

/** Of a part whose names default to its own; `undefined`: not offered there. */
export const surfaceName = (given: string | false | undefined, name: string): string | undefined =>
  given === false ? undefined : (given ?? name);

const refuseOddNames = (plugin: string, what: string, names: readonly (string | false | undefined)[]): void => {
  for (const name of names)
    if (typeof name === "string" && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw presetError(`${what} "${name}" of "${plugin}" must consist of letters, digits and "_"`);
};

const refuseOverlaps = <Spec extends Typed>(
  all: readonly Declared<Spec>[],
  nameOf: (spec: Spec) => string | undefined,
  what: string,
): void => {
  const byName = new Map<string, Declared<Spec>[]>();
  for (const entry of all) {
    const name = nameOf(entry.spec);
    if (name === undefined) continue;
    const rivals = byName.get(name) ?? [];
    for (const rival of rivals) {
      const type = sharedType(rival.spec, entry.spec);
      if (type !== undefined)
        throw presetError(
          `${what} "${name}" on ${type} is declared by plugins "${rival.plugin}" and "${entry.plugin}": their types must not overlap`,
        );
    }
    byName.set(name, [...rivals, entry]);
  }
};

const refuseDoubles = <Spec>(
  all: readonly Declared<Spec>[],
  nameOf: (spec: Spec) => string | undefined,
  what: string,
): void => {
  const known = new Map<string, string>();
  for (const { spec, plugin } of all) {
    const name = nameOf(spec);
    if (name === undefined) continue;
    const rival = known.get(name);
    if (rival !== undefined)
      throw presetError(
        `${what} "${name}" is declared by plugins "${rival}" and "${plugin}": rename one or remove one of the plugins`,
      );
    known.set(name, plugin);
  }
};

/** A type or group both are for, as a message names it. */
const sharedType = (a: Typed, b: Typed): string | undefined => {
  for (const mine of a.types) {
    for (const theirs of b.types) {
      const narrow = narrower(mine, theirs);
      if (narrow !== undefined && !isExcepted(a, narrow) && !isExcepted(b, narrow)) return narrow;
    }
  }
  return undefined;
};

/** The overlap of two type names, by name only: `_int4` is an array, `int4range` a range. */
const narrower = (a: string, b: string): string | undefined => {
  if (a === b || isOfGroup(b, a)) return b;
  return isOfGroup(a, b) ? a : undefined;
};

const isOfGroup = (name: string, group: string): boolean =>
  group === "any" ||
  (group === "array" && name.startsWith("_")) ||
  (group === "range" && /^[a-z0-9]+(multi)?range$/.test(name));

const isExcepted = (spec: Typed, name: string): boolean =>
  spec.exceptTypes?.some((except) => except === name || isOfGroup(name, except)) === true;

/** Operators and embeds on their hooks, in front of what the plugin's `apply` adds. */
export const tapDeclared = (plugin: Plugin, hooks: CoreHooks): void => {
  for (const name of new Set((plugin.operators ?? []).map((spec) => spec.name))) {
    const specs = (plugin.operators ?? []).filter((spec) => spec.name === name);
    const builtIn = specs.every((spec) => spec.builtIn !== undefined)
      ? specs.flatMap((spec) => spec.builtIn ?? [])
      : undefined;
    hooks.compileFilter.for(name).tap({ name: `${plugin.name} (declared)`, builtIn }, (comparison, context) => {
      const spec = specs.find((each) => matchesType(each, context.type));
      return spec && compileOperator(spec, comparison, context);
    });
  }
  for (const spec of plugin.embeds ?? [])
    hooks.compileEmbed
      .for(spec.mode)
      .tap({ name: `${plugin.name} (declared)`, builtIn: spec.builtIn }, (embed, context) =>
        spec.compile(embed, context),
      );
};

/** Ill-typed and unknown columns: the first declaration writes the SQL and the database judges it (R-FLT-12). Tapped
 *  last of all. `as`: names the plugin whose the next tap is. */
export const tapFallbacks = (plugins: readonly Plugin[], hooks: CoreHooks, as: (plugin: string) => void): void => {
  const known = new Set<string>();
  for (const { spec, plugin } of declared(plugins, ({ operators }) => operators)) {
    if (known.has(spec.name)) continue;
    known.add(spec.name);
    as(plugin);
    hooks.compileFilter
      .for(spec.name)
      .tap({ name: "core (any type)", builtIn: spec.builtIn }, (comparison, context) =>
        compileOperator(spec, comparison, context),
      );
  }
};

const compileOperator = (spec: OperatorSpec, _comparison: Comparison, context: FilterContext): Sql =>
  spec.compile(context.column, context.operand, context);
