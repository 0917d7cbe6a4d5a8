/** Checks the fields that plugins outside this surface add: their owner, and whether their type can have them.
 *  @rule X-GQL-1 X-GQL-5 */
import { assertName, isLeafType, getNamedType, isOutputType } from "graphql";
import { findColumn, type Slices, type RelApiHooks } from "../../../core/index.ts";
import { isPluginTap, mergeFields } from "./field-taps.ts";
import type { GqlScope } from "../part-kinds.ts";
import type { GqlPart } from "../plan-parts.ts";
import type { GqlField, GqlFieldContext, GqlFields } from "../field-types.ts";

type CustomPart = Extract<GqlPart, { readonly kind: "custom" }>;
const ALL_PLAN_KINDS = ["output", "plan", "statement", "run", "forward", "load", "delegate"] as const;
type PlanKind = (typeof ALL_PLAN_KINDS)[number];

const ALLOWED_KINDS: Readonly<Partial<Record<GqlScope, readonly PlanKind[]>>> = {
  query_root: ["plan", "statement", "run", "forward"],
  mutation_root: ["plan", "statement", "run", "forward"],
  subscription_root: ["plan", "statement"],
  row: ["output", "load", "delegate"],
  record: ["output"],
};

const findPlanKind = (part: CustomPart): PlanKind | undefined => ALL_PLAN_KINDS.find((kind) => kind in part);

const isCustom = (field: GqlField): field is GqlField & { readonly toPlan: CustomPart } =>
  field.toPlan.kind === "custom";

/** Returns the field after its checks, or undefined if the role may not read the columns that the field needs. @throws
 *  Error that names the plugin */
const checkField = (plugin: string, name: string, field: GqlField, context: GqlFieldContext): GqlField | undefined => {
  const part = field.toPlan as CustomPart; // the caller has checked the kind
  const pluginFieldInvalid = (reason: string): Error =>
    new Error(`plugin "${plugin}" adds the field "${name}" of type "${context.typeName}": ${reason}`);
  const kind = findPlanKind(part);
  const allowedKinds = ALLOWED_KINDS[context.scope] ?? [];
  const isLive =
    context.scope === "subscription_root" &&
    ("live" in part || ("forward" in part && part.forward.subscribe !== undefined));
  if (kind === undefined || !(allowedKinds.includes(kind) || isLive))
    throw pluginFieldInvalid(
      allowedKinds.length === 0
        ? `no field of a plugin's own can be served in ${context.scope}`
        : `it is served by ${kind ?? "nothing"}, and in ${context.scope} only ${allowedKinds.join(" or ")} can be`,
    );
  if ("statement" in part) {
    if (!context.build.schema.registry.statements.has(part.statement))
      throw pluginFieldInvalid(`no plugin declares the statement "${part.statement}"`);
    const { type } = field.config;
    if (isOutputType(type) && !isLeafType(getNamedType(type)))
      throw pluginFieldInvalid("a statement gives a scalar, not an object");
  }
  if ("columns" in part) {
    const { relation, build } = context;
    const unknown = part.columns.find((column) => relation === undefined || findColumn(relation, column) === undefined);
    if (unknown !== undefined) throw pluginFieldInvalid(`the table has no column "${unknown}"`);
    const table = relation && build.table(relation);
    const readable = table && build.rights(table).select?.columns;
    if (!part.columns.every((column) => readable?.has(column))) return undefined;
  }
  return { ...field, toPlan: { ...part, plugin } };
};

/** The plugins outside the surface, by the field names that they added. */
type Owners = Map<string, string>;

const fieldDuplicated = (name: string, { typeName }: GqlFieldContext, owners: Owners, second: string): Error =>
  new Error(
    `field "${name}" of type "${typeName}" is given by "${owners.get(name) ?? "?"}" and by "${second}": rename one or drop one of the plugins`,
  );

/** Checks the names that a plugin has chosen. @throws GraphQLError */
const assertNames = (name: string, { config }: GqlField): void => {
  assertName(name);
  if ("args" in config) for (const argument in config.args) assertName(argument);
};

/** Returns the fields after a foreign tap. Names from the database take precedence, and names of other plugins' fields
 *  are rejected. A tap that only changes the description or type of a field keeps its part. */
const mergePluginFields = (
  before: GqlFields,
  after: GqlFields,
  plugin: string,
  owners: Owners,
  context: GqlFieldContext,
): GqlFields => {
  const fields: Record<string, GqlField> = {};
  for (const [name, field] of Object.entries(after)) {
    const fieldBefore = Object.hasOwn(before, name) ? before[name] : undefined;
    if (fieldBefore !== undefined && field.toPlan === fieldBefore.toPlan) {
      fields[name] = field;
      continue;
    }
    if (fieldBefore !== undefined && owners.has(name)) throw fieldDuplicated(name, context, owners, plugin);
    const checkedField = isCustom(field) ? (fieldBefore ?? checkField(plugin, name, field, context)) : field;
    if (fieldBefore === undefined) {
      assertNames(name, field);
      owners.set(name, plugin);
    }
    if (checkedField !== undefined) fields[name] = checkedField;
  }
  return fields;
};

type FieldTap = (fields: GqlFields, context: GqlFieldContext) => GqlFields;

/** Detects that two plugins add the same name. A tap might skip a name that exists, so it is called without the fields
 *  of other plugins. */
const rejectHidden = (
  before: GqlFields,
  run: FieldTap,
  plugin: string,
  owners: Owners,
  context: GqlFieldContext,
): void => {
  if (owners.size === 0) return;
  let tapFields: GqlFields;
  try {
    tapFields = run(Object.fromEntries(Object.entries(before).filter(([name]) => !owners.has(name))), context);
  } catch {
    return; // the tap changes fields of other plugins, which this call omits
  }
  for (const name of owners.keys())
    if (Object.hasOwn(tapFields, name)) throw fieldDuplicated(name, context, owners, plugin);
};

interface FieldBuilder {
  /** True if every tap belongs to this surface. Such taps return the fields of all tables as the union of the fields of
   *  some tables. */
  readonly isByTable: boolean;
  buildFields(context: GqlFieldContext): GqlFields;
  /** Builds the fields of a root. Each element of `parts` is the root of a few tables, and together the elements
   *  contain all tables. Each element is processed before the next one is requested. */
  buildRootFields(context: GqlFieldContext, parts: () => Iterable<GqlFieldContext>): Slices<GqlFields>;
}

/** Creates a builder from the taps of `buildGqlField`, which run in order. */
export const createFieldBuilder = (hooks: RelApiHooks): FieldBuilder => {
  const { taps } = hooks.buildGqlField;
  const noFields: GqlFields = Object.freeze({});
  const add = (before: GqlFields, tap: (typeof taps)[number], owners: Owners, context: GqlFieldContext): GqlFields => {
    const run = tap.fn as FieldTap; // the type of a tap of this hook
    const after = run(before, context);
    if (after === undefined || after === before || !isPluginTap(tap)) return after ?? before;
    rejectHidden(before, run, tap.name, owners, context);
    return mergePluginFields(before, after, tap.name, owners, context);
  };
  return {
    isByTable: !taps.some(isPluginTap),
    buildFields: (context) => {
      const owners: Owners = new Map();
      let fields = noFields;
      for (const tap of taps) fields = add(fields, tap, owners, context);
      return fields;
    },
    buildRootFields: function* (context, parts) {
      const owners: Owners = new Map();
      let fields = noFields;
      for (const tap of taps) {
        if (isPluginTap(tap)) {
          fields = add(fields, tap, owners, context);
          continue;
        }
        const addedFields: Record<string, GqlField> = {};
        for (const part of parts()) {
          const partFields = (tap.fn as FieldTap)(noFields, part); // the type of a tap of this hook
          // The name is a key of the object.
          for (const name in partFields) if (!Object.hasOwn(addedFields, name)) addedFields[name] = partFields[name]!;
          yield;
        }
        fields = mergeFields(fields, addedFields);
        yield;
      }
      return fields;
    },
  };
};
