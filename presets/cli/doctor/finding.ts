/** What `relapi doctor` finds, and how it asks. */
import { sql, toStatement, value, type PluginContext, type ProgramStatement, type Sql } from "../../../core/index.ts";

export interface Finding {
  /** `danger`: rows or rights go to whoever should not have them. `broken`: something cannot work. */
  readonly level: "danger" | "broken" | "slow" | "note";
  readonly what: string;
  readonly why: string;
  /** SQL; several statements are separated by semicolons. */
  readonly mend: string;
}

export const schemasOf = ({ options }: PluginContext): Sql =>
  sql`(select pg_catalog.json_array_elements_text(${value(JSON.stringify(options.dbSchemas), "json")}))`;

/** Always: a name may be a word of SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Rows of a query as the login role, with an empty search path: what the catalog prints has its schemas. */
export const askCatalog = async <Row>(context: PluginContext, query: Sql): Promise<readonly Row[]> => {
  const statement = (text: Sql, columns: readonly string[]): ProgramStatement => ({ ...toStatement(text), columns });
  const [row] = await context.execute({
    session: { role: "admin", isAdmin: true, claims: { role: "admin" }, variables: { "x-session-role": "admin" } },
    access: "read only",
    schema: context.options.dbSchemas[0] ?? "public",
    programs: [
      {
        program: {
          statements: [
            statement(sql`select pg_catalog.set_config('search_path', '', true)`, []),
            statement(sql`select coalesce(pg_catalog.json_agg(found), '[]') as found from (${query}) found`, ["found"]),
          ],
          main: 1,
          checks: [],
          relations: new Set(),
          isOpenEnded: true,
        },
        values: [],
      },
    ],
    end: "rollback",
    skipPreRequest: true,
  });
  return JSON.parse(row?.["found"] ?? "[]") as readonly Row[]; // as the query has them
};
