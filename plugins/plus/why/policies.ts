/** Finds the row policies that apply to a role, and counts the rows that each of them admits. */
import {
  trustedSql,
  quoteIdentifier,
  RelApiError,
  joinSql,
  sql,
  compileSql,
  bindValue,
  type Execution,
  type Program,
  type ProgramStatement,
  type QualifiedName,
  type ResultRow,
  type Sql,
} from "../../../core/index.ts";

/** Runs a transaction and rolls it back. */
export type RunStatement = (execution: Execution) => Promise<readonly ResultRow[]>;

/** A command as `pg_policies.cmd` names it. */
export type Command = "SELECT" | "INSERT" | "UPDATE" | "DELETE";

export interface Policy {
  readonly name: string;
  readonly isPermissive: boolean;
  readonly command: Command | "ALL";
  readonly roles: readonly string[];
  readonly using: string | null;
  readonly check: string | null;
  /** The number of rows that this policy admits when it is the only one. Undefined if the rows were not counted. */
  readonly passes?: number;
}

export interface RowSecurity {
  /** The reason why no policies apply: `row security is off`, `"postgres" is a superuser`. */
  readonly bypass?: string;
  /**
   * The policies for the role and the command. Updates and deletes also include those for reading, which apply when
   * rows are searched.
   */
  readonly policies: readonly Policy[];
  /** The names of the policies for other roles. */
  readonly forOthers: readonly string[];
  /** The number of rows in the table. */
  readonly total?: number;
  /** The reason why the rows were not counted. */
  readonly note?: string;
}

const buildStatement = (text: Sql, columns: readonly string[] = []): ProgramStatement => ({
  ...compileSql(text),
  columns,
});

const buildProgram = (...statements: readonly ProgramStatement[]): Program => ({
  statements,
  main: statements.length - 1,
  checks: [],
  relations: new Set(),
  isOpenEnded: true,
});

/** Runs a program with the settings of the request, which policies may read. */
const runSeparately = async (
  run: RunStatement,
  { session, schema, requestSettings, settings, keepsLoginPath }: Execution,
  program: Program,
) => {
  const [row = {}] = await run({
    session,
    schema,
    ...(requestSettings === undefined ? {} : { requestSettings }),
    ...(settings === undefined ? {} : { settings }),
    ...(keepsLoginPath === undefined ? {} : { keepsLoginPath }),
    access: "read write",
    programs: [{ program, values: [] }],
    end: "rollback",
    // Statements with a comment are not prepared, and the view differs each time.
    comment: "explained",
  });
  return row;
};

/** Builds the program that reads policies as the role itself. Names are schema-qualified, because the search path is
 *  empty. */
const buildPolicyProgram = ({ schema, name }: QualifiedName, command: Command): Program =>
  buildProgram(
    buildStatement(sql`select pg_catalog.set_config('search_path', '', true)`),
    buildStatement(
      sql`
        with held as (
          select *, roles && array['public'::name]
            or exists (select from pg_catalog.unnest(roles) granted
              where pg_catalog.pg_has_role(current_user, granted, 'usage')) as "isMine"
          from pg_catalog.pg_policies
          where schemaname = ${bindValue(schema)}::name and tablename = ${bindValue(name)}::name
            and cmd in ('ALL', ${bindValue(command)}::text, ${bindValue(command === "INSERT" ? command : "SELECT")}::text)
        )
        select pg_catalog.json_build_object(
          'bypass', case
            when relation.relkind in ('v', 'm') then 'it is a view: those of its tables hold for whom it reads as'
            when not relation.relrowsecurity then 'row security is off'
            when role.rolsuper then pg_catalog.format('"%s" is a superuser', role.rolname)
            when role.rolbypassrls then pg_catalog.format('"%s" bypasses row policies', role.rolname)
            when pg_catalog.pg_has_role(current_user, relation.relowner, 'usage') and not relation.relforcerowsecurity
              then pg_catalog.format('"%s" owns the table', role.rolname) end,
          'policies', coalesce((select pg_catalog.json_agg(pg_catalog.json_build_object(
              'name', policyname, 'isPermissive', permissive = 'PERMISSIVE', 'command', cmd, 'roles', roles,
              'using', qual, 'check', with_check) order by permissive, policyname)
            from held where "isMine"), '[]'),
          'forOthers', coalesce((select pg_catalog.json_agg(policyname order by policyname)
            from held where not "isMine"), '[]')) as body
        from pg_catalog.pg_class relation
        join pg_catalog.pg_namespace schema on schema.oid = relation.relnamespace
        join pg_catalog.pg_roles role on role.rolname = current_user
        where schema.nspname = ${bindValue(schema)}::name and relation.relname = ${bindValue(name)}::name`,
      ["body"],
    ),
  );

/** Compiles an expression that PostgreSQL's catalog has written. Without an expression, the condition is true. */
const compileExpression = (text: string | null): Sql => (text === null ? sql`true` : sql`(${trustedSql(text)})`);

/**
 * Counts rows through a view of the login role, which no policy restricts, so each condition is evaluated as the
 * caller.
 */
const buildCountingProgram = ({ schema, name }: QualifiedName, policies: readonly Policy[]): Program =>
  buildProgram(
    buildStatement(sql`select pg_catalog.set_config('relapi.role', pg_catalog.current_setting('role'), true)`),
    buildStatement(sql`set local role none`),
    buildStatement(sql`create temporary view relapi_explained as select * from ${quoteIdentifier(schema, name)}`),
    buildStatement(sql`grant select on pg_temp.relapi_explained to public`),
    buildStatement(sql`select pg_catalog.set_config('role', pg_catalog.current_setting('relapi.role'), true)`),
    buildStatement(
      sql`select pg_catalog.json_build_object('total', count(*), 'each', pg_catalog.json_build_array(${joinSql(
        policies.map(({ using }) => sql`count(*) filter (where ${compileExpression(using)})`),
      )})) as body
        from pg_temp.relapi_explained as ${quoteIdentifier(name)}`,
      ["body"],
    ),
  );

type TablePolicies = Pick<RowSecurity, "policies" | "forOthers"> & { readonly bypass: string | null };

const NO_POLICIES: TablePolicies = { bypass: "it is not in the catalog", policies: [], forOthers: [] };

const readPolicies = async (
  run: RunStatement,
  execution: Execution,
  table: QualifiedName,
  command: Command,
): Promise<TablePolicies> => {
  const { body } = await runSeparately(run, execution, buildPolicyProgram(table, command));
  return typeof body === "string" ? (JSON.parse(body) as TablePolicies) : NO_POLICIES; // the statement wrote this JSON
};

/** Reports the row security of a table. `note` says why rows were not counted: the policies hold for the login role
 *  too, or the statement failed. Rows are only counted with `counts`, and never for an insert. @rule C-EXP-3 */
export const findRowSecurity = async (
  run: RunStatement,
  execution: Execution,
  table: QualifiedName,
  command: Command,
  counts: boolean,
): Promise<RowSecurity> => {
  const { bypass, policies, forOthers } = await readPolicies(run, execution, table, command);
  if (bypass !== null) return { bypass, policies, forOthers };
  if (!counts || command === "INSERT") return { policies, forOthers };
  const { databaseRole: _, ...asLogin } = execution.session;
  const login = await readPolicies(run, { ...execution, session: asLogin }, table, command);
  if (login.bypass === null)
    return { policies, forOthers, note: "not counted: row policies hold for the login role too" };
  try {
    const { body } = await runSeparately(run, execution, buildCountingProgram(table, policies));
    // The statement wrote this JSON.
    const rowCounts = JSON.parse(body ?? "{}") as { readonly total: number; readonly each: readonly number[] };
    return {
      policies: policies.map((policy, i) => ({ ...policy, passes: rowCounts.each[i] ?? 0 })),
      forOthers,
      total: rowCounts.total,
    };
  } catch (error) {
    if (!(error instanceof RelApiError)) throw error;
    return { policies, forOthers, note: `not counted: ${error.message}` };
  }
};
