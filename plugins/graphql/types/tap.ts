/** How the families of fields tap `buildGqlField`. */
import type { RelApiHooks } from "../../../core/index.ts";
import type { GraphQLArgumentConfig, GraphQLInputType } from "graphql";
import type { GqlScope } from "../part-kinds.ts";
import { type GqlField, type GqlFieldContext, type GqlFields, type GqlPart, withPart } from "../parts.ts";
import type { GqlTable } from "../served.ts";

/** Of taps of the surface itself, which give no fields of plugins' own: the scopes that they know. */
interface OfThisSurface {
  readonly scopes: Readonly<Partial<Record<GqlScope, AddFields>>>;
}

export const isForeign = (tap: object): boolean => !("scopes" in tap);

/** Whether the tap may have something for types of that scope. */
export const isFor = (tap: object, scope: GqlScope): boolean =>
  isForeign(tap) || scope in (tap as OfThisSurface).scopes;

export type AddFields = (context: GqlFieldContext) => GqlFields;

/** Adds to the fields of the scopes named. An existing name is never replaced (G-NAM-3). */
export const tapFields = (
  hooks: RelApiHooks,
  plugin: string,
  scopes: Readonly<Partial<Record<GqlScope, AddFields>>>,
): void =>
  hooks.buildGqlField.tap(
    { name: plugin, ...({ scopes } satisfies OfThisSurface) },
    (fields: GqlFields, context: GqlFieldContext) => {
      const added = scopes[context.scope]?.(context);
      if (added === undefined || isEmpty(added)) return fields;
      return isEmpty(fields) ? added : merge(fields, added);
    },
  );

/** A column may be called `constructor`: inherited properties are not fields. */
const has = (fields: GqlFields, name: string): boolean => Object.hasOwn(fields, name);

const givesWay = ({ toPlan }: GqlField): boolean => toPlan.kind === "custom" || toPlan.kind === "ordering";

/** A field keeps its name, unless it comes from a plugin: names of the database take precedence. @rule X-GQL-5 X-ORD-3 */
export const merge = (fields: GqlFields, added: GqlFields): GqlFields => {
  const merged: Record<string, GqlField> = { ...fields };
  for (const name in added) if (!has(fields, name) || givesWay(fields[name]!)) merged[name] = added[name]!; // its own keys
  return merged;
};

export const isEmpty = (fields: GqlFields): boolean => {
  for (const _ in fields) return false;
  return true;
};

/** Whose type it is. */
export const tableAt = ({ build, relation }: GqlFieldContext): GqlTable | undefined =>
  relation && build.table(relation);

/** The same fields for the query root and the subscription root (G-GEN-15). */
export const inBothReadRoots = (add: AddFields) => ({ query_root: add, subscription_root: add });

/** Fields by name out of what may be missing. */
export const fieldsOf = (entries: readonly (readonly [name: string, field: GqlField] | undefined)[]): GqlFields => {
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
  defaultValue?: unknown,
): GraphQLArgumentConfig => ({
  type,
  description,
  extensions: withPart(part),
  ...(defaultValue === undefined ? {} : { defaultValue }),
});
