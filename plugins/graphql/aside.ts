/** Types of a role that are made beside its schema, to be written and forgotten. */
import type { GraphQLObjectType } from "graphql";
import type { QualifiedName } from "../../core/index.ts";
import type { GqlFunction, GqlTable } from "./served.ts";

export type GqlRootName = "query" | "mutation" | "subscription";

/** What types are made of in place of the tables and functions of the catalog. */
export interface GqlStandIns {
  readonly tables: readonly GqlTable[];
  readonly functions: readonly GqlFunction[];
  /** Of a relation of the model, or of a stand-in. */
  tableOf(relation: QualifiedName): GqlTable | undefined;
  /** Whose rights hold. */
  realOf(table: GqlTable): GqlTable;
  /** The order of fields and of values of enums. */
  inOrder(names: string[]): readonly string[];
}

export interface GqlAside<Build> {
  readonly build: Build;
  /** With the fields of the stand-ins alone, even if there are none. */
  root(name: GqlRootName): GraphQLObjectType;
}

/** What makes them, for schemas whose names are put together of the words of tables as they are, and whose fields are
 *  decided by tables one by one. */
export interface GqlAsides<Build> {
  readonly roots: readonly GqlRootName[];
  /** Names that might be of one table or of another, who decides it makes all of them in order. */
  readonly isAmbiguous: boolean;
  /** Tables by the names of their row types, which no other type has. */
  owners(): Iterable<readonly [name: string, table: GqlTable]>;
  /** Without stand-ins of the tables themselves. */
  make(standIns?: GqlStandIns): GqlAside<Build>;
}
