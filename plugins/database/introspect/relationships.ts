/** Derives relationships from foreign keys in both directions, also through views and junctions.
 *  `ports?select=vessels(name)`. */
import {
  definePlugin,
  runSliced,
  buildNameKey,
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
  const exposedSchemas = new Set(schemas);
  const links = yield* deriveLinks(relations, origins, exposedSchemas);
  const bySource = new Map<Relation, Relationship[]>();
  const add = (source: Relation, relationship: Relationship): void =>
    void getOrAdd(bySource, source, () => []).push(relationship);
  for (const link of links) {
    const [forward, backward] = buildBothDirections(link);
    add(link.source, forward);
    add(link.target, backward);
    yield;
  }
  for (const [source, relationship] of deriveThroughJunctions(links, exposedSchemas)) {
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
  exposedSchemas: ReadonlySet<string>,
): Slices<readonly KeyLink[]> {
  const findViews = indexViews(relations, origins, exposedSchemas);
  const links: KeyLink[] = [];
  for (const source of relations.values()) {
    yield;
    for (const key of source.foreignKeys) {
      const target = relations.get(buildNameKey(key.target));
      if (target === undefined) continue;
      const sourceColumns: KeyColumns = { relation: source, columns: key.columns };
      const targetColumns: KeyColumns = { relation: target, columns: key.targetColumns };
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
      addLink(sourceColumns, targetColumns, false);
      const sourceViews = findViews(sourceColumns);
      const targetViews = findViews(targetColumns);
      for (const view of sourceViews) if (view.relation.schema === target.schema) addLink(view, targetColumns, true);
      for (const view of targetViews) if (view.relation.schema === source.schema) addLink(sourceColumns, view, true);
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
  exposedSchemas: ReadonlySet<string>,
): ((key: KeyColumns) => readonly KeyColumns[]) => {
  const byTable = new Map<
    Relation | undefined,
    { readonly view: Relation; readonly viewColumns: Map<string, string[]> }[]
  >();
  for (const [viewKey, columns] of origins) {
    const view = relations.get(viewKey);
    if (view === undefined || !exposedSchemas.has(view.schema)) continue;
    const tables = new Map<string, Map<string, string[]>>();
    for (const { name } of view.columns) {
      const origin = columns.get(name);
      if (origin === undefined) continue;
      const viewColumns = getOrAdd(tables, buildNameKey(origin.relation), () => new Map<string, string[]>());
      getOrAdd(viewColumns, origin.column, () => []).push(name);
    }
    for (const [table, viewColumns] of tables)
      getOrAdd(byTable, relations.get(table), () => []).push({ view, viewColumns });
  }
  return ({ relation, columns }) =>
    (byTable.get(relation) ?? []).flatMap(({ view, viewColumns }) =>
      combineColumns(columns.map((column) => viewColumns.get(column) ?? [])).map((combination) => ({
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
  const backwardColumns = columns.map(([sourceColumn, targetColumn]): ColumnPair => [targetColumn, sourceColumn]);
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
      id: `${constraint}<${formatLabel(source, target)}${buildSuffix(backwardColumns)}`,
      cardinality: isUnique ? "one-to-one" : "one-to-many",
      isToOne: isUnique,
      source: targetName,
      target: sourceName,
      columns: backwardColumns,
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
  exposedSchemas: ReadonlySet<string>,
): Generator<readonly [source: Relation, relationship: Relationship]> {
  const byJunction = new Map<Relation, KeyLink[]>();
  for (const link of links) {
    const { source: junction, isUnique, columns } = link;
    if (isUnique || !exposedSchemas.has(junction.schema)) continue;
    if (columns.every(([column]) => junction.primaryKey.includes(column)))
      getOrAdd(byJunction, junction, () => []).push(link);
  }
  for (const [junction, keys] of byJunction) {
    for (const sourceLink of keys) {
      for (const targetLink of keys) {
        if (
          sourceLink.key === targetLink.key ||
          sourceLink.target.schema !== targetLink.target.schema ||
          !exposedSchemas.has(sourceLink.target.schema)
        )
          continue;
        yield [sourceLink.target, buildThroughJunction(junction, sourceLink, targetLink)];
      }
    }
  }
};

const buildThroughJunction = (junction: Relation, sourceLink: KeyLink, targetLink: KeyLink): Relationship => {
  const swap = ([sourceColumn, targetColumn]: ColumnPair): ColumnPair => [targetColumn, sourceColumn];
  const source = sourceLink.columns.map(swap);
  const target = targetLink.columns.map(swap);
  const suffix =
    sourceLink.isThroughView || targetLink.isThroughView ? describePairs(source) + describePairs(target) : "";
  return {
    id: `${sourceLink.constraint}<${formatLabel(junction, sourceLink.target)}>${targetLink.constraint}>${formatLabel(targetLink.target, sourceLink.target)}${suffix}`,
    cardinality: "many-to-many",
    isToOne: false,
    source: getName(sourceLink.target),
    target: getName(targetLink.target),
    columns: [],
    constraint: "",
    isOwnKey: false,
    junction: {
      relation: getName(junction),
      sourceConstraint: sourceLink.constraint,
      targetConstraint: targetLink.constraint,
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
  const seenCounts = new Map<string, number>();
  list.forEach((relationship, i) => {
    const count = (seenCounts.get(relationship.id) ?? 0) + 1;
    seenCounts.set(relationship.id, count);
    if (count > 1) list[i] = { ...relationship, id: `${relationship.id}#${count}` };
  });
};

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name) => b.includes(name));

const getOrAdd = <Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value => {
  let mapValue = map.get(key);
  if (mapValue === undefined) {
    mapValue = make();
    map.set(key, mapValue);
  }
  return mapValue;
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
    const derivedRelationships = bySource.get(relation);
    result.set(
      key,
      derivedRelationships === undefined
        ? relation
        : { ...relation, relationships: [...relation.relationships, ...derivedRelationships] },
    );
    yield;
  }
  return result;
};
