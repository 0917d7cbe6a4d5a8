/** The declared parts of plugins: collected for parsers and compilers, checked against each other, tapped by core. */
import { presetError } from "../kernel/errors.ts";
import { blamed } from "../kernel/faults.ts";
import type { FilterContext, CoreHooks } from "../hooks.ts";
import { matchesType } from "./model/type-groups.ts";
import { refuseDoubles, refuseOddNames, refuseOverlaps } from "./overlaps.ts";
import type { Comparison } from "./plan/plan.ts";
import type {
  AggregateSpec,
  OperatorSpec,
  OrderingSpec,
  PlanFunction,
  Plugin,
  PreferenceSpec,
  Registry,
  StatementSpec,
  WrapperSpec,
} from "../plugin.ts";
import type { Sql } from "./sql/fragment.ts";

/** @throws RelApiError `preset` if two declared parts conflict */
export const buildRegistry = (plugins: readonly Plugin[]): Registry => {
  const owners = new Map<object, string>();
  const parts = <Spec extends object>(kind: keyof Plugin, specs: (plugin: Plugin) => readonly Spec[] | undefined) =>
    plugins.flatMap((plugin) =>
      (specs(plugin) ?? []).map((spec): Spec => {
        const part = blamedPart(plugin.name, kind, spec);
        owners.set(part, plugin.name);
        return part;
      }),
    );
  const operators = parts("operators", (plugin) => plugin.operators);
  const embeds = parts("embeds", (plugin) => plugin.embeds);
  const updateOperators = parts("updateOperators", (plugin) => plugin.updateOperators);
  const functions = parts("functions", (plugin) => plugin.functions);
  const sessions = parts("sessions", (plugin) => plugin.sessions);
  const preferences = parts("preferences", (plugin) => plugin.preferences);
  const statements = parts("statements", (plugin) => plugin.statements);
  const aggregates = parts("aggregates", (plugin) => plugin.aggregates);
  const orderings = parts("orderings", (plugin) => plugin.orderings);
  const wrappers = parts("wrappers", (plugin) => plugin.wrappers);
  const resultColumns = parts("resultColumns", (plugin) => plugin.resultColumns);
  const rowSources = parts("rowSources", (plugin) => plugin.rowSources);
  const names = new Set(plugins.map((plugin) => plugin.name));
  const registry: Registry = Object.freeze({
    operators,
    embeds,
    updateOperators,
    functions: new Map(functions.map((spec): [string, PlanFunction] => [spec.name, spec])),
    secretHeaders: plugins.flatMap(({ secretHeaders = [] }) => secretHeaders.map((name) => name.toLowerCase())),
    sessions,
    sessionPrefixes: sessions.flatMap(({ prefix }) => prefix ?? []),
    preferences: new Map(preferences.map((spec): [string, PreferenceSpec] => [spec.name, spec])),
    statements: new Map(statements.map((spec): [string, StatementSpec] => [spec.name, spec])),
    aggregates: new Map(aggregates.map((spec): [string, AggregateSpec] => [spec.name, spec])),
    orderings,
    wrappers: new Map(wrappers.map((spec): [string, WrapperSpec] => [spec.name, spec])),
    resultColumns,
    rowSources,
    isForClient: (sqlstate: string) => plugins.some(({ clientStates }) => clientStates?.test(sqlstate) === true),
    pluginOf: (part: object) => owners.get(part) ?? "core",
    hiddenSchemas: (exposed: readonly string[]) =>
      plugins.flatMap((plugin) => plugin.hiddenSchemas?.(exposed) ?? []).filter((name) => !exposed.includes(name)),
    has: (plugin: string) => names.has(plugin),
  });
  const nameOf = ({ name }: { readonly name: string }): string => name;
  refuseOverlaps(registry, operators, nameOf, "operator");
  refuseOverlaps(registry, updateOperators, nameOf, "update operator");
  refuseDoubles(registry, embeds, ({ mode }) => mode, "embedding mode");
  refuseDoubles(registry, functions, nameOf, "function");
  refuseDoubles(registry, sessions, nameOf, "session part");
  refuseDoubles(registry, sessions, ({ prefix }) => prefix, "prefix of session variables");
  refuseDoubles(registry, preferences, nameOf, "preference");
  refuseDoubles(registry, statements, nameOf, "statement");
  refuseDoubles(registry, aggregates, nameOf, "aggregate function");
  refuseDoubles(registry, wrappers, nameOf, "wrapper");
  refuseDoubles(registry, resultColumns, nameOf, "result column");
  refuseDoubles(registry, rowSources, nameOf, "row source");
  for (const spec of resultColumns)
    if (!/^[a-z][a-z_]*$/.test(spec.name) || OWN_COLUMNS.includes(spec.name))
      throw presetError(
        `result column "${spec.name}" of "${registry.pluginOf(spec)}" must consist of lower-case letters and "_", and be none of ${OWN_COLUMNS.join(", ")}`,
      );
  refuseOverlaps(registry, orderings, nameOf, "ordering");
  for (const spec of preferences)
    if (!TOKEN.test(spec.name))
      throw presetError(
        `preference "${spec.name}" of plugin "${registry.pluginOf(spec)}" cannot be sent: name it with letters, digits and dashes`,
      );
  const withOperands = ({ name, operands }: OrderingSpec): readonly string[] => [name, ...operands.map(nameOf)];
  refuseOddNames(registry, orderings, withOperands, "ordering");
  refuseOddNames(registry, aggregates, (spec) => [spec.name], "aggregate function");
  return registry;
};

/** Columns that statements have by themselves. */
const OWN_COLUMNS = ["body", "check", "count_plan", "inserted", "kept", "location", "page_total", "total"];

/** A name as HTTP lets a header have it. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The part, with the plugin to blame for what its functions throw by mistake. */
const blamedPart = <Spec extends object>(plugin: string, kind: keyof Plugin, spec: Spec): Spec => {
  const { name, mode } = spec as { readonly name?: string; readonly mode?: string }; // one of both
  const members = Object.entries(spec).map(([key, member]: [string, unknown]) => [
    key,
    typeof member === "function"
      ? blamed(plugin, `${kind}("${name ?? mode}").${key}`, member as (...parts: unknown[]) => unknown)
      : member,
  ]);
  return Object.fromEntries(members) as Spec; // the same members
};

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
  for (const plugin of plugins)
    for (const spec of plugin.operators ?? []) {
      if (known.has(spec.name)) continue;
      known.add(spec.name);
      as(plugin.name);
      hooks.compileFilter
        .for(spec.name)
        .tap({ name: "core (any type)", builtIn: spec.builtIn }, (comparison, context) =>
          compileOperator(spec, comparison, context),
        );
    }
};

const compileOperator = (spec: OperatorSpec, _comparison: Comparison, context: FilterContext): Sql =>
  spec.compile(context.column, context.operand, context);
