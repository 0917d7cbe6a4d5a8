/** Builds the name that the processes of one database share on a message server with other users. */
import { createHash } from "node:crypto";
import { RelApiError, type PluginContext } from "../../../core/index.ts";
import { sql } from "../../../core/sql/fragment.ts";

/** Selects the database and the identifier of its cluster, which stays the same when a standby is promoted. */
const NAME_AND_CLUSTER = sql`select pg_catalog.current_database() as name, (select system_identifier::text from pg_catalog.pg_control_system()) as cluster`;
/** The SQLSTATEs for a missing right and a missing function. */
const MISSING_RIGHT_STATES: ReadonlySet<string> = new Set(["42501", "42883"]);
const NAME_ONLY = sql`select pg_catalog.current_database() as name, null as cluster`;

/** Returns a name that distinguishes the processes of this database from others on the same server. It consists of
 *  letters, digits and `-_.`. @throws RelApiError */
export const loadNamespace = async (context: PluginContext): Promise<string> => {
  interface Row {
    readonly name: string;
    readonly cluster: string | null;
  }
  // Some hosting providers do not allow reading the identifier of the cluster.
  const [row] = await context.query<Row>(NAME_AND_CLUSTER).catch((error: unknown) => {
    if (error instanceof RelApiError && MISSING_RIGHT_STATES.has(error.code)) return context.query<Row>(NAME_ONLY);
    throw error;
  });
  const database = createHash("sha256")
    .update(JSON.stringify([row?.name, row?.cluster]))
    .digest("base64url");
  return `${context.options.busName}.${database.slice(0, 12)}`;
};
