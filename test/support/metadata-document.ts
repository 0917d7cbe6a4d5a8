/** Helpers that build metadata documents for tests. */
import type { Logger } from "../../core/index.ts";
import { createLogger } from "./logger.ts";

export type Entry = Readonly<Record<string, unknown>>;

/** A table entry: `table("album", { … })`, `table("shop.item")`. */
export const table = (name: string, extraKeys: Entry = {}): Entry => {
  const [schema, relation] = name.includes(".") ? name.split(".") : ["public", name];
  return { table: { schema, name: relation }, ...extraKeys };
};

/** The list under `select_permissions` and similar keys: `permissions({ reader: {…} })`. */
export const permissions = (byRole: Readonly<Record<string, Entry>>): readonly Entry[] =>
  Object.entries(byRole).map(([role, permission]) => ({ role, permission }));

/** The permission to select all columns of all rows. */
export const fullPermission = { columns: "*", filter: {} };

/** The filter of an artist's own albums. */
export const ownFilter = { artist_id: { _eq: "X-Session-Artist-Id" } };

export const object = (name: string, column: unknown): Entry => ({
  name,
  using: { foreign_key_constraint_on: column },
});

export const array = (name: string, targetTable: string, column: string): Entry => ({
  name,
  using: { foreign_key_constraint_on: { table: { schema: "public", name: targetTable }, column } },
});

export const buildMetadataDocument = (
  tables: readonly Entry[],
  extraKeys: Entry = {},
  sourceKeys: Entry = {},
): Entry => ({
  version: 3,
  sources: [{ name: "default", kind: "postgres", tables, ...sourceKeys }],
  ...extraKeys,
});

export interface MetadataWarnings {
  readonly logger: Logger;
  /** The warnings about metadata so far. */
  all(): readonly string[];
}

/** A logger that collects the warnings about ignored metadata. */
export const collectWarnings = (): MetadataWarnings => {
  const warnings: string[] = [];
  const collect = (message: string): void => {
    if (message.startsWith("metadata: ")) warnings.push(message.slice("metadata: ".length));
  };
  return { logger: createLogger({ error: collect, warn: collect }), all: () => warnings };
};
