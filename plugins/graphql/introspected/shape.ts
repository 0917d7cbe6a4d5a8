/** What the types of a table depend on, apart from what it and others are called. @rule R-SC-15 */
import { nameKey, type Pieces } from "../../../core/index.ts";
import { isEnumValueName } from "../types/names.ts";
import { onceFor } from "../types/once.ts";
import { roleTableOf, type RoleTable } from "../types/role-table.ts";
import type { GqlBuild } from "../parts.ts";
import type { GqlTable } from "../served.ts";

const listOf = (names: ReadonlySet<string> | undefined): readonly string[] | undefined => names && [...names];

/** What types of others see of it. */
const factsOf = onceFor((lens: RoleTable): readonly unknown[] => {
  const { build, table } = lens;
  const { select, insert } = build.rights(table);
  const isOrdered = lens.readable.length > 0 || lens.computed.length > 0 || lens.relationships.length > 0;
  return [select !== undefined, insert !== undefined, lens.mayAggregate, isOrdered, build.mayHideRows(table)];
});

/** Equal for tables whose types are the same but for names; undefined: it has no types of its own. The proof that
 *  nothing is missing: the families of fields read of a table what is here, and of those that its relationships lead to
 *  the facts above; what else stands in text is a place that belongs to one table. */
export const shapeOf = function* (build: GqlBuild, table: GqlTable): Pieces<string | undefined> {
  const { select, insert, update, delete: mayDelete } = build.rights(table);
  if (select === undefined && insert === undefined && update === undefined && mayDelete === undefined) return undefined;
  const { relation, comment } = table;
  const targets = new Map<string, number>();
  const placeOf = (key: string): number => {
    const known = targets.get(key);
    if (known === undefined) targets.set(key, targets.size);
    return known ?? targets.size - 1;
  };
  placeOf(nameKey(relation));
  const related: unknown[] = [];
  for (const { relationship, target } of table.relationships) {
    yield;
    const other = build.table(target);
    related.push([
      relationship.isToOne,
      relationship.isOwnKey,
      relationship.isManual,
      relationship.columns.map(([source]) => source),
      placeOf(nameKey(target)),
      other && factsOf(roleTableOf(build, other)),
    ]);
  }
  return JSON.stringify([
    comment === undefined ? 0 : comment === null || comment === "" ? [comment] : 1,
    table.columns.map(({ column, name, comment: about, enumTable }) => [
      column.name,
      name,
      column.type,
      column.notNull,
      about,
      enumTable && nameKey(enumTable.relation),
      select?.columns.has(column.name) === true,
      insert?.columns.has(column.name) === true,
      update?.columns.has(column.name) === true,
      select?.masked?.has(column.name) === true,
    ]),
    table.primaryKey,
    relation.uniqueKeys.map(({ name, columns }) => [isEnumValueName(name), columns]),
    [select === undefined, insert === undefined, update === undefined, mayDelete === undefined],
    [listOf(select?.queryRootFields), listOf(select?.subscriptionRootFields)],
    table.rootFields,
    factsOf(roleTableOf(build, table)),
    // of functions of its own, which are called like no others
    table.computedFields.length === 0 ? 0 : nameKey(relation),
    table.enumTable === undefined ? 0 : nameKey(relation),
    related,
  ]);
};
