/** The text of the types that tables of one shape have, made of a stand-in. @rule R-SC-15 */
import { GraphQLInputObjectType, GraphQLObjectType, type GraphQLNamedType, type GraphQLType } from "graphql";
import { atOnce, type Pieces } from "../../../core/index.ts";
import { namedTypeOf } from "../types/collect.ts";
import {
  aggregateBoolExp,
  aggregateOrderBy,
  aggregateType,
  boolExp,
  listArguments,
  openTargets,
  orderBy,
  rowType,
} from "../types/shapes.ts";
import { insertInput, relatedInsert } from "../types/write-inputs.ts";
import type { GqlAside, GqlRootName } from "../aside.ts";
import { gqlTypeFacts, type GqlBuild, type GqlTypeFacts } from "../parts.ts";
import type { GqlTable } from "../served.ts";
import { type Marks, type Pattern } from "./marks.ts";
import type { StandIn, StandIns } from "./stand-ins.ts";
import type { Part, WriteParts } from "./writers.ts";

/** What has no text that holds for all tables of a shape. */
export class Unlike extends Error {}

/** A type of a table that another's types lead to. */
export interface Reference {
  readonly of: StandIn;
  /** Its name, with a star in place of the table's word. */
  readonly key: string;
}

/** What types or fields lead to. */
interface Ways {
  /** Types of the template, by number. */
  readonly own: readonly number[];
  readonly others: readonly Reference[];
  /** By name. */
  readonly shared: readonly string[];
}

export interface OwnType {
  readonly name: Pattern;
  /** One. */
  readonly texts: readonly Pattern[];
  readonly ways: Ways;
}

export interface RootField {
  readonly name: Pattern;
  /** One for each list of fields that is selected. */
  readonly texts: readonly Pattern[];
}

export interface Template {
  readonly standIns: StandIns;
  readonly types: readonly OwnType[];
  /** Numbers of types by their key. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly roots: ReadonlyMap<GqlRootName, readonly RootField[]>;
  /** What the root fields lead to, through the template's own types. */
  readonly reached: Reached;
  /** What must be in that order, or the fields of some type are in another one. */
  readonly ordered: readonly (readonly [Pattern, Pattern])[];
  /** It holds for one table alone. */
  readonly isSingle: boolean;
}

export interface Reached {
  readonly own: ReadonlySet<number>;
  /** Keys of types by whose they are. */
  readonly others: ReadonlyMap<StandIn, readonly string[]>;
  readonly shared: ReadonlySet<string>;
}

/** A type that belongs to no table. */
export interface SharedType {
  readonly text: string;
  readonly type: GraphQLNamedType;
  /** By name. */
  readonly ways: readonly string[];
}

export interface TemplateMaker {
  readonly shared: ReadonlyMap<string, SharedType>;
  /** Parts of each root's text; a list of fields is empty. */
  readonly shells: ReadonlyMap<GqlRootName, readonly Part[]>;
  /** @throws Unlike */
  addShared(type: GraphQLNamedType): void;
  /** @throws Unlike */
  make(aside: GqlAside<GqlBuild>, standIns: StandIns): Pieces<Template>;
}

const factsOf = (type: GraphQLNamedType): GqlTypeFacts | undefined =>
  "extensions" in type ? gqlTypeFacts(type as GraphQLObjectType) : undefined; // scalars of graphql-js have none of ours

/** Whether two types of the same name are the same one, made twice. */
const isSame = (a: GraphQLNamedType, b: GraphQLNamedType): boolean => {
  if (a === b) return true;
  const [one, other] = [factsOf(a), factsOf(b)];
  if (one === undefined || other === undefined) return false;
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof GqlTypeFacts>; // their own keys
  for (const key of ["scope", "relation", "routine", "computedField", "fn"] as (keyof GqlTypeFacts)[])
    if (keys.has(key) && one[key] !== other[key]) return false;
  return one.value?.type === other.value?.type;
};

/** Types that those of other tables may lead to, whether or not the table's own root fields do. */
const seedsOf = ({ build }: GqlAside<GqlBuild>, table: GqlTable): readonly (GraphQLNamedType | undefined)[] => [
  rowType(build, table),
  aggregateType(build, table),
  boolExp(build, table),
  orderBy(build, table),
  aggregateOrderBy(build, table),
  aggregateBoolExp(build, table),
  insertInput(build, table),
  relatedInsert(build, table, true),
  relatedInsert(build, table, false),
  ...Object.values(listArguments(build, table)).map(({ type }) => namedTypeOf(type)),
];

const isFields = (type: GraphQLNamedType): type is GraphQLObjectType | GraphQLInputObjectType =>
  type instanceof GraphQLObjectType || type instanceof GraphQLInputObjectType;

const targetsOf = function* (type: GraphQLNamedType): Pieces<Set<GraphQLNamedType>> {
  const found = new Set<GraphQLNamedType>();
  const add = (to: GraphQLType): unknown => found.add(namedTypeOf(to));
  if (!isFields(type)) return found;
  const fields = type.getFields();
  for (const name in fields) {
    yield;
    const field = fields[name]!; // one of its keys
    add(field.type);
    if ("args" in field) for (const argument of field.args) add(argument.type);
  }
  return found;
};

const namesIn = (type: GraphQLNamedType): readonly string[] =>
  isFields(type) ? Object.keys(type.getFields()) : "getValues" in type ? type.getValues().map(({ name }) => name) : [];

export const createTemplateMaker = (
  marks: Marks,
  write: WriteParts<GraphQLType>,
  roots: readonly GqlRootName[],
): TemplateMaker => {
  const shared = new Map<string, SharedType>();
  const shells = new Map<GqlRootName, readonly Part[]>();

  const addShared = (type: GraphQLNamedType): void => {
    const known = shared.get(type.name);
    if (known !== undefined) {
      if (!isSame(known.type, type)) throw new Unlike();
      return;
    }
    const targets = atOnce(targetsOf(type));
    const text = write.write(type);
    if (marks.read(text).places.length > 0) throw new Unlike();
    shared.set(type.name, { text, type, ways: [...targets].map(({ name }) => name) });
    for (const target of targets) addShared(target);
  };

  const make = function* (aside: GqlAside<GqlBuild>, standIns: StandIns): Pieces<Template> {
    const types: OwnType[] = [];
    const numbers = new Map<string, number>();
    const queue: GraphQLNamedType[] = [];
    const ordered = new Map<string, readonly [Pattern, Pattern]>();
    let isSingle = standIns.functions.length > 0;
    const read = (text: string): Pattern => {
      const pattern = marks.read(text);
      isSingle ||= pattern.places.some((place) => standIns.fixed.has(place));
      return pattern;
    };
    const [table] = standIns.tables;
    const own = table && standIns.owner(table.relation);

    /** @returns undefined: it belongs to no table. */
    const ownerOf = (type: GraphQLNamedType): StandIn | undefined => {
      const relation = factsOf(type)?.relation;
      return relation && standIns.owner(relation);
    };
    const keyOf = ({ name }: GraphQLNamedType, { mark }: StandIn): string => name.replaceAll(mark, "*");

    const waysOf = (targets: Iterable<GraphQLNamedType>): Ways => {
      const ways = { own: [] as number[], others: [] as Reference[], shared: [] as string[] };
      for (const target of targets) {
        const of = ownerOf(target);
        if (of === undefined) {
          addShared(target);
          ways.shared.push(target.name);
        } else if (of === own) {
          const key = keyOf(target, of);
          const number = numbers.get(key);
          ways.own.push(number ?? numbers.size);
          if (number !== undefined) continue;
          numbers.set(key, numbers.size);
          queue.push(target);
        } else {
          ways.others.push({ of, key: keyOf(target, of) });
          isSingle ||= of.isFixed;
        }
      }
      return ways;
    };

    const addOrder = (names: readonly string[]): void => {
      names.forEach((name, i) => {
        const before = names[i - 1];
        if (before === undefined) return;
        const key = `${before} ${name}`;
        if (ordered.has(key)) return;
        const pair = [read(before), read(name)] as const;
        if (pair.some(({ places }) => places.length > 0)) ordered.set(key, pair);
      });
    };

    if (table !== undefined) yield* openTargets(aside.build, table);
    const rootFields = new Map<GqlRootName, readonly RootField[]>();
    const fromRoots: Ways[] = [];
    for (const name of roots) {
      const root = aside.root(name);
      const lists: (readonly Pattern[])[] = [];
      const shell: Part[] = [];
      for (const part of write.parts(root)) {
        shell.push(typeof part === "string" ? part : []);
        if (typeof part !== "string") lists.push([...part].map(read));
        yield;
      }
      if (!shells.has(name)) shells.set(name, shell);
      rootFields.set(
        name,
        namesIn(root).map((field, i) => ({
          name: read(field),
          texts: lists.map((list) => list[i]!), // as many as there are fields
        })),
      );
      fromRoots.push(waysOf(yield* targetsOf(root)));
    }
    if (table !== undefined) waysOf(seedsOf(aside, table).filter((seed) => seed !== undefined));
    for (let type = queue.shift(); type !== undefined; type = queue.shift()) {
      yield;
      const targets = yield* targetsOf(type);
      yield;
      const ways = waysOf(targets);
      yield;
      const text = write.write(type);
      yield;
      types.push({ name: read(type.name), texts: [read(text)], ways });
      yield;
      addOrder(namesIn(type));
    }
    return {
      standIns,
      types,
      numbers,
      roots: rootFields,
      reached: reachedFrom(types, fromRoots),
      ordered: [...ordered.values()],
      isSingle,
    };
  };

  return { shared, shells, addShared, make };
};

const reachedFrom = (types: readonly OwnType[], from: readonly Ways[]): Reached => {
  const own = new Set<number>();
  const others = new Map<StandIn, Set<string>>();
  const shared = new Set<string>();
  const queue = [...from];
  for (let ways = queue.pop(); ways !== undefined; ways = queue.pop()) {
    for (const name of ways.shared) shared.add(name);
    for (const { of, key } of ways.others) others.set(of, (others.get(of) ?? new Set()).add(key));
    for (const number of ways.own) {
      if (own.has(number)) continue;
      own.add(number);
      queue.push(types[number]!.ways); // numbers are those of types
    }
  }
  return { own, others: new Map([...others].map(([of, keys]) => [of, [...keys]])), shared };
};
