/** A table of the catalog. What it holds is made when a document first touches it, since of thousands most are never
 *  touched; a class, because each then takes little. @rule R-SC-12 */
import type { Relation } from "../../../core/index.ts";
import type { GqlEnumTable } from "../value-types.ts";
import type { GqlNamePart, GqlTable, GqlTableEntry } from "../served.ts";

type Make<Value> = (table: GqlTable, entry: GqlTableEntry | undefined) => Value;

/** What all tables of a catalog are made by. */
export interface TableMakers {
  readonly columns: Make<GqlTable["columns"]>;
  readonly primaryKey: Make<GqlTable["primaryKey"]>;
  readonly relationships: Make<GqlTable["relationships"]>;
  readonly computedFields: Make<GqlTable["computedFields"]>;
  readonly enumTable: Make<GqlEnumTable | undefined>;
}

const NONE: GqlTable["rootFields"] = Object.freeze({});

class ServedTable {
  readonly relation: Relation;
  readonly word: GqlNamePart;
  readonly #entry: GqlTableEntry | undefined;
  readonly #make: TableMakers;
  #columns: GqlTable["columns"] | undefined;
  #primaryKey: GqlTable["primaryKey"] | undefined;
  #relationships: GqlTable["relationships"] | undefined;
  #computedFields: GqlTable["computedFields"] | undefined;

  constructor(relation: Relation, word: GqlNamePart, entry: GqlTableEntry | undefined, make: TableMakers) {
    this.relation = relation;
    this.word = word;
    this.#entry = entry;
    this.#make = make;
  }

  get #self(): GqlTable {
    return this as GqlTable; // an absent enum table is undefined
  }

  get comment(): GqlTable["comment"] {
    const entry = this.#entry;
    return entry?.comment === undefined ? this.relation.comment : entry.comment || null;
  }

  get rootFields(): GqlTable["rootFields"] {
    return this.#entry?.rootFields ?? NONE;
  }

  get columns(): GqlTable["columns"] {
    return (this.#columns ??= this.#make.columns(this.#self, this.#entry));
  }

  get primaryKey(): GqlTable["primaryKey"] {
    return (this.#primaryKey ??= this.#make.primaryKey(this.#self, this.#entry));
  }

  get relationships(): GqlTable["relationships"] {
    return (this.#relationships ??= this.#make.relationships(this.#self, this.#entry));
  }

  get computedFields(): GqlTable["computedFields"] {
    return (this.#computedFields ??= this.#make.computedFields(this.#self, this.#entry));
  }

  get enumTable(): GqlEnumTable | undefined {
    return this.#make.enumTable(this.#self, this.#entry);
  }
}

export const servedTable = (
  relation: Relation,
  word: GqlNamePart,
  entry: GqlTableEntry | undefined,
  make: TableMakers,
): GqlTable => new ServedTable(relation, word, entry, make) as GqlTable; // an absent enum table is undefined
