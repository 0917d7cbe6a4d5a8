/** Reserves type names for one table. These are the name of its row type, and the names of its essential types if
 *  another table could generate them too. @rule G-NAM-3 */
import type { Registry } from "../../../core/index.ts";
import { getAggregateName } from "../part-names.ts";
import type { GqlScope } from "../part-kinds.ts";
import type { GqlTable } from "../catalog-types.ts";
import type { NameBuilder } from "./names.ts";

interface Owner {
  readonly table: GqlTable;
  readonly scope: GqlScope;
}

export interface TypeOwners {
  /** Reserves the names of the table. If two tables reserve the same name, the later one owns it. */
  add(table: GqlTable): void;
  get(name: string): Owner | undefined;
}

/** Compiles a pattern for the parts of generated names between the table's name and a suffix. `album_max_order_by`
 *  could belong to `album` or to `album_max`. */
const compileInnerPattern = ({ aggregates }: Registry): RegExp => {
  const functions = [...aggregates.values()].flatMap((spec) =>
    spec.types === undefined ? [] : (getAggregateName(spec) ?? []),
  );
  return new RegExp(`^(.+)_(?:${["aggregate", "arr_rel", "obj_rel", ...functions].join("|")})$`);
};

const RESERVED_SCOPES = ["bool_exp", "order_by", "insert_input"] as const;

/** Creates the registry of reserved names. `nameParts` has those of all tables. */
export const createTypeOwners = (
  registry: Registry,
  names: NameBuilder,
  nameParts: ReadonlySet<string>,
): TypeOwners => {
  const inner = compileInnerPattern(registry);
  const owners = new Map<string, Owner>();
  return {
    get: (name) => owners.get(name),
    add: (table) => {
      const { namePart } = table;
      owners.set(names.typeName(namePart), { table, scope: "row" });
      if (!nameParts.has(inner.exec(namePart.text)?.[1] ?? "")) return;
      for (const scope of RESERVED_SCOPES) owners.set(names.typeName(namePart, scope), { table, scope });
    },
  };
};
