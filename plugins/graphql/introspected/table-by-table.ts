/** The texts of all types of a role, put together table by table: tables of one shape share theirs, and no type is kept.
 *  @rule R-SC-15 */
import type { GraphQLType } from "graphql";
import { nameKey, type Pieces } from "../../../core/index.ts";
import { ALWAYS_THERE } from "../types/collect.ts";
import type { GqlAsides, GqlRootName } from "../aside.ts";
import type { GqlBuild, Parts } from "../parts.ts";
import type { GqlFunction, GqlTable } from "../served.ts";
import { areEqual, filled, isInOrder, reachAll, type Filled } from "./filled.ts";
import { createMarks, fill, type Marks, type Pattern } from "./marks.ts";
import { shapeOf } from "./shape.ts";
import { createSlabs, type Slabs } from "./slabs.ts";
import { sortedInPieces } from "./sorted.ts";
import { createStandIns } from "./stand-ins.ts";
import { createTemplateMaker, Unlike, type Template, type TemplateMaker } from "./templates.ts";
import type { Part, WriteParts } from "./writers.ts";

/** Below so many tables of a shape, on average, a text for all of them takes longer than one for each. */
const MIN_ALIKE = 2;

/** Those that the role may use, by shape. @throws Unlike */
const alike = function* (build: GqlBuild): Pieces<readonly (readonly GqlTable[])[]> {
  const { tables } = build.source;
  const byShape = new Map<string, GqlTable[]>();
  for (const table of tables) {
    yield;
    const shape = yield* shapeOf(build, table);
    if (shape === undefined) continue;
    const known = byShape.get(shape);
    if (known === undefined) byShape.set(shape, [table]);
    else known.push(table);
    if (byShape.size * MIN_ALIKE > tables.length) throw new Unlike();
  }
  return [...byShape.values()];
};

/** One for each table that the role may use, and one of the functions. */
const fillAll = function* (asides: GqlAsides<GqlBuild>, maker: TemplateMaker, marks: Marks): Pieces<readonly Filled[]> {
  const { build } = asides.make();
  const { functions, tableOf } = build.source;
  const all: Filled[] = [];
  const make = function* (table: GqlTable | undefined, some: readonly GqlFunction[]): Pieces<Filled> {
    const standIns = createStandIns((name) => tableOf.get(nameKey(name)), marks, table, some);
    const one = filled(yield* maker.make(asides.make(standIns), standIns), table);
    if (!isInOrder(one)) throw new Unlike(); // two fields of the same name
    return one;
  };
  for (const tables of yield* alike(build)) {
    const templates: Template[] = [];
    const last = tables.at(-1);
    for (const table of tables) {
      yield;
      let one = templates.map((template) => filled(template, table)).find(isInOrder);
      if (one === undefined) {
        one = yield* make(table, []);
        if (!one.template.isSingle) templates.push(one.template);
      } else if (table === last && !areEqual(one, yield* make(table, []))) throw new Unlike(); // the shape says too little
      all.push(one);
    }
  }
  if (functions.length > 0) all.push(yield* make(undefined, functions));
  return all;
};

/** Where a text comes from. */
interface Written {
  readonly table: GqlTable | undefined;
  /** One, or of a field of a root one for each list of fields that is selected; none: of a root. */
  readonly texts: readonly Pattern[];
  readonly values: readonly string[];
}

type ByName = Map<string, Written>;

const NONE: readonly string[] = [];
const NONE_YET: readonly Pattern[] = [];

/** @throws Unlike: there are two of a name */
const set = (map: ByName, name: string, written: Written): void => {
  const before = map.size;
  map.set(name, written);
  if (map.size === before) throw new Unlike();
};

const addRootFields = ({ table, template, values }: Filled, root: GqlRootName, fields: ByName): void => {
  for (const { name, texts } of template.roots.get(root) ?? [])
    set(fields, fill(name, values), { table, texts, values });
};

const addTypes = ({ table, template, values }: Filled, numbers: Iterable<number>, types: ByName): void => {
  for (const number of numbers) {
    const { name, texts } = template.types[number]!; // one of its numbers
    set(types, fill(name, values), { table, texts, values });
  }
};

const textOf = ({ texts, values }: Written, list: number): string => fill(texts[list]!, values); // there are as many

/** `aside`: what is written in another way. */
const writeAll = function* (
  slabs: Slabs,
  map: ByName,
  list: number,
  aside?: (name: string) => Parts | undefined,
): Parts {
  let before = "";
  for (const name of yield* sortedInPieces([...map.keys()])) {
    const written = map.get(name)!; // one of its keys
    if (written.texts.length > 0) {
      yield slabs.add(before + textOf(written, list));
    } else {
      yield slabs.add(before);
      const parts = aside?.(name);
      if (parts !== undefined) yield* parts;
    }
    before = ",";
  }
};

/** Its text has a list for each that is selected. */
const writeRoot = function* (slabs: Slabs, shell: readonly Part[], fields: ByName): Parts {
  let list = 0;
  for (const part of shell)
    if (typeof part === "string") yield slabs.add(part);
    else yield* writeAll(slabs, fields, list++);
};

const rootFieldsOf = function* (all: readonly Filled[], root: GqlRootName): Pieces<ByName> {
  const fields: ByName = new Map();
  for (const one of all) {
    addRootFields(one, root, fields);
    yield;
  }
  return fields;
};

/** @throws Unlike: a name belongs to another table */
const checkOwners = function* (asides: GqlAsides<GqlBuild>, types: ByName): Pieces<void> {
  for (const [name, owner] of asides.owners()) {
    const written = types.get(name);
    if (written !== undefined && written.table !== owner) throw new Unlike();
    yield;
  }
};

const typesOf = function* (all: readonly Filled[], maker: TemplateMaker, marks: Marks): Pieces<ByName> {
  const types: ByName = new Map();
  for (const name of yield* reachAll(all, maker.shared))
    set(types, name, { table: undefined, texts: [marks.read(maker.shared.get(name)?.text ?? "")], values: NONE });
  for (const one of all) {
    addTypes(one, one.template.reached.own, types);
    addTypes(one, one.further, types);
    yield;
  }
  return types;
};

const rootsOf = (asides: GqlAsides<GqlBuild>, all: readonly Filled[]): ReadonlyMap<string, GqlRootName> => {
  const roots = new Map<string, GqlRootName>();
  for (const root of asides.roots)
    if (all.some(({ template }) => template.roots.get(root)?.length)) roots.set(`${root}_root`, root);
    else if (root === "query") throw new Unlike();
  return roots;
};

/** What throws does so before anything is written. @throws Unlike */
const gather = function* (asides: GqlAsides<GqlBuild>, writer: WriteParts<GraphQLType>): Pieces<() => Parts> {
  if (asides.isAmbiguous) throw new Unlike();
  const marks = createMarks();
  const maker = createTemplateMaker(marks, writer, asides.roots);
  const all = yield* fillAll(asides, maker, marks);
  for (const type of ALWAYS_THERE) maker.addShared(type);
  const types = yield* typesOf(all, maker, marks);
  yield* checkOwners(asides, types);
  const roots = rootsOf(asides, all);
  const rootFields = new Map<string, ByName>();
  for (const [name, root] of roots) {
    set(types, name, { table: undefined, texts: NONE_YET, values: NONE });
    rootFields.set(name, yield* rootFieldsOf(all, root));
  }
  return function* () {
    const slabs = createSlabs();
    yield slabs.add("[");
    yield* writeAll(slabs, types, 0, (name) => {
      const [root, fields] = [roots.get(name), rootFields.get(name)];
      return root && fields && writeRoot(slabs, maker.shells.get(root) ?? [], fields);
    });
    yield slabs.add("]");
    yield slabs.rest();
  };
};

/** What writes the list of all types; undefined: names are not each of one thing, or the types of some table can only be
 *  made beside those of others. */
export const typesTableByTable = function* (
  asides: GqlAsides<GqlBuild>,
  writer: WriteParts<GraphQLType>,
): Pieces<(() => Parts) | undefined> {
  try {
    return yield* gather(asides, writer);
  } catch (error) {
    if (error instanceof Unlike) return undefined;
    throw error;
  }
};
