/** Collects the declared parts of plugins for parsers and compilers, and taps their hooks. */
import { presetError } from "./kernel/errors.ts";
import { withPluginName } from "./kernel/plugin-errors.ts";
import type { FilterContext, RelApiHooks } from "./hooks.ts";
import { matchesType } from "./model/type-groups.ts";
import { checkSpecs, getSpecName, SPEC_KINDS, type Specs } from "./kernel/specs.ts";
import type { OperatorSpec, Plugin, Registry } from "./plugin.ts";
import type { Sql } from "./sql/fragment.ts";

/** Builds the registry of the declared parts of all plugins. @throws RelApiError `preset` for parts that conflict, or
 *  that cannot work */
export const buildRegistry = (plugins: readonly Plugin[]): Registry => {
  const owners = new Map<object, string>();
  const collectSpecs = (kind: keyof Specs): readonly object[] =>
    plugins.flatMap((plugin) =>
      (plugin[kind] ?? []).map((spec) => {
        const part = withPluginNameInSpec(plugin.name, kind, spec);
        owners.set(part, plugin.name);
        return part;
      }),
    );
  const kinds = Object.keys(SPEC_KINDS) as (keyof Specs)[];
  // The parts by kind.
  const specs = Object.fromEntries(kinds.map((kind) => [kind, collectSpecs(kind)])) as unknown as Specs;
  const findPluginName = (part: object): string => owners.get(part) ?? "core";
  checkSpecs(specs, { getPluginName: findPluginName });
  const names = new Set(plugins.map((plugin) => plugin.name));
  return Object.freeze({
    ...specs,
    functions: indexByName(specs.functions),
    preferences: indexByName(specs.preferences),
    statements: indexByName(specs.statements),
    aggregates: indexByName(specs.aggregates),
    wrappers: indexByName(specs.wrappers),
    secretHeaders: plugins.flatMap(({ secretHeaders = [] }) => secretHeaders.map((name) => name.toLowerCase())),
    sessionPrefixes: specs.sessions.flatMap(({ prefix }) => prefix ?? []),
    isForClient: (sqlstate: string) => plugins.some(({ clientSqlstates }) => clientSqlstates?.test(sqlstate) === true),
    getPluginName: findPluginName,
    hiddenSchemas: (exposedSchemas: readonly string[]) =>
      plugins
        .flatMap((plugin) => plugin.hiddenSchemas?.(exposedSchemas) ?? [])
        .filter((name) => !exposedSchemas.includes(name)),
    has: (plugin: string) => names.has(plugin),
  });
};

/** Returns the function that connects to the database. @throws RelApiError `preset` unless exactly one plugin has it
 *  @rule X-CON-1 */
export const findConnector = (plugins: readonly Plugin[]): NonNullable<Plugin["connector"]> => {
  const [connectorPlugin, otherPlugin] = plugins.filter(({ connector }) => connector !== undefined);
  if (connectorPlugin?.connector === undefined)
    throw presetError('no plugin of the preset connects to the database: add the plugin "connector"');
  if (otherPlugin !== undefined)
    throw presetError(
      `plugins "${connectorPlugin.name}" and "${otherPlugin.name}" both connect to the database: drop one of them with without("${otherPlugin.name}")`,
    );
  return withPluginName(connectorPlugin.name, "connector", connectorPlugin.connector);
};

const indexByName = <Spec extends { readonly name: string }>(specs: readonly Spec[]): ReadonlyMap<string, Spec> =>
  new Map(specs.map((spec) => [spec.name, spec]));

/** Returns the part with wrapped functions, whose unexpected errors name the plugin. */
const withPluginNameInSpec = <Spec extends Parameters<typeof getSpecName>[0]>(
  plugin: string,
  kind: keyof Specs,
  spec: Spec,
): Spec => {
  const members = Object.entries(spec).map(([key, member]: [string, unknown]) => [
    key,
    typeof member === "function"
      ? withPluginName(plugin, `${kind}("${getSpecName(spec)}").${key}`, member as (...parts: unknown[]) => unknown)
      : member,
  ]);
  return Object.fromEntries(members) as Spec; // the wrapped part has the same members
};

/** Taps the hooks of the plugin's operators and embeds, before its `apply` adds other taps. */
export const tapDeclaredParts = (plugin: Plugin, hooks: RelApiHooks): void => {
  for (const name of new Set((plugin.operators ?? []).map((spec) => spec.name))) {
    const specs = (plugin.operators ?? []).filter((spec) => spec.name === name);
    const builtIn = specs.every((spec) => spec.builtIn !== undefined)
      ? specs.flatMap((spec) => spec.builtIn ?? [])
      : undefined;
    hooks.compileFilter.for(name).tap({ name: `${plugin.name} (declared)`, builtIn }, (_comparison, context) => {
      const spec = specs.find((candidate) => matchesType(candidate, context.type));
      return spec && compileOperator(spec, context);
    });
  }
  for (const spec of plugin.embeds ?? [])
    hooks.compileEmbed
      .for(spec.mode)
      .tap({ name: `${plugin.name} (declared)`, builtIn: spec.builtIn }, (embed, context) =>
        spec.compile(embed, context),
      );
};

/** Adds a last tap for each operator, for columns of other or unknown types. The first declaration of the operator writes the SQL, and the database decides whether the types fit (R-FLT-12).
 *  These taps run last. `setPlugin` is called with the plugin of the next tap. */
export const tapFallbacks = (
  plugins: readonly Plugin[],
  hooks: RelApiHooks,
  setPlugin: (plugin: string) => void,
): void => {
  const knownTypes = new Set<string>();
  for (const plugin of plugins)
    for (const spec of plugin.operators ?? []) {
      if (knownTypes.has(spec.name)) continue;
      knownTypes.add(spec.name);
      setPlugin(plugin.name);
      hooks.compileFilter
        .for(spec.name)
        .tap({ name: "core (any type)", builtIn: spec.builtIn }, (_comparison, context) =>
          compileOperator(spec, context),
        );
    }
};

const compileOperator = (spec: OperatorSpec, context: FilterContext): Sql =>
  spec.compile(context.column, context.operand, context);
