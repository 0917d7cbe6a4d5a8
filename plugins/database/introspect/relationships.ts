/** Derives relationships from foreign keys in both directions, also through views and junctions.
 *  `ports?select=vessels(name)`. */
import {
  definePlugin,
  runSliced,
  nameKey,
  type ColumnPair,
  type Slices,
  type QualifiedName,
  type Relation,
  type Relationship,
} from "../../../core/index.ts";
import { getColumnOrigins, type ColumnOrigins } from "./catalog.ts";

/** A foreign key between two relations. Each relation is a table of the constraint, or a view that shows the key. */
interface KeyLink {
  /** Distinguishes keys with the same name on different tables. */
  readonly key: object;
  readonly constraint: string;
  readonly source: Relation;
  readonly target: Relation;
  readonly columns: readonly ColumnPair[];
  readonly isUnique: boolean;
  readonly isThroughView: boolean;
}

/** A relation that shows a key, with its columns in the order of the constraint. */
interface KeyColumns {
  readonly relation: Relation;
  readonly columns: readonly string[];
}

/** Returns the relationships of each source. Relationships that need a view or a junction are made only within one
 *  exposed schema, because no other schema uses them. @rule R-REL-2 R-REL-3 R-REL-5
 *  R-REL-6 R-REL-8 R-REL-10 */
const buildRelationships = function* (
  relations: ReadonlyMap<string, Relation>,
  origins: ColumnOrigins,
  schemas: readonly string[],
): Slices<ReadonlyMap<Relation, readonly Relationship[]>> {
  const exposed = new Set(schemas);
  const links = yield* deriveLinks(relations, origins, exposed);
  const bySource = new Map<Relation, Relationship[]>();
  const add = (source: Relation, relationship: Relationship): void =>
    void getOrAdd(bySource, source, () => []).push(relationship);
  for (const link of links) {
    const [forward, back] = buildBothDirections(link);
    add(link.source, forward);
    add(link.target, back);
    yield;
  }
  for (const [source, relationship] of deriveThroughJunctions(links, exposed)) {
    add(source, relationship);
    yield;
  }
  for (const list of bySource.values()) {
    makeIdsUnique(list);
    yield;
  }
  return bySource;
};

const deriveLinks = function* (
  relations: ReadonlyMap<string, Relation>,
  origins: ColumnOrigins,
  exposed: ReadonlySet<string>,
): Slices<readonly KeyLink[]> {
  const findViews = indexViews(relations, origins, exposed);
  const links: KeyLink[] = [];
  for (const source of relations.values()) {
    yield;
    for (const key of source.foreignKeys) {
      const target = relations.get(nameKey(key.target));
      if (target === undefined) continue;
      const own: KeyColumns = { relation: source, columns: key.columns };
      const far: KeyColumns = { relation: target, columns: key.targetColumns };
      const isUnique = source.uniqueKeys.some((unique) => isSameSet(unique.columns, key.columns));
      const addLink = (a: KeyColumns, b: KeyColumns, isThroughView: boolean): void => {
        const columns = a.columns.map((column, i): ColumnPair => [column, b.columns[i] ?? ""]);
        links.push({
          key,
          constraint: key.name,
          source: a.relation,
          target: b.relation,
          columns,
          isUnique,
          isThroughView,
        });
      };
      addLink(own, far, false);
      const sourceViews = findViews(own);
      const targetViews = findViews(far);
      for (const view of sourceViews) if (view.relation.schema === target.schema) addLink(view, far, true);
      for (const view of targetViews) if (view.relation.schema === source.schema) addLink(own, view, true);
      for (const a of sourceViews)
        for (const b of targetViews) if (a.relation.schema === b.relation.schema) addLink(a, b, true);
    }
  }
  return links;
};

/** Returns the views of exposed schemas that show all columns of a table's key. Each combination of the columns that
 *  show it has an entry. */
const indexViews = (
  relations: ReadonlyMap<string, Relation>,
  origins: ColumnOrigins,
  exposed: ReadonlySet<string>,
): ((key: KeyColumns) => readonly KeyColumns[]) => {
  const byTable = new Map<Relation | undefined, { readonly view: Relation; readonly shown: Map<string, string[]> }[]>();
  for (const [viewKey, columns] of origins) {
    const view = relations.get(viewKey);
    if (view === undefined || !exposed.has(view.schema)) continue;
    const tables = new Map<string, Map<string, string[]>>();
    for (const { name } of view.columns) {
      const origin = columns.get(name);
      if (origin === undefined) continue;
      const shown = getOrAdd(tables, nameKey(origin.relation), () => new Map<string, string[]>());
      getOrAdd(shown, origin.column, () => []).push(name);
    }
    for (const [table, shown] of tables) getOrAdd(byTable, relations.get(table), () => []).push({ view, shown });
  }
  return ({ relation, columns }) =>
    (byTable.get(relation) ?? []).flatMap(({ view, shown }) =>
      combineColumns(columns.map((column) => shown.get(column) ?? [])).map((combination) => ({
        relation: view,
        columns: combination,
      })),
    );
};

/** Combines one element of each list: `[[a, b], [c]]` becomes `[[a, c], [b, c]]`. The result is empty if a list is
 *  empty. */
const combineColumns = (choices: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  choices.reduce<readonly (readonly string[])[]>(
    (combinations, choice) => combinations.flatMap((start) => choice.map((next) => [...start, next])),
    [[]],
  );

const buildBothDirections = (link: KeyLink): readonly [Relationship, Relationship] => {
  const { constraint, source, target, columns, isUnique, isThroughView } = link;
  const buildSuffix = (pairs: readonly ColumnPair[]): string => (isThroughView ? describePairs(pairs) : "");
  const back = columns.map(([own, far]): ColumnPair => [far, own]);
  const [sourceName, targetName] = [getName(source), getName(target)];
  return [
    {
      id: `${constraint}>${formatLabel(target, source)}${buildSuffix(columns)}`,
      cardinality: isUnique ? "one-to-one" : "many-to-one",
      isToOne: true,
      source: sourceName,
      target: targetName,
      columns,
      constraint,
      isOwnKey: true,
    },
    {
      id: `${constraint}<${formatLabel(source, target)}${buildSuffix(back)}`,
      cardinality: isUnique ? "one-to-one" : "one-to-many",
      isToOne: isUnique,
      source: targetName,
      target: sourceName,
      columns: back,
      constraint,
      isOwnKey: false,
    },
  ];
};

/** Derives relationships through junctions. A junction has two foreign keys that are part of its primary key and not
 *  unique by themselves. Junction and targets are in exposed schemas, and both targets in the same schema. @rule
 *  R-REL-3 */
const deriveThroughJunctions = function* (
  links: readonly KeyLink[],
  exposed: ReadonlySet<string>,
): Generator<readonly [source: Relation, relationship: Relationship]> {
  const byJunction = new Map<Relation, KeyLink[]>();
  for (const link of links) {
    const { source: junction, isUnique, columns } = link;
    if (isUnique || !exposed.has(junction.schema)) continue;
    if (columns.every(([column]) => junction.primaryKey.includes(column)))
      getOrAdd(byJunction, junction, () => []).push(link);
  }
  for (const [junction, keys] of byJunction) {
    for (const near of keys) {
      for (const far of keys) {
        if (near.key === far.key || near.target.schema !== far.target.schema || !exposed.has(near.target.schema))
          continue;
        yield [near.target, buildThroughJunction(junction, near, far)];
      }
    }
  }
};

const buildThroughJunction = (junction: Relation, near: KeyLink, far: KeyLink): Relationship => {
  const swap = ([own, other]: ColumnPair): ColumnPair => [other, own];
  const source = near.columns.map(swap);
  const target = far.columns.map(swap);
  const suffix = near.isThroughView || far.isThroughView ? describePairs(source) + describePairs(target) : "";
  return {
    id: `${near.constraint}<${formatLabel(junction, near.target)}>${far.constraint}>${formatLabel(far.target, near.target)}${suffix}`,
    cardinality: "many-to-many",
    isToOne: false,
    source: getName(near.target),
    target: getName(far.target),
    columns: [],
    constraint: "",
    isOwnKey: false,
    junction: {
      relation: getName(junction),
      sourceConstraint: near.constraint,
      targetConstraint: far.constraint,
      source,
      target,
    },
  };
};

const getName = ({ schema, name }: Relation): QualifiedName => ({ schema, name });

/** Returns the name, with its schema if it differs from the schema of `from`. */
const formatLabel = (name: QualifiedName, from: QualifiedName): string =>
  name.schema === from.schema ? name.name : `${name.schema}.${name.name}`;

const describePairs = (pairs: readonly ColumnPair[]): string => `(${pairs.map(([a, b]) => `${a}=${b}`).join(",")})`;

/** Appends numbers to equal ids, which names with the separators of ids can cause. The list is ordered by name, so the
 *  numbers are stable across reloads. */
const makeIdsUnique = (list: Relationship[]): void => {
  const seen = new Map<string, number>();
  list.forEach((relationship, i) => {
    const count = (seen.get(relationship.id) ?? 0) + 1;
    seen.set(relationship.id, count);
    if (count > 1) list[i] = { ...relationship, id: `${relationship.id}#${count}` };
  });
};

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

const getOrAdd = <Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value => {
  let found = map.get(key);
  if (found === undefined) {
    found = make();
    map.set(key, found);
  }
  return found;
};

/** Derives relationships from foreign keys, also through views and junctions. */
export const relationships = definePlugin({
  name: "relationships",
  requires: ["catalog-introspection"],
  apply: (hooks) => {
    hooks.introspect.tapPromise("relationships", async (model) => {
      const bySource = await runSliced(buildRelationships(model.relations, getColumnOrigins(model), model.schemas));
      return { ...model, relations: await runSliced(addRelationships(model.relations, bySource)) };
    });
  },
});

const addRelationships = function* (
  relations: ReadonlyMap<string, Relation>,
  bySource: ReadonlyMap<Relation, readonly Relationship[]>,
): Slices<ReadonlyMap<string, Relation>> {
  const result = new Map<string, Relation>();
  for (const [key, relation] of relations) {
    const derived = bySource.get(relation);
    result.set(
      key,
      derived === undefined ? relation : { ...relation, relationships: [...relation.relationships, ...derived] },
    );
    yield;
  }
  return result;
};
