/** Names of types that are reserved for one table: that of its row type, and those of its essential types if another
 *  table could generate the same name. @rule G-NAM-3 */
import type { Pieces, Registry } from "../../../core/index.ts";
import { aggregateName } from "../part-names.ts";
import type { GqlScope } from "../part-kinds.ts";
import type { GqlTable } from "../served.ts";
import type { Catalog } from "./catalog.ts";
import { onceFor, onceInPieces } from "./once.ts";
import { between } from "./taken-names.ts";

interface Owner {
  readonly table: GqlTable;
  readonly scope: GqlScope;
}

export interface OwnTypes {
  get(name: string): Owner | undefined;
}

/** What may stand between a table's name and the suffix of a generated type: `album_max_order_by` could belong to
 *  `album` or to `album_max`. */
const innerWords = ({ aggregates }: Registry): RegExp => {
  const functions = [...aggregates.values()].flatMap((spec) =>
    spec.types === undefined ? [] : (aggregateName(spec) ?? []),
  );
  return new RegExp(`^(.+)_(?:${["aggregate", "arr_rel", "obj_rel", ...functions].join("|")})$`);
};

const OWN_SCOPES = ["bool_exp", "order_by", "insert_input"] as const;

/** Put together for every table; of two that reserve a name the later has it. */
const listed = function* ({ tables, names }: Catalog, inner: RegExp): Pieces<OwnTypes> {
  const own = new Map<string, Owner>();
  const words = new Set(tables.map((table) => table.word.text));
  for (const table of tables) {
    yield;
    own.set(names.typeName(table.word), { table, scope: "row" });
    if (!words.has(inner.exec(table.word.text)?.[1] ?? "")) continue;
    for (const scope of OWN_SCOPES) own.set(names.typeName(table.word, scope), { table, scope });
  }
  return { get: (name) => own.get(name) };
};

/** The same from the words of the tables, by taking names apart. */
const byWords = (
  { tables, customization: { typePrefix, typeSuffix } }: Catalog,
  words: ReadonlyMap<string, number>,
  inner: RegExp,
): OwnTypes => {
  const isInner = (word: string): boolean => words.has(inner.exec(word)?.[1] ?? "");
  const ownerOf = (word: string, scope: GqlScope): readonly [number, Owner] | undefined => {
    const at = words.get(word);
    const table = at === undefined ? undefined : tables[at];
    return at === undefined || table === undefined ? undefined : [at, { table, scope }];
  };
  return {
    get: (name) => {
      const text = between(name, typePrefix, typeSuffix);
      if (text === undefined) return undefined;
      const row = ownerOf(text, "row");
      const scope = OWN_SCOPES.find((each) => text.endsWith(`_${each}`));
      const word = scope && text.slice(0, -scope.length - 1);
      const reserved =
        scope !== undefined && word !== undefined && words.has(word) && isInner(word)
          ? ownerOf(word, scope)
          : undefined;
      if (row === undefined || reserved === undefined) return (row ?? reserved)?.[1];
      return row[0] > reserved[0] ? row[1] : reserved[1];
    },
  };
};

const ownTypes = function* (source: Catalog, registry: Registry): Pieces<OwnTypes> {
  const inner = innerWords(registry);
  return source.words === undefined ? yield* listed(source, inner) : byWords(source, source.words, inner);
};

export const ownTypesFor = onceFor((registry: Registry) =>
  onceFor((source: Catalog) => onceInPieces(() => ownTypes(source, registry))),
);
