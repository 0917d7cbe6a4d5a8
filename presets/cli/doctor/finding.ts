/** The findings of `relapi doctor`, and its catalog queries. */
import {
  createProgram,
  quoteIdentifier,
  sql,
  compileSql,
  type PluginContext,
  type ProgramStatement,
  type Sql,
} from "../../../core/index.ts";

export interface Finding {
  /** `danger`: rows or rights are available to unintended roles. `broken`: a feature cannot work. */
  readonly level: "danger" | "broken" | "slow" | "note";
  readonly finding: string;
  readonly reason: string;
  /** The SQL that repairs the problem. Semicolons separate several statements. */
  readonly fix: string;
}

/** Quotes every name, because any may be a reserved word. */
export const quoteName = (name: string): string => compileSql(quoteIdentifier(name)).text;

/** Runs a query as the login role. The search path is empty, so that the catalog prints schema-qualified names. */
export const queryCatalog = async <Row>(context: PluginContext, query: Sql): Promise<readonly Row[]> => {
  const buildStatement = (text: Sql, columns: readonly string[]): ProgramStatement => ({
    ...compileSql(text),
    columns,
  });
  const [row] = await context.execute({
    session: { role: "admin", isAdmin: true, claims: { role: "admin" }, variables: { "x-session-role": "admin" } },
    access: "read only",
    schema: context.options.dbSchemas[0] ?? "public",
    programs: [
      {
        program: createProgram([
          buildStatement(sql`select pg_catalog.set_config('search_path', '', true)`, []),
          buildStatement(sql`select coalesce(pg_catalog.json_agg(found), '[]') as found from (${query}) found`, [
            "found",
          ]),
        ]),
        values: [],
      },
    ],
    end: "rollback",
    skipsPreRequest: true,
  });
  return JSON.parse(row?.["found"] ?? "[]") as readonly Row[]; // the query determines the members
};
