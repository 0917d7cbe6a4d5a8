/** Stand-ins of tables: what they are called is marks, all the rest is theirs. */
import { nameKey, type QualifiedName, type Relation } from "../../../core/index.ts";
import { describedName, isEnumValueName } from "../types/names.ts";
import type { GqlStandIns } from "../aside.ts";
import type { GqlFunction, GqlTable } from "../served.ts";
import { fill, type Marks } from "./marks.ts";

/** What stands in a place: of a table that has the same shape as the one that the text was made of. As JSON has it,
 *  without quotes. */
export type Value = (table: GqlTable) => string;

/** The table that a stand-in is for, seen from one of that shape. */
export interface StandIn {
  readonly table: GqlTable;
  /** Its word's mark, which is part of the names of its types. */
  readonly mark: string;
  of(table: GqlTable): GqlTable;
  /** It is the same whatever table it is seen from. */
  readonly isFixed: boolean;
}

export interface StandIns extends GqlStandIns {
  readonly values: readonly Value[];
  /** The stand-in that has the relation. */
  owner(relation: Relation): StandIn | undefined;
  /** Places whose values hold for the one table alone. */
  readonly fixed: ReadonlySet<number>;
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

const isText = (comment: string | null | undefined): comment is string =>
  comment !== undefined && comment !== null && comment !== "";

/** Of `whose`, with those that its types lead to; or of no table, with those that functions lead to. */
export const createStandIns = (
  tableOf: (name: QualifiedName) => GqlTable | undefined,
  marks: Marks,
  whose: GqlTable | undefined,
  functions: readonly GqlFunction[],
): StandIns => {
  const values: Value[] = [];
  const fixed = new Set<number>();
  const byName = new Map<string, StandIn>();
  const byRelation = new Map<Relation, StandIn>();
  const reals = new Map<GqlTable, GqlTable>();
  /** The first relationship to each table, by the target's name. */
  const ways = new Map<string, number>();
  whose?.relationships.forEach(({ target }, i) => {
    const key = nameKey(target);
    if (!ways.has(key)) ways.set(key, i);
  });

  const place = (value: Value, isFixed: boolean): string => {
    if (isFixed) fixed.add(values.length);
    values.push(value);
    return marks.mark(values.length - 1);
  };

  const add = (
    real: GqlTable,
    of: StandIn["of"],
    isFixed: boolean,
    more: (relation: Relation) => Relation,
  ): StandIn => {
    const mark = place((table) => of(table).word.text, isFixed);
    const relation: Relation = more({
      ...real.relation,
      schema: "public",
      name: place((table) => escaped(describedName(of(table).relation)), isFixed),
    });
    const comment = isText(real.comment) ? place((table) => escaped(of(table).comment ?? ""), isFixed) : real.comment;
    const relationships =
      real === whose
        ? real.relationships.map((each, i) => ({
            ...each,
            name: place((table) => table.relationships[i]?.name ?? "", isFixed),
          }))
        : undefined;
    const table: GqlTable = {
      relation,
      word: { ...real.word, text: mark },
      comment,
      get columns() {
        return real.columns;
      },
      get relationships() {
        return relationships ?? real.relationships;
      },
      get computedFields() {
        return real.computedFields;
      },
      get primaryKey() {
        return real.primaryKey;
      },
      rootFields: real.rootFields,
      ...(real.enumTable === undefined ? {} : { enumTable: real.enumTable }),
    };
    const standIn: StandIn = { table, mark, of, isFixed };
    byName.set(nameKey(real.relation), standIn);
    byRelation.set(relation, standIn);
    reals.set(table, real);
    return standIn;
  };

  const own =
    whose &&
    add(
      whose,
      (table) => table,
      false,
      (relation) => ({
        ...relation,
        uniqueKeys: relation.uniqueKeys.map((key, i) =>
          isEnumValueName(key.name)
            ? { ...key, name: place((table) => table.relation.uniqueKeys[i]?.name ?? "", false) }
            : key,
        ),
      }),
    );

  const standInOf = (name: QualifiedName): StandIn | undefined => {
    const known = byRelation.get(name as Relation); // undefined for any other name
    if (known !== undefined) return known;
    const key = nameKey(name);
    const named = byName.get(key);
    if (named !== undefined) return named;
    const real = tableOf(name);
    if (real === undefined) return undefined;
    const way = ways.get(key);
    const seen: StandIn["of"] =
      way === undefined
        ? () => real
        : (table) => {
            const target = table.relationships[way]?.target;
            return (target && tableOf(target)) ?? real;
          };
    return add(real, seen, way === undefined, (relation) => relation);
  };

  const ofWhose: string[] = [];
  const realName = (name: string, one: GqlTable): string => {
    for (let i = ofWhose.length; i < values.length; i++) ofWhose.push(values[i]?.(one) ?? "");
    return fill(marks.read(name), ofWhose);
  };

  return {
    tables: own === undefined ? [] : [own.table],
    functions,
    values,
    fixed,
    owner: (relation) => byRelation.get(relation),
    tableOf: (relation) => standInOf(relation)?.table,
    realOf: (table) => reals.get(table) ?? table,
    inOrder: (names) => {
      if (whose === undefined) return names.sort();
      const real = new Map(names.map((name) => [name, realName(name, whose)]));
      return names.sort((a, b) => {
        const [left, right] = [real.get(a) ?? a, real.get(b) ?? b];
        return left < right ? -1 : left > right ? 1 : 0;
      });
    },
  };
};
