/** Helps the families of fields to tap `buildGqlField`. */
import type { RelApiHooks } from "../../../core/index.ts";
import type { GraphQLArgumentConfig, GraphQLFieldConfig, GraphQLInputFieldConfig, GraphQLInputType } from "graphql";
import type { GqlScope } from "../part-kinds.ts";
import { type GqlPart, withPart } from "../plan-parts.ts";
import type { GqlBuild, GqlField, GqlFieldContext, GqlFields } from "../field-types.ts";
import type { GqlTable } from "../catalog-types.ts";

/** A tap of this surface. Taps without this member belong to other plugins. */
interface SurfaceTap {
  readonly isOfSurface: true;
}

/** Returns true for a tap of a plugin outside this surface. */
export const isPluginTap = (tap: object): boolean => !("isOfSurface" in tap);

type AddFields = (context: GqlFieldContext) => GqlFields;

/** Adds fields to the given scopes. An existing name is never replaced (G-NAM-3). */
export const tapFields = (
  hooks: RelApiHooks,
  plugin: string,
  scopes: Readonly<Partial<Record<GqlScope, AddFields>>>,
): void =>
  hooks.buildGqlField.tap(
    { name: plugin, ...({ isOfSurface: true } satisfies SurfaceTap) },
    (fields: GqlFields, context: GqlFieldContext) => {
      const addedFields = scopes[context.scope]?.(context);
      if (addedFields === undefined || isEmpty(addedFields)) return fields;
      return isEmpty(fields) ? addedFields : mergeFields(fields, addedFields);
    },
  );

/** Returns whether the object has its own field of this name. A column may be called `constructor`, so inherited
 *  properties do not count. */
const has = (fields: GqlFields, name: string): boolean => Object.hasOwn(fields, name);

const yieldsToDatabaseNames = ({ toPlan }: GqlField): boolean => toPlan.kind === "custom" || toPlan.kind === "ordering";

/** Adds fields. An existing field stays, unless it comes from a plugin, because names from the database take
 *  precedence. @rule X-GQL-5 X-ORD-3 */
export const mergeFields = (fields: GqlFields, addedFields: GqlFields): GqlFields => {
  const mergedFields: Record<string, GqlField> = { ...fields };
  for (const name in addedFields)
    // The name is a key of the object.
    if (!has(fields, name) || yieldsToDatabaseNames(fields[name]!)) mergedFields[name] = addedFields[name]!;
  return mergedFields;
};

export const isEmpty = (fields: GqlFields): boolean => {
  for (const _ in fields) return false;
  return true;
};

/** Returns the table of the type. */
export const findTable = ({ build, relation }: GqlFieldContext): GqlTable | undefined =>
  relation && build.table(relation);

/** Adapts a function that builds the fields of a table's type. Without a table, the type gets no fields. */
export const forTable =
  (add: (build: GqlBuild, table: GqlTable, context: GqlFieldContext) => GqlFields): AddFields =>
  (context) => {
    const table = findTable(context);
    return table === undefined ? {} : add(context.build, table, context);
  };

/** Adds the same fields to the query root and the subscription root (G-GEN-15). */
export const addToReadRoots = (add: AddFields) => ({ query_root: add, subscription_root: add });

type FieldEntry = readonly [name: string, field: GqlField];

/** Builds an entry for `collectFields`. Undefined if the role does not have the type of the field. */
export const buildEntry = (
  name: string,
  type: GqlField["config"]["type"] | undefined,
  toPlan: GqlPart,
  config: Pick<GraphQLFieldConfig<unknown, unknown>, "args" | "description"> &
    Pick<GraphQLInputFieldConfig, "defaultValue"> = {},
): FieldEntry | undefined => type && [name, { config: { type, ...config } as GqlField["config"], toPlan }]; // the type fits the scope

/** Collects fields by name and skips undefined entries. */
export const collectFields = (entries: readonly (FieldEntry | undefined)[]): GqlFields => {
  const fields: Record<string, GqlField> = {};
  for (const entry of entries) {
    if (entry !== undefined && !has(fields, entry[0])) fields[entry[0]] = entry[1];
  }
  return fields;
};

export const argument = (
  type: GraphQLInputType,
  part: GqlPart,
  description: string | null = null,
): GraphQLArgumentConfig => ({
  type,
  description,
  extensions: withPart(part),
});
